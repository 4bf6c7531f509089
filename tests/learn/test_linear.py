"""Linear models: against scikit-learn, closed forms, refitting and simulation."""

import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn import linear_model as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from adjoint import learn, losses
from adjoint.learn.linear.newton import EntropyProblem, basis_of


def drawn(n=60, p=4, *, seed=0, noise=0.5):
    """Rows, values with Gaussian noise, and weights, zero among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.logspace(0, 2, p) + 3.0
    return X, X @ rng.normal(size=p) + 1.0 + noise * rng.normal(size=n), rng.integers(0, 4, size=n).astype(float)


def objective(model, X, y):
    """scikit-learn's, for C = 1 and labels 0, 1, ..."""
    z = model.decision_function(X)
    z = np.stack([0 * z, z], axis=1) if z.ndim == 1 else z
    high = z.max(axis=1)
    log_total = high + np.log(np.exp(z - high[:, None]).sum(axis=1))
    return np.sum(log_total - z[np.arange(len(y)), y]) + 0.5 * np.sum(model.coef_**2)


REGRESSORS = [
    learn.LeastSquares(),
    learn.Ridge(3.0),
    learn.Ridge("evidence"),
    learn.LinearRegressor("squared", alpha=0.1),
    learn.LinearRegressor("huber", alpha=0.1, penalty="elastic"),
    learn.LinearRegressor("quantile", quantile=0.3, alpha=0.1),
    learn.LinearRegressor(losses.huber, alpha=0.1, tol=1e-9),
]


