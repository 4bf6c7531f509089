"""Losses of alignments, pairs, overlaps, quantiles, and of labels that are ignored, against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special
from sklearn import metrics

import adjoint as ad
from adjoint import losses

R = np.random.default_rng(7)


def collapsed(alignment, blank):
    """Repetitions made one, blanks taken out."""
    return [label for label, _ in itertools.groupby(alignment) if label != blank]


def over_all_alignments(logits, labels, blank):
    """The loss of one sequence by its definition."""
    p = special.softmax(logits, axis=-1)
    steps, classes = p.shape
    total = sum(
        np.prod(p[np.arange(steps), list(alignment)])
        for alignment in itertools.product(range(classes), repeat=steps)
        if collapsed(alignment, blank) == list(labels)
    )
    return -np.log(total)


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("number", range(6))
def test_ctc_is_the_sum_over_all_alignments(number, blank):
    """Of labels that repeat, that fill all outputs, and of none at all."""
    labels = [[1, 3], [1, 1], [3], [], [3, 1, 3], [1, 1, 3]][number]
    logits = R.normal(size=(5, 4)) * 2.0
    padded = np.array(labels + [-1] * (3 - len(labels)))
    np.testing.assert_allclose(
        losses.ctc(logits, padded, blank=blank), over_all_alignments(logits, labels, blank), rtol=1e-12
    )


def test_ctc_of_a_batch_with_lengths():
    """Outputs and labels behind the ends do not matter, and have no gradient."""
    logits = R.normal(size=(4, 6, 3))
    labels = np.array([[1, 2, 1], [2, 2, 0], [1, 0, 0], [0, 0, 0]])
    steps, ends = np.array([6, 4, 1, 3]), np.array([3, 2, 1, 0])
    options = {"output_lengths": steps, "target_lengths": ends}
    wanted = [over_all_alignments(z[:t], y[:s], 0) for z, y, t, s in zip(logits, labels, steps, ends, strict=True)]
    np.testing.assert_allclose(losses.ctc(logits, labels, reduction="none", **options), wanted, rtol=1e-12)
    gradient = ad.grad(lambda z: losses.ctc(z, labels, **options))(logits)
    for k, t in enumerate(steps):
        assert np.all(gradient[k, t:] == 0.0)
        assert np.all(gradient[k, :t] != 0.0)
    ad.testing.check_grads(lambda z: losses.ctc(z, labels, **options), (logits,), order=2)
    compiled = ad.jit(ad.value_and_grad(lambda z, y, t, s: losses.ctc(z, y, output_lengths=t, target_lengths=s)))
    for _ in range(2):
        value, slope = compiled(logits, labels, steps, ends)
    np.testing.assert_allclose(value, np.mean(wanted), rtol=1e-12)
    np.testing.assert_allclose(slope, gradient, atol=1e-13)
    assert compiled.stats()["called by NumPy"] == []


def test_ctc_that_cannot_be():
    """More labels than outputs: inf under jit, where values are not looked at, with no gradient and no nan."""
    compiled = ad.jit(ad.value_and_grad(lambda z, y: losses.ctc(z, y, reduction="sum")))
    logits = R.normal(size=(2, 3))
    for _ in range(2):
        value, gradient = compiled(logits, np.array([1, 1]))
    assert value == np.inf
    np.testing.assert_array_equal(gradient, np.zeros((2, 3)))


def test_ctc_of_classes_that_are_masked():
    """A logit of -inf is a class that cannot be: alignments with it have no share, and it has no gradient."""
    logits = R.normal(size=(4, 3))
    logits[1, 0] = -np.inf
    value, gradient = ad.value_and_grad(losses.ctc)(logits, [1, 2])
    np.testing.assert_allclose(value, over_all_alignments(logits, [1, 2], 0), rtol=1e-12)
    assert np.isfinite(gradient).all()
    assert gradient[1, 0] == 0.0


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_ctc_far_out(size):
    """At outputs of +-1e4 in single precision all is finite, and as good as sums of such numbers are."""
    far = np.float32(np.where(np.arange(72).reshape(3, 8, 3) % 2, size, R.normal(size=(3, 8, 3))))
    labels = np.array([[1, 2, 1], [1, 1, -1], [-1, -1, -1]])
    value, gradient = ad.value_and_grad(losses.ctc)(far, labels)
    double, slope = ad.value_and_grad(losses.ctc)(np.float64(far), labels)
    np.testing.assert_allclose(value, double, rtol=1e-6)
    np.testing.assert_allclose(gradient, slope, atol=1e-3)
    _, product = ad.jvp(lambda z: ad.grad(losses.ctc)(z, labels), (far,), (np.ones_like(far),))
    assert np.isfinite(product).all()


def test_ctc_of_long_sequences():
    """A thousand steps neither underflow nor overflow."""
    logits = np.float32(R.normal(size=(2, 1000, 5)) * 10)
    labels = R.integers(1, 5, size=(2, 40))
    value, gradient = ad.value_and_grad(losses.ctc)(logits, labels)
    assert value.dtype == gradient.dtype == np.float32
    double, slope = ad.value_and_grad(losses.ctc)(np.float64(logits), labels)
    np.testing.assert_allclose(value, double, rtol=1e-5)
    np.testing.assert_allclose(gradient, slope, rtol=1e-3, atol=2e-5)
    np.testing.assert_allclose(np.sum(slope, axis=-1), 0.0, atol=1e-10)  # as of every softmax


def test_quantile():
    """As scikit-learn's pinball loss; the best constant is the quantile; several at once are one after another."""
    f, y = R.normal(size=50), R.normal(size=50)
    weights = R.uniform(size=50)
    for q in (0.1, 0.5, 0.8):
        np.testing.assert_allclose(losses.quantile(f, y, q=q), metrics.mean_pinball_loss(y, f, alpha=q))
        want = metrics.mean_pinball_loss(y, f, alpha=q, sample_weight=weights)
        np.testing.assert_allclose(losses.quantile(f, y, q=q, sample_weight=weights), want)
        best = np.quantile(y, q)
        at = [float(losses.quantile(np.full(50, c), y, q=q)) for c in (best - 0.3, best, best + 0.3)]
        assert at[1] < min(at[0], at[2])
    rows = R.normal(size=(50, 2))
    both = losses.quantile(rows, y, q=(0.1, 0.9), reduction="none")
    single = [losses.quantile(rows[:, k], y, q=q, reduction="none") for k, q in enumerate((0.1, 0.9))]
    np.testing.assert_allclose(both, np.stack(single, axis=-1))
    np.testing.assert_allclose(losses.quantile(f, y), 0.5 * losses.absolute(f, y))


