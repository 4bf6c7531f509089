"""Compiled code on disk, if the user wishes: keyed by the program, the processor and the versions of everything.

A file is written under another name and then renamed, so readers see a whole file or none; it holds a digest of its
content, so a damaged one is taken for missing. Machine code is run as it is, so that nobody else may be able to put any
there: the folder, every folder around it and every file belong to the user or the system, others may not write to them,
and what is read is the file that was looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from ...core.errors import InputError, message

MAGIC = b"adjoint machine code 1\n"
ENVIRONMENT = "ADJOINT_CACHE"
OFF = frozenset(("", "0", "off", "no", "none", "false"))
"""Values of the variable, in any case, that name no folder but say that there is none."""
MOST_BYTES = 256 * 2**20
"""What the folder holds at most; beyond it goes what has not been used for longest."""
OLDEST_SECONDS = 90 * 24 * 3600
"""What has not been used for so long goes."""
SAVES_BETWEEN = 100
"""How many files are written before somebody looks for old ones again."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
TEMPORARY = ".new-"
"""How the names of files begin that are being written."""

_folder: Path | None = None
_is_set = False
_saves = 0


def set_cache(folder: str | os.PathLike[str] | None) -> None:
    """Keep compiled code in a folder, from which later processes take it; None: keep it in memory only.

    The folder is made if it is missing; if it cannot be made, a warning says so. Others must not be able to write to
    it, as what is in it is run as it is. The environment variable `ADJOINT_CACHE` sets it too.
    """
    global _folder, _is_set, _saves
    _folder = None if folder is None else _checked(Path(folder).expanduser())
    _is_set, _saves = True, 0


def folder() -> Path | None:
    """Where compiled code is kept; None if nowhere."""
    if not _is_set:
        wish = os.environ.get(ENVIRONMENT, "")
        set_cache(None if wish.strip().lower() in OFF else wish)
    return _folder


def _checked(path: Path) -> Path | None:
    """A folder without links on the way to it; None, and a warning, if there can be none."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = path.resolve(strict=True)
        facts = [(place, place.stat()) for place in (path, *path.parents)]
    except OSError as error:
        warnings.warn(
            f"Compiled code is not kept, as there can be no folder for it: {error}.\n"
            "  Choose another one with  ad.config.set_cache(folder)  or  ADJOINT_CACHE.",
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    for place, found in facts:
        if not _is_safe(found, own=place == path):
            raise InputError(
                message(
                    "The folder for compiled code can be written to by others, who could put their code into it.",
                    got=str(path) if place == path else f"{path}, because of {place}",
                    fix="Choose a folder of your own, or  chmod go-w  it.",
                )
            )
    return path


def _is_safe(found: os.stat_result, *, own: bool) -> bool:
    """Whether nobody else can change a file or folder; in one around it that all may write to, they keep their own."""
    if not hasattr(os, "getuid"):
        return True
    if found.st_uid != os.getuid() and (own or found.st_uid != 0):
        return False
    is_shared = not own and bool(found.st_mode & stat.S_ISVTX)
    return is_shared or not found.st_mode & OTHERS_WRITE


def key_of(*facts: object) -> str:
    """The name under which code is kept."""
    return hashlib.sha256("\0".join(map(str, facts)).encode()).hexdigest()


def load(key: str) -> bytes | None:
    """The code of a name, or None if there is none that is whole and the user's own."""
    place = folder()
    if place is None:
        return None
    file = place / key
    try:
        found = _read(file)
    except OSError:
        return None
    head = len(MAGIC) + 32
    content = found[head:]
    if found[: len(MAGIC)] != MAGIC or found[len(MAGIC) : head] != hashlib.sha256(content).digest():
        with contextlib.suppress(OSError):
            file.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(file, follow_symlinks=False)  # it has been used
    return content


def _read(file: Path) -> bytes:
    """What a file holds, if it is one of the user's own, and no link: looked at once it is open."""
    handle = os.open(file, os.O_RDONLY | NO_LINKS)
    with os.fdopen(handle, "rb") as opened:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or not _is_safe(found, own=True):
            raise PermissionError(file)
        return opened.read()


def save(key: str, content: bytes) -> None:
    """Keep code under a name; what cannot be written is not kept, which is no reason to stop."""
    global _saves
    place = folder()
    if place is None:
        return
    temporary = place / f"{TEMPORARY}{secrets.token_hex(8)}"
    with contextlib.suppress(OSError):
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(content).digest() + content)
            temporary.replace(place / key)
        except OSError:
            temporary.unlink()
    if _saves % SAVES_BETWEEN == 0:
        _tidy(place)
    _saves += 1


def _tidy(place: Path) -> None:
    """Remove what is old, and more if the folder holds too much: what has not been used for longest."""
    kept, total = time.time() - OLDEST_SECONDS, 0
    for file, found in sorted(_files(place), key=lambda pair: -pair[1].st_mtime):
        total += found.st_size
        is_left_over = file.name.startswith(TEMPORARY) and found.st_mtime < time.time() - 3600
        if found.st_mtime < kept or total > MOST_BYTES or is_left_over:
            with contextlib.suppress(OSError):
                file.unlink()


def _files(place: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of the cache; whatever else is in the folder is left alone."""
    with contextlib.suppress(OSError):
        for file in place.iterdir():
            is_ours = len(file.name) == 64 or file.name.startswith(TEMPORARY)
            with contextlib.suppress(OSError):
                found = file.lstat()
                if is_ours and stat.S_ISREG(found.st_mode):
                    yield file, found
