"""Which problem an estimator solves: ours, scikit-learn's linear models, and pipelines that end in one of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.linear_model as others
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_sample_weight

from adjoint import losses

from ..labels import Array, encoded
from ..linear import smooth
from ..linear.classifier import LinearClassifier
from ..linear.columns import columns_of, seen
from ..linear.least_squares import LeastSquares
from ..linear.logistic import LogisticRegression
from ..linear.newton import basis_of
from ..linear.regressor import LinearRegressor
from ..linear.ridge import Ridge
from .problem import LinearProblem, problem_of
from .rows import ByDerivatives, Entropy, OneOutput

ONE = np.ones((1, 1))


@dataclass(frozen=True)
class FittedProblem:
    """An estimator fitted to all rows, and what it has solved."""

    problem: LinearProblem
    model: Any
    """What was fitted, as a rule a clone of the estimator, or of its last step."""
    before: Any
    """Fitted steps before it, or None."""
    sample_weight: Array
    of_classes: Array | None
    """Weights of the rows' classes, by which sample weights were multiplied."""
    is_balanced: bool
    is_exact: bool
    """Whether nothing but the problem hangs on the rows: no scaler before it, no penalty chosen by them."""

    def rows(self, X: Any) -> Array:
        """New rows, as the problem has them."""
        return self.problem.scaled(seen(self.model, X if self.before is None else self.before.transform(X)))

    def targets(self, y: Any) -> Array:
        """New values, or labels as numbers."""
        if hasattr(self.model, "classes_"):
            return encoded(y, self.model.classes_)
        return column_or_1d(y, dtype=np.float64)

    def by_sample_weights(self, slopes: Array) -> Array:
        """Slopes by the weights that rows have in the problem, made slopes by sample weights.

        Class weights are factors of them; "balanced" ones, S / (K S_k), change with all weights of the class.
        """
        if self.of_classes is None:
            return slopes
        found = slopes * self.of_classes
        if self.is_balanced:
            codes, s = self.problem.targets, self.sample_weight
            sums = np.bincount(codes, s)
            change = np.bincount(codes, s * slopes) / (len(sums) * sums)
            found = found + np.sum(change) - (change * np.sum(sums) / sums)[codes]
        return found


