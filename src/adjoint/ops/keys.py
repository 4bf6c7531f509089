"""Keys of arrays as facts: which part of an array they name, and where arrays of places in them point to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.entry.moves import Addresses, Index, Indices, Region, Shape, constant


class _Hole:
    """The place of an index array in a template."""

    def __repr__(self) -> str:
        return "<array>"


HOLE: Any = _Hole()


def filled(template: tuple[Any, ...], arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The key: the template with the arrays put back."""
    if not arrays:
        return template
    rest = iter(arrays)
    return tuple([next(rest) if entry is HOLE else entry for entry in template])


def region_of(whole: Shape, *, template: tuple[Any, ...], shape: Shape = ()) -> Region | None:
    """The part of an array that a key of slices, numbers, None and Ellipsis names; None for any other key."""
    used = sum([1 for entry in template if entry is not None and entry is not Ellipsis])
    rest = () if any([entry is Ellipsis for entry in template]) else (Ellipsis,)
    part: list[int] = []
    places: list[Index] = []
    for entry in (*template, *rest):
        if entry is None:
            part.append(1)
        elif entry is Ellipsis:
            for n in whole[len(places) : len(places) + len(whole) - used]:
                places.append(Index(len(part), 1, 0))
                part.append(n)
        elif isinstance(entry, slice):
            start, stop, step = entry.indices(whole[len(places)])
            places.append(Index(len(part), step, start))
            part.append(len(range(start, stop, step)))
        elif isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
            n = whole[len(places)]
            if not -n <= entry < n:
                return None
            places.append(constant(int(entry) % n))
        else:
            return None
    return Region(tuple(part), tuple(places))


def seen(have: Shape, want: Shape, *, template: tuple[Any, ...]) -> Indices | None:
    """Where a key reads its array; None for a key that is no view."""
    found = region_of(have, template=template)
    return None if found is None else found.places


def addresses_of(
    whole: Shape, arrays: Sequence[Shape], *, template: tuple[Any, ...], shape: Shape = ()
) -> Addresses | None:
    """For a key of full slices and neighbouring arrays; None for any other."""
    for at in [k for k, entry in enumerate(template) if entry is Ellipsis]:  # one at most
        template = (*template[:at], *[slice(None)] * (len(whole) - len(template) + 1), *template[at + 1 :])
    holes = [k for k, entry in enumerate(template) if entry is HOLE]
    if not holes or len(holes) != len(arrays) or holes[-1] - holes[0] + 1 != len(holes):
        return None
    if not all([isinstance(entry, slice) and entry == slice(None) for entry in template if entry is not HOLE]):
        return None
    first, places = holes[0], np.broadcast_shapes(*arrays)
    end, rank = first + len(arrays), len(places)
    before = [Index(k, 1, 0) for k in range(first)]
    after = [Index(k - len(arrays) + rank, 1, 0) for k in range(end, len(whole))]
    return Addresses(
        (*before, *range(len(arrays)), *after),
        tuple(range(first, first + rank)),
        (*whole[:first], *places, *whole[end:]),
    )


def along_axis(whole: Shape, arrays: Sequence[Shape], *, axis: int, length: int = 0) -> Addresses:
    """One place in each line along an axis."""
    axis %= len(whole)
    every = tuple(range(len(whole)))
    part = (*whole[:axis], arrays[0][axis], *whole[axis + 1 :])
    return Addresses(tuple([0 if k == axis else Index(k, 1, 0) for k in every]), every, part)
