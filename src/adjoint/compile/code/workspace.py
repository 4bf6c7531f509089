"""One piece of memory for all values of a kernel, laid out so that it is used again."""

from __future__ import annotations

import heapq

ALIGNMENT = 64


def laid_out(lives: dict[int, list[int]], sizes: dict[int, int]) -> tuple[dict[int, int], int]:
    """Offsets into one piece of memory, in which values that never live at the same time may share a place."""
    offsets: dict[int, int] = {}
    space = 0
    free: list[tuple[int, int]] = []
    """Gaps below `space`: offset and size."""
    ends: list[tuple[int, int, int]] = []
    """Values alive: when they end, where they are, how large."""
    for v in sorted(lives, key=lambda v: (lives[v][0], -sizes[v], v)):
        first, last = lives[v]
        while ends and ends[0][0] < first:
            _, offset, size = heapq.heappop(ends)
            free = _with_gap(free, offset, size)
        size = -(-max(sizes[v], 1) // ALIGNMENT) * ALIGNMENT
        fitting = min([gap for gap in free if gap[1] >= size], key=lambda gap: gap[1], default=None)
        if fitting is None:
            offset, space = space, space + size
        else:
            offset = fitting[0]
            free.remove(fitting)
            if fitting[1] > size:
                free.append((offset + size, fitting[1] - size))
        offsets[v] = offset
        heapq.heappush(ends, (last, offset, size))
    return offsets, space


def _with_gap(free: list[tuple[int, int]], offset: int, size: int) -> list[tuple[int, int]]:
    """One more gap, made one with its neighbours."""
    rest = []
    for start, length in free:
        if start + length == offset:
            offset, size = start, size + length
        elif start == offset + size:
            size += length
        else:
            rest.append((start, length))
    return [*rest, (offset, size)]
