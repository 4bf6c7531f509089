"""Distances of all pairs: `cdist` and `pdist`, by formulas for whole arrays, or the user's function for each pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from ...core.values import dtype_of, shape_of
from ...numpy.patching.replacements import replaces
from ..batches import in_batches
from .metrics import METRICS


def _rows(x: Any, name: str) -> Any:
    x = np.asarray(x)
    if len(shape_of(x)) != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return np.astype(x, np.float64) if dtype_of(x) != np.float64 else x


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """`scipy.spatial.distance.cdist`."""
    first, second = _rows(XA, "XA"), _rows(XB, "XB")
    if shape_of(first)[1] != shape_of(second)[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    everything = np.concatenate([first, second])
    shape = shape_of(first)[0], shape_of(second)[0]
    left, right = np.repeat(np.arange(shape[0]), shape[1]), np.tile(np.arange(shape[1]), shape[0])
    found = _distances(metric, first, second, left, right, everything, kwargs, all_pairs=True)
    return _delivered(np.reshape(found, shape), out)


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """`scipy.spatial.distance.pdist`."""
    x = _rows(X, "X")
    return _delivered(_distances(metric, x, x, *np.triu_indices(shape_of(x)[0], 1), x, kwargs), out)


def _distances(
    metric: Any, first: Any, second: Any, left: Any, right: Any, everything: Any, options: dict[str, Any], *,
    all_pairs: bool = False,
) -> Any:  # fmt: skip
    """The distances of pairs of rows, with numbers `left` and `right`."""
    if callable(metric):
        name = getattr(metric, "__name__", "")
        if getattr(distance, name, None) is not metric:
            pairs = zip(left.tolist(), right.tolist(), strict=True)
            found = [np.asarray(metric(first[i], second[j], **options)) for i, j in pairs]
            return np.astype(np.stack(found), np.float64) if found else np.zeros(0)
        metric = name
    known = distance._METRIC_ALIAS.get(metric.lower().removeprefix("test_"))  # type: ignore[attr-defined]
    if known is None:
        raise ValueError(f"Unknown Distance Metric: {metric}")
    options = {name: value for name, value in options.items() if value is not None}
    _complete(known.canonical_name, everything, options)
    formula = METRICS[known.canonical_name]
    if all_pairs:
        return formula(first[:, None], second[None, :], **options)
    return formula(first[left], second[right], **options)


def _complete(name: str, everything: Any, options: dict[str, Any]) -> None:
    """Check the options, and find those that follow from all the vectors."""
    count, length = shape_of(everything)
    if "w" in options:
        options["w"] = w = np.astype(np.asarray(options["w"]), np.float64)
        if shape_of(w) != (length,):
            raise ValueError(f"Weights must have same size as input vector. {shape_of(w)[0]} vs. {length}")
        if np.any(w < 0):
            raise ValueError("Input weights should be all non-negative")
    if name == "minkowski" and options.get("p", 2.0) <= 0:
        raise ValueError("p must be greater than 0")
    if name == "seuclidean":
        options["V"] = np.asarray(options["V"]) if "V" in options else np.var(everything, axis=0, ddof=1)
    if name == "mahalanobis":
        if "VI" not in options:
            if count <= length:
                raise ValueError(
                    f"The number of observations ({count}) is too small; the covariance matrix is singular. For "
                    f"observations with {length} dimensions, at least {length + 1} observations are required."
                )
            options["VI"] = np.linalg.inv(np.atleast_2d(np.cov(np.transpose(everything)))).T
        options["VI"] = np.asarray(options["VI"])


def _delivered(found: Any, out: Any) -> Any:
    if out is None:
        return found
    out[...] = found
    return out


for _function in (cdist, pdist):
    _name = f"scipy.spatial.distance.{_function.__name__}"
    replaces("scipy.spatial.distance", _function.__name__)(in_batches(_name, _function))
