"""What classifiers and regressors of tables have in common."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, validate_data

from ..labels import Array
from .columns import is_frame
from .encoding import TableEncoder
from .fitting import PackedRecipe, TableRows, Trained, batch_of, trained


class TableEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An encoder of tables and a packed network behind it."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "members": [Interval(Integral, 1, None, closed="left")],
        "hidden_layer_sizes": ["array-like"],
        "pieces": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "learning_rate_init": [Interval(Real, 0, None, closed="neither")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _piece_size: float
    members: int
    hidden_layer_sizes: Sequence[int]
    pieces: int
    max_iter: int
    learning_rate_init: float
    weight_decay: float
    dropout: float
    validation_fraction: float
    n_iter_no_change: int
    random_state: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = False
        return tags

    def transform(self, X: Any) -> Array:
        """Hidden features: what the last layer gets, side by side for all members, (n, members x width)."""
        rows = self._encoded(X)
        return np.asarray(self.model_.features(rows))

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.features(np.zeros((1, len(self.encoder_.get_feature_names_out())))).size)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """A checked table: a frame as it is, anything else as an array."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not X.shape[0] or not X.shape[1]:
                raise ValueError(
                    f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) (shape={X.shape}), "
                    "while a minimum of 1 is required."
                )
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def _counting(self, X: Any, y: Array, sample_weight: Any) -> tuple[Any, Array, Array]:
        """The rows that count, with weights of mean 1."""
        check_consistent_length(X, y)
        weights = _check_sample_weight(sample_weight, np.empty((len(y), 1)), dtype=np.float64, ensure_non_negative=True)
        if not np.all(weights > 0.0):
            rows = np.flatnonzero(weights > 0.0)
            X, y, weights = _safe_indexing(X, rows), y[rows], weights[rows]
        if len(y) < 2:
            raise ValueError(f"{type(self).__name__} needs more than one sample, got n_samples=1.")
        return X, y, weights / np.mean(weights)

    def _trained(self, X: Any, y: Array, weights: Array, *, classifies: bool) -> tuple[TableRows, Trained]:
        """Fit the encoder and the network to rows with targets (n, outputs)."""
        self.encoder_ = TableEncoder(pieces=self.pieces, piece_size=self._piece_size).fit(X)
        rows = TableRows(self.encoder_.transform(X), y, weights, classifies)
        recipe = PackedRecipe(
            self.members, [int(size) for size in self.hidden_layer_sizes], self.max_iter, self.learning_rate_init,
            self.weight_decay, self.dropout, batch_of(len(y)), self.validation_fraction, self.n_iter_no_change,
        )  # fmt: skip
        seed = int(check_random_state(self.random_state).randint(2**31))
        found = trained(rows, recipe, seed)
        self.model_ = found.network
        self.history_ = found.history
        self.n_iter_ = len(found.history["validation_loss"])
        self.best_iter_ = found.best
        return rows, found

    def _outputs(self, X: Any) -> Array:
        """What the ensemble gives for a table."""
        rows = self._encoded(X)
        return np.asarray(self.model_(rows))

    def _encoded(self, X: Any) -> Array:
        """The matrix of a table, for a fitted estimator."""
        check_is_fitted(self)
        return self.encoder_.transform(self._table(X, reset=False))
