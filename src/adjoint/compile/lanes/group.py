"""Which steps of a program are done for each example of a batch by itself, in small blocks of numbers.

A Jacobian of two results, a sum over three coordinates or a product of small matrices, for thousands of examples, is
one loop over the examples in which every number of a block is a register, and every register a vector: the number of
so many examples. Numbers that are computed alike from the same ones are computed once. So the zeros that a Jacobian
begins with cost little: all columns that have not met anything else yet are one column.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.entry.moves import Index, Pieces
from ...ir.fold import has_kind, made_by, read_by
from ...ir.loops import LoopPrimitive
from ...ir.program import Program, Step
from ..program.classify import Sort
from ..program.indices import row_major
from ..program.moving import labels_of, pieces_of, reads_of
from .nodes import EXAMPLES, NO_ROWS, ExampleWork, Read
from .numbering import Numbering
from .rows import candidates
from .value_numbering import Alike

FEWEST = 24
"""Examples from which on it pays."""
NARROW = 16
"""Numbers side by side in memory up to which it is better to go across them than along."""
LARGEST = 8192
"""Numbers in the block of one example."""
SHORT = 1000
"""Numbers from which on it is worth looking for rows that are done alike."""
AGAIN = 1.25
"""How much more may be computed in all, so that the code is short."""
MOST = 3000
"""Numbers that are computed for one example: code for more takes too long to be made."""
RAW = 30_000
"""The same before those are counted once that are computed alike: more take too long to be looked at."""
WORK = 50_000
"""Numbers computed for all examples together from which on the code is worth making."""
TOTALS = 256
"""Numbers that are summed over the examples, at most."""
DENSE = 1.5
"""Numbers computed for each that is read or stored, at least: where memory decides, loops along it are better."""
KEPT = 4
"""Numbers of one example that are stored for steps outside, at most: these could compute them where they read them."""


def by_examples(program: Program, sorts: Mapping[int, Sort]) -> tuple[Program, Mapping[int, Sort]]:
    """The program with steps on small blocks put together, where there are any; and the sorts of its steps."""
    lengths = Counter([n for s in program.steps for o in s.outs for n in set(program.types[o].shape) if n >= FEWEST])
    for count in sorted([n for n, _ in lengths.most_common(3)], reverse=True):
        found = LaneGroup(program, sorts, count).step()
        if found is not None:
            program, sorts = found, {**sorts, **{id(s): Sort.WHOLE for s in found.steps if s.primitive is EXAMPLES}}
    return program, sorts


def side_by_side(program: Program) -> dict[int, tuple[int, ...]]:
    """The strides of what is made across examples for others of the kind: examples are neighbours in memory."""
    found: dict[int, tuple[int, ...]] = {}
    others = read_by([s for s in program.steps if s.primitive is not EXAMPLES], program.outputs)
    for step in program.steps:
        for v in step.outs if step.primitive is EXAMPLES else ():
            p = step.params["examples"].axes.get(v)
            if p is None or v in others:
                continue
            shape = program.types[v].shape
            block = row_major([1 if k == p else n for k, n in enumerate(shape)])
            found[v] = tuple([1 if k == p else shape[p] * s for k, s in enumerate(block)])
    return found


class LaneGroup:
    """The steps of a program that can be done for each of so many examples by itself."""

    def __init__(self, program: Program, sorts: Mapping[int, Sort], count: int) -> None:
        self.program = program
        self.types = program.types
        self.sorts = sorts
        self.count = count
        self.axes: dict[int, int] = {}
        self.steps: list[Step] = []
        self.alike = Alike(program)

    def step(self) -> Program | None:
        """The program with one step in the place of the group; None if there is none worth it."""
        before, after = self._sort_out()
        if not self._is_worth_it():
            return None
        found = self._shortest()
        if len(found.nodes) > MOST or len(found.nodes) * self.count < WORK or not _is_dense(found):
            return None
        if sum([len(ns) for v, ns in found.stored.items() if self._is_inline(v)]) > KEPT:
            return None
        args = sorted(read_by(self.steps) - made_by(self.steps))
        whole = Step(EXAMPLES, tuple(args), {"examples": found}, (*found.stored, *found.totals))
        return self.program.having(steps=[*before, whole, *after])

    def _is_inline(self, v: int) -> bool:
        """Whether a value would have no place in memory, if it were not made here."""
        maker = next((s for s in self.steps if v in s.outs), None)
        if maker is None or v in self.program.outputs:
            return False
        sort = self.sorts[id(maker)]
        return sort is Sort.ELEMENTWISE or (sort is Sort.VIEW and self._is_inline(maker.args[0]))

    def _shortest(self) -> ExampleWork:
        """The numbers of one example; if they are many, those of one row of it, where rows are done alike."""
        found = Numbering(self, NO_ROWS).done()
        full = len(found.nodes)
        if full <= SHORT or not found.stored:
            return found
        largest = max(found.stored, key=lambda v: len(found.stored[v]))
        for rows in candidates(self, largest):
            other = Numbering(self, rows).done()
            if len(other.nodes) < len(found.nodes) and rows.length * len(other.nodes) <= AGAIN * full:
                found = other
        return found

    def _sort_out(self) -> tuple[list[Step], list[Step]]:
        """Find the steps of the group; the others, before and after it."""
        before: list[Step] = []
        after: list[Step] = []
        made: set[int] = set()
        late: set[int] = set()
        for step in self.program.steps:
            if late.isdisjoint(step.args) and self._fits(step):
                self.steps.append(step)
                made.update(step.outs)
                late.update([o for o in step.outs if o not in self.axes])  # totals are there once all examples are done
            elif late.isdisjoint(step.args) and made.isdisjoint(step.args):
                before.append(step)
            else:
                after.append(step)
                late.update(step.outs)
        return before, after

    def _is_worth_it(self) -> bool:
        """Whether blocks are put together or taken apart: what is elementwise throughout is a loop as it is."""
        if has_kind(self.program.steps, LoopPrimitive):
            return False
        return any([self._mixes(s) for s in self.steps]) and sum([self._size(s) for s in self.steps]) <= RAW

    def _size(self, step: Step) -> int:
        """About how many numbers a step computes for one example."""
        sizes = [self.types[v].size // (self.count if v in self.axes else 1) for v in (*step.args, *step.outs)]
        return sizes[-1] * NARROW if step.primitive.facts.contracts is not None else max(sizes)

    def _mixes(self, step: Step) -> bool:
        sort, out = self.sorts[id(step)], step.outs[0]
        inside = [self.types[a].size // self.count for a in step.args if a in self.axes]
        if not inside or max(inside) < 2:
            return False
        return sort is Sort.WHOLE or (sort is Sort.REDUCE and out in self.axes)

    # Which steps fit

    def axis(self, v: int) -> int | None:
        """The axis of the examples; None if the value has none, or several."""
        shape = self.types[v].shape
        return shape.index(self.count) if shape.count(self.count) == 1 else None

    def _fits(self, step: Step) -> bool:
        """Whether each example can do a step by itself; or sums over all of them what it has."""
        sort = self.sorts.get(id(step))
        if len(step.outs) != 1 or sort is Sort.CHECK:
            return False
        values = (*step.args, *step.outs)
        is_turned = sort is Sort.VIEW and step.outs[0] in self.program.outputs
        if not all([self._is_block(v) for v in (step.args if is_turned else values)]):
            return False
        found = {v: self.axis(v) for v in values}
        out = found[step.outs[0]]
        fits = self._reduces(step, found) if sort is Sort.REDUCE else out is not None and self._moves(step, sort, found)
        if fits:
            self.axes.update({v: p for v, p in found.items() if p is not None})
        return fits

    def _is_block(self, v: int) -> bool:
        """Whether a value is small for each example, or shared by all and small."""
        shape = self.types[v].shape
        if shape.count(self.count) > 1:
            return False
        p = self.axis(v)
        if p is None:
            return math.prod(shape) <= LARGEST
        return math.prod(shape) // self.count <= LARGEST and all([n <= NARROW for n in shape[p + 1 :]])

    def _moves(self, step: Step, sort: Sort | None, axes: Mapping[int, int | None]) -> bool:
        types, out = self.types, step.outs[0]
        q = axes[out]
        if sort is Sort.ELEMENTWISE:
            ends = [len(types[a].shape) - p for a in step.args if (p := axes[a]) is not None]
            return q is not None and all([n == len(types[out].shape) - q for n in ends])
        if sort is Sort.VIEW:
            (a,) = step.args
            return _keeps_examples(types[a].shape, types[out].shape, reads_of(types, step), axes[a], q)
        if sort is not Sort.WHOLE:
            return False
        facts = step.primitive.facts
        if isinstance(facts.moves, Pieces):
            return all([
                axes[step.args[piece.operand]] == q
                and q is not None
                and piece.target[q] == piece.source[q] == Index(q, 1, 0)
                for piece in pieces_of(types, step)
            ])  # fmt: skip
        if facts.contracts is None or q is None:
            return False
        first, second, result = labels_of(types, step)
        own = [labels[p] for labels, a in ((first, step.args[0]), (second, step.args[1])) if (p := axes[a]) is not None]
        summed = {
            k: n
            for labels, a in ((first, step.args[0]), (second, step.args[1]))
            for k, n in zip(labels, types[a].shape, strict=True)
            if k not in result
        }
        return bool(own) and all([label == result[q] for label in own]) and math.prod(summed.values()) <= NARROW

    def _reduces(self, step: Step, axes: Mapping[int, int | None]) -> bool:
        """A reduction inside the blocks, or one over all examples, to a few numbers."""
        p = axes[step.args[0]]
        if p is None:
            return False
        over = {a % len(self.types[step.args[0]].shape) for a in step.params["axis"]}
        out = self.types[step.outs[0]]
        return (
            p not in over
            if axes[step.outs[0]] is not None
            else p in over and out.size <= TOTALS and out.dtype.kind in "fb"
        )


def _is_dense(found: ExampleWork) -> bool:
    """Whether enough is computed with what is read and stored."""
    reads = sum([isinstance(n, Read) for n in found.nodes])
    return len(found.nodes) - reads >= DENSE * (reads + sum(map(len, found.stored.values())))


def _keeps_examples(have: Sequence[int], want: Sequence[int], reads: Any, p: int | None, q: int | None) -> bool:
    """Whether a view reads, for an example of the result, that example alone."""
    if q is None:
        return False
    if reads is None:  # the same elements in the same order
        return p is not None and math.prod(have[:p]) == math.prod(want[:q])
    others = [i for k, i in enumerate(reads) if k != p]
    if any([i.axis == q for i in others]):
        return False
    return p is None or reads[p] == Index(q, 1, 0)
