"""The distances of vectors along the last axis, all pairs at once: what SciPy's compiled loops compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Metric = Callable[..., Any]


def _sum(x: Any, w: Any) -> Any:
    """The sum along the last axis, weighted."""
    return np.sum(x if w is None else w * x, -1)


def _ratio(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    is_zero = y == 0
    return np.where(is_zero, 0.0, x / np.where(is_zero, 1.0, y))


def _angle(u: Any, v: Any, w: Any) -> Any:
    """1 less the cosine of the angle between vectors."""
    share = _sum(u * v, w) / np.sqrt(_sum(u * u, w) * _sum(v * v, w))
    return 1.0 - np.clip(share, -1.0, 1.0)


def _correlation(u: Any, v: Any, w: Any = None) -> Any:
    if w is None:
        return _angle(u - np.mean(u, -1, keepdims=True), v - np.mean(v, -1, keepdims=True), None)
    w = w / np.sum(w)
    return _angle(u - _sum(u, w)[..., None], v - _sum(v, w)[..., None], w)


def _minkowski(u: Any, v: Any, p: Any = 2.0, w: Any = None) -> Any:
    far = np.abs(u - v)
    if p == np.inf:
        return np.max(far if w is None else np.where(w != 0, far, 0.0), -1)
    if p == 1:
        return _sum(far, w)
    if p == 2:
        return np.sqrt(_sum(far * far, w))
    return _sum(far**p, w) ** (1.0 / p)


def _jensen_shannon(u: Any, v: Any, w: Any = None) -> Any:
    from scipy.special import rel_entr

    u, v = u / np.sum(u, -1, keepdims=True), v / np.sum(v, -1, keepdims=True)
    middle = (u + v) / 2.0
    return np.sqrt((np.sum(rel_entr(u, middle), -1) + np.sum(rel_entr(v, middle), -1)) / 2.0)


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    far = u - v
    return np.sqrt(np.sum((far @ VI) * far, -1))


def _jaccard(u: Any, v: Any, w: Any = None) -> Any:
    u, v = u != 0, v != 0
    return _ratio(_sum((u != v) * 1.0, w), _sum((u | v) * 1.0, w))


def _hamming(u: Any, v: Any, w: Any = None) -> Any:
    return _sum((u != v) * 1.0, None if w is None else w / np.sum(w)) / (u.shape[-1] if w is None else 1.0)


def _counting(formula: Callable[..., Any]) -> Metric:
    """A distance of truth values: of how many are true in both, in one and in neither."""

    def distance(u: Any, v: Any, w: Any = None) -> Any:
        u, v = (u != 0) * 1.0, (v != 0) * 1.0
        counts = [_sum(x, w) for x in (u * v, u * (1.0 - v), (1.0 - u) * v, (1.0 - u) * (1.0 - v))]
        return formula(*counts)

    return distance


def _yule(tt: Any, tf: Any, ft: Any, ff: Any) -> Any:
    return _ratio(2.0 * tf * ft, np.where(tf * ft == 0, 1.0, tt * ff + tf * ft))


METRICS: dict[str, Metric] = {
    "braycurtis": lambda u, v, w=None: _sum(np.abs(u - v), w) / _sum(np.abs(u + v), w),
    "canberra": lambda u, v, w=None: _sum(_ratio(np.abs(u - v), np.abs(u) + np.abs(v)), w),
    "chebyshev": lambda u, v, w=None: _minkowski(u, v, np.inf, w),
    "cityblock": lambda u, v, w=None: _minkowski(u, v, 1, w),
    "correlation": _correlation,
    "cosine": lambda u, v, w=None: _angle(u, v, w),
    "dice": _counting(lambda tt, tf, ft, ff: (tf + ft) / (2.0 * tt + tf + ft)),
    "euclidean": lambda u, v, w=None: _minkowski(u, v, 2, w),
    "hamming": _hamming,
    "jaccard": _jaccard,
    "jensenshannon": _jensen_shannon,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "rogerstanimoto": _counting(lambda tt, tf, ft, ff: 2.0 * (tf + ft) / (tt + ff + 2.0 * (tf + ft))),
    "russellrao": _counting(lambda tt, tf, ft, ff: (tf + ft + ff) / (tt + tf + ft + ff)),
    "seuclidean": lambda u, v, V: np.sqrt(np.sum((u - v) ** 2 / V, -1)),
    "sokalsneath": _counting(lambda tt, tf, ft, ff: 2.0 * (tf + ft) / (tt + 2.0 * (tf + ft))),
    "sqeuclidean": lambda u, v, w=None: _sum((u - v) ** 2, w),
    "yule": _counting(_yule),
}
"""SciPy's names of distances, to their formulas."""
