"""What one period of a run takes and gives: which operands are the same each time, carried along, or taken in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from ..ir.program import Program, Step
from ..ops.indexing import index
from .find import FEWEST, SHORTEST, Repetition

LONGEST_LAG = 4
"""How many periods back a value may have been made."""
WIDE = 4096
"""Elements from which on arrays are better computed by steps that share a loop, if these are not too many."""
MANY = 3000
"""Steps which are too many in any case."""


@dataclass(slots=True)
class LoopCandidate:
    """A run that can be a loop: `count` periods of `period` steps from `start` on.

    Operands of one period are numbered by columns, its results by rows: the k-th period has `operands[k]`.
    """

    start: int
    period: int
    count: int
    operands: np.ndarray
    same: np.ndarray
    """For each column, whether it is the same value each time."""
    source: np.ndarray
    """For each column with a value made in the run: which result of the period, counted back over earlier ones."""
    inner: np.ndarray
    """For each column, whether it is such a value."""
    results: int
    first: int
    """The number of the first result among all results of the program."""
    fixed: set[int] = field(default_factory=set)
    """Steps of the period that do the same each time: taken once, before the loop."""
    taken: set[int] = field(default_factory=set)
    """Steps of the period that read an element of the same array in turn."""

    @property
    def end(self) -> int:
        """The step after the last period."""
        return self.start + self.period * self.count


class OperandColumns:
    """A program's operands and results as arrays."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.args, self.args_before = _flat([s.args for s in program.steps])
        self.outs, self.outs_before = _flat([s.outs for s in program.steps])
        self.place = np.full(len(program.types), -1, np.int64)
        """For each value its place among all results; -1 for inputs and constants."""
        self.place[self.outs] = np.arange(len(self.outs))

    def unite(self, loops: list[LoopCandidate]) -> None:
        """Let what later steps read of the fixed steps of a loop be what the first of these steps makes."""
        for loop in loops:
            same = np.arange(len(self.program.types))
            rows = np.cumsum([0, *[len(s.outs) for s in self.program.steps[loop.start : loop.start + loop.period]]])
            for q in loop.fixed:
                for row in range(rows[q], rows[q + 1]):
                    made = self.outs[loop.first + row : loop.first + row + loop.count * loop.results : loop.results]
                    same[made] = made[0]
            later = self.args_before[loop.end]
            self.args[later:] = same[self.args[later:]]


