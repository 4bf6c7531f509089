"""Checkpoints: the whole state of a run in one file of arrays, replaced in one move."""

from __future__ import annotations

import functools
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad

VERSION = 1


def save(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
    """Write arrays and facts so that at any moment the file is either the old one or the new one, and whole."""
    target = folder_of(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, facts=np.array(json.dumps({"version": VERSION, **facts})), **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The file, in a folder that there is and that can be written to."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        writable = os.access(target.parent, os.W_OK)
        got = f"{os.fspath(target.parent)!r}, which is not writable"
    except OSError as error:
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


def load(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the facts of a file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        facts = json.loads(str(arrays.pop("facts")))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, json.JSONDecodeError) as error:
        raise ad.errors.InputError(
            ad.errors.message(
                f"{os.fspath(path)!r} is not a checkpoint of a training run.",
                got=str(error),
                fix="Give  checkpoint=  another name, or delete the file.",
            )
        ) from error
    return arrays, facts


def fingerprint(tree: Any) -> str:
    """A few characters that differ if the numbers do; of files only their shapes count, as they may be large."""
    found = 0
    for leaf in ad.tree.leaves(tree):
        if isinstance(leaf, np.ndarray):
            found = zlib.crc32(f"{leaf.dtype}{leaf.shape}".encode(), found)
            found = found if isinstance(leaf, np.memmap) else zlib.crc32(np.ascontiguousarray(leaf).data, found)
    return f"{found:08x}"


def name_of(function: Any) -> str:
    """A function's name, with the options that a partial has."""
    if isinstance(function, functools.partial):
        options = ", ".join([f"{key}={value!r}" for key, value in function.keywords.items()])
        return f"{name_of(function.func)}({options})"
    return getattr(function, "__qualname__", type(function).__name__)


def packed(prefix: str, tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree by number, for a file."""
    return {f"{prefix}.{k}": np.asarray(leaf) for k, leaf in enumerate(ad.tree.leaves(tree))}


def unpacked(prefix: str, tree: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The tree with the leaves of a file in place of its own, which they have to resemble."""
    leaves, structure = ad.tree.flatten(tree)
    found = [arrays.get(f"{prefix}.{k}") for k in range(len(leaves))]
    for k, (leaf, new) in enumerate(zip(leaves, found, strict=True)):
        want = np.asarray(leaf)
        if new is None or new.shape != want.shape or new.dtype != want.dtype:
            raise ad.errors.InputError(
                ad.errors.message(
                    f"The checkpoint is of another run: {prefix} {k} does not fit.",
                    got="nothing"
                    if new is None
                    else f"{new.dtype}{list(new.shape)}, not {want.dtype}{list(want.shape)}",
                    fix="Train with the model and the optimiser of that run, or give  checkpoint=  another name.",
                )
            )
    return ad.tree.unflatten(structure, found)
