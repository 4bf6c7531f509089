"""The kinds of registers: numbers, addresses and vectors of numbers, with LLVM's names for them."""

from __future__ import annotations

import numpy as np


class Kind:
    """What a register holds. There is one object of each kind, so that they are compared by identity."""

    __slots__ = ("_wide", "bytes", "element", "is_real", "lanes", "name", "suffix")

    def __init__(self, name: str, size: int = 0, suffix: str = "", lanes: int = 0, element: Kind | None = None) -> None:
        self.name = name
        self.bytes = size
        """Of one lane; 0 for what is no number and no address."""
        self.suffix = suffix
        """What the names of LLVM's own functions end with, for this kind."""
        self.lanes = lanes
        """Numbers in a vector; 0 for a single one."""
        self.element = element or self
        self.is_real = self.element.suffix[:1] == "f"
        self._wide: dict[int, Kind] = {}

    def wide(self, lanes: int) -> Kind:
        """A vector of this kind."""
        found = self._wide.get(lanes)
        if found is None:
            suffix = f"v{lanes}{self.suffix}"
            found = self._wide[lanes] = Kind(f"<{lanes} x {self.name}>", self.bytes, suffix, lanes, self)
        return found

    def __repr__(self) -> str:
        return self.name


DOUBLE, FLOAT = Kind("double", 8, "f64"), Kind("float", 4, "f32")
I128, I64, I32, I16, I8, I1 = (Kind(f"i{bits}", -(-bits // 8), f"i{bits}") for bits in (128, 64, 32, 16, 8, 1))
POINTER, VOID = Kind("ptr", 8), Kind("void")


def block_of(length: int, kind: Kind) -> Kind:
    """Memory for several of a kind."""
    return Kind(f"[{length} x {kind.name}]")


def pair(first: Kind, second: Kind) -> Kind:
    """Two results of one call."""
    return Kind(f"{{ {first.name}, {second.name} }}")


KINDS = {
    "float64": DOUBLE, "float32": FLOAT, "int64": I64, "int32": I32, "int16": I16, "int8": I8, "uint64": I64,
    "uint32": I32, "uint16": I16, "uint8": I8, "bool": I1,
}  # fmt: skip
"""The kinds values have in registers, by NumPy's name; a truth value is one bit here and one byte in memory."""

_BY_NUMBER = {np.dtype(kind).num: KINDS[np.dtype(kind).name] for kind in "?bhilqBHILQfd"}
"""The same by NumPy's number, which is much quicker to ask for than the name."""


def is_known(dtype: np.dtype) -> bool:
    """Whether values of a dtype can be in registers."""
    return dtype.num in _BY_NUMBER and dtype.isnative


def register_kind(dtype: np.dtype) -> Kind:
    """The kind of a value in a register."""
    return _BY_NUMBER[dtype.num]


def memory_kind(dtype: np.dtype) -> Kind:
    """The kind of a value in memory."""
    return I8 if dtype.kind == "b" else _BY_NUMBER[dtype.num]


def bits_kind(dtype: np.dtype) -> Kind:
    """Integers as wide as a type of floats."""
    return I64 if dtype.itemsize == 8 else I32
