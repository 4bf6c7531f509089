"""The numbers of one example: each is computed once, however many steps and elements ask for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.entry.algebra import Monoid
from ...core.entry.moves import Index, Pieces
from ...ir.fold import made_by, read_by
from ...ir.program import Step
from ..program.classify import Sort
from ..program.loop_checks import is_number
from ..program.moving import labels_of, monoid_of, pieces_of, reads_of
from .nodes import (
    AlikeRows,
    Applied,
    Cast,
    Combined,
    ExampleWork,
    Known,
    Node,
    Read,
    Term,
    args_of,
    block_shape,
    renumbered,
)

if TYPE_CHECKING:
    from .group import LaneGroup


class Numbering:
    """The numbers of one example, each computed once."""

    def __init__(self, group: LaneGroup, rows: AlikeRows) -> None:
        self.group = group
        self.rows = rows
        self.program = group.program
        self.types = group.program.types
        self.alike = group.alike
        self.nodes: list[Node] = []
        self.constants: dict[Known, Any] = {}
        self.steps: list[Step] = []
        self._numbers: dict[tuple[type, Node], int] = {}
        self._likes: dict[Any, int] = {}
        self._blocks: dict[int, np.ndarray] = {}

    def done(self) -> ExampleWork:
        """Everything that is computed for one example."""
        group, totals = self.group, {}
        for step in group.steps:
            out = step.outs[0]
            if group.sorts[id(step)] is Sort.REDUCE and out not in group.axes:
                totals[out] = monoid_of(step), self._reduced(step).ravel().tolist()
            else:
                self._blocks[out] = self._block_of(step)
        inner = {id(s) for s in group.steps}
        outside = read_by([s for s in self.program.steps if id(s) not in inner], self.program.outputs)
        wanted = outside & made_by(group.steps)
        stored = {v: b.ravel().tolist() for v, b in self._blocks.items() if v in wanted}
        return self._needed(stored, totals)

    def _needed(self, stored: dict[int, list[int]], totals: dict[int, tuple[Monoid, list[int]]]) -> ExampleWork:
        """Without what nobody asks for."""
        kept: set[int] = set()
        waiting = [n for numbers in stored.values() for n in numbers] + [n for _, ns in totals.values() for n in ns]
        while waiting:
            n = waiting.pop()
            if n not in kept:
                kept.add(n)
                waiting += args_of(self.nodes[n])
        new = {n: k for k, n in enumerate(sorted(kept))}
        return ExampleWork(
            self.group.count,
            [renumbered(self.nodes[n], new) for n in sorted(kept)],
            self.steps,
            self.constants,
            self.group.axes,
            self.rows,
            {v: [new[n] for n in numbers] for v, numbers in stored.items()},
            {v: (monoid, [new[n] for n in numbers]) for v, (monoid, numbers) in totals.items()},
            self.group.steps,
        )

    # Blocks: an array of numbers for each value, whose axes of examples and rows have length one

    def _shape(self, v: int) -> tuple[int, ...]:
        return block_shape(self.types[v].shape, self._loops(v))

    def _loops(self, v: int) -> tuple[int | None, int | None]:
        return self.group.axes.get(v), self.rows.axes.get(v)

    def _block(self, v: int) -> np.ndarray:
        """The numbers of a value, made by a step of the group or read."""
        found = self._blocks.get(v)
        if found is None:
            found = self._blocks[v] = self._from_outside(v)
        return found

    def _from_outside(self, v: int) -> np.ndarray:
        program, shape = self.program, self._shape(v)
        value = program.constants.get(v)
        size = math.prod(shape)
        if is_number(value):
            return np.full(shape, self._known(value, self.types[v].dtype, is_number=True))
        if v in program.frozen and self._loops(v) == (None, None):
            elements = np.asarray(value).ravel()
            return np.array([self._known(x, elements.dtype) for x in elements], int).reshape(shape)
        places = range(size) if v in self.group.axes else self.alike.first(v, self.rows.axes.get(v)).tolist()
        return np.array([self._number(Read(v, k)) for k in places], int).reshape(shape)

    def _known(self, value: Any, dtype: np.dtype, *, is_number: bool = False) -> int:
        node = Known(np.asarray(value, dtype).tobytes(), dtype.num, is_number)
        self.constants[node] = value
        return self._number(node)

    def _number(self, node: Node) -> int:
        key = (type(node), node)  # records of equal fields are equal, whatever their class
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return found

    def _block_of(self, step: Step) -> np.ndarray:
        sort, facts = self.group.sorts[id(step)], step.primitive.facts
        if sort is Sort.ELEMENTWISE:
            return self._applied(step)
        if sort is Sort.VIEW:
            return self._viewed(step)
        if sort is Sort.REDUCE:
            return self._reduced(step)
        return self._joined(step) if isinstance(facts.moves, Pieces) else self._product(step)

    def _applied(self, step: Step) -> np.ndarray:
        shape, facts = self._shape(step.outs[0]), step.primitive.facts
        like = self._like(step)
        given = [np.broadcast_to(self._block(a), shape).ravel().tolist() for a in step.args]
        neutral = self._neutral(step) if len(given) == 2 else None
        found = []
        for args in zip(*given, strict=True):
            if neutral is not None and args[1] == neutral:
                found.append(args[0])
            elif neutral is not None and args[0] == neutral and facts.commutative:
                found.append(args[1])
            else:
                found.append(self._number(Applied(like, args)))
        return np.array(found, int).reshape(shape)

    def _neutral(self, step: Step) -> int | None:
        """The number that leaves the other operand as it is, if that has the type of the result."""
        neutral, t = step.primitive.facts.neutral, self.types[step.outs[0]]
        if type(neutral) is not float or any([self.types[a].dtype != t.dtype for a in step.args]):
            return None
        return self._numbers.get((Known, Known(np.asarray(neutral, t.dtype).tobytes(), t.dtype.num, False)))

    def _like(self, step: Step) -> int:
        """The number of a step among those that compute differently."""
        types = tuple([(self.types[v].dtype.num, self.types[v].weak) for v in (*step.args, *step.outs)])
        literal = tuple([a if is_number(self.program.constants.get(a)) else None for a in step.args])
        key = (step.primitive, types, literal, tuple(sorted([(k, repr(p)) for k, p in step.params.items()])))
        found = self._likes.setdefault(key, len(self.steps))
        if found == len(self.steps):
            self.steps.append(step)
        return found

    def _viewed(self, step: Step) -> np.ndarray:
        (a,), (v,) = step.args, step.outs
        shape, source = self._shape(v), self._block(a)
        reads = reads_of(self.types, step)
        if reads is None:
            return source.reshape(shape)
        return np.broadcast_to(source[_places(reads, shape, self._loops(a))], shape)

    def _joined(self, step: Step) -> np.ndarray:
        v = step.outs[0]
        found, loops = np.empty(self._shape(v), int), self._loops(v)
        for piece in pieces_of(self.types, step):
            a = step.args[piece.operand]
            alone = [piece.target[q].axis for q in loops if q is not None]
            shape = tuple([1 if k in alone else n for k, n in enumerate(piece.shape)])
            part = self._block(a)[_places(piece.source, shape, self._loops(a))]
            found[_places(piece.target, shape, loops)] = part
        return found

    def _reduced(self, step: Step) -> np.ndarray:
        """Sums and the like inside a block; over the examples they go on elsewhere."""
        (a,), (v,) = step.args, step.outs
        have, t, monoid = self.types[a], self.types[v], monoid_of(step)
        block = self._block(a)
        over = [k % block.ndim for k in step.params["axis"]]
        kept = [k for k in range(block.ndim) if k not in over]
        rows = block.transpose([*kept, *over]).reshape(math.prod([block.shape[k] for k in kept]), -1).tolist()
        found = []
        for row in rows:
            numbers = [self._cast(n, have.dtype, t.dtype) for n in row]
            total = numbers.pop(0)
            if monoid.combines is np.add and v in self.group.axes:
                total = self._number(Combined(monoid, t.dtype.num, self._known(t.dtype.type(0), t.dtype), total))
            for n in numbers:
                total = self._number(Combined(monoid, t.dtype.num, total, n))
            found.append(total)
        return np.array(found, int).reshape(self._shape(v))

    def _cast(self, n: int, have: np.dtype, want: np.dtype) -> int:
        return n if have == want else self._number(Cast(n, have.num, want.num))

    def _product(self, step: Step) -> np.ndarray:
        v, dtype = step.outs[0], self.types[step.outs[0]].dtype
        first, second, result = labels_of(self.types, step)
        sides = [(labels, self._block(a)) for labels, a in ((first, step.args[0]), (second, step.args[1]))]
        summed = [label for label in dict.fromkeys((*first, *second)) if label not in result]
        length = {k: max([b.shape[ls.index(k)] for ls, b in sides if k in ls]) for k in (*result, *summed)}
        full = tuple([length[k] for k in (*result, *summed)])
        terms = math.prod([length[k] for k in summed])
        flat = []
        for labels, block in sides:
            order = [labels.index(k) for k in (*result, *summed) if k in labels]
            spread = block.transpose(order).reshape(
                [block.shape[labels.index(k)] if k in labels else 1 for k in length]
            )
            flat.append(np.broadcast_to(spread, full).reshape(-1, terms).tolist())
        zero = self._known(dtype.type(0), dtype)
        found = []
        for xs, ys in zip(*flat, strict=True):
            total = zero  # as NumPy's sums do: a sum of negative zeros is zero
            for x, y in zip(xs, ys, strict=True):
                total = self._number(Term(x, y, total))
            found.append(total)
        return np.array(found, int).reshape(self._shape(v))


def _places(indices: Iterable[Index], shape: tuple[int, ...], loops: tuple[int | None, ...]) -> tuple[Any, ...]:
    """Where elements of an array are, for those of a part of this shape; the axes of loops have length one."""
    grid = np.ogrid[tuple([slice(n) for n in shape])]
    return tuple([
        0 if k in loops else i.shift if i.axis is None else i.scale * grid[i.axis] + i.shift
        for k, i in enumerate(indices)
    ])  # fmt: skip
