"""`Program`: what a function did, as a list of typed steps that can be run again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from ..core.primitive import Marker, Primitive
from ..core.values import dtype_of, shape_of

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..host.records import NamedTuple


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

    primitive: Primitive
    args: tuple[int, ...]
    params: dict[str, Any]
    outs: tuple[int, ...]
    line: str = ""


GUARD: Any = Marker("guard", multiple=True)
"""In a step that computes nothing: it says that its argument has to be the `expected` value.

If a `Failure` is expected, a step with these arguments has to raise.
"""


class Failure(NamedTuple):
    """What a guard expects where a step raised and the function caught it: the same step raises the same again."""

    primitive: Primitive
    params: dict[str, Any]
    kind: type[Exception]
    text: str
    """What the error said, without its numbers: they tell which index was too large."""

    def recurs(self, args: Sequence[object]) -> bool:
        """Whether the step raises for these arguments what it raised when it was recorded."""
        try:
            self.primitive.evaluate(*args, **self.params)
        except Exception as error:
            return type(error) is self.kind and wording(error) == self.text
        return False

    def __repr__(self) -> str:
        return f"{self.kind.__name__} of {self.primitive.name}"


def wording(error: Exception) -> str:
    """What an error says, without numbers."""
    return re.sub(r"[0-9]+", "0", str(error))


def decides(step: Step) -> bool:
    """Whether a step is a guard, or a loop with guards in it."""
    if step.primitive is GUARD:
        return True
    return any([decides(s) for inner in inner_programs(step) for s in inner.steps])


def guards_of(step: Step) -> list[str]:
    """The lines of the decisions that a step checks: its own, or one for each time round a loop."""
    if step.primitive is GUARD:
        return [step.line]
    inside = [line for inner in inner_programs(step) for s in inner.steps for line in guards_of(s)]
    return inside * step.params.get("length", 1)


def inner_programs(step: Step) -> list[Program]:
    """The programs among the parameters of a step: the bodies of a loop, the branches of a choice."""
    parts = [q for p in step.params.values() for q in (p if isinstance(p, tuple) else (p,))]
    return [q for q in parts if isinstance(q, Program)]


class Program:
    """Steps over numbered values, which nobody changes: a `Builder` writes them.

    `constants` are numbers, and arrays by reference: they are read at every run.
    """

    __slots__ = ("constants", "frozen", "inputs", "outputs", "steps", "types")

    types: tuple[Type, ...]
    inputs: tuple[int, ...]
    constants: Mapping[int, Any]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    frozen: frozenset[int]
    """Arrays among the constants that stay as they are: what they hold may be relied on."""

    def __init__(
        self,
        types: Iterable[Type] = (),
        inputs: Iterable[int] = (),
        constants: Mapping[int, Any] | None = None,
        steps: Iterable[Step] = (),
        outputs: Iterable[int] = (),
        frozen: Iterable[int] = (),
    ) -> None:
        given = {} if constants is None else constants
        put = object.__setattr__
        put(self, "types", tuple(types))
        put(self, "inputs", tuple(inputs))
        put(self, "constants", given if type(given) is MappingProxyType else MappingProxyType(dict(given)))
        put(self, "steps", tuple(steps))
        put(self, "outputs", tuple(outputs))
        put(self, "frozen", frozenset(frozen))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a program is never changed: its {name} are written by a Builder, or are another's")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a program is never changed: its {name} stay")

    def having(
        self,
        *,
        inputs: Iterable[int] | None = None,
        steps: Iterable[Step] | None = None,
        outputs: Iterable[int] | None = None,
    ) -> Program:
        """The same values, with other inputs, steps or outputs."""
        return Program(
            self.types,
            self.inputs if inputs is None else inputs,
            self.constants,
            self.steps if steps is None else steps,
            self.outputs if outputs is None else outputs,
            self.frozen,
        )

    def __str__(self) -> str:
        return show(self)


class Readable(Protocol):
    """What can be read of a program, and of one in the making."""

    @property
    def types(self) -> Sequence[Type]:
        """What is known of each value."""

    @property
    def inputs(self) -> Sequence[int]:
        """Values that are given."""

    @property
    def constants(self) -> Mapping[int, Any]:
        """Values that are known."""

    @property
    def steps(self) -> Sequence[Step]:
        """What is computed, in order."""

    @property
    def frozen(self) -> Set[int]:
        """Arrays among the constants that stay as they are."""


# As text


def show(program: Program) -> str:
    """The program as a reader wants it: `v3: float64[10] = multiply(v1, 2.0)`."""
    names = {n: _constant(program, n) for n in program.constants}
    inputs = ", ".join(f"v{n}: {program.types[n]}" for n in program.inputs)
    lines = [f"program({inputs}):"]
    for step in program.steps:
        args = ", ".join(names.get(a, f"v{a}") for a in step.args)
        if step.primitive is GUARD:
            lines.append(f"    guard {_guard(args, step.params['expected'])}    # {step.line}")
            continue
        params = "".join(f", {k}={short(v)}" for k, v in step.params.items())
        results = ", ".join(f"v{o}: {program.types[o]}" for o in step.outs)
        if step.primitive.facts.stands_for_steps:
            lines += _loop(step, args, results)
            continue
        lines.append(f"    {results} = {step.primitive.name}({args}{params})")
    results = ", ".join(names.get(o, f"v{o}") for o in program.outputs)
    return "\n".join([*lines, f"    return {results}"])


def _guard(args: str, expected: object) -> str:
    if isinstance(expected, Failure):
        return f"{expected.primitive.name}({args}) raises {expected.kind.__name__}"
    return f"{args} is {short(expected)}"


def _loop(step: Step, args: str, results: str) -> list[str]:
    """A loop with its body: what it is given is the same each time, carried along, or taken row by row."""
    body = step.params["body"]
    names = iter([f"v{n}" for n in body.inputs])
    parts = [[next(names) for _ in range(size)] for size in step.params["sizes"]]
    pairs = zip(("the same", "carried", "row by row"), parts, strict=True)
    roles = "; ".join(f"{role}: {', '.join(given)}" for role, given in pairs if given)
    head = f"    {results}{' = ' if results else ''}rolled({args}), {step.params['length']} times  # {roles}"
    return [head, *["    " + line for line in show(body).splitlines()]]


def _constant(program: Program, number: int) -> str:
    value = program.constants[number]
    return f"<{program.types[number]}>" if isinstance(value, np.ndarray) and value.size > 4 else short(value)


def short(value: object) -> str:
    """A value on part of a line."""
    if isinstance(value, Program):
        return f"<program of {len(value.steps)} steps>"
    text = np.array2string(value, separator=",") if isinstance(value, np.ndarray) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."
