"""Which types one element of an elementwise step is computed with: NumPy's own choice, wherever it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

BOOL, INT32, INT64 = np.dtype(np.bool), np.dtype(np.int32), np.dtype(np.int64)


class Loop(NamedTuple):
    """The types of one application: of each operand as `emit` wants it, the type `emit` is told, the result's."""

    operands: tuple[np.dtype, ...]
    dtype: np.dtype
    result: np.dtype


Dtypes = tuple[Any, ...]
"""Of each operand; a Python number's is `int`, `float` or `bool`, as it has none."""
Resolve = Callable[[Dtypes, Sequence[Any], dict[str, Any]], Loop | None]
"""From the dtypes of the operands, the values that are known now (None for the others) and the parameters."""


def by_ufunc(ufunc: np.ufunc) -> Resolve:
    """The types NumPy itself chooses; it compares with Python's integers that these do not hold, too."""

    def resolve(dtypes: Dtypes, literals: Sequence[Any], params: dict[str, Any]) -> Loop | None:
        found = chosen_by(ufunc, dtypes)
        if found is not None and found.dtype.kind in "iu":
            limits = np.iinfo(found.dtype)
            if any([type(n) is int and not limits.min <= n <= limits.max for n in literals]):
                return None
        return found

    return resolve


@cache
def chosen_by(ufunc: np.ufunc, dtypes: Dtypes) -> Loop | None:
    """The types of a universal function; operands of different types (int64 < uint64) are left to NumPy."""
    try:
        found = ufunc.resolve_dtypes((*dtypes, *[None] * ufunc.nout))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    chosen = tuple(found[: len(dtypes)])
    if any([d != chosen[0] for d in chosen]):
        return None
    return Loop(chosen, chosen[0], found[ufunc.nin])


def same(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """The argument's type for everything."""
    dtype = np.dtype(dtypes[0])
    return Loop((dtype,), dtype, dtype)


def converted(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """`astype`: from one type to the other."""
    dtype = np.dtype(dtypes[0])
    return Loop((dtype,), dtype, np.dtype(params["dtype"]))


def squared(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """`square`: those of a product, but for truth values, which are small integers."""
    found = chosen_by(np.multiply, (np.dtype(np.int8),) * 2 if dtypes == (np.dtype(bool),) else dtypes * 2)
    return found and Loop(found.operands[:1], found.dtype, found.result)


def raised(dtypes: Dtypes, literals: Sequence[Any], params: dict[str, Any]) -> Loop | None:
    """`power`: for negative exponents of whole numbers NumPy raises."""
    found = chosen_by(np.power, dtypes)
    if found is None or found.dtype.kind != "i":
        return found
    is_known = len(literals) > 1 and literals[1] is not None
    return found if is_known and literals[1] >= 0 else None


def chosen(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """`where`: a condition, and two values of one type."""
    found = chosen_by(np.maximum, dtypes[1:])
    return found and Loop((BOOL, *found.operands), found.dtype, found.dtype)


def bounded(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """`clip`: three values of one type."""
    above = chosen_by(np.maximum, dtypes[:2])
    found = above and chosen_by(np.maximum, (above.dtype, dtypes[2]))
    return found and Loop((found.dtype,) * 3, found.dtype, found.dtype)


def scaled(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """`ldexp`: a float and an integer."""
    try:
        found = np.ldexp.resolve_dtypes((*dtypes, None))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return Loop((found[0], INT64), found[0], found[2])


def split(dtypes: Dtypes, literals: Sequence[object], params: dict[str, Any]) -> Loop | None:
    """The exponent of a float, as int32."""
    found = chosen_by(np.frexp, dtypes)
    return found and Loop(found.operands, found.dtype, INT32)
