"""The numbers of the notes, of scikit-learn and of SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special, stats
from sklearn import linear_model, metrics

import adjoint as ad
from adjoint import losses

R = np.random.default_rng(1)
N, K = 40, 5
Z, F, Y = R.normal(size=(N, K)), R.normal(size=N), R.normal(size=N)
LABELS, BITS, WEIGHTS = R.integers(0, K, N), R.integers(0, 2, N), R.uniform(0.0, 2.0, N)
PROBABILITIES = special.softmax(Z, axis=-1)


def test_example_of_the_notes():
    """f(x) = (0.2, 0.5, 0.3) and class 2: probability 0.5, a loss of log 2, which is one bit."""
    logits = np.log([0.2, 0.5, 0.3])
    assert losses.cross_entropy(logits, 1) == pytest.approx(math.log(2), rel=1e-15)
    assert losses.cross_entropy(logits, [0, 1, 0]) == pytest.approx(math.log(2), rel=1e-15)
    assert losses.cross_entropy(logits, 1, base=2) == pytest.approx(1.0, rel=1e-15)
    assert losses.cross_entropy(logits, 1, base=10) == pytest.approx(math.log10(2), rel=1e-15)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_as_scikit_learn(weights):
    """Its metrics divide by the sum of the weights, too."""
    options = {"sample_weight": weights}
    want = metrics.log_loss(LABELS, PROBABILITIES, **options)
    np.testing.assert_allclose(losses.cross_entropy(Z, LABELS, **options), want)
    want = metrics.log_loss(BITS, special.expit(F), **options)
    np.testing.assert_allclose(losses.binary_cross_entropy(F, BITS, **options), want)
    np.testing.assert_allclose(losses.squared(F, Y, **options), metrics.mean_squared_error(Y, F, **options))
    np.testing.assert_allclose(losses.absolute(F, Y, **options), metrics.mean_absolute_error(Y, F, **options))
    np.testing.assert_allclose(losses.hinge(F, 2 * BITS - 1, **options), metrics.hinge_loss(BITS, F, **options))
    np.testing.assert_allclose(losses.hinge(Z, LABELS, **options), metrics.hinge_loss(LABELS, Z, **options))
    want = metrics.zero_one_loss(LABELS, Z.argmax(-1), **options)
    np.testing.assert_allclose(losses.zero_one(Z, LABELS, **options), want)
    np.testing.assert_allclose(losses.zero_one(Z, np.eye(K)[LABELS], **options), want)
    want = metrics.zero_one_loss(BITS, F > 0, **options)
    np.testing.assert_allclose(losses.zero_one(F, BITS, **options), want)
    np.testing.assert_allclose(losses.zero_one(F[:, None], 2 * BITS[:, None] - 1, **options), want)


def test_as_scipy():
    """Densities, divergences, Huber's function."""
    np.testing.assert_allclose(losses.huber(F, Y, delta=0.6, reduction="none"), special.huber(0.6, F - Y))
    every = losses.gaussian(F, Y, sigma=0.6, reduction="none")
    np.testing.assert_allclose(every, -stats.norm(F, 0.6).logpdf(Y))
    sigma = R.uniform(0.3, 2.0, N)
    both = np.stack([F, np.log(sigma)], axis=-1)
    want = -stats.norm(F, sigma).logpdf(Y)
    np.testing.assert_allclose(losses.gaussian(both, Y, sigma=None, reduction="none"), want)
    np.testing.assert_allclose(losses.gaussian((F, np.log(sigma)), Y, sigma=None, reduction="none"), want)
    np.testing.assert_allclose(losses.gaussian(F, Y, sigma=sigma, reduction="none"), want)
    counts = R.poisson(2.0, N)
    want = -stats.poisson(np.exp(F)).logpmf(counts) - special.gammaln(counts + 1.0)
    np.testing.assert_allclose(losses.poisson(F, counts, reduction="none"), want)
    targets = R.dirichlet(np.ones(K), N)
    targets[0] = [0.0, 0.5, 0.5, 0.0, 0.0]
    every = losses.kl_divergence(Z, targets, reduction="none", base=2)
    np.testing.assert_allclose(every, special.rel_entr(targets, PROBABILITIES).sum(-1) / math.log(2))
    entropy = special.entr(targets).sum(-1)
    np.testing.assert_allclose(
        losses.kl_divergence(Z, targets, reduction="none"),
        losses.cross_entropy(Z, targets, reduction="none") - entropy,
    )


def test_as_pytorch_defines_weights_and_smoothing():
    """Class weights weigh each logarithm; the mean divides by the weights of the true classes."""
    weight, share = R.uniform(0.5, 2.0, K), 0.3
    logs = np.log(PROBABILITIES)
    target = (1 - share) * np.eye(K)[LABELS] + share / K
    want = -(target * weight * logs).sum() / weight[LABELS].sum()
    options = {"class_weight": weight, "label_smoothing": share}
    np.testing.assert_allclose(losses.cross_entropy(Z, LABELS, **options), want)
    np.testing.assert_allclose(losses.cross_entropy(Z, np.eye(K)[LABELS], **options), want)