def test_triplet():
    """Number by number; equal embeddings have a derivative that is a number."""
    a, p, n = R.normal(size=(3, 9, 4))
    wanted = [max(0.0, np.linalg.norm(x - y) - np.linalg.norm(x - z) + 0.4) for x, y, z in zip(a, p, n, strict=True)]
    np.testing.assert_allclose(losses.triplet(a, p, n, margin=0.4, reduction="none"), wanted, rtol=1e-12)
    np.testing.assert_allclose(losses.triplet(a, p, n, margin=0.4), np.mean(wanted), rtol=1e-12)
    ad.testing.check_grads(lambda *x: losses.triplet(*x, margin=5.0), (a, p, n), order=2)
    for step in (ad.grad(losses.triplet), ad.jit(ad.grad(losses.triplet))):
        np.testing.assert_allclose(
            step(a, a, n),
            -(a - n) / np.linalg.norm(a - n, axis=-1)[:, None] / 9 * (np.linalg.norm(a - n, axis=-1) < 1.0)[:, None],
        )


def test_triplet_far_out():
    """Distances of 1e4 in single precision: what is left of their difference, and a gradient of length 1 or less."""
    a, p, n = np.float32(R.normal(size=(3, 9, 4)) * 1e4)
    every = losses.triplet(a, p, n, reduction="none")
    np.testing.assert_allclose(every, losses.triplet(*np.float64([a, p, n]), reduction="none"), atol=1e-2)
    for step in (ad.grad(losses.triplet), ad.jit(ad.grad(losses.triplet))):
        assert np.all(np.linalg.norm(step(a, p, n) * 9, axis=-1) <= 2.0)


@pytest.mark.parametrize("symmetric", [False, True])
def test_info_nce(symmetric):
    """Cross-entropy of cosines, with the numbers of the rows as labels; in both directions, as in CLIP."""
    f, t = R.normal(size=(2, 6, 3))
    cosines = np.array([[x @ y / np.linalg.norm(x) / np.linalg.norm(y) for y in t] for x in f]) / 0.2
    wanted = losses.cross_entropy(cosines, np.arange(6), reduction="none")
    if symmetric:
        wanted = 0.5 * (wanted + losses.cross_entropy(cosines.T, np.arange(6), reduction="none"))
    options = {"temperature": 0.2, "symmetric": symmetric}
    np.testing.assert_allclose(losses.info_nce(f, t, reduction="none", **options), wanted, rtol=1e-12)
    np.testing.assert_allclose(losses.info_nce(f, t, **options), np.mean(wanted), rtol=1e-12)
    ad.testing.check_grads(lambda f, t: losses.info_nce(f, t, **options), (f, t), order=2)
    ad.testing.check_grads(lambda s: losses.info_nce(f, t, temperature=s), (0.3,))
    compiled = ad.jit(ad.value_and_grad(lambda f, t: losses.info_nce(f, t, **options)))
    for _ in range(2):
        value, slope = compiled(f, t)
    np.testing.assert_allclose(value, np.mean(wanted), rtol=1e-12)
    np.testing.assert_allclose(slope, ad.grad(lambda f: losses.info_nce(f, t, **options))(f), atol=1e-13)
    assert compiled.stats()["called by NumPy"] == []
    assert losses.info_nce(np.float32(f), t).dtype == np.float32
    assert np.isfinite(ad.grad(losses.info_nce)(np.zeros((3, 2)), np.ones((3, 2)))).all()


