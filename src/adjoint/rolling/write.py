"""Writing the program with loops: what a loop takes and gives, and what the steps around it read from its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.program import Program, Step, Type
from ..ops.indexing import index
from ..ops.shape import concatenate, item, stack
from .body import RolledLoop
from .roles import LoopCandidate, OperandColumns
from .stacks import Stacks

JOINS = (stack, concatenate)
LONG_JOIN = 16


class Writer:
    """A program in the making: the steps of another one, some of them in loops."""

    def __init__(self, facts: OperandColumns, smaller: Callable[[Program], Program]) -> None:
        self.facts = facts
        self.old = facts.program
        self.new = Builder.of(self.old)
        self._smaller = smaller
        self._now: dict[int, int] = {}
        """Values of the old program that have another number now."""
        self._rows: dict[int, tuple[int, int]] = {}
        """Values that are rows of a stack that a loop has made."""
        self._reads: dict[int, Step] = {}
        """Steps that were left out, as a loop takes what they read in turn."""
        self.stacks = Stacks(self)

    def written(self, loops: Sequence[LoopCandidate]) -> Program:
        """The whole program."""
        at = 0
        for loop in sorted(loops, key=lambda loop: loop.start):
            self._steps(at, loop.start)
            if not self._loop(loop):
                self._steps(loop.start, loop.end)
            at = loop.end
        self._steps(at, len(self.old.steps))
        return self.new.build([self.value(o) for o in self.old.outputs])

    def add(self, primitive: Any, args: Sequence[int], type_: Type, **params: Any) -> int:
        """One more step; the number of its result."""
        return self.new.add(primitive, args, type_, **params)

    def constant(self, value: Any, type_: Type) -> int:
        """One more constant, which stays as it is."""
        return self.new.constant(value, type_, frozen=isinstance(value, np.ndarray))

    def value(self, n: int) -> int:
        """The number that a value of the old program has in the new one."""
        found = self._now.get(n)
        if found is not None:
            return found
        if n in self._rows:
            array, k = self._rows[n]
            t = self.old.types[n]
            found = self.add(index, (array,), t._replace(weak=False), template=(k,))
            if t.weak:
                found = self.add(item, (found,), t)
        elif n in self._reads:
            step = self._reads[n]
            found = self.add(step.primitive, (self.value(step.args[0]),), self.old.types[n], **step.params)
        else:
            found = n
        self._now[n] = found
        return found

    def source(self, n: int) -> tuple[int, tuple[Any, ...]] | None:
        """Of a value that is read from an array: the array and the key."""
        if n in self._rows:
            array, k = self._rows[n]
            return array, (k,)
        step = self._reads.get(n) or self._maker(n)
        if step is not None and step.primitive is item:
            step = self._maker(step.args[0])
        if step is None or step.primitive is not index or len(step.args) != 1:
            return None
        return self.value(step.args[0]), step.params["template"]

    def _maker(self, n: int) -> Step | None:
        place = int(self.facts.place[n]) if n < len(self.facts.place) else -1
        if place < 0:
            return None
        return self.old.steps[int(np.searchsorted(self.facts.outs_before, place, side="right")) - 1]

    def _steps(self, start: int, end: int) -> None:
        """Steps as they are, with the numbers that their operands have now."""
        for step in self.old.steps[start:end]:
            if step.primitive in JOINS and len(step.args) >= LONG_JOIN:
                joined = self.stacks.joined(step)
                if joined is not None:
                    self._now[step.outs[0]] = joined
                    continue
            self.new.append(step._replace(args=tuple([self.value(a) for a in step.args])))

    def _loop(self, loop: LoopCandidate) -> bool:
        """Write a loop; False if that would need too many copies."""
        made = RolledLoop(self, loop)
        return made.prepared() and made.written(self._smaller)

    def is_row(self, n: int, array: int, k: int) -> None:
        """Say that a value of the old program is a row of a stack."""
        self._rows[n] = (array, k)

    def is_read(self, n: int, step: Step) -> None:
        """Say that a value is read from an array by a step that is not written down unless it is asked for."""
        self._reads[n] = step

    def is_now(self, n: int, number: int) -> None:
        """Say which number a value has now."""
        self._now[n] = number
