"""Logistic and softmax regression that come to the optimum, whatever the units of the columns are."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_class_weight

from ..labels import Array
from .columns import columns_of, labels_given, seen
from .newton import EntropyProblem, basis_of, by_newton, leave_one_out
from .parameters import BY_STEPS, check_converged
from .penalties import by_column
from .quasi_newton import by_quasi_newton

MOST_FOR_NEWTON = 300
"""Unknowns up to which Newton's method is quicker than L-BFGS."""
MOST_FOR_LOO = 5000
CANDIDATES = np.logspace(-4, 4, 17)
"""What C="loo" looks at."""


class LogisticRegression(ClassifierMixin, BaseEstimator):
    r"""Logistic regression, binary or softmax, with scikit-learn's objective, at its optimum.

    .. math:: \min_{w, b} C \sum_i s_i \, l(x_i w + b, y_i) + \tfrac12 |w|^2

    where l is the cross-entropy, in base e. Columns are scaled inside, with the penalty carried over: columns need no
    `StandardScaler` to converge. Newton's method up to 300 unknowns, preconditioned L-BFGS above.

    Parameters
    ----------
    C : float, array (columns,) or "loo"
        The inverse of the penalty, or one for each column; "loo" takes the one of least leave-one-out log loss from
        1e-4 to 1e4, in steps of half a decade. Each row is left out by one Newton step: close to refitting, but for
        classes that a line tells apart and hardly any penalty.
    penalty : {"l2"} or None
        None is C = inf. Classes that a line tells apart have no optimum then.
    fit_intercept : bool
        Whether there is a constant for each class, which is not penalised.
    class_weight : dict, "balanced" or None
        Weights of classes, as in scikit-learn.
    temperature : float
        Divides the logits in `predict_proba`: inf gives even probabilities, 0 a one for the arg max. It changes no
        decision, and nothing in `fit`.
    tol : float
        L-BFGS ends when the gradient says that the objective is above its minimum by a share of about tol; Newton's
        method when it is tol^2.
    max_iter : int
        Steps, after which a `ConvergenceWarning` is given.

    Attributes
    ----------
    coef_, intercept_ : array (classes, columns), array (classes,)
        One row for two classes.
    classes_ : array
        The labels.
    C_ : float or array
    n_iter_ : int
    loo_log_loss_ : float
        The mean leave-one-out log loss, for C="loo".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.n_iter_ < 20, round(model.score(X, y), 3)
    (True, 0.994)
    >>> model.set_params(temperature=np.inf).predict_proba(X[:1]).round(2)
    array([[0.33, 0.33, 0.33]])
    """

    decision_function_is_logits = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="right"), StrOptions({"loo"}), "array-like"],
        "penalty": [StrOptions({"l2"}), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "temperature": [Interval(Real, 0, None, closed="both")],
        **BY_STEPS,
    }

    def __init__(
        self,
        C: Any = 1.0,
        *,
        penalty: Literal["l2"] | None = "l2",
        fit_intercept: bool = True,
        class_weight: Any = None,
        temperature: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.temperature = temperature
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and labels."""
        self._validate_params()
        X, codes, weights = labels_given(self, X, y, sample_weight)
        if self.class_weight is not None:
            weights = weights * self._class_weights(codes, weights)[codes]
        fitting = LogisticFit(X, codes, weights, len(self.classes_), self.fit_intercept, self.tol, self.max_iter)
        if self.penalty is None:
            self.C_ = np.inf
        elif isinstance(self.C, str):
            self.C_, self.loo_log_loss_ = fitting.by_leave_one_out()
        else:
            each = by_column("C", self.C, X.shape[1])
            self.C_ = each if np.ndim(each) else float(each)
        fitting.solve(1.0 / self.C_)
        self.coef_, self.intercept_ = fitting.coefficients()
        self.n_iter_ = fitting.n_iter
        check_converged(self, fitting.converged, stacklevel=2)
        return self

    def decision_function(self, X: Any) -> Array:
        """Logits, shape (n, classes), or (n,) of the second of two classes."""
        logits = seen(self, X) @ self.coef_.T + self.intercept_
        return logits[:, 0] if len(self.classes_) == 2 else logits

    def predict(self, X: Any) -> Array:
        """The likeliest class."""
        return labels_by(self.decision_function(X), self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities: softmax(logits / temperature)."""
        return probabilities(self.decision_function(X), self.temperature)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _class_weights(self, codes: Array, weights: Array) -> Array:
        """Of each class; "balanced" makes the weights of all classes alike, those of samples included."""
        if self.class_weight == "balanced":
            sums = np.bincount(codes, weights)
            return np.sum(sums) / (len(sums) * sums)
        return compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])


class LogisticFit:
    """One problem for several penalties, each started from the last."""

    def __init__(
        self, X: Array, codes: Array, weights: Array, classes: int, fit_intercept: bool, tol: float, max_iter: int
    ) -> None:
        self.columns = columns_of(X, weights, fit_intercept=fit_intercept)
        self.data = codes, weights
        self.basis, self.tol, self.max_iter = basis_of(classes), tol, max_iter
        self.theta = np.zeros((self.columns.scaled.shape[1], self.basis.shape[1]))

    def solve(self, penalty: Array | float) -> EntropyProblem:
        """The least cost with penalty / 2 on the squares, or one for each column."""
        problem = EntropyProblem(self.columns.scaled, *self.data, self.columns.penalised(penalty), self.basis)
        solver = by_newton if self.theta.size <= MOST_FOR_NEWTON else by_quasi_newton
        self.theta, self.n_iter, self.converged = solver(problem, self.theta, tol=self.tol, max_iter=self.max_iter)
        return problem

    def coefficients(self) -> tuple[Array, Array]:
        """A row for each class, one for two."""
        theta = self.theta if len(self.basis) == 2 else self.theta @ self.basis.T
        coef, intercept = self.columns.unscaled(theta)
        return np.ascontiguousarray(coef.T), intercept

    def by_leave_one_out(self) -> tuple[float, float]:
        """The C of least log loss on rows that are left out, and that loss."""
        if self.theta.size > MOST_FOR_LOO:
            raise ValueError(f"C='loo' takes at most {MOST_FOR_LOO} unknowns, got {self.theta.size}: give C.")
        codes, weights = self.data
        best, least = 1.0, np.inf
        for C in CANDIDATES:
            logits = leave_one_out(self.solve(1.0 / C), self.theta)
            high = np.max(logits, axis=1)
            own = logits[np.arange(len(codes)), codes] - high
            losses = np.log(np.sum(np.exp(logits - high[:, None]), axis=1)) - own
            mean = float(weights @ losses / np.sum(weights))
            if mean < least:
                best, least = float(C), mean
        return best, least


def labels_by(scores: Array, classes: Array) -> Array:
    """The class of the greatest score; for two, whether the score of the second is above 0."""
    return classes[(scores > 0.0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]


def probabilities(logits: Array, temperature: float = 1.0) -> Array:
    """softmax(logits / temperature), with its limits at 0 and inf."""
    if logits.ndim == 1:
        logits = np.stack([np.zeros_like(logits), logits], axis=1)
    behind = logits - np.max(logits, axis=1, keepdims=True)
    if temperature != 1.0:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            behind = np.where(behind == 0.0, 0.0, behind / temperature)
    p = np.exp(behind)
    return p / np.sum(p, axis=1, keepdims=True)
