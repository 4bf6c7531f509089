"""A network that classifies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from adjoint import nn

from ..labels import Array, check_several, encoded
from .building import built, of_weights
from .choices import CLASSIFICATION
from .estimator import Network
from .measures import accuracy


class MLPClassifier(ClassifierMixin, Network):
    """A network that classifies: scikit-learn's, with any model, loss and optimiser.

    Plain networks (dense layers, "adam", cross-entropy) are trained by NumPy, without a compiler; all others by
    `ad.train`, whose machine code serves all folds and points of a grid.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        The widths of the hidden layers; () for none.
    activation : str or callable
        "relu", "tanh", "logistic", "identity", any name that `nn.activation` knows, or a function of an array.
    loss : str or callable
        "cross_entropy", "focal", or `loss(logits, codes) -> number`, with `sample_weight=` if weights are to be used.
    optimizer : str or Optimizer
        "adam", "adamw", "adagrad", "lion", "rmsprop", "sgd" (with momentum 0.9), with the rate `learning_rate_init`;
        "lbfgs", on all rows at once; or one of `optim` with a rate of its own.
    alpha : float
        The strength of the penalty: alpha / (2 n) times the squares of the weights, beside the mean loss of n rows (in
        `partial_fit`, of all rows so far). Biases are not penalised.
    batch_size : int or "auto"
        Rows of a step; "auto" is 200, or all if there are fewer.
    learning_rate_init : float
        The rate of the optimiser.
    max_iter : int
        Epochs, at most.
    shuffle : bool
        Whether rows come in a new order in each epoch.
    dropout : float
        The probability that a hidden number is set to 0 in training.
    norm : {"batch", "layer"} or None
        The normalisation of hidden layers.
    regularizer : callable, optional
        `regularizer(parameters) -> number`, added to the mean loss: `losses.gaussian_prior(1.0, n=len(X))`.
    class_weight : dict, "balanced" or None
        How much the rows of each class count.
    early_stopping : bool
        Whether to hold rows out and choose the epoch that has the least loss on them.
    refit : bool or "auto"
        Whether to train once more on all rows after that, for as many epochs; "auto" if there are fewer than 5,000.
    validation_fraction : float
        The share of rows that is held out; at least 50 rows are, or a quarter of them if there are few.
    n_iter_no_change, tol : int, float
        A run ends when the loss (that of the rows held out, if there are any) has not become smaller by tol for so many
        epochs.
    warm_start : bool
        Whether a further `fit` goes on where the last one ended.
    model : nn model or callable, optional
        A model to train in place of hidden_layer_sizes, activation, dropout and norm, or a function
        `(n_features, n_outputs, rng)` that makes one.
    callbacks : callable or list of callable, optional
        Called after each epoch with the `ad.Fit` so far; one that returns True ends the run.
    random_state : int, RandomState or None
        Decides first weights, the order of rows, and which are held out.

    Attributes
    ----------
    classes_ : array
        The labels.
    model_ : nn model
        The network: `model_(X)` gives logits (n, classes).
    fit_ : ad.Fit
        The run: `fit_.plot()`, `fit_.page("training.html")`, `fit_.stopped`.
    history_ : dict of str to array
        "loss" of each epoch; with rows held out also "validation_loss" and "score".
    loss_curve_, validation_loss_curve_ : list
        The first two of these.
    n_iter_, best_epoch_ : int
        Epochs that were taken, and the one that was best.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from adjoint import learn
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = learn.MLPClassifier(learning_rate_init=0.01, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, model.transform(X).shape
    (True, (150, 100))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Network._parameter_constraints,
        "loss": [StrOptions({*CLASSIFICATION}), callable],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    decision_function_is_logits = True

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: str | Callable[[Any], Any] = "relu",
        *,
        loss: str | Callable[..., Any] = "cross_entropy",
        optimizer: Any = "adam",
        alpha: float = 1.5,
        batch_size: int | str = "auto",
        learning_rate_init: float = 2e-3,
        max_iter: int = 200,
        shuffle: bool = True,
        dropout: float = 0.0,
        norm: str | None = None,
        regularizer: Callable[..., Any] | None = None,
        class_weight: Any = None,
        early_stopping: bool = False,
        refit: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        warm_start: bool = False,
        model: Any = None,
        callbacks: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            hidden_layer_sizes, activation, loss, optimizer, alpha, batch_size, learning_rate_init, max_iter, shuffle,
            dropout, norm, regularizer, early_stopping, refit, validation_fraction, n_iter_no_change, tol, warm_start,
            model, callbacks, random_state,
        )  # fmt: skip
        self.class_weight = class_weight

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch more; the first call has to name all classes that will ever come."""
        self._validate_params()
        if classes is not None and not hasattr(self, "model_"):
            self.classes_ = np.unique(column_or_1d(classes))
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(
                f"classes={classes!r} is not the same as on last call to partial_fit, was: {self.classes_}"
            )
        elif not hasattr(self, "model_"):
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._more(X, y, sample_weight)

    def decision_function(self, X: Any) -> Array:
        """Logits of shape (n, classes); of two classes the difference of the second and the first, (n,)."""
        logits = self._outputs(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        return np.asarray(nn.softmax(self._outputs(X)))

    def predict_log_proba(self, X: Any) -> Array:
        """Its logarithm."""
        return np.asarray(nn.log_softmax(self._outputs(X)))

    def predict(self, X: Any) -> Array:
        """The likeliest class."""
        chosen = np.argmax(self._outputs(X), axis=1)
        return self.classes_[chosen]

    @classmethod
    def from_parameters(
        cls, weights: Any, *, activation: Any = "relu", X: Any = None, y: Any = None, **options: Any
    ) -> Self:
        """A fitted classifier of weights that were found elsewhere, to score, explain or train on.

        Parameters
        ----------
        weights : list or mapping
            Pairs (W, b), one for each layer, with W of shape (inputs, outputs); `[coefs_, intercepts_]` of
            scikit-learn; or a `state_dict` of PyTorch's, whose matrices are transposed. One output is the logit of
            the second class.
        activation : str or callable
            The activation between layers.
        X : array (n, columns), optional
            Rows, for the names of the columns.
        y : array (n,), optional
            Labels, for the classes; 0, 1, ... without.
        **options
            Parameters of the classifier.
        """
        network = of_weights(weights, activation)
        if network.layers[-1].weight.shape[1] == 1:
            network = _two(network)
        hidden = [layer.weight.shape[1] for layer in network.layers[:-1]]
        made = cls(tuple(hidden), activation, **options)
        count = network.layers[-1].weight.shape[1]
        made._adopt(network, X)
        made.classes_ = np.arange(count) if y is None else np.unique(column_or_1d(y))
        if len(made.classes_) != count:
            raise ValueError(f"y has {len(made.classes_)} classes, but the weights are for {count}.")
        return made

    def _given(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, names_classes: bool
    ) -> tuple[Array, Array, Array | None]:
        X, y = self._rows(X, y, reset=reset)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        weights = self._weights(sample_weight, X)
        if weights is not None:
            counts = weights > 0.0
            X, y, weights = X[counts], y[counts], weights[counts]
        if names_classes:
            self.classes_ = np.unique(y)
        check_several(self)
        codes = encoded(y, self.classes_)
        if self.class_weight is not None:
            of_classes = compute_sample_weight(self.class_weight, y).astype(X.dtype)
            weights = of_classes if weights is None else weights * of_classes
        return X, codes, weights

    def _start(self, X: Array, y: Array, weights: Array | None, rng: Any) -> Any:
        if hasattr(self, "model_"):
            return self.model_
        return built(self, X, len(self.classes_), rng)

    def _held_out(self, X: Any, y: Any) -> tuple[Array, Array]:
        X, y = self._rows(X, y, reset=False)
        return X, encoded(y, self.classes_)

    def _loss(self) -> Callable[..., Any]:
        return CLASSIFICATION[self.loss] if isinstance(self.loss, str) else self.loss

    def _penalty(self) -> float:
        return float(self.alpha)

    def _strata(self, y: Array, count: int) -> Array | None:
        """Labels to split by, if each class has two rows and those held out have room for all classes."""
        return y if np.min(np.bincount(y)) > 1 and count >= len(self.classes_) <= len(y) - count else None

    def _measure(self) -> Callable[..., Any]:
        return accuracy

    def _unit(self, y: Array, weights: Array | None) -> float:
        return 1.0

    def _finished(self, model: Any) -> Any:
        return model


def _two(network: nn.MLP) -> nn.MLP:
    """One logit of the second class as two, of which the first is 0."""
    last = network.layers[-1]
    weight, bias = [np.concatenate([np.zeros_like(a), a], axis=-1) for a in (last.weight, last.bias)]
    return replace(network, layers=(*network.layers[:-1], replace(last, weight=weight, bias=bias)))  # type: ignore[type-var]
