"""Writing LLVM's assembly: plain text, as that is the quickest way to a module and the easiest to read."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

LLVM_TYPES = {
    "float64": "double",
    "float32": "float",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "i64",
    "uint32": "i32",
    "uint16": "i16",
    "uint8": "i8",
    "bool": "i1",
}
"""The types values have in registers, by NumPy's name; a truth value is one bit here and one byte in memory."""


_BY_NUMBER = {np.dtype(kind).num: LLVM_TYPES[np.dtype(kind).name] for kind in "?bhilqBHILQfd"}
"""The same by NumPy's number, which is much quicker to ask for than the name."""


def is_known(dtype: np.dtype) -> bool:
    """Whether values of a dtype can be in registers."""
    return dtype.num in _BY_NUMBER and dtype.isnative


def llvm_type(dtype: np.dtype) -> str:
    """The type of a value in a register."""
    return _BY_NUMBER[dtype.num]


def memory_type(dtype: np.dtype) -> str:
    """The type of a value in memory."""
    return "i8" if dtype.kind == "b" else _BY_NUMBER[dtype.num]


def literal(value: Any, dtype: np.dtype) -> str:
    """A constant, to the last bit."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(value))
    with np.errstate(over="ignore"):
        number = float(dtype.type(value))
    if math.isfinite(number) and number == int(number) and abs(number) < 1e6 and math.copysign(1.0, number) > 0:
        return f"{number:.1f}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


class Module:
    """A module under construction: its functions, what they declare and the names given so far."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.functions: list[str] = []
        self.keep: set[str] = set()
        self.straight = False  # long code without loops: mathematics is called, not written out in place
        self._names: dict[str, str] = {}
        self._serial = 0
        self._has_scalar_loops = False
        self.wants_vectors = False
        """Whether there are loops that LLVM should try to make vectors of."""

    def declare(self, name: str, signature: str) -> str:
        """Say that a function exists elsewhere; `signature` is the line with `{}` for its name."""
        self.declarations.setdefault(name, "declare " + signature.format(f"@{name}"))
        return f"@{name}"

    def attribute(self, text: str) -> str:
        """The number of an attribute group for call sites."""
        return self.attributes.setdefault(text, f"#{len(self.attributes)}")

    def fresh(self, stem: str) -> str:
        """A name that no other function or global of this module has."""
        self._serial += 1
        return f"{stem}_{self._serial}"

    def function(self, stem: str, kind: str, text: str) -> str:
        """Add a function, given from its parameter list on; its name, which is that of an equal one if there is one."""
        key = kind + text
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = self.fresh(stem)
            self.functions.append(f"define {kind} @{name}{text}")
        return name

    def scalar_loop(self) -> str:
        """What to write behind the branch of a loop that is not to be turned into vectors."""
        self._has_scalar_loops = True
        return ", !llvm.loop !0"

    def text(self) -> str:
        """The whole module."""
        parts = [*self.declarations.values(), *self.functions]
        if self.keep:
            names = ", ".join(f"ptr @{n}" for n in sorted(self.keep))
            section = 'section "llvm.metadata"'
            parts.append(f"@llvm.compiler.used = appending global [{len(self.keep)} x ptr] [{names}], {section}")
        parts += [f"attributes {number} = {{ {text} }}" for text, number in self.attributes.items()]
        if self._has_scalar_loops:
            parts += ["!0 = distinct !{!0, !1}", '!1 = !{!"llvm.loop.vectorize.enable", i1 false}']
        return "\n".join(parts) + "\n"


class Emitter:
    """The body of one function: lines, and the next free register."""

    __slots__ = ("block", "lines", "module", "serial")

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.serial = 0
        self.block = "entry"

    def op(self, text: str) -> str:
        """An instruction with a result: the name of its register."""
        self.serial += 1
        name = f"%v{self.serial}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, stem: str = "b") -> str:
        """A name for a block to come."""
        self.serial += 1
        return f"{stem}{self.serial}"

    def start(self, label: str) -> None:
        """Begin the block with this name."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End the block: go on there."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End the block: go on at one of two places."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
