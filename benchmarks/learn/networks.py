"""Networks beside scikit-learn's: first and later fits in fresh processes, scores on bundled sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import neural_network
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjoint import learn

from .measuring import cell, in_turn, table

TITLE = "Networks"
SETS: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "diabetes": load_diabetes,
}
HOMES = {"ours": learn, "scikit-learn": neural_network}
SEEDS = range(10, 15)
"""Splits that no default was chosen on."""


def model_of(data: str, who: str, **options: Any) -> Any:
    """A network with default parameters."""
    return getattr(HOMES[who], "MLPRegressor" if data == "diabetes" else "MLPClassifier")(**options)


def fit(data: str, who: str) -> Callable[[], Any]:
    """The fit to all rows, with scaled columns."""
    X, y = SETS[data](return_X_y=True)
    X = StandardScaler().fit_transform(X)

    def run() -> None:
        warnings.simplefilter("ignore")
        model_of(data, who, random_state=0).fit(X, y)

    return run


def times(rounds: int) -> str:
    """First and later fits."""
    rows = []
    for data in SETS:
        found = in_turn({who: (f"{__name__}:fit", data, who) for who in HOMES}, rounds=rounds, repeats=4)
        rows.append([data, *[cell(found[who], key, 1e3) for key in ("first", "least") for who in HOMES]])
    head = ["", "first fit, ms", "scikit-learn", "later fits, ms", "scikit-learn"]
    return "Fits in a fresh process, default parameters, scaled columns:\n\n" + table(head, rows)


def scores(**options: Any) -> str:
    """Accuracy and log loss, or R² of diabetes: means over splits."""
    rows = []
    for data, load in SETS.items():
        X, y = load(return_X_y=True)
        row = {}
        for who in HOMES:
            found = []
            for seed in SEEDS:
                stratify = None if data == "diabetes" else y
                X_old, X_new, y_old, y_new = train_test_split(X, y, stratify=stratify, random_state=seed)
                model = make_pipeline(StandardScaler(), model_of(data, who, random_state=seed, **options))
                score = model.fit(X_old, y_old).score(X_new, y_new)
                loss = np.nan if data == "diabetes" else log_loss(y_new, model.predict_proba(X_new))
                found.append((score, loss))
            row[who] = np.mean(found, axis=0)
        rows.append(
            [data, *[f"{row[who][k]:.3f}" if np.isfinite(row[who][k]) else "" for k in (0, 1) for who in HOMES]]
        )
    return table(["", "accuracy or R²", "scikit-learn", "log loss", "scikit-learn"], rows)


def measured(rounds: int) -> str:
    """Times, and scores without and with early stopping."""
    early = f"With `early_stopping=True`:\n\n{scores(early_stopping=True)}"
    return "\n".join([times(rounds), f"The mean of {len(SEEDS)} splits:\n\n{scores()}", early])
