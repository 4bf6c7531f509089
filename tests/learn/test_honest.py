"""Honest estimators: probabilities, sets, intervals and decisions from one cross-fitting."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, RidgeClassifier
from sklearn.linear_model import LogisticRegression as Logistic
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from adjoint import learn


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that counts how often any clone of it is fitted."""

    fits = 0

    def fit(self, X, y):
        """Count, and fit."""
        type(self).fits += 1
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        """Those of naive Bayes."""
        return self.inner_.predict_proba(X)

    def predict(self, X):
        """The likeliest class."""
        return self.inner_.predict(X)


def test_one_cross_fitting():
    """Five folds and all rows: six fits, whatever is made of them."""
    X, y = load_iris(return_X_y=True)
    Counting.fits = 0
    learn.HonestClassifier(Counting(), costs=1 - np.eye(3), random_state=0).fit(X, y)
    assert Counting.fits == 6


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 2, 3], [-1, 0, 10], ["a", "b", "c"]], ids=str)
def test_parts_are_those_of_the_wrappers(labels):
    """Probabilities and sets are those of the wrappers by themselves, with the same folds, for any labels."""
    X, codes = load_iris(return_X_y=True)
    y = np.array(labels)[codes]
    model = learn.HonestClassifier(GaussianNB(), random_state=0).fit(X, y)
    seed = int(np.random.RandomState(0).randint(2**31))
    folds = list(learn.scoring.splits(GaussianNB(), X, y, cv=5, random_state=seed))
    calibrated = learn.CalibratedClassifier(GaussianNB(), model.calibration_["method"], cv=folds).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), calibrated.predict_proba(X), rtol=1e-12)
    sets = learn.ConformalClassifier(GaussianNB(), cv=folds).fit(X, y)
    np.testing.assert_array_equal(model.predict_set(X), sets.predict_set(X))
    np.testing.assert_array_equal(model.predict_set(X, 0.7), sets.predict_set(X, 0.7))
    assert model.guarantee_ == sets.guarantee_
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(model.predict_proba(X), axis=1)])


def test_costs_decide():
    """By least expected cost, from 1/11 on, and cheaper on new rows than the likeliest class."""
    X, y = load_breast_cancer(return_X_y=True)
    costs = np.array([[0, 10], [1, 0]])
    model = learn.HonestClassifier(GaussianNB(), costs=costs, random_state=0).fit(X[::2], y[::2])
    p = model.predict_proba(X[1::2])
    assert model.threshold_ == pytest.approx(1 / 11)
    np.testing.assert_array_equal(model.predict(X[1::2]), (p[:, 1] > 1 / 11).astype(int))
    np.testing.assert_allclose(model.expected_cost(X[1::2]), p @ costs.T)
    paid, plain = (np.mean(costs[d, y[1::2]]) for d in (model.predict(X[1::2]), np.argmax(p, axis=1)))
    assert paid < plain
    ask = learn.HonestClassifier(GaussianNB(), costs=[[0, 10], [1, 0], [0.3, 0.3]], decisions=["no", "yes", "ask"])
    assert set(ask.fit(X, y).predict(X)) == {"no", "yes", "ask"}


@pytest.mark.parametrize("inner", [RidgeClassifier(), GaussianNB(), make_pipeline(StandardScaler(), Logistic())])
def test_frozen(inner):
    """A fitted classifier stays as it is, with or without probabilities; all rows calibrate, and sets are exact."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.std(axis=0)
    inner = clone(inner).fit(X[:200], y[:200])
    model = learn.HonestClassifier(FrozenEstimator(inner), random_state=0).fit(X[200:], y[200:])
    assert model.guarantee_ == "at least 0.9 of new examples, if exchangeable with 369 of calibration (given estimator)"
    held = model.predict_set(X[200:])[np.arange(369), y[200:]]
    assert np.mean(held) >= 333 / 369  # the ceil(0.9 * 370)-th smallest score is in
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_overconfident():
    """A tree grown to its end is sure of everything; probabilities are brought down, and said by how much."""
    X, y = load_breast_cancer(return_X_y=True)
    model = learn.HonestClassifier(DecisionTreeClassifier(random_state=0), random_state=0).fit(X, y)
    assert model.calibration_["log loss"]["after"] < 0.3 < 2 < model.calibration_["log loss"]["before"]
    assert model.predict_proba(X).max() < 0.97
    assert model.calibration_["accuracy"]["after"] > 0.9


def test_split():
    """A share held out: the guarantee is that of a split."""
    X, y = load_iris(return_X_y=True)
    model = learn.HonestClassifier(GaussianNB(), cv=0.2, random_state=0).fit(X, y)
    assert model.guarantee_ == "at least 0.9 of new examples, if exchangeable with 30 of calibration (split)"
    regressor = learn.HonestRegressor(LinearRegression(), cv=0.2, random_state=0).fit(X[:, 1:], X[:, 0])
    assert regressor.guarantee_ == model.guarantee_
    assert regressor.calibration_["coverage"] == {}


def test_too_few_rows_are_said():
    """Nine rows are needed for 0.9, nineteen where both ends count."""
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="takes 9 calibration examples at the least, got 8"):
        learn.HonestClassifier(FrozenEstimator(GaussianNB().fit(X, y))).fit(X[46:54], y[46:54])
    with pytest.raises(ValueError, match="takes 19 calibration examples at the least, got 18"):
        learn.HonestRegressor(LinearRegression()).fit(X[:18, 1:], X[:18, 0])


@pytest.mark.parametrize("inner", [None, BayesianRidge()])
def test_intervals(inner):
    """Coverage on new rows, and on rows left out; quantiles are the ends of intervals."""
    X, y = load_diabetes(return_X_y=True)
    model = learn.HonestRegressor(inner, random_state=0).fit(X[:300], y[:300])
    ends = model.predict_interval(X[300:])
    assert 0.82 < np.mean((ends[:, 0] <= y[300:]) & (y[300:] <= ends[:, 1])) < 0.97
    np.testing.assert_allclose(model.predict_quantile(X[300:], 0.95), ends[:, 1])
    assert np.all(np.diff(model.predict_cdf(np.repeat(X[:1], 50, axis=0), np.linspace(0, 400, 50))) >= 0)
    for level, share in model.calibration_["coverage"].items():
        assert abs(share - level) < 0.06
    assert model.calibration_["r2"] == pytest.approx(
        cross_val_score(model.estimator_, X[:300], y[:300]).mean(), abs=0.1
    )


@pytest.mark.slow
def test_coverage_over_many_samples():
    """Sets and intervals hold the truth of new rows as often as asked for, on average over 300 samples."""
    rng, held = np.random.default_rng(0), []
    for seed in range(300):
        X = rng.normal(size=(160, 2))
        y = np.argmax(X @ [[2, 0, -1], [0, 1, 1]] + rng.gumbel(size=(160, 3)), axis=1)
        values = X[:, 0] + np.exp(X[:, 1]) * rng.normal(size=160)
        sets = learn.HonestClassifier(GaussianNB(), coverage=0.8, method="temperature", random_state=seed)
        ends = learn.HonestRegressor(LinearRegression(), coverage=0.8, random_state=seed)
        hits = sets.fit(X[:60], y[:60]).predict_set(X[60:])[np.arange(100), y[60:]]
        low, high = ends.fit(X[:60], values[:60]).predict_interval(X[60:]).T
        held.append([np.mean(hits), np.mean((low <= values[60:]) & (values[60:] <= high))])
    assert np.all(np.mean(held, axis=0) > 0.79)
    assert np.all(np.mean(held, axis=0) < 0.85)
