"""Scalings of logits: one temperature, a factor and an offset for each class, or a whole matrix.

All minimise the cross-entropy on data that the model was not trained on. Vector and matrix are held close to the
temperature by a penalty, whose strength cross-validation chooses: with few rows, or many classes, they do no worse
than it.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..labels import Array, classes_of, encoded

STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Penalties that are tried, from hardly any freedom to hardly any penalty."""
FOLDS = 5
STEEPEST = 1e4
"""The largest difference of scaled logits: where all labels are right, the temperature has no minimum but 0."""
Strength = float | Literal["auto"]


class Scaling(TransformerMixin, BaseEstimator):
    """What turns logits into probabilities: a column for each class."""

    classes_: Array

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The labels, as text: what columns of probabilities are called."""
        check_is_fitted(self)
        return np.array([str(label) for label in self.classes_], dtype=object)


class TemperatureScaling(Scaling):
    """Logits divided by one temperature: softmax(z / T), which changes confidence and no decision.

    Attributes
    ----------
    temperature_ : float
        Above 1 for a model that is too sure of itself.
    classes_ : array
        The labels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(4000, 3))
    >>> y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)  # drawn with probabilities softmax(z)
    >>> found = TemperatureScaling().fit(3 * z, y)
    >>> round(found.temperature_, 1)
    3.0
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to logits of shape (n, classes), or (n,) for two classes, and labels."""
        logits, codes, share = given(self, X, y, sample_weight)
        self.temperature_ = 1.0 / inverse_temperature(logits, codes, share)
        return self

    def transform(self, X: Any) -> Array:
        """Probabilities of the classes."""
        return softmax(seen(self, X) / self.temperature_, axis=1)


class _Affine(Scaling):
    """Logits scaled by a linear map close to the temperature's: z / T + z V / spread + b, with V and b small."""

    is_diagonal: bool
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "strength": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})]
    }

    def __init__(self, *, strength: Strength = "auto") -> None:
        self.strength = strength

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to logits of shape (n, classes), or (n,) for two classes, and labels."""
        self._validate_params()
        logits, codes, share = given(self, X, y, sample_weight)
        inverse = inverse_temperature(logits, codes, share)
        self.temperature_ = 1.0 / inverse
        size = float(np.max(np.abs(logits))) or 1.0
        spread = size * float(np.std(logits / size)) or 1.0  # so that strengths mean the same whatever the size is
        unit, fixed = logits / spread, logits * inverse
        if self.strength == "auto":
            self.strength_, self.left_out_loss_ = self._chosen(logits, unit, codes, share)
        else:
            self.strength_ = float(self.strength)
        moved = _moved(unit, fixed, codes, share, self.strength_, None, diagonal=self.is_diagonal)
        turn, self.intercept_ = _parts(moved, logits.shape[1], diagonal=self.is_diagonal)
        self.coef_ = inverse * np.eye(len(turn)) + (np.diag(turn) if self.is_diagonal else turn) / spread
        return self

    def transform(self, X: Any) -> Array:
        """Probabilities of the classes."""
        return softmax(seen(self, X) @ self.coef_ + self.intercept_, axis=1)

    def _chosen(self, logits: Array, unit: Array, codes: Array, share: Array) -> tuple[float, float]:
        """The strength of least loss on rows that were left out, and that loss; from strong to weak, until it grows."""
        folds = [_Fold(logits, unit, codes, share, train, rest) for train, rest in folds_of(codes, logits.shape[1])]
        best, strength = np.inf, STRENGTHS[0]
        for candidate in STRENGTHS if folds else ():
            loss = sum(fold.loss(candidate, diagonal=self.is_diagonal) for fold in folds)
            if loss >= best:
                break
            best, strength = loss, candidate
        return strength, best


class _Fold:
    """Rows to fit on and rows to look at; each strength starts from what the last one found."""

    def __init__(self, logits: Array, unit: Array, codes: Array, share: Array, train: Array, rest: Array) -> None:
        part = share[train] / max(float(np.sum(share[train])), np.finfo(np.float64).tiny)
        inverse = inverse_temperature(logits[train], codes[train], part)
        self.seen = unit[train], logits[train] * inverse, codes[train], part
        self.rest = unit[rest], logits[rest] * inverse, codes[rest], share[rest]
        self.start: Array | None = None

    def loss(self, strength: float, *, diagonal: bool) -> float:
        """The loss on rows left out, in its share of that of all rows."""
        self.start = _moved(*self.seen, strength, self.start, diagonal=diagonal)
        unit, fixed, codes, share = self.rest
        turn, offset = _parts(self.start, unit.shape[1], diagonal=diagonal)
        return _loss(fixed + _turned(unit, turn) + offset, codes, share)


def folds_of(codes: Array, classes: int) -> list[tuple[Array, Array]]:
    """Rows to fit on and rows to look at, the same for all scalings; none if a class has less than two rows.

    Not stratified: offsets would be judged by rows that have the very frequencies they were fitted to.
    """
    if np.min(np.bincount(codes, minlength=classes)) < 2:
        return []
    return list(KFold(min(FOLDS, len(codes)), shuffle=True, random_state=0).split(codes))


class VectorScaling(_Affine):
    """A factor and an offset for each class: softmax(a z / T + b), with a close to 1.

    Parameters
    ----------
    strength : float or "auto"
        How strongly it is held close to one temperature; by cross-validation if "auto".

    Attributes
    ----------
    temperature_, coef_, intercept_, strength_ : float, array (classes, classes), array (classes,), float
    left_out_loss_ : float
        The cross-entropy of rows left out, for "auto"; inf if some class has less than two rows.
    """

    is_diagonal = True


class MatrixScaling(_Affine):
    """A matrix and an offset: softmax(z W + b), with W close to I / T.

    Parameters
    ----------
    strength : float or "auto"
        How strongly it is held close to one temperature; by cross-validation if "auto".

    Attributes
    ----------
    temperature_, coef_, intercept_, strength_ : float, array (classes, classes), array (classes,), float
    left_out_loss_ : float
        The cross-entropy of rows left out, for "auto"; inf if some class has less than two rows.
    """

    is_diagonal = False


def inverse_temperature(logits: Array, codes: Array, share: Array) -> float:
    """1 / T of least cross-entropy, which is convex in it: Newton's steps, kept between the ends that are known."""
    centred = logits - np.max(logits, axis=1, keepdims=True)
    spread = float(np.max(-centred)) or 1.0
    unit = centred / spread  # so that no square overflows
    low, high = 0.0, STEEPEST
    at = new = min(spread, high)
    true = share @ unit[np.arange(len(codes)), codes]
    for _ in range(100):
        p = softmax(at * unit, axis=1)
        mean = np.einsum("ij,ij->i", p, unit)
        slope = share @ mean - true
        curvature = share @ (np.einsum("ij,ij,ij->i", p, unit, unit) - mean**2)
        low, high = (at, high) if slope < 0.0 else (low, at)
        new = at - slope / curvature if curvature > 0.0 else at
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - at) <= 1e-12 * at:
            break
        at = new
    return float(max(new, 1.0 / STEEPEST)) / spread


