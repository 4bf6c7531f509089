"""How a plan is made: from the first step to the last each value is given its place and its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from types import MappingProxyType

from ...core.entry.moves import Pieces
from ...ir.fold import makers
from ...ir.loops import LoopPrimitive
from ...ir.program import Program, Step, decides
from .classify import INLINED, Sort, cost_of, sort_of
from .donation import candidates, safe
from .placement import INLINE, REGISTER, Effort, Location, Memory
from .plan import Fused, Plan, Straight, Unit, Whole
from .storing import CHEAP, is_better_stored, is_tiny

LONGEST = 250
"""Steps in one loop; more do not fit a processor's registers anyway."""
Site = Hashable
"""A piece of code in which values are computed: a loop, a whole operation, the straight code between them."""


def planned(
    program: Program,
    strides: Mapping[int, tuple[int, ...]],
    sorts: Mapping[int, Sort] | None = None,
    donated: Collection[int] = (),
) -> Plan:
    """The plan of a program, all of whose steps have machine code; results may be written over `donated` inputs."""
    pairs = candidates(program, donated, strides)
    plan = Planner(
        program, strides, sorts or {id(s): _sort(program, s) for s in program.steps}, frozenset(pairs)
    ).planned()
    return replace(plan, over=safe(plan, pairs))


def _sort(program: Program, step: Step) -> Sort:
    sort = sort_of(program, step)
    assert sort is not None
    return sort


