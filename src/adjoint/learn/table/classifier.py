"""Classification of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..labels import Array, check_several, encoded
from .estimator import TableEstimator
from .fitting import temperature_of


class TableClassifier(ClassifierMixin, TableEstimator):
    """Classes from a table: categories, missing values and dates in, calibrated probabilities out.

    Columns are read as what they are, and encoded (`TableEncoder`); an ensemble in one network learns from them, each
    group of members leaving out rows of its own, by which the best epoch and the temperature are found.

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
        Epochs without a smaller loss on rows left out after which training ends.
    calibrate : bool
        Whether logits are divided by the temperature that suits the rows left out.
    class_weight : dict, "balanced" or None
        Weights of classes, as in scikit-learn.
    random_state : int, RandomState or None
        For first weights, the order of rows, and rows left out.

    Attributes
    ----------
    classes_ : array
        The labels.
    encoder_ : TableEncoder
        From tables to matrices.
    model_ : PackedNetwork, or Blended, a PackedNetwork and a linear model
        From matrices to logits (n, classes): a tree of arrays, in double precision.
    temperature_ : float
        What logits are divided by; 1.0 if not calibrated.
    history_ : dict of arrays
        "validation_loss": the loss on rows left out, of each epoch.
    n_iter_, best_iter_ : int
        Epochs that were run, and the one that was kept.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0, None, 8.0] * 10, "colour": ["red", "red", "blue", None] * 10})
    >>> model = TableClassifier(max_iter=20, random_state=0).fit(table, ["no", "no", "yes", "yes"] * 10)
    >>> model.predict(pd.DataFrame({"size": [9.0, 1.5], "colour": ["green", "red"]}))
    array(['yes', 'no'], dtype='<U3')
    """

    decision_function_is_logits = True
    _piece_size = 0.3
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TableEstimator._parameter_constraints,
        "calibrate": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        members: int = 8,
        hidden_layer_sizes: Sequence[int] = (64, 64),
        pieces: int = 4,
        max_iter: int = 60,
        learning_rate_init: float = 0.01,
        weight_decay: float = 0.3,
        dropout: float = 0.15,
        validation_fraction: float = 0.125,
        n_iter_no_change: int = 10,
        calibrate: bool = True,
        class_weight: Any = None,
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
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table and labels."""
        self._validate_params()
        if y is None:
            raise ValueError("TableClassifier requires y to be passed, but the target y is None.")
        X = self._table(X, reset=True)
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        if self.class_weight is not None:
            of_classes = compute_sample_weight(self.class_weight, labels)
            sample_weight = of_classes if sample_weight is None else of_classes * np.asarray(sample_weight)
        X, labels, weights = self._counting(X, labels, sample_weight)
        self.classes_ = np.unique(labels)
        check_several(self)
        codes = encoded(labels, self.classes_)
        rows, found = self._trained(X, np.eye(len(self.classes_))[codes], weights, classifies=True)
        self.temperature_ = temperature_of(rows, found) if self.calibrate else 1.0
        return self

    def decision_function(self, X: Any) -> Array:
        """Logits (n, classes); for two classes, (n,): how much greater the second one's is."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes."""
        return softmax(self._logits(X), axis=1)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The likeliest class."""
        logits = self._logits(X)
        return self.classes_[np.argmax(logits, axis=1)]

    def _logits(self, X: Any) -> Array:
        outputs = self._outputs(X)
        return outputs / self.temperature_
