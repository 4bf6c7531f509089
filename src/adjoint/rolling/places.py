"""Arrays that are written or added to place by place: what is read there is known without the array.

`y[i] = v` makes a new array of all of `y` each time, as far as a program knows, and the sweep back one more for each
`y[i]` that was read. Here a chain of such steps is followed place by place, and the array is put together once, when it
is asked for as a whole. A sum that adds zeros to all other places makes 0.0 of -0.0 there; so does this pass.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.passes import program_pass
from ..ir.program import Program, Step, Type
from ..ops.arithmetic import add
from ..ops.indexing import assign, index, unindex
from ..ops.keys import HOLE
from ..ops.shape import astype, stack
from .stacks import axis_of

FEWEST = 16
"""Steps from which on a chain is worth following."""
SMALL = 9
"""Elements up to which an array is held in registers anyway."""
Place = tuple[int, ...]


@dataclass(slots=True)
class Link:
    """One step of a chain: what is assigned or added, and where."""

    step: Step
    is_sum: bool
    place: Place
    value: int


@dataclass(slots=True)
class Chain:
    """An array after one write after the other, all by keys of one pattern."""

    base: int | None
    """The array at the beginning; None for zeros."""
    type: Type
    pattern: tuple[Any, ...]
    links: list[Link] = field(default_factory=list)
    escapes: set[int] = field(default_factory=set)
    """After how many links the array is asked for as a whole."""
    rows: dict[Place, list[tuple[int, int]]] = field(default_factory=dict)
    """For each place what is there, and since which link."""
    sums: list[int] = field(default_factory=list)
    """Which links are sums."""

    @property
    def is_worth_it(self) -> bool:
        """Whether it is long, and hardly ever asked for as a whole."""
        return len(self.links) >= FEWEST and len(self.escapes) <= 2


@program_pass
def place_by_place(program: Program) -> Program:
    """The program without chains of arrays that differ by one place."""
    chains, links, pads = _chains(program)
    if not any(chain.is_worth_it for chain in chains):
        return program
    return _Rewriting(program, links, pads).result()


def _key(program: Program, step: Step, array: Type) -> tuple[tuple[Any, ...], Place] | None:
    """The key of a step as a pattern and the numbers in it, counted from the beginning; None if there are none."""
    key = step.params["template"]
    used = sum(1 for entry in key if entry is not None and entry is not Ellipsis)
    pattern, place, axis = [], [], 0
    for entry in key:
        if type(entry) is int:
            place.append(entry % array.shape[axis])
            entry = HOLE
        elif entry is HOLE or isinstance(entry, np.integer):
            return None
        pattern.append((entry.start, entry.stop, entry.step) if isinstance(entry, slice) else entry)
        axis += len(array.shape) - used if entry is Ellipsis else entry is not None
    return (tuple(pattern), tuple(place)) if place else None


Versions = dict[int, tuple[Chain, int]]
"""Arrays of a chain: after how many links."""


def _chains(program: Program) -> tuple[list[Chain], Versions, dict[int, Step]]:
    """The chains of a program, the arrays in them, and the pads that are added."""
    types = program.types
    chains: list[Chain] = []
    versions: Versions = {}
    pads: dict[int, Step] = {}
    for step in program.steps:
        primitive = step.primitive
        if primitive is unindex and len(step.args) == 1 and types[step.outs[0]].size > SMALL:
            if types[step.outs[0]].dtype.kind == "f" and _key(program, step, types[step.outs[0]]):
                pads[step.outs[0]] = step
            if versions:
                _noted(program, step, versions)  # its operand may be an array of a chain, which is then asked for
            continue
        link = None
        if primitive is assign and len(step.args) == 2 and types[step.outs[0]].size > SMALL:
            link = _assignment(program, step)
        elif primitive is add and pads and (step.args[0] in pads or step.args[1] in pads):
            link = _sum(program, step, pads)
        if link is not None:
            _linked(program, link, chains, versions, pads)
        elif versions:
            _noted(program, step, versions)
    for o in program.outputs:
        if o in versions:
            versions[o][0].escapes.add(versions[o][1])
    return chains, versions, pads


def _assignment(program: Program, step: Step) -> tuple[Link, int | None, Any] | None:
    types, (x, v) = program.types, step.args
    out = types[step.outs[0]]
    found = _key(program, step, out)
    if found is None or types[x].dtype != out.dtype or types[x].shape != out.shape:
        return None
    is_number = types[v].weak and v in program.constants
    if not is_number and (types[v].dtype != out.dtype or types[v].shape != _row(out, step.params["template"])):
        return None
    return Link(step, False, found[1], v), x, found[0]


def _sum(program: Program, step: Step, pads: dict[int, Step]) -> tuple[Link, int | None, Any] | None:
    types, (x, y) = program.types, step.args
    if x == y or types[x] != types[y] or types[x] != types[step.outs[0]]:
        return None
    pad, other = (pads[y], x) if y in pads else (pads[x], y)
    found = _key(program, pad, types[x])
    assert found is not None
    value = pad.args[0]
    if types[value].dtype != types[x].dtype or types[value].shape != _row(types[x], pad.params["template"]):
        return None
    return Link(step, True, found[1], value), other, found[0]


def _row(array: Type, key: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of what a key reads."""
    return np.broadcast_to(NOTHING, array.shape)[key].shape