def as_logits(X: Any) -> Any:
    """A column for each class; a vector is the logit of the second of two classes."""
    if np.ndim(X) != 1:
        return X
    logits = np.asarray(X, dtype=np.float64)
    return np.stack([np.zeros_like(logits), logits], axis=1)


def given(scaling: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Checked logits, encoded labels, and weights that sum to one, to fit a scaling to."""
    logits, labels = validate_data(scaling, as_logits(X), y, dtype=np.float64)
    scaling.classes_ = classes_of(labels, logits.shape[1], name="X")
    weights = _check_sample_weight(sample_weight, logits, dtype=np.float64, ensure_non_negative=True)
    return _centred(logits), encoded(labels, scaling.classes_), weights / np.sum(weights)


def seen(scaling: Any, X: Any) -> Array:
    """Checked logits for a fitted scaling."""
    check_is_fitted(scaling)
    return _centred(validate_data(scaling, as_logits(X), dtype=np.float64, reset=False))


def _centred(logits: Array) -> Array:
    """Without their mean, which softmax does not see, but a matrix would."""
    return logits - np.mean(logits, axis=1, keepdims=True)


def _turned(unit: Array, turn: Array) -> Array:
    return unit * turn if turn.ndim == 1 else unit @ turn


def _parts(x: Array, classes: int, *, diagonal: bool) -> tuple[Array, Array]:
    turn, offset = x[:-classes], x[-classes:]
    return turn if diagonal else turn.reshape(classes, classes), offset


def _loss(logits: Array, codes: Array, share: Array) -> float:
    return float(-share @ log_softmax(logits, axis=1)[np.arange(len(codes)), codes])


def _moved(
    unit: Array, fixed: Array, codes: Array, share: Array, strength: float, start: Array | None, *, diagonal: bool
) -> Array:
    """The linear map and the offset of least penalised cross-entropy, in one vector."""
    classes = unit.shape[1]
    rows = np.arange(len(codes))

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        turn, offset = _parts(x, classes, diagonal=diagonal)
        logs = log_softmax(fixed + _turned(unit, turn) + offset, axis=1)
        loss = -share @ logs[rows, codes]
        back = np.exp(logs)
        back[rows, codes] -= 1.0
        back *= share[:, None]
        by_turn = np.einsum("ij,ij->j", unit, back) if diagonal else unit.T @ back
        gradient = np.concatenate([by_turn.ravel(), np.sum(back, axis=0)])
        return float(loss + 0.5 * strength * (x @ x)), gradient + strength * x

    size = classes + (classes if diagonal else classes**2)
    found = minimize(
        value_and_gradient, np.zeros(size) if start is None else start, jac=True, method="L-BFGS-B",
        options={"maxiter": 200, "ftol": 1e-10, "gtol": 1e-7},
    )  # fmt: skip
    return np.asarray(found.x)
