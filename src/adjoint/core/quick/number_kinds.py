"""Whose a number is: in a reverse trace NumPy's numbers are Python floats, which are quicker, and yet not Python's.

NumPy's numbers do not give way to the precision of an array, and their comparisons give NumPy's truth values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..traced import FLOAT64, Traced, is_python

if TYPE_CHECKING:
    from ..reverse import ReverseTrace

FLOAT = np.float64
NUMPYS = frozenset((np.float64, np.ndarray))
PURE = frozenset((float,))
QUICK_KINDS = NUMPYS | PURE
LOW = frozenset(map(np.dtype, ("float16", "float32", "complex64")))


def note_kinds(trace: ReverseTrace, given: Sequence[object]) -> None:
    """Say what the inputs of a trace were given as."""
    kinds = set(map(type, given))
    if kinds <= NUMPYS:  # nothing else is met more often
        trace.is_numpy = trace.has_numpys = True
        return
    trace.is_numpy = float not in kinds and not any([issubclass(kind, Traced) for kind in kinds])
    trace.has_numpys = kinds != PURE
    if FLOAT in kinds and not trace.is_numpy:
        trace.kinds.update({k: False for k, x in enumerate(given) if type(x) is FLOAT})


def is_python_at(trace: ReverseTrace, place: int) -> bool:
    """Whether a number is Python's: an input that was one, or what Python's operators made of such numbers.

    Asked for a comparison or a rounding, seldom enough to look it up in what was recorded.
    """
    known, waiting = trace.kinds, [place]
    while waiting:
        k = waiting[-1]
        primitive, parents, values, out, _ = trace[k]
        if not parents:  # an input
            known.setdefault(k, is_python(out))
        elif not primitive.is_operator:
            known.setdefault(k, False)
        elif k not in known:
            unknown = [p for p in parents if p is not None and p not in known]
            if unknown:
                waiting += unknown
                continue
            known[k] = all([
                is_python(v) if p is None else known[p] for p, v in zip(parents, values, strict=True)
            ])  # fmt: skip
        waiting.pop()
    return known[place]


def with_precision(trace: ReverseTrace, values: list[Any], parents: Sequence[int | None]) -> list[Any]:
    """The values with traced numbers as NumPy's, where they are, if they meet an array of lower precision."""
    for v in values:
        if type(v) is not float and getattr(v, "dtype", FLOAT64) is not FLOAT64 and v.dtype in LOW:
            break
    else:
        return values
    return [
        FLOAT(v) if type(v) is float and p is not None and not trace.is_python_at(p) else v
        for v, p in zip(values, parents, strict=True)
    ]
