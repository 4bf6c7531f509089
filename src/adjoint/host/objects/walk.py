"""Along the edges of objects: everything that can be reached, who holds it, and whether something is behind it.

Which edges are followed says `held`, a function that gives what an object holds: of `Edges`, or with cases before it.
No walk is recursive, so that chains of objects may be of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Held = Callable[[Any], Iterable[Any]]


def walk(roots: Iterable[Any], held: Held) -> Iterator[Any]:
    """Everything that can be reached, each object once: the last of those that one holds comes next."""
    seen: dict[int, Any] = {}  # with the objects, so that no number is given to another one meanwhile
    stack = list(roots)
    while stack:
        x = stack.pop()
        if id(x) not in seen:
            seen[id(x)] = x
            stack += held(x)
            yield x


def is_behind(roots: Iterable[Any], held: Held, is_wanted: Callable[[Any], bool], *, most: int) -> bool:
    """Whether something wanted can be reached, as far as that is seen among the first `most` objects."""
    for count, x in enumerate(walk(roots, held)):
        if count >= most:
            break
        if is_wanted(x):
            return True
    return False


class Reached:
    """Everything that can be reached from some objects, and who holds it."""

    def __init__(self, roots: Iterable[Any], held: Held) -> None:
        self.objects: dict[int, Any] = {}
        """By their numbers, so that none of them is given to another object meanwhile."""
        self._holders: dict[int, list[int]] = {}
        objects, holders, stack = self.objects, self._holders, list(roots)
        while stack:
            x = stack.pop()
            number = id(x)
            if number not in objects:
                objects[number] = x
                for part in held(x):
                    holders.setdefault(id(part), []).append(number)
                    stack.append(part)

    def above(self, numbers: Iterable[int]) -> dict[int, None]:
        """The numbers of the objects from which these are reached, nearest first."""
        marked: dict[int, None] = {}
        rising = list(numbers)
        while rising:
            for number in self._holders.get(rising.pop(), ()):
                if number not in marked:
                    marked[number] = None
                    rising.append(number)
        return marked