def test_dice():
    """The coefficient of each example, and the mean over classes; smooth where there is nothing to find."""
    z, t = R.normal(size=(3, 4, 5)), R.integers(0, 2, size=(3, 4, 5))
    p = special.expit(z)
    wanted = [1 - (2 * np.sum(p[k] * t[k]) + 0.5) / (np.sum(p[k]) + np.sum(t[k]) + 0.5) for k in range(3)]
    np.testing.assert_allclose(losses.dice(z, t, smooth=0.5, reduction="none"), wanted, rtol=1e-12)
    weights = np.array([1.0, 0.0, 2.0])
    np.testing.assert_allclose(losses.dice(z, t, smooth=0.5, sample_weight=weights), weights @ wanted / 3, rtol=1e-12)
    rows, labels = R.normal(size=(3, 4, 5, 3)), R.integers(0, 3, size=(3, 4, 5))
    p, hot = special.softmax(rows, axis=-1), np.eye(3)[labels]
    wanted = [
        np.mean(
            [
                1
                - (2 * np.sum(p[k, ..., c] * hot[k, ..., c]) + 1) / (np.sum(p[k, ..., c]) + np.sum(hot[k, ..., c]) + 1)
                for c in range(3)
            ]
        )
        for k in range(3)
    ]
    np.testing.assert_allclose(losses.dice(rows, labels, reduction="none"), wanted, rtol=1e-12)
    for outputs, targets in ((z, t), (rows, labels)):
        ad.testing.check_grads(lambda z, y=targets: losses.dice(z, y), (outputs,), order=2)
        compiled = ad.jit(ad.value_and_grad(losses.dice))
        for _ in range(2):
            value, slope = compiled(outputs, targets)
        np.testing.assert_allclose(value, losses.dice(outputs, targets), rtol=1e-13)
        np.testing.assert_allclose(slope, ad.grad(losses.dice)(outputs, targets), atol=1e-15)
        assert compiled.stats()["called by NumPy"] == []
        assert losses.dice(np.float32(outputs), targets).dtype == np.float32
    assert np.isfinite(ad.grad(losses.dice)(np.full((1, 3), 1e4, np.float32), np.zeros((1, 3)))).all()
    assert losses.dice(np.full((1, 3), -1e4), np.zeros((1, 3))) == 0.0


def test_labels_that_are_ignored():
    """The mean is that of the others, whatever their weights; their rows have no gradient, even if they are nan."""
    z, labels = R.normal(size=(8, 4)), R.integers(0, 4, 8)
    weight, shares = R.uniform(0.5, 2.0, 4), R.uniform(0.5, 2.0, 8)
    some = np.where(np.arange(8) % 3 == 0, -100, labels)
    kept = some >= 0
    for options in ({}, {"class_weight": weight}, {"label_smoothing": 0.2}, {"class_weight": weight, "base": 2}):
        found = losses.cross_entropy(z, some, ignore_index=-100, **options)
        np.testing.assert_allclose(found, losses.cross_entropy(z[kept], labels[kept], **options), rtol=1e-12)
        found = losses.cross_entropy(z, some, ignore_index=-100, sample_weight=shares, **options)
        wanted = losses.cross_entropy(z[kept], labels[kept], sample_weight=shares[kept], **options)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    every = losses.cross_entropy(z, some, ignore_index=-100, reduction="none")
    np.testing.assert_array_equal(every == 0.0, ~kept)
    gradient = ad.grad(lambda z: losses.cross_entropy(z, some, ignore_index=-100))(z)
    np.testing.assert_array_equal(gradient[~kept], 0.0)
    inner = losses.cross_entropy(z, np.where(kept, labels, 2), ignore_index=2)  # a class of its own
    others = (np.where(kept, labels, 2)) != 2
    np.testing.assert_allclose(inner, losses.cross_entropy(z[others], labels[others]), rtol=1e-12)


@pytest.mark.parametrize("jit", [False, True])
def test_all_labels_ignored(jit):
    """A batch that says nothing: loss and gradient are 0, not nan."""
    step = ad.value_and_grad(lambda z, y: losses.cross_entropy(z, y, ignore_index=-1))
    for _ in range(2):
        value, gradient = (ad.jit(step) if jit else step)(R.normal(size=(3, 4)), np.full(3, -1))
    assert value == 0.0
    np.testing.assert_array_equal(gradient, np.zeros((3, 4)))
