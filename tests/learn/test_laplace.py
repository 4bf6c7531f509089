"""Laplace's approximation: closed forms, a reference written out, limits."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit, softmax
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LinearRegression, PoissonRegressor, RidgeClassifier
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier as ScikitNetwork
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import adjoint as ad
from adjoint import learn, nn
from adjoint.learn.bayes import reading
from adjoint.learn.bayes.links import averaged

RNG = np.random.default_rng(0)
ROWS, NEW = RNG.normal(size=(60, 3)), RNG.normal(size=(7, 3))
VALUES = ROWS @ np.array([1.0, -2.0, 0.5]) + 4.0 + 0.3 * RNG.normal(size=60)
LABELS = np.argmax(ROWS @ RNG.normal(size=(3, 3)) + 0.5 * RNG.normal(size=(60, 3)), axis=1)
KINDS = ["full", "kron", "diag"]


class Classifier(ClassifierMixin, BaseEstimator):
    """A network that is there already."""

    def __init__(self, model=None):
        self.model = model

    def fit(self, X, y):
        """Take the network as it is."""
        self.model_, self.classes_ = self.model, np.unique(y)
        return self

    def predict_proba(self, X):
        """Of the network."""
        return softmax(self.model_(X), axis=1)


class Regressor(RegressorMixin, BaseEstimator):
    """A network that is there already."""

    def __init__(self, model=None):
        self.model = model

    def fit(self, X, y):
        """Take the network as it is."""
        self.model_ = self.model
        return self

    def predict(self, X):
        """Of the network."""
        return self.model_(X)


def network(outputs, key=0):
    """A small one, with biases."""
    model = nn.MLP([3, 5, 4, outputs], activation="tanh", key=key)
    biases = {name: 0.3 * RNG.normal(size=b.shape) for name, b in nn.parameters(model).items() if b.ndim == 1}
    return nn.replace(model, biases)


def reference(model, X, weights, kind, names):
    """Curvature for sigma = 1 and the Jacobian of new rows, written out row by row by `ad.jacobian`."""
    params, rebuild = nn.partition(model)
    flat, back = ad.tree.ravel([params[name] for name in names])

    def outputs(theta, x):
        return rebuild({**params, **dict(zip(names, back(theta), strict=True))})(x[None])[0]

    J = [ad.jacobian(lambda theta, x=x: outputs(theta, x))(flat) for x in X]
    if weights is None:
        return flat, J
    H = [weights(outputs(flat, x)) for x in X]
    G = sum(j.T @ h @ j for j, h in zip(J, H, strict=True))
    if kind == "diag":
        return flat, np.diag(np.diag(G))
    if kind == "kron":
        return flat, kronecker_reference(model, X, H, names)
    return flat, G


def kronecker_reference(model, X, H, names):
    """Mean of inputs' squares times the sum of slopes', for each array."""
    blocks = []
    for name in names:
        k = int(name.split(".")[1])
        a, B = [], []
        for x, h in zip(X, H, strict=True):
            z = x
            for i in range(k):
                z = np.tanh(model.layers[i](z))
            a.append(z if name.endswith("weight") else np.ones(1))

            def rest(v, k=k):
                for i in range(k, len(model.layers)):
                    v = model.layers[i](np.tanh(v)) if i > k else v
                return v

            S = ad.jacobian(rest)(model.layers[k](z))
            B.append(S.T @ h @ S)
        blocks.append(np.kron(np.mean([np.outer(v, v) for v in a], axis=0), sum(B)))
    size = sum(map(len, blocks))
    G, start = np.zeros((size, size)), 0
    for block in blocks:
        G[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return G


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", ["all", "last", "layers.1.*", "*.weight"])
@pytest.mark.parametrize("classifies", [True, False])
def test_reference(kind, chosen, classifies):
    """Covariances and evidence of a network equal those that are written out."""
    model, rows = network(3), ROWS[:14]
    names = {
        "all": list(nn.parameters(model)),
        "last": ["layers.2.weight", "layers.2.bias"],
        "layers.1.*": ["layers.1.weight", "layers.1.bias"],
        "*.weight": [f"layers.{k}.weight" for k in range(3)],
    }[chosen]
    y = LABELS[:14] if classifies else np.stack([VALUES, 2.0 * VALUES, VALUES**2], axis=1)[:14]
    prior, sigma = 0.7, 1.0 if classifies else 0.4
    around = FrozenEstimator((Classifier if classifies else Regressor)(model).fit(rows, y))
    found = learn.Laplace(around, weights=chosen, curvature=kind, prior_precision=prior, sigma=0.4).fit(rows, y)

    def curved(z):
        p = softmax(z)
        return np.diag(p) - np.outer(p, p) if classifies else np.eye(3) / sigma**2

    flat, G = reference(model, rows, curved, kind, names)
    precision = G + prior * np.eye(len(flat))
    np.testing.assert_allclose(found.mean_, flat)
    np.testing.assert_allclose(found.covariance_, np.linalg.inv(precision), atol=1e-11)
    _, J = reference(model, NEW, None, kind, names)
    covariance = np.stack([j @ np.linalg.solve(precision, j.T) for j in J])
    np.testing.assert_allclose(found.function_covariance(NEW), covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.function_variance(NEW), np.einsum("nkk->nk", covariance), rtol=1e-9)
    outputs = model(rows)
    if classifies:
        fit = np.sum(np.log(softmax(outputs, axis=1)[np.arange(14), y]))
    else:
        fit = np.sum(-0.5 * np.log(2 * np.pi * sigma**2) - (y - outputs) ** 2 / (2 * sigma**2))
        flat = flat.copy()
        if "layers.2.bias" in names:
            flat[-3:] -= y.mean(axis=0)  # the prior of what is added last is around the mean of the targets
    ratio = np.linalg.slogdet(precision)[1] - len(flat) * np.log(prior)
    assert found.log_evidence_ == pytest.approx(fit - 0.5 * prior * flat @ flat - 0.5 * ratio, abs=1e-9)


@pytest.mark.parametrize("kind", ["full", "kron"])
@pytest.mark.parametrize("estimator", [learn.LeastSquares, learn.Ridge, LinearRegression], ids=lambda e: e.__name__)
def test_closed_form(estimator, kind):
    """Linear regression is Bayes' own: mean, covariance, predictions and evidence, whatever the estimator found."""
    prior, sigma = 2.0, 0.4
    model = learn.Laplace(estimator(fit_intercept=False), curvature=kind, prior_precision=prior, sigma=sigma)
    model.fit(ROWS, VALUES)
    S = np.linalg.inv(ROWS.T @ ROWS / sigma**2 + prior * np.eye(3))
    mean = S @ ROWS.T @ VALUES / sigma**2
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-12)
    np.testing.assert_allclose(model.covariance_, S, rtol=1e-10, atol=1e-16)
    value, deviation = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(value, NEW @ mean, rtol=1e-12)
    np.testing.assert_allclose(deviation**2, np.einsum("ni,ij,nj->n", NEW, S, NEW) + sigma**2, rtol=1e-10)
    marginal = multivariate_normal(cov=sigma**2 * np.eye(60) + ROWS @ ROWS.T / prior)
    assert model.log_evidence_ == pytest.approx(marginal.logpdf(VALUES), rel=1e-10)


