"""Which threads are tracing a function, and the modules that have names of their own for them meanwhile."""

from __future__ import annotations

import threading
from types import ModuleType

from ..core.forking import held_at_fork, in_child
from ..core.traced import LOCAL

CLASSES: dict[ModuleType, tuple[type, type]] = {}
"""Modules whose names depend on the thread while one is tracing, their class otherwise, and their class then."""

_lock = threading.Lock()
_threads: set[int] = set()


def enter(outside: int) -> None:
    """A function is about to be traced in this thread, inside `outside` others."""
    LOCAL.depth = outside + 1
    if outside:
        return
    with _lock:
        _threads.add(threading.get_ident())
        if len(_threads) == 1:
            for module, (_, tracing) in CLASSES.items():
                module.__class__ = tracing  # type: ignore[assignment]


def leave(outside: int) -> None:
    """It is done, and so are the names with the last thread. Says what holds now, so it may be said again."""
    LOCAL.depth = outside
    if outside:
        return
    with _lock:
        _threads.discard(threading.get_ident())
        _give_back()


def _give_back() -> None:
    if not _threads:
        for module, (usual, _) in CLASSES.items():
            module.__class__ = usual  # type: ignore[assignment]


def _after_fork() -> None:
    """Forget, in the child, threads of the parent that were tracing."""
    _threads.intersection_update({threading.get_ident()})
    _give_back()


held_at_fork(_lock)
in_child(_after_fork)


def add(module: ModuleType, properties: dict[str, property]) -> None:
    """Let names of a module be what these properties say, while a function is traced."""
    usual = type(module)
    with _lock:
        CLASSES[module] = usual, type(usual.__name__, (usual,), dict(properties))
        if _threads:
            module.__class__ = CLASSES[module][1]  # type: ignore[assignment]
