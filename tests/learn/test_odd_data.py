"""Odd labels, weights and numbers: right, or refused in words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from adjoint import learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
SIGN = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)
VALUE = X[:, 0] + RNG.normal(size=120)
CLASSIFIERS = [
    learn.CalibratedClassifier(LogisticRegression(), "temperature", random_state=0),
    learn.CostSensitiveClassifier(LogisticRegression(), [[0, 2], [1, 0]]),
    learn.ConformalClassifier(LogisticRegression(), method="aps", random_state=0),
    learn.RiskControl(LogisticRegression(), random_state=0),
    learn.LogisticRegression(),
    learn.LinearClassifier(),
]
REGRESSORS = [
    learn.LeastSquares(),
    learn.Ridge("evidence"),
    learn.LinearRegressor(),
    learn.LinearRegressor("absolute"),
    learn.LinearRegressor("squared", penalty="l1", alpha=0.1),
    learn.ConformalRegressor(LinearRegression(), random_state=0),
]
LABELS = {
    "text": np.array(["n", "y"]),
    "objects": np.array(["n", "y"], dtype=object),
    "truth values": np.array([False, True]),
    "-1 and 1": np.array([-1, 1]),
    "large": np.array([-5, 10**15]),
    "bytes of integers": np.array([3, 200], dtype=np.uint8),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
}


def numbers(model):
    """What does not depend on what labels are called."""
    for name in ("predict_set", "predict_proba", "decision_function"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise AssertionError


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("labels", LABELS)
def test_names_of_labels_do_not_matter(model, labels):
    """The same numbers, and predictions with the names."""
    names = LABELS[labels]
    want, sign = numbers(model.fit(X, SIGN)), model.predict(X)
    frozen, series = names[SIGN], pd.Series(names[SIGN], index=range(500, 620))
    frozen.setflags(write=False)
    for y in (frozen, series, pd.Series(pd.Categorical(names[SIGN]))):
        np.testing.assert_allclose(numbers(model.fit(X, y)), want, rtol=1e-12)
        np.testing.assert_array_equal(model.predict(X).astype(names.dtype), names[sign])


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda m: type(m).__name__)
def test_weights_below_nothing_are_refused(model):
    """By wrappers, too."""
    y = SIGN if is_classifier(model) else VALUE
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        model.fit(X, y, sample_weight=np.where(np.arange(120) == 3, -1.0, 1.0))


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: f"{type(m).__name__}-{getattr(m, 'loss', '')}")
@pytest.mark.parametrize("y", [np.zeros(120), np.ones(120), 1.0 + 2.0 * X[:, 0]], ids=["zeros", "ones", "a line"])
def test_nothing_to_explain(model, y):
    """Values without noise: no warning, and they are predicted, but for what the penalty takes."""
    found = model.fit(X, y).predict(X)
    assert np.max(np.abs(found - y)) < (0.5 if getattr(model, "penalty", "") == "l1" else 0.02)


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e8, 1e300])
@pytest.mark.parametrize("kind", [learn.TemperatureScaling, learn.VectorScaling, learn.MatrixScaling])
def test_logits_of_any_size(kind, scale):
    """Probabilities do not depend on it."""
    z = np.random.default_rng(1).normal(size=(200, 3))
    y = np.argmax(z + np.random.default_rng(2).gumbel(size=z.shape), axis=1)
    found = kind().fit(scale * z, y).transform(scale * z)
    np.testing.assert_allclose(found, kind().fit(z, y).transform(z), atol=1e-5)


REFUSED = {
    "nan scores": (lambda: learn.conformal_quantile([np.nan] * 20, 0.5), "a vector of numbers without NaN"),
    "nan weights": (lambda: learn.conformal_quantile(np.ones(20), 0.9, weights=np.full(20, np.nan)), "at least 0"),
    "nan p-values": (lambda: learn.conformal_p_values([1.0, 2.0], [np.nan]), "test has NaN"),
    "logits decided": (lambda: learn.decide(X, np.eye(3)), "of logits, take the softmax first"),
    "nan decided": (lambda: learn.decide([np.nan], np.eye(2)), "Input p contains NaN"),
    "one number decided": (lambda: learn.decide(0.5, np.eye(2)), r"got the shape \(\)"),
    "confidence": (lambda: learn.calibration_error([0, 1], [0.1, 0.9], confidence=95), "confidence has to be between"),
    "nan values": (
        lambda: learn.ConformalRegressor(FrozenEstimator(LinearRegression().fit(X, VALUE))).fit(
            X, np.full(120, np.nan)
        ),
        "scores of calibration rows are NaN",
    ),
    "a classifier": (
        lambda: learn.ConformalRegressor(LogisticRegression()).fit(X, VALUE),
        "ConformalRegressor takes a regressor, got LogisticRegression",
    ),
    "coverage as text": (
        lambda: learn.ConformalClassifier(random_state=0).fit(X, SIGN).predict_set(X, "0.9"),
        "coverage has to be between 0 and 1, got '0.9'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """In words."""
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call()


def test_not_fitted():
    """A frozen estimator that is not fitted; a threshold that there is not."""
    with pytest.raises(NotFittedError):
        learn.ConformalClassifier(FrozenEstimator(LogisticRegression())).fit(X, SIGN)
    for costs in (np.zeros((2, 2)), lambda X: np.zeros((len(X), 2, 2))):
        assert not hasattr(learn.CostSensitiveClassifier(LogisticRegression(), costs).fit(X, SIGN), "threshold_")


@pytest.mark.parametrize(
    "wrapper", [learn.CalibratedClassifier, learn.CostSensitiveClassifier, learn.ConformalClassifier]
)
def test_no_estimator(wrapper):
    """A plain one is taken."""
    assert wrapper().fit(X, SIGN).score(X, SIGN) > 0.6
    assert learn.ConformalRegressor().fit(X, VALUE).predict_interval(X).shape == (120, 2)
