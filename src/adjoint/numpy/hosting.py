"""While a program is captured: which calls of NumPy's functions become one step, that NumPy takes at every run.

- Functions without a rule.
- A few that have one: their results at special values (nan, infinities, a rank that is not full) follow from the order
  of work inside NumPy, or their errors from its checks.
- Calls for which our version gives another dtype or kind of number than NumPy: it is written for what can be
  differentiated, and a program may also work on integers, truth values and unusual precisions.

A derivative looks inside all the same: it is taken before the capture sees anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import ImpureError, UnsupportedError, message
from ..core.primitive import Primitive
from ..core.traced import Traced, snapshot
from ..core.tree import flatten
from ..core.values import dtype_of, plain
from ..ir.bits import same_bits
from ..ir.capture import ForeignValueError, NoStepError
from ..rules.opaque import Opaque
from ..rules.stacking import one_by_one
from .agreement import WRITERS

QUESTIONS: frozenset[Any] = frozenset((np.ndim, np.shape, np.size, np.iscomplexobj, np.isrealobj, np.result_type))
"""Functions whose answers do not depend on the elements, so that a program need not ask again."""

IN_PLACE: frozenset[Any] = frozenset((np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal))
"""Functions that write to an argument."""

NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)

KEPT_WHOLE: frozenset[Any] = frozenset((
    np.interp, np.polymul, np.polydiv, np.polyfit, np.median, np.quantile, np.percentile, np.nanmedian, np.nanquantile,
    np.nanpercentile, np.histogram, np.histogram2d, np.histogramdd, np.histogram_bin_edges, np.linalg.lstsq,
    np.linalg.cond, np.linalg.matrix_power,
))  # fmt: skip
"""Functions of NumPy that are one step of a program, although they have a derivative."""


def _refuse(*facts: Any) -> Any:
    raise UnsupportedError(
        message(
            "A function without a derivative rule is in the way.",
            fix="If no derivative is wanted, pass  ad.stop_gradient(x)  to it; "
            "if it is, give the rule with  ad.custom_rule.",
        )
    )


UNKNOWN = Opaque(_refuse)


EXACT: frozenset[Any] = frozenset((
    np.all, np.any, np.argmax, np.argmin, np.argsort, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to,
    np.clip, np.column_stack, np.concatenate, np.count_nonzero, np.cumsum, np.diff, np.dot, np.empty_like,
    np.expand_dims, np.flip, np.full_like, np.hstack, np.matmul, np.max, np.min, np.moveaxis, np.ndim, np.nonzero,
    np.ones_like, np.ravel, np.repeat, np.reshape, np.roll, np.searchsorted, np.shape, np.size, np.sort, np.squeeze,
    np.stack, np.sum, np.swapaxes, np.take, np.take_along_axis, np.tile, np.transpose, np.tril, np.triu, np.vstack,
    np.where, np.zeros_like, np.absolute, np.add, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.divide, np.equal,
    np.floor_divide, np.greater, np.greater_equal, np.invert, np.isfinite, np.isinf, np.isnan, np.less, np.less_equal,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.maximum, np.minimum, np.multiply, np.negative,
    np.not_equal, np.positive, np.remainder, np.sign, np.subtract, np.sqrt, np.exp, np.log, np.sin, np.cos, np.tanh,
))  # fmt: skip
"""Functions whose versions here give NumPy's own numbers for integers and truth values too."""


class Hosted(Primitive):
    """The step of one call of a function: arrays come in anew at each run, everything else is as it was."""

    __slots__ = ("call",)

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        super().__init__(name, call, derivative=UNKNOWN, stacking=one_by_one, multiple=True, fails_from=0)
        self.call = call

    def __call__(self, *args: Any, **params: Any) -> Any:
        """A derivative or a batch that comes by later does what it would have done with the function itself."""
        if any(isinstance(a, Traced) and not a.walk.is_capture for a in args):
            return self.call(*args)
        return super().__call__(*args, **params)