NOTHING = np.zeros((), np.bool)


def _linked(program: Program, found: Any, chains: list[Chain], versions: Versions, pads: dict[int, Step]) -> None:
    """Put a link at the end of the chain whose last array it changes, or at the beginning of a new one."""
    link, array, pattern = found
    known = versions.get(array)
    out = link.step.outs[0]
    if known is not None and known[1] == len(known[0].links) and known[0].pattern == pattern:
        chain = known[0]
    else:
        if known is not None:
            known[0].escapes.add(known[1])
        chain = Chain(array, program.types[out], pattern)
        pad = pads.get(array)
        first = None if pad is None else _key(program, pad, chain.type)
        if pad is not None and first is not None and first[0] == pattern and _fits(program, pad, chain.type):
            chain.base = None
            chain.rows[first[1]] = [(0, pad.args[0])]
        chains.append(chain)
    if link.value in versions:
        versions[link.value][0].escapes.add(versions[link.value][1])
    chain.links.append(link)
    versions[out] = (chain, len(chain.links))


def _fits(program: Program, pad: Step, array: Type) -> bool:
    t = program.types[pad.args[0]]
    return t.dtype == array.dtype and t.shape == _row(array, pad.params["template"])


def _noted(program: Program, step: Step, versions: Versions) -> None:
    """A step that is no link: what it reads of chains as a whole."""
    for a in step.args:
        known = versions.get(a)
        if known is not None and not _reads(program, step, known[0]):
            known[0].escapes.add(known[1])


def _reads(program: Program, step: Step, chain: Chain) -> bool:
    """Whether a step reads one place of a chain."""
    if step.primitive is not index or len(step.args) != 1:
        return False
    found = _key(program, step, chain.type)
    return found is not None and found[0] == chain.pattern


