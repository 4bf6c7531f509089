"""Conversions between NumPy's number types, to the bit as NumPy does them on this kind of machine."""

from __future__ import annotations

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import register_kind
from ..assembly.values import Value, literal

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def cast(e: Emitter, value: Value, from_dtype: np.dtype, to_dtype: np.dtype) -> Value:
    """`value.astype(to_dtype)`."""
    if from_dtype is to_dtype or from_dtype == to_dtype:
        return value
    if to_dtype.kind == "b":
        return truth(e, value, from_dtype)
    if from_dtype.kind == "b":
        return _convert(e, "uitofp" if to_dtype.kind == "f" else "zext", value, from_dtype, to_dtype)
    if from_dtype.kind == "f" and to_dtype.kind == "f":
        return _convert(
            e, "fpext" if to_dtype.itemsize > from_dtype.itemsize else "fptrunc", value, from_dtype, to_dtype
        )
    if from_dtype.kind == "f":
        return _whole(e, value, from_dtype, to_dtype)
    if to_dtype.kind == "f":
        return _convert(e, "sitofp" if from_dtype.kind == "i" else "uitofp", value, from_dtype, to_dtype)
    return _resize(e, value, from_dtype, to_dtype)


def truth(e: Emitter, value: Value, dtype: np.dtype) -> Value:
    """Whether a number is not 0; nan is not."""
    if dtype.kind == "b":
        return value
    return e.compare("une" if dtype.kind == "f" else "ne", value, literal(0, dtype))


def _convert(e: Emitter, instruction: str, value: Value, from_dtype: np.dtype, to_dtype: np.dtype) -> Value:
    return e.convert(instruction, value, register_kind(to_dtype))


def _resize(e: Emitter, value: Value, from_dtype: np.dtype, to_dtype: np.dtype) -> Value:
    if from_dtype.itemsize == to_dtype.itemsize:
        return value
    if from_dtype.itemsize > to_dtype.itemsize:
        return _convert(e, "trunc", value, from_dtype, to_dtype)
    return _convert(e, "sext" if from_dtype.kind == "i" else "zext", value, from_dtype, to_dtype)


def _whole(e: Emitter, value: Value, from_dtype: np.dtype, to_dtype: np.dtype) -> Value:
    """A float cut to an integer: through 32 bits for the short types, through 64 for uint32, as C compilers do it."""
    if to_dtype.name == "uint64":
        return _whole_unsigned(e, value, from_dtype)
    through = INT64 if to_dtype.name in ("int64", "uint32") else INT32
    return _resize(e, _whole_signed(e, value, from_dtype, through), through, to_dtype)


def _whole_signed(e: Emitter, value: Value, from_dtype: np.dtype, to_dtype: np.dtype) -> Value:
    """The processor's conversion: whatever does not fit, nan too, gives the lowest number."""
    whole = register_kind(to_dtype)
    bound = 2.0 ** (8 * to_dtype.itemsize - 1)
    # between the lowest integer and the float below it lie fractions that are cut back into the range
    low = (
        -bound - 1.0
        if to_dtype == INT32 and from_dtype.itemsize == 8
        else np.nextafter(from_dtype.type(-bound), -np.inf)
    )
    above = e.compare("ogt", value, literal(low, from_dtype))
    below = e.compare("olt", value, literal(bound, from_dtype))
    fits = e.op("and", above, below)
    safe = e.select(fits, value, literal(0, from_dtype))
    found = e.convert("fptosi", safe, whole)
    return e.select(fits, found, int(-bound))


def _whole_unsigned(e: Emitter, value: Value, from_dtype: np.dtype) -> Value:
    """The upper half is moved down by 2**63 first, then back up."""
    half = literal(2.0**63, from_dtype)
    upper = e.compare("oge", value, half)
    moved = e.op("fsub", value, half)
    chosen = e.select(upper, moved, value)
    found = _whole_signed(e, chosen, from_dtype, INT64)
    back = e.op("xor", found, -(2**63))
    return e.select(upper, back, found)
