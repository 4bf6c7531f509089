"""What the page shows, as numbers and texts for JSON, and the pictures as bytes."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..record import Record
from .pictures import matrices
from .plane import plane

MOST_EPOCHS = 1500
"""How many epochs a chart shows: no screen has more columns."""


def content(record: Record) -> tuple[dict[str, Any], bytes]:
    """What the script reads: numbers and texts, and the deflated bytes of all pictures, in the order of the numbers."""
    epochs = shown_epochs(record)
    frames = list(range(len(record.frames)))
    weights, pictures = matrices(record.weights) if frames else ([], b"")
    boundary, more = plane(record.boundary) if frames and record.boundary is not None else (None, b"")
    numbers = {
        "title": record.title,
        "facts": [[str(name), str(text)] for name, text in record.facts.items()],
        "epochs": [int(k) + 1 for k in epochs],
        "total": record.epochs,
        "charts": [_chart(record, quantity, names, epochs) for quantity, names in record.quantities.items()],
        "layers": [{"name": name, "values": _at(norms, epochs)} for name, norms in record.layer_norms.items()],
        "frames": [int(k) for k in record.frames],
        "weights": weights,
        "boundary": boundary,
    }
    return numbers, zlib.compress(pictures + more, 9)


def shown_epochs(record: Record) -> np.ndarray:
    """The places of the epochs that are shown: all, or evenly spaced ones and those with the best loss."""
    count = record.epochs
    if count <= MOST_EPOCHS:
        return np.arange(count)
    best = [int(np.nanargmin(v)) for n, v in record.curves.items() if n.endswith("loss") and np.isfinite(v).any()]
    return np.unique([*np.linspace(0, count - 1, MOST_EPOCHS).round().astype(int), *best])


def _chart(record: Record, quantity: str, names: Iterable[str], epochs: np.ndarray) -> dict[str, Any]:
    curves = [
        {
            "name": name.replace("_", " "),
            "kind": "validation" if name.startswith("validation_") else "training",
            "values": _at(record.curves[name], epochs),
        }
        for name in names
    ]
    return {"quantity": quantity.replace("_", " "), "curves": curves}


def _at(values: Any, epochs: np.ndarray) -> list[float | str]:
    """The numbers at some epochs; a curve that ends early has none there."""
    found = np.asarray(values, float)
    return [number(found[k]) if k < len(found) else "nan" for k in epochs]


def number(value: float) -> float | str:
    """A number with six digits for JSON, which has no nan and no infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else str(float(value))
