"""Arguments for every function of the catalogue, right and wrong ones, drawn by the names of its parameters."""

import inspect
import sys

import numpy as np

from adjoint.numpy import functions
from adjoint.numpy.dispatch.registry import FUNCTIONS

from .pools import KINDS, OWN, POOLS, VECTORS

functions.load()
LEFT_OUT = {
    # for eyes, files, memory and dtypes: they compute nothing
    "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed", "may_share_memory",
    "shares_memory", "min_scalar_type", "einsum_path", "result_type", "can_cast", "common_type",
    # the first argument is no array: a shape, a subscript, a function
    "zeros", "ones", "full", "einsum", "apply_along_axis", "apply_over_axes", "piecewise", "select",
    # the numbers are whatever lay in memory
    "empty", "empty_like",
    # they change their argument and return nothing
    "put", "put_along_axis", "putmask", "place", "copyto", "fill_diagonal",
}  # fmt: skip
SHAPES = [(), (0,), (3, 0), (1,), (3,), (2, 3), (2, 1, 3), (3, 3), (1, 4)]
DTYPES = [np.float64, np.float64, np.float32, np.complex128, np.int64, np.bool]
SEQUENCES = {"arrays", "tup"}
VARIADIC = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "meshgrid", "ix_"}
NOT_DRAWN = {"like", "ndmax", "args", "kwargs", "kw", "out", "varargs"}
CONDITIONS = {"compress", "extract"}


def functions_under_test():
    """The functions by name."""
    return dict(sorted((f"{f.__module__}.{f.__name__}", f) for f in FUNCTIONS if f.__name__ not in LEFT_OUT))


def by_name(name):
    """What a program finds under a name at the time of the call."""
    module, _, last = name.rpartition(".")
    return getattr(sys.modules[module], last)


def pick(rng, pool):
    """One of a list."""
    return pool[rng.integers(len(pool))]


def array(rng, shapes=SHAPES, kinds="fcib"):
    """An array of any shape and kind; some have special values, some are whole."""
    shape, dtype = pick(rng, shapes), np.dtype(pick(rng, [d for d in DTYPES if np.dtype(d).kind in kinds]))
    x = rng.normal(size=shape) * 2
    if dtype.kind == "c":
        return np.asarray(x + 1j * rng.normal(size=shape), dtype)
    if dtype.kind in "ib":
        return np.asarray(np.round(np.abs(x)), dtype)
    kind = rng.integers(6)
    if kind == 0:
        x = np.where(rng.random(shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape), x)
    return np.asarray(np.round(x) if kind == 1 else x, dtype)


def like(rng, shape, dtype):
    """An array that goes with another one."""
    return np.asarray(rng.normal(size=shape), dtype if dtype.kind in "fc" else float)


def partner(rng, x, shapes):
    """The second array of a function of two."""
    options = [like(rng, x.shape, x.dtype), like(rng, x.shape[::-1], x.dtype), array(rng, shapes), 2.0, 3]
    return options[max(rng.integers(-1, 5), 0)]


def mask(rng, x):
    """What `where=` may be given."""
    return pick(rng, [True, False, rng.random(x.shape) < 0.6, rng.random(x.shape[-1:]) < 0.6])


def drawn(function, rng):
    """Positional arguments and keywords for a function."""
    name = function.__name__
    shapes = [s for s in SHAPES if len(s) == 1] if name in VECTORS else SHAPES
    pools = {**POOLS, **OWN.get(name, {})}
    if name in VARIADIC:
        x = array(rng)
        keywords = {k: pools[k] for k in ("copy", "sparse", "indexing") if name == "meshgrid"}
        args = [x, partner(rng, x, shapes)][: rng.integers(1, 3)]
        return args, {k: pick(rng, v) for k, v in keywords.items() if rng.random() < 0.4}
    args, keywords, x = [], {}, None
    for parameter in inspect.signature(function).parameters.values():
        required = parameter.default is parameter.empty
        if parameter.name in NOT_DRAWN or (not required and rng.random() < 0.55):
            if parameter.kind is parameter.POSITIONAL_ONLY:
                break
            continue
        value, x = _value(parameter.name, name, pools, x, shapes, rng)
        if required or parameter.kind is parameter.POSITIONAL_ONLY:
            args.append(value)
        else:
            keywords[parameter.name] = value
    return args, keywords


def _value(parameter, name, pools, x, shapes, rng):
    """One argument, and the array that the others go with."""
    if x is None and not (name in CONDITIONS and parameter == "condition"):
        x = array(rng, shapes, KINDS.get(name, "fcib"))
        if parameter not in SEQUENCES:
            return x, x
        more = [pick(rng, [like(rng, x.shape, x.dtype), array(rng, shapes)]) for _ in range(rng.integers(3))]
        return [x, *more], x
    if parameter == "where":
        return mask(rng, x), x
    return (pick(rng, pools[parameter]) if parameter in pools else partner(rng, x, shapes)), x
