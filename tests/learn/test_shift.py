"""Conformal sets and intervals for new examples that are distributed otherwise: weights."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, LeaveOneOut

from adjoint import learn
from adjoint.learn.conformal.scores import of_all_classes
from adjoint.learn.scoring import seeds_of, splits

SHIFT = 0.8
OUTWEIGHED = "[0-9]+ of [0-9]+ new examples outweigh"


def weight(X):
    """The density of N(SHIFT, 1) over that of N(0, 1) in the first column."""
    return np.exp(SHIFT * np.asarray(X)[:, 0] - SHIFT**2 / 2)


def numbers(rng, n, shift=0.0):
    """Errors grow with the first column, which is shifted."""
    X = rng.normal([shift, 0.0], size=(n, 2))
    return X, X[:, 1] + 0.3 * np.exp(0.8 * X[:, 0]) * rng.normal(size=n)


def labels(rng, n, shift=0.0):
    """Classes are harder to tell apart where the first column is large."""
    X = rng.normal([shift, 0.0], size=(n, 2))
    z = np.stack([X[:, 1], -X[:, 1], np.zeros(n)], axis=1) * 3 * np.exp(-X[:, :1])
    return X, np.argmax(z + rng.gumbel(size=z.shape), axis=1)


def coverages(model, draw, count, calibration, new):
    """Of so many random splits; and the mean share of the new example in all weights, what coverage may exceed by."""
    rng, hits, slack = np.random.default_rng(0), [], []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", OUTWEIGHED)
        for seed in range(count):
            (X, y), (X_new, y_new) = draw(rng, calibration), draw(rng, new, SHIFT)
            model.set_params(random_state=seed).fit(X, y)
            if draw is labels:
                hits.append(np.mean(model.predict_set(X_new)[np.arange(new), y_new]))
            else:
                low, high = model.predict_interval(X_new).T
                hits.append(np.mean((low <= y_new) & (y_new <= high)))
            slack.append(np.mean(weight(X_new) / (np.sum(weight(X)) + weight(X_new))))
    return np.array(hits), np.mean(slack)


def fitted(draw):
    """A model that is kept, fitted to other rows."""
    X, y = draw(np.random.default_rng(99), 200)
    return FrozenEstimator((LogisticRegression() if draw is labels else LinearRegression()).fit(X, y))


CASES = [
    *[
        (learn.ConformalClassifier(fitted(labels), method=m, weight=weight), labels)
        for m in ("lac", "aps", "raps", "saps")
    ],
    (learn.ConformalRegressor(fitted(numbers), weight=weight), numbers),
    (learn.ConformalRegressor(fitted(numbers), method="distribution", weight=weight), numbers),
]


def check_coverage(model, draw, count):
    """The mean is in its band with the weights, and below it without them."""
    hits, slack = coverages(model, draw, count, 199, 100)
    sides = 2 if getattr(model, "method", "") == "distribution" else 1
    error = 4 * hits.std() / np.sqrt(count)
    assert 0.9 - error < hits.mean() < 0.9 + sides * slack + error
    plain, _ = coverages(clone(model).set_params(weight=None), draw, count, 199, 100)
    assert plain.mean() < 0.9 - 4 * plain.std() / np.sqrt(count)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "draw"), CASES, ids=lambda m: getattr(m, "method", ""))
def test_coverage_over_many_splits(model, draw):
    """1,000 splits."""
    check_coverage(model, draw, 1000)


@pytest.mark.parametrize(("model", "draw"), [CASES[0], CASES[4]], ids=lambda m: getattr(m, "method", ""))
def test_coverage(model, draw):
    """The same, quickly."""
    check_coverage(model, draw, 100)


@pytest.mark.parametrize("by", [None, "class", lambda X: X[:, 1] > 0])
@pytest.mark.parametrize("cv", [0.5, 4])
def test_sets_are_what_the_definition_says(cv, by):
    """A class is in if scores as strange, with their weights and that of the example, are more than 1 - coverage."""
    rng = np.random.default_rng(3)
    (X, y), (X_new, _) = labels(rng, 400), labels(rng, 60, SHIFT)
    model = learn.ConformalClassifier(LogisticRegression(), weight=weight, by=by, cv=cv, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", OUTWEIGHED)
        held = model.predict_set(X_new)
    p = model.predict_p(X_new)
    assert np.all((p > 0.1 + 1e-9) <= held)
    assert np.all((p < 0.1 - 1e-9) <= ~held)
    own = weight(X_new)
    group, group_new = (np.zeros(400), np.zeros(60)) if by in (None, "class") else (X[:, 1] > 0, X_new[:, 1] > 0)
    seed = seeds_of(0, 3)[0]
    places = [rows for _, rows in splits(model.estimator, X, y, cv=cv, random_state=seed)]
    folds = list(zip(model.estimators_, places, strict=True))
    luck = model._luck(60)
    for j in range(0, 60, 7):
        for k in range(3):
            strange = total = 0.0
            for fold, (estimator, rows) in enumerate(folds):
                every = -estimator.predict_proba(X[rows])[np.arange(len(rows)), y[rows]]
                mine = of_all_classes("lac", estimator.predict_proba(X_new[[j]]), luck[fold, [j]])[0, k]
                member = y[rows] == k if by == "class" else group[rows] == group_new[j]
                strange += np.sum(weight(X[rows])[member & (every >= mine)])
                total += np.sum(weight(X[rows])[member])
            assert p[j, k] == pytest.approx((strange + own[j]) / (total + own[j]), rel=1e-9)


@pytest.mark.parametrize("method", ["absolute", "distribution"])
@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut(), KFold(1 + 1)])
def test_intervals_are_what_the_definition_says(method, cv):
    """The least end with a share of the weight within it, the example's own beyond all."""
    rng = np.random.default_rng(5)
    (X, y), (X_new, _) = numbers(rng, 90), numbers(rng, 20, SHIFT)
    inner = BayesianRidge() if method == "distribution" else LinearRegression()
    model = learn.ConformalRegressor(inner, method=method, weight=weight, cv=cv, coverage=0.8).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", OUTWEIGHED)
        ends = model.predict_interval(X_new)
    level = 0.9 if method == "distribution" else 0.8
    for j in range(20):
        values, each = [], []
        for estimator, (_, rows) in zip(model.estimators_, cv.split(X), strict=True):
            if method == "distribution":
                middle, width = estimator.predict(X[rows], return_std=True)
                at, by = estimator.predict(X_new[[j]], return_std=True)
                values += [(at + by * (y[rows] - middle) / width, at + by * (y[rows] - middle) / width)]
            else:
                errors = np.abs(y[rows] - estimator.predict(X[rows]))
                at = estimator.predict(X_new[[j]])
                values += [(at - errors, at + errors)]
            each.append(weight(X[rows]))
        low, high = np.concatenate(values, axis=1)
        w = np.concatenate(each)
        wanted = level * (w.sum() + weight(X_new[[j]])[0])
        least = min((v for v in high if w[high <= v].sum() >= wanted), default=np.inf)
        most = max((v for v in low if w[low >= v].sum() >= wanted), default=-np.inf)
        np.testing.assert_allclose(ends[j], [most, least], rtol=1e-9)


