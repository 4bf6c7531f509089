"""Networks that learn from rows without labels, by predicting numbers that were hidden from them."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

import adjoint as ad
from adjoint import nn, optim

from ..labels import Array
from ..network.building import built, hidden
from ..network.classifier import MLPClassifier
from ..network.regressor import MLPRegressor
from .parts import with_head

LARGEST_BATCH = 200


class MaskedPretrainer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A network that learns from rows without labels: it predicts numbers that are hidden from it.

    In each epoch other numbers are hidden: they are replaced by those of another row, so a row looks like one to the
    network, and has to be understood for the original to be found. What its layers learn that way is a start for
    `classifier()` and `regressor()`, and `transform` gives it as features.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        The widths of the hidden layers, which are handed on.
    activation : str or callable
        As in `MLPClassifier`.
    mask : float
        The share of the numbers of a row that are hidden.
    max_iter : int
        Epochs.
    batch_size : int or "auto"
        Rows in a step; "auto" is 200, or all.
    learning_rate_init : float
        The size of Adam's steps.
    random_state : int, RandomState or None
        For first weights, hidden numbers and the order of rows.

    Attributes
    ----------
    model_ : nn.MLP
        The network, with a last layer that predicts the columns, each in units of its standard deviation.
    loss_curve_ : list of float
        The mean squared error of hidden numbers in each epoch, in the same units: 1 is what the mean would have.
    n_iter_ : int

    Examples
    --------
    >>> from adjoint import learn
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))  # six columns that hang together
    >>> first = learn.MaskedPretrainer((16,), max_iter=30, random_state=0).fit(X)
    >>> first.loss_curve_[-1] < first.loss_curve_[0], first.transform(X).shape
    (True, (200, 16))
    >>> model = first.classifier(max_iter=50, random_state=0).fit(X[:20], X[:20, 0] > 0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
        "activation": [str, callable],
        "mask": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "learning_rate_init": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    model, dropout, norm = None, 0.0, None  # what `built` asks of a network

    def __init__(
        self,
        hidden_layer_sizes: Any = (128, 64),
        *,
        activation: Any = "relu",
        mask: float = 0.3,
        max_iter: int = 100,
        batch_size: int | str = "auto",
        learning_rate_init: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.mask = mask
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows; labels are not looked at."""
        self._validate_params()
        X = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        rng = check_random_state(self.random_state)
        scale = np.std(X, axis=0)
        scale[~(scale > 10.0 * np.finfo(X.dtype).eps * np.max(np.abs(X), axis=0))] = 1.0
        size = min(LARGEST_BATCH if self.batch_size == "auto" else int(self.batch_size), len(X))
        model = built(self, X, X.shape[1], rng)
        if len(model.layers) < 2:
            raise ValueError(f"hidden_layer_sizes has to have a layer, got {self.hidden_layer_sizes!r}.")
        rows = MaskedRows(X, (X - np.mean(X, axis=0)) / scale, float(self.mask), size, rng.randint(2**31 - 1))
        fit = ad.train(
            model, of_hidden, rows, optim.adam(float(self.learning_rate_init)), epochs=int(self.max_iter),
            seed=int(rng.randint(2**31 - 1)), progress=False,
        )  # fmt: skip
        self.model_, self.fit_ = fit.model, fit
        self.loss_curve_ = fit.history["loss"].tolist()
        self.n_iter_ = len(self.loss_curve_)
        return self

    def transform(self, X: Any, layer: int = -1) -> Array:
        """What a hidden layer makes of rows, by default the last one."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=self.model_.layers[0].weight.dtype, reset=False)
        return np.asarray(hidden(self.model_, X)[0][layer])

    def classifier(self, **options: Any) -> MLPClassifier:
        """An `MLPClassifier`, not fitted yet, whose hidden layers start from what was learned here."""
        check_is_fitted(self)
        return MLPClassifier(self.hidden_layer_sizes, self.activation, model=StartingFrom(self.model_), **options)

    def regressor(self, **options: Any) -> MLPRegressor:
        """An `MLPRegressor`, not fitted yet, whose hidden layers start from what was learned here."""
        check_is_fitted(self)
        return MLPRegressor(self.hidden_layer_sizes, self.activation, model=StartingFrom(self.model_), **options)

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.layers[-1].weight.shape[0])


class StartingFrom:
    """What estimators take as `model`: makes a network with the hidden layers of another and a new last one."""

    def __init__(self, source: nn.MLP) -> None:
        self.source = source

    def __call__(self, inputs: int, outputs: int, rng: np.random.RandomState) -> Any:
        """A network for so many inputs and outputs."""
        expected = self.source.layers[0].weight.shape[0]
        if inputs != expected:
            raise ValueError(f"X has {inputs} features, but the network was trained before with {expected}.")
        return with_head(self.source, outputs, rng)


class MaskedRows:
    """Batches of rows with hidden numbers; others in each epoch, which is each time that it is gone through."""

    def __init__(self, X: Array, targets: Array, share: float, size: int, seed: int) -> None:
        self.X, self.targets, self.share, self.size, self.seed = X, targets, share, size, seed
        self.epoch = 0

    def __iter__(self) -> Iterator[tuple[Array, tuple[Array, Array]]]:
        rng = np.random.default_rng([self.seed, self.epoch])
        self.epoch += 1
        n = len(self.X)
        order = np.resize(rng.permutation(n), -(-n // self.size) * self.size)  # whole batches: the first come twice
        for rows in order.reshape(-1, self.size):
            is_hidden = rng.random((self.size, self.X.shape[1])) < self.share
            others = self.X[rng.integers(n, size=is_hidden.shape), np.arange(self.X.shape[1])]
            yield np.where(is_hidden, others, self.X[rows]), (self.targets[rows], is_hidden.astype(self.X.dtype))


def of_hidden(outputs: Any, targets: Any) -> Any:
    """The mean squared error of what was hidden."""
    values, is_hidden = targets
    return np.sum(is_hidden * (outputs - values) ** 2) / np.maximum(np.sum(is_hidden), 1.0)
