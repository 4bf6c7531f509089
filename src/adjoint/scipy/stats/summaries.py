"""Statistics of samples: SciPy's own code runs through; what it meets on the way that needs a version of ours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats
from scipy.stats import _stats_py

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced, is_differentiated
from ...numpy.dispatch.arguments import as_value, holds_traced
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import Answer, divert, replaces
from ...ops.shape import stopped
from ..array_api import vendored
from .samples import sampled


def install() -> None:
    """Take over traced arguments."""
    divert(vendored("array_api_compat.common._aliases").clip, Answer(ours=clip, in_parts=True), "scipy.clip")
    divert(vendored("array_api_extra").at._op, Answer(ours=updated, calls_back=True), "scipy.at")
    for name in ("boxcox", "yeojohnson"):
        function = getattr(scipy.stats, name)
        divert(function, Answer(ours=functools.partial(transformed, name), calls_back=True), f"scipy.stats.{name}")
    if hasattr(scipy.stats, "Mixture"):
        answer = Answer(ours=of_constants, calls_back=True)
        divert(scipy.stats.truncate, answer, "scipy.stats.truncate")
        divert(scipy.stats.Mixture.__init__, answer, "scipy.stats.Mixture")
    divert(_stats_py._cdf_distance, Answer(ours=distance, in_parts=True), "scipy.stats.wasserstein_distance")


def transformed(name: str, original: Callable[..., Any], x: Any, lmbda: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A power of the data; which one, is not searched for."""
    if lmbda is None and is_differentiated(x):
        raise UnsupportedError(
            message(
                f"scipy.stats.{name} is not differentiated without lmbda: it searches for it.",
                fix=f"Pass  lmbda,  as in  scipy.stats.{name}(x, 0.5).",
            )
        )
    return sampled(f"scipy.stats.{name}", original, x, lmbda, *args, **kwargs)


def of_constants(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A distribution made of others, unless these have parameters that are traced."""
    parts = [part for x in args for part in (x if isinstance(x, (list, tuple)) else [x])]
    held = [v for part in parts for v in getattr(part, "_original_parameters", {}).values()]
    if holds_traced([*args, *kwargs.values(), *held]):
        raise UnsupportedError(
            message(
                f"scipy.stats.{original.__qualname__.partition('.')[0]} is not differentiated: it holds its parts in "
                "plain arrays.",
                fix="Add up the densities with their weights, or divide by the difference of two levels of  cdf.",
            )
        )
    return original(*args, **kwargs)


@replaces("scipy.stats", "expectile")
def expectile(a: Any, alpha: Any = 0.5, *, weights: Any = None) -> Any:
    """A mean that weighs what is above it by alpha, and what is below by the rest."""
    if is_differentiated(alpha):
        raise UnsupportedError(
            message("scipy.stats.expectile is not differentiated with respect to alpha.", fix="Pass  ad.value(alpha).")
        )
    a = as_value(a)
    words = {} if weights is None else {"weights": stopped(as_value(weights))}
    found = as_constant("scipy.stats.expectile", scipy.stats.expectile, (stopped(a), alpha), words)
    shares = np.where(a > found, alpha, 1.0 - alpha) * (1.0 if weights is None else weights)
    return np.sum(shares * a) / np.sum(shares)


def clip(x: Any, /, min: Any = None, max: Any = None, *, xp: Any = None, out: Any = None) -> Any:
    """The array standard's `clip`."""
    return np.clip(x, min, max)


def updated(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """`at(x, i).set(y)`, for an array without axes too, which a traced number stands for."""
    x = self._x
    if isinstance(x, Traced) and x.shape == ():
        self = type(self)(np.reshape(x, (1,)), (np.reshape(self._idx, (1,)) if _is_mask(self._idx) else self._idx,))
        return original(self, *args, **kwargs)[0]
    return original(self, *args, **kwargs)


def _is_mask(index: Any) -> bool:
    return isinstance(index, (bool, np.bool, np.ndarray, Traced))


def distance(p: Any, u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """The distance of two distributions of values: the integral of a power of the difference of their levels."""
    both = [_checked(u_values, u_weights), _checked(v_values, v_weights)]
    places = np.sort(np.concatenate([values for values, _ in both]), kind="stable")
    levels = [_level(values, weights, stopped(places[:-1])) for values, weights in both]
    gap, width = np.abs(levels[0] - levels[1]), np.diff(places)
    if p == 1:
        return np.sum(gap * width)
    return np.sum(gap**p * width) ** (1.0 / p)


def _checked(values: Any, weights: Any) -> tuple[Any, Any]:
    values, weights = as_value(values) * np.float64(1.0), None if weights is None else as_value(weights)
    if np.size(values) == 0:
        raise ValueError("Distribution can't be empty.")
    if weights is not None and len(weights) != len(values):
        raise ValueError("Value and weight array-likes for the same empirical distribution must be of the same size.")
    if weights is not None and np.any(weights < 0):
        raise ValueError("All weights must be non-negative.")
    if weights is not None and not 0 < np.sum(weights) < np.inf:
        raise ValueError(
            "Weight array-like sum must be positive and finite. Set as None for an equal distribution of weight."
        )
    return values, weights


def _level(values: Any, weights: Any, places: Any) -> Any:
    """How much of a distribution is at or below places."""
    order = np.argsort(stopped(values))
    below = np.searchsorted(stopped(values)[order], places, "right")
    if weights is None:
        return below / np.size(values)
    sums = np.concatenate([np.zeros(1), np.cumsum(weights[order])])
    return sums[below] / sums[-1]