def test_two_classes_are_binary():
    """Logits (0, z) give what one logit z gives, weights and smoothing included."""
    rows = np.stack([np.zeros(N), F], axis=-1)
    both = {"class_weight": (1.0, 3.0), "label_smoothing": 0.2}
    for options in ({}, {"class_weight": (1.0, 3.0)}, {"label_smoothing": 0.2}, {"base": 2}, both):
        want = losses.cross_entropy(rows, BITS, **options)
        np.testing.assert_allclose(losses.binary_cross_entropy(F, BITS, **options), want)
    for options in ({"gamma": 2.0}, {"class_weight": (1.0, 3.0), "gamma": 0.0}):
        want = losses.focal(rows, BITS, **options)
        np.testing.assert_allclose(losses.focal(F, BITS, binary=True, **options), want)


def test_focal():
    """As its formula has it, and cross-entropy for gamma = 0."""
    p = PROBABILITIES[np.arange(N), LABELS]
    for gamma in (0.0, 0.5, 2.0):
        every = losses.focal(Z, LABELS, gamma=gamma, reduction="none")
        np.testing.assert_allclose(every, -((1 - p) ** gamma) * np.log(p))
        np.testing.assert_allclose(losses.focal(Z, np.eye(K)[LABELS], gamma=gamma, reduction="none"), every)
    np.testing.assert_allclose(losses.focal(Z, LABELS, gamma=0.0), losses.cross_entropy(Z, LABELS))


def test_binary_cross_entropy_keeps_its_digits():
    """Where the answer is right and sure, the loss is small and not 0: nothing cancels."""
    z = np.array([30.0, 80.0], np.float32)
    np.testing.assert_allclose(losses.binary_cross_entropy(z, [1, 1], reduction="none"), np.exp(-z), rtol=1e-6)
    np.testing.assert_allclose(losses.binary_cross_entropy(-z, [0, 0], reduction="none"), np.exp(-z), rtol=1e-6)
    np.testing.assert_allclose(ad.grad(losses.binary_cross_entropy)(z, [1, 1]), -np.exp(-z) / 2, rtol=1e-6)


def test_sigma_that_is_estimated():
    """It is where the likelihood is largest: no derivative there, and sigma**2 is the mean square of the errors."""
    sigma = losses.estimate_sigma(F, Y)
    np.testing.assert_allclose(sigma**2, np.mean((F - Y) ** 2))
    assert abs(ad.grad(lambda s: losses.gaussian(F, Y, sigma=s))(sigma)) < 1e-12
    weighted = losses.estimate_sigma(F, Y, sample_weight=WEIGHTS)
    slope = ad.grad(lambda s: losses.gaussian(F, Y, sigma=s, sample_weight=WEIGHTS))(weighted)
    assert abs(slope) < 1e-12
    rows = losses.estimate_sigma(Z, np.zeros((N, K)), axis=0)
    np.testing.assert_allclose(rows, np.sqrt(np.mean(Z**2, axis=0)))
    rows = losses.estimate_sigma(Z, np.zeros((N, K)), axis=0, sample_weight=np.ones(N))
    np.testing.assert_allclose(rows, np.sqrt(np.mean(Z**2, axis=0)))


def test_risk():
    """The mean loss, and by how much it is larger on other data."""
    w = R.normal(size=K)
    train, test = (Z[:20], Y[:20]), (Z[20:], Y[20:])
    gap = losses.generalization_gap(lambda x: x @ w, losses.squared, train, test)
    want = np.mean((Z[20:] @ w - Y[20:]) ** 2) - np.mean((Z[:20] @ w - Y[:20]) ** 2)
    np.testing.assert_allclose(gap, want)


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, (4, 3), elements=st.floats(-1e4, 1e4)), arrays(np.int64, 4, elements=st.integers(0, 2)))
def test_cross_entropy_anywhere(z, labels):
    """Never negative, unchanged by what is added to all logits of a row, its gradient softmax minus one-hot."""
    every = losses.cross_entropy(z, labels, reduction="none")
    assert (every >= 0).all()
    np.testing.assert_allclose(every, special.logsumexp(z, axis=-1) - z[np.arange(4), labels], atol=1e-11)
    np.testing.assert_allclose(losses.cross_entropy(z + 7.0, labels, reduction="none"), every, atol=1e-11)
    gradient = ad.grad(losses.cross_entropy)(z, labels)
    np.testing.assert_allclose(gradient, (special.softmax(z, axis=-1) - np.eye(3)[labels]) / 4, atol=1e-14)


def test_logistic_regression_finds_what_scikit_learn_finds():
    """Its coefficients are where the gradient of cross-entropy plus l2 is 0: C sums losses, so lambda = 1 / (2 C n)."""
    C = 0.7
    model = linear_model.LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(Z, LABELS)
    penalty = losses.l2(1 / (2 * C * N), only="w")

    def objective(p):
        return losses.cross_entropy(Z @ p["w"].T + p["b"], LABELS) + penalty(p)

    gradient = ad.grad(objective)({"w": model.coef_, "b": model.intercept_})
    assert max(np.abs(g).max() for g in gradient.values()) < 1e-6
