"""Values one after the other as one array: slices of arrays that they were read from, as far as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ir.program import Step, Type
from ..ops.indexing import assign, index
from ..ops.shape import concatenate, reshape, stack, transpose

if TYPE_CHECKING:
    from .write import Writer

SMALL = 256
"""Bytes of a value up to which any number of them may be copied."""
FEW = 4
"""Larger values that may be copied."""
Key = tuple[Any, ...]


class RowPiece(NamedTuple):
    """Some of the values: read from an array with a slice in the key, or one by one."""

    values: list[int]
    array: int = -1
    key: Key = ()
    axis: int = 0
    """Where in the result of reading with the key the values follow each other."""


class Stacks:
    """Makes stacks for a program in the making, each of them once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._known: dict[tuple[int, ...], int] = {}

    def pieces(self, values: Sequence[int]) -> list[RowPiece] | None:
        """What a stack of these values consists of; None if too much would have to be copied."""
        t = self._writer.old.types[values[0]]
        found = list(self._split(values))
        copied = sum(len(p.values) for p in found if p.array < 0)
        return None if copied > FEW and t.size * t.dtype.itemsize > SMALL else found

    def _split(self, values: Sequence[int]) -> list[RowPiece]:
        sources = [self._source(n) for n in values]
        found: list[RowPiece] = []
        at = 0
        while at < len(values):
            length, place = _stretch(sources, at)
            if length > 1:
                array, key = sources[at]  # type: ignore[misc]
                step = sources[at + 1][1][place] - key[place]  # type: ignore[index]
                stop = key[place] + step * length
                cut = slice(key[place], None if stop < 0 else stop, step)
                axis = axis_of(key, place, len(self._writer.new.types[array].shape))
                found.append(
                    RowPiece(list(values[at : at + length]), array, (*key[:place], cut, *key[place + 1 :]), axis)
                )
            elif found and found[-1].array < 0:
                found[-1].values.append(values[at])
            else:
                found.append(RowPiece([values[at]]))
            at += length
        return found

    def _source(self, n: int) -> tuple[int, Key] | None:
        """The array that a value is read from and the key, with places counted from the beginning."""
        found = self._writer.source(n)
        if found is None:
            return None
        array, key = found
        shape = self._writer.new.types[array].shape
        used = sum(1 for entry in key if entry is not None and entry is not Ellipsis)
        whole, axis = [], 0
        for entry in key:
            if type(entry) is int and entry < 0:
                entry += shape[axis]
            whole.append(entry)
            axis += len(shape) - used if entry is Ellipsis else entry is not None
        return array, tuple(whole)

    def made(self, values: tuple[int, ...], pieces: list[RowPiece]) -> int:
        """The number of the stack of these values."""
        if values not in self._known:
            self._known[values] = self._written(values, pieces)
        return self._known[values]

    def _written(self, values: Sequence[int], pieces: list[RowPiece]) -> int:
        writer = self._writer
        t = writer.old.types[values[0]]._replace(weak=False)
        constants = [writer.new.constants.get(n) for n in values]
        if all(is_number(c) for c in constants):
            return int(writer.constant(np.array(constants, t.dtype), _rows(t, len(values))))
        axis = -1 - len(t.shape)
        parts = []
        for piece in pieces:
            type_ = _rows(t, len(piece.values))
            if piece.array < 0:
                parts.append(writer.add(stack, [writer.value(n) for n in piece.values], type_, axis=axis))
                continue
            order = list(range(1, len(type_.shape)))
            order.insert(piece.axis, 0)
            read = type_._replace(shape=tuple([type_.shape[a] for a in order]))
            number = writer.add(index, (piece.array,), read, template=piece.key)
            if piece.axis:
                axes = (piece.axis, *[a for a in range(len(order)) if a != piece.axis])
                number = writer.add(transpose, (number,), type_, axes=axes)
            parts.append(number)
        return parts[0] if len(parts) == 1 else writer.add(concatenate, parts, _rows(t, len(values)), axis=axis)

    def joined(self, step: Step) -> int | None:
        """The result of a long `stack` or `concatenate` whose operands are rows of something, in few steps."""
        writer = self._writer
        t, out = writer.old.types[step.args[0]], writer.old.types[step.outs[0]]
        if any(writer.old.types[a] != t for a in step.args) or out.dtype != t.dtype:
            return None
        rank, axis = len(t.shape), step.params["axis"] % len(out.shape)
        if step.primitive is concatenate and axis:
            return None
        pieces = self._split(step.args)
        if len(pieces) > len(step.args) // 4 or all(p.array < 0 for p in pieces):
            return None
        whole = self.made(step.args, pieces)
        if step.primitive is concatenate:
            return int(writer.add(reshape, (whole,), out, shape=out.shape))
        if axis == 0 and len(pieces) > 1:
            return whole
        if axis:
            order = [*range(1, rank + 1)]
            order.insert(axis, 0)
            whole = writer.add(transpose, (whole,), out, axes=tuple(order))
        # an array of its own that lies row by row, as that of the step does: NumPy sums in the order of memory
        return int(
            writer.add(assign, (writer.constant(np.zeros(out.shape, out.dtype), out), whole), out, template=(...,))
        )


def _stretch(sources: list[tuple[int, Key] | None], at: int) -> tuple[int, int]:
    """How many values from here on are read from one array at places that follow each other, and where in the key."""
    if at + 1 >= len(sources):
        return 1, 0
    place = _difference(sources[at], sources[at + 1])
    if place is None:
        return 1, 0
    length = 2
    step = sources[at + 1][1][place] - sources[at][1][place]  # type: ignore[index]
    while at + length < len(sources):
        one, two = sources[at + length - 1], sources[at + length]
        if _difference(one, two) != place or two[1][place] - one[1][place] != step:  # type: ignore[index]
            break
        length += 1
    return length, place


def _difference(one: tuple[int, Key] | None, two: tuple[int, Key] | None) -> int | None:
    """The only place at which two keys into one array differ, both with a number there."""
    if one is None or two is None or one[0] != two[0] or len(one[1]) != len(two[1]):
        return None
    places = [k for k, (a, b) in enumerate(zip(one[1], two[1], strict=True)) if a != b]
    if len(places) != 1:
        return None
    a, b = one[1][places[0]], two[1][places[0]]
    return places[0] if type(a) is int and type(b) is int else None


def axis_of(key: Key, place: int, rank: int) -> int:
    """The axis of the result that a slice at this place of the key makes."""
    used = sum(1 for entry in key if entry is not None and entry is not Ellipsis)
    return sum(rank - used if e is Ellipsis else 0 if type(e) is int else 1 for e in key[:place])


def _rows(t: Type, count: int) -> Type:
    """The type of so many values of one type."""
    return Type(t.dtype, (count, *t.shape), False)


def is_number(value: Any) -> bool:
    """Whether a constant is a number, not an array."""
    return value is not None and not isinstance(value, np.ndarray)
