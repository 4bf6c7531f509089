"""What is computed where: which values live in registers, which in memory, and which steps share one loop.

Values are *tiny* (in registers), *lazy* (elementwise results, views, pads: computed where they are read) or in memory.
A lazy value is stored only if it is read in several loops, or in another arrangement, and costs more than a few
additions. Loops over the same shape that can run at the same time are one loop: a *group*. Times are levels: what is
read from memory has to be written at a lower level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..ir.program import Program, Step, decides
from .classify import CHECK, ELEMENTWISE, LOOPS, PAD, REDUCE, TINY, VIEW, WHOLE, cost_of, loop_of, sort_of
from .indices import cuts, row_major, squeezed
from .scalar.table import Loop

CHEAP = 2
"""Recomputing so many additions is better than memory."""
CHEAP_MOVED = 16
"""The same for a value that is read in another arrangement."""
DEAR = 20
LONGEST = 250
"""Steps in one loop; more do not fit a processor's registers anyway."""
DEEPEST = 40
TINY_WHOLE = ("concatenate", "stack", "assign", "accumulate", "unindex", "matmul")
"""Whole operations that can be done in registers."""
ELEMENT_READERS = ("assign", "accumulate", "unindex", "concatenate", "stack", "cumsum")
"""Whole operations that read each element once, so that it may be computed on the spot."""


@dataclass(slots=True)
class Unit:
    """Something that is done at one time: a step in registers, a whole operation, or the loop of a group."""

    kind: str
    level: int
    step: Step | None = None
    shape: tuple[int, ...] = ()
    roots: list[int] = field(default_factory=list)


