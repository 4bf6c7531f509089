"""What is computed where: which values live in registers, which in memory, and which steps share one loop.

A plan is made once (`planning.py`) and then only read. Elementwise results, views and pads are computed where they are
read (`Inline`), unless they are small (`Register`) or stored (`Memory`). Loops over the same shape that can run at the
same time are one loop. Times are levels: what is read from memory has to be written at a lower level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.program import Program, Step, Type
from ..scalar.kernels import Loop
from .classify import Sort, loop_of
from .indices import row_major
from .moving import reads_of
from .placement import Effort, Inline, Layout, Location, Memory, Register


@dataclass(frozen=True, slots=True)
class Straight:
    """A step in registers, one element after the other."""

    level: int
    step: Step


@dataclass(frozen=True, slots=True)
class Whole:
    """An operation that is done as a whole: a product, a gather, an assignment, a loop with a body."""

    level: int
    step: Step


@dataclass(frozen=True, slots=True)
class Fused:
    """The loop of a group: everything that is computed over one shape at one time."""

    level: int
    shape: tuple[int, ...]
    stored: tuple[int, ...]
    """Values that it writes to memory."""
    reduced: tuple[int, ...]
    """Reductions that it takes of what it computes."""


Unit = Straight | Whole | Fused
"""Something that is done at one time."""


@dataclass(frozen=True)
class Plan:
    """The decisions for one program, all of whose steps have machine code."""

    program: Program
    types: Sequence[Type]
    """Of all values."""
    strides: Mapping[int, tuple[int, ...]]
    """Of inputs and constants that are not row by row in memory, in elements."""
    sorts: Mapping[int, Sort]
    """Of the steps, by identity."""
    tiny: frozenset[int]
    """The steps that are done in registers, by identity."""
    maker: Mapping[int, Step]
    """The step that makes a value."""
    readers: Mapping[int, list[Step]]
    """The steps that read a value."""
    placement: Mapping[int, Location]
    """Where each value is."""
    level: Mapping[int, int]
    """The time at which a value is computed."""
    effort: Mapping[int, Effort]
    """Of the values that can be computed where they are read."""
    units: tuple[Unit, ...] = ()
    """What is done, in order."""
    over: Mapping[int, int] = field(default_factory=dict)
    """Results that may be written over an input, and which; the caller decides whether they are."""
    _loops: dict[int, Loop] = field(default_factory=dict)

    def sort(self, step: Step) -> Sort:
        """Of what sort the machine code of a step is."""
        return self.sorts[id(step)]

    def is_tiny(self, step: Step) -> bool:
        """Whether a step is done in registers."""
        return id(step) in self.tiny

    def loop(self, step: Step) -> Loop:
        """The types an elementwise step computes with."""
        found = self._loops.get(id(step))
        if found is None:
            found = loop_of(self.program, step)
            assert found is not None
            self._loops[id(step)] = found
        return found

    def in_registers(self, v: int) -> bool:
        """Whether the elements of a value are in registers."""
        return type(self.placement[v]) is Register

    def is_inline(self, v: int) -> bool:
        """Whether a value has no place anywhere."""
        return type(self.placement[v]) is Inline

    def is_computed(self, v: int, level: int) -> bool:
        """Whether code of a level has to compute the elements of a value that it reads: they are not there yet."""
        place = self.placement[v]
        return place.readable_from > level if type(place) is Memory else type(place) is Inline

    def layout(self, v: int) -> Layout | None:
        """The value with a place that this one is a view of; None if there is none."""
        if not self.is_inline(v):
            return Layout(v, 0, self.strides.get(v) or row_major(self.types[v].shape))
        step = self.maker[v]
        if self.sort(step) is not Sort.VIEW:
            return None
        below = self.layout(step.args[0])
        return None if below is None else self._viewed(step, below)

    def _viewed(self, step: Step, below: Layout) -> Layout | None:
        """A view of a view."""
        have, want = self.types[step.args[0]].shape, self.types[step.outs[0]].shape
        base, offset, strides = below
        reads = reads_of(self.types, step)
        if reads is None:
            return Layout(base, offset, row_major(want)) if strides == row_major(have) else None
        new = [0] * len(want)
        for i, s in zip(reads, strides, strict=True):
            offset += i.shift * s
            if i.axis is not None:
                new[i.axis] += i.scale * s
        return Layout(base, offset, tuple(new))

    def computed_in(self, unit: Unit) -> list[Step]:
        """The steps that a unit does: its own, and those of the values that it computes on the spot."""
        roots = [self.maker[v] for v in (*unit.reduced, *unit.stored)] if isinstance(unit, Fused) else [unit.step]
        waiting, found = list(roots), set()
        while waiting:
            step = waiting.pop()
            if id(step) not in found:
                found.add(id(step))
                waiting += [self.maker[a] for a in step.args if self.is_inline(a)]
        return [s for s in self.program.steps if id(s) in found]
