"""Indices of elements inside a loop nest: affine in one loop variable, so ranges are known before the code runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Index(NamedTuple):
    """`scale * i[axis] + shift`; without an axis it is the number `shift`."""

    axis: int | None
    scale: int
    shift: int

    def moved(self, scale: int, shift: int) -> Index:
        """`scale * self + shift`."""
        if self.axis is None:
            return Index(None, 0, scale * self.shift + shift)
        return Index(self.axis, scale * self.scale, scale * self.shift + shift)


class Loaded(NamedTuple):
    """An index that is itself an element of an array: known only to the running code."""

    name: str


Place = tuple[Any, ...]
"""One index for each axis of an array."""

ZERO = Index(None, 0, 0)


def constant(n: int) -> Index:
    """A fixed index."""
    return Index(None, 0, n)


def identity(rank: int) -> Place:
    """The loop variables themselves."""
    return tuple([Index(axis, 1, 0) for axis in range(rank)])


def broadcast(place: Place, shape: Sequence[int]) -> Place:
    """Where an operand of this shape is read for an element of the result."""
    if not shape:
        return ()
    tail = place[len(place) - len(shape) :]
    return tuple([ZERO if n == 1 else i for n, i in zip(shape, tail, strict=True)])


class Cut(NamedTuple):
    """One axis of an array under a key: `start + step * i` for `length` elements, one for a number."""

    start: int
    step: int
    length: int


def cuts(template: tuple[Any, ...], shape: Sequence[int]) -> tuple[list[Cut], list[int | None]] | None:
    """A key of slices, numbers, None and Ellipsis: a cut for each axis, and for each axis of the result its source.

    None if the key has anything else in it.
    """
    used = sum([1 for entry in template if entry is not None and entry is not Ellipsis])
    found: list[Cut] = []
    result: list[int | None] = []
    for entry in (*template, *([Ellipsis] if Ellipsis not in _singletons(template) else [])):
        if entry is None:
            result.append(None)
        elif entry is Ellipsis:
            for _ in range(len(shape) - used):
                result.append(len(found))
                found.append(Cut(0, 1, shape[len(found)]))
        elif isinstance(entry, slice):
            start, stop, step = entry.indices(shape[len(found)])
            result.append(len(found))
            found.append(Cut(start, step, len(range(start, stop, step))))
        elif type(entry).__name__ in ("int", "int64", "intp", "int32"):
            n = shape[len(found)]
            k = int(entry)
            if not -n <= k < n:
                return None
            found.append(Cut(k % n, 1, 1))
        else:
            return None
    return found, result


def unpadded(
    template: tuple[Any, ...], shape: Sequence[int], place: Place, inner: Sequence[int]
) -> tuple[list[tuple[Cut, Index]], Place]:
    """For a place in a pad: the cut and the index of each axis, and the place in what is padded, if it is inside."""
    found = cuts(template, shape)
    assert found is not None
    pairs: list[tuple[Cut, Index]] = []
    for cut, i in zip(found[0], place, strict=True):
        assert isinstance(i, Index)
        pairs.append((cut, i))
    moved = [i.moved(1, -cut.start) for cut, i in pairs]
    return pairs, broadcast(tuple([ZERO if a is None else moved[a] for a in found[1]]), inner)


def _singletons(template: tuple[Any, ...]) -> list[Any]:
    return [entry for entry in template if entry is Ellipsis]


def squeezed(have: Sequence[int], want: Sequence[int]) -> list[int | None] | None:
    """For a reshape that only adds and drops axes of length one: for each old axis the new one, or None."""
    if [n for n in have if n != 1] != [n for n in want if n != 1]:
        return None
    rest = iter([k for k, n in enumerate(want) if n != 1])
    return [None if n == 1 else next(rest) for n in have]


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of an array without gaps."""
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))
