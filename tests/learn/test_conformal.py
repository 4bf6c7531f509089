"""Conformal sets and intervals."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, QuantileRegressor
from sklearn.model_selection import LeaveOneOut

from adjoint import learn
from adjoint.learn.conformal import ranks, scores

METHODS = ["lac", "aps", "raps", "saps"]


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its features."""

    def fit(self, X, y):
        """Note the classes."""
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X):
        """As given."""
        return X

    def predict(self, X):
        """The likeliest."""
        return np.argmax(X, axis=1)


def drawn(rng, n, k=4):
    """Probabilities, none of them right, and labels."""
    z = rng.normal(size=(n, k))
    y = np.argmax(1.5 * z + rng.gumbel(size=z.shape), axis=1)
    p = np.exp(2 * z)
    return p / p.sum(axis=1, keepdims=True), y


def regression(rng, n):
    """Errors with heavy tails that grow with the second column."""
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.5 * np.exp(0.5 * X[:, 1]) * rng.standard_t(4, size=n)


def in_band(hits, new, splits, coverage, calibration):
    """Whether a mean coverage is where its beta-binomial distribution has it, to 4 deviations."""
    rank = int(np.ceil((calibration + 1) * coverage - 1e-9))
    law = stats.betabinom(new, rank, calibration + 1 - rank)
    return abs(np.mean(hits) - law.mean() / new) < 4 * law.std() / new / np.sqrt(splits)


@pytest.mark.parametrize("method", METHODS)
def test_coverage_over_many_splits(method):
    """1,000 random splits: the mean coverage is 0.9, not a hundredth more."""
    rng, hits = np.random.default_rng(0), []
    inner = FrozenEstimator(Given().fit(np.eye(4), None))
    for seed in range(1000):
        p, y = drawn(rng, 200)
        model = learn.ConformalClassifier(inner, method=method, random_state=seed).fit(p[:99], y[:99])
        hits.append(model.coverage_report(p[99:], y[99:])["coverage"])
    assert in_band(hits, 101, 1000, 0.9, 99)


