"""Calls that are made for their effect, such as printing: a recording makes them again after every run.

They are made when the program is done and its guards have held, in the order in which they were recorded, so that a run
which is given up for another path has no effect.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ..core.errors import InputError, message
from ..core.traced import Traced
from .assumptions import Assumed
from .bits import frozen
from .builder import Builder
from .capture import CaptureTrace, GuardRefusedError
from .restore import values_in

F = TypeVar("F", bound=Callable[..., Any])


class Effect(NamedTuple):
    """One call: what is called, the numbers of its arguments in the program, and their values while recording."""

    call: Callable[[Sequence[Any]], None]
    numbers: list[int]
    values: list[Any]


class _Local(threading.local):
    captures: tuple[tuple[CaptureTrace, list[Effect], Callable[[Any], Any]], ...] = ()
    silent = False
    latest: Sequence[Effect] = ()


_local = _Local()


@contextlib.contextmanager
def noted(capture: CaptureTrace, restore: Callable[[Any], Any] = lambda x: x) -> Iterator[list[Effect]]:
    """While a program is captured in this thread: the list of the effects that it is to have.

    `restore` finds what the user wrote instead of a copy that is recorded.
    """
    before = _local.captures
    effects: list[Effect] = []
    _local.latest = effects
    _local.captures = (*before, (capture, effects, restore))
    try:
        yield effects
    finally:
        _local.captures = before


def is_made_up() -> bool:
    """Whether values have been made up for the program that is being captured in this thread, or one around it."""
    return any([c.assumptions.has(Assumed.INPUTS, Assumed.LIKELY, Assumed.EXAMPLE) for c, *_ in _local.captures])


def also_in_failure(record: F) -> F:
    """Decorate what records: the effects of a call that raises are had up to there, as without a recording."""

    @functools.wraps(record)
    def recorded(*args: object, **kwargs: object) -> Any:
        try:
            return record(*args, **kwargs)
        except Exception:
            for effect in _local.latest:
                effect.call(effect.values)
            raise
        finally:
            _local.latest = ()

    return recorded  # type: ignore[return-value]


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """While a function is evaluated once more, for its derivative: what it had to say has been said."""
    before, _local.silent = _local.silent, True
    try:
        yield
    finally:
        _local.silent = before


def users_own(function: object) -> Any:
    """What is to be called, as the user wrote it; refused if it keeps a value of the program that is being captured."""
    for capture, _, restore in reversed(_local.captures):
        if not capture.guards_allowed:
            break  # the body of a loop, which is then run step by step
        function = restore(function)
    else:
        _refuse_values(function)
    return function


def _refuse_values(function: object) -> None:
    if _local.captures and not _local.silent and any([_is_captured(x) for x in values_in(function)]):
        raise InputError(
            message(
                "A function that is called for its effect uses a value of the jitted function around it.",
                got=getattr(function, "__qualname__", type(function).__name__),
                fix="Pass the value as an argument:  ad.debug.callback(lambda v: ..., value).",
            )
        )


def _is_captured(x: object) -> bool:
    while isinstance(x, Traced) and not x.traced_by.is_capture:
        x = x.value
    return isinstance(x, Traced)


def perform(call: Callable[[Sequence[Any]], None], leaves: Sequence[object]) -> None:
    """Call now, or after every run of the program that is being captured."""
    if _local.silent:
        return
    if not _local.captures:
        call(leaves)
        return
    capture, effects, _ = _local.captures[-1]
    if not capture.guards_allowed:  # the body of a loop, which is then run step by step
        raise GuardRefusedError
    found = [(n, capture.computed(n, v)) for n, v in map(capture.number_of, leaves)]
    effects.append(Effect(call, [n for n, _ in found], [frozen(v) for _, v in found]))


def capture_under_way() -> CaptureTrace | None:
    """The innermost program that is being captured in this thread."""
    return _local.captures[-1][0] if _local.captures else None


def effects_so_far() -> int:
    """How many effects have been noted in the programs that are being captured in this thread."""
    return sum([len(effects) for _, effects, _ in _local.captures])


class Performance:
    """The effects of a recording, with the places of their arguments among the program's outputs."""

    __slots__ = ("calls",)

    def __init__(self, program: Builder, effects: Sequence[Effect]) -> None:
        self.calls: list[tuple[Callable[[Sequence[Any]], None], range]] = []
        for effect in effects:
            self.calls.append((effect.call, program.give(effect.numbers)))

    def __bool__(self) -> bool:
        return bool(self.calls)

    def __call__(self, found: Sequence[object]) -> None:
        """Make the calls, given the program's outputs."""
        for call, places in self.calls:
            call([found[k] for k in places])
