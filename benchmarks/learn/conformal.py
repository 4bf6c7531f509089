"""Conformal sets and intervals: MAPIE, crepes and ours on the same probabilities."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from .measuring import cell, has, in_turn, table

TITLE = "Conformal sets and intervals"
METHODS = ("lac", "aps", "raps")
SIZES = {"500 + 2,000 rows, 4 classes": (500, 2000, 4), "90,000 + 10,000 rows, 100 classes": (90_000, 10_000, 100)}
CREPES_ROWS = 100
"""crepes goes row by row in Python: with 90,000 calibration rows so many new ones are timed, and the time scaled."""
WHO = ("ours", "MAPIE", "crepes")


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its features: what is timed is conformal prediction alone."""

    def fit(self, X: Any, y: Any) -> Given:
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return np.argmax(X, axis=1)


def drawn(rng: np.random.Generator, rows: int, classes: int) -> tuple[Any, Any]:
    """Probabilities of a model that is too sure of itself, and labels."""
    z = rng.normal(size=(rows, classes))
    y = np.argmax(1.5 * z + rng.gumbel(size=z.shape), axis=1)
    p = np.exp(2 * z)
    return p / p.sum(axis=1, keepdims=True), y


def sets(who: str, method: str, seed: int, known: tuple[Any, Any], p: Any) -> Any:
    """Calibrated and predicted: a bool matrix."""
    inner = Given().fit(p, None)
    if who == "ours":
        from adjoint import learn

        return (
            learn.ConformalClassifier(FrozenEstimator(inner), method=method, random_state=seed)
            .fit(*known)
            .predict_set(p)
        )
    if who == "MAPIE":
        from mapie.classification import SplitConformalClassifier

        model = SplitConformalClassifier(inner, confidence_level=0.9, conformity_score=method, random_state=seed)
        return model.conformalize(*known).predict_set(p)[1][:, :, 0]
    from crepes import WrapClassifier
    from crepes.extras import hinge

    model = WrapClassifier(inner)
    model.calibrate(*known, nc=hinge)
    return model.predict_set(p, labels=False, confidence=0.9, seed=seed)


def split(who: str, method: str, size: tuple[int, int, int]) -> Callable[[], Any]:
    """One split: calibration and prediction."""
    calibration, new, classes = size
    rng = np.random.default_rng(0)
    known, (p, y) = drawn(rng, calibration, classes), drawn(rng, new, classes)
    if who == "crepes" and calibration > 10_000:
        p, y = p[:CREPES_ROWS], y[:CREPES_ROWS]

    def run() -> dict[str, float]:
        held = np.asarray(sets(who, method, 0, known, p), dtype=bool)
        return {"coverage": float(held[np.arange(len(y)), y].mean()), "size": float(held.sum(axis=1).mean())}

    return run


def many_splits(who: str, method: str, splits: int) -> Callable[[], Any]:
    """The mean coverage and size of sets over many splits."""

    def run() -> dict[str, float]:
        rng, found = np.random.default_rng(0), []
        for seed in range(splits):
            known, (p, y) = drawn(rng, 500, 4), drawn(rng, 500, 4)
            held = np.asarray(sets(who, method, seed, known, p), dtype=bool)
            found.append((held[np.arange(500), y].mean(), held.sum(axis=1).mean()))
        coverage, size = np.mean(found, axis=0)
        return {"coverage": float(coverage), "size": float(size)}

    return run


def cross(who: str, rows: int) -> Callable[[], Any]:
    """CV+ with five folds, as many new rows as old ones."""
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(2, rows, 5))
    y, y_new = (A[:, 0] + rng.standard_t(4, size=rows) for A in (X, X_new))
    home: Any = importlib.import_module("adjoint.learn" if who == "ours" else "mapie.regression")

    def run() -> dict[str, float]:
        if who == "ours":
            ends = home.ConformalRegressor(LinearRegression(), cv=5, random_state=0).fit(X, y).predict_interval(X_new)
        else:
            model = home.CrossConformalRegressor(LinearRegression(), confidence_level=0.9, cv=5, random_state=0)
            ends = model.fit_conformalize(X, y).predict_interval(X_new)[1][:, :, 0]
        return {"coverage": float(np.mean((ends[:, 0] <= y_new) & (y_new <= ends[:, 1])))}

    return run


def contestants(method: str) -> list[str]:
    """Who is installed and has the method."""
    return [w for w in WHO if w == "ours" or (has(w.lower()) and (w != "crepes" or method == "lac"))]


def measured(rounds: int) -> str:
    """Three tables."""
    rows = []
    for words, size in SIZES.items():
        is_large = size[0] > 10_000
        for method in METHODS:
            calls = {w: (f"{__name__}:split", w, method, size) for w in contestants(method)}
            found = in_turn(calls, rounds=1 if is_large else rounds, repeats=2 if is_large else 20, memory=is_large)
            for who, one in found.items():
                scale = size[1] / CREPES_ROWS if who == "crepes" and is_large else 1.0
                coverage, mean = (cell(one.get("result", one), key) for key in ("coverage", "size"))
                rows.append([words, method, who, cell(one, "least", 1e3 * scale), cell(one, "memory"), coverage, mean])
    text = table(["", "method", "", "ms", "MB", "coverage of 0.9", "classes in a set"], rows)
    rows = []
    for method in METHODS:
        calls = {w: (f"{__name__}:many_splits", w, method, 50) for w in contestants(method)}
        found = in_turn(calls, rounds=1)
        for who, one in found.items():
            result = one.get("result", one)
            rows.append([method, who, cell(result, "coverage", digits=4), cell(result, "size", digits=4)])
    text += "\nThe mean of 50 splits of 500 + 500 rows:\n\n" + table(["method", "", "coverage of 0.9", "classes"], rows)
    calls = {w: (f"{__name__}:cross", w, 10_000) for w in ("ours", "MAPIE") if w == "ours" or has("mapie")}
    found = in_turn(calls, rounds=1, repeats=1, memory=True)
    rows = [[w, cell(f, "least"), cell(f, "memory"), cell(f.get("result", f), "coverage")] for w, f in found.items()]
    return (
        text + "\nCV+ with five folds, 10,000 rows by 10,000 new ones:\n\n" + table(["", "s", "MB", "coverage"], rows)
    )
