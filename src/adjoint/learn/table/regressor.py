"""Regression on tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, column_or_1d

from ..labels import Array
from .estimator import TableEstimator


class TableRegressor(RegressorMixin, TableEstimator):
    """Numbers from a table: categories, missing values and dates in, means out.

    Columns are read as what they are, and encoded (`TableEncoder`); an ensemble in one network learns from them, each
    group of members leaving out rows of its own, by which the best epoch is found.

    Parameters
    ----------
    members : int
        Networks in the ensemble; multiples of four make four groups.
    hidden_layer_sizes : sequence of int
        Widths of the hidden layers of each member.
    pieces : int
        Pieces between quantiles that each column of numbers is cut into; 0 takes the numbers alone.
    max_iter : int
        Most epochs.
    learning_rate_init : float
        Adam's rate at the start, which falls to 0 along half a cosine over max_iter epochs.
    weight_decay : float
        How much of themselves weights lose in a step, times the rate.
    dropout : float
        The probability that a hidden number is set to 0 in training.
    validation_fraction : float
        The share of rows that each group leaves out; a quarter at most where there are four groups.
    n_iter_no_change : int
        Epochs without a smaller error on rows left out after which training ends.
    random_state : int, RandomState or None
        For first weights, the order of rows, and rows left out.

    Attributes
    ----------
    encoder_ : TableEncoder
        From tables to matrices.
    model_ : PackedNetwork, or Blended, a PackedNetwork and a linear model
        From matrices to (n, 1): numbers in units of `scale_` from `center_`; a tree of arrays, in double precision.
    center_, scale_ : float
        The mean and the deviation of y.
    history_ : dict of arrays
        "validation_loss": the loss on rows left out, of each epoch.
    n_iter_, best_iter_ : int
        Epochs that were run, and the one that was kept.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60), "kind": ["a", "b", None] * 20})
    >>> model = TableRegressor(max_iter=30, random_state=0).fit(table, np.arange(60.0))
    >>> model.predict(table).shape
    (60,)
    """

    _piece_size = 1.0

    def __init__(
        self,
        *,
        members: int = 8,
        hidden_layer_sizes: Sequence[int] = (64, 64),
        pieces: int = 8,
        max_iter: int = 60,
        learning_rate_init: float = 0.04,
        weight_decay: float = 0.3,
        dropout: float = 0.0,
        validation_fraction: float = 0.125,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        self.members = members
        self.hidden_layer_sizes = hidden_layer_sizes
        self.pieces = pieces
        self.max_iter = max_iter
        self.learning_rate_init = learning_rate_init
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table and numbers."""
        self._validate_params()
        if y is None:
            raise ValueError("TableRegressor requires y to be passed, but the target y is None.")
        X = self._table(X, reset=True)
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), warn=True)
        X, y, weights = self._counting(X, y, sample_weight)
        self.center_ = float(np.average(y, weights=weights))
        self.scale_ = float(np.sqrt(np.average((y - self.center_) ** 2, weights=weights))) or 1.0
        self._trained(X, ((y - self.center_) / self.scale_)[:, None], weights, classifies=False)
        return self

    def predict(self, X: Any) -> Array:
        """The mean to be expected for each row."""
        outputs = self._outputs(X)[:, 0]
        return outputs * self.scale_ + self.center_
