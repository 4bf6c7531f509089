"""Conformal risk control."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from adjoint import learn
from tests.learn.given import Given

INNER = FrozenEstimator(Given().fit(np.eye(4), None))


def several(rng, n, k=4):
    """Probabilities that are wrong, and several labels."""
    z = rng.normal(size=(n, k))
    return 1 / (1 + np.exp(-3 * z)), (rng.random((n, k)) < 1 / (1 + np.exp(-z))).astype(int)


def one(rng, n, k=4):
    """Probabilities that are wrong, and one label."""
    z = rng.normal(size=(n, k))
    p = np.exp(2 * z)
    return p / p.sum(axis=1, keepdims=True), np.argmax(z + rng.gumbel(size=z.shape), axis=1)


def harm(held, truth):
    """Missing some classes is worse than missing others; bounded by 2."""
    return (truth & ~held) @ [0.2, 0.4, 0.6, 0.8]


LOSSES = [("miss", 1.0), ("false negative rate", 1.0), (harm, 2.0)]


def check_risk(draw, loss, bound, count):
    """The mean loss of new examples is at most the target, and by no more than 2 bound / (n + 1) below it."""
    rng, risks = np.random.default_rng(0), []
    for _ in range(count):
        p, y = draw(rng, 200)
        model = learn.RiskControl(INNER, loss, 0.1, bound=bound).fit(p[:99], y[:99])
        risks.append(model.risk_report(p[99:], y[99:])["risk"])
    error = 4 * np.std(risks) / np.sqrt(count)
    assert 0.1 - 2 * bound / 100 - error < np.mean(risks) < 0.1 + error


@pytest.mark.slow
@pytest.mark.parametrize("draw", [one, several])
@pytest.mark.parametrize(("loss", "bound"), LOSSES)
def test_risk_over_many_splits(draw, loss, bound):
    """1,000 splits."""
    check_risk(draw, loss, bound, 1000)


@pytest.mark.parametrize(("loss", "bound"), LOSSES)
def test_risk(loss, bound):
    """The same, quickly."""
    check_risk(several, loss, bound, 100)


@pytest.mark.parametrize("draw", [one, several])
@pytest.mark.parametrize(("loss", "bound"), LOSSES)
def test_threshold_is_the_largest_that_is_allowed(draw, loss, bound):
    """As trying all of them gives it, with ties; at every target."""
    p, y = draw(np.random.default_rng(2), 120)
    p = p.round(2)
    model = learn.RiskControl(INNER, loss, 0.2, bound=bound).fit(p, y)
    truth = y.astype(bool) if y.ndim == 2 else np.eye(4, dtype=bool)[y]
    for target in (0.05, 0.2, 0.5):
        fine = [
            t for t in [*np.unique(p), np.inf] if (model._losses(p >= t, truth).sum() + bound) / 121 <= target + 1e-12
        ]
        np.testing.assert_array_equal(model.predict_set(p, target), p >= max(fine))


def test_a_miss_is_conformal_coverage():
    """The sets for "miss" are those of ConformalClassifier."""
    p, y = one(np.random.default_rng(0), 500)
    risk = learn.RiskControl(INNER, "miss", 0.1).fit(p, y)
    sets = learn.ConformalClassifier(INNER, coverage=0.9).fit(p, y)
    np.testing.assert_array_equal(risk.predict_set(p), sets.predict_set(p))


@pytest.mark.parametrize(
    "inner",
    [
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        RandomForestClassifier(20, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_classifiers_of_several_labels(inner):
    """Whatever form their probabilities have."""
    X, y = make_multilabel_classification(600, n_classes=4, random_state=0)
    model = learn.RiskControl(inner, "false negative rate", 0.2, random_state=0).fit(X[:400], y[:400])
    found = model.risk_report(X[400:], y[400:])
    assert found["risk"] < 0.3
    assert found["mean size"] < 4
    assert model.predict_set(X).shape == y.shape


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": 0.005}, "target=0.005 takes 199 calibration examples at the least, got 100"),
        ({"target": 1.5}, "target has to be between 0 and bound=1, got 1.5"),
        ({"loss": "hamming"}, "must be a str among .*'miss'.* or a callable. Got 'hamming' instead"),
        ({"loss": lambda held, truth: held.sum(axis=1) / 4}, "target=0.1 is out of reach: sets of all classes"),
        ({"loss": lambda held, truth: 5.0 * np.ones(len(held))}, "loss has to be between 0 and bound=1, got 5.0"),
        ({"loss": lambda held, truth: 0.5}, r"a number for each of 100 examples, got the shape \(\)"),
        ({"loss": lambda held, truth: (held.sum(axis=1) % 3 != 1) * 0.5 * ~held.all(axis=1)}, "loss must not grow"),
    ],
)
def test_wrong_calls(changes, words):
    """Refused in words."""
    p, y = one(np.random.default_rng(0), 100)
    with pytest.raises(ValueError, match=words):
        learn.RiskControl(INNER).set_params(**changes).fit(p, y)


def test_cross_fitting_promises_nothing():
    """It says so, and does as a rule what was asked for."""
    X, y = make_multilabel_classification(600, n_classes=4, random_state=0)
    model = learn.RiskControl(OneVsRestClassifier(LogisticRegression()), target=0.2, cv=3, random_state=0)
    model.fit(X[:300], y[:300])
    assert model.n_calibration_ == 300
    assert "but nothing is proved (cross-fitting)" in model.guarantee_
    assert model.risk_report(X[300:], y[300:])["risk"] == pytest.approx(0.2, abs=0.05)
