"""Which instructions of a loop's inside are the same for all elements, which count along with it, which hold data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.entry.algebra import Monoid
from ..assembly.instructions import Call, Instruction, Widening
from ..assembly.kinds import I64, POINTER, Kind
from ..assembly.values import Constant, Value, Vectors


class NoVectorError(Exception):
    """The inside of the loop is not of the kind that can be turned; the message says why."""


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A value that is put together over the rounds of a loop: its first value, and the reduction that does it."""

    start: Value
    monoid: Monoid
    is_signed: bool

    @property
    def kind(self) -> Kind:
        """The kind of the total."""
        return self.start.kind


@dataclass(frozen=True, slots=True)
class Total:
    """An accumulator inside the loop: the register with what it is so far, and the one with what it becomes."""

    accumulator: Accumulator
    so_far: Value
    new: Value


class LoopBody:
    """The inside of a loop over `counter`, sorted. A register is

    - uniform: the same for all elements, and computed before the loop;
    - counting: an index or an address that moves on by the same number of elements from one round to the next;
    - data: different for each element.
    """

    def __init__(
        self, body: Sequence[Instruction], counter: Value, totals: Sequence[Total], *, is_long: bool = False
    ) -> None:
        """If it `is_long`, elements may be far from each other, and what is read for all stays where it is used."""
        self.counter = counter
        self.is_long = is_long
        self.totals = totals
        self.speed: dict[Value, int] = {counter: 1}
        """Registers that count along, and how fast: indices in elements, addresses in elements of their kind."""
        self.data: set[Value] = {t.so_far for t in totals}
        self.kinds: set[Kind] = {t.accumulator.kind for t in totals}
        """The kinds of all data."""
        self.before: list[Instruction] = []
        """What is uniform."""
        self.inside: list[Instruction] = []
        """The rest."""
        for instruction in body:
            self._sort(instruction)
        if not all([t.new in self.data for t in totals]):
            raise NoVectorError("a total does not depend on the elements")

    def _sort(self, i: Instruction) -> None:
        _refuse(i)
        counts = any([o in self.speed for o in i.operands])
        holds = any([o in self.data for o in i.operands])
        match i.widening:
            case Widening.STORE:
                value, place = i.operands
                self._require_neighbours(i, place)
                if value in self.speed:
                    raise NoVectorError("store: an index is used as a number")
                self.kinds.add(value.kind)
            case Widening.LOAD if self.is_long and not counts:
                self.data.add(i)
                self.kinds.add(i.kind)
            case Widening.ADDRESS | Widening.LANES if self.is_long and not counts and not holds and i.kind in PLACES:
                self.speed[i] = 0
            case _ if not counts and not holds:
                self.before.append(i)
                return
            case Widening.LOAD:
                self._require_neighbours(i, i.operands[0])
                self.kinds.add(i.kind)
                self.data.add(i)
            case Widening.LANES | Widening.CALL if not counts:
                self.kinds.update([i.kind, *[o.kind for o in i.operands]])
                self.data.add(i)
            case _:
                self.speed[i] = self._speed(i)
        self.inside.append(i)

    def _require_neighbours(self, i: Instruction, place: Value) -> None:
        if self.speed.get(place) != 1 and not (self.is_long and place in self.speed):
            raise NoVectorError(f"{i.op}: elements are no neighbours in memory")

    def _speed(self, i: Instruction) -> int:
        """How fast an index or an address counts along that is computed from ones that do."""
        if i.widening is not Widening.CALL and len(i.operands) == 2 and not any([o in self.data for o in i.operands]):
            x, y = i.operands
            first, second = self.speed.get(x), self.speed.get(y)
            if i.widening is Widening.ADDRESS and first is None and second is not None:
                return second
            if i.kind is I64 and i.op == "add":
                return (first or 0) + (second or 0)
            if i.kind is I64 and i.op == "sub" and first is not None and second is None:
                return first
            if i.kind is I64 and i.op == "mul" and first is not None and isinstance(y, Constant):
                assert isinstance(y.number, int)
                return first * y.number
        raise NoVectorError(f"{i.op}: an index that does not count along evenly")


PLACES = (I64, POINTER)
"""The kinds of indices and addresses."""


def _refuse(i: Instruction) -> None:
    """Instructions and functions say themselves that they are not for vectors."""
    if i.widening is Widening.NEVER:
        raise NoVectorError(f"{i.op}: {i.widening.value}")
    if isinstance(i, Call) and i.function.vectors is Vectors.NEVER:
        raise NoVectorError(f"{i.function.name}: {i.function.vectors.value}")
