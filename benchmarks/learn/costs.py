"""Decisions by cost on breast cancer: arg max, a tuned threshold, the least expected cost."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjoint import learn

from .measuring import table

TITLE = "Decisions by cost"
COSTS = np.array([[0.0, 10.0], [1.0, 0.0]])
SPLITS = 10


def cost(y: np.ndarray, decided: np.ndarray, costs: np.ndarray = COSTS) -> float:
    """The mean cost of decisions."""
    return float(np.mean(costs[decided, y]))


def measured(rounds: int) -> str:
    """The mean cost of new examples over ten splits."""
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    models = {
        "arg max": inner,
        "scikit-learn's tuned threshold": TunedThresholdClassifierCV(
            inner, scoring=make_scorer(cost, greater_is_better=False), random_state=0
        ),
        "ours": learn.CostSensitiveClassifier(inner, COSTS),
        "ours, calibrated": learn.CostSensitiveClassifier(
            learn.CalibratedClassifier(inner, "temperature", random_state=0), COSTS
        ),
    }
    X, y = load_breast_cancer(return_X_y=True)
    rows = []
    for words, model in models.items():
        found = []
        for seed in range(SPLITS):
            X_old, X_new, y_old, y_new = train_test_split(X, y, stratify=y, random_state=seed)
            found.append(cost(y_new, model.fit(X_old, y_old).predict(X_new)))
        rows.append([words, f"{np.mean(found):.3f}"])
    text = f"Breast cancer, costs {COSTS.astype(int).tolist()}, mean of {SPLITS} splits:\n\n"
    return text + table(["", "cost of an example"], rows) + "\n" + many_classes()


def many_classes() -> str:
    """Three classes, which scikit-learn's tuner refuses."""
    X, y = load_wine(return_X_y=True)
    costs = np.array([[0.0, 1.0, 20.0], [1.0, 0.0, 20.0], [2.0, 2.0, 0.0]])
    inner = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    found = {"arg max": [], "ours": []}
    for seed in range(SPLITS):
        X_old, X_new, y_old, y_new = train_test_split(X[:, :3], y, stratify=y, random_state=seed)
        found["arg max"].append(cost(y_new, inner.fit(X_old, y_old).predict(X_new), costs))
        model = learn.CostSensitiveClassifier(inner, costs).fit(X_old, y_old)
        found["ours"].append(cost(y_new, model.predict(X_new), costs))
    rows = [[who, f"{np.mean(each):.3f}"] for who, each in found.items()]
    return f"Wine by three columns, costs {costs.astype(int).tolist()}:\n\n" + table(["", "cost of an example"], rows)