def test_intercept_is_free():
    """With an intercept: the integral over it, with a flat prior, and a covariance with its own share."""
    prior, sigma = 2.0, 0.4
    model = learn.Laplace(learn.LeastSquares(), prior_precision=prior, sigma=sigma).fit(ROWS, VALUES)
    C = np.linalg.inv(sigma**2 * np.eye(60) + ROWS @ ROWS.T / prior)
    one = np.ones(60)
    b = one @ C @ VALUES / (one @ C @ one)
    rest = VALUES - b
    wanted = 0.5 * (np.linalg.slogdet(C / (2 * np.pi))[1] - rest @ C @ rest + np.log(2 * np.pi / (one @ C @ one)))
    assert model.log_evidence_ == pytest.approx(wanted, rel=1e-10)
    A = np.c_[ROWS, one]
    S = np.linalg.inv(A.T @ A / sigma**2 + prior * np.diag([1.0, 1.0, 1.0, 0.0]))
    new = np.c_[NEW, np.ones(7)]
    np.testing.assert_allclose(model.function_variance(NEW), np.einsum("ni,ij,nj->n", new, S, new), rtol=1e-10)
    np.testing.assert_allclose(model.predict(NEW), new @ S @ A.T @ VALUES / sigma**2, rtol=1e-11)


