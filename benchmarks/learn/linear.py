"""Linear models beside scikit-learn's: times with the first fit of a process, objectives, scores on bundled sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from adjoint import learn

from .measuring import cell, in_turn, table

TITLE = "Linear models"
SETS: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
SEEDS = 5
PAIRS: dict[str, tuple[str, Any, Any]] = {
    "LeastSquares": ("numbers", learn.LeastSquares(), linear_model.LinearRegression()),
    "Ridge": ("numbers", learn.Ridge(), linear_model.Ridge()),
    'Ridge("loo")': ("numbers", learn.Ridge("loo"), linear_model.RidgeCV(np.logspace(-6, 6, 65))),
    'Ridge("evidence")': ("numbers", learn.Ridge("evidence"), linear_model.BayesianRidge()),
    "LinearRegressor, huber": (
        "numbers",
        learn.LinearRegressor(delta=75.0, alpha=0.0),  # 1.35 deviations, as theirs has it
        linear_model.HuberRegressor(alpha=0.0, max_iter=1000),
    ),
    "LinearRegressor, median": (
        "numbers",
        learn.LinearRegressor("absolute", alpha=0.0),
        linear_model.QuantileRegressor(alpha=0.0),
    ),
    "LinearRegressor, l1": (
        "numbers",
        learn.LinearRegressor("squared", penalty="l1", alpha=0.1),
        linear_model.Lasso(0.05),
    ),
    "LinearRegressor, poisson": (
        "numbers",
        learn.LinearRegressor("poisson", alpha=1.0),
        linear_model.PoissonRegressor(max_iter=1000),
    ),
    "LinearClassifier, hinge": (
        "labels",
        learn.LinearClassifier(alpha=0.01),
        LinearSVC(loss="hinge", C=1 / (0.01 * 569), max_iter=100_000),
    ),
    "LogisticRegression": ("labels", learn.LogisticRegression(), linear_model.LogisticRegression(max_iter=10_000)),
}


def fit(name: str, who: str) -> Callable[[], Any]:
    """The fit of one model: diabetes for numbers, breast cancer with scaled columns for labels."""
    kind, ours, theirs = PAIRS[name]
    X, y = load_diabetes(return_X_y=True) if kind == "numbers" else load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ours if who == "ours" else theirs

    def run() -> None:
        warnings.simplefilter("ignore")
        model.fit(X, y)

    return run


def raw(data: str, who: str) -> Callable[[], Any]:
    """Logistic regression with default parameters on columns as they are: the objective that is reached."""
    X, y = SETS[data](return_X_y=True)
    model = learn.LogisticRegression() if who == "ours" else linear_model.LogisticRegression()

    def run() -> dict[str, Any]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, y)
        objective = log_loss(y, model.predict_proba(X), normalize=False) + 0.5 * float(np.sum(model.coef_**2))
        return {"objective": objective, "warns": bool(said)}

    return run


def times(rounds: int) -> str:
    """First and later fits of each estimator."""
    rows = []
    for name, (_, _, theirs) in PAIRS.items():
        calls = {who: (f"{__name__}:fit", name, who) for who in ("ours", "scikit-learn")}
        found = in_turn(calls, rounds=rounds, repeats=10)
        one, other = found["ours"], found["scikit-learn"]
        numbers = [cell(f, key, 1e3) for key in ("first", "least") for f in (one, other)]
        rows.append([name, type(theirs).__name__, *numbers])
    head = ["ours", "scikit-learn's", "first fit, ms", "theirs", "later fits, ms", "theirs"]
    return "Fits in a fresh process (diabetes 442 x 10; breast cancer 569 x 30):\n\n" + table(head, rows)


def objectives(rounds: int) -> str:
    """Logistic regression on raw columns."""
    rows = []
    for data in SETS:
        calls = {who: (f"{__name__}:raw", data, who) for who in ("ours", "scikit-learn")}
        for who, found in in_turn(calls, rounds=rounds, repeats=5).items():
            result = found.get("result", found)
            said = "yes" if result.get("warns") else ""
            both = [cell(found, key, 1e3) for key in ("first", "least")]
            rows.append([data, who, cell(result, "objective", digits=6), said, *both])
    head = ["raw columns", "", "objective", "warns", "first fit, ms", "later fits, ms"]
    return "`LogisticRegression()` as it is:\n\n" + table(head, rows)


def scores() -> str:
    """Accuracy and log loss, and the relative error of diabetes: the mean of five splits."""
    rows = []
    for data, load in SETS.items():
        X, y = load(return_X_y=True)
        row = []
        for inner in (learn.LogisticRegression(), linear_model.LogisticRegression(max_iter=10_000)):
            model, found = make_pipeline(StandardScaler(), inner), []
            for seed in range(SEEDS):
                X_old, X_new, y_old, y_new = train_test_split(X, y, stratify=y, random_state=seed)
                p = model.fit(X_old, y_old).predict_proba(X_new)
                found.append((model.score(X_new, y_new), log_loss(y_new, p)))
            row += [f"{v:.4f}" for v in np.mean(found, axis=0)]
        rows.append([data, row[0], row[2], row[1], row[3]])
    text = table(["logistic regression", "accuracy", "scikit-learn's", "log loss", "scikit-learn's"], rows)
    X, y = load_diabetes(return_X_y=True)
    rows = []
    for name, (kind, ours, theirs) in PAIRS.items():
        if kind == "numbers":
            found = [[], []]
            for seed in range(SEEDS):
                X_old, X_new, y_old, y_new = train_test_split(X, y, random_state=seed)
                for each, model in zip(found, (ours, theirs), strict=True):
                    each.append(model.fit(X_old, y_old).score(X_new, y_new))
            rows.append([name, *[f"{np.mean(each):.4f}" for each in found]])
    return f"{text}\n{table(['R² on diabetes', 'ours', 'scikit-learn'], rows)}"


def measured(rounds: int) -> str:
    """Four tables."""
    return "\n".join([times(rounds), objectives(rounds), f"The mean of {SEEDS} splits:\n", scores()])
