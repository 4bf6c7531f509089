"""What classifiers and regressors have in common: how a network is made, trained, trained further and looked into."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

import adjoint as ad
from adjoint import optim

from ..labels import Array
from .building import hidden
from .choices import OPTIMIZERS
from .jobs import Job
from .running import chosen_by, run

LARGEST_BATCH = 200
ENOUGH = 50
"""So many rows are held out at least, or a quarter of them if there are few."""
FEW = 5000
"""With fewer rows, those held out are worth a second run with all."""
SEEDS = 2**31 - 1


class Network(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A network as an estimator."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
        "activation": [str, callable],
        "optimizer": [StrOptions({*OPTIMIZERS, "lbfgs"}), optim.Optimizer],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "learning_rate_init": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "norm": [StrOptions({"batch", "layer"}), None],
        "regularizer": [callable, None],
        "early_stopping": ["boolean"],
        "refit": [StrOptions({"auto"}), "boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "model": "no_validation",
        "callbacks": [callable, list, tuple, None],
        "random_state": ["random_state"],
    }

    _dtype: np.dtype[Any]
    _row_shape: tuple[int, ...]
    history_: dict[str, Array]
    model_: Any

    def __init__(
        self, hidden_layer_sizes: Any, activation: Any, loss: Any, optimizer: Any, alpha: Any, batch_size: Any,
        learning_rate_init: float, max_iter: int, shuffle: bool, dropout: float, norm: str | None, regularizer: Any,
        early_stopping: bool, refit: bool | str, validation_fraction: float, n_iter_no_change: int, tol: float,
        warm_start: bool, model: Any, callbacks: Any, random_state: Any,
    ) -> None:  # fmt: skip
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.loss = loss
        self.optimizer = optimizer
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.dropout = dropout
        self.norm = norm
        self.regularizer = regularizer
        self.early_stopping = early_stopping
        self.refit = refit
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.model = model
        self.callbacks = callbacks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array (n, columns)
            Rows.
        y : array (n,) or (n, outputs)
            Their labels or values.
        sample_weight : array (n,), optional
            How much each row counts; rows of weight 0 do not count at all.
        X_val : array, optional
            Rows to choose the best epoch by, in place of a fraction of the others.
        y_val : array, optional
            Their labels or values.
        """
        self._validate_params()
        goes_on = self.warm_start and hasattr(self, "model_")
        X, y, weights = self._given(X, y, sample_weight, reset=not goes_on, names_classes=not goes_on)
        if not goes_on:
            self._forget()
        rng = check_random_state(self.random_state)
        if X_val is not None:
            return self._train(X, y, weights, rng, epochs=self.max_iter, validation=self._held_out(X_val, y_val))
        if not self.early_stopping:
            return self._train(X, y, weights, rng, epochs=self.max_iter)
        return self._train(X, y, weights, rng, epochs=self.max_iter, split=self._split(y, rng))

    def _more(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """One epoch more."""
        self._validate_params()
        is_first = not hasattr(self, "model_")
        if sample_weight is not None and not is_first and not np.any(sample_weight):
            self._seen(X)
            return self  # nothing is to be learnt from rows that do not count
        X, y, weights = self._given(X, y, sample_weight, reset=is_first, names_classes=False)
        if is_first:
            self._forget()
        return self._train(X, y, weights, check_random_state(self.random_state), epochs=1)

    def transform(self, X: Any, layer: int = -1) -> Array:
        """What a hidden layer makes of rows.

        Parameters
        ----------
        X : array (n, columns)
            Rows.
        layer : int
            Which hidden layer, by default the last one. The names of the columns are those of the last one.
        """
        rows = self._seen(X)
        features, _ = hidden(self.model_, rows)
        if not features:
            raise ValueError(
                "The network has no hidden layer that is known: it is no nn.MLP or nn.Sequential of layers."
            )
        return np.asarray(features[layer]).reshape(len(features[layer]), -1)

    @property
    def _n_features_out(self) -> int:
        features, _ = hidden(self.model_, np.zeros((1, *self._row_shape), self._dtype))
        return int(features[-1][0].size) if features else 0

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each epoch."""
        return list(self.history_["loss"].tolist())

    @property
    def validation_loss_curve_(self) -> list[float] | None:
        """The mean loss on rows that were held out, after each epoch."""
        found = self.history_.get("validation_loss")
        return None if found is None else list(found.tolist())

    def _seen(self, X: Any) -> Array:
        """Checked rows for a fitted estimator."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=self._dtype, reset=False, **self._shapes())

    def _shapes(self) -> dict[str, Any]:
        return {"allow_nd": self.model is not None}

    def _outputs(self, X: Any) -> Array:
        rows = self._seen(X)
        return np.asarray(self.model_(rows))

    def _rows(self, X: Any, y: Any, *, reset: bool, **options: Any) -> tuple[Array, Any]:
        kinds: Any = (np.float64, np.float32) if reset else self._dtype
        X, y = validate_data(self, X, y, dtype=kinds, reset=reset, **self._shapes(), **options)
        if reset:
            self._dtype, self._row_shape = X.dtype, X.shape[1:]
        return X, y

    def _weights(self, sample_weight: Any, X: Array) -> Array | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        if not np.any(weights > 0.0):
            raise ValueError("sample_weight has to have a weight above 0, got zeros only: no sample is left.")
        return weights

    def _split(self, y: Array, rng: Any) -> tuple[Array, Array]:
        """Rows to train with, and rows to choose the best epoch by: enough of them to tell epochs apart."""
        count = max(round(self.validation_fraction * len(y)), min(ENOUGH, len(y) // 4), 1)
        kept, rest = train_test_split(
            np.arange(len(y)), test_size=count, stratify=self._strata(y, count), random_state=rng
        )
        return kept, rest

    def _train(
        self,
        X: Array,
        y: Array,
        weights: Array | None,
        rng: Any,
        *,
        epochs: int,
        validation: Any = None,
        split: Any = None,
    ) -> Self:
        """Go on from the model there is, or start with a new one."""
        job = self._job(X, y, weights, rng, epochs=epochs, validation=validation)
        self._take(self._run(job, split))
        return self

    def _run(self, job: Job, split: Any) -> ad.Fit:
        return run(job) if split is None else chosen_by(job, *split, refit=self._refits(len(job.X)))

    def _job(self, X: Array, y: Array, weights: Array | None, rng: Any, *, epochs: int, validation: Any = None) -> Job:
        self._weight_seen += float(len(X) if weights is None else np.sum(weights))  # a weight of 2 is a row given twice
        batch = LARGEST_BATCH if self.batch_size == "auto" else int(self.batch_size)
        model = self._start(X, y, weights, rng)
        callbacks = [self.callbacks] if callable(self.callbacks) else list(self.callbacks or ())
        if not all([callable(each) for each in callbacks]):
            raise ValueError(f"callbacks have to be functions of the fit so far, got {self.callbacks!r}.")
        unit = self._unit(y, weights)
        return Job(
            model, self._loss(), X, y, weights, self.optimizer,
            rate=float(self.learning_rate_init), alpha=self._penalty() / self._weight_seen,
            unit=unit, batch_size=batch if self.optimizer != "lbfgs" else len(X), epochs=int(epochs),
            shuffle=bool(self.shuffle), seed=int(rng.randint(SEEDS)), tol=float(self.tol) / unit,
            patience=int(self.n_iter_no_change), regularizer=self.regularizer, validation=validation,
            score=self._measure(), callbacks=callbacks,
            state=self.fit_.optimizer_state if hasattr(self, "fit_") else None,
        )  # fmt: skip

    def _refits(self, n: int) -> bool:
        return n < FEW if self.refit == "auto" else bool(self.refit)

    def _take(self, fit: Any) -> None:
        before = self.history_ if hasattr(self, "fit_") else {}
        known = [name for name in ("loss", "validation_loss", "score") if name in fit.history]
        self.fit_, self.model_ = fit, self._finished(fit.model)
        self.best_epoch_ = self.n_iter_ + fit.best_epoch
        self.history_ = {name: np.append(before.get(name, []), fit.history[name]) for name in known}
        self.n_iter_ += fit.history.epochs

    def _adopt(self, model: Any, X: Any) -> None:
        """Take a model that was trained elsewhere."""
        inputs = model.layers[0].weight.shape[0]
        self._dtype, self._row_shape = np.dtype(np.float64), (inputs,)
        self._forget()
        validate_data(self, np.zeros((1, inputs)) if X is None else X)
        if self.n_features_in_ != inputs:
            raise ValueError(f"X has {self.n_features_in_} features, but the weights are for {inputs}.")
        self.model_ = model
        self.best_epoch_ = 0

    def _forget(self) -> None:
        for name in ("fit_", "model_", "history_"):
            if hasattr(self, name):
                delattr(self, name)
        self.n_iter_ = 0
        self.history_ = {}
        self._weight_seen = 0.0
