"""Ctrl-C in the middle of a step: it waits until the step is done, as the state is being written over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPT_PATCH = {
    "what": "what Ctrl-C does (`signal.SIGINT`): it waits until the step is done",
    "when": "while a step of training is done",
    "why": "the state is being written over",
    "undone": "when the step is done",
}


class TornError(KeyboardInterrupt):
    """Ctrl-C was pressed again before the step was done: there is no state to go on with."""


@contextmanager
def waiting() -> Iterator[Callable[[], None]]:
    """A block in which Ctrl-C waits; gives the function that acts on it, to be called where the state is whole.

    Pressed once more before that, it ends the step at once, with a `TornError`.
    """
    handler: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield _nothing  # Python handles signals in its main thread alone
        return
    pressed: list[tuple[Any, ...]] = []

    def note(*given: Any) -> None:
        if pressed:
            pressed.clear()
            raise TornError
        pressed.append(given)

    def act() -> None:
        if pressed:
            given = pressed[0]
            pressed.clear()
            handler(*given)

    signal.signal(signal.SIGINT, note)
    try:
        yield act
    finally:
        signal.signal(signal.SIGINT, handler)
        act()


def _nothing() -> None:
    """Nobody pressed anything."""
