"""Penalties and temperatures chosen by the gradient of what they lead to: one penalty, or one for each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

import adjoint as ad

from ..labels import Array
from .criteria import by_leave_one_out, by_new_rows
from .reading import FittedProblem, fitted_problem

SIGNS = {"alpha": 1.0, "C": -1.0, "temperature": 0.0}
"""By which power of it each parameter has a part in the penalties."""
SHIFTS = np.linspace(-12.0, 12.0, 13)
"""Of the logarithm of a penalty, tried before the search begins."""
WIDEST = 20.0
"""How far from where it starts the logarithm of a parameter may go."""

By = Literal["loo"] | tuple[Any, Any]
Parameters = str | Sequence[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Tuning:
    """How a tuned estimator came about."""

    loss: float
    loss_before: float
    gradient: dict[str, Array]
    """d loss / d log parameter where it ended: near 0, or held by a bound."""
    gradient_before: dict[str, Array]
    n_fits: int


def tune(
    estimator: Any, X: Any, y: Any, parameters: Parameters, *, by: By = "loo", sample_weight: Any = None,
    max_iter: int = 100,
) -> Any:  # fmt: skip
    """The estimator fitted with the penalties, and the temperature, of least loss on rows that it has not seen.

    The loss is followed downhill: its gradient by all penalties costs one fit and one more linear equation, however
    many penalties there are, where a grid would need one fit for each combination.

    Parameters
    ----------
    estimator : estimator
        `Ridge`, `LinearRegressor`, `LinearClassifier`, `LogisticRegression` with squares in the penalty, scikit-learn's
        `Ridge`, `LogisticRegression`, or a pipeline that ends in one; its parameters are where the search begins.
    X : array (n, columns)
        Rows.
    y : array (n,)
        Their labels or values.
    parameters : str, sequence of str, or dict
        "alpha", "C", "temperature", each one number; or of a dict the values: None for one number, "columns" for one
        for each column, or a group for each column, as [0, 0, 1, 1, 1].
    by : "loo" or (X, y)
        The mean loss of rows left out one by one (as in `leave_one_out`), or of these rows.
    sample_weight : array (n,), optional
        The weights that rows have in the fit.
    max_iter : int
        Steps of L-BFGS.

    Returns
    -------
    estimator
        A fitted clone with the parameters found and `tuning_`: `loss`, `loss_before`, `gradient`. It is a minimum among
        its neighbours. Penalties for many columns can be fitted to the loss, too: judge them on other rows.

    Examples
    --------
    >>> from adjoint import learn
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 12))
    >>> y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    >>> model = learn.tune(learn.Ridge(), X, y, {"alpha": "columns"})
    >>> bool(model.tuning_.loss < learn.tune(learn.Ridge(), X, y, "alpha").tuning_.loss)
    True
    >>> bool(np.all(model.alpha[:2] < 10.0)), bool(np.all(np.abs(model.tuning_.gradient["alpha"]) < 0.001))
    (True, True)
    """
    X, y = indexable(X, y)
    search = _Search(estimator, X, y, parameters, by, sample_weight)
    start = search.start
    if any(groups is not None for groups in search.groups.values()):
        one = tune(estimator, X, y, list(search.groups), by=by, sample_weight=sample_weight, max_iter=max_iter)
        start = _Search(one, X, y, parameters, by, sample_weight).start  # one number for all is where to start from
    else:
        start = search.scanned(start)
    before = search.value_and_gradient(search.start)
    found = minimize(
        search.value_and_gradient, start, jac=True, method="L-BFGS-B",
        bounds=[(t - WIDEST, t + WIDEST) for t in start], options={"maxiter": max_iter, "gtol": 1e-7},
    )  # fmt: skip
    value, gradient = search.value_and_gradient(found.x)
    model = search.at(found.x)
    last = {f"{model.steps[-1][0]}__sample_weight" if isinstance(model, Pipeline) else "sample_weight": sample_weight}
    model.fit(X, y, **({} if sample_weight is None else last))
    model.tuning_ = Tuning(value, before[0], search.named(gradient), search.named(before[1]), int(found.nfev) + 2)
    return model


def hypergradient(
    estimator: Any, X: Any, y: Any, parameters: Parameters, *, by: By = "loo", sample_weight: Any = None
) -> tuple[float, dict[str, Array]]:
    """The loss that `tune` lowers, and its derivatives by the logarithms of the parameters.

    Examples
    --------
    >>> from adjoint import learn
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0.0, 1.1, 1.9, 3.0]
    >>> loss, slopes = learn.hypergradient(learn.Ridge(1.0), X, y, "alpha")
    >>> bool(slopes["alpha"] > 0.0)  # a smaller penalty is better
    True
    """
    X, y = indexable(X, y)
    search = _Search(estimator, X, y, parameters, by, sample_weight)
    value, gradient = search.value_and_gradient(search.start)
    return value, search.named(gradient)


class _Search:
    """The loss as a function of the logarithms of all parameters, in one vector."""

    def __init__(self, estimator: Any, X: Any, y: Any, parameters: Parameters, by: By, sample_weight: Any) -> None:
        self.estimator, self.X, self.y, self.by, self.sample_weight = estimator, X, y, by, sample_weight
        names = [parameters] if isinstance(parameters, str) else list(parameters)
        self.groups = {name: parameters[name] if isinstance(parameters, Mapping) else None for name in names}
        unknown = [name for name in names if name not in SIGNS]
        if unknown or not names or (isinstance(by, str) and by != "loo"):
            raise ValueError(
                f"tune takes the parameters {', '.join(SIGNS)}, and by='loo' or by=(X, y), got {unknown or names} and "
                f"by={by!r}."
            )
        self.prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
        self.inner = estimator.steps[-1][1] if self.prefix else estimator
        self.columns = fitted_problem(estimator, X, y, sample_weight).problem.held.size
        self.places: dict[str, Array] = {}
        start, count = [], 0
        for name, groups in self.groups.items():
            value, places = self._begun(name, groups)
            self.places[name] = places + count
            start.append(value)
            count += len(value)
        self.start = np.concatenate(start)

    def _begun(self, name: str, groups: Any) -> tuple[Array, Array]:
        """Where a parameter starts, and which element of it each column has; one place for a single number."""
        given = self.inner.get_params().get(name)
        if given is None or isinstance(given, str) or not np.all((np.asarray(given) > 0.0) & np.isfinite(given)):
            raise ValueError(
                f"{type(self.inner).__name__} has to have a number above 0 as {name} to start from, got {given!r}."
            )
        if groups is None:
            return np.array([np.mean(np.log(given))]), np.array(0)
        members = np.arange(self.columns) if isinstance(groups, str) and groups == "columns" else np.asarray(groups)
        if members.shape != (self.columns,) or name == "temperature":
            raise ValueError(
                f"{name} has to have the value None, 'columns', or a group for each of {self.columns} columns, got "
                f"{groups!r}; a temperature is one number."
            )
        _, places = np.unique(members, return_inverse=True)
        each = np.broadcast_to(np.log(given), members.shape)
        return np.bincount(places, each) / np.bincount(places), places

    def scanned(self, logs: Array) -> Array:
        """The best of a few starts: the loss of one penalty may have more than one valley."""
        for name, places in self.places.items():
            if name != "temperature":
                starts = [logs + shift * np.isin(np.arange(len(logs)), places) for shift in SHIFTS]
                logs = min(starts, key=lambda start: self.value_and_gradient(start)[0])
        return logs

    def at(self, logs: Array) -> Any:
        """A clone with these parameters."""
        values = {self.prefix + name: np.exp(logs[places]) for name, places in self.places.items()}
        return clone(self.estimator).set_params(**{n: v if v.ndim else float(v) for n, v in values.items()})

    def named(self, gradient: Array) -> dict[str, Array]:
        """A gradient by parameters, one number for each group."""
        return {name: np.array([gradient[k] for k in np.unique(places)]) for name, places in self.places.items()}

    def value_and_gradient(self, logs: Array) -> tuple[float, Array]:
        """The loss on rows that the fit has not seen, and its derivatives by the logarithms."""
        fit = fitted_problem(self.at(logs), self.X, self.y, self.sample_weight)
        value, by_penalties, by_temperature = derivatives(fit, self.by)
        gradient = np.zeros_like(logs)
        for name, places in self.places.items():
            if name == "temperature":
                gradient[places] += by_temperature
            else:
                each = np.zeros(self.columns)
                each[fit.problem.held] = by_penalties
                np.add.at(gradient, np.broadcast_to(places, each.shape), SIGNS[name] * each)
        return value, gradient


def derivatives(fit: FittedProblem, by: By) -> tuple[float, Array, float]:
    """The loss, and its derivatives by the logarithms of the penalties of columns, and of the temperature.

    Of L(theta, penalties), where theta is the minimum: dL = (partial of penalties) - theta . H^-1 (partial of theta).
    """
    problem = fit.problem
    if np.any(problem.tilt):
        raise ValueError("tune takes squares as penalty: penalty='l2'.")
    loss: Callable[..., Any] = by_leave_one_out(problem) if isinstance(by, str) else by_new_rows(fit, *by)
    log_temperature = float(np.log(getattr(problem.loss, "temperature", 1.0)))
    arguments = problem.theta, problem.penalties, log_temperature
    value, (by_theta, by_penalties, by_temperature) = ad.value_and_grad(loss, argnums=(0, 1, 2))(*arguments)
    through = np.sum(problem.solved(np.asarray(by_theta)) * problem.theta, axis=1)
    found = problem.penalties * (np.asarray(by_penalties) - through)
    return float(value), found[: np.sum(problem.held)], float(by_temperature)
