"""Arrays of weights as pictures: a byte for each weight, and differences from frame to frame, which deflate well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

CELLS = 20_000
"""How many weights a frame shows; of larger models each array shows a part."""

FEWEST = 1024
"""How many weights of one array are shown even if there are many arrays."""

SMALLEST_IMAGE = 16
"""From how many inputs on a square number of them is taken for the pixels of an image."""

UNKNOWN = -128
"""The byte of a nan or an infinity."""


def matrices(weights: Mapping[str, Sequence[np.ndarray]]) -> tuple[list[dict[str, Any]], bytes]:
    """What the page needs to know of each array, and their bytes, one array after the other."""
    facts, parts = [], []
    shares = allotted([int(np.size(frames[0])) for frames in weights.values()])
    for k, ((name, frames), cells) in enumerate(zip(weights.items(), shares, strict=True)):
        shown = [_arranged(np.asarray(frame, float)) for frame in frames]
        tile = _tile(np.shape(frames[0]), is_first=k == 0)
        rows, columns = _part(shown[0].shape, tile, cells)
        limit = max([float(np.max(np.abs(f[np.isfinite(f)]), initial=0.0)) for f in shown])
        facts.append(
            {
                "name": name,
                "shape": list(np.shape(frames[0])),
                "whole": list(shown[0].shape),
                "part": [rows, columns],
                "tile": tile,
                "limit": float(f"{limit:.6g}"),
                "spans": [_span(f) for f in shown],
            }
        )
        parts.append(differences([quantised(f[:rows, :columns], limit) for f in shown]))
    return facts, b"".join(parts)


def allotted(sizes: Sequence[int]) -> list[int]:
    """How many weights of each array are shown: small ones whole, and the others get equal shares of what is left."""
    shares, left, waiting = [0] * len(sizes), CELLS, len(sizes)
    for k in sorted(range(len(sizes)), key=lambda k: sizes[k]):
        shares[k] = min(sizes[k], max(FEWEST, left // waiting))
        left, waiting = max(0, left - shares[k]), waiting - 1
    return shares


def quantised(values: np.ndarray, limit: float) -> np.ndarray:
    """Numbers between -limit and limit as bytes between -127 and 127."""
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.rint(values * (127.0 / limit)) if limit > 0.0 else np.where(np.isfinite(values), 0.0, np.nan)
        return np.where(np.isfinite(values), np.clip(scaled, -127.0, 127.0), UNKNOWN).astype(np.int8)


def differences(frames: Sequence[np.ndarray]) -> bytes:
    """The first frame, then what is added (modulo 256) from each to the next."""
    stacked = np.stack([frame.reshape(-1).view(np.uint8) for frame in frames])
    return np.concatenate([stacked[:1], stacked[1:] - stacked[:-1]]).tobytes()


def _arranged(array: np.ndarray) -> np.ndarray:
    """An array as a matrix: a vector is a row, and each small picture of a convolution is a column."""
    if array.ndim <= 2:
        return np.atleast_2d(array)
    if array.ndim == 4:
        front, back = math.prod(array.shape[:2]), math.prod(array.shape[2:])
        return array.reshape(front, back).T if _kernel_is_last(array.shape) else array.reshape(front, back)
    return array.reshape(len(array), -1)


def _tile(shape: tuple[int, ...], *, is_first: bool) -> list[int] | None:
    """The height and width of the picture that a column is, if it is one: an image's pixels, or a kernel."""
    if len(shape) == 4:
        return list(shape[2:] if _kernel_is_last(shape) else shape[:2])
    side = math.isqrt(shape[0]) if len(shape) == 2 else 0
    return [side, side] if is_first and side * side == shape[0] >= SMALLEST_IMAGE else None


def _kernel_is_last(shape: tuple[int, ...]) -> bool:
    """Whether the kernel's height and width are the last two of four axes, not the first two."""
    return shape[2] * shape[3] <= shape[0] * shape[1]


def _part(shape: tuple[int, ...], tile: list[int] | None, cells: int) -> tuple[int, int]:
    """How many rows and columns are shown: of pictures whole ones, of other matrices a corner of the same form."""
    rows, columns = shape
    if rows * columns <= cells:
        return rows, columns
    if tile:
        return rows, max(1, cells // rows)
    few = min(rows, max(math.isqrt(cells), cells // columns))
    return few, min(columns, cells // few)


def _span(values: np.ndarray) -> list[float | str]:
    """The least and the largest weight of a frame, and the root of the mean square."""
    finite = values[np.isfinite(values)]
    if finite.size < values.size or not finite.size:
        return ["nan", "nan", "nan"]
    return [float(f"{v:.4g}") for v in (finite.min(), finite.max(), math.sqrt(float(np.mean(finite**2))))]
