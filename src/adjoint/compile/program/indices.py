"""Indices of elements inside a loop nest: affine in one loop variable, so ranges are known before the code runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.entry.moves import ZERO as ZERO
from ...core.entry.moves import Index as Index
from ...core.entry.moves import Indices, Region
from ...core.entry.moves import constant as constant
from ...core.entry.moves import identity as identity
from ..assembly.values import Value


class Loaded(NamedTuple):
    """An index that is itself an element of an array: known only to the running code."""

    value: Value


Place = tuple[Any, ...]
"""One index for each axis of an array."""


def broadcast(place: Place, shape: Sequence[int]) -> Place:
    """Where an operand of this shape is read for an element of the result."""
    if not shape:
        return ()
    tail = place[len(place) - len(shape) :]
    return tuple([ZERO if n == 1 else i for n, i in zip(shape, tail, strict=True)])


def through(indices: Indices, place: Place) -> Place:
    """The place of an element of one array from its place in another."""
    return tuple([constant(i.shift) if i.axis is None else place[i.axis].moved(i.scale, i.shift) for i in indices])


def unpadded(region: Region, place: Place, inner: Sequence[int]) -> tuple[list[tuple[int, int, Index]], Place]:
    """For a place in a pad: the part's start and end along each axis and the index there, and the place in the part."""
    bounds: list[tuple[int, int, Index]] = []
    moved: list[Index] = [ZERO] * len(region.shape)
    for part, i in zip(region.places, place, strict=True):
        assert isinstance(i, Index)
        bounds.append((part.shift, part.shift + (1 if part.axis is None else region.shape[part.axis]), i))
        if part.axis is not None:
            moved[part.axis] = i.moved(1, -part.shift)
    return bounds, broadcast(tuple(moved), inner)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of an array without gaps."""
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))
