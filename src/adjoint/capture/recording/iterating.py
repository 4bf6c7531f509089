"""The items of a `for` over a range, while it is recorded: how far it has come is known, and may be a handle."""

from __future__ import annotations

from typing import Any


class RangeItems:
    """What a `for` takes from `range(start, stop, step)`."""

    def __init__(self, items: range) -> None:
        self.following: Any = items.start
        """The next item, if it is one; an integer or the handle of one."""
        self.limits = (items.stop, items.step)
        self.rounds = len(items)

    def __iter__(self) -> RangeItems:
        return self

    def __next__(self) -> Any:
        stop, step = self.limits
        item = self.following
        if not (item < stop if step > 0 else item > stop):
            raise StopIteration
        self.following = item + step
        return item