class Plan:
    """The decisions for one program, all of whose steps have machine code."""

    def __init__(
        self, program: Program, strides: dict[int, tuple[int, ...]], sorts: dict[int, str | None] | None = None
    ) -> None:
        self.program = program
        self.strides = strides
        """Of inputs and constants that are not row by row in memory, in elements."""
        self.types = program.types
        self.maker: dict[int, Step] = {o: s for s in program.steps for o in s.outs}
        self.sorts = sorts or {id(s): sort_of(program, s) for s in program.steps}
        self.tiny: set[int] = set()
        self.lazy: set[int] = set()
        self.stored: set[int] = set()
        self.level: dict[int, int] = {}
        self.cost: dict[int, int] = {}
        self._depth: dict[int, int] = {}
        self._padded: set[int] = set()
        """Lazy values with a pad in them: a loop that reads them has to be cut where the pad begins and ends."""
        self.readers: dict[int, list[Step]] = {}
        self._crowd: dict[Any, int] = {}
        self._loops: dict[int, Loop] = {}
        for step in program.steps:
            for a in set(step.args):
                self.readers.setdefault(a, []).append(step)
        self._outputs = set(program.outputs)
        self.units = self._ordered()

    def loop(self, step: Step) -> Loop:
        """The types an elementwise step computes with."""
        found = self._loops.get(id(step))
        if found is None:
            found = loop_of(self.program, step)
            assert found is not None
            self._loops[id(step)] = found
        return found

    # Where values are

    def in_memory(self, v: int) -> bool:
        """Whether a value has an address: inputs, arrays among the constants, results of whole steps, stored ones."""
        return v not in self.tiny and (v not in self.lazy or v in self.stored)

    def layout(self, v: int) -> tuple[int, int, tuple[int, ...]] | None:
        """The value in memory that this one is a view of, offset and strides in elements; None if there is none."""
        if self.in_memory(v):
            return v, 0, self.strides.get(v) or row_major(self.types[v].shape)
        if v in self.tiny:
            return (v, 0, row_major(self.types[v].shape))
        step = self.maker[v]
        if self.sorts[id(step)] != VIEW:
            return None
        below = self.layout(step.args[0])
        return None if below is None else _viewed(step, self.types[step.args[0]].shape, self.types[v].shape, below)

    def computed_in(self, unit: Unit) -> list[Step]:
        """The steps that a unit does: its own, and those of the lazy values that it reads, computed on the spot."""
        waiting = [self.maker[v] for v in unit.roots] if unit.step is None else [unit.step]
        found = set()
        while waiting:
            step = waiting.pop()
            if id(step) not in found:
                found.add(id(step))
                waiting += [self.maker[a] for a in step.args if a in self.lazy and a not in self.stored]
        return [s for s in self.program.steps if id(s) in found]

    # Which values are lazy, and which of those are stored

    def _ordered(self) -> list[Unit]:
        units: list[Unit] = []
        barrier = 0
        for step in self.program.steps:
            sort = self.sorts[id(step)]
            level = max([self._available(a, step) for a in step.args], default=0)
            if sort == CHECK:
                units.append(Unit("straight", level, step))
                barrier = max(barrier, level)
            elif self._is_tiny(step, sort):
                self.tiny.update(step.outs)
                units.append(Unit("straight", level, step))
            elif sort in (ELEMENTWISE, VIEW, PAD):
                level = self._lazily(step, sort, level)
            elif sort == REDUCE:
                units.append(Unit("root", level, step, self.types[step.args[0]].shape, [step.outs[0]]))
            else:
                if step.primitive.name in LOOPS:  # it may never end on a path that is not to be taken
                    level = max(level, barrier)
                    barrier = max(barrier, level) if decides(step) else barrier
                units.append(Unit("whole", level, step))
            for o in step.outs:
                self.level[o] = level
        self._store_shared()
        units += [Unit("root", self.level[v], None, self.types[v].shape, [v]) for v in sorted(self.stored)]
        return _grouped(units)

    def _is_tiny(self, step: Step, sort: str | None) -> bool:
        if any([self.types[o].size > TINY for o in step.outs]):
            return False
        name = step.primitive.name
        if sort in (ELEMENTWISE, VIEW, PAD):
            return not (name == "reshape" and self._moves(step) and self.types[step.args[0]].size > TINY)
        if name == "zeros":
            return True
        if (name == "unindex" and len(step.args) > 1) or (name == "assign" and len(step.args) > 2):
            return False  # places are known only at run time
        sizes = [self.types[a].size for a in step.args]
        return (sort == REDUCE and sizes[0] <= TINY) or (sort == WHOLE and name in TINY_WHOLE and max(sizes) <= TINY)

    def _moves(self, step: Step) -> bool:
        """Whether a reshape does more than add or drop axes of length one."""
        return squeezed(self.types[step.args[0]].shape, self.types[step.outs[0]].shape) is None

    def _turns(self, step: Step) -> bool:
        """Whether a transpose changes which elements are neighbours: computing across the rows is slow."""
        shape, axes = self.types[step.args[0]].shape, step.params["axes"]
        return [a for a in axes if shape[a] != 1][-1:] != [a for a in range(len(shape)) if shape[a] != 1][-1:]

    def _available(self, a: int, reader: Step) -> int:
        """The first level at which a step can read a value."""
        if a not in self.maker:
            return 0
        level = self.level[a]
        if a in self.tiny or (a in self.lazy and a not in self.stored):
            return level
        if a in self.stored and self.sorts[id(reader)] in (ELEMENTWISE, REDUCE):
            same = self.sorts[id(reader)] == REDUCE or self.types[reader.outs[0]].shape == self.types[a].shape
            return level if same and not self._is_tiny(reader, self.sorts[id(reader)]) else level + 1
        return level + 1

    def _lazily(self, step: Step, sort: str, level: int) -> int:
        """Enter a lazy value; its level."""
        (v,) = step.outs
        shape = self.types[v].shape
        below = [a for a in step.args if a in self.lazy and a not in self.stored]
        crowd = self._crowd.get((level, shape), 0)
        if sort == ELEMENTWISE and crowd >= LONGEST:
            self.stored.update(below)
            level = max([level, *[self.level[a] + 1 for a in below]])
            below = []
        self._crowd[level, shape] = self._crowd.get((level, shape), 0) + (sort == ELEMENTWISE)
        own = cost_of(step) if sort == ELEMENTWISE else int(sort == PAD)
        self.lazy.add(v)
        self.cost[v] = own + sum([self.cost[a] for a in below])
        self._depth[v] = 1 + max([self._depth[a] for a in below], default=0)
        self.level[v] = level
        if sort == PAD or any([a in self._padded for a in below]):
            self._padded.add(v)
        if self._has_to_be_stored(v):
            self.stored.add(v)
        return level

    def _has_to_be_stored(self, v: int) -> bool:
        if v in self._outputs:
            return True
        moved = 0
        for reader in self.readers.get(v, ()):
            sort = self.sorts[id(reader)]
            if self._is_tiny(reader, sort):
                if self.cost[v] >= DEAR:
                    return True
            elif sort == WHOLE:
                whole = reader.primitive.name not in ELEMENT_READERS and self.layout(v) is None
                if whole or v in self._padded:
                    return True
            elif sort == ELEMENTWISE:
                if self.types[reader.outs[0]].size != self.types[v].size and self.cost[v] >= 1:
                    return True
            elif sort in (VIEW, PAD):
                if reader.primitive.name == "reshape":
                    if not self._moves(reader):  # the same elements in the same order: its readers decide
                        continue
                    place = self.layout(v)
                    if place is None or place[2] != row_major(self.types[v].shape):
                        return True
                if reader.primitive.name == "transpose" and self.cost[v] > CHEAP and self._turns(reader):
                    return True
                moved += 1
        cost = self.cost[v]
        return moved > 0 and (cost > CHEAP_MOVED or self._depth[v] > DEEPEST or (moved > 3 and cost > CHEAP))

    def _store_shared(self) -> None:
        """Store what would be computed in more than one loop, unless that is a matter of a few additions."""
        sites: dict[int, set[Any]] = {}
        for step in reversed(self.program.steps):
            for v in step.outs:
                if v not in self.lazy:
                    continue
                home = (self.level[v], self.types[v].shape)
                found: set[Any] = {home} if v in self.stored else set()
                if v not in self.stored:
                    for reader in self.readers.get(v, ()):
                        found |= self._sites(reader, sites)
                    if len(found) > 1 and self.cost[v] > CHEAP and self.sorts[id(step)] == ELEMENTWISE:
                        self.stored.add(v)
                        found = {home}
                sites[v] = found

    def _sites(self, reader: Step, sites: dict[int, set[Any]]) -> set[Any]:
        sort = self.sorts[id(reader)]
        if self._is_tiny(reader, sort) or sort == WHOLE:
            return {("main", id(reader))}
        if sort == CHECK:
            return {"main"}
        if sort == REDUCE:
            return {(self.level[reader.outs[0]], self.types[reader.args[0]].shape)}
        return sites[reader.outs[0]]