@pytest.mark.parametrize("method", METHODS)
def test_sets_are_the_classes_whose_p_values_are_large(method):
    """The quick way by thresholds and the definition by counts; ties included."""
    rng = np.random.default_rng(1)
    p, y = drawn(rng, 600, 5)
    p[::3] = 0.2
    model = learn.ConformalClassifier(FrozenEstimator(Given().fit(p, y)), method=method, random_state=0)
    model.fit(p[:199], y[:199])
    for coverage in (0.5, 0.9, 0.99):
        held = model.predict_set(p[199:], coverage)
        np.testing.assert_array_equal(held, model.predict_p(p[199:]) > 1 - coverage + 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_scores_of_one_class_are_those_of_all(method):
    """Without sorting, the same."""
    p, y = drawn(np.random.default_rng(2), 300, 6)
    luck = np.random.default_rng(3).random(300)
    every = scores.of_all_classes(method, p, luck)
    np.testing.assert_allclose(scores.of_one_class(method, p, y, luck), every[np.arange(300), y], atol=1e-14)


def test_each_class_and_each_group_is_covered():
    """One hard class, one hard group: covered by themselves."""
    rng = np.random.default_rng(0)
    hits = {"class": [], "group": []}
    for seed in range(100):
        p, y = drawn(rng, 1000, 3)
        hard = rng.random(1000) < 0.3
        p[hard] = 1 / 3
        inner = FrozenEstimator(Given().fit(p, y))
        for name, by in (("class", "class"), ("group", lambda X: np.ptp(X, axis=1) == 0)):
            model = learn.ConformalClassifier(inner, by=by, random_state=seed).fit(p[:500], y[:500])
            held = model.predict_set(p[500:])[np.arange(500), y[500:]]
            hits[name].append([held[y[500:] == 0].mean() if name == "class" else held[hard[500:]].mean()])
    assert np.mean(hits["class"]) == pytest.approx(0.9, abs=0.015)
    assert np.mean(hits["group"]) >= 0.9


def test_too_few_rows_are_refused():
    """With the number that is needed; never an infinite threshold."""
    p, y = drawn(np.random.default_rng(0), 50)
    inner = FrozenEstimator(Given().fit(p, y))
    with pytest.raises(ValueError, match="takes 9 calibration examples at the least, got 8"):
        learn.ConformalClassifier(inner).fit(p[:8], y[:8])
    model = learn.ConformalClassifier(inner).fit(p[:9], y[:9])
    with pytest.raises(ValueError, match="takes 99 calibration examples at the least, got 9"):
        model.predict_set(p, coverage=0.99)
    with pytest.raises(ValueError, match="takes 9 calibration"):
        learn.conformal_quantile(np.ones(8), 0.9)


def test_one_calibration_serves_all_levels():
    """Sets grow with the coverage; without allow_empty none is empty."""
    p, y = drawn(np.random.default_rng(0), 2000)
    inner = FrozenEstimator(Given().fit(p, y))
    model = learn.ConformalClassifier(inner, random_state=0).fit(p[:500], y[:500])
    small, large = model.predict_set(p, 0.3), model.predict_set(p, 0.95)
    assert np.all(large[small])
    assert not small.any(axis=1).all()
    model.set_params(allow_empty=False)
    assert model.predict_set(p, 0.3).any(axis=1).all()


def test_quantile_is_the_rank_it_should_be():
    """For every n: the ceil((n + 1) c)-th smallest; weights of 1 change nothing."""
    rng = np.random.default_rng(0)
    for n in range(9, 60):
        s = rng.normal(size=n)
        want = np.sort(s)[int(np.ceil(np.round((n + 1) * 0.9, 9))) - 1]
        assert learn.conformal_quantile(s, 0.9) == want
        assert learn.conformal_quantile(s, 0.9, weights=np.ones(n)) == want


@pytest.mark.parametrize("folds", [2, 6, 60])
def test_ranks_without_an_array_of_all(folds):
    """The r-th smallest of sums, with many equal ones among them, as sorting all of them gives it."""
    rng = np.random.default_rng(folds)
    for _ in range(40):
        parts = [np.sort(np.abs(rng.normal(size=rng.integers(1, 12))).round(1)) for _ in range(folds)]
        at, by = rng.normal(size=(folds, 7)).round(1), rng.uniform(0.5, 2.0, size=(folds, 7)).round(1)
        every = np.concatenate([at[k] + by[k] * s[:, None] for k, s in enumerate(parts)])
        rank = int(rng.integers(1, len(every) + 1))
        np.testing.assert_allclose(ranks.ranked(at, by, parts, rank), np.sort(every, axis=0)[rank - 1], atol=1e-12)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (learn.ConformalRegressor(LinearRegression()), "split"),
        (learn.ConformalRegressor(LinearRegression(), method="normalised"), "split"),
        (learn.ConformalRegressor(QuantileRegressor(alpha=0.0), method="quantile"), "split"),
        (learn.ConformalRegressor(BayesianRidge(), method="distribution"), "split"),
        (learn.ConformalRegressor(LinearRegression(), cv=5), "cross-fitting"),
        (learn.ConformalRegressor(LinearRegression(), cv=LeaveOneOut()), "cross-fitting"),
    ],
    ids=lambda m: getattr(m, "method", m),
)
def test_intervals_cover(model, kind):
    """On average over splits: what was asked for, wider where errors are larger if the method looks for that."""
    rng, hits = np.random.default_rng(0), []
    for seed in range(30):
        X, y = regression(rng, 295 if kind == "split" else 100)
        new, truth = regression(rng, 1000)
        ends = model.set_params(random_state=seed).fit(X, y).predict_interval(new)
        hits.append(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
    assert np.mean(hits) == pytest.approx(0.9, abs=0.02)
    assert kind in model.guarantee_
    if model.method in ("normalised", "quantile"):
        width = np.diff(model.predict_interval([[0.0, -2.0], [0.0, 2.0]]), axis=1)[:, 0]
        assert width[1] > 1.2 * width[0]


def test_distribution():
    """Quantiles cover as they should, and the distribution of what comes is uniform."""
    X, y = regression(np.random.default_rng(0), 10_000)
    new, truth = regression(np.random.default_rng(1), 2000)
    model = learn.ConformalRegressor(BayesianRidge(), method="distribution", random_state=0).fit(X, y)
    assert np.mean(truth <= model.predict_quantile(new, 0.7)) == pytest.approx(0.7, abs=0.05)
    assert stats.kstest(model.predict_cdf(new, truth), "uniform").pvalue > 1e-4
    with pytest.raises(ValueError, match="predict_quantile takes method='distribution'"):
        learn.ConformalRegressor(LinearRegression()).fit(X, y).predict_quantile(new, 0.5)


def test_wrong_calls():
    """What a person may write by mistake."""
    X, y = regression(np.random.default_rng(0), 100)
    for model, words in [
        (learn.ConformalRegressor(LinearRegression(), coverage=90), "coverage has to be between 0 and 1, got 90"),
        (learn.ConformalRegressor(LinearRegression(), method="abs"), "method has to be 'absolute'"),
        (
            learn.ConformalRegressor(LinearRegression(), method="quantile"),
            "takes an estimator with a parameter quantile",
        ),
        (learn.ConformalRegressor(LinearRegression(), cv=1.5), "cv has to be a share of rows"),
        (learn.ConformalClassifier(Given(), method="apx"), "method has to be 'lac'"),
    ]:
        target = y if isinstance(model, learn.ConformalRegressor) else (y > 0).astype(int)
        with pytest.raises(ValueError, match=words):
            model.fit(X, target)
