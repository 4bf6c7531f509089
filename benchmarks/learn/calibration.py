"""Calibrated log loss in four settings, labels that are not 0, 1, 2, calibration errors beside netcal and relplot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from adjoint import learn

from .measuring import cell, has, in_turn, table

TITLE = "Calibration"


class Logits(ClassifierMixin, BaseEstimator):
    """A classifier whose logits are its features."""

    decision_function_is_logits = True

    def fit(self, X: Any, y: Any) -> Logits:
        self.classes_ = np.arange(X.shape[1])
        return self

    def decision_function(self, X: Any) -> Any:
        return X

    def predict_proba(self, X: Any) -> Any:
        return softmax(X, axis=1)

    def predict(self, X: Any) -> Any:
        return np.argmax(X, axis=1)


def settings() -> Iterator[tuple[str, Any, Any, int]]:
    """Logits of new rows, their labels, and how many of them calibrate."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    model = MLPClassifier((64,), alpha=0.0, max_iter=300, random_state=0).fit(X[:200] / 16, y[:200])
    yield "network on 200 digits, 500 rows", np.log(np.maximum(model.predict_proba(X[200:] / 16), 1e-300)), y[200:], 500
    for classes in (10, 100):
        rng = np.random.default_rng(classes)
        z = rng.normal(size=(20_000, classes))
        yield f"{classes} classes, 10,000 rows", 3.0 * z, np.argmax(z + rng.gumbel(size=z.shape), axis=1), 10_000
    rng = np.random.default_rng(6)  # a model that was trained on balanced classes, and mistakes some for others
    z = rng.normal(size=(8000, 6)) + np.log([0.5, 0.25, 0.12, 0.07, 0.04, 0.02])
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    mixed = 2.5 * (z - z.mean(axis=0)) @ (np.eye(6) + 0.3 * rng.normal(size=(6, 6)))
    yield "six uneven classes, 4,000 rows", mixed - mixed.mean(axis=1, keepdims=True), y, 4000


def losses() -> str:
    """Log loss on rows that did not calibrate."""
    methods: dict[str, Callable[[Any], Any]] = {
        "ours, auto": lambda f: learn.CalibratedClassifier(f, "auto", random_state=0),
        "ours, temperature": lambda f: learn.CalibratedClassifier(f, "temperature"),
        "ours, matrix": lambda f: learn.CalibratedClassifier(f, "matrix"),
        "scikit-learn, temperature": lambda f: CalibratedClassifierCV(f, method="temperature"),
        "scikit-learn, isotonic": lambda f: CalibratedClassifierCV(f, method="isotonic"),
        "plain matrix": lambda f: None,
    }
    rows = []
    for words, z, y, count in settings():
        frozen = FrozenEstimator(Logits().fit(z, y))
        row = [f"{log_loss(y[count:], softmax(z[count:], axis=1)):.3f}"]
        for make in methods.values():
            model = make(frozen) or LogisticRegression(C=1e6, max_iter=300)
            model.fit(z[:count], y[:count])
            row.append(f"{log_loss(y[count:], model.predict_proba(z[count:])):.3f}")
        rows.append([words, *row])
    return "Log loss of other rows than those that calibrate:\n\n" + table(["", "none", *methods], rows)


def labels() -> str:
    """Temperature calibration of three classes, whatever they are called."""
    X, y = load_iris(return_X_y=True)
    rows = []
    for names in ([0, 1, 2], [1, 2, 3], [-1, 0, 1], [10, 20, 30], ["a", "b", "c"]):
        kinds = np.array(names)[y]
        both = (
            learn.CalibratedClassifier(GaussianNB(), "temperature", random_state=0),
            CalibratedClassifierCV(GaussianNB(), method="temperature"),
        )
        rows.append([names, *[f"{log_loss(kinds, model.fit(X, kinds).predict_proba(X)):.3f}" for model in both]])
    head = ["labels of iris", "ours", "scikit-learn"]
    return "Log loss after temperature calibration (ln 3 = 1.099 is no better than chance):\n\n" + table(head, rows)


def drawn() -> tuple[Any, Any]:
    """Probabilities of 20,000 rows and 10 classes, and labels."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 10))
    return softmax(2 * z, axis=1), np.argmax(z + rng.gumbel(size=z.shape), axis=1)


def binned(who: str) -> Callable[[], Any]:
    """The expected calibration error of the top label in 15 bins."""
    p, y = drawn()
    if who == "netcal":
        from netcal.metrics import ECE

        return lambda: float(ECE(15).measure(p, y))
    return lambda: float(learn.calibration_error(y, p))  # type: ignore[arg-type]


def smooth(who: str) -> Callable[[], Any]:
    """The smooth calibration error."""
    p, y = drawn()
    if who == "relplot":
        import relplot

        top = np.argmax(p, axis=1)
        return lambda: float(relplot.smECE(p.max(axis=1), (top == y).astype(float)))
    return lambda: float(learn.smooth_calibration_error(y, p))


def errors(rounds: int) -> str:
    """Ours and theirs on the same definition."""
    rows = []
    for words, name, peer in (("binned, 15 bins", "binned", "netcal"), ("smooth", "smooth", "relplot")):
        calls = {who: (f"{__name__}:{name}", who) for who in ("ours", peer) if who == "ours" or has(peer)}
        for who, found in in_turn(calls, rounds=rounds, repeats=5).items():
            rows.append([words, who, cell(found, "result", digits=13), cell(found, "least", 1e3)])
    head = ["calibration error of 20,000 x 10", "", "value", "ms"]
    return "Calibration errors on the same definition:\n\n" + table(head, rows)


def measured(rounds: int) -> str:
    """Three tables."""
    return "\n".join([losses(), labels(), errors(rounds)])
