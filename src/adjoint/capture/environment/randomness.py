"""Random numbers that a function draws without an argument saying so: a recording would repeat them for ever."""

from __future__ import annotations

import functools
import random
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, TypeVar

import numpy as np
import numpy.random.bit_generator as bit_generator

from ...core.errors import AdjointError
from ...host.forking import Lock, held_at_fork, in_child
from ...host.frames.in_progress import UNKNOWN, argument_at, called_at
from ...ir.capture import ForeignValueError

SEED_PATCH = {
    "what": "the function that gives unseeded random generators their seed (`numpy.random.bit_generator.randbits`)",
    "when": "while `jit` records",
    "why": "hidden random numbers would be repeated for ever, so they are refused",
    "undone": "when no thread records any more",
}
STATES_PATCH = {
    "what": "the states of random generators, hidden and captured ones: set back to what they were",
    "when": "while `jit` records",
    "why": "a recording that is refused, or made again, has drawn nothing",
    "undone": "not at all: they are as if nothing had been drawn",
}
_local = threading.local()
_lock = Lock()
held_at_fork(_lock)
_unseeded = bit_generator.randbits  # type: ignore[attr-defined]


def _watched(bits: int) -> int:
    """What an unseeded generator asks for its seed; noted while a function is recorded in this thread."""
    under_way = getattr(_local, "under_way", ())
    if under_way and not _seeds_it_next(sys._getframe(1)):
        for chance in under_way:
            chance.unseeded = True
    return int(_unseeded(bits))


def _seeds_it_next(frame: FrameType) -> bool:
    """Whether the generator is made by `RandomState(seed)`, which sets the seed when it has made it without one."""
    if called_at(frame) is not np.random.RandomState:
        return False
    seed = argument_at(frame)
    return seed is not UNKNOWN and seed is not None


class RandomnessWatch:
    """Whether hidden random numbers are drawn while a function is recorded.

    Nothing but the function that gives unseeded generators their seed tells of them; it is replaced as long as a
    thread records, and does for all others what it always did.
    """

    _recordings = 0

    def __init__(self) -> None:
        self.unseeded = False
        self._then = _states()

    def __enter__(self) -> RandomnessWatch:
        with _lock:
            RandomnessWatch._recordings += 1
            bit_generator.randbits = _watched  # type: ignore[attr-defined]
        _local.under_way = (*getattr(_local, "under_way", ()), self)
        return self

    def __exit__(self, *error: object) -> None:
        _local.under_way = _local.under_way[:-1]
        with _lock:
            RandomnessWatch._recordings -= 1
            if not RandomnessWatch._recordings:
                bit_generator.randbits = _unseeded  # type: ignore[attr-defined]

    def drawn(self) -> str:
        """What was drawn from, in words; empty if nothing was."""
        if self.unseeded:
            return "a generator without a seed"
        now = _states()
        if not np.array_equal(self._then[0], now[0]) or self._then[1] != now[1]:
            return "NumPy's hidden random generator"
        return "" if self._then[2] == now[2] else "Python's hidden random generator"


def _after_fork() -> None:
    """Forget, in the child, threads of the parent that were recording."""
    RandomnessWatch._recordings = len(getattr(_local, "under_way", ()))


in_child(_after_fork)


def _states() -> tuple[Any, ...]:
    state = np.random.get_state(legacy=False)
    place = (state["state"]["pos"], state.get("has_gauss"), state.get("gauss"))
    return state["state"]["key"].copy(), place, random.getstate()


F = TypeVar("F", bound=Callable[..., Any])


def not_drawn_if_refused(record: F) -> F:
    """Decorate what records: where it refuses, random generators are as before, and attempts do not add up."""

    @functools.wraps(record)
    def recorded(*args: object, **kwargs: object) -> Any:
        before = getattr(_local, "seal", None)
        _local.seal = seal = Seal()
        try:
            return record(*args, **kwargs)
        except (AdjointError, ForeignValueError):
            seal.put_back()
            raise
        finally:
            _local.seal = before

    return recorded  # type: ignore[return-value]


def put_back() -> None:
    """Before a function is recorded once more: generators are as before the first attempt."""
    _local.seal.put_back()


class Seal:
    """Random generators, and their states when they were first seen: the hidden ones, and those that are captured."""

    def __init__(self) -> None:
        self._saved: dict[int, tuple[Any, Any]] = {}
        self.add([np.random.mtrand._rand, random])  # type: ignore[attr-defined]

    def add(self, generators: Iterable[object]) -> None:
        """Remember these too."""
        for x in generators:
            if id(x) not in self._saved:
                self._saved[id(x)] = x, _state(x)

    def put_back(self) -> None:
        """Let all be as they were."""
        for x, state in self._saved.values():
            if isinstance(x, np.random.RandomState):
                x.set_state(state)
            elif isinstance(x, random.Random) or x is random:
                x.setstate(state)
            else:
                getattr(x, "bit_generator", x).state = state


def seal(generators: Iterable[object]) -> None:
    """Remember the states of these generators, for the recording under way."""
    _local.seal.add(generators)


def _state(x: Any) -> Any:
    if isinstance(x, np.random.RandomState):
        return x.get_state(legacy=False)
    return x.getstate() if isinstance(x, random.Random) or x is random else getattr(x, "bit_generator", x).state


class SettingAside:
    """A step that draws for purposes of its own, as an estimate of a norm does, leaves NumPy's generator as it was."""

    def __enter__(self) -> None:
        self.state = np.random.get_state(legacy=False) if getattr(_local, "under_way", ()) else None

    def __exit__(self, *error: object) -> None:
        if self.state is not None:
            np.random.set_state(self.state)


class Unwatched(SettingAside):
    """Code that is not the function's, as that of a module it imports, may make generators without a seed, too."""

    def __enter__(self) -> None:
        super().__enter__()
        self.under_way = getattr(_local, "under_way", ())
        _local.under_way = ()

    def __exit__(self, *error: object) -> None:
        _local.under_way = self.under_way
        super().__exit__(*error)
