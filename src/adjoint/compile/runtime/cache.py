"""Compiled code on disk, if the user wishes: keyed by the program, the processor and the versions of everything.

A file is written under another name and then renamed, so readers see a whole file or none; it holds a digest of its
content, so a damaged one is taken for missing. Machine code is run as it is, so the folder has to belong to the user
alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from ...core.errors import InputError, message

MAGIC = b"adjoint machine code 1\n"
ENVIRONMENT = "ADJOINT_CACHE"
OFF = frozenset(("", "0", "off", "no", "none", "false"))
"""Values of the variable, in any case, that name no folder but say that there is none."""

_folder: Path | None = None
_is_set = False


def set_cache(folder: str | os.PathLike[str] | None) -> None:
    """Keep compiled code in a folder, from which later processes take it; None: keep it in memory only.

    The folder is made if it is missing. It must not be writable by others, as what is in it is run as it is. The
    environment variable `ADJOINT_CACHE` sets it too.
    """
    global _folder, _is_set
    _folder = None if folder is None else _checked(Path(folder).expanduser())
    _is_set = True


def folder() -> Path | None:
    """Where compiled code is kept; None if nowhere."""
    if not _is_set:
        wish = os.environ.get(ENVIRONMENT, "")
        set_cache(None if wish.strip().lower() in OFF else wish)
    return _folder


def _checked(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = path.stat()
    foreign = hasattr(os, "getuid") and found.st_uid != os.getuid()
    if foreign or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            message(
                "The folder for compiled code can be written to by others, who could put their code into it.",
                got=str(path),
                fix="Choose a folder of your own, or  chmod go-w  it.",
            )
        )
    return path


def key_of(*facts: object) -> str:
    """The name under which code is kept."""
    return hashlib.sha256("\0".join(map(str, facts)).encode()).hexdigest()


def load(key: str) -> bytes | None:
    """The code of a name, or None if there is none that is whole."""
    place = folder()
    if place is None:
        return None
    try:
        found = (place / key).read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + 32
    content = found[head:]
    if found[: len(MAGIC)] != MAGIC or found[len(MAGIC) : head] != hashlib.sha256(content).digest():
        with contextlib.suppress(OSError):
            (place / key).unlink()
        return None
    return content


def save(key: str, content: bytes) -> None:
    """Keep code under a name; what cannot be written is not kept, which is no reason to stop."""
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=place)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(content).digest() + content)
            temporary.replace(place / key)
        except OSError:
            temporary.unlink()
