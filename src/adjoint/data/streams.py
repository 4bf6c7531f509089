"""Streams: chunks of rows from an iterable, cut into batches and shuffled within blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import adjoint as ad

from .checks import check, check_lengths
from .frames import as_arrays, is_frame
from .rows import rows_of


def is_stream(X: Any) -> bool:
    """Whether data come chunk by chunk: an iterable that holds no rows itself, or a function that returns one."""
    if callable(X):
        return True
    holds_rows = isinstance(X, (list, tuple, dict, str)) or hasattr(X, "shape") or is_frame(X)
    return isinstance(X, Iterable) and not holds_rows


def streamed(
    chunks: Iterable[Any], size: int, *, draw: np.random.Generator | None, block: int, drop_last: bool, checked: bool
) -> Iterator[Any]:
    """Batches of a stream: rows are collected to blocks, shuffled there by `draw`, and cut; what is left waits."""
    waiting: list[Any] = []
    n = 0
    for chunk in chunks:
        arrays = as_chunk(chunk)
        n += check(arrays) if checked else check_lengths(arrays)
        waiting.append(arrays)
        if n >= block:
            rows, places = _joined(waiting), _places(n, draw)
            used = n - n % size
            yield from (rows_of(rows, places[k : k + size]) for k in range(0, used, size))
            waiting, n = [rows_of(rows, places[used:])] if n > used else [], n - used
    if n:
        rows, places = _joined(waiting), _places(n, draw)
        yield from (rows_of(rows, places[k : k + size]) for k in range(0, n - n % size if drop_last else n, size))


def as_chunk(chunk: Any) -> Any:
    """The arrays of a chunk: a pair (X, y), or X alone."""
    if isinstance(chunk, tuple) and len(chunk) == 2:
        return as_arrays(chunk[0], "X"), as_arrays(chunk[1], "y")
    return as_arrays(chunk, "X")


def _places(n: int, draw: np.random.Generator | None) -> np.ndarray:
    return np.arange(n) if draw is None else draw.permutation(n)


def _joined(chunks: list[Any]) -> Any:
    """One chunk of the rows of all."""
    if len(chunks) == 1:
        return chunks[0]
    try:
        return ad.tree.map(lambda *parts: np.concatenate(parts), chunks[0], *chunks[1:])
    except ValueError as error:
        shapes = [[np.shape(leaf) for leaf in ad.tree.leaves(chunk)] for chunk in chunks]
        pairs = [(own, first) for chunk in shapes for own, first in zip(chunk, shapes[0], strict=True)]
        other, one = next((own, first) for own, first in pairs if own[1:] != first[1:])
        raise ValueError(
            ad.errors.message(
                "All chunks of a stream need rows of one shape.",
                got=f"chunks of shapes {one} and {other}",
                fix="Look at what the iterable gives.",
            )
        ) from error