def test_equal_weights_change_nothing():
    """Whatever number they are."""
    rng = np.random.default_rng(0)
    X, y = numbers(rng, 120)
    for cv in (0.3, 5):
        plain = learn.ConformalRegressor(LinearRegression(), cv=cv, random_state=0).fit(X, y)
        equal = clone(plain).set_params(weight=lambda X: np.full(len(X), 3.0)).fit(X, y)
        np.testing.assert_allclose(plain.predict_interval(X), equal.predict_interval(X), rtol=1e-9)
        assert equal.n_effective_ == pytest.approx(plain.n_calibration_)


def test_what_outweighs_calibration_is_said():
    """Everything, and how many; the guarantee says on what it stands."""
    X, y = numbers(np.random.default_rng(0), 100)
    model = learn.ConformalRegressor(fitted(numbers), weight=weight).fit(X, y)
    with pytest.warns(
        UserWarning, match="1 of 2 new examples outweigh those of calibration: their intervals have no end"
    ):
        ends = model.predict_interval([[0.0, 0.0], [9.0, 0.0]])
    np.testing.assert_array_equal(np.isinf(ends), [[False, False], [True, True]])
    assert model.guarantee_ == (
        f"at least 0.9 of new examples, if they differ from 100 of calibration, worth {model.n_effective_:.0f}, in the "
        "distribution of X alone, as weight says (given estimator)"
    )
    assert 20 < model.n_effective_ < 90
    X, y = labels(np.random.default_rng(0), 100)
    sets = learn.ConformalClassifier(fitted(labels), weight=weight).fit(X, y)
    with pytest.warns(
        UserWarning, match="1 of 1 new examples outweigh those of calibration: their sets hold all classes"
    ):
        assert sets.predict_set([[9.0, 0.0]]).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (2.0, "The 'weight' parameter of ConformalRegressor must be a callable or None. Got 2.0 instead."),
        (lambda X: -np.ones(len(X)), "weight has to give a finite number of at least 0 for each of 100 rows"),
        (lambda X: np.full(len(X), np.nan), "finite number of at least 0"),
        (lambda X: np.ones(3), "for each of 100 rows"),
        (lambda X: np.zeros(len(X)), "weight gives 0 for all calibration rows"),
    ],
)
def test_wrong_weights(wrong, words):
    """Refused in words."""
    X, y = numbers(np.random.default_rng(0), 100)
    with pytest.raises(ValueError, match=words):
        learn.ConformalRegressor(LinearRegression(), weight=wrong).fit(X, y)


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, lambda a: pl.DataFrame(a, schema=["a", "b"])])
def test_density_ratio(frame):
    """The true one is found, from arrays and frames; intervals with it cover."""
    rng = np.random.default_rng(1)
    (X, y), (X_new, y_new) = numbers(rng, 3000), numbers(rng, 2000, SHIFT)
    found = learn.density_ratio(frame(X), frame(X_new))
    assert np.mean(np.abs(np.log(found(frame(X)) / weight(X)))) < 0.1
    model = learn.ConformalRegressor(LinearRegression(), weight=found, random_state=0).fit(frame(X), y)
    low, high = model.predict_interval(frame(X_new)).T
    assert np.mean((low <= y_new) & (y_new <= high)) == pytest.approx(0.9, abs=0.04)