@pytest.mark.parametrize("model", REGRESSORS)
def test_weights_are_repeats(model):
    """A weight of 2 is the same row twice, one of 0 no row."""
    X, y, weights = drawn()
    again = np.repeat(np.arange(len(y)), weights.astype(int))
    a, b = model.fit(X, y, sample_weight=weights).predict(X), model.fit(X[again], y[again]).predict(X)
    np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "closed", "svd", "gradient"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_least_squares(solver, fit_intercept):
    """Coefficients of LinearRegression; variance and covariance by their formulas."""
    X, y, weights = drawn()
    model = learn.LeastSquares(solver=solver, fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    peer = peers.LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(peer.intercept_, rel=1e-6, abs=1e-9)
    A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    square = weights @ (y - peer.predict(X)) ** 2
    sigma2 = square / (weights.sum() - A.shape[1])
    covariance = sigma2 * np.linalg.inv(A.T @ (weights[:, None] * A))
    assert model.sigma2_ == pytest.approx(sigma2)
    np.testing.assert_allclose(model.covariance_, covariance[:4, :4], rtol=1e-6)
    np.testing.assert_allclose(model.standard_errors_, np.sqrt(np.diag(covariance))[:4])
    if fit_intercept:
        assert model.intercept_standard_error_ == pytest.approx(np.sqrt(covariance[4, 4]))
    _, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(deviation**2, sigma2 + np.einsum("ij,jk,ik->i", A, covariance, A))


def test_variance_and_intervals_by_simulation():
    """sigma2_ is right on average, intervals hold as often as they say, for 8 rows too."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(8, 3)), rng.normal(size=(1, 3))
    variances, held = [], []
    for _ in range(2000):
        model = learn.LeastSquares().fit(X, X @ [1.0, 2.0, 3.0] + 2.0 * rng.normal(size=8))
        low, high = model.predict_interval(new, coverage=0.8)[0]
        truth = new[0] @ [1.0, 2.0, 3.0] + 2.0 * rng.normal()
        variances.append(model.sigma2_)
        held.append(low <= truth <= high)
    assert np.mean(variances) == pytest.approx(4.0, abs=4 * np.std(variances) / np.sqrt(2000))
    assert np.mean(held) == pytest.approx(0.8, abs=4 * 0.4 / np.sqrt(2000))


def test_conditions():
    """Dependent columns take the shortest solution; both they and nearly dependent ones are warned about."""
    X, y, _ = drawn()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # units are no reason to warn
        model = learn.LeastSquares(fit_intercept=False).fit(X * [1e-9, 1.0, 1e9, 1.0], y)
    assert model.rank_ == 4
    assert learn.LeastSquares(fit_intercept=False).fit(X, y).condition_number_ == pytest.approx(np.linalg.cond(X))
    twice = np.hstack([X, X[:, :1]])
    for solver in ("auto", "svd", "gradient"):
        with pytest.warns(LinAlgWarning, match="dependent: their rank is 4, there are 5"):
            model = learn.LeastSquares(solver=solver, fit_intercept=False).fit(twice, y)
        np.testing.assert_allclose(model.coef_, np.linalg.pinv(twice) @ y, rtol=1e-6)
    with pytest.warns(LinAlgWarning, match="ill-conditioned"):
        learn.LeastSquares().fit(np.hstack([X, X[:, :1] + 1e-10 * y[:, None]]), y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge(fit_intercept):
    """scikit-learn's coefficients, the closed form, and leave-one-out by refitting."""
    X, y, _ = drawn(20)
    weights = np.linspace(0.5, 2.0, 20)
    model = learn.Ridge(2.0, fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    peer = peers.Ridge(2.0, fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6)
    for i in range(20):
        rest = np.arange(20) != i
        other = peers.Ridge(2.0, fit_intercept=fit_intercept).fit(X[rest], y[rest], sample_weight=weights[rest])
        assert model.loo_residuals_[i] == pytest.approx(y[i] - other.predict(X[i : i + 1])[0], rel=1e-6)
    if not fit_intercept:
        H = X.T @ (weights[:, None] * X) + 2.0 * np.eye(4)
        np.testing.assert_allclose(model.coef_, np.linalg.solve(H, X.T @ (weights * y)))
        hat = np.linalg.solve(H, X.T @ (weights[:, None] * X))
        assert model.effective_parameters_ == pytest.approx(np.trace(hat))


def test_ridge_chooses():
    """The penalty of least leave-one-out error, and that of greatest evidence, by its own density."""
    X, y = load_diabetes(return_X_y=True)
    found = learn.Ridge("loo").fit(X, y)
    for factor in (0.8, 1.25):
        other = learn.Ridge(factor * found.alpha_).fit(X, y)
        assert np.sum(other.loo_residuals_**2) > np.sum(found.loo_residuals_**2)
    found = learn.Ridge("evidence", fit_intercept=False).fit(X[:50], y[:50])

    def density(alpha):
        K = np.eye(50) + X[:50] @ X[:50].T / alpha
        sigma2 = y[:50] @ np.linalg.solve(K, y[:50]) / 50
        return -0.5 * (np.linalg.slogdet(2 * np.pi * sigma2 * K)[1] + 50)

    assert found.log_evidence_ == pytest.approx(density(found.alpha_))
    assert found.log_evidence_ > max(density(0.8 * found.alpha_), density(1.25 * found.alpha_))


def test_losses_of_peers():
    """Lasso, elastic net, Poisson and quantile regression, as scikit-learn has them."""
    X, y, _ = drawn(80, noise=20.0)
    pairs = [
        (learn.LinearRegressor("squared", penalty="l1", alpha=6.0), peers.Lasso(3.0, tol=1e-14, max_iter=100000)),
        (
            learn.LinearRegressor("squared", penalty="elastic", alpha=6.0, l1_ratio=0.3),
            peers.ElasticNet(3.0, l1_ratio=0.3, tol=1e-14, max_iter=100000),
        ),
        (learn.LinearRegressor("squared", alpha=0.5), peers.Ridge(0.25 * 80)),
        (
            learn.LinearRegressor("quantile", quantile=0.3, penalty="l1", alpha=0.1),
            peers.QuantileRegressor(quantile=0.3, alpha=0.1),
        ),
    ]
    for ours, peer in pairs:
        np.testing.assert_allclose(ours.fit(X, y).coef_, peer.fit(X, y).coef_, rtol=1e-6, atol=1e-6)
    counts = np.random.default_rng(0).poisson(np.exp(0.01 * y - 1.0).clip(0, 50))
    for alpha in (0.0, 0.1):
        ours = learn.LinearRegressor("poisson", alpha=alpha).fit(X, counts)
        peer = peers.PoissonRegressor(alpha=alpha, tol=1e-12, solver="newton-cholesky").fit(X, counts)
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-6)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic"])
@pytest.mark.parametrize("quantile", [0.1, 0.5])
def test_quantiles_are_exact(penalty, quantile):
    """The gap proves it; no step in any direction costs less; as many residuals are negative as were asked for."""
    X, y, weights = drawn(noise=10.0)
    model = learn.LinearRegressor("quantile", quantile=quantile, penalty=penalty, alpha=0.05)
    model.fit(X, y, sample_weight=weights)

    def cost(coef, intercept):
        r = y - X @ coef - intercept
        parts = {"l2": (0.0, 1.0), "l1": (1.0, 0.0), "elastic": (0.5, 0.5)}[penalty]
        penalised = parts[0] * np.abs(coef).sum() + 0.5 * parts[1] * coef @ coef
        return weights @ np.maximum(quantile * r, (quantile - 1) * r) / weights.sum() + 0.05 * penalised

    least = cost(model.coef_, model.intercept_)
    assert model.duality_gap_ <= 1e-8 * least
    rng = np.random.default_rng(0)
    for size in (1e-5, 1e-3, 1e-1):
        for _ in range(20):
            assert cost(model.coef_ + size * rng.normal(size=4), model.intercept_ + rng.normal() * size) >= least - 1e-9
    below = weights[y < model.predict(X) - 1e-7].sum() / weights.sum()
    assert below <= quantile <= below + weights[np.abs(y - model.predict(X)) <= 1e-4].sum() / weights.sum()


def test_callables():
    """Any NumPy function: the same as the loss of that name, with weights, whichever way it takes them."""
    X, y, weights = drawn(noise=2.0)
    named = learn.LinearRegressor("huber", alpha=0.1).fit(X, y, sample_weight=weights).coef_
    for loss in (losses.huber, lambda f, t: losses.huber(f, t, reduction="none")):
        found = learn.LinearRegressor(loss, alpha=0.1, tol=1e-10).fit(X, y, sample_weight=weights).coef_
        np.testing.assert_allclose(found, named, rtol=1e-5)
    with pytest.raises(ValueError, match="loss has to take sample_weight=, or give one loss for each sample"):
        learn.LinearRegressor(lambda f, t: np.mean((f - t) ** 2)).fit(X, y, sample_weight=weights)
    codes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    for labels in (codes, codes > 0):
        named = learn.LinearClassifier("logistic", alpha=0.1).fit(X, labels)

        def entropy(outputs, targets):
            return losses.cross_entropy(outputs, targets)

        found = learn.LinearClassifier(entropy, alpha=0.1, tol=1e-10).fit(X, labels)
        np.testing.assert_allclose(found.coef_, named.coef_, atol=1e-6)
        assert named.decision_function_is_logits
        assert not found.decision_function_is_logits
        assert not hasattr(found, "predict_proba")


def test_hinge():
    """The linear support vector machine, at its optimum."""
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = learn.LinearClassifier("hinge", alpha=0.01).fit(X, y)
    peer = SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)  # C = 1 / (n alpha)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    ours, theirs = (
        np.mean(np.maximum(0.0, 1.0 - (2 * y - 3) * m.decision_function(X))) + 0.005 * np.sum(m.coef_**2)
        for m in (model, peer)
    )
    assert ours <= theirs
    assert model.duality_gap_ < 1e-9
    sparse = learn.LinearClassifier("hinge", penalty="l1", alpha=0.1).fit(X, y)
    assert np.any(sparse.coef_ == 0.0)
    elastic = learn.LinearClassifier("hinge", penalty="elastic", l1_ratio=0.9, alpha=0.1).fit(X, y)
    assert np.any(elastic.coef_ == 0.0)
    assert elastic.duality_gap_ < 1e-9