def test_limits_of_the_prior():
    """A prior that is sure leaves no variance; one that says nothing leaves that of least squares."""
    sure = learn.Laplace(learn.LeastSquares(fit_intercept=False), prior_precision=1e15, sigma=1.0).fit(ROWS, VALUES)
    assert np.max(sure.function_variance(NEW)) < 1e-12
    assert np.max(np.abs(sure.mean_)) < 1e-12
    plain = learn.LeastSquares().fit(ROWS, VALUES)
    vague = learn.Laplace(plain, prior_precision=1e-10, sigma=np.sqrt(plain.sigma2_)).fit(ROWS, VALUES)
    np.testing.assert_allclose(vague.covariance_, plain.covariance_, rtol=1e-8)
    np.testing.assert_allclose(vague.predict(NEW, True)[1], plain.predict(NEW, True)[1], rtol=1e-8)
    for kind in KINDS:
        model = learn.Laplace(Classifier(network(3)), weights="all", curvature=kind, prior_precision=1e14)
        assert np.max(model.fit(ROWS, LABELS).function_variance(NEW)) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_more_data_less_variance(kind):
    """Rows given twice leave less variance everywhere; and twice is the same as a weight of 2."""
    model = learn.Laplace(learn.LogisticRegression(), curvature=kind, prior_precision=1.0)
    once = model.fit(ROWS, LABELS).function_variance(NEW)
    frozen = learn.Laplace(FrozenEstimator(model.estimator_), curvature=kind, prior_precision=1.0)
    twice = frozen.fit(np.r_[ROWS, ROWS], np.r_[LABELS, LABELS])
    assert np.all(twice.function_variance(NEW) < once)
    weighted = clone(frozen).fit(ROWS, LABELS, sample_weight=np.full(60, 2.0))
    np.testing.assert_allclose(weighted.function_variance(NEW), twice.function_variance(NEW), rtol=1e-10)
    assert weighted.log_evidence_ == pytest.approx(twice.log_evidence_)


@pytest.mark.parametrize("labels", [LABELS, LABELS > 0], ids=["three", "two"])
def test_gauss_newton_is_hessian_of_linear_models(labels):
    """For logistic regression the precision is the Hessian of minus the log posterior."""
    model = learn.Laplace(learn.LogisticRegression(), prior_precision=0.5).fit(ROWS, labels)
    codes = labels.astype(int)

    def loss(theta):
        W, b = theta[:-k].reshape(3, k), theta[-k:]
        z = ROWS @ W + b
        if k == 1:
            return np.sum(np.logaddexp(0.0, z[:, 0]) - codes * z[:, 0]) + 0.25 * np.sum(theta**2)
        return np.sum(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(60), codes]) + 0.25 * np.sum(theta**2)

    k = len(model.mean_) // 4
    np.testing.assert_allclose(np.linalg.inv(model.covariance_), ad.hessian(loss)(model.mean_), atol=1e-10)


