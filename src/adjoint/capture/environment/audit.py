"""What a function does to the world while it is recorded, as Python itself reports it: files, networks, processes.

A recording would not repeat it. What sends, writes or starts something is refused before it happens. A file that is
read may be read once, as settings are: it is refused if it is read again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from typing import Any

from ...core.errors import ImpureError, message
from ...host.forking import Lock
from ...host.frames.ownership import Owner, owner_of, package_of

AUDIT_PATCH = {
    "what": "Python's audit hooks: one more, which does nothing in threads that do not record",
    "when": "from then on",
    "why": "a function that writes files or sends something is refused before it happens",
    "undone": "never: Python takes no hook away",
}
REFUSED = (
    "socket.", "subprocess.", "urllib.", "http.client.", "ftplib.", "smtplib.", "imaplib.", "poplib.", "telnetlib.",
    "sqlite3.connect", "builtins.input", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.kill",
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod", "os.putenv",
    "os.unsetenv", "shutil.", "tempfile.", "webbrowser.",
)  # fmt: skip
"""How the names of events begin that change something, or ask somebody."""
SILENT = ("socket.__new__", "socket.gethostname")
SERVANTS = frozenset(
    (
        "importlib", "_frozen_importlib", "_frozen_importlib_external", "zipimport", "linecache", "tokenize", "inspect",
        "traceback", "warnings", "logging", "numba", "llvmlite", "encodings", "zoneinfo",
    )
)  # fmt: skip
"""Who reads and writes for purposes of its own: modules that are imported, lines for messages, logs, caches of code."""
READ = ("open", "os.listdir", "os.scandir")
OUTSIDE = "Do it outside, or with  ad.debug.callback(f, x)  if it is only told."


class _Local(threading.local):
    under_way: list[WorldEvents] | None = None


class WorldEvents:
    """What was read while a function was recorded."""

    def __init__(self) -> None:
        self.read: ImpureError | None = None
        """For a file that was read, should it be read each time."""
        self.refused: ImpureError | None = None


_local = _Local()
_lock = Lock()
_is_installed = False


@contextlib.contextmanager
def audited() -> Iterator[WorldEvents]:
    """While a function is recorded in this thread: what it does to the world."""
    _install()
    outer, seen = _local.under_way, WorldEvents()
    _local.under_way = [*(outer or []), seen]
    try:
        yield seen
    finally:
        _local.under_way = outer


@contextlib.contextmanager
def unaudited() -> Iterator[None]:
    """While something of this library's own is done."""
    outer, _local.under_way = _local.under_way, None
    try:
        yield
    finally:
        _local.under_way = outer


def _install() -> None:
    """Python calls it for good: a hook cannot be taken away."""
    global _is_installed
    with _lock:
        if not _is_installed:
            _is_installed = True
            sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _local.under_way is None or (event not in READ and not event.startswith(REFUSED)) or event in SILENT:
        return
    with unaudited():
        if _is_servants(sys._getframe(1)):
            return
        what = _described(event, arguments)
    if what is None:
        return
    is_read = event in READ and not (event == "open" and _is_written(arguments))
    fix = "Read it outside, and pass what it holds." if is_read else OUTSIDE
    error = ImpureError(message(f"The function {what}, which a recording would not repeat.", fix=fix))
    for seen in _local.under_way or ():
        if is_read:
            seen.read = error
        else:
            seen.refused = error
    if not is_read:
        raise error


def _is_written(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _described(event: str, arguments: tuple[Any, ...]) -> str | None:
    """What is done, in words; None for what is of no account."""
    if event in READ[1:]:
        return f"reads the folder {arguments[0] if arguments else '.'}"
    if event != "open":
        return f"asks the system for {event}"
    path = arguments[0] if arguments else None
    if not isinstance(path, (str, bytes, os.PathLike)):  # a number: it is open already
        return None
    name = os.fsdecode(path)
    if _is_written(arguments):
        return None if name == os.devnull else f"writes to the file {name}"
    return None if os.path.realpath(name).startswith(_constant_folders()) else f"reads the file {name}"


def _constant_folders() -> tuple[str, ...]:
    """Where files are that nobody changes while a program runs: packages, and what the system says of itself."""
    paths = sysconfig.get_paths()
    found = {os.path.realpath(paths[key]) for key in ("purelib", "platlib", "stdlib", "platstdlib", "data")}
    return (
        *[folder + os.sep for folder in found if len(folder) > 1],
        "/proc/",
        "/sys/",
        "/dev/",
        "/etc/",
        "/usr/share/",
    )


def _is_servants(frame: Any) -> bool:
    """Whether it is done by what serves others, or by this library: up to the function that asked for it."""
    while frame is not None:
        names = frame.f_globals
        if package_of(names) in SERVANTS:
            return True
        owner = owner_of(names)
        if owner is Owner.OURS:
            return True
        if owner is not Owner.PYTHON:
            return False
        frame = frame.f_back
    return True
