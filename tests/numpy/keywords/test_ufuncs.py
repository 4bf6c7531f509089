"""Every universal function of NumPy with keywords, and its methods, drawn at random: what NumPy gives, or raises."""

import zlib

import numpy as np
import pytest

from adjoint.core.errors import BatchError
from adjoint.core.tree import flatten
from adjoint.numpy import functions
from adjoint.ops.declare import UFUNCS

from .draws import array, like, mask, pick
from .test_keywords import TRANSFORMS, difference, outcome

functions.load()
ACCIDENTS = {"arctan2", "power", "ldexp", "square", "matmul", "vecdot", "matvec", "vecmat"}
"""Functions whose reductions, or whose results in another order, are wrong in some versions of NumPy, or that make
another kind of number of truth values."""
NAMES = sorted(u.__name__ for u in UFUNCS if getattr(np, u.__name__, None) is u and u.__name__ not in ACCIDENTS)
KINDS = [None, bool, int, np.float16, np.float32, float, complex, np.complex64]
AXES = [None, 0, 1, -1, (0,), (0, 1), 5, 1.0, ()]
CALL = {
    "dtype": KINDS,
    "casting": ["same_kind", "safe", "unsafe", "no"],
    "order": ["K", "C", "F", "bad"],
    "subok": [True],
}
REDUCTION = {"axis": AXES, "dtype": KINDS, "keepdims": [True, False], "initial": [0, 1.5, None, np.nan]}
METHODS = {
    "__call__": CALL,
    "outer": {"dtype": KINDS},
    "reduce": REDUCTION,
    "accumulate": {"axis": AXES, "dtype": KINDS},
    "reduceat": {"axis": AXES, "dtype": KINDS},
}


def drawn(ufunc, rng):
    """A method, its arguments and its keywords."""
    x = array(rng)
    others = [pick(rng, [like(rng, x.shape, x.dtype), array(rng), 2.0, 3, x]) for _ in range(ufunc.nin - 1)]
    method = pick(rng, list(METHODS)) if ufunc.nin == 2 and ufunc.nout == 1 else "__call__"
    args = [x, *others]
    if method in ("reduce", "accumulate", "reduceat"):
        args = [x] if method != "reduceat" else [x, pick(rng, [[0], [0, 1], [1, 0], [0, 2, 1], [], [7]])]
    keywords = {name: pick(rng, pool) for name, pool in METHODS[method].items() if rng.random() < 0.35}
    if method == "reduce" and rng.random() < 0.3:
        keywords["where"] = mask(rng, x)
    return method, args, keywords


def check(name, transform, rounds):
    """Draw arguments and compare."""
    run, kinds = TRANSFORMS[transform]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(rounds):
        method, args, keywords = drawn(getattr(np, name), rng)
        leaves, rebuild = flatten(args)
        places = [k for k, x in enumerate(leaves) if isinstance(x, np.ndarray) and x.dtype.kind in kinds]
        if not places:
            continue

        def call(*values):
            full = list(leaves)
            for k, v in zip(places, values, strict=True):
                full[k] = v
            ufunc = getattr(np, name)
            return (ufunc if method == "__call__" else getattr(ufunc, method))(*rebuild(full), **keywords)

        arrays = [leaves[k] for k in places]
        want, got = outcome(lambda: call(*arrays)), outcome(lambda: run(call, arrays))
        if isinstance(got, BatchError) or (isinstance(want, TypeError) and isinstance(got, TypeError)):
            continue
        assert not (told := difference(want, got)), f"{transform}: {name}.{method}(*{args}, **{keywords}): {told}"


@pytest.mark.parametrize(("transform", "rounds"), [("reverse", 100), ("forward", 40), ("batch", 100)])
@pytest.mark.parametrize("name", NAMES)
def test_many_calls(name, transform, rounds):
    """Many keywords of every function and method, under every transformation."""
    check(name, transform, rounds)
