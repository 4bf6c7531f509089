"""Calls of the C library's mathematics, written so that LLVM's loops take its vector versions where it has them."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.instructions import Call, Instruction
from ..assembly.kinds import VOID, register_kind
from ..assembly.module import Module
from ..assembly.values import Function, Parameter, Value, Vectors
from ..runtime.engine import has_symbol
from ..runtime.processor import has_feature

PURE = "memory(none) nounwind willreturn"
"""No errno, no exceptions: a call may be moved, merged and dropped."""

WIDTHS = (("b", 128, "sse4.1"), ("d", 256, "avx2"), ("e", 512, "avx512f"))
"""The letters of the vector versions' names in glibc's libmvec, with their bits and the processor's word for them."""

OPAQUE = {"pow": "LLVM makes exp2(3 * x) of pow(8, x), whose rounded product costs hundreds of ulp"}
"""Functions that LLVM must not know by name, and why."""


def call(e: Emitter, name: str, args: list[Value], dtype: np.dtype) -> Value:
    """Call a function of the C library by the name it has for doubles."""
    kinds = (register_kind(dtype),) * len(args)
    symbol = symbol_of(name, dtype)
    found = e.module.declare(symbol, kinds[0], *kinds, attributes=PURE, vectors=Vectors.LIBRARY, stem=symbol)
    found = _opaque(e.module, found) if name in OPAQUE else found
    return e.call(found, *args, site=_vectorised(e.module, found))


def symbol_of(name: str, dtype: np.dtype) -> str:
    """The C library's name of a function for a type of floats."""
    return name + "f" if dtype.name == "float32" else name


def _opaque(module: Module, function: Function) -> Function:
    """A function of the module's own that only calls another, and that LLVM can neither see through nor replace."""
    name, kind = f"adjoint_{function.stem}", function.result
    parameters = [Parameter(f"%x{k}", p) for k, p in enumerate(function.parameters)]
    result = Call("%out", function, tuple(parameters), "tail call", site="nobuiltin")
    body = [result, Instruction("", VOID, "ret", (result,))]
    attributes = module.attribute(f"noinline {PURE}")
    return module.helper(name, kind, parameters, body, attributes, vectors=Vectors.LIBRARY, stem=function.stem)


def _vectorised(module: Module, function: Function) -> str:
    """The attribute of a call that names its vector versions, which are declared and kept in the module."""
    kind, arity = function.result, len(function.parameters)
    found = versions(function.stem, arity, kind.bytes)
    if not found:
        return ""
    for version, lanes in found:
        wide = kind.wide(lanes)
        module.declare(version, wide, *[wide] * arity, attributes=PURE)
        module.keep.add(version)
    mappings = [f"_ZGV_LLVM_N{lanes}{'v' * arity}_{function.symbol}({version})" for version, lanes in found]
    return module.attribute(f'"vector-function-abi-variant"="{",".join(mappings)}"')


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
