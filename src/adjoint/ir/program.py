"""`Program`: what a function did, as a list of typed steps that can be run again."""

from __future__ import annotations

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


KINDS = "fciub"
"""The kinds of dtype a program computes with."""
PYTHON_NUMBERS = (bool, int, float, complex)


def type_of(x: Any) -> Type:
    """The type of a plain value; equal ones are one object, as a program has many values of few types."""
    kind = type(x)
    if kind is np.float64:
        return DOUBLE
    if kind is float:
        return FLOAT
    if kind is np.ndarray and x.dtype is DOUBLE.dtype:
        found = _doubles.get(x.shape)
        if found is not None:
            return found
    dtype = dtype_of(x)
    key = (dtype, shape_of(x), kind in PYTHON_NUMBERS)
    found = _types.get((dtype.num, *key))  # two dtypes of the same size are equal, but give numbers of different types
    if found is None:
        if len(_types) >= MOST_TYPES:
            _types.clear()
            _doubles.clear()
        found = _types[dtype.num, *key] = Type(*key)
        if kind is np.ndarray and key[0] is DOUBLE.dtype:
            _doubles[key[1]] = found
    return found


DOUBLE, FLOAT = Type(np.dtype(float), (), False), Type(np.dtype(float), (), True)
MOST_TYPES = 10_000
_types: dict[Any, Type] = {}
_doubles: dict[tuple[int, ...], Type] = {}
"""Those of arrays in double precision, by their shape."""


class Step(NamedTuple):
    """One operation: results, numbered, of arguments, numbered."""

    primitive: Any
    args: tuple[int, ...]
    params: dict[str, Any]
    outs: tuple[int, ...]
    line: str = ""


class Guard:
    """The primitive of a step that computes nothing: it says that its argument has to be the `expected` value.

    If a `Failure` is expected, a step with these arguments has to raise.
    """

    name = "guard"
    multiple = True

    def __repr__(self) -> str:
        return "<guard>"


GUARD: Any = Guard()


def decides(step: Step) -> bool:
    """Whether a step is a guard, or a loop with guards in it."""
    if step.primitive is GUARD:
        return True
    return step.primitive.name == "rolled" and any([decides(s) for s in step.params["body"].steps])


def guards_of(step: Step) -> list[str]:
    """The lines of the decisions that a step checks: its own, or one for each time round a loop."""
    if step.primitive is GUARD:
        return [step.line]
    if step.primitive.name != "rolled":
        return []
    return [line for s in step.params["body"].steps for line in guards_of(s)] * step.params["length"]


class Program:
    """Steps over numbered values. `constants` are numbers, and arrays by reference: they are read at every run."""

    __slots__ = ("constants", "frozen", "inputs", "outputs", "steps", "types")

    def __init__(
        self,
        types: list[Type] | None = None,
        inputs: list[int] | None = None,
        constants: dict[int, Any] | None = None,
        steps: list[Step] | None = None,
        outputs: list[int] | None = None,
        frozen: set[int] | None = None,
    ) -> None:
        self.types: list[Type] = [] if types is None else types
        self.inputs: list[int] = [] if inputs is None else inputs
        self.constants: dict[int, Any] = {} if constants is None else constants
        self.steps: list[Step] = [] if steps is None else steps
        self.outputs: list[int] = [] if outputs is None else outputs
        self.frozen: set[int] = set() if frozen is None else frozen
        """Arrays among the constants that stay as they are: what they hold may be relied on."""

    def new(self, type_: Type) -> int:
        """The number of a new value."""
        self.types.append(type_)
        return len(self.types) - 1

    def with_steps(self, steps: list[Step], outputs: list[int] | None = None) -> Program:
        """The same values, other steps."""
        outputs = list(self.outputs) if outputs is None else outputs
        return Program(self.types, self.inputs, self.constants, steps, outputs, self.frozen)

    def __str__(self) -> str:
        from .show import show

        return show(self)