def dispatched(name: str, function: Any, ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What our version of a function gives where the user calls it; in a captured program, a whole step if need be."""
    leaves, rebuild = flatten((args, kwargs))
    capture = capture_of(leaves)
    if capture is None or not capture.guards_allowed or function in QUESTIONS:
        return ours(*args, **kwargs)
    if function in IN_PLACE or kwargs.get("out") is not None:
        return ours(*args, **kwargs)
    empty = all([0 in x.shape for x in leaves if isinstance(x, Traced)])
    if function in KEPT_WHOLE or function in WRITERS or empty or capture.conditions() is not None:
        found = hosted(name, function, args, kwargs)
        return _ours(capture, ours, args, kwargs) if found is NotImplemented else found
    if any(callable(x) and not isinstance(x, type) for x in leaves):
        return _ours(capture, ours, args, kwargs)
    if function not in EXACT and all(dtype_of(x).kind not in "fc" for x in leaves if isinstance(x, Traced)):
        found = hosted(name, function, args, kwargs)
        return _ours(capture, ours, args, kwargs) if found is NotImplemented else found
    again, words = rebuild([plain(x) for x in leaves])
    try:
        real = _kinds(function(*again, **words))
    except Exception:
        hosted(name, function, args, kwargs)  # raises as well, and writes down that it does
        raise
    try:
        with np.errstate(all="ignore"):
            found = ours(*args, **kwargs)
    except (ForeignValueError, ImpureError):
        raise
    except Exception:  # NumPy takes what our version does not, and nothing but its result is wanted
        return hosted(name, function, args, kwargs)
    return found if _kinds(found) == real else hosted(name, function, args, kwargs)


def _ours(capture: Any, ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call our version of a function; an error that comes from no step is noted, as it may depend on values."""
    try:
        return ours(*args, **kwargs)
    except Exception as error:
        capture.unguarded = capture.unguarded or capture.failed != id(error)
        raise


def _kinds(result: Any) -> list[Any]:
    """What can be known of a result before its numbers: types, dtypes, shapes."""
    return [(type(x), getattr(x, "dtype", None), np.shape(x)) for x in map(plain, flatten(result)[0])]


def capture_of(leaves: Sequence[Any]) -> Any:
    """The capturing walk that all traced values among these belong to directly, or None."""
    capture = None
    for x in leaves:
        if isinstance(x, Traced) and x.walk.level:
            if not x.walk.is_capture:
                return None
            capture = x.walk
    return capture


def hosted(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function on captured values as one step; `NotImplemented` if other walks have a part in it."""
    leaves, rebuild = flatten((args, kwargs))
    capture = capture_of(leaves)
    if capture is None or any(callable(x) and not isinstance(x, type) for x in leaves):
        return NotImplemented
    places = [k for k, x in enumerate(leaves) if isinstance(x, (Traced, np.ndarray))]
    given = [snapshot(leaves[k]) for k in places]
    rest: list[Any] = [None if isinstance(x, (Traced, np.ndarray)) else x for x in leaves]
    shape: list[Any] = []

    def call(*values: Any) -> tuple[Any, ...]:
        full = list(rest)
        for k, v in zip(places, values, strict=True):
            full[k] = v
        again, words = rebuild(full)
        before = [] if shape else [np.array(v) for v in values]
        found, restore = flatten(function(*again, **words))
        if not shape:
            shape.append(restore)
            if not all([same_bits(np.asarray(v), b) for v, b in zip(values, before, strict=True)]):
                raise UnsupportedError(
                    message(f"{name} writes to its argument, which a recording would not repeat.", fix="Copy it first.")
                )
        if not all(isinstance(f, (*NUMBERS, Traced)) for f in found):
            raise NotNumbersError
        return tuple(found)

    try:
        found = capture.process(Hosted(name, call), tuple(given), {})
    except NotNumbersError:  # text, objects: right for exactly these arguments
        full = list(rest)
        for k, v in zip(places, given, strict=True):
            full[k] = capture.decided(v) if isinstance(v, Traced) else v
        again, words = rebuild(full)
        return function(*again, **words)
    return shape[0](list(found))


class NotNumbersError(NoStepError):
    """A function that was to be a step returned something a program cannot hold."""
