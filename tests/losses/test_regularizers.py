"""Regularisers and priors: their sums, their patterns, and the closed forms they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import linear_model

import adjoint as ad
from adjoint import losses

R = np.random.default_rng(2)
N, D = 30, 4
X, Y = R.normal(size=(N, D)), R.normal(size=N)
PARAMETERS = {"layers.0.weight": R.normal(size=(3, 2)), "layers.0.bias": R.normal(size=2), "scale": R.normal(size=1)}
W, B, S = PARAMETERS.values()

ALL = {
    "l1": losses.l1(0.3),
    "l2": losses.l2(0.3),
    "elastic": losses.elastic(0.3, 0.7),
    "gaussian_prior": losses.gaussian_prior(0.5, n=3),
    "laplace_prior": losses.laplace_prior(0.5, n=3),
}
each = pytest.mark.parametrize("regularizer", ALL.values(), ids=ALL)


def test_sums():
    """Of squares and sizes, over all parameters or those of a pattern."""
    np.testing.assert_allclose(losses.l2(0.3)(PARAMETERS), 0.3 * ((W**2).sum() + (B**2).sum() + (S**2).sum()))
    np.testing.assert_allclose(losses.l2(0.3, only="*weight")(PARAMETERS), 0.3 * (W**2).sum())
    np.testing.assert_allclose(losses.l1(0.3, only=("*bias", "scale"))(PARAMETERS), 0.3 * (abs(B).sum() + abs(S).sum()))
    both = losses.l1(0.3)(PARAMETERS) + losses.l2(0.7)(PARAMETERS)
    np.testing.assert_allclose(losses.elastic(0.3, 0.7)(PARAMETERS), both)
    nested = {"layers": [{"weight": W, "bias": B}], "scale": S}
    np.testing.assert_allclose(losses.l2(0.3, only="layers*weight")(nested), 0.3 * (W**2).sum())


@each
def test_derivatives_jit_and_single_precision(regularizer):
    """Both orders; the same compiled; float32 stays."""
    ad.testing.check_grads(regularizer, (PARAMETERS,), order=2)
    step = ad.jit(ad.value_and_grad(regularizer))
    step(PARAMETERS)
    value, gradient = step(PARAMETERS)
    np.testing.assert_allclose(value, regularizer(PARAMETERS))
    np.testing.assert_allclose(gradient["scale"], ad.grad(regularizer)(PARAMETERS)["scale"])
    assert step.stats()["called by NumPy"] == []
    single = {name: np.float32(p) for name, p in PARAMETERS.items()}
    assert regularizer(single).dtype == np.float32
    assert ad.jit(regularizer)(single).dtype == np.float32
    assert ad.grad(regularizer)(single)["scale"].dtype == np.float32


def test_priors_are_densities():
    """Minus the logarithms that SciPy gives."""
    every = np.concatenate([p.ravel() for p in PARAMETERS.values()])
    np.testing.assert_allclose(losses.gaussian_prior(0.5)(PARAMETERS), -stats.norm(0, 0.5).logpdf(every).sum())
    np.testing.assert_allclose(losses.laplace_prior(0.5)(PARAMETERS), -stats.laplace(0, 0.5).logpdf(every).sum())
    np.testing.assert_allclose(
        losses.laplace_prior(0.5, n=7, only="scale")(PARAMETERS), -stats.laplace(0, 0.5).logpdf(S).sum() / 7
    )


def test_priors_are_regularisers_but_for_a_constant():
    """A normal one is l2 with 1 / (2 n sigma**2), a Laplace one l1 with 1 / (n b)."""
    for prior, penalty in [
        (losses.gaussian_prior(0.5, n=7), losses.l2(1 / (2 * 7 * 0.5**2))),
        (losses.laplace_prior(0.5, n=7), losses.l1(1 / (7 * 0.5))),
    ]:
        other = {name: 2 * p for name, p in PARAMETERS.items()}
        np.testing.assert_allclose(prior(other) - prior(PARAMETERS), penalty(other) - penalty(PARAMETERS))


def gradient_at(objective, w):
    return np.abs(ad.grad(objective)({"w": w})["w"]).max()


def test_ridge_and_its_closed_form_agree():
    """With the mean of squared errors, alpha = n lambda in (X'X + alpha I)^-1 X'y; with their sum, alpha = lambda."""
    strength = 0.3
    penalty = losses.l2(strength)
    by_mean = np.linalg.solve(X.T @ X + N * strength * np.eye(D), X.T @ Y)
    by_sum = np.linalg.solve(X.T @ X + strength * np.eye(D), X.T @ Y)
    assert gradient_at(lambda p: losses.squared(X @ p["w"], Y) + penalty(p), by_mean) < 1e-14
    assert gradient_at(lambda p: losses.squared(X @ p["w"], Y, reduction="sum") + penalty(p), by_sum) < 1e-13
    np.testing.assert_allclose(by_mean, linear_model.Ridge(N * strength, fit_intercept=False).fit(X, Y).coef_)
    np.testing.assert_allclose(by_sum, linear_model.Ridge(strength, fit_intercept=False).fit(X, Y).coef_)


def test_maximum_a_posteriori_is_ridge():
    """Noise sigma and prior tau: alpha = sigma**2 / tau**2, whether over the sum or the mean."""
    sigma, tau = 0.7, 1.3
    w = np.linalg.solve(X.T @ X + sigma**2 / tau**2 * np.eye(D), X.T @ Y)
    prior, share = losses.gaussian_prior(tau), losses.gaussian_prior(tau, n=N)

    def by_sum(p):
        return losses.gaussian(X @ p["w"], Y, sigma=sigma, reduction="sum") + prior(p)

    def by_mean(p):
        return losses.gaussian(X @ p["w"], Y, sigma=sigma) + share(p)

    assert gradient_at(by_sum, w) < 1e-13
    assert gradient_at(by_mean, w) < 1e-14
    np.testing.assert_allclose(by_sum({"w": w}) / N, by_mean({"w": w}))
    posterior = stats.norm(X @ w, sigma).logpdf(Y).sum() + stats.norm(0, tau).logpdf(w).sum()
    np.testing.assert_allclose(by_sum({"w": w}), -posterior)


def test_elastic_net_of_scikit_learn():
    """Its objective has half the mean: l1 = 2 alpha ratio, l2 = alpha (1 - ratio)."""
    alpha, ratio = 0.05, 0.4
    w = linear_model.ElasticNet(alpha=alpha, l1_ratio=ratio, fit_intercept=False, tol=1e-12).fit(X, Y).coef_
    penalty = losses.elastic(2 * alpha * ratio, alpha * (1 - ratio))
    gradient = ad.grad(lambda p: losses.squared(X @ p["w"], Y) + penalty(p))({"w": w})["w"]
    assert np.abs(gradient[w != 0]).max() < 1e-6
    assert (np.abs(gradient[w == 0]) <= 2 * alpha * ratio).all()