class Planner:
    """A plan in the making: this object alone writes, the plan only reads."""

    def __init__(
        self,
        program: Program,
        strides: Mapping[int, tuple[int, ...]],
        sorts: Mapping[int, Sort],
        late: frozenset[int] = frozenset(),
    ) -> None:
        self.program = program
        self.late = late
        """Results that are computed when nothing can go wrong any more, as they are written over inputs."""
        self._turns: dict[int, int] = {}
        """The levels of late loops, by what they read and write."""
        self._late: Counter[tuple[int, ...]] = Counter()
        """How many there are of each shape."""
        self._last_exit = 0
        self.types = program.types
        self.outputs = frozenset(program.outputs)
        self.placement: dict[int, Location] = dict.fromkeys((*program.inputs, *program.constants), Memory(0))
        self.level: dict[int, int] = {}
        self.effort: dict[int, Effort] = {}
        self._crowd: dict[tuple[int, tuple[int, ...]], int] = {}
        readers: dict[int, list[Step]] = {}
        for step in program.steps:
            for a in set(step.args):
                readers.setdefault(a, []).append(step)
        tiny = [id(s) for s in program.steps if is_tiny(program.types, s, sorts[id(s)])]
        self.plan = Plan(
            program, program.types, strides, sorts, frozenset(tiny), makers(program.steps), readers,
            MappingProxyType(self.placement), MappingProxyType(self.level), MappingProxyType(self.effort),
        )  # fmt: skip

    def planned(self) -> Plan:
        """The finished plan."""
        units: list[Unit] = []
        reduced: list[int] = []
        barrier = 0
        for step in self._in_turn():
            sort = self.plan.sort(step)
            level = max([self._available(a, step) for a in step.args], default=0)
            place: Location = Memory(level + 1)
            if sort is Sort.CHECK:
                units.append(Straight(level, step))
                barrier = max(barrier, level)
                self._last_exit = max(self._last_exit, level)
            elif self.plan.is_tiny(step):
                place = REGISTER
                units.append(Straight(level, step))
            elif sort in INLINED:
                self._enter(step, sort, level)
                continue
            elif sort is Sort.REDUCE:
                reduced += step.outs
            else:
                if isinstance(step.primitive, LoopPrimitive):  # it may never end on a path that is not to be taken
                    level = max(level, barrier)
                    place = Memory(level + 1)
                    barrier = max(barrier, level) if decides(step) else barrier
                units.append(Whole(level, step))
                self._last_exit = max(self._last_exit, level)
            for o in step.outs:
                self.level[o], self.placement[o] = level, place
        self._store_shared()
        return replace(self.plan, units=tuple(_in_order([*units, *self._loops(reduced)])))

    def _in_turn(self) -> list[Step]:
        """The steps: late results, and what is made of them, after all others."""
        after, first, last = set(self.late), [], []
        for step in self.program.steps:
            if after and not after.isdisjoint((*step.args, *step.outs)):
                after.update(step.outs)
                last.append(step)
            else:
                first.append(step)
        return [*first, *last]

    def _loops(self, reduced: list[int]) -> list[Unit]:
        """The loops, of which those of one level and shape are one."""
        found: dict[tuple[int, tuple[int, ...]], Fused] = {}
        for v in (*reduced, *sorted([v for v in self.effort if not self.plan.is_inline(v)])):
            is_stored = v in self.effort
            shape = self.types[v if is_stored else self.plan.maker[v].args[0]].shape
            had = found.get((self.level[v], shape)) or Fused(self.level[v], shape, (), ())
            new = replace(had, stored=(*had.stored, v)) if is_stored else replace(had, reduced=(*had.reduced, v))
            found[self.level[v], shape] = new
        return list(found.values())

    # Times and places

    def _available(self, a: int, reader: Step) -> int:
        """The first level at which a step can read a value."""
        if a not in self.plan.maker:
            return 0
        level, place = self.level[a], self.placement[a]
        if not isinstance(place, Memory):
            return level
        return level if self._shares_a_loop(a, reader) else level + 1

    def _shares_a_loop(self, a: int, reader: Step) -> bool:
        """Whether the loop that stores a value can go on to what reads it."""
        sort = self.plan.sort(reader)
        if a not in self.effort or self.plan.is_tiny(reader):
            return False
        same_shape = sort is Sort.ELEMENTWISE and self.types[reader.outs[0]].shape == self.types[a].shape
        return sort is Sort.REDUCE or same_shape

    def _enter(self, step: Step, sort: Sort, level: int) -> None:
        """Enter a value that can be computed where it is read, from this level on."""
        (v,) = step.outs
        shape = self.types[v].shape
        if v in self.late:
            level = max(level, self._turn(v))
        below = [a for a in step.args if self.plan.is_inline(a)]
        if sort is Sort.ELEMENTWISE and self._crowd.get((level, shape), 0) >= LONGEST:
            for a in below:
                self._store(a)
            level = max([level, *[self.level[a] + 1 for a in below]])
            below = []
        self._crowd[level, shape] = self._crowd.get((level, shape), 0) + (sort is Sort.ELEMENTWISE)
        self.effort[v] = self._effort(step, sort, below)
        self.level[v], self.placement[v] = level, INLINE
        if v in self.outputs or is_better_stored(self.plan, v):
            self._store(v)

    def _turn(self, v: int) -> int:
        """The level of a late result: with those that read the same, apart from others of its shape.

        So that each loop reads and writes a few arrays from end to end, and loops that do the same are written once.
        """
        shape = self.types[v].shape
        waiting, reads = [v], set()
        while waiting:
            for a in self.plan.maker[waiting.pop()].args:
                if a in self.placement and self.plan.is_inline(a):
                    waiting.append(a)
                elif self.types[a].size == self.types[v].size:  # in its shape, or seen through a view
                    reads.add(a)
        known = [self._turns[a] for a in reads if a in self._turns]
        turn = max(known) if known else self._last_exit + self._late[shape]
        self._late[shape] += not known
        self._turns.update(dict.fromkeys((v, *reads), turn))
        return turn

    def _effort(self, step: Step, sort: Sort, below: list[int]) -> Effort:
        under = [self.effort[a] for a in below]
        own = cost_of(step) if sort is Sort.ELEMENTWISE else int(sort is Sort.PAD)
        return Effort(
            own + sum([e.cost for e in under]),
            1 + max([e.depth for e in under], default=0),
            sort is Sort.PAD or any([e.has_pad for e in under]),
        )

    def _store(self, v: int) -> None:
        self.placement[v] = Memory(self.level[v] + 1)

    # What is read in several places

    def _store_shared(self) -> None:
        """Store what would be computed in more than one loop, unless that is a matter of a few additions."""
        sites: dict[int, set[Site]] = {}
        for v in reversed(self.effort):
            home: Site = (self.level[v], self.types[v].shape)
            if not self.plan.is_inline(v):
                sites[v] = {home}
                continue
            found: set[Site] = set()
            for reader in self.plan.readers.get(v, ()):
                found |= self._sites(v, reader, sites)
            is_elementwise = self.plan.sort(self.plan.maker[v]) is Sort.ELEMENTWISE
            if len(found) > 1 and self.effort[v].cost > CHEAP and is_elementwise:
                self._store(v)
                found = {home}
            sites[v] = found

    def _sites(self, v: int, reader: Step, sites: dict[int, set[Site]]) -> set[Site]:
        sort = self.plan.sort(reader)
        if sort is Sort.WHOLE and isinstance(reader.primitive.facts.moves, Pieces) and not self.plan.is_tiny(reader):
            return {("main", id(reader), k) for k, a in enumerate(reader.args) if a == v}  # each is copied by itself
        if self.plan.is_tiny(reader) or sort is Sort.WHOLE:
            return {("main", id(reader))}
        if sort is Sort.CHECK:
            return {"main"}
        if sort is Sort.REDUCE:
            return {(self.level[reader.outs[0]], self.types[reader.args[0]].shape)}
        return sites[reader.outs[0]]


def _in_order(units: list[Unit]) -> list[Unit]:
    """Units in the order of execution: of one level, what is in registers first and loops last."""
    order = (Straight, Whole, Fused)
    return sorted(units, key=lambda u: (u.level, order.index(type(u))))
