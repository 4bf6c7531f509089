"""Which carries to keep when there is room for few: the binomial schedule of Griewank and Walther ("revolve")."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any


def advances(length: int, slots: int) -> int:
    """The fewest steps forward that reversing a loop of n steps takes, with room for s carries.

    It is r n - C(s + r, s + 1) with the r for which C(s + r - 1, s) < n <= C(s + r, s). The first
    of the slots holds the carry that the loop starts with. The steps back themselves are not counted.

    >>> [advances(10, slots) for slots in (1, 2, 3, 10)]
    [45, 20, 15, 9]
    """
    if length <= 1:
        return 0
    r = _repetitions(length, slots)
    return r * length - comb(slots + r, slots + 1)


def _repetitions(length: int, slots: int) -> int:
    """How often a step is taken at most."""
    r = 1
    while comb(slots + r, slots) < length:
        r += 1
    return r


def next_stop(length: int, slots: int) -> int:
    """How far to go before the next carry is kept, with `length` steps to reverse and `slots` to keep carries in."""
    r = _repetitions(length, slots)
    least = comb(slots + r - 2, slots) if r >= 2 else 0
    return max(least, length - comb(slots - 1 + r, slots - 1), 1)


def sweep_back(
    carry: Any, length: int, slots: int, forth: Callable[[Any, int], Any], back: Callable[[Any, int], None]
) -> int:
    """Call `back(carry, k)` for k = length - 1, ..., 0 with the carry before step k; the most carries that were kept.

    `forth(carry, k)` is the carry after step k.
    """
    kept = [(0, carry)]
    most = 1
    for k in range(length - 1, -1, -1):
        place, carry = kept[-1]
        while len(kept) < slots and place < k:
            stop = place + next_stop(k + 1 - place, slots - len(kept) + 1)
            while place < stop:
                carry, place = forth(carry, place), place + 1
            kept.append((place, carry))
            most = max(most, len(kept))
        while place < k:
            carry, place = forth(carry, place), place + 1
        back(carry, k)
        if kept[-1][0] == k:
            kept.pop()
    return most
