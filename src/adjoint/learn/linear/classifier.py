"""Linear classification with any loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from adjoint import losses

from ..labels import Array
from .callables import differentiated
from .columns import Columns, columns_of, labels_given, seen
from .kinks import KinkedProblem, with_absolute
from .logistic import LogisticFit, labels_by, probabilities
from .parameters import PENALISED, check_converged
from .penalties import Penalty, by_column, strengths
from .quasi_newton import minimised


def _is_logistic(self: Any) -> bool:
    return self.loss == "logistic" or self.loss is losses.cross_entropy


class LinearClassifier(ClassifierMixin, BaseEstimator):
    r"""Linear classification with any loss: hinge, cross-entropy, your own.

    .. math:: \min_{w, b} \frac{\sum_i s_i \, l(x_i w + b, y_i)}{\sum_i s_i} + \alpha R(w)

    where R is |w|^2 / 2 ("l2"), the sum of |w_j| ("l1"), or r of the second plus 1 - r of the first ("elastic", r is
    `l1_ratio`). Columns are scaled inside, with the penalty carried over.

    Parameters
    ----------
    loss : {"hinge", "logistic"} or callable
        "hinge", max(0, 1 - y f), which has a kink at 1, is solved exactly, as `LinearRegressor` does quantiles; more
        than two classes are each told from the others. "logistic" is the cross-entropy, softmax for more than two. A
        callable gets outputs of shape (n, classes) and labels 0, 1, ..., as `losses.focal`, and gives the mean or one
        loss for each row; for two classes the first output is 0.
    penalty : {"l2", "l1", "elastic"} or None
    alpha, l1_ratio : float
        The strength of the penalty, or one for each column, and the share of "l1" in "elastic".
    fit_intercept : bool
        Whether there is a constant, which is not penalised.
    tol, max_iter : float, int
        When to stop; a `ConvergenceWarning` is given if steps run out.

    Attributes
    ----------
    coef_, intercept_ : array (classes, columns), array (classes,)
        One row for two classes.
    classes_ : array
        The labels.
    n_iter_ : int
    duality_gap_ : float
        For "hinge": by how much the objective, of the worst class, can at most be above its minimum.

    Examples
    --------
    >>> model = LinearClassifier("hinge", alpha=0.1).fit([[-2.0], [-1.0], [1.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[-3.0], [2.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.duality_gap_ < 1e-8
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions({"hinge", "logistic"}), callable],
        **PENALISED,
    }

    def __init__(
        self,
        loss: Literal["hinge", "logistic"] | Callable[..., Any] = "hinge",
        *,
        penalty: Penalty | None = "l2",
        alpha: Any = 1e-4,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and labels."""
        self._validate_params()
        X, codes, weights = labels_given(self, X, y, sample_weight)
        weights = weights / np.sum(weights)
        if self.loss == "hinge":
            columns = columns_of(X, weights, fit_intercept=self.fit_intercept)
            coef, self.intercept_ = columns.unscaled(self._by_lines(columns, codes, weights))
            self.coef_ = np.ascontiguousarray(coef.T)
        elif _is_logistic(self) and self.penalty in ("l2", None):
            classes = len(self.classes_)
            fitting = LogisticFit(X, codes, weights, classes, self.fit_intercept, self.tol, self.max_iter)
            fitting.solve(0.0 if self.penalty is None else by_column("alpha", self.alpha, X.shape[1]))
            self.coef_, self.intercept_ = fitting.coefficients()
            self.n_iter_ = fitting.n_iter
            check_converged(self, fitting.converged, stacklevel=2)
        else:
            columns = columns_of(X, weights, fit_intercept=self.fit_intercept)
            found = self._by_gradient(columns, codes, weights, is_weighted=sample_weight is not None)
            coef, self.intercept_ = columns.unscaled(found)
            self.coef_ = np.ascontiguousarray(coef.T)
        return self

    @property
    def decision_function_is_logits(self) -> bool:
        """Whether softmax of the decision function gives probabilities."""
        return _is_logistic(self)

    def decision_function(self, X: Any) -> Array:
        """Scores, shape (n, classes), or (n,) of the second of two classes."""
        scores = seen(self, X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of the greatest score."""
        return labels_by(self.decision_function(X), self.classes_)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities; for "logistic"."""
        return probabilities(self.decision_function(X))

    def _by_lines(self, columns: Columns, codes: Array, share: Array) -> Array:
        """The hinge is the pinball loss of quantile 1 of 1 - y f: each class against the others."""
        absolute, squares = strengths(self, columns)
        count = len(self.classes_)
        found, gaps, steps = [], [], []
        for k in (1,) if count == 2 else range(count):
            sign = np.where(codes == k, 1.0, -1.0)
            lines = KinkedProblem(
                sign[:, None] * columns.scaled, np.ones(len(codes)), share, np.zeros(len(codes)), squares
            )
            theta, gap, n = with_absolute(lines, absolute).solved()
            found.append(theta)
            gaps.append(gap)
            steps.append(n)
        self.duality_gap_, self.n_iter_ = max(gaps), max(steps)
        check_converged(self, self.duality_gap_ <= self.tol, stacklevel=3)
        return np.stack(found, axis=1)

    def _by_gradient(self, columns: Columns, codes: Array, share: Array, *, is_weighted: bool) -> Array:
        loss = losses.cross_entropy if self.loss == "logistic" else self.loss
        mean = differentiated(loss, codes, share, is_weighted=is_weighted)  # type: ignore[arg-type]
        absolute, squares = (np.atleast_2d(s).T for s in strengths(self, columns))
        two = len(self.classes_) == 2
        shape = columns.scaled.shape[1], 1 if two else len(self.classes_)

        def value_and_gradient(x: Array) -> tuple[float, Array]:
            theta = x.reshape(shape)
            scores = columns.scaled @ theta
            value, back = mean(np.hstack([np.zeros_like(scores), scores]) if two else scores)
            gradient = columns.scaled.T @ back[:, -shape[1] :] + squares * theta
            return value + 0.5 * float(np.sum(squares * theta**2)), gradient.ravel()

        spread = np.broadcast_to(absolute, shape).ravel()
        x, self.n_iter_, ended = minimised(
            value_and_gradient, np.zeros(spread.size), spread, tol=self.tol, max_iter=self.max_iter
        )
        check_converged(self, ended, stacklevel=3)
        return x.reshape(shape)
