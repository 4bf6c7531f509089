"""What a fitted estimator computes, as a function of its weights: outputs, and how they move with every weight.

Weights come in blocks, one for each array of a dense layer: outputs move with entry (a, b) of a block by
`inputs[:, a] * slopes[:, :, b]`. A bias is a block whose only input is 1. So no Jacobian of all weights is made here.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, RidgeCV
from sklearn.linear_model import Ridge as ScikitRidge
from sklearn.pipeline import Pipeline

from adjoint import nn

from ..labels import Array
from ..linear.least_squares import LeastSquares
from ..linear.ridge import Ridge
from .links import probabilities
from .tapping import Taps

ACTIVATIONS = {"identity": "identity", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}
"""What scikit-learn's networks call theirs, and `nn`."""
LEAST_SQUARES = (LeastSquares, Ridge, LinearRegression, BayesianRidge, ScikitRidge, RidgeCV)
"""Whose objective is squares, with a penalty on squares."""
LIKELIHOODS = ("squared", "squared_error", "cross_entropy", "logistic", "log_loss")
"""Losses that are likelihoods of the outputs."""
MOST_CHECKED = 100
"""Rows whose predictions are compared."""
MOST_BYTES = 2**24
"""Of the rows that are looked at together: their inputs and slopes, or their Jacobians."""


@dataclass(frozen=True)
class WeightBlock:
    """Weights that are random, of shape (inputs, outputs), at their mean; `prior` is the mean of their prior."""

    name: str
    mean: Array
    prior: Any = 0.0


@dataclass(frozen=True)
class RowSlopes:
    """Outputs (n, k), and for each block its inputs (n, a) and its slopes (n, k, b)."""

    outputs: Array
    inputs: list[Array]
    slopes: list[Array]


class Model(Protocol):
    """Outputs as a function of blocks of weights."""

    @property
    def blocks(self) -> list[WeightBlock]:
        """Weights that are random."""

    def outputs(self, X: Array) -> Array:
        """Outputs at the mean of the weights, shape (n, k)."""

    def rows(self, X: Array) -> RowSlopes:
        """Outputs, inputs and slopes."""


@dataclass(frozen=True)
class LinearModel:
    """((X - centre) W + b) S.

    In a regression b may be anything, and is no block: what it adds is known in closed form. Logits of three classes
    and more are taken less their mean: what all of them share says nothing, and the data say nothing about it.
    `is_least_squares` is whether the estimator's objective is a Gaussian posterior, whose mean is known for all priors.
    """

    weight: Array
    bias: Array
    slopes: Array
    centre: Array
    random: tuple[str, ...]
    has_intercept: bool
    is_least_squares: bool

    @property
    def blocks(self) -> list[WeightBlock]:
        """Weights that are random."""
        means = {"weight": self.weight, "bias": self.bias[None, :]}
        return [WeightBlock(name, means[name]) for name in self.random]

    def outputs(self, X: Array) -> Array:
        """At the mean of the weights."""
        return ((X - self.centre) @ self.weight + self.bias) @ self.slopes

    def rows(self, X: Array) -> RowSlopes:
        """Outputs, inputs and slopes."""
        inputs = {"weight": X - self.centre, "bias": np.ones((len(X), 1))}
        slopes = np.broadcast_to(self.slopes, (len(X), *self.slopes.shape))
        return RowSlopes(self.outputs(X), [inputs[name] for name in self.random], [slopes] * len(self.random))


@dataclass(frozen=True)
class NetworkModel:
    """A tree of `nn`, of which weights of dense layers are random.

    In a regression the bias that is added last has a prior around the mean of the targets: where they have their zero
    does not matter then.
    """

    tree: Any
    names: tuple[str, ...]
    priors: dict[str, Array]

    @property
    def blocks(self) -> list[WeightBlock]:
        """Weights that are random."""
        arrays = nn.parameters(self.tree)
        means = {name: np.atleast_2d(np.asarray(arrays[name], dtype=np.float64)) for name in self.names}
        return [WeightBlock(name, mean, self.priors.get(name, 0.0)) for name, mean in means.items()]

    def outputs(self, X: Array) -> Array:
        """At the mean of the weights."""
        return np.asarray(self.tree(X), dtype=np.float64)

    def rows(self, X: Array) -> RowSlopes:
        """Outputs, inputs and slopes."""
        layers = [name.rpartition(".")[0] for name in self.names]
        outputs, inputs, slopes = Taps(self.tree, layers).pulled(X)
        one = np.ones((len(X), 1))
        is_bias = [name.rpartition(".")[2] == "bias" for name in self.names]
        return RowSlopes(
            outputs,
            [one if bias else inputs[layer] for bias, layer in zip(is_bias, layers, strict=True)],
            [slopes[layer] for layer in layers],
        )


