"""The inside of a loop: one period as a program of its own, with what it is given and what it hands on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.builder import Builder
from ..ir.loops import ScanOperands
from ..ir.program import Program, Step, Type
from ..ops.arithmetic import float_power, power
from .loop import rolled
from .roles import LoopCandidate
from .stacks import RowPiece, is_number

if TYPE_CHECKING:
    from .write import Writer

Values = tuple[int, ...]
ZEROS = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}


class RolledLoop:
    """One loop in the making."""

    def __init__(self, writer: Writer, loop: LoopCandidate) -> None:
        self.writer, self.loop, self.facts = writer, loop, writer.facts
        self.types: Sequence[Type] = writer.old.types
        self.steps: Sequence[Step] = writer.old.steps[loop.start : loop.start + loop.period]
        self.columns = np.cumsum([0, *[len(s.args) for s in self.steps]]).tolist()
        self.rows = np.cumsum([0, *[len(s.outs) for s in self.steps]])
        self.pieces: dict[Values, list[RowPiece]] = {}
        self.program = Builder()
        self.consts: dict[int, int] = {}
        """Values of the new program that are the same each time, and their numbers in the body."""
        self.turns: dict[Values, int] = {}
        """Values that are taken in turn, and their number in the body."""
        self.carries: dict[tuple[int, Values], list[int]] = {}
        """For a result of the period, how far back it is read and what is read first: numbers in the body."""
        self.local: dict[int, int] = {}
        """Results of the period, and their numbers in the body."""

    def prepared(self) -> bool:
        """Whether all that is taken in turn can be stacked; from here on it is known where its values come from."""
        loop, writer = self.loop, self.writer
        for q in sorted(loop.fixed):
            for row in range(self.rows[q], self.rows[q + 1]):
                for k in range(1, loop.count):
                    writer.is_now(self._old(row, k), self._old(row, 0))
        for q in sorted(loop.taken):
            for k in range(loop.count):
                step = writer.old.steps[loop.start + k * loop.period + q]
                writer.is_read(step.outs[0], step)
        for q, step in enumerate(self.steps):
            if q in loop.fixed or q in loop.taken:
                continue
            for c in range(self.columns[q], self.columns[q + 1]):
                if step.primitive in LITERAL and self._is_sometimes_known(c):
                    return False
                values = self._in_turn(c)
                if values is None or values in self.pieces:
                    continue
                pieces = writer.stacks.pieces(values)
                if pieces is None:
                    return False
                self.pieces[values] = pieces
        return True

    def _is_sometimes_known(self, column: int) -> bool:
        """Whether an operand is a constant, but not one and the same number."""
        constants = self.writer.old.constants
        found = [n for n in set(self.loop.operands[:, column].tolist()) if n in constants]
        return bool(found) and not (self.loop.same[column] and is_number(constants[found[0]]))

    def _in_turn(self, column: int) -> Values | None:
        """The values of an operand that is another one each time, none of them made in the loop."""
        loop, row = self.loop, int(self.loop.source[column])
        if loop.inner[column]:
            return self._of_row(row) if row >= 0 and self._step_of(row) in loop.taken else None
        return None if loop.same[column] else tuple(loop.operands[:, column].tolist())

    def _of_row(self, row: int) -> Values:
        """What a result is in each period."""
        first, results = self.loop.first, self.loop.results
        return tuple(self.facts.outs[first + row : first + row + self.loop.count * results : results].tolist())

    def _old(self, row: int, k: int) -> int:
        return int(self.facts.outs[self.loop.first + k * self.loop.results + row])

    def _step_of(self, row: int) -> int:
        return int(np.searchsorted(self.rows, row, side="right")) - 1

    def written(self, smaller: Callable[[Program], Program]) -> bool:
        """Write what is fixed, then the loop."""
        loop, writer = self.loop, self.writer
        for q in sorted(loop.fixed):
            writer.new.append(self.steps[q]._replace(args=tuple([writer.value(a) for a in self.steps[q].args])))
        if len(loop.fixed) + len(loop.taken) == loop.period:
            return True
        for q, step in enumerate(self.steps):
            if q in loop.fixed or q in loop.taken:
                continue
            args = [self._operand(c) for c in range(self.columns[q], self.columns[q + 1])]
            outs = [self.program.new(self.types[o]) for o in step.outs]
            self.local.update(zip(range(self.rows[q], self.rows[q + 1]), outs, strict=True))
            self.program.append(step._replace(args=tuple(args), outs=tuple(outs)))
        self._finish(self._wanted(), smaller)
        return True

    def _operand(self, column: int) -> int:
        """The number in the body of an operand."""
        loop, row = self.loop, int(self.loop.source[column])
        if loop.inner[column] and row < 0:
            lag = -(row // loop.results)
            starts = tuple(loop.operands[:lag, column].tolist())
            return self._carry(row % loop.results, starts)[-1]
        if loop.inner[column] and self._step_of(row) not in loop.taken:
            return self._result(row)
        if loop.same[column]:
            return self._const(int(loop.operands[0, column]))
        values = self._in_turn(column)
        assert values is not None
        return self._turn(values)

    def _result(self, row: int) -> int:
        """The number in the body of a result of the period."""
        q = self._step_of(row)
        if q in self.loop.fixed:
            return self._const(self._old(row, 0))
        if q in self.loop.taken:
            return self._turn(self._of_row(row))
        return self.local[row]

    def _const(self, old: int) -> int:
        value = self.writer.old.constants.get(old)
        number = self.writer.value(old)
        if number not in self.consts:
            t = self.types[old]
            self.consts[number] = self.program.constant(value, t) if is_number(value) else self.program.new(t)
        return self.consts[number]

    def _turn(self, values: Values) -> int:
        if values not in self.turns:
            self.turns[values] = self.program.new(self.types[values[0]])
        return self.turns[values]

    def _carry(self, row: int, starts: Values) -> list[int]:
        """The numbers in the body of a result, as it was one period ago, two periods ago and so on."""
        key = (row, starts)
        if key not in self.carries:
            self.carries[key] = [self.program.new(self.types[self._old(row, 0)]) for _ in starts]
        return self.carries[key]

    def _wanted(self) -> dict[int, list[int]]:
        """For each result of the period that is used after the loop: in which periods it was made."""
        loop, facts = self.loop, self.facts
        used = [facts.args[facts.args_before[loop.end] :], np.array(self.writer.old.outputs, np.int64)]
        places = np.unique(facts.place[np.concatenate(used)]) - loop.first
        found: dict[int, list[int]] = {}
        for place in places[(places >= 0) & (places < loop.results * loop.count)].tolist():
            found.setdefault(place % loop.results, []).append(place // loop.results)
        outside = loop.fixed | loop.taken
        return {row: periods for row, periods in found.items() if self._step_of(row) not in outside}

    def _finish(self, wanted: dict[int, list[int]], smaller: Callable[[Program], Program]) -> None:
        """Put the step of the loop together, and say where its results are."""
        loop, writer, body = self.loop, self.writer, self.program
        last = loop.count - 1
        for row, periods in wanted.items():
            if periods == [last] and not any(r == row and len(starts) == 1 for r, starts in self.carries):
                self._carry(row, (self._zero(self.types[self._old(row, 0)]),))
        starts: list[int] = []
        slots: list[int] = []
        ends: list[int] = []
        final: dict[int, int] = {}
        outs: list[int] = []
        for (row, values), numbers in list(self.carries.items()):
            now = self._result(row)
            for k, number in enumerate(numbers):
                slots.append(number)
                ends.append(now if k == 0 else numbers[k - 1])
                starts.append(writer.value(values[len(values) - 1 - k]))
                outs.append(writer.new.new(body.types[number]))
            if len(values) == 1:
                final[row] = outs[-1]
        for row, periods in wanted.items():
            if periods == [last]:
                writer.is_now(self._old(row, last), final[row])
                continue
            t = self.types[self._old(row, 0)]
            stacked = writer.new.new(Type(t.dtype, (loop.count, *t.shape), False))
            ends.append(self.local[row])
            outs.append(stacked)
            for k in periods:
                writer.is_row(self._old(row, k), stacked, k)
        consts = {new: number for new, number in self.consts.items() if number not in body.constants}
        stacks = [writer.stacks.made(values, self.pieces[values]) for values in self.turns]
        body.take([*consts.values(), *slots, *self.turns.values()])
        operands = ScanOperands(tuple(consts), tuple(starts), tuple(stacks))
        params = {"body": smaller(body.build(ends)), "sizes": operands.sizes, "length": loop.count}
        writer.new.append(Step(rolled, tuple(operands.flat()), params, tuple(outs)))

    def _zero(self, t: Type) -> int:
        """A value to begin with that nobody reads."""
        value: Any = ZEROS[t.dtype.kind] if t.weak else np.zeros(t.shape, t.dtype)[()]
        return int(self.writer.constant(value, t))


LITERAL = (power, float_power)
"""Steps that are computed in another way if an operand is known beforehand."""
