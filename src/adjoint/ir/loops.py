"""Loops as steps of programs: what each operand is for, said once for all who read it.

A loop is a primitive with programs among its parameters. Its operands are one flat list; the record that belongs to the
primitive cuts it into named groups, as long as its parameter `sizes` says. The same record holds whatever there is one
of for each operand: values, tangents, types, addresses, or marks (whether it moves, whether it differs in a batch).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from ..core.primitive import Primitive
from .program import Program, Step, Type

T = TypeVar("T")
COUNT = Type(np.dtype(np.int64), (), False)
Group = tuple[Any, ...]


class Part(NamedTuple):
    """One of the programs of a loop."""

    param: str
    """The parameter that holds it."""
    takes: tuple[str, ...]
    """The groups of its inputs, in order; of stacked ones it gets a slice."""
    carries: str = ""
    """The group that its first outputs are, as the next step takes them."""


class Operands(tuple[Group, ...]):
    """The operands of a loop in groups; a record for each kind of loop says which."""

    __slots__ = ()
    parts: ClassVar[tuple[Part, ...]]
    stacked: ClassVar[frozenset[str]] = frozenset()
    """Groups of arrays whose first axis is that of the steps."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """What the groups are called."""
        return cls._fields  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def cut(cls, flat: Sequence[Any], sizes: Sequence[int]) -> Self:
        """The record of a flat list."""
        groups, start = [], 0
        for size in sizes:
            groups.append(tuple(flat[start : start + size]))
            start += size
        return cls(*groups)

    @classmethod
    def of(cls, step: Step) -> Self:
        """The numbers of the operands of a step."""
        return cls.cut(step.args, step.params["sizes"])

    def flat(self) -> list[Any]:
        """All in one list."""
        return [x for group in self for x in group]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How long the groups are."""
        return tuple([len(group) for group in self])

    def taken(self, part: Part) -> list[Group]:
        """The groups that one of the programs takes."""
        return [getattr(self, name) for name in part.takes]

    def inputs(self, part: Part) -> list[Any]:
        """What one of the programs takes, in one list."""
        return [x for group in self.taken(part) for x in group]

    def inner(self, part: Part, program: Program) -> dict[str, list[int]]:
        """The numbers of the inputs of one of the programs, by group."""
        sizes = [len(group) for group in self.taken(part)]
        return dict(zip(part.takes, split(program.inputs, *sizes[:-1]), strict=True))

    def map(self, f: Callable[..., Any], *others: Self, stacked: Callable[..., Any] | None = None) -> Self:
        """What `f` makes of each operand (and of those of other records); another function for stacked ones."""
        found = []
        for k, name in enumerate(self.names()):
            g = stacked if stacked is not None and name in self.stacked else f
            found.append(tuple([g(*xs) for xs in zip(self[k], *[record[k] for record in others], strict=True)]))
        return type(self)(*found)

    def each(self, f: Callable[..., Sequence[Any]], *others: Self) -> Self:
        """What `f` makes of each group (and of those of other records); it may be longer or shorter."""
        return type(self)(*[tuple(f(*groups)) for groups in zip(self, *others, strict=True)])

    def results(self, params: dict[str, Any]) -> list[Type] | None:
        """The types of what the loop gives, of operands that are values; None if these do not say how long stacks are.

        The last program hands on what is carried, with the types that it takes; what it gives besides is stacked.
        """
        part = self.parts[-1]
        program: Program = params[part.param]
        rest = program.outputs[len(getattr(self, part.carries)) :]
        length: int = params.get("length", next((len(x) for name in self.stacked for x in getattr(self, name)), -1))
        if length < 0 and rest:
            return None
        carried = [program.types[n] for n in self.inner(part, program)[part.carries]]
        return [*carried, *[Type(t.dtype, (length, *t.shape), False) for t in map(program.types.__getitem__, rest)]]

    def having(self, **groups: Sequence[Any]) -> Self:
        """The record with other groups in the place of some."""
        return type(self)(*[tuple(groups.get(name, had)) for name, had in zip(self.names(), self, strict=True)])


class _Scan(NamedTuple):
    consts: Group
    carry: Group
    xs: Group


class ScanOperands(Operands, _Scan):
    """Of `scan` and `rolled`: what is the same in every step, what the first one starts from, what is taken in turn.

    Results: the last carry, and what the steps give besides it, stacked.
    """

    __slots__ = ()
    BODY: ClassVar = Part("body", ("consts", "carry", "xs"), "carry")
    parts = (BODY,)
    stacked = frozenset(("xs",))


class _While(NamedTuple):
    cond_consts: Group
    body_consts: Group
    carry: Group


class WhileOperands(Operands, _While):
    """Of `while_loop`: what the condition and the body use, and what the first step starts from.

    Results: the last carry, and the number of steps.
    """

    __slots__ = ()
    COND: ClassVar = Part("cond", ("cond_consts", "carry"))
    BODY: ClassVar = Part("body", ("body_consts", "carry"), "carry")
    parts = (COND, BODY)

    def results(self, params: dict[str, Any]) -> list[Type] | None:
        """Those of the carry, and that of a number."""
        carried = super().results(params)
        return carried and [*carried, COUNT]


class _Cond(NamedTuple):
    choice: Group
    given: Group


class CondOperands(Operands, _Cond):
    """Of `cond`: the number of the branch (or a truth value), and what all branches take. Results: those of one."""

    __slots__ = ()
    BRANCH: ClassVar = Part("branches", ("given",))
    parts = (BRANCH,)

    def results(self, params: dict[str, Any]) -> list[Type] | None:
        """Those of every branch."""
        each = [[branch.types[o] for o in branch.outputs] for branch in params["branches"]]
        return each[0] if all([types == each[0] for types in each]) else None


class _Pull(NamedTuple):
    steps: Group
    body_consts: Group
    back_consts: Group
    carry: Group
    xs: Group
    state: Group
    arrived: Group


class PullOperands(Operands, _Pull):
    """Of `scan_pull` and `while_pull`, which sweep through a loop and back: first the body, then the step back.

    `steps` is their number, `state` what the sweep back hands on (sums of cotangents of the consts, and those of the
    carry), `arrived` the cotangents that it meets, stacked.
    Results: the last state, and what the steps back give besides it, stacked.
    """

    __slots__ = ()
    BODY: ClassVar = Part("body", ("body_consts", "carry", "xs"), "carry")
    BACK: ClassVar = Part("back", ("back_consts", "state", "carry", "xs", "arrived"), "state")
    parts = (BODY, BACK)
    stacked = frozenset(("xs", "arrived"))


class LoopPrimitive(Primitive):
    """A primitive with programs among its parameters, and the record of its operands."""

    __slots__ = ("operands",)

    def __init__(self, name: str, evaluate: Callable[..., Any], operands: type[Operands], **facts: Any) -> None:
        super().__init__(name, evaluate, multiple=True, **facts)
        self.operands = operands


def split(values: Sequence[T], *sizes: int) -> list[list[T]]:
    """Consecutive parts of these sizes, and the rest."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(values[start : start + size]))
        start += size
    return [*parts, list(values[start:])]
