"""Conversions between NumPy's number types, to the bit as NumPy does them on this kind of machine."""

from __future__ import annotations

import numpy as np

from ..emit import Emitter, literal, llvm_type

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def cast(e: Emitter, value: str, from_dtype: np.dtype, to_dtype: np.dtype) -> str:
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


def truth(e: Emitter, value: str, dtype: np.dtype) -> str:
    """Whether a number is not 0; nan is not."""
    if dtype.kind == "b":
        return value
    return e.op(f"{'fcmp une' if dtype.kind == 'f' else 'icmp ne'} {llvm_type(dtype)} {value}, {literal(0, dtype)}")


def _convert(e: Emitter, instruction: str, value: str, from_dtype: np.dtype, to_dtype: np.dtype) -> str:
    return e.op(f"{instruction} {llvm_type(from_dtype)} {value} to {llvm_type(to_dtype)}")


def _resize(e: Emitter, value: str, from_dtype: np.dtype, to_dtype: np.dtype) -> str:
    if from_dtype.itemsize == to_dtype.itemsize:
        return value
    if from_dtype.itemsize > to_dtype.itemsize:
        return _convert(e, "trunc", value, from_dtype, to_dtype)
    return _convert(e, "sext" if from_dtype.kind == "i" else "zext", value, from_dtype, to_dtype)


def _whole(e: Emitter, value: str, from_dtype: np.dtype, to_dtype: np.dtype) -> str:
    """A float cut to an integer: through 32 bits for the short types, through 64 for uint32, as C compilers do it."""
    if to_dtype.name == "uint64":
        return _whole_unsigned(e, value, from_dtype)
    through = INT64 if to_dtype.name in ("int64", "uint32") else INT32
    return _resize(e, _whole_signed(e, value, from_dtype, through), through, to_dtype)


def _whole_signed(e: Emitter, value: str, from_dtype: np.dtype, to_dtype: np.dtype) -> str:
    """The processor's conversion: whatever does not fit, nan too, gives the lowest number."""
    kind, whole = llvm_type(from_dtype), llvm_type(to_dtype)
    bound = 2.0 ** (8 * to_dtype.itemsize - 1)
    # between the lowest integer and the float below it lie fractions that are cut back into the range
    low = (
        -bound - 1.0
        if to_dtype == INT32 and from_dtype.itemsize == 8
        else np.nextafter(from_dtype.type(-bound), -np.inf)
    )
    above = e.op(f"fcmp ogt {kind} {value}, {literal(low, from_dtype)}")
    below = e.op(f"fcmp olt {kind} {value}, {literal(bound, from_dtype)}")
    fits = e.op(f"and i1 {above}, {below}")
    safe = e.op(f"select i1 {fits}, {kind} {value}, {kind} {literal(0, from_dtype)}")
    found = e.op(f"fptosi {kind} {safe} to {whole}")
    return e.op(f"select i1 {fits}, {whole} {found}, {whole} {int(-bound)}")


def _whole_unsigned(e: Emitter, value: str, from_dtype: np.dtype) -> str:
    """The upper half is moved down by 2**63 first, then back up."""
    kind = llvm_type(from_dtype)
    half = literal(2.0**63, from_dtype)
    upper = e.op(f"fcmp oge {kind} {value}, {half}")
    moved = e.op(f"fsub {kind} {value}, {half}")
    chosen = e.op(f"select i1 {upper}, {kind} {moved}, {kind} {value}")
    found = _whole_signed(e, chosen, from_dtype, INT64)
    back = e.op(f"xor i64 {found}, {-(2**63)}")
    return e.op(f"select i1 {upper}, i64 {back}, i64 {found}")