class _Rewriting:
    """The program in the making."""

    def __init__(self, program: Program, versions: Versions, pads: dict[int, Step]) -> None:
        self.old = program
        self.versions = {n: v for n, v in versions.items() if v[0].is_worth_it}
        self.pads = pads
        self.new = Builder.of(program)
        self._now: dict[int, int] = {}
        self._constants: dict[Any, int] = {}
        self._bases: dict[Any, int] = {}

    def result(self) -> Program:
        """The whole program."""
        for step in self.old.steps:
            known = self.versions.get(step.outs[0]) if step.outs else None
            if known is not None:
                self._link(*known)
                continue
            source = self.versions.get(step.args[0]) if step.args else None
            if source is not None and _reads(self.old, step, source[0]):
                found = _key(self.old, step, source[0].type)
                assert found is not None
                self._now[step.outs[0]] = self._at(*source, found[1], step.params["template"])
            else:
                if any([a in self._now for a in step.args]):
                    step = step._replace(args=tuple([self._value(a) for a in step.args]))
                self.new.append(step)
        return self.new.build([self._value(o) for o in self.old.outputs])

    def _value(self, n: int) -> int:
        return self._now.get(n, n)

    def _add(self, primitive: Any, args: tuple[int, ...], type_: Type, **params: Any) -> int:
        return self.new.add(primitive, args, type_, **params)

    def _constant(self, value: Any, type_: Type) -> int:
        """A constant that stays as it is; one for each value."""
        key = (repr(value), type_)
        if key not in self._constants:
            whole = np.full(type_.shape, value, type_.dtype)
            made = value if type_.weak else whole if type_.shape else whole[()]
            self._constants[key] = self.new.constant(made, type_, frozen=bool(type_.shape))
        return self._constants[key]

    def _zero(self) -> int:
        return self._constant(0.0, Type(np.dtype(float), (), True))

    def _link(self, chain: Chain, count: int) -> None:
        """Follow one link; the array itself is made only if it is asked for."""
        link = chain.links[count - 1]
        value = self._value(link.value)
        if link.is_sum:
            key = self._pad_key(link)
            had = self._at(chain, count - 1, link.place, key)
            value = self._add(add, (had, value), self.old.types[link.value]._replace(weak=False))
            chain.sums.append(count)
        chain.rows.setdefault(link.place, []).append((count, value))
        if count in chain.escapes:
            self._now[link.step.outs[0]] = self._whole(chain, count)

    def _pad_key(self, link: Link) -> tuple[Any, ...]:
        x, y = link.step.args
        pad = self.pads[y] if y in self.pads else self.pads[x]
        return pad.params["template"]  # type: ignore[no-any-return]

    def _at(self, chain: Chain, count: int, place: Place, key: tuple[Any, ...]) -> int:
        """What is at a place after so many links."""
        since, value = self._latest(chain, count, place)
        row = Type(chain.type.dtype, _row(chain.type, key), False)
        if value is not None:
            value = self._as_row(value, row)
        elif chain.base is None:
            return self._constant(0.0, row)
        else:
            known = self._bases.get((id(chain), place))
            if known is None:
                known = self._bases[id(chain), place] = self._add(index, (self._value(chain.base),), row, template=key)
            value = known
        return self._add(add, (value, self._zero()), row) if _last(chain.sums, count) > since else value

    def _latest(self, chain: Chain, count: int, place: Place) -> tuple[int, int | None]:
        for since, value in reversed(chain.rows.get(place, ())):
            if since <= count:
                return since, value
        return 0, None

    def _as_row(self, value: int, row: Type) -> int:
        """A value as it is read: numbers of Python's have become part of the array."""
        if not self.new.types[value].weak:
            return value
        if value in self.new.constants:
            return self._constant(self.new.constants[value], row)
        return self._add(astype, (value,), row, dtype=row.dtype)

    def _whole(self, chain: Chain, count: int) -> int:
        """The array after so many links, in as few steps as the places allow."""
        last = _last(chain.sums, count)
        early: dict[Place, int] = {}
        late: dict[Place, int] = {}
        for place in chain.rows:
            since, value = self._latest(chain, count, place)
            if value is not None:
                (early if since < last else late)[place] = value
        array = self._constant(0.0, chain.type) if chain.base is None else self._value(chain.base)
        array = self._with(array, chain, early)
        if last:
            array = self._add(add, (array, self._zero()), chain.type)
        return self._with(array, chain, late)

    def _with(self, array: int, chain: Chain, rows: dict[Place, int]) -> int:
        """An array with some places filled."""
        for run in _runs(sorted(rows)):
            values = [rows[place] for place in run]
            key, where = _run_key(chain.pattern, run)
            numbers = {v for v in values if self.new.types[v].weak and v in self.new.constants}
            if numbers == set(values) and len(numbers) == 1:
                value = values[0]
            else:
                one = Type(chain.type.dtype, _row(chain.type, _run_key(chain.pattern, run[:1])[0]), False)
                values = [self._as_row(v, one) for v in values]
                value = values[0]
                if len(run) > 1:
                    axis = axis_of(key, where, len(chain.type.shape))
                    shape = (*one.shape[:axis], len(run), *one.shape[axis:])
                    value = self._add(stack, tuple(values), one._replace(shape=shape), axis=axis - len(shape))
            array = self._add(assign, (array, value), chain.type, template=key)
        return array


def _last(sums: list[int], count: int) -> int:
    """The last link up to this one that is a sum, counted from 1; 0 if there is none."""
    place = bisect_right(sums, count)
    return sums[place - 1] if place else 0


def _runs(places: list[Place]) -> list[list[Place]]:
    """Places that follow each other along one axis, with one distance."""
    if not places:
        return []
    axis = max(range(len(places[0])), key=lambda a: len({p[a] for p in places}))
    ordered = sorted(places, key=lambda p: (p[:axis], p[axis + 1 :], p[axis]))
    found: list[list[Place]] = [[ordered[0]]]
    for place in ordered[1:]:
        run = found[-1]
        beside = (place[:axis], place[axis + 1 :]) == (run[-1][:axis], run[-1][axis + 1 :])
        if beside and (len(run) < 2 or place[axis] - run[-1][axis] == run[-1][axis] - run[-2][axis]):
            run.append(place)
        else:
            found.append([place])
    return found


def _run_key(pattern: tuple[Any, ...], run: list[Place]) -> tuple[tuple[Any, ...], int]:
    """The key of places that follow each other, and where in it the slice is."""
    first = run[0]
    axis = next((a for a in range(len(first)) if len(run) > 1 and run[1][a] != first[a]), None)
    key: list[Any] = []
    where, hole = 0, 0
    for entry in pattern:
        if entry is not HOLE:
            key.append(slice(*entry) if isinstance(entry, tuple) else entry)
            continue
        if hole == axis:
            step = run[1][hole] - first[hole]
            where = len(key)
            key.append(slice(first[hole], run[-1][hole] + 1, step))
        else:
            key.append(first[hole])
        hole += 1
    return tuple(key), where
