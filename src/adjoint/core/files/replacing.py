"""Writing a file so that at any moment it is either the old one or the new one, and whole.

What is written goes to a temporary file in the same folder, which takes the place of the old one in one move. A process
that is killed meanwhile leaves the temporary file: the next one that writes the same file removes it. Who is writing
holds a lock on it, so what is not locked is left over.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None  # type: ignore[assignment]

STALE = 24 * 3600.0
"""Seconds after which a temporary file is left over where locks cannot tell."""
ATTEMPTS = 10
"""So often another process may take a new file for one that is left over, before it is locked."""


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which takes the place of `path` at the end of the block, unless that raises."""
    target = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    if target.exists() and not target.is_file():  # a device or a pipe, which cannot be replaced
        with target.open("wb") as file:
            yield file
        return
    _remove_leftovers(target)
    handle, temporary = _created(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            _keep_mode(file.fileno(), target)
            os.fsync(file.fileno())
            if fcntl is not None:
                temporary.replace(target)  # while it is locked
        if fcntl is None:
            temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text, as `Path.write_text` would, in one move; the path."""
    with replaced(path) as file:
        file.write(text.encode())
    return Path(path)


def _prefix(target: Path) -> str:
    """How the temporary files for a target are called; names may be as long as they can be, so by a digest."""
    return f".adjoint-{hashlib.blake2b(os.fsencode(target.name), digest_size=6).hexdigest()}-"


def _created(target: Path) -> tuple[int, Path]:
    """A new file next to the target, open and locked."""
    for _ in range(ATTEMPTS):
        temporary = target.parent / f"{_prefix(target)}{secrets.token_hex(4)}.part"
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
        if not _is_locked(handle) and temporary.exists():
            return handle, temporary
        os.close(handle)
    raise FileNotFoundError(f"new files in {target.parent} vanish at once")


def _is_locked(handle: int) -> bool | None:
    """Lock a file if nobody else has; whether somebody has, or None if that cannot be known here."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return None
    return False


def _remove_leftovers(target: Path) -> None:
    """Remove what processes have left that were killed while they wrote the same file."""
    prefix = _prefix(target)
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in [e for e in entries if e.name.startswith(prefix)]:
            with contextlib.suppress(OSError):
                _remove_leftover(entry)


def _remove_leftover(entry: os.DirEntry[str]) -> None:
    handle = os.open(entry.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        locked = _is_locked(handle)
        stale = time.time() - os.fstat(handle).st_mtime > STALE
        if locked is False or (locked is None and stale):
            Path(entry.path).unlink()
    finally:
        os.close(handle)


def _keep_mode(handle: int, target: Path) -> None:
    """Give the new file the mode of the old one, if there is one."""
    change: Any = getattr(os, "fchmod", None)
    with contextlib.suppress(OSError):
        if change is not None:
            change(handle, stat.S_IMODE(target.stat().st_mode))
