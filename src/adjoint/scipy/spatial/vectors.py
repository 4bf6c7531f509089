"""Distances of two vectors, which run through SciPy's own code, and what else `scipy.spatial.distance` has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core.values import shape_of
from ...numpy.patching.replacements import constant, replaces
from ..batches import in_batches
from ..module_copies import Float, twin
from .metrics import METRICS


def _to_square(matrix: Any, vector: Any) -> None:
    rows, columns = np.triu_indices(shape_of(matrix)[0], 1)
    matrix[rows, columns] = vector
    matrix[columns, rows] = vector


def _to_vector(matrix: Any, vector: Any) -> None:
    vector[...] = matrix[np.triu_indices(shape_of(matrix)[0], 1)]


def directed_hausdorff(u: Any, v: Any, rng: Any = 0, *, seed: Any = None) -> tuple[Any, Any, Any]:
    """`scipy.spatial.distance.directed_hausdorff`: the largest distance to the nearest point, in no random order."""
    u, v = np.astype(np.asarray(u), np.float64), np.astype(np.asarray(v), np.float64)
    if shape_of(u)[1] != shape_of(v)[1]:
        raise ValueError("u and v need to have the same number of columns")
    far = METRICS["euclidean"](u[:, None], v[None, :])
    i = np.argmax(np.min(far, 1))
    j = np.argmin(far[i])
    return far[i, j], i, j


def _norm(x: Any, ord: Any, axis: Any = None) -> Any:
    """`scipy.linalg.norm`, which is of double precision if it is the usual one of a single vector."""
    found = np.linalg.norm(x, ord, axis)
    return np.astype(found, np.float64) if ord == 2 and axis is None else found


VECTORS = twin(
    "scipy.spatial.distance",
    norm=_norm,
    max=np.max,
    float=Float,
    _copy_array_if_base_present=lambda a: a,
    _distance_wrap=SimpleNamespace(
        to_squareform_from_vector_wrap=_to_square, to_vector_from_squareform_wrap=_to_vector
    ),
    directed_hausdorff=directed_hausdorff,
    jaccard=METRICS["jaccard"],
)
DIFFERENTIATES = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "directed_hausdorff",
    "euclidean", "hamming", "jaccard", "jensenshannon", "mahalanobis", "minkowski", "rogerstanimoto", "russellrao",
    "seuclidean", "sokalsneath", "sqeuclidean", "squareform", "yule",
)  # fmt: skip
NOTES = {
    "hamming": "constant but for the weights",
    "jaccard": "constant but for the weights",
    "directed_hausdorff": "of the two points that it is between",
    "chebyshev": "ties are shared equally",
}
IN_PARTS = ("directed_hausdorff",)
"""SciPy's own goes through the points in a random order, which a recording would repeat."""
for _name in DIFFERENTIATES:
    _ours = in_batches(f"scipy.spatial.distance.{_name}", getattr(VECTORS, _name))
    replaces("scipy.spatial.distance", _name, in_parts=_name in IN_PARTS, note=NOTES.get(_name, ""))(_ours)

constant("scipy.spatial.distance", "is_valid_dm", "is_valid_y", note="truth values")
constant("scipy.spatial.distance", "num_obs_dm", "num_obs_y", note="whole numbers")
