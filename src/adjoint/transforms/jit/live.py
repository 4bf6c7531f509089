"""The recordings of all jitted functions together: beyond a bound, those that were not used for longest are dropped.

A recording takes some 70 KB, most of it for machine code, its tables and three memory maps, of which a system has
65,530 or so. Calls that begin in machine code leave a mark in its table, others in the `Path`, and nobody keeps an
order: when there are too many, whoever comes first in line and has a mark loses it and goes to the end; who has none
goes. A dropped recording is made again when it is called.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections import deque
from typing import Any

from ...core.errors import InputError, message
from ...core.forking import held_at_fork
from .path import Path

VARIABLE = "ADJOINT_CODE_MB"
MOST_MEGABYTES = 256
"""What recordings take in memory at most, about, unless the variable says otherwise: some 3,500 short programs."""
MOST = 8_192
"""Recordings, whatever they take: Linux allows 65,530 memory maps, and each has six at most."""
FEWEST = 32
"""Recordings that are kept whatever they take: large ones that are in use would push out each other."""

_live: weakref.WeakKeyDictionary[Path, tuple[weakref.ref[Any], Any]] = weakref.WeakKeyDictionary()
"""The function and the key of every recording, in the order of the line."""
_lock = threading.RLock()
held_at_fork(_lock)


def admit(function: Any, key: Any, path: Path) -> None:
    """Take note of a new recording, and drop others if there are too many."""
    with _lock:
        _live[path] = weakref.ref(function), key
        beyond = _beyond()
    for old, (reference, its_key) in beyond:
        owner = reference()
        if owner is not None and not owner.drop(its_key, old):
            with _lock:
                _live[old] = reference, its_key


def _beyond() -> list[tuple[Path, tuple[weakref.ref[Any], Any]]]:
    """The recordings that have to go, taken out of the line."""
    paths = list(_live)
    total, count, most = sum([path.bytes for path in paths]), len(paths), most_bytes()
    line, found = deque(paths[:-1]), []
    while line and count > FEWEST and (total > most or count > MOST):
        path = line.popleft()
        facts = _live.pop(path)
        if path.was_used():
            _live[path] = facts
            line.append(path)
        else:
            found.append((path, facts))
            total, count = total - path.bytes, count - 1
    return found


@functools.cache
def most_bytes() -> int:
    """What recordings may take in memory."""
    text = os.environ.get(VARIABLE, "").strip() or str(MOST_MEGABYTES)
    if not text.isdecimal():
        raise InputError(
            message(
                f"The environment variable {VARIABLE} is a number of megabytes.",
                got=repr(text),
                fix=f"Set it to a whole number, such as {MOST_MEGABYTES}, or leave it out.",
            )
        )
    return int(text) * 2**20
