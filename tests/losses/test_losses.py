"""Every loss: derivatives of both orders, the same under jit, in single precision, with weights, and far out."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses

R = np.random.default_rng(0)
N, K = 6, 4
Z = R.normal(size=(N, K))
F, Y = R.normal(size=N), R.normal(size=N)
LABELS = R.integers(0, K, N)
HOT = np.eye(K)[LABELS]
SOFT = R.dirichlet(np.ones(K), N)
BITS = R.integers(0, 2, N)
SIGNS = 2 * BITS - 1
WEIGHTS = R.uniform(0.5, 2.0, N)
CLASS_WEIGHTS = R.uniform(0.5, 2.0, K)
IGNORED = np.where(np.arange(N) % 3 == 1, -100, LABELS)
STEPS = R.normal(size=(N, 7, K))
SPOKEN = np.array([[1, 2, 3], [1, 1, -1], [2, -1, -1], [3, 3, 3], [1, 2, 1], [-1, -1, -1]])


def triplet(outputs, targets, **options):
    """The targets are the positives; the negatives are others of them."""
    return losses.triplet(outputs, targets, -targets, **options)


CASES = {
    "squared": (losses.squared, F, Y),
    "squared of rows": (losses.squared, Z, R.normal(size=(N, K))),
    "absolute": (losses.absolute, F, Y),
    "huber": (partial(losses.huber, delta=0.7), F, Y),
    "hinge": (losses.hinge, F, SIGNS),
    "hinge of classes": (losses.hinge, Z, LABELS),
    "margin": (losses.margin, F, SIGNS),
    "margin of classes": (losses.margin, Z, LABELS),
    "cross_entropy": (losses.cross_entropy, Z, LABELS),
    "cross_entropy, one-hot": (losses.cross_entropy, Z, HOT),
    "cross_entropy, probabilities": (losses.cross_entropy, Z, SOFT),
    "cross_entropy, bits": (partial(losses.cross_entropy, base=2), Z, LABELS),
    "cross_entropy, smoothed": (partial(losses.cross_entropy, label_smoothing=0.2), Z, LABELS),
    "cross_entropy, class weights": (partial(losses.cross_entropy, class_weight=CLASS_WEIGHTS), Z, LABELS),
    "cross_entropy, all": (
        partial(losses.cross_entropy, class_weight=CLASS_WEIGHTS, label_smoothing=0.1, base=2), Z, SOFT,
    ),
    "cross_entropy, some ignored": (partial(losses.cross_entropy, ignore_index=-100), Z, IGNORED),
    "cross_entropy, ignored, all": (
        partial(losses.cross_entropy, ignore_index=-100, class_weight=CLASS_WEIGHTS, label_smoothing=0.1), Z, IGNORED,
    ),
    "quantile": (partial(losses.quantile, q=0.3), F, Y),
    "quantiles": (partial(losses.quantile, q=(0.1, 0.3, 0.5, 0.9)), Z, Y),
    "triplet": (triplet, Z, SOFT),
    "ctc": (losses.ctc, STEPS, SPOKEN),
    "binary_cross_entropy": (losses.binary_cross_entropy, F, BITS),
    "binary_cross_entropy, all": (
        partial(losses.binary_cross_entropy, class_weight=(1.0, 3.0), label_smoothing=0.1, base=2), F, BITS,
    ),
    "focal": (losses.focal, Z, LABELS),
    "focal, one-hot": (partial(losses.focal, class_weight=CLASS_WEIGHTS, gamma=0.5), Z, HOT),
    "focal, binary": (partial(losses.focal, binary=True, class_weight=(1.0, 3.0)), F, BITS),
    "kl_divergence": (losses.kl_divergence, Z, SOFT),
    "gaussian": (partial(losses.gaussian, sigma=0.7), F, Y),
    "gaussian, learned": (partial(losses.gaussian, sigma=None), R.normal(size=(N, 2)), Y),
    "gaussian, rows learned": (partial(losses.gaussian, sigma=None), R.normal(size=(N, 2 * K)), Z),
    "poisson": (losses.poisson, F, R.integers(0, 5, N)),
}  # fmt: skip
each_case = pytest.mark.parametrize(("loss", "outputs", "targets"), CASES.values(), ids=CASES)


@each_case
def test_derivatives_of_both_orders(loss, outputs, targets):
    """As differences have it, in both modes."""
    ad.testing.check_grads(lambda z: loss(z, targets), (outputs,), order=2)


@each_case
def test_jit_is_the_same_and_calls_nothing(loss, outputs, targets):
    """Value and gradient of one recording without steps that NumPy takes."""
    step = ad.jit(ad.value_and_grad(loss))
    step(outputs, targets)
    value, gradient = step(outputs, targets)
    np.testing.assert_allclose(value, loss(outputs, targets), rtol=1e-13)
    np.testing.assert_allclose(gradient, ad.grad(loss)(outputs, targets), rtol=1e-12, atol=1e-15)
    stats = step.stats()
    assert (stats["recordings"], stats["paths"], stats["called by NumPy"]) == (1, 1, [])


@each_case
@pytest.mark.parametrize("jit", [False, True])
def test_single_precision_stays(loss, outputs, targets, jit):
    """Whatever the dtype of targets and weights."""
    whole = np.float32(outputs)
    for reduction in ("mean", "sum", "none"):
        f = partial(loss, reduction=reduction)
        f = ad.jit(f) if jit else f
        found = f(whole, targets, sample_weight=WEIGHTS)
        assert found.dtype == np.float32
        np.testing.assert_allclose(
            found, loss(outputs, targets, reduction=reduction, sample_weight=WEIGHTS), rtol=1e-5, atol=1e-6
        )
    gradient = ad.grad(loss)(whole, targets)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(loss)(outputs, targets), rtol=2e-4, atol=1e-6)


@each_case
def test_reductions(loss, outputs, targets):
    """The sum is that of the losses, and so is the mean, unless classes have weights."""
    every = loss(outputs, targets, reduction="none")
    np.testing.assert_allclose(loss(outputs, targets, reduction="sum"), every.sum())
    if not {"class_weight", "ignore_index"} & getattr(loss, "keywords", {}).keys():
        np.testing.assert_allclose(loss(outputs, targets), every.mean())


@each_case
def test_a_weight_is_a_number_of_examples(loss, outputs, targets):
    """A mean with weights is the mean in which each example is given that many times; 0 leaves it out."""
    times = np.array([2, 0, 1, 3, 1, 2])
    places = np.repeat(np.arange(N), times)
    for reduction in ("mean", "sum"):
        weighted = loss(outputs, targets, sample_weight=times, reduction=reduction)
        np.testing.assert_allclose(weighted, loss(outputs[places], targets[places], reduction=reduction))
    every = loss(outputs, targets, reduction="none")
    weighted = loss(outputs, targets, sample_weight=times, reduction="none")
    np.testing.assert_allclose(weighted, (every.T * times).T)


SUMS = ("triplet", "ctc")
"""Differences of large numbers, whose digits single precision has not: see test_sequences_and_pairs.py."""
FAR = [name for name in CASES if name not in ("poisson", "gaussian, learned", "gaussian, rows learned", *SUMS)]


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_far_out_nothing_overflows(name, size):
    """At outputs of +-1e4 in single precision, loss and gradients of both orders are finite; warnings are errors."""
    loss, outputs, targets = CASES[name]
    far = np.float32(np.where(np.arange(outputs.size).reshape(outputs.shape) % 2, size, outputs))
    every = loss(far, targets, reduction="none")
    assert np.isfinite(every).all()
    np.testing.assert_allclose(every, loss(np.float64(far), targets, reduction="none"), rtol=1e-5, atol=1e-6)
    for step in (ad.grad(loss), ad.jit(ad.grad(loss))):
        gradient = step(far, targets)
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(gradient, ad.grad(loss)(np.float64(far), targets), rtol=1e-4, atol=1e-5)
    _, product = ad.jvp(lambda z: ad.grad(loss)(z, targets), (far,), (np.ones_like(far),))
    assert np.isfinite(product).all()


@each_case
def test_one_example_after_the_other(loss, outputs, targets):
    """Inside vmap, as for gradients of single examples."""
    found = ad.vmap(ad.grad(loss))(outputs, targets)
    wanted = [ad.grad(loss)(outputs[i], targets[i]) for i in range(N)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.uint64])
def test_labels_of_any_integer_type_are_compiled(kind):
    """Images come with labels of one byte."""
    step = ad.jit(ad.value_and_grad(losses.cross_entropy))
    step(Z, LABELS.astype(kind))
    np.testing.assert_allclose(step(Z, LABELS.astype(kind))[1], ad.grad(losses.cross_entropy)(Z, LABELS), rtol=1e-12)
    assert step.stats()["called by NumPy"] == []


def test_classes_that_are_masked():
    """A logit of -inf is a class that cannot be: its probability and gradient are 0."""
    masked = np.array([[0.0, -np.inf, 1.0]])
    for targets in ([2], [[0.0, 0.0, 1.0]]):
        np.testing.assert_allclose(losses.cross_entropy(masked, targets), np.log1p(np.exp(-1)))
        gradient = ad.grad(losses.cross_entropy)(masked, targets)
        np.testing.assert_allclose(gradient, [[1 / (1 + np.e), 0.0, -1 / (1 + np.e)]])


def test_targets_may_have_a_derivative():
    """As in distillation, or where targets are computed by what is trained."""
    ad.testing.check_grads(losses.squared, (F, Y), order=2)
    ad.testing.check_grads(lambda t: losses.cross_entropy(Z, t), (SOFT,), order=2)
    ad.testing.check_grads(lambda t: losses.kl_divergence(Z, t), (SOFT,), order=2)


def test_sigma_may_be_a_parameter():
    """Of the Gaussian likelihood, one for all or one for each output."""
    ad.testing.check_grads(lambda s: losses.gaussian(F, Y, sigma=s), (0.7,), order=2)
    ad.testing.check_grads(lambda s: losses.gaussian(Z, SOFT, sigma=s), (np.linspace(0.5, 1.0, K),), order=2)
