"""Calls of the C library's mathematics, written so that LLVM's loops take its vector versions where it has them."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..emit import Emitter, llvm_type
from ..engine import has_feature, has_symbol

PURE = "memory(none) nounwind willreturn"
"""No errno, no exceptions: a call may be moved, merged and dropped."""

WIDTHS = (("b", 128, "sse4.1"), ("d", 256, "avx2"), ("e", 512, "avx512f"))
"""The letters of the vector versions' names in glibc's libmvec, with their bits and the processor's word for them."""

OPAQUE = {"pow": "LLVM makes exp2(3 * x) of pow(8, x), whose rounded product costs hundreds of ulp"}
"""Functions that LLVM must not know by name, and why."""


def call(e: Emitter, name: str, args: list[str], dtype: np.dtype) -> str:
    """Call a function of the C library by the name it has for doubles."""
    kind, symbol = llvm_type(dtype), symbol_of(name, dtype)
    kinds = ", ".join([kind] * len(args))
    e.module.declare(symbol, f"{kind} {{}}({kinds}) {PURE}")
    callee = _opaque(e, symbol, len(args), dtype) if name in OPAQUE else symbol
    site = _vectorised(e, callee, symbol, len(args), dtype)
    return e.op(f"call {kind} @{callee}({', '.join([f'{kind} {a}' for a in args])}){site}")


def symbol_of(name: str, dtype: np.dtype) -> str:
    """The C library's name of a function for a type of floats."""
    return name + "f" if dtype.name == "float32" else name


def _opaque(e: Emitter, symbol: str, arity: int, dtype: np.dtype) -> str:
    """A function of the module's own that only calls another, and that LLVM can neither see through nor replace."""
    name, kind = f"adjoint_{symbol}", llvm_type(dtype)
    names = [f"{kind} %x{k}" for k in range(arity)]
    attributes = e.module.attribute(f"noinline {PURE}")
    body = f"  %out = tail call {kind} @{symbol}({', '.join(names)}) nobuiltin\n  ret {kind} %out"
    text = f"define {kind} @{name}({', '.join(names)}) {attributes} {{\n{body}\n}}"
    e.module.declarations.setdefault(name, text)
    return name


def _vectorised(e: Emitter, callee: str, symbol: str, arity: int, dtype: np.dtype) -> str:
    """The attribute of a call that names its vector versions, which are declared and kept in the module."""
    found = versions(symbol, arity, dtype.itemsize)
    if not found:
        return ""
    kind = llvm_type(dtype)
    for version, lanes in found:
        wide = f"<{lanes} x {kind}>"
        e.module.declare(version, f"{wide} {{}}({', '.join([wide] * arity)}) {PURE}")
        e.module.keep.add(version)
    mappings = [f"_ZGV_LLVM_N{lanes}{'v' * arity}_{callee}({version})" for version, lanes in found]
    return " " + e.module.attribute(f'"vector-function-abi-variant"="{",".join(mappings)}"')


@cache
def versions(symbol: str, arity: int, itemsize: int) -> tuple[tuple[str, int], ...]:
    """The vector versions of a function that exist here and that this processor can run, with their lanes."""
    found = []
    for letter, bits, feature in WIDTHS:
        lanes = bits // (8 * itemsize)
        version = f"_ZGV{letter}N{lanes}{'v' * arity}_{symbol}"
        if has_feature(feature) and has_symbol(version):
            found.append((version, lanes))
    return tuple(found)
