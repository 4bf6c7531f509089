"""`Builder`: the only one who writes programs; what it gives in the end is a `Program`, which nobody changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .program import Program, Step, Type, type_of


class Builder:
    """A program in the making: its parts may be read at any time, and are written by the methods here alone."""

    __slots__ = ("append", "constants", "declare", "frozen", "inputs", "outputs", "steps", "types")

    def __init__(
        self,
        types: Iterable[Type] = (),
        inputs: Iterable[int] = (),
        constants: Mapping[int, Any] | None = None,
        steps: Iterable[Step] = (),
        outputs: Iterable[int] = (),
        frozen: Iterable[int] = (),
    ) -> None:
        self.types: list[Type] = list(types)
        self.inputs: list[int] = list(inputs)
        self.constants: dict[int, Any] = {} if constants is None else dict(constants)
        self.steps: list[Step] = list(steps)
        self.outputs: list[int] = list(outputs)
        self.frozen: set[int] = set(frozen)
        self.append: Callable[[Step], None] = self.steps.append
        """Add a step; the list's own method, as a recording calls it for every step."""
        self.declare: Callable[[Type], None] = self.types.append
        """Give the next number to a value of this type; see `new`."""

    @classmethod
    def of(cls, program: Program) -> Builder:
        """With the values of a program, and none of its steps yet."""
        return cls(program.types, program.inputs, program.constants, frozen=program.frozen)

    # Values

    def new(self, type_: Type) -> int:
        """The number of a new value."""
        self.types.append(type_)
        return len(self.types) - 1

    def input(self, type_: Type) -> int:
        """The number of one more input."""
        number = self.new(type_)
        self.inputs.append(number)
        return number

    def constant(self, value: Any, type_: Type | None = None, *, frozen: bool = False) -> int:
        """The number of one more constant; a frozen one is an array that stays as it is."""
        number = self.new(type_of(value) if type_ is None else type_)
        self.constants[number] = value
        if frozen:
            self.frozen.add(number)
        return number

    def set_constant(self, number: int, value: Any) -> None:
        """Let a value be this constant."""
        self.constants[number] = value

    def drop_constant(self, number: int) -> None:
        """Let a value be no constant any more: nobody reads it."""
        del self.constants[number]

    def retype(self, number: int, type_: Type) -> None:
        """Let a value be of another type."""
        self.types[number] = type_

    def take(self, inputs: Iterable[int]) -> None:
        """Let these be the inputs."""
        self.inputs[:] = inputs

    # Steps

    def add(self, primitive: Any, args: Sequence[int], type_: Type, **params: Any) -> int:
        """One more step, with one result of this type; its number."""
        number = self.new(type_)
        self.steps.append(Step(primitive, tuple(args), params, (number,)))
        return number

    def rewrite(self, steps: Iterable[Step], start: int = 0) -> None:
        """Let these be the steps, from one of them on."""
        self.steps[start:] = steps

    def cut(self, count: int) -> list[Step]:
        """Take the last so many steps away; they are given back."""
        start = len(self.steps) - count
        last = self.steps[start:]
        del self.steps[start:]
        return last

    # Results

    def give(self, outputs: Iterable[int]) -> range:
        """Add outputs; their places among all."""
        start = len(self.outputs)
        self.outputs += outputs
        return range(start, len(self.outputs))

    def build(self, outputs: Iterable[int] | None = None) -> Program:
        """The program as it is written, perhaps with these outputs; what is written later is not part of it."""
        outputs = self.outputs if outputs is None else outputs
        return Program(self.types, self.inputs, self.constants, self.steps, outputs, self.frozen)