def fitted_problem(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> FittedProblem:
    """Fit a clone to all rows, and say what it has solved."""
    steps = list(estimator.steps) if isinstance(estimator, Pipeline) else [("", estimator)]
    kind = type(steps[-1][1])
    if kind not in READERS:
        raise TypeError(
            f"{kind.__name__} cannot be differentiated through: only linear models with a smooth loss can, which are "
            f"{', '.join(f'{k.__module__.split(chr(46))[0]}.{k.__name__}' for k in READERS)}, or a Pipeline that ends "
            "in one. For a network, take its features and a linear model: make_pipeline(FrozenEstimator(network), "
            "learn.LogisticRegression()). leave_one_out(method='refit') takes any estimator."
        )
    before = None
    frozen = all(step == "passthrough" or isinstance(step, FrozenEstimator) for _, step in steps[:-1])
    if steps[:-1]:
        before = clone(Pipeline(steps[:-1]))
        X = before.fit_transform(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the optimum is gone to below
        warnings.simplefilter("ignore", LinAlgWarning)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        model = _ours(clone(steps[-1][1])).fit(X, y, sample_weight=weight)
    inside = seen(model, X)
    weights = np.ones(len(inside)) if weight is None else weight
    of_classes = None
    if getattr(model, "class_weight", None) is not None:
        codes = encoded(y, model.classes_)
        of_classes = model._class_weights(codes, weights)[codes]
    problem = READERS[type(model)](model, inside, y, weights if of_classes is None else weights * of_classes)
    chosen = isinstance(getattr(model, "alpha", None), str) or isinstance(getattr(model, "C", None), str)
    exact = frozen and not chosen and of_classes is None
    balanced = getattr(model, "class_weight", None) == "balanced"
    return FittedProblem(problem, model, before, weights, of_classes, balanced, exact)


def _ours(estimator: Any) -> Any:
    """The estimator of this room with the same optimum as one of scikit-learn's."""
    if getattr(estimator, "positive", False):
        raise ValueError("positive=True has bounds, at which the fit has no derivative; take it out.")
    if type(estimator) is others.LinearRegression:
        return LeastSquares(fit_intercept=estimator.fit_intercept)
    if type(estimator) is others.Ridge:
        if np.ndim(estimator.alpha):
            raise ValueError("scikit-learn's Ridge with one alpha for each target: give one number.")
        return Ridge(float(estimator.alpha), fit_intercept=estimator.fit_intercept)
    if type(estimator) is others.LogisticRegression:
        if estimator.l1_ratio or estimator.penalty not in ("deprecated", "l2", None):
            raise ValueError("scikit-learn's LogisticRegression is differentiated through with squares in its penalty.")
        if estimator.solver == "liblinear":
            raise ValueError("The solver 'liblinear' penalises the intercept too; take another one, as 'lbfgs'.")
        return LogisticRegression(
            estimator.C if estimator.penalty is not None else np.inf,
            fit_intercept=estimator.fit_intercept, class_weight=estimator.class_weight,
        )  # fmt: skip
    return estimator


def _least_squares(model: Any, X: Array, y: Any, weights: Array) -> LinearProblem:
    """Of least squares, and of ridge regression, |y - Xw|^2 + alpha |w|^2."""
    return problem_of(
        columns_of(X, weights, fit_intercept=model.fit_intercept), model.coef_[None], np.array([model.intercept_]),
        targets=column_or_1d(y, dtype=np.float64), weights=weights,
        squares=2.0 * np.asarray(getattr(model, "alpha_", 0.0)), loss=OneOutput(smooth.squared(), _same),
        basis=ONE, is_quadratic=True,
    )  # fmt: skip


def _logistic(model: Any, X: Array, y: Any, weights: Array) -> LinearProblem:
    codes = encoded(y, model.classes_)
    basis = basis_of(len(model.classes_))
    return problem_of(
        columns_of(X, weights, fit_intercept=model.fit_intercept), model.coef_, model.intercept_,
        targets=codes, weights=weights, squares=1.0 / np.asarray(model.C_), loss=Entropy(basis, model.temperature),
        basis=ONE if len(basis) == 2 else basis,
    )  # fmt: skip


def _regressor(model: Any, X: Array, y: Any, weights: Array) -> LinearProblem:
    targets = column_or_1d(y, dtype=np.float64)
    if model.loss in ("absolute", "quantile") or model.loss is losses.absolute:
        raise kinked(model, "'huber'")
    if callable(model.loss):
        loss: Any = ByDerivatives(model.loss, lambda f: f[:, 0])
    elif model.loss == "poisson":
        loss = OneOutput(smooth.poisson(), np.exp)
    else:
        loss = OneOutput(smooth.squared() if model.loss == "squared" else smooth.huber(model.delta), _same)
    return _of_mean(model, X, targets, weights, loss, ONE, np.array([model.intercept_]), model.coef_[None])


def _classifier(model: Any, X: Array, y: Any, weights: Array) -> LinearProblem:
    codes = encoded(y, model.classes_)
    if model.loss == "hinge" or model.loss is losses.hinge:
        raise kinked(model, "'logistic'")
    two = len(model.classes_) == 2
    if model.decision_function_is_logits:
        basis = basis_of(len(model.classes_))
        return _of_mean(
            model, X, codes, weights, Entropy(basis), ONE if two else basis, model.intercept_, model.coef_
        )  # fmt: skip
    shaped = _with_zeros if two else _same
    basis = np.eye(len(model.coef_))
    return _of_mean(model, X, codes, weights, ByDerivatives(model.loss, shaped), basis, model.intercept_, model.coef_)


def _of_mean(
    model: Any, X: Array, targets: Array, weights: Array, loss: Any, basis: Array, intercept: Array, coef: Array
) -> LinearProblem:
    """Of an estimator whose objective is a mean of losses, with a penalty that may have absolute values."""
    ratio = {"l1": 1.0, "elastic": model.l1_ratio}.get(model.penalty, 0.0)
    alpha = np.sum(weights) * (0.0 if model.penalty is None else np.asarray(model.alpha))
    if ratio and len(coef) > 1:
        raise ValueError(f"{type(model).__name__} with absolute values in its penalty and more than two classes.")
    columns = columns_of(X, weights, fit_intercept=model.fit_intercept)
    if isinstance(loss, ByDerivatives):
        loss.check(X @ coef.T + intercept, targets)
    return problem_of(
        columns, coef, intercept, targets=targets, weights=weights, squares=(1.0 - ratio) * alpha,
        absolute=ratio * alpha, loss=loss, basis=basis, is_mean=True,
        is_quadratic=not ratio and not callable(model.loss) and model.loss == "squared",
    )  # fmt: skip


def kinked(model: Any, smoother: str) -> ValueError:
    """A loss with kinks: its solution jumps."""
    return ValueError(
        f"{type(model).__name__} with the loss {getattr(model.loss, '__name__', model.loss)!r} has kinks, at which the "
        f"fit has no derivative: take {smoother}, or leave_one_out(method='refit')."
    )


def _same(outputs: Any) -> Any:
    return outputs


def _with_zeros(outputs: Any) -> Any:
    return np.concatenate([np.zeros_like(outputs), outputs], axis=1)


READERS: dict[type, Callable[[Any, Array, Any, Array], LinearProblem]] = {
    LeastSquares: _least_squares,
    Ridge: _least_squares,
    LinearRegressor: _regressor,
    LinearClassifier: _classifier,
    LogisticRegression: _logistic,
    others.LinearRegression: _least_squares,
    others.Ridge: _least_squares,
    others.LogisticRegression: _logistic,
}
