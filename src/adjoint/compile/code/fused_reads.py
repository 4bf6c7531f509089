"""What a fused loop reads, and how: which values it computes, whether in order, where it has to be cut for pads."""

from __future__ import annotations

import itertools

from ...ir.program import Step
from ..program.classify import Sort, cost_of, is_dear
from ..program.indices import Place, identity, through, unpadded
from ..program.loop_checks import is_number
from ..program.moving import padded_part, reads_of
from ..program.plan import Fused, Plan
from .elements import operand


class Reads:
    """The values that a fused loop computes, from what it stores and reduces down to what is there already."""

    def __init__(self, plan: Plan, unit: Fused) -> None:
        self.plan = plan
        self.unit = unit
        self.roots = (*unit.stored, *[plan.maker[v].args[0] for v in unit.reduced])
        self.members = self._members()
        """Those of the loop's own shape, in the order of the program."""

    def _is_computed(self, v: int) -> bool:
        return self.plan.is_computed(v, self.unit.level)

    def _members(self) -> list[int]:
        plan, stack = self.plan, list(self.roots)
        found: set[int] = set()
        while stack:
            v = stack.pop()
            if v in found or not self._is_computed(v) or plan.types[v].shape != self.unit.shape:
                continue
            found.add(v)
            step = plan.maker[v]
            if plan.sort(step) is Sort.ELEMENTWISE:
                stack += step.args
        return sorted(found)

    def work(self) -> int:
        """About what one element costs, in additions."""
        total = 1 + len(self.unit.reduced)
        for v in self.members:
            step = self.plan.maker[v]
            total += cost_of(step) if self.plan.sort(step) is Sort.ELEMENTWISE else 1 + self.plan.effort[v].cost
        return total

    def called(self) -> int:
        """The same of functions that exist already, as the exponential does."""
        steps = [self.plan.maker[v] for v in self.members]
        return sum([cost_of(s) for s in steps if self.plan.sort(s) is Sort.ELEMENTWISE and is_dear(s)])

    def are_in_order(self) -> bool:
        """Whether everything is read at the loop's own place, or is one number."""
        return all([self._is_plain(v) for v in (*self.members, *self.roots[len(self.unit.stored) :])])

    def _is_plain(self, v: int) -> bool:
        plan, shape = self.plan, self.unit.shape
        if plan.types[v].shape != shape:
            return plan.types[v].size == 1 and not plan.is_inline(v)
        if not self._is_computed(v):
            return not plan.strides.get(v) and not plan.in_registers(v)
        step = plan.maker[v]
        if plan.sort(step) is not Sort.ELEMENTWISE:
            return False
        others = [a for a in step.args if plan.types[a].shape != shape or not self._is_computed(a)]  # no members
        return all([is_number(plan.program.constants.get(a)) or self._is_plain(a) for a in others])

    def edges(self) -> list[set[int]]:
        """For each axis the numbers at which a pad begins or ends."""
        plan = self.plan
        found: list[set[int]] = [set() for _ in self.unit.shape]
        seen: set[tuple[int, Place]] = set()
        start = identity(len(self.unit.shape))
        stack: list[tuple[int, Place]] = [(v, start) for v in (*self.members, *self.roots)]
        while stack:
            v, place = stack.pop()
            if (v, place) in seen or not self._is_computed(v):
                continue
            seen.add((v, place))
            step = plan.maker[v]
            sort = plan.sort(step)
            if sort is Sort.ELEMENTWISE:
                stack += [(a, operand(place, plan.types[a].shape)) for a in step.args]
            elif sort is Sort.PAD:
                stack.append((step.args[0], self._note(step, place, found)))
            elif (reads := reads_of(plan.types, step)) is not None:
                stack.append((step.args[0], through(reads, place)))
        return found

    def _note(self, step: Step, place: Place, edges: list[set[int]]) -> Place:
        """Write down where a pad begins and ends; the place in what is padded."""
        types = self.plan.types
        bounds, source = unpadded(padded_part(types, step), place, types[step.args[0]].shape)
        for start, end, i in bounds:
            if i.axis is not None:
                for mark in (start, end):
                    if i.scale > 0:  # the first counter with scale * counter + shift >= mark
                        edges[i.axis].add(-((i.shift - mark) // i.scale))
                    else:  # the first counter with scale * counter + shift < mark
                        edges[i.axis].add((i.shift - mark) // -i.scale + 1)
        return source


def pieces_of(low: int, high: int, edges: set[int]) -> list[tuple[int, int]]:
    """A range cut at the edges inside it."""
    marks = sorted({low, high, *[k for k in edges if low < k < high]})
    return list(itertools.pairwise(marks))
