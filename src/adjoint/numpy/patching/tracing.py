"""Which threads are tracing a function, and the modules that have names of their own for them meanwhile."""

from __future__ import annotations

from _thread import get_ident
from types import ModuleType

from ...core.calls.suppressed_errors import REFUSED
from ...core.traced import LOCAL
from ...host.code.versions import READS_MODULES_DIRECTLY
from ...host.forking import Lock, held_at_fork, in_child
from .caches import WATCHED, sweep

MODULES_PATCH = {
    "what": "the class of the modules `numpy`, `scipy.special`, `math` and `cmath`, not their dictionaries: names are "
    "read through properties (`numpy/patching/module_properties.py`), which give our versions to the thread that "
    "traces alone",
    "when": "while a function is traced",
    "why": "`np.array([x, y])`, `np.zeros(3)`, `np.r_`, `np.sin([x, y])`, `np.float64(x)`, `math.sin(x)` convert by "
    "themselves; every name has its reason in `numpy/patching/patched_names.py`",
    "undone": "when no thread traces any more",
}
CLASSES: list[tuple[ModuleType, type, type]] = []
"""Modules whose names depend on the thread while one is tracing, their class otherwise, and their class then."""

_lock = Lock()
THREADS: set[int] = set()
"""The threads that are tracing a function."""


def enter(outside: int) -> None:
    """A function is about to be traced in this thread, inside `outside` others."""
    LOCAL.depth = outside + 1
    if outside:
        return
    try:  # as `with _lock` does, at the cost of one call less
        _lock.acquire()
        THREADS.add(get_ident())
        if len(THREADS) == 1:
            for module, _, tracing in CLASSES:
                module.__class__ = tracing  # type: ignore[assignment]
    finally:
        try:  # noqa: SIM105  (Python looks for Ctrl-C when a function of its own is called)
            _lock.release()
        except RuntimeError:  # Ctrl-C came while another thread had it
            pass


def leave(outside: int) -> None:
    """It is done, and so are the names with the last thread. Says what holds now, so it may be said again."""
    LOCAL.depth = outside
    if outside:
        return
    try:
        _lock.acquire()
        THREADS.discard(get_ident())
        if not THREADS:
            for module, usual, _ in CLASSES:
                module.__class__ = usual  # type: ignore[assignment]
    finally:
        try:  # noqa: SIM105  (Python looks for Ctrl-C when a function of its own is called)
            _lock.release()
        except RuntimeError:  # Ctrl-C came while another thread had it
            pass
    if REFUSED:
        REFUSED.pop(get_ident(), None)
    if WATCHED:
        sweep()


def _after_fork() -> None:
    """Forget, in the child, threads of the parent that were tracing."""
    THREADS.intersection_update({get_ident()})
    if not THREADS:
        for module, usual, _ in CLASSES:
            module.__class__ = usual  # type: ignore[assignment]


held_at_fork(_lock)
in_child(_after_fork)


LOOKUP = {
    "__getattribute__": object.__getattribute__,
    "__getattr__": lambda module, name: ModuleType.__getattribute__(module, name),  # its own `__getattr__`, and errors
}
"""Another way to look names up, with the same outcome: nobody may take it for that of plain modules."""


def add(module: ModuleType, properties: dict[str, property]) -> None:
    """Let names of a module be what these properties say, while a function is traced."""
    usual = type(module)
    tracing = type(usual.__name__, (usual,), {**properties, **(LOOKUP if READS_MODULES_DIRECTLY else {})})
    with _lock:
        CLASSES.append((module, usual, tracing))
        if THREADS:
            module.__class__ = tracing  # type: ignore[assignment]
