"""What a model of two inputs says over the plane, as a picture for each frame, and the points of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..record import Boundary
from .pictures import differences, quantised

MOST_SIDE = 100
"""How many values a picture has in a row or column; between them the page interpolates."""

MOST_POINTS = 600


def plane(boundary: Boundary) -> tuple[dict[str, Any], bytes]:
    """What the page needs to know, and the bytes of its pictures."""
    values = [_thinned(np.asarray(v)) for v in boundary.values]
    points, labels = _chosen(boundary)
    facts: dict[str, Any] = {
        "horizontal": [float(v) for v in boundary.horizontal],
        "vertical": [float(v) for v in boundary.vertical],
        "size": list(values[0].shape),
        "points": [[float(f"{v:.4g}") for v in axis] for axis in points.T],
        "of": len(boundary.points),
    }
    if boundary.is_classes:
        return _classes(facts, values, labels, boundary)
    return _numbers(facts, values, labels, boundary)


def _classes(
    facts: dict[str, Any], values: list[np.ndarray], labels: np.ndarray, boundary: Boundary
) -> tuple[dict[str, Any], bytes]:
    """Each value is the place of its class among all classes."""
    names = np.unique(np.concatenate([np.unique(boundary.labels), *[np.unique(v) for v in values]]))
    facts |= {"kind": "classes", "names": [_name(n) for n in names], "labels": np.searchsorted(names, labels).tolist()}
    return facts, differences([np.searchsorted(names, v).astype(np.uint8) for v in values])


def _numbers(
    facts: dict[str, Any], values: list[np.ndarray], labels: np.ndarray, boundary: Boundary
) -> tuple[dict[str, Any], bytes]:
    """Each value is a distance from the centre, in 127 parts of the largest of its frame; its sign is exact."""
    level, (centre, reach) = boundary.decides_at, boundary.shades
    frames, scales = [], []
    for value in values:
        distance = np.asarray(value, float) - centre
        scale = float(np.max(np.abs(distance[np.isfinite(distance)]), initial=0.0))
        part = quantised(distance, scale)
        frames.append(np.where((part == 0) & (distance != 0.0), np.sign(distance), part).astype(np.int8))
        scales.append(float(f"{scale:.6g}"))
    facts |= {
        "kind": "numbers",
        "centre": centre,
        "reach": reach,
        "decides": level is not None,
        "scales": scales,
        "names": [_name(n) for n in np.unique(boundary.labels)] if level is not None else [],
        "labels": [float(f"{v:.4g}") for v in labels],
    }
    return facts, differences(frames)


def _thinned(values: np.ndarray) -> np.ndarray:
    """At most so many rows and columns, the first and the last among them."""
    picks = [np.linspace(0, n - 1, min(n, MOST_SIDE)).round().astype(int) for n in values.shape]
    return values[np.ix_(*picks)]


def _chosen(boundary: Boundary) -> tuple[np.ndarray, np.ndarray]:
    """Points and labels, or as many of them as a picture can show, drawn always alike."""
    points, labels = np.asarray(boundary.points, float).reshape(-1, 2), np.asarray(boundary.labels).reshape(-1)
    finite = np.isfinite(points).all(axis=1)
    points, labels = points[finite], labels[finite]
    if len(points) <= MOST_POINTS:
        return points, labels
    chosen = np.sort(np.random.default_rng(0).permutation(len(points))[:MOST_POINTS])
    return points[chosen], labels[chosen]


def _name(label: Any) -> str:
    """A label as a text: 1.0 is 1."""
    return f"{label:g}" if isinstance(label, np.floating) else str(label)