def _flat(groups: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Groups of numbers one after the other, and how many come before each group."""
    before = np.zeros(len(groups) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, groups), np.int64, len(groups)), out=before[1:])
    return np.fromiter(chain.from_iterable(groups), np.int64, int(before[-1])), before


def loops_in(facts: OperandColumns, run: Repetition) -> list[LoopCandidate]:
    """The loops that a run consists of: one as a rule, several where an operand changes its role on the way."""
    period = run.period
    if _is_better_unrolled(facts.program, run):
        return []
    start = run.start + _quietest(facts, run)
    count = (run.length - (start - run.start)) // period
    waiting, found = [(start, count)], []
    while waiting:
        start, count = waiting.pop()
        if count < FEWEST or count * period < SHORTEST:
            continue
        low, high, loop = _understood(facts, start, period, count)
        if loop is not None:
            found.append(loop)
        waiting += [(start, low), (start + high * period, count - high)]
    if not found:
        times = _rounds(facts, run)
        if times > 1 and run.length >= FEWEST * times * period:
            return loops_in(facts, run._replace(period=times * period))
    return found


def _rounds(facts: OperandColumns, run: Repetition) -> int:
    """After how many periods the operands come from the same places again: the length of a loop inside, perhaps."""
    count = run.length // run.period
    low, high = facts.args_before[[run.start, run.start + run.period * count]]
    places = facts.place[facts.args[low:high]].reshape(count, -1)
    first = int(facts.outs_before[run.start])
    results = int(facts.outs_before[run.start + run.period]) - first
    since = places - (first + results * np.arange(count))[:, None]
    rows = np.where(places >= first, since, 1)[count // 2 :]
    again = np.flatnonzero((rows[1:] == rows[0]).all(axis=1)) + 1
    for times in again[:FEWEST].tolist():
        if 2 * times <= len(rows) and (rows[times:] == rows[:-times]).all():
            return times
    return 0


def _is_better_unrolled(program: Program, run: Repetition) -> bool:
    """Whether a period computes with large arrays, and there are so few steps that they may well share loops."""
    if run.length >= MANY:
        return False
    steps = program.steps[run.start : run.start + run.period]
    return any(program.types[n].size > WIDE for s in steps for n in s.outs)


def _quietest(facts: OperandColumns, run: Repetition) -> int:
    """Where a period best begins: where the fewest values are handed over to the next one."""
    p = run.period
    start = run.start + (run.length // p // 2) * p
    low, high = facts.args_before[[start, start + p]]
    readers = np.repeat(np.arange(p), np.diff(facts.args_before[start : start + p + 1]))
    places = facts.place[facts.args[low:high]]
    makers = np.searchsorted(facts.outs_before, places, side="right") - 1 - start
    near = (places >= 0) & (makers > -LONGEST_LAG * p)
    farthest: dict[int, int] = {}
    for maker, reader in zip(makers[near].tolist(), readers[near].tolist(), strict=True):
        farthest[maker % p] = max(farthest.get(maker % p, 0), reader - maker)
    crossing = np.zeros(2 * p + 1, np.int64)
    for maker, distance in farthest.items():
        crossing[maker + 1] += 1
        crossing[maker + 1 + min(distance, p - 1)] -= 1
    alive = np.cumsum(crossing)
    return int(np.argmin(alive[:p] + alive[p : 2 * p]))


def _understood(facts: OperandColumns, start: int, period: int, count: int) -> tuple[int, int, LoopCandidate | None]:
    """The periods around the middle one whose operands have the same roles, and what these are."""
    low_arg, high_arg = facts.args_before[[start, start + period * count]]
    operands = facts.args[low_arg:high_arg].reshape(count, -1)
    places = facts.place[operands]
    first = int(facts.outs_before[start])
    results = int(facts.outs_before[start + period]) - first
    middle = count // 2
    since = places - (first + results * np.arange(count))[:, None]
    same = operands[middle] == operands[middle + 1]
    inner = ~same & (since[middle] == since[middle + 1]) & (places[middle] >= 0)
    roles = _Roles(operands, places, since, same, inner, since[middle], first, results)
    low, high = roles.around(middle)
    if high - low < FEWEST or (roles.source[inner] < -LONGEST_LAG * results).any():
        return low, high, None
    for begin in range(max(low - LONGEST_LAG, 0), low + LONGEST_LAG):
        if high - begin >= FEWEST and roles.hold(begin, high):
            loop = LoopCandidate(start + begin * period, period, high - begin, operands[begin:high], same,
                        since[middle], inner, results, first + begin * results)  # fmt: skip
            return begin, high, loop if _sorted_out(facts, loop) else None
    return low, high, None


@dataclass(slots=True)
class _Roles:
    """What the operands of a run are taken to be, by the look of the middle period."""

    operands: np.ndarray
    places: np.ndarray
    since: np.ndarray
    """How far from the first result of its period an operand is made."""
    same: np.ndarray
    inner: np.ndarray
    source: np.ndarray
    first: int
    results: int

    def around(self, middle: int) -> tuple[int, int]:
        """The periods about the middle one that are all like it."""
        good = np.where(self.same, self.operands == self.operands[middle], ~self.inner | (self.since == self.source))
        low, _ = _stretch(good.all(axis=1), middle)
        taken = ~self.same & ~self.inner
        good[:, taken] = self.places[:, taken] < self.first + low * self.results
        return _stretch(good.all(axis=1), middle)

    def hold(self, low: int, high: int) -> bool:
        """Whether a loop over these periods has all it needs when it begins, and makes the rest as it goes."""
        if (self.operands[low:high, self.same] != self.operands[high - 1, self.same]).any():
            return False
        before = self.places[low:high] < self.first + low * self.results
        lags = -(self.source // max(self.results, 1))
        made = self.inner & (np.arange(high - low)[:, None] >= lags)
        return bool(np.where(made, self.since[low:high] == self.source, before).all())


def _stretch(good: np.ndarray, middle: int) -> tuple[int, int]:
    """The range around the middle in which all is good."""
    bad = np.flatnonzero(~good)
    place = int(np.searchsorted(bad, middle))
    return int(bad[place - 1]) + 1 if place else 0, int(bad[place]) if place < len(bad) else len(good)


def _sorted_out(facts: OperandColumns, loop: LoopCandidate) -> bool:
    """Find the steps that need not be in the loop; whether all others are the same each time."""
    steps, column, row = facts.program.steps, 0, 0
    still: set[int] = set()
    for q in range(loop.period):
        step = steps[loop.start + q]
        columns = range(column, column + len(step.args))
        column += len(step.args)
        fixed = all(loop.same[c] or (loop.inner[c] and int(loop.source[c]) in still) for c in columns)
        if step.primitive is index and len(step.args) == 1 and not _is_same_key(steps, loop, q):
            if not fixed:
                return False
            loop.taken.add(q)
        elif fixed:
            loop.fixed.add(q)
            still.update(range(row, row + len(step.outs)))
        row += len(step.outs)
    return True


def _is_same_key(steps: Sequence[Step], loop: LoopCandidate, q: int) -> bool:
    """Whether a step reads the same place in each period."""
    key = steps[loop.start + q].params["template"]
    return all([steps[k].params["template"] == key for k in range(loop.start + q, loop.end, loop.period)])
