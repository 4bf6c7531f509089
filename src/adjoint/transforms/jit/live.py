"""The recordings of all jitted functions together: beyond a bound, those that were not used for longest are dropped.

A recording takes some 70 KB, most of it for machine code, its tables and three memory maps, of which a system has
65,530 or so. Calls that begin in machine code leave a mark in its table, others in the `Path`, and nobody keeps an
order: when there are too many, whoever comes first in line and has a mark loses it and goes to the end; who has none
goes. A dropped recording is made again when it is called.
"""

from __future__ import annotations

import functools
import os
import weakref
from collections import OrderedDict
from typing import Any

from ...core.errors import InputError, message
from ...host.forking import Lock, held_at_fork
from .path import Path

VARIABLE = "ADJOINT_CODE_MB"
MOST_MEGABYTES = 256
"""What recordings take in memory at most, about, unless the variable says otherwise: some 3,500 short programs."""
MOST = 8_192
"""Recordings, whatever they take: Linux allows 65,530 memory maps, and each has six at most."""
FEWEST = 32
"""Recordings that are kept whatever they take: large ones that are in use would push out each other."""


class _Member(weakref.ref[Path]):
    """A recording in the line, for as long as somebody has it."""

    __slots__ = ("function", "key", "size")
    function: weakref.ref[Any]
    key: Any
    size: int


_line: OrderedDict[_Member, None] = OrderedDict()
_total = 0
"""What those in the line take, in bytes."""
_lock = Lock()
held_at_fork(_lock)


def admit(function: Any, key: Any, path: Path) -> None:
    """Take note of a new recording, and drop others if there are too many."""
    member = _Member(path, _leave)
    member.function, member.key, member.size = weakref.ref(function), key, path.bytes
    with _lock:
        _enter(member)
        beyond = _beyond(member)
    for old, its_path in beyond:
        owner = old.function()
        if owner is not None and not owner.drop(old.key, its_path):
            with _lock:
                _enter(old)


def _enter(member: _Member) -> None:
    global _total
    _line[member] = None
    _total += member.size


def _leave(member: Any) -> None:
    """Nobody has it any longer, or it is dropped."""
    global _total
    with _lock:
        if member in _line:
            del _line[member]
            _total -= member.size


def _beyond(new: _Member) -> list[tuple[_Member, Path]]:
    """The recordings that have to go, taken out of the line; the new one stays."""
    found: list[tuple[_Member, Path]] = []
    most = most_bytes()
    for _ in range(2 * len(_line)):  # twice around: the first time, all of them may have been in use
        if len(_line) <= max(FEWEST, 1) or (_total <= most and len(_line) <= MOST):
            break
        member = next(iter(_line))
        path = member()
        if path is not None and (path.was_used() or member is new):
            _line.move_to_end(member)
            continue
        _leave(member)
        if path is not None:
            found.append((member, path))
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
