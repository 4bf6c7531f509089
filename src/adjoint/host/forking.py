"""Locks that are never left held: by a thread of the parent in a forked process, or after Ctrl-C.

Locks that are held for moments are waited for, so that what they protect is whole in the child. Those under which a
user's function may run are made anew there.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from _thread import RLock
from collections.abc import Callable
from typing import Any

FORK_PATCH = {
    "what": "what Python does when a process is forked (`os.register_at_fork`): locks of the library are free, and "
    "its threads are forgotten in the child",
    "when": "from then on",
    "why": "a lock that a thread of the parent holds would be held for ever in the child",
    "undone": "never: Python takes no such function away; it touches nothing but the library",
}
_owners: weakref.WeakSet[Any] = weakref.WeakSet()


class Lock(RLock):  # type: ignore[misc]  # final in the stubs, not in Python
    """A reentrant lock that is free again after Ctrl-C in `with lock:`, whenever that comes.

    Python 3.14 looks for Ctrl-C once more after it has called `__enter__`, and before the `with` would call `__exit__`:
    it leaves a lock of its own held for good. There is no such look when a function of Python's comes back.
    """

    __slots__ = ()

    def __enter__(self) -> bool:  # type: ignore[override]  # it has no arguments in Python either
        try:
            return self.acquire()
        except BaseException:
            with contextlib.suppress(RuntimeError):  # it has not been acquired
                self.release()
            raise


def in_child(action: Callable[[], Any]) -> None:
    """Do something first of all in every forked process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)


def before_fork(action: Callable[[], Any]) -> None:
    """Do something before a process is forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=action)


def around_fork(before: Callable[[], Any], after: Callable[[], Any]) -> None:
    """Do something before a process is forked, and afterwards in the process that goes on."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after)


def held_at_fork(lock: Any) -> None:
    """Fork only when no other thread holds this lock: one that is held for moments, and none is asked for under it.

    Of several locks the one that is asked for first comes last, as they are then taken in that order.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def renewed_lock(owner: Any) -> Any:
    """A lock for the attribute `_lock` of an object, which has a new one in a forked process."""
    _owners.add(owner)
    return Lock()


def _renew() -> None:
    for owner in list(_owners):
        owner._lock = Lock()


in_child(_renew)
