"""Scalings of logits: one temperature, a factor and an offset for each class, or a whole matrix.

All minimise the cross-entropy on data that the model was not trained on. Vector and matrix are held close to the
temperature by a penalty, whose strength cross-validation chooses: with few rows, or many classes, they do no worse
than it.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..labels import Array, encoded

STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Penalties that are tried, from hardly any freedom to hardly any penalty."""
FOLDS = 5
STEEPEST = 1e4
"""The largest difference of scaled logits: where all labels are right, the temperature has no minimum but 0."""
Strength = float | Literal["auto"]


class TemperatureScaling(TransformerMixin, BaseEstimator):
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


class _Affine(TransformerMixin, BaseEstimator):
    """Logits scaled by a linear map close to the temperature's: z / T + z V / spread + b, with V and b small."""

    is_diagonal: bool

    def __init__(self, *, strength: Strength = "auto") -> None:
        self.strength = strength

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to logits of shape (n, classes), or (n,) for two classes, and labels."""
        logits, codes, share = given(self, X, y, sample_weight)
        inverse = inverse_temperature(logits, codes, share)
        self.temperature_ = 1.0 / inverse
        spread = float(np.std(logits)) or 1.0  # so that strengths mean the same whatever the size of logits is
        unit, fixed = logits / spread, logits * inverse
        self.strength_ = self._chosen(unit, fixed, codes, share) if self.strength == "auto" else float(self.strength)
        moved = _moved(unit, fixed, codes, share, self.strength_, None, diagonal=self.is_diagonal)
        turn, self.intercept_ = _parts(moved, logits.shape[1], diagonal=self.is_diagonal)
        self.coef_ = inverse * np.eye(len(turn)) + (np.diag(turn) if self.is_diagonal else turn) / spread
        return self

    def transform(self, X: Any) -> Array:
        """Probabilities of the classes."""
        return softmax(seen(self, X) @ self.coef_ + self.intercept_, axis=1)

    def _chosen(self, unit: Array, fixed: Array, codes: Array, share: Array) -> float:
        """The strength of least loss on rows that were left out; from strong to weak, until it grows again."""
        least = np.min(np.bincount(codes))
        if least < 2:
            return STRENGTHS[0]
        folds = list(StratifiedKFold(min(FOLDS, least), shuffle=True, random_state=0).split(unit, codes))
        starts: list[Array | None] = [None] * len(folds)
        best, strength = np.inf, STRENGTHS[0]
        for candidate in STRENGTHS:
            loss = 0.0
            for k, (train, rest) in enumerate(folds):
                part = share[train] / np.sum(share[train])
                starts[k] = x = _moved(
                    unit[train], fixed[train], codes[train], part, candidate, starts[k], diagonal=self.is_diagonal
                )
                turn, offset = _parts(x, unit.shape[1], diagonal=self.is_diagonal)
                loss += _loss(fixed[rest] + _turned(unit[rest], turn) + offset, codes[rest], share[rest])
            if loss >= best:
                break
            best, strength = loss, candidate
        return strength


class VectorScaling(_Affine):
    """A factor and an offset for each class: softmax(a z / T + b), with a close to 1.

    Parameters
    ----------
    strength : float or "auto"
        How strongly it is held close to one temperature; by cross-validation if "auto".

    Attributes
    ----------
    temperature_, coef_, intercept_, strength_ : float, array (classes, classes), array (classes,), float
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
    """

    is_diagonal = False


def inverse_temperature(logits: Array, codes: Array, share: Array) -> float:
    """1 / T of least cross-entropy, which is convex in it: Newton's steps, kept between the ends that are known."""
    centred = logits - np.max(logits, axis=1, keepdims=True)
    spread = float(np.max(-centred)) or 1.0
    low, high = 0.0, STEEPEST / spread
    at = min(1.0, high)
    true = share @ centred[np.arange(len(codes)), codes]
    for _ in range(100):
        p = softmax(at * centred, axis=1)
        mean = np.einsum("ij,ij->i", p, centred)
        slope = share @ mean - true
        curvature = share @ (np.einsum("ij,ij,ij->i", p, centred, centred) - mean**2)
        low, high = (at, high) if slope < 0.0 else (low, at)
        new = at - slope / curvature if curvature > 0.0 else at
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - at) <= 1e-12 * at:
            break
        at = new
    return float(max(new, 1.0 / (STEEPEST * spread)))


def as_logits(X: Any) -> Array:
    """A column for each class; a vector is the logit of the second of two classes."""
    logits = np.asarray(X, dtype=np.float64)
    return np.stack([np.zeros_like(logits), logits], axis=1) if logits.ndim == 1 else logits


def given(scaling: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Checked logits, encoded labels, and weights that sum to one, to fit a scaling to."""
    logits, labels = validate_data(scaling, as_logits(X), y, dtype=np.float64)
    scaling.classes_ = np.unique(labels)
    if len(scaling.classes_) != logits.shape[1]:
        raise ValueError(f"y has {len(scaling.classes_)} classes, but X has logits for {logits.shape[1]}.")
    weights = _check_sample_weight(sample_weight, logits, dtype=np.float64)
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