@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 28.886), (load_wine, 11.078), (load_breast_cancer, 53.795), (load_digits, 17.0323)]
)
def test_optimum_on_raw_columns(load, least):
    """No warning, no scaling, and the least objective."""
    X, y = load(return_X_y=True)
    model = learn.LogisticRegression().fit(X, y)
    assert objective(model, X, y) == pytest.approx(least, rel=2e-5)
    if load is not load_digits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = peers.LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 4])
def test_many_unknowns(classes, monkeypatch):
    """L-BFGS comes to where Newton's method does, with a factor of all columns or their sizes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12)) @ rng.normal(size=(12, 12))
    y = np.argmax(X[:, :classes] + 3 * rng.normal(size=(150, classes)), axis=1)
    want = learn.LogisticRegression().fit(X, y).coef_
    monkeypatch.setattr("adjoint.learn.linear.logistic.MOST_FOR_NEWTON", 0)
    for largest in (2000, 0):
        monkeypatch.setattr("adjoint.learn.linear.quasi_newton.LARGEST_FACTOR", largest)
        found = learn.LogisticRegression(tol=1e-13, max_iter=1000).fit(X, y)
        np.testing.assert_allclose(found.coef_, want, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_and_hessian(classes):
    """By central differences."""
    rng = np.random.default_rng(0)
    Q = basis_of(classes)
    problem = EntropyProblem(
        rng.normal(size=(9, 3)), np.arange(9) % classes, rng.uniform(size=9), np.array([1.0, 2.0, 0.0]), Q
    )  # fmt: skip
    theta = rng.normal(size=(3, Q.shape[1]))

    def gradient(theta):
        return problem.gradient(theta, problem.value(theta)[1])

    for j, unit in enumerate(np.eye(theta.size)):
        move = 1e-5 * unit.reshape(theta.shape[::-1]).T
        slope = (problem.value(theta + move)[0] - problem.value(theta - move)[0]) / 2e-5
        assert np.sum(gradient(theta) * move) / 1e-5 == pytest.approx(slope, rel=1e-6)
        column = (gradient(theta + move) - gradient(theta - move)) / 2e-5
        np.testing.assert_allclose(problem.hessian(problem.value(theta)[1])[j], column.T.ravel(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("labels", [[1, 2, 3], [-1, 0, 1], ["a", "b", "c"]])
def test_labels_of_any_kind(labels):
    """Classes are what their order says; a class of two is the same."""
    X, y = load_iris(return_X_y=True)
    for model in (learn.LogisticRegression(), learn.LinearClassifier("hinge", alpha=0.1)):
        plain = model.fit(X, y).predict(X)
        named = model.fit(X, np.array(labels)[y]).predict(X)
        np.testing.assert_array_equal(named, np.array(labels)[plain])


def test_class_weights_and_weights():
    """As scikit-learn's; rows of weight 0 are left out, with their class."""
    X, y = load_iris(return_X_y=True)
    X, y = X[30:], y[30:]
    for weight in ("balanced", {0: 2.0, 1: 1.0, 2: 0.5}):
        peer = peers.LogisticRegression(class_weight=weight, tol=1e-10, max_iter=10000).fit(X, y)
        np.testing.assert_allclose(learn.LogisticRegression(class_weight=weight).fit(X, y).coef_, peer.coef_, atol=1e-5)
    alone = learn.LogisticRegression().fit(X, y, sample_weight=1.0 * (y > 0))
    np.testing.assert_array_equal(alone.classes_, [1, 2])
    np.testing.assert_allclose(alone.coef_, learn.LogisticRegression().fit(X[y > 0], y[y > 0]).coef_)


