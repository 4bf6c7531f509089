"""What instructions read: constants, parameters and functions, each with its kind."""

from __future__ import annotations

import math
import struct
from enum import Enum

import numpy as np

from .kinds import I1, POINTER, Kind, register_kind


class Value:
    """Something with a name and a kind: a constant, a parameter, or the result of an instruction."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: Kind) -> None:
        self.name = name
        self.kind = kind

    def __repr__(self) -> str:
        return f"{self.kind.name} {self.name}"


class Constant(Value):
    """A number, or something else that is known now, as LLVM writes it."""

    __slots__ = ("number",)

    def __init__(self, name: str, kind: Kind, number: float | None = None) -> None:
        self.name = name
        self.kind = kind
        self.number = number


class Parameter(Value):
    """What a function is given; `attributes` is what LLVM may take for granted about it."""

    __slots__ = ("attributes",)

    def __init__(self, name: str, kind: Kind, attributes: str = "") -> None:
        self.name = name
        self.kind = kind
        self.attributes = attributes

    def text(self) -> str:
        """As it stands in a list of parameters."""
        return f"{self.kind.name} {self.attributes} {self.name}" if self.attributes else f"{self.kind.name} {self.name}"


class Vectors(Enum):
    """How a function is called for all lanes of a vector."""

    NEVER = "it takes one number at a time"
    INTRINSIC = "LLVM has it for every kind, under the stem and the suffix of the kind"
    LIBRARY = "the C library may have it for vectors, under a name made from the stem; else lane by lane"
    LANES = "lane by lane"


class Function(Constant):
    """A function that can be called: what it gives and takes, and how it is called for vectors."""

    __slots__ = ("parameters", "result", "stem", "vectors", "written")

    def __init__(
        self,
        name: str,
        result: Kind,
        parameters: tuple[Kind, ...],
        *,
        written: str = "",
        vectors: Vectors = Vectors.NEVER,
        stem: str = "",
    ) -> None:
        super().__init__(name, POINTER)
        self.result = result
        self.parameters = parameters
        self.written = written
        """Its declaration or definition, if that stands at the head of the module."""
        self.vectors = vectors
        self.stem = stem

    @property
    def symbol(self) -> str:
        """Its name for the linker."""
        return self.name.removeprefix("@")


Operand = Value | int
"""What instructions are given; an integer takes the kind of what it stands with."""

TRUE, FALSE = Constant("true", I1, True), Constant("false", I1, False)
NULL = Constant("null", POINTER)


_INTEGERS: dict[tuple[int, Kind], Constant] = {}
"""Integers up to `COMMON` that have been asked for: most are."""
COMMON = 256


def number(value: Operand, kind: Kind) -> Value:
    """An operand of this kind."""
    if isinstance(value, Value):
        return value
    found = _INTEGERS.get((value, kind))
    if found is None:
        found = Constant(str(value), kind, value)
        if -COMMON <= value <= COMMON:
            _INTEGERS[value, kind] = found
    return found


def poison(kind: Kind) -> Constant:
    """A value that nobody may look at."""
    return Constant("poison", kind)


def zero(kind: Kind) -> Constant:
    """A vector of zeros."""
    return Constant("zeroinitializer", kind)


def spread(value: Constant, lanes: int) -> Constant:
    """A vector with the same number in every lane."""
    lane = f"{value.kind.name} {value.name}"
    return Constant(f"<{', '.join([lane] * lanes)}>", value.kind.wide(lanes))


def lanes_of(values: list[Constant]) -> Constant:
    """A vector of constants."""
    kind = values[0].kind
    return Constant(f"<{', '.join([f'{kind.name} {v.name}' for v in values])}>", kind.wide(len(values)))


def first_lanes(count: int, lanes: int) -> Constant:
    """The mask of the first few lanes."""
    return lanes_of([TRUE if k < count else FALSE for k in range(lanes)])


def literal(value: float | np.number | np.bool, dtype: np.dtype) -> Value:
    """A constant, to the last bit."""
    if dtype.kind == "b":
        return TRUE if value else FALSE
    kind = register_kind(dtype)
    if dtype.kind in "iu":
        return Constant(str(int(value)), kind, int(value))
    with np.errstate(over="ignore"):
        found = float(dtype.type(value))
    if math.isfinite(found) and found == int(found) and abs(found) < 1e6 and math.copysign(1.0, found) > 0:
        return Constant(f"{found:.1f}", kind, found)
    return Constant(f"0x{struct.unpack('<Q', struct.pack('<d', found))[0]:016X}", kind, found)
