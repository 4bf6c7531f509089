"""Rows of small blocks that are done alike, so that the code for one of them is enough: an axis that no step mixes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...core.entry.moves import Index, Pieces
from ...ir.fold import made_by
from ...ir.program import Step
from ..program.classify import Sort
from ..program.moving import labels_of, monoid_of, pieces_of, reads_of
from .nodes import AlikeRows

if TYPE_CHECKING:
    from .group import LaneGroup


AGAIN = (np.logical_and, np.logical_or, np.maximum, np.minimum)
"""What gives the same if a number is taken twice."""


class MixedError(Exception):
    """A step reads several rows for one."""


def candidates(group: LaneGroup, v: int) -> Iterator[AlikeRows]:
    """For each axis of a value that may be rows, all values that have them."""
    shape = group.types[v].shape
    for axis, n in enumerate(shape):
        if n < 2 or axis == group.axes.get(v):
            continue
        try:
            yield AlikeRows(n, RowTrace(group, n).from_(v, axis))
        except MixedError:
            continue


class RowTrace:
    """Where rows are, from what is stored back to what is read."""

    def __init__(self, group: LaneGroup, count: int) -> None:
        self.group = group
        self.count = count
        self.types = group.types
        self.axes: dict[int, int] = {}
        self._none: set[int] = set()
        """Values that have been found without rows."""

    def from_(self, v: int, axis: int) -> dict[int, int]:
        """The axes of all values, given that of one; MixedError if there are none."""
        self._say(v, axis)
        self._back()
        for step in self.group.steps:
            self._forward(step)
        for step in self.group.steps:
            self._total(step)
        self._back()
        if any([o not in self.axes and self._is_stored(o) for o in made_by(self.group.steps)]):
            raise MixedError  # it would be written once for each row
        return self.axes

    def _is_stored(self, v: int) -> bool:
        inside = {id(s) for s in self.group.steps}
        readers = [s for s in self.group.program.steps if v in s.args and id(s) not in inside]
        is_total = v not in self.group.axes
        return not is_total and (bool(readers) or v in self.group.program.outputs)

    def _say(self, v: int, axis: int | None) -> None:
        if axis is None:
            if v in self.axes:
                raise MixedError
            self._none.add(v)
            return
        if self.axes.setdefault(v, axis) != axis or v in self._none or self.types[v].shape[axis] != self.count:
            raise MixedError

    def _back(self) -> None:
        for step in reversed(self.group.steps):
            r = self.axes.get(step.outs[0])
            if r is not None:
                for a, axis in self._behind(step, r):
                    self._say(a, axis)

    def _behind(self, step: Step, r: int) -> list[tuple[int, int | None]]:
        """The operands of a step whose result has rows, each with its axis of rows."""
        types, (out,), sort = self.types, step.outs, self.group.sorts[id(step)]
        if sort is Sort.ELEMENTWISE:
            end = len(types[out].shape) - r
            return [(a, _aligned(types[a].shape, end)) for a in step.args]
        if sort is Sort.VIEW:
            return [(step.args[0], self._seen(step, r))]
        if sort is Sort.REDUCE:
            shape = types[step.args[0]].shape
            over = {k % len(shape) for k in step.params["axis"]}
            kept = (
                list(range(len(shape))) if step.params["keepdims"] else [k for k in range(len(shape)) if k not in over]
            )
            if kept[r] in over:
                raise MixedError
            return [(step.args[0], kept[r])]
        if isinstance(step.primitive.facts.moves, Pieces):
            return [self._piece(step, piece.operand, piece.source, piece.target[r]) for piece in pieces_of(types, step)]
        labels = labels_of(types, step)
        label = labels[2][r]
        places = [(a, own.index(label) if label in own else None) for a, own in zip(step.args, labels, strict=False)]
        return [(a, None if k is None or types[a].shape[k] == 1 else k) for a, k in places]

    def _seen(self, step: Step, r: int) -> int | None:
        (a,), (out,) = step.args, step.outs
        have, want = self.types[a].shape, self.types[out].shape
        reads = reads_of(self.types, step)
        if reads is None:
            fitting = [k for k, n in enumerate(have) if n == want[r] and math.prod(have[:k]) == math.prod(want[:r])]
            if not fitting:
                raise MixedError
            return fitting[0]
        return _only([k for k, i in enumerate(reads) if i.axis == r], reads, r)

    def _piece(self, step: Step, operand: int, source: tuple[Index, ...], target: Index) -> tuple[int, int | None]:
        if target.axis is None or target != Index(target.axis, 1, 0):
            raise MixedError
        found = _only([k for k, i in enumerate(source) if i.axis == target.axis], source, target.axis)
        if found is None:
            raise MixedError
        return step.args[operand], found

    def _forward(self, step: Step) -> None:
        """Elementwise results that only totals read have the rows of their operands."""
        out = step.outs[0]
        if self.group.sorts[id(step)] is not Sort.ELEMENTWISE or out in self.axes:
            return
        rank = len(self.types[out].shape)
        found = {rank - (len(self.types[a].shape) - self.axes[a]) for a in step.args if a in self.axes}
        for axis in found:
            self._say(out, axis)

    def _total(self, step: Step) -> None:
        """What is summed over all examples is summed over all rows; numbers without rows may be taken again."""
        (a,), out = step.args[:1], step.outs[0]
        if self.group.sorts[id(step)] is not Sort.REDUCE or out in self.group.axes:
            return
        shape = self.types[a].shape
        over = {k % len(shape) for k in step.params["axis"]}
        if a not in self.axes and a not in self._none:
            fitting = [k for k in over if shape[k] == self.count and k != self.group.axes[a]]
            if fitting:
                self._say(a, fitting[0])
        if self.axes.get(a, next(iter(over))) not in over:
            raise MixedError
        if a not in self.axes and monoid_of(step).combines not in AGAIN:
            raise MixedError


def _aligned(shape: tuple[int, ...], end: int) -> int | None:
    """The axis of an operand that is so far from the end, if it has one that is not broadcast."""
    axis = len(shape) - end
    return None if axis < 0 or shape[axis] == 1 else axis


def _only(places: list[int], reads: tuple[Index, ...], axis: int) -> int | None:
    if not places:
        return None
    if len(places) > 1 or reads[places[0]] != Index(axis, 1, 0):
        raise MixedError
    return places[0]