def test_kronecker_is_exact_for_one_example():
    """One layer without a bias and one example: nothing is left out by the product."""
    layer = nn.Dense(3, 3, key=0, bias=False)
    full, kron = (
        learn.Laplace(Regressor(layer), curvature=kind, prior_precision=0.3, sigma=0.5).fit(
            ROWS[:1], np.array([[1.0, 2.0, 3.0]])
        )
        for kind in ("full", "kron")
    )
    np.testing.assert_allclose(kron.covariance_, full.covariance_, atol=1e-12)
    assert kron.log_evidence_ == pytest.approx(full.log_evidence_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sigma", ["evidence", "residuals", 0.5])
@pytest.mark.parametrize("estimator", [learn.LeastSquares(), Regressor(network(1))], ids=["linear", "network"])
def test_evidence_is_greatest(estimator, sigma, kind):
    """The slope of the log evidence in the logarithms of what was chosen is 0, and a step away it is less."""
    model = learn.Laplace(estimator, weights="all", curvature=kind, sigma=sigma)
    best = model.fit(ROWS, VALUES)

    def height(logs):
        noise = best.sigma_ * np.exp(logs[1]) if sigma == "evidence" else best.sigma_
        moved = clone(model).set_params(prior_precision=best.prior_precision_ * np.exp(logs[0]), sigma=noise)
        return moved.fit(ROWS, VALUES).log_evidence_

    assert height(np.zeros(2)) == pytest.approx(best.log_evidence_, abs=1e-8)
    for step in ([0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]):
        assert height(np.array(step)) <= best.log_evidence_ + 1e-9
    np.testing.assert_allclose(approx_fprime(np.zeros(2), height, 1e-5), 0.0, atol=2e-3)


def test_evidence_with_a_prior_that_is_given():
    """Noise alone by the evidence; and MacKay's equation: effective parameters are lambda |w|^2 at the best prior."""
    model = learn.Laplace(learn.LeastSquares(), prior_precision=3.0).fit(ROWS, VALUES)
    for factor in (0.99, 1.01):
        other = clone(model).set_params(sigma=factor * model.sigma_).fit(ROWS, VALUES)
        assert other.log_evidence_ < model.log_evidence_
    for estimator in (learn.LeastSquares(), learn.LogisticRegression()):
        y = VALUES if isinstance(estimator, learn.LeastSquares) else LABELS
        best = learn.Laplace(estimator).fit(ROWS, y)
        assert best.effective_parameters_ == pytest.approx(best.prior_precision_ * best.mean_ @ best.mean_, rel=1e-6)
        assert 0.0 < best.effective_parameters_ < len(best.mean_)


def test_evidence_agrees_with_ridge():
    """The prior of greatest evidence is that of `Ridge("evidence")`."""
    model, ridge = learn.Laplace(learn.LeastSquares()).fit(ROWS, VALUES), learn.Ridge("evidence").fit(ROWS, VALUES)
    assert model.prior_precision_ * model.sigma_**2 == pytest.approx(ridge.alpha_, rel=1e-5)
    np.testing.assert_allclose(model.mean_, ridge.coef_, rtol=1e-6)


def test_origin_of_targets_does_not_matter():
    """Targets and outputs moved by a constant: the same prior, noise and evidence."""
    model = network(1)
    bias = nn.parameters(model)["layers.2.bias"]
    for estimator, moved in (
        (Regressor(model), Regressor(nn.replace(model, {"layers.2.bias": bias + 1000.0}))),
        (learn.LeastSquares(), learn.LeastSquares()),
    ):
        one = learn.Laplace(estimator).fit(ROWS, VALUES)
        two = learn.Laplace(moved).fit(ROWS, VALUES + 1000.0)
        assert two.prior_precision_ == pytest.approx(one.prior_precision_, rel=1e-6)
        assert two.log_evidence_ == pytest.approx(one.log_evidence_, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_change_nothing(kind, monkeypatch):
    """Rows are looked at some at a time; how many does not matter."""
    model = learn.Laplace(Classifier(network(3)), weights="all", curvature=kind)
    whole = model.fit(ROWS, LABELS)
    p, variance, evidence = whole.predict_proba(NEW), whole.function_variance(NEW), whole.log_evidence_
    monkeypatch.setattr(reading, "MOST_BYTES", 20_000)
    pieces = model.fit(ROWS, LABELS)
    np.testing.assert_allclose(pieces.predict_proba(NEW), p, rtol=1e-9)
    np.testing.assert_allclose(pieces.function_variance(NEW), variance, rtol=1e-8)
    assert pieces.log_evidence_ == pytest.approx(evidence, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_draws(kind):
    """Weights that are drawn have the posterior's mean and covariance."""
    model = learn.Laplace(learn.LogisticRegression(), curvature=kind).fit(ROWS, LABELS)
    draws = model.sample(40_000, random_state=0)
    scale = np.sqrt(np.diag(model.covariance_))
    np.testing.assert_allclose(np.mean(draws, axis=0), model.mean_, atol=0.03 * np.max(scale))
    np.testing.assert_allclose(
        np.cov(draws.T) / np.outer(scale, scale), model.covariance_ / np.outer(scale, scale), atol=0.03
    )
    np.testing.assert_array_equal(model.set_params(random_state=1).sample(2), model.sample(2))


def test_links():
    """The formula for two classes is close to the mean over draws, moves towards 1/2, and has the mode's decisions."""
    y = LABELS > 0
    model = learn.Laplace(learn.LogisticRegression(), prior_precision=1.0, random_state=0, n_samples=20_000)
    p = model.fit(ROWS, y).predict_proba(NEW)[:, 1]
    plain = model.estimator_.predict_proba(NEW)[:, 1]
    assert np.all(np.abs(p - 0.5) < np.abs(plain - 0.5))
    np.testing.assert_array_equal(p > 0.5, plain > 0.5)
    draws = model.set_params(link="samples").predict_proba(NEW)[:, 1]
    np.testing.assert_allclose(draws, p, atol=0.02)
    two = network(2)
    shifted = learn.Laplace(Classifier(two), weights="all", prior_precision=1.0).fit(ROWS, y)
    z, C = two(NEW) @ [-1.0, 1.0], np.einsum("i,nij,j->n", [-1.0, 1.0], shifted.function_covariance(NEW), [-1.0, 1.0])
    np.testing.assert_allclose(shifted.predict_proba(NEW)[:, 1], expit(z / np.sqrt(1.0 + np.pi / 8.0 * C)))


def test_what_logits_share_does_not_matter():
    """Columns as they are, of any size: what all logits share has a huge variance, and changes no probability."""
    X, y = load_wine(return_X_y=True)
    model = learn.Laplace(learn.LogisticRegression(), random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert model.score(X, y) > 0.97
    assert log_loss(y, p) < 0.2
    np.testing.assert_allclose(np.sum(model.function_covariance(X), axis=1), 0.0, atol=1e-6)
    z, C = RNG.normal(size=(5, 4)), np.eye(4)[None] + np.zeros((5, 1, 1))
    plain, shifted = (averaged(z, C + shared, is_centred=True) for shared in (0.0, 100.0))
    np.testing.assert_allclose(shifted, plain, rtol=1e-9)
    noise = RNG.normal(size=(20_000, 4))
    np.testing.assert_allclose(averaged(z, C + 100.0, noise), averaged(z, C, noise), atol=0.02)


def test_other_objectives_keep_their_weights():
    """A lasso is no posterior mean of a Gaussian prior: its weights stay, zeros included."""
    lasso = Lasso(0.5).fit(ROWS, VALUES)
    model = learn.Laplace(lasso).fit(ROWS, VALUES)
    np.testing.assert_allclose(model.mean_, lasso.coef_)
    np.testing.assert_allclose(model.predict(NEW), lasso.predict(NEW))
    with pytest.raises(ValueError, match="n_samples = 1"):
        learn.Laplace(learn.Ridge()).fit(ROWS[:1], VALUES[:1])


def test_far_away_nothing_is_sure():
    """Far from all data probabilities of the model go to 0 and 1, those of Laplace do not."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), learn.LogisticRegression()).fit(X, y)
    careful = learn.Laplace(FrozenEstimator(model)).fit(X, y)
    far = X.mean(axis=0) + 1000.0 * X.std(axis=0) * np.random.default_rng(1).normal(size=(50, 30))
    assert np.all(np.max(model.predict_proba(far), axis=1) > 0.999)
    assert np.max(careful.predict_proba(far)) < 0.999
    np.testing.assert_array_equal(careful.predict(far), model.predict(far))


def test_estimators_of_both_libraries():
    """The same weights give the same posterior, whoever fitted them, in a pipeline or behind one."""
    X, y = load_iris(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    ours = learn.Laplace(learn.LogisticRegression()).fit(scaled, y)
    theirs = learn.Laplace(ScikitLogistic(tol=1e-10, max_iter=10_000)).fit(scaled, y)
    np.testing.assert_allclose(ours.predict_proba(scaled), theirs.predict_proba(scaled), atol=1e-4)
    piped = learn.Laplace(make_pipeline(StandardScaler(), learn.LogisticRegression())).fit(X, y)
    np.testing.assert_allclose(piped.predict_proba(X), ours.predict_proba(scaled), rtol=1e-8)
    for labels in (y, y > 0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = ScikitNetwork((5,), activation="logistic", max_iter=20, random_state=0).fit(scaled, labels)
        around = learn.Laplace(FrozenEstimator(network), weights="all", curvature="kron", prior_precision=1e12)
        np.testing.assert_allclose(
            around.fit(scaled, labels).predict_proba(scaled), network.predict_proba(scaled), atol=1e-6
        )


def test_networks_of_the_library():
    """Classifiers and regressors, their labels, a pickle, a grid."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    inner = learn.MLPClassifier((6,), max_iter=20, random_state=0)
    model = learn.Laplace(make_pipeline(StandardScaler(), inner), weights="all", curvature="kron").fit(X, names)
    assert set(model.predict(X)) <= {"a", "b", "c"}
    np.testing.assert_allclose(np.sum(model.predict_proba(X), axis=1), 1.0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    grid = GridSearchCV(clone(model), {"curvature": ["diag", "kron"]}, cv=2, scoring="neg_log_loss").fit(X, names)
    assert grid.best_params_["curvature"] in {"diag", "kron"}
    values = learn.Laplace(learn.MLPRegressor((6,), max_iter=20, random_state=0)).fit(ROWS, VALUES)
    value, deviation = values.predict(NEW, return_std=True)
    assert value.shape == deviation.shape == (7,)
    assert np.all(deviation > values.sigma_)


@pytest.mark.parametrize(
    ("estimator", "changes", "message"),
    [
        (DecisionTreeClassifier(), {}, "takes linear models and networks"),
        (PoissonRegressor(), {}, "predict x W \\+ b"),
        (RidgeClassifier(), {}, "predict x W \\+ b"),
        (learn.LogisticRegression(temperature=2.0), {}, "predict x W \\+ b"),
        (learn.LinearRegressor("huber"), {}, "loss of a likelihood"),
        (learn.MLPClassifier((4,), max_iter=2, norm="layer"), {"weights": "all"}, "'norms.0"),
        (learn.MLPRegressor((4,), max_iter=2, distribution="gaussian"), {}, "predict x W \\+ b"),
        (learn.LogisticRegression(), {"weights": "layers.*"}, "fits none of the names weight, bias"),
        (learn.LogisticRegression(), {"prior_precision": 0.0}, "prior_precision"),
        (learn.LogisticRegression(), {"curvature": "whole"}, "curvature"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_refused(estimator, changes, message):
    """What is no posterior of these outputs is refused, and says why."""
    y = np.abs(VALUES) if isinstance(estimator, RegressorMixin) else LABELS
    with pytest.raises((TypeError, ValueError), match=message):
        learn.Laplace(estimator, **changes).fit(ROWS, y)


def test_shared_weights_are_refused():
    """A layer that stands in two places, or is called twice, has no inputs and slopes of its own."""
    layer = nn.Dense(3, 3, key=0)
    for model in (nn.Sequential(layer, "tanh", layer), nn.Sequential(lambda x: layer(x))):
        with pytest.raises(ValueError, match="Laplace takes"):
            learn.Laplace(Classifier(model), weights="all").fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="return_std is for regressors"):
        learn.Laplace(learn.LogisticRegression()).fit(ROWS, LABELS).predict(NEW, return_std=True)