def _grouped(units: list[Unit]) -> list[Unit]:
    """Units in the order of execution, with the loops of one level and shape made one."""
    order = {"straight": 0, "whole": 1, "group": 2}
    groups: dict[Any, Unit] = {}
    found: list[Unit] = []
    for unit in units:
        if unit.kind != "root":
            found.append(unit)
            continue
        key = (unit.level, unit.shape)
        if key not in groups:
            groups[key] = Unit("group", unit.level, None, unit.shape)
            found.append(groups[key])
        groups[key].roots += unit.roots
    return sorted(found, key=lambda u: (u.level, order[u.kind]))


def _viewed(
    step: Step, have: tuple[int, ...], want: tuple[int, ...], below: tuple[int, int, tuple[int, ...]]
) -> tuple[int, int, tuple[int, ...]] | None:
    """A view of a view."""
    base, offset, strides = below
    name = step.primitive.name
    if name == "transpose":
        return base, offset, tuple([strides[a] for a in step.params["axes"]])
    if name == "flip":
        axes = {a % len(have) for a in step.params["axis"]}
        offset += sum([(have[a] - 1) * strides[a] for a in axes])
        return base, offset, tuple([-s if a in axes else s for a, s in enumerate(strides)])
    if name == "broadcast_to":
        extra = len(want) - len(have)
        return base, offset, (0,) * extra + tuple([0 if n == 1 else s for n, s in zip(have, strides, strict=True)])
    if name == "reshape":
        kept = squeezed(have, want)
        if kept is None:
            return (base, offset, row_major(want)) if strides == row_major(have) else None
        new = [0] * len(want)
        for old, place in enumerate(kept):
            if place is not None:
                new[place] = strides[old]
        return base, offset, tuple(new)
    found = cuts(step.params["template"], have)
    assert found is not None
    offset += sum([c.start * strides[a] for a, c in enumerate(found[0])])
    return base, offset, tuple([0 if a is None else strides[a] * found[0][a].step for a in found[1]])