def test_temperature():
    """softmax(z / T), even probabilities at inf, the arg max at 0, decisions as they were."""
    X, y = load_iris(return_X_y=True)
    model = learn.LogisticRegression().fit(X, y)
    p, z = model.predict_proba(X), model.decision_function(X)
    q = p**0.5
    np.testing.assert_allclose(model.set_params(temperature=2.0).predict_proba(X), q / q.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.set_params(temperature=np.inf).predict_proba(X), 1 / 3)
    for nothing in (0.0, 1e-300):
        np.testing.assert_array_equal(
            model.set_params(temperature=nothing).predict_proba(X), np.eye(3)[np.argmax(p, axis=1)]
        )
    np.testing.assert_array_equal(model.decision_function(X), z)


def test_loo_is_refitting():
    """One Newton step without a row is close to the fit without it; the best C is the best by refitting."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = np.argmax(X[:, :3] + 1.5 * rng.gumbel(size=(60, 3)), axis=1)
    found = learn.LogisticRegression("loo").fit(X, y)

    def refitted(C):
        total = 0.0
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            p = learn.LogisticRegression(C).fit(X[rest], y[rest]).predict_proba(X[i : i + 1])
            total -= np.log(p[0, y[i]]) / len(y)
        return total

    assert found.loo_log_loss_ == pytest.approx(refitted(found.C_), rel=0.02)
    assert refitted(found.C_) < min(refitted(found.C_ / 10), refitted(found.C_ * 10))


def test_refusals():
    """In scikit-learn's words; classes without an optimum are warned about."""
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="The 'C' parameter of LogisticRegression must be a float in the range"):
        learn.LogisticRegression(-1.0).fit(X, y)
    with pytest.raises(ValueError, match="The 'alpha' parameter of Ridge must be a float in the range"):
        learn.Ridge("cv").fit(X, y)
    with pytest.raises(ValueError, match="coverage has to be a float in the range"):
        learn.LeastSquares().fit(X, y).predict_interval(X, coverage=95)
    with pytest.raises(ValueError, match="y has to be counts"):
        learn.LinearRegressor("poisson").fit(X, -y)
    with pytest.warns(ConvergenceWarning, match="Without a penalty, classes that a line tells apart have no optimum"):
        learn.LogisticRegression(penalty=None, max_iter=5).fit(X[:100], y[:100])


