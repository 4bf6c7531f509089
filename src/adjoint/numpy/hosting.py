"""While a program is captured: a whole function as one step of it, which NumPy or SciPy takes whenever it runs.

That is how functions without a rule are captured. A few functions that have one are kept whole as well: their results
at special values (nan, infinities, a rank that is not full) follow from the order of work inside NumPy, or their
errors from its checks. A derivative looks inside all the same: it is taken before the capture sees anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError, message
from ..core.primitive import Primitive
from ..core.traced import CONSTANTS, Traced, snapshot
from ..core.tree import flatten
from ..rules.opaque import Opaque
from ..rules.stacking import one_by_one

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


class Hosted(Primitive):
    """The step of one call of a function: arrays come in anew at each run, everything else is as it was."""

    __slots__ = ("call",)

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        super().__init__(name, call, derivative=UNKNOWN, stacking=one_by_one, multiple=True)
        self.call = call

    def __call__(self, *args: Any, **params: Any) -> Any:
        """A derivative or a batch that comes by later does what it would have done with the function itself."""
        if any(isinstance(a, Traced) and not a.walk.is_capture for a in args):
            return self.call(*args)
        return super().__call__(*args, **params)


def capture_of(leaves: Sequence[Any]) -> Any:
    """The capturing walk that all traced values among these belong to directly, or None."""
    capture = None
    for x in leaves:
        if isinstance(x, Traced) and x.walk is not CONSTANTS:
            if not x.walk.is_capture:
                return None
            capture = x.walk
    return capture


def hosted(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function on captured values as one step; `NotImplemented` if other walks have a part in it."""
    leaves, rebuild = flatten((args, kwargs))
    capture = capture_of(leaves)
    if capture is None:
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
        found, restore = flatten(function(*again, **words))
        if not shape:
            shape.append(restore)
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


class NotNumbersError(Exception):
    """A function that was to be a step returned something a program cannot hold."""
