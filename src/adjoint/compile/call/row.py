"""One row of the table: a place in memory, and what has to be there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...capture.environment.object_state import ANY, alike, same
from ...host.objects.parts import MISSING, items_of
from ...ir.bits import Copy
from .objects import AXES, DATA, DTYPE, LIST_ITEMS, SHAPE, STRIDES, VALUE, comparing, peek

WORD, ITEM, BYTES, ITEMS = range(4)
"""A masked word; an item of a dict, or none; bytes; all items of a dict in their order."""
ALL = 2**64 - 1
MOST_ITEMS = 4096
"""Items of a container that are rows."""


SET = (16, 24, 32, 40)
"""Where a set has its slots in use and free again, its size, the number of the last slot, and the slots."""


class Row(NamedTuple):
    """One line of the table: what is asked, where, and two more numbers."""

    what: int
    where: int
    other: int
    expected: int
    keeps: Any = None
    """What has to stay alive for it."""


Rows = list[Row]


def word(where: int, expected: int, mask: int = ALL) -> Row:
    """A word that has to be this."""
    return Row(WORD, where, mask, expected)


def reference(where: int, now: object, was: object) -> Row:
    """A word that refers to an object: to what is there now, if that cannot be told from what was."""
    held = now if same(now, was) else was
    return Row(WORD, where, ALL, address_of(held), held)


def address_of(x: object) -> int:
    """The word that stands for an object where references are kept; nothing for a missing one."""
    return 0 if x is MISSING else id(x)


def of_list(x: list[Any], was: tuple[Any, ...]) -> Rows | None:
    """The items of a list: how many, and where they are, before where they are is looked at."""
    items = peek(id(x) + LIST_ITEMS)
    if len(x) != len(was):
        return None
    rows = [word(id(x) + VALUE, len(was)), word(id(x) + LIST_ITEMS, items)] if was else [word(id(x) + VALUE, 0)]
    pairs = enumerate(zip(x, was, strict=True))
    return rows + [reference(items + 8 * k, now, item) for k, (now, item) in pairs if item is not ANY]


def of_dict(x: dict[Any, Any], was: tuple[Any, ...]) -> Rows | None:
    """All items of a dict, in their order."""
    half = len(was) // 2
    if any([part is ANY for part in was]):
        return None
    now = items_of(x)
    was = now if alike(now, was) else was
    pairs = [part for pair in zip(was[:half], was[half:], strict=True) for part in pair]
    block = np.array([id(part) for part in pairs], np.uint64)
    return [Row(ITEMS, id(x), block.ctypes.data, half, (block, was))]


def of_set(x: Any, was: tuple[Any, ...]) -> Rows | None:
    """The slots of a set, which are where its table says."""
    fill, used, mask, table = (peek(id(x) + at) for at in SET)
    if used != len(was) or mask > MOST_ITEMS or not alike(items_of(x), was):
        return None
    rows = [word(id(x) + at, now) for at, now in zip(SET, (fill, used, mask, table), strict=True)]
    slots = [word(table + 16 * k, peek(table + 16 * k)) for k in range(mask + 1)]
    return rows + slots if {id(item) for item in was} <= {slot.expected for slot in slots} else None


def of_array(x: np.ndarray, copy: Copy, name: str) -> Rows | None:
    """What an array holds: where it is, how it lies there, and its bytes."""
    then = copy.array
    if not x.flags.c_contiguous or x.dtype.char in "gG" or not comparing() or not x.nbytes:
        return None
    if x.dtype.hasobject and x.dtype != object:
        return None
    if x.shape != then.shape or x.dtype != then.dtype:
        return None
    place, axes = id(x), 8 * x.ndim
    rows = [word(place + at, peek(place + at)) for at in (DATA, SHAPE, STRIDES, DTYPE)]
    rows.append(word(place + AXES, x.ndim, 2**32 - 1))
    if axes:
        form = np.array([*x.shape, *x.strides], np.int64)
        rows.append(Row(BYTES, peek(place + SHAPE), form.ctypes.data, axes, form))
        rows.append(Row(BYTES, peek(place + STRIDES), form.ctypes.data + axes, axes, form))
    return [*rows, Row(BYTES, x.ctypes.data, then.ctypes.data, x.nbytes, then)]
