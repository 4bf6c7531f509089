"""Conformal sets and intervals."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, QuantileRegressor
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjoint import learn
from adjoint.learn.conformal import ranks, scores
from adjoint.learn.conformal.bands import TwoQuantiles
from adjoint.learn.conformal.pools import Ordered
from tests.learn.given import Given

METHODS = ["lac", "aps", "raps", "saps"]


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
        np.testing.assert_allclose(
            ranks.ranked(at, by, [Ordered(s) for s in parts], rank), np.sort(every, axis=0)[rank - 1], atol=1e-12
        )


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
        (
            learn.ConformalRegressor(LinearRegression(), coverage=90),
            r"'coverage' parameter of ConformalRegressor must be a float in the range \(0.0, 1.0\). Got 90 instead.",
        ),
        (
            learn.ConformalRegressor(LinearRegression(), method="abs"),
            "The 'method' parameter of ConformalRegressor must be a str among .*'absolute'.* Got 'abs' instead.",
        ),
        (
            learn.ConformalRegressor(LinearRegression(), method="quantile"),
            "takes an estimator with a parameter quantile",
        ),
        (
            learn.ConformalRegressor(LinearRegression(), cv=1.5),
            "The 'cv' parameter of ConformalRegressor must be a float",
        ),
        (learn.ConformalClassifier(Given(), method="apx"), "must be a str among .*'lac'.* Got 'apx' instead."),
    ]:
        target = y if isinstance(model, learn.ConformalRegressor) else (y > 0).astype(int)
        with pytest.raises(ValueError, match=words):
            model.fit(X, target)


@pytest.mark.parametrize(
    "inner",
    [
        QuantileRegressor(alpha=0.0),
        learn.LinearRegressor("quantile", alpha=0.0),
        GradientBoostingRegressor(loss="quantile", n_estimators=5),
        make_pipeline(StandardScaler(), QuantileRegressor(alpha=0.0)),
        make_pipeline(StandardScaler(), GradientBoostingRegressor(loss="quantile", n_estimators=5)),
    ],
    ids=lambda m: type(m).__name__,
)
def test_quantiles_of_any_estimator(inner):
    """Whatever the parameter is called, in a pipeline too; one that is fitted to another loss is refused."""
    X, y = regression(np.random.default_rng(0), 200)
    model = learn.ConformalRegressor(inner, method="quantile", random_state=0).fit(X, y)
    low, high = model.estimators_[0].predict(X).T
    assert np.mean(y < low) < 0.2 < 0.8 < np.mean(y < high)
    if "loss" in inner.get_params():
        other = clone(inner).set_params(loss={"LinearRegressor": "squared"}.get(type(inner).__name__, "squared_error"))
        with pytest.raises(ValueError, match="takes an estimator with a parameter quantile"):
            learn.ConformalRegressor(other, method="quantile").fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["absolute", "normalised", "quantile", "distribution"])
def test_coverage_of_intervals_over_many_splits(method):
    """1,000 random splits: the mean coverage is where its distribution has it."""
    rng, hits = np.random.default_rng(0), []
    X, y = regression(rng, 300)
    inner = FrozenEstimator(BayesianRidge().fit(X, y))
    if method == "quantile":
        inner = FrozenEstimator(TwoQuantiles(QuantileRegressor(alpha=0.0)).fit(X, y))
    for _ in range(1000):
        X, y = regression(rng, 200)
        low, high = learn.ConformalRegressor(inner, method=method).fit(X[:99], y[:99]).predict_interval(X[99:]).T
        hits.append(np.mean((low <= y[99:]) & (y[99:] <= high)))
    assert in_band(hits, 101, 1000, 0.9, 99)


@pytest.mark.slow
@pytest.mark.parametrize("cv", [5, LeaveOneOut()])
def test_coverage_of_cross_fitting_over_many_splits(cv):
    """1,000 times CV+ and the jackknife+: far above what is proved, 0.8, and close to 0.9 from above."""
    rng, hits = np.random.default_rng(0), []
    for seed in range(1000):
        X, y = regression(rng, 60)
        model = learn.ConformalRegressor(LinearRegression(), cv=cv, random_state=seed).fit(X[:40], y[:40])
        low, high = model.predict_interval(X[40:]).T
        hits.append(np.mean((low <= y[40:]) & (y[40:] <= high)))
    assert 0.895 < np.mean(hits) < 0.94


def test_groups_that_are_missing_from_a_fold():
    """A small group may be in one fold alone; it calibrates all the same."""
    X, y = regression(np.random.default_rng(0), 200)
    X[:, 0] = np.arange(200) >= 190
    for model in (
        learn.ConformalRegressor(LinearRegression(), by=0, cv=KFold(20), coverage=0.5),
        learn.ConformalClassifier(learn.LogisticRegression(), by=0, cv=KFold(20), coverage=0.5),
    ):
        target = y if isinstance(model, learn.ConformalRegressor) else (X[:, 1] > 0)
        model.fit(X, target)
        found = getattr(model, "predict_interval", getattr(model, "predict_set", None))(X)
        assert len(found) == 200


def test_a_class_that_is_missing_from_a_fold():
    """Its probability is 0 where it was not met."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(["a", "b"])[(X[:, 0] > 0).astype(int)].astype(object)
    y[59] = "c"
    for cv in (KFold(3), LeaveOneOut()):
        model = learn.ConformalClassifier(learn.LogisticRegression(), cv=cv).fit(X, y)
        assert model.predict_set(X).shape == (60, 3)
        calibrated = learn.CalibratedClassifier(learn.LogisticRegression(), "temperature", cv=cv).fit(X, y)
        np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)


def test_a_classifier_that_is_far_too_sure():
    """Probabilities below rounding still tell classes apart: sets are as with logits that are a hundredth."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1000, 4))
    y = np.argmax(1.5 * z + rng.gumbel(size=z.shape), axis=1)
    one = np.max(z, axis=1, keepdims=True)
    held = [
        learn.ConformalClassifier(FrozenEstimator(Given().fit(np.eye(4), None)), coverage=0.95)
        .fit(p[:500], y[:500])
        .predict_set(p[500:])
        for p in [np.exp(scale * (z - one)) for scale in (0.5, 100.0)]
    ]
    np.testing.assert_array_equal(*held)
