"""Checkpoints as files: arrays and facts in one archive as `np.savez` writes it, replaced in one move.

Reading trusts nothing: no more is read than the file has bytes, nothing is unpickled, and whatever is wrong with a file
ends in the one error of `damaged`.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad

from ...core.files.replacing import replaced

VERSION = 2
KINDS = "fciubU"
"""What arrays of a checkpoint consist of: numbers, truth values, names."""
FACTS = "facts"


def save(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
    """Write arrays and facts so that at any moment the file is either the old one or the new one, and whole."""
    with replaced(folder_of(path)) as file:
        np.savez(file, allow_pickle=False, facts=np.array(json.dumps({"version": VERSION, **facts})), **arrays)


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The file, in a folder that there is and that can be written to."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        writable = os.access(target.parent, os.W_OK)
        got = f"{os.fspath(target.parent)!r}, which is not writable"
    except (OSError, ValueError) as error:
        writable, got = False, str(error)
    if not writable:
        raise ad.errors.InputError(
            ad.errors.message(
                f"The checkpoint {os.fspath(path)!r} cannot be written.",
                got=got,
                fix="Give  checkpoint=  a file in a folder of yours.",
            )
        )
    return target


def damaged(path: str | os.PathLike[str], what: Exception) -> Exception:
    """The error for a file that cannot be used as a checkpoint, whatever is the matter with it."""
    return ad.errors.InputError(
        ad.errors.message(
            f"{os.fspath(path)!r} is not a checkpoint of a training run, or it is damaged.",
            got=str(what) or type(what).__name__,
            fix="Give  checkpoint=  another name, or delete the file.",
        )
    )


def load(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the facts of a file."""
    arrays = _arrays(Path(path))
    if FACTS not in arrays:
        raise ValueError("it has no facts")
    facts = json.loads(str(arrays.pop(FACTS)), object_pairs_hook=_unique)
    if not isinstance(facts, dict):
        raise ValueError("its facts have no names")
    if facts.get("version") != VERSION:
        raise ValueError(f"it was written as version {facts.get('version')!r}; this library reads version {VERSION}")
    return arrays, facts


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a fact is there twice")
    return found


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an archive, after a look at its table of contents: together they are no larger than the file."""
    if not path.is_file():
        raise ValueError("it is no file")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if len(set(names)) != len(names):
            raise ValueError("an array is there twice")
        if any([member.compress_type != zipfile.ZIP_STORED for member in members]):
            raise ValueError("it is compressed, which no checkpoint is")
        if sum([member.file_size for member in members]) > path.stat().st_size:
            raise ValueError("its arrays are larger than the file")
        return {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}


def _array(content: bytes) -> np.ndarray:
    """The array of an `.npy` file: numbers, as many as its header says."""
    file = io.BytesIO(content)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, is_fortran, dtype = readers[np.lib.format.read_magic(file)](file)
    if dtype.kind not in KINDS or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise ValueError(f"it has an array of {dtype}{list(shape)}")
    start = file.tell()
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError("an array has not as many numbers as it says")
    found = np.frombuffer(content, dtype, offset=start)
    return (found.reshape(shape[::-1]).T if is_fortran else found.reshape(shape)).copy(order="K")
