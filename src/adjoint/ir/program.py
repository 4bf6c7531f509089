"""`Program`: what a function did, as a list of typed steps that can be run again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core.values import dtype_of, shape_of


class Type(NamedTuple):
    """What is known of a value before it is computed."""

    dtype: np.dtype
    shape: tuple[int, ...]
    weak: bool
    """Whether it is a Python number, which takes the precision of the array it meets."""

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    def __str__(self) -> str:
        inner = ",".join(map(str, self.shape))
        return f"{self.dtype.name}[{inner}]" if self.shape or not self.weak else f"python {self.dtype.name}"


PYTHON_NUMBERS = (bool, int, float, complex)


def type_of(x: Any) -> Type:
    """The type of a plain value."""
    return Type(dtype_of(x), shape_of(x), type(x) in PYTHON_NUMBERS)


class Step(NamedTuple):
    """One operation: results, numbered, of arguments, numbered."""

    primitive: Any
    args: tuple[int, ...]
    params: dict[str, Any]
    outs: tuple[int, ...]
    line: str = ""


class Guard:
    """The primitive of a step that computes nothing: it says that its argument has to be the `expected` value."""

    name = "guard"
    multiple = True

    def __repr__(self) -> str:
        return "<guard>"


GUARD: Any = Guard()


@dataclass(slots=True)
class Program:
    """Steps over numbered values. `constants` are numbers, and arrays by reference: they are read at every run."""

    types: list[Type] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    frozen: set[int] = field(default_factory=set)
    """Arrays among the constants that stay as they are: what they hold may be relied on."""

    def new(self, type_: Type) -> int:
        """The number of a new value."""
        self.types.append(type_)
        return len(self.types) - 1

    def uses(self) -> list[int]:
        """For each value, how often it is an argument or an output."""
        count = [0] * len(self.types)
        for step in self.steps:
            for a in step.args:
                count[a] += 1
        for o in self.outputs:
            count[o] += 1
        return count

    def with_steps(self, steps: list[Step], outputs: list[int] | None = None) -> Program:
        """The same values, other steps."""
        outputs = list(self.outputs) if outputs is None else outputs
        return Program(self.types, self.inputs, self.constants, steps, outputs, self.frozen)

    def __str__(self) -> str:
        from .show import show

        return show(self)