def unwrapped(estimator: Any) -> tuple[list[Any], Any]:
    """The transformers in front of a fitted estimator, and the estimator itself."""
    if isinstance(estimator, FrozenEstimator):
        return unwrapped(estimator.estimator)
    if isinstance(estimator, Pipeline):
        steps, last = unwrapped(estimator.steps[-1][1])
        front = [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
        return [*front, *steps], last
    return [], estimator


def transformed(steps: list[Any], X: Any) -> Array:
    """What the estimator behind the transformers gets."""
    for step in steps:
        X = step.transform(X)
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)


def model_of(estimator: Any, X: Array, y: Array, weights: Array, chosen: str) -> Model:
    """A fitted estimator as a function of the weights that were chosen."""
    loss = getattr(estimator, "loss", None)
    if loss is not None and loss not in LIKELIHOODS:
        raise ValueError(f"Laplace needs the loss of a likelihood, 'squared' or 'cross_entropy', got loss={loss!r}.")
    middle = None if is_classifier(estimator) else weights @ y / np.sum(weights)
    if callable(getattr(estimator, "model_", None)):
        model: Model = _network(estimator.model_, X, middle, chosen)
    elif hasattr(estimator, "coefs_"):
        model = _network(_tree_of(estimator), X, middle, chosen)
    elif hasattr(estimator, "coef_"):
        model = _linear(estimator, X, weights, chosen)
    else:
        raise TypeError(
            f"Laplace takes linear models and networks of dense layers, got {type(estimator).__name__}, which has no "
            "coef_ and no model_."
        )
    return model


def check_predictions(estimator: Any, X: Any, outputs: Array) -> None:
    """Refuse estimators that make other predictions of these outputs: counts, margins, deviations."""
    wanted = np.empty((0, 0))
    if not is_classifier(estimator):
        found, wanted = outputs, np.asarray(estimator.predict(X)).reshape(len(outputs), -1)
    elif hasattr(estimator, "predict_proba"):
        found, wanted = probabilities(outputs), np.asarray(estimator.predict_proba(X))
    else:
        found = outputs
    if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.max(np.abs(wanted))):
        raise TypeError(
            f"Laplace takes estimators that predict x W + b, or the outputs of a network, or their softmax; "
            f"{type(unwrapped(estimator)[1]).__name__} does not."
        )


def batches(count: int, bytes_per_row: int) -> Iterator[slice]:
    """Rows to look at together."""
    size = max(1, MOST_BYTES // max(1, bytes_per_row))
    for start in range(0, count, size):
        yield slice(start, start + size)


def row_bytes(model: Model, outputs: int) -> int:
    """Of the inputs and slopes of one row."""
    return 8 * sum(block.mean.shape[0] + 3 * outputs * block.mean.shape[1] for block in model.blocks)


def _linear(estimator: Any, X: Array, weights: Array, chosen: str) -> LinearModel:
    weight = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64)).T
    bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), weight.shape[1]).copy()
    has_bias = bool(getattr(estimator, "fit_intercept", True))
    names = _matching(["weight", "bias"] if has_bias else ["weight"], chosen, last=None)
    slopes = np.eye(len(bias))
    if is_classifier(estimator):
        slopes = slopes - 1.0 / len(bias) if len(bias) > 1 else slopes
        return LinearModel(weight, bias, slopes, np.zeros(X.shape[1]), names, has_bias, False)
    centre = weights @ X / np.sum(weights) if has_bias else np.zeros(X.shape[1])
    is_plain = isinstance(estimator, LEAST_SQUARES) and not getattr(estimator, "positive", False)
    return LinearModel(weight, bias + centre @ weight, slopes, centre, ("weight",), has_bias, is_plain)


def _network(tree: Any, X: Array, middle: Array | None, chosen: str) -> NetworkModel:
    taps = Taps(tree)
    last = taps.last(X[:1])
    names = _matching(list(nn.parameters(tree)), chosen, last=last)
    for name in names:
        taps.check(name)
    priors = {}
    bias = f"{last}.bias".lstrip(".")
    if middle is not None and bias in names:
        slopes = Taps(tree, [last]).pulled(X[:1])[2][last][0]
        if np.array_equal(slopes, np.eye(len(slopes))):
            priors[bias] = middle[None, :]
    return NetworkModel(tree, names, priors)


def _matching(names: list[str], chosen: str, *, last: str | None) -> tuple[str, ...]:
    """The names that were asked for."""
    if chosen == "all" or (chosen == "last" and last is None):
        return tuple(names)
    pattern = chosen if chosen != "last" else f"{last}.*" if last else "*"
    found = tuple([name for name in names if fnmatch.fnmatchcase(name, pattern)])
    if not found:
        raise ValueError(f"weights={chosen!r} fits none of the names {', '.join(names)}; or write 'last' or 'all'.")
    return found


def _tree_of(estimator: Any) -> Any:
    """A network of scikit-learn as a tree."""
    parts: list[Any] = []
    for weight, bias in zip(estimator.coefs_, estimator.intercepts_, strict=True):
        dense = nn.Dense(*weight.shape, key=0)
        parts += [nn.replace(dense, {"weight": weight, "bias": bias}), ACTIVATIONS[estimator.activation]]
    return nn.Sequential(*parts[:-1])