def test_frames():
    """Names of columns are kept, and asked for again."""
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    for model in (learn.LogisticRegression(), learn.Ridge(), learn.LinearRegressor("absolute")):
        model.fit(X, y)
        np.testing.assert_array_equal(model.feature_names_in_, X.columns)
        assert len(model.predict(X)) == len(X)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(pandas.DataFrame(X.to_numpy(), columns=list("abcd")))


@pytest.mark.parametrize("seed", range(12))
def test_signs_that_are_guessed_are_those_of_the_optimum(seed, monkeypatch):
    """The same objective as by L-BFGS, with equal columns among them, for strong and weak penalties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12)) * rng.uniform(0.1, 10.0, 12)
    X[:, 0] = X[:, 1] if seed % 3 == 0 else X[:, 0]
    y = X @ (rng.normal(size=12) * (rng.random(12) < 0.4)) + rng.normal(size=60)
    model = learn.LinearRegressor("squared", penalty="l1", alpha=10.0 ** (seed % 5 - 3))

    def objective():
        model.fit(X, y)
        return np.mean((model.predict(X) - y) ** 2) + model.alpha * np.sum(np.abs(model.coef_))

    guessed = objective()
    monkeypatch.setattr("adjoint.learn.linear.smooth.GUESSES", 0)
    assert guessed == pytest.approx(objective(), rel=1e-8)
