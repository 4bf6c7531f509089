"""Distributions of values: standard deviations that are true, quantiles that never cross, members that disagree."""

import functools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from adjoint import learn, losses, nn

MLPC, MLPR = learn.MLPClassifier, learn.MLPRegressor


def uneven(n, seed):
    """Rows, values whose noise grows with the second column, and its standard deviation."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    sigma = 5.0 + 25.0 * np.abs(X[:, 1])
    return X, 1000.0 + 50.0 * np.sin(2.0 * X[:, 0]) + sigma * rng.normal(size=n), sigma


def test_standard_deviations_are_true():
    """Of new rows, as many are within one and two of them as should be, and they grow where the noise does."""
    X, y, _ = uneven(2000, 0)
    new, truth, sigma = uneven(4000, 1)
    model = MLPR((50,), distribution="gaussian", early_stopping=True, random_state=0).fit(X, y)
    mean, std = model.predict(new, return_std=True)
    assert np.mean(np.abs(truth - mean) < std) == pytest.approx(0.683, abs=0.03)
    assert np.mean(np.abs(truth - mean) < 2.0 * std) == pytest.approx(0.954, abs=0.02)
    assert np.corrcoef(np.log(std), np.log(sigma))[0, 1] > 0.9
    outputs = model.model_(new)
    np.testing.assert_allclose(outputs[:, 0], mean)
    np.testing.assert_allclose(np.exp(outputs[:, 1]), std)
    np.testing.assert_allclose(model.predict_quantile(new, 0.8413447460685429)[:, 0], mean + std)


def test_quantiles_hold_their_share_and_never_cross():
    """On new rows; also where nothing was seen, and between levels."""
    X, y, _ = uneven(2000, 0)
    new, truth, _ = uneven(4000, 1)
    model = MLPR((50,), distribution="quantiles", early_stopping=True, random_state=0).fit(X, y)
    found = model.predict_quantile(new)
    np.testing.assert_allclose(np.mean(truth[:, None] <= found, axis=0), model.quantiles, atol=0.04)
    far = model.predict_quantile(1e3 * new, np.linspace(0.05, 0.95, 19))
    assert np.all(np.diff(far, axis=1) >= 0.0)
    np.testing.assert_array_equal(found[:, 2], model.predict(new))
    np.testing.assert_array_equal(model.predict_quantile(new, model.quantiles), found)
    with pytest.raises(ValueError, match=r"known from 0.05 to 0.95"):
        model.predict_quantile(new, [0.99])


@pytest.mark.parametrize("distribution", [None, "gaussian", "quantiles"])
def test_several_outputs(distribution):
    """Each has its own unit, mean, standard deviation and quantiles."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.stack([X[:, 0], 1e6 * X[:, 1] + 1e7], axis=1)
    model = MLPR((20,), distribution=distribution, learning_rate_init=0.02, random_state=0).fit(X, y)
    assert model.predict(X).shape == (200, 2)
    assert model.score(X, y) > 0.8
    if distribution:
        assert model.predict_quantile(X, [0.1, 0.9]).shape == (200, 2, 2)
    if distribution == "gaussian":
        std = model.predict(X, return_std=True)[1]
        assert 1e5 < np.median(std[:, 1] / std[:, 0]) < 1e7


def test_counts():
    """The loss "poisson" is of logarithms of rates, which are predicted as rates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    rate = np.exp(3.0 + X[:, 0])
    model = MLPR((20,), loss="poisson", random_state=0).fit(X, rng.poisson(rate))
    assert np.corrcoef(model.predict(X), rate)[0, 1] > 0.9
    np.testing.assert_allclose(np.exp(model.model_(X)[:, 0]), model.predict(X))


@pytest.mark.parametrize(
    "estimator",
    [
        MLPC((5,), "tanh", max_iter=3, batch_size=40, alpha=3.0, early_stopping=True),
        MLPR((5,), max_iter=3, batch_size=40, alpha=3.0),
        MLPR((5,), max_iter=3, distribution="quantiles", quantiles=(0.2, 0.5)),
    ],
    ids=lambda e: type(e).__name__,
)
def test_members_are_trained_as_if_alone(estimator):
    """One program for all gives what each gives by itself, on the same batches."""
    X, y = load_iris(return_X_y=True)
    weights = np.linspace(0.5, 2.0, 150)
    whole = learn.DeepEnsemble(estimator, n_members=3, random_state=0).fit(X, y, sample_weight=weights)
    lead, *others = whole.estimators_
    alone = clone(lead).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(lead.model_(X), alone.model_(X), rtol=1e-8)
    np.testing.assert_allclose(lead.partial_fit(X, y).model_(X), alone.partial_fit(X, y).model_(X), rtol=1e-8)
    assert all(np.any(np.abs(other.model_(X) - lead.model_(X)) > 1e-3) for other in others)


def test_ensembles_average_and_disagree():
    """Probabilities are means, deviations add up, and members disagree far from the data."""
    X, y = load_iris(return_X_y=True)
    model = learn.DeepEnsemble(MLPC((8,), learning_rate_init=0.02, dropout=0.1), n_members=4, random_state=0).fit(X, y)
    each = [m.predict_proba(X) for m in model.estimators_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0))
    assert np.mean(model.disagreement(-3.0 * X)) > 3.0 * np.mean(model.disagreement(X))
    assert np.all(model.disagreement(X) >= 0.0)
    values = learn.DeepEnsemble(MLPR((8,), distribution="gaussian", norm="batch"), n_members=3, random_state=0)
    mean, std = values.fit(X[:, :3], X[:, 3]).predict(X[:, :3], return_std=True)
    pairs = [m.predict(X[:, :3], return_std=True) for m in values.estimators_]
    between, within = np.var([m for m, _ in pairs], axis=0), np.mean([s**2 for _, s in pairs], axis=0)
    np.testing.assert_allclose(std**2, between + within)
    np.testing.assert_allclose(values.disagreement(X[:, :3]) ** 2, between)
    np.testing.assert_allclose(values.predict_quantile(X[:, :3], [0.5])[:, 0], mean)
    trees = learn.DeepEnsemble(DecisionTreeClassifier(max_features=1, max_depth=2), random_state=0).fit(X, y)
    assert len({str(m.predict_proba(X).tolist()) for m in trees.estimators_}) > 1
    with pytest.raises(ValueError, match="return_std is for regressors"):
        trees.predict(X, return_std=True)


def test_loss_of_a_members_program_is_a_mean():
    """What is reported is the mean loss of the members, and the loss may have options."""
    X, y = load_iris(return_X_y=True)
    loss = functools.partial(losses.cross_entropy, label_smoothing=0.2)
    whole = learn.DeepEnsemble(MLPC((4,), loss=loss, max_iter=2), n_members=3, random_state=0).fit(X, y)
    again = learn.DeepEnsemble(MLPC((4,), loss=loss, max_iter=1), n_members=3, random_state=0).fit(X, y)
    found = np.mean([float(loss(m.model_(X), y)) for m in again.estimators_])
    assert whole.estimators_[0].loss_curve_[1] == pytest.approx(found)
    assert isinstance(whole.estimators_[0].model_, nn.MLP)
