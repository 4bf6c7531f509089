"""Averages of models, and posteriors on a grid."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy.special import softmax
from scipy.stats import beta, multivariate_normal, norm
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import adjoint as ad
from adjoint import learn, losses
from adjoint.learn.bayes.average import stacked

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(40, 1))
Y = 1.0 + X[:, 0] - 2.0 * X[:, 0] ** 2 + 0.2 * RNG.normal(size=40)


def powers(*degrees, **given):
    """Regressions on powers of x."""
    around = [make_pipeline(PolynomialFeatures(k, include_bias=False), learn.LeastSquares()) for k in degrees]
    return [learn.Laplace(each, **given) for each in around] if given else around


def test_weights_are_posteriors_of_models():
    """The weights are the evidences over their sum, that of closed forms; they sum to one, and favour the truth."""
    model = learn.BayesianAverage(powers(1, 2, 5, prior_precision=0.5, sigma=0.2)).fit(X, Y)
    wanted = []
    for k in (1, 2, 5):
        A = X ** np.arange(1, k + 1)
        C = np.linalg.inv(0.04 * np.eye(40) + A @ A.T / 0.5)
        one = np.ones(40)
        rest = Y - one @ C @ Y / (one @ C @ one)
        wanted.append(0.5 * (np.linalg.slogdet(C)[1] - rest @ C @ rest - np.log(one @ C @ one)))
    np.testing.assert_allclose(model.weights_, softmax(wanted), rtol=1e-8)
    assert np.sum(model.weights_) == pytest.approx(1.0)
    assert np.argmax(model.weights_) == 1
    np.testing.assert_allclose(model.log_evidence_ - model.log_evidence_[0], np.array(wanted) - wanted[0], rtol=1e-8)


def test_evidence_is_found_where_there_is_none():
    """Plain regressions get a Laplace around them; pairs with names are the same."""
    plain = learn.BayesianAverage(powers(1, 2)).fit(X, Y)
    named = learn.BayesianAverage(list(zip("ab", powers(1, 2), strict=True))).fit(X, Y)
    around = learn.BayesianAverage([learn.Laplace(each) for each in powers(1, 2)]).fit(X, Y)
    np.testing.assert_allclose(plain.weights_, around.weights_)
    np.testing.assert_array_equal(plain.predict(X), named.predict(X))


@pytest.mark.parametrize("weights", ["evidence", "stacking", "equal"])
def test_mixture(weights):
    """The mean of a mixture, and its variance: the mean of variances plus the variance of means."""
    model = learn.BayesianAverage(powers(1, 2, 3, sigma=0.2), weights=weights, random_state=0).fit(X, Y)
    pairs = [each.predict(X, return_std=True) for each in model.estimators_]
    means, deviations = np.stack([m for m, _ in pairs]), np.stack([s for _, s in pairs])
    mean, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, model.weights_ @ means)
    second = model.weights_ @ (deviations**2 + means**2)
    np.testing.assert_allclose(deviation**2, second - mean**2, rtol=1e-9)
    assert np.sum(model.weights_) == pytest.approx(1.0)
    same = learn.BayesianAverage(powers(2, 2), weights=weights, random_state=0).fit(X, Y)
    np.testing.assert_allclose(same.weights_, 0.5, atol=1e-6)


def test_classifiers():
    """Probabilities sum to one: they are not divided by the number of models once more."""
    rows, labels = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[labels]
    members = [KNeighborsClassifier(), RandomForestClassifier(20, random_state=0), learn.LogisticRegression(C=1e-3)]
    model = learn.BayesianAverage(members, weights="stacking", random_state=0).fit(rows, labels)
    np.testing.assert_allclose(np.sum(model.predict_proba(rows), axis=1), 1.0)
    assert model.score(rows, labels) > 0.95
    alone = learn.BayesianAverage(members[:1], weights="equal").fit(rows, labels)
    np.testing.assert_array_equal(alone.predict_proba(rows), alone.estimators_[0].predict_proba(rows))
    penalties = learn.BayesianAverage([learn.LogisticRegression(C=C) for C in (1e-3, 1.0)]).fit(rows, labels)
    assert penalties.weights_[1] > 0.99
    frozen = [FrozenEstimator(each) for each in penalties.estimators_]
    again = learn.BayesianAverage(frozen).fit(rows, labels)
    np.testing.assert_allclose(again.weights_, penalties.weights_)


def test_stacking_is_the_maximum():
    """No other weights have a greater likelihood; a model that is always better gets everything."""
    scores = np.log(RNG.uniform(0.05, 1.0, size=(200, 4)))
    best = stacked(scores, np.ones(200))
    slopes = np.mean(np.exp(scores) / (np.exp(scores) @ best)[:, None], axis=0)
    assert np.max(slopes) < 1.0 + 1e-8
    np.testing.assert_allclose(slopes[best > 1e-6], 1.0, atol=1e-6)
    scores[:, 2] = 0.1
    np.testing.assert_allclose(stacked(scores, np.ones(200)), [0.0, 0.0, 1.0, 0.0], atol=1e-6)
    doubled = stacked(np.r_[scores, scores[:50]], np.ones(250))
    np.testing.assert_allclose(stacked(scores, np.r_[np.full(50, 2.0), np.ones(150)]), doubled, atol=1e-5)


def test_stacking_is_better_than_one_on_new_rows():
    """Where no model is true, the mixture is."""
    rows, labels = load_digits(return_X_y=True)
    part = np.arange(len(labels)) % 3 == 0
    members = [KNeighborsClassifier(3), GaussianNB(var_smoothing=0.1)]
    model = learn.BayesianAverage(members, weights="stacking", random_state=0).fit(rows[part], labels[part])
    alone = [log_loss(labels[~part], each.predict_proba(rows[~part])) for each in model.estimators_]
    assert log_loss(labels[~part], model.predict_proba(rows[~part])) < min(alone)


def test_average_refuses():
    """Mixed kinds, nothing at all, a deviation that nobody knows."""
    with pytest.raises(TypeError, match="all classifiers or all regressors"):
        learn.BayesianAverage([learn.Ridge(), learn.LogisticRegression()]).fit(X, Y)
    with pytest.raises(ValueError, match="at least one"):
        learn.BayesianAverage([]).fit(X, Y)
    equal = learn.BayesianAverage([LinearRegression()], weights="equal").fit(X, Y)
    with pytest.raises(ValueError, match="weights='stacking'"):
        equal.predict(X, return_std=True)
    stacking = clone(equal).set_params(weights="stacking").fit(X, Y)
    assert stacking.predict(X, return_std=True)[1].shape == (40,)


def test_grid_of_a_coin():
    """Heads and tails with a beta prior: the posterior is a beta distribution."""
    prior = beta(2.0, 2.0)
    grid = np.linspace(1e-4, 1.0 - 1e-4, 4001)
    found = learn.posterior_grid(
        lambda p: 7.0 * np.log(p) + 3.0 * np.log1p(-p), lambda p: np.log(6.0 * p * (1.0 - p)), {"p": grid}
    )
    exact = beta(9.0, 5.0)
    np.testing.assert_allclose(found.density, exact.pdf(grid), rtol=1e-5, atol=1e-6)
    assert np.sum(found.probability) == pytest.approx(1.0)
    assert found.mean["p"] == pytest.approx(exact.mean(), abs=1e-6)
    assert found.std["p"] == pytest.approx(exact.std(), abs=1e-6)
    assert found.mode["p"] == pytest.approx(8.0 / 12.0, abs=3e-4)
    assert found.predictive(lambda p: p) == pytest.approx(9.0 / 14.0, abs=1e-6)  # the next throw
    integral = np.sum(grid**7 * (1 - grid) ** 3 * prior.pdf(grid)) * (grid[1] - grid[0])
    assert np.exp(found.log_evidence) == pytest.approx(integral, rel=1e-4)
    inside = found.credible(0.8)
    assert np.sum(found.probability[inside]) == pytest.approx(0.8, abs=1e-3)
    assert np.min(found.density[inside]) >= np.max(found.density[~inside])
    low, high = found.interval(mass=0.8)
    assert exact.cdf(high) - exact.cdf(low) == pytest.approx(0.8, abs=2e-3)


def test_grid_of_a_line():
    """Slope and intercept of a line: mean, covariance and evidence of the closed form, and its marginals."""
    tau, sigma = 1.5, 0.3
    x, y = X[:12, 0], Y[:12]
    prior = losses.gaussian_prior(tau)
    found = learn.posterior_grid(
        lambda w, b: -losses.gaussian(w * x + b, y, sigma=sigma, reduction="sum"),
        lambda w, b: -prior({"w": w, "b": b}),
        {"w": np.linspace(-2.0, 4.0, 241), "b": np.linspace(-1.5, 2.5, 201)},
    )
    A = np.c_[x, np.ones(12)]
    S = np.linalg.inv(A.T @ A / sigma**2 + np.eye(2) / tau**2)
    mean = S @ A.T @ y / sigma**2
    np.testing.assert_allclose(list(found.mean.values()), mean, atol=1e-8)
    np.testing.assert_allclose(list(found.std.values()), np.sqrt(np.diag(S)), rtol=1e-6)
    np.testing.assert_allclose(list(found.mode.values()), mean, atol=0.02)
    marginal = multivariate_normal(cov=sigma**2 * np.eye(12) + tau**2 * A @ A.T)
    assert found.log_evidence == pytest.approx(marginal.logpdf(y), abs=1e-8)
    slope = found.marginal("w")
    np.testing.assert_allclose(slope.density, norm(mean[0], np.sqrt(S[0, 0])).pdf(slope.axes["w"]), atol=1e-6)
    assert np.sum(slope.probability) == pytest.approx(1.0)
    value = found.predictive(lambda w, b: np.stack([w * 0.5 + b, (w * 0.5 + b) ** 2]))
    np.testing.assert_allclose(value[1] - value[0] ** 2, [0.5, 1.0] @ S @ [0.5, 1.0], rtol=1e-5)


def test_grid_and_laplace_agree():
    """One weight, Gaussian noise: evidence, mean and deviation are the same by sums and by the closed form."""
    model = learn.Laplace(learn.LeastSquares(fit_intercept=False), prior_precision=2.0, sigma=0.7).fit(X, Y)
    prior = losses.gaussian_prior(2.0**-0.5)
    found = learn.posterior_grid(
        lambda w: -losses.gaussian(w * X[:, 0], Y, sigma=0.7, reduction="sum"),
        lambda w: -prior({"w": w}),
        {"w": np.linspace(-3.0, 5.0, 2001)},
    )
    assert found.log_evidence == pytest.approx(model.log_evidence_, abs=1e-8)
    assert found.mean["w"] == pytest.approx(model.mean_[0], abs=1e-9)
    assert found.std["w"] ** 2 == pytest.approx(model.covariance_[0, 0], rel=1e-8)


def test_maximum_a_posteriori():
    """A Gaussian prior is ridge regression, a Laplace prior the lasso, a flat one least squares."""
    sigma, tau, x = 0.3, 0.5, X[:, 0]
    flat, gauss, laplace = (
        learn.posterior_grid(
            lambda w: -losses.gaussian(w * x, Y, sigma=sigma, reduction="sum"),
            None if prior is None else lambda w, prior=prior: -prior({"w": w}),
            {"w": np.linspace(-1.0, 2.0, 30001)},
        ).mode["w"]
        for prior in (None, losses.gaussian_prior(tau), losses.laplace_prior(0.01))
    )
    assert flat == pytest.approx(x @ Y / (x @ x), abs=1e-4)
    assert gauss == pytest.approx(x @ Y / (x @ x + sigma**2 / tau**2), abs=1e-4)
    soft = max(abs(x @ Y) - sigma**2 / 0.01, 0.0) * np.sign(x @ Y) / (x @ x)
    assert laplace == pytest.approx(soft, abs=1e-4)
    objective = ad.grad(lambda w: losses.gaussian(w * x, Y, sigma=sigma) + losses.gaussian_prior(tau, n=40)({"w": w}))
    assert abs(objective(x @ Y / (x @ x + sigma**2 / tau**2))) < 1e-12


def test_grid_refuses():
    """Grids that are none, and functions that give no number."""
    line = np.linspace(0.0, 1.0, 5)
    with pytest.raises(ValueError, match="one or two"):
        learn.posterior_grid(lambda a, b, c: a + b + c, None, {"a": line, "b": line, "c": line})
    with pytest.raises(ValueError, match="increasing"):
        learn.posterior_grid(lambda a: a, None, {"a": line[::-1]})
    with pytest.raises(ValueError, match="one number"):
        learn.posterior_grid(lambda a: np.stack([a, a]), None, {"a": line})
    with pytest.raises(ValueError, match="nan"):
        learn.posterior_grid(lambda a: a * np.nan, None, {"a": line})
    with pytest.raises(ValueError, match="mass"):
        learn.posterior_grid(lambda a: a, None, {"a": line}).credible(1.0)


def test_plot():
    """Pictures of one and of two parameters."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    line = np.linspace(-1.0, 1.0, 21)
    one = learn.posterior_grid(lambda a: -(a**2), None, {"a": line}).plot()
    assert one.get_xlabel() == "a"
    two = learn.posterior_grid(lambda a, b: -(a**2) - b**2, None, {"a": line, "b": line}).plot()
    assert two.get_ylabel() == "b"
    from matplotlib import pyplot

    pyplot.close("all")


def test_weights_of_rows_reach_everybody():
    """Rows of weight 0 might as well not be there, for the estimators and for their evidence; also by routing."""
    count = np.r_[np.ones(30), np.zeros(10)]
    for members in (powers(1, 2), [learn.Ridge(), learn.LeastSquares()]):
        whole = learn.BayesianAverage(members)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # pipelines do not hand weights on
            weighted = whole.fit(X, Y, sample_weight=count).log_evidence_
        np.testing.assert_allclose(weighted, clone(whole).fit(X[:30], Y[:30]).log_evidence_)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = learn.Ridge().set_fit_request(sample_weight=True)
        routed = learn.BayesianAverage([asked], weights="equal").fit(X, Y, sample_weight=count)
        np.testing.assert_allclose(routed.predict(X), learn.Ridge().fit(X[:30], Y[:30]).predict(X))
        one = learn.Laplace(asked).fit(X, Y, sample_weight=count)
        assert one.log_evidence_ == pytest.approx(learn.Laplace(learn.Ridge()).fit(X[:30], Y[:30]).log_evidence_)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            learn.Laplace(learn.Ridge()).fit(X, Y, sample_weight=count)
