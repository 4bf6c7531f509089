"""Numbers and arrays that a function keeps in its surroundings, and replaces: `self.calls += 1`, `nonlocal n`.

Such a place is an input of the program, and what the function leaves there an output, which is put there after every
run. While the function is recorded it works on copies of its objects; a class has none, so that the handle stands in
its attribute meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.traced import Traced, snapshot
from ...core.traced import kind_of as seen_as
from ...ir.effects import Performance, perform
from ..environment.captured_inputs import Variable, kind_of, undone
from ..environment.clone import Clones
from ..environment.watch import Watch


@contextlib.contextmanager
def in_classes(captured: Mapping[Variable, Any]) -> Iterator[None]:
    """While a function is recorded: handles among the attributes of classes."""
    held = [(v, v.read(), handle) for v, handle in captured.items() if isinstance(v.owner, type)]
    try:
        for v, _, handle in held:
            v.write(handle)
        yield
    finally:
        for v, was, _ in held:
            v.write(was)


class StateInLoopsError(Exception):
    """Something was left where state is kept, while loops and branches of Python's were looked for.

    Their sides are run to see what they do, on the same copies, so that nobody knows who has left it.
    """


def keep_state(captured: Mapping[Variable, Any], clones: Clones) -> bool:
    """Have what a function has left in places that are inputs put there after every run; whether there is any.

    The copies are as before then.
    """
    found: dict[int, tuple[Any, list[Variable]]] = {}
    for v, handle in captured.items():
        place = v if isinstance(v.owner, type) else clones.place_of(v)
        left = handle if place is None else place.read()
        if place is None or left is handle or not _can_be_kept(left):
            continue
        found.setdefault(id(left), (left, []))[1].append(v)
        place.write(handle)
    for left, places in found.values():
        perform(_Put(places, left), [snapshot(left)])
    return bool(found)


def keep_changes(watch: Watch) -> None:
    """Set back what a function has replaced before it raised, and replace it if that is what becomes of the call."""
    for v, now in undone(watch):
        if _can_be_kept(now):
            perform(_Put([v], now), [snapshot(now)])


def _can_be_kept(x: Any) -> bool:
    """Whether it is one number or array, so that a program can give it."""
    return isinstance(x, Traced) or (kind_of(x) is not None and not isinstance(x, tuple))


def keeps_state(effects: Performance) -> bool:
    """Whether something is put into the surroundings after every run."""
    return any([type(call) is _Put for call, _ in effects.calls])


class Puts(threading.local):
    """What has been put into surroundings in this thread, while somebody wants to know."""

    log: list[tuple[Variable, Any]] | None = None
    """Places, and what was there before."""


PUTS = Puts()


@contextlib.contextmanager
def noting_puts() -> Iterator[list[tuple[Variable, Any]]]:
    """Know what is put into surroundings meanwhile."""
    before, PUTS.log = PUTS.log, []
    try:
        yield PUTS.log
    finally:
        PUTS.log = before


def take_back(puts: Sequence[tuple[Variable, Any]]) -> None:
    """Have everything as it was before."""
    for place, was in reversed(puts):
        place.write(was)


class _Put:
    """Puts what a program gives where the function would have left it: one array, where several places hold it."""

    def __init__(self, places: Sequence[Variable], like: Any) -> None:
        self._places = places
        self._kind = seen_as(like) if isinstance(like, Traced) else type(like)

    def __call__(self, values: Sequence[Any]) -> None:
        value = values[0]
        if self._kind is np.ndarray:
            value = np.array(value)  # the program may write over its own
        elif type(value) is not self._kind:
            value = self._kind(value)
        if PUTS.log is not None:
            PUTS.log += [(place, place.read()) for place in self._places]
        for place in self._places:
            place.write(value)
