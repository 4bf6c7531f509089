"""The algorithm IGD, written out in an example, gives the weights of `ad.train` with batches of one example."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import adjoint as ad
from adjoint import data, losses, nn, optim

SQUARED = lambda delta: np.sum(delta**2)  # noqa: E731
CROSS_ENTROPY = lambda delta: -np.log(1.0 - np.max(delta))  # noqa: E731  (c - y is positive for the true class only)


def weights(sizes: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(0.0, (a + 1) ** -0.5, (b, a + 1)) for a, b in pairwise(sizes)]


def examples(features: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.normal(size=(30, features)), data.one_hot(rng.integers(0, classes, 30), classes)


def test_example(run, tmp_path):
    """The example finds the same weights, and classifies its half moons."""
    result, comparison, page = run("igd", "--plot")
    assert result == "12,000 steps of one example: 100.0% of the examples are classified correctly"
    assert comparison.endswith("the same to the last bit")
    assert page.endswith((tmp_path / "igd.html").as_uri())


@pytest.mark.parametrize("sizes", [[3, 2], [2, 4, 2], [2, 8, 8, 3], [4, 5, 7, 6, 2]])
@pytest.mark.parametrize(
    ("loss", "regularizer", "lam"),
    [(SQUARED, losses.l2(1.0), 0.0), (SQUARED, losses.l1(1.0), 0.3), (CROSS_ENTROPY, losses.l2(1.0), 0.1)],
    ids=["squared", "squared-l1", "cross-entropy-l2"],
)
def test_same_bits(example, sizes, loss, regularizer, lam):
    """Any depth, loss, regulariser and lambda: the weights are equal, bit for bit."""
    igd = example("igd")
    X, C = examples(sizes[0], sizes[-1])
    W, n = weights(sizes), len(X)
    by_hand = igd["igd"](list(zip(X, C, strict=True)), W, 0.05, loss, regularizer, lam, lambda D, y, t: t == 5)
    fit = ad.train(
        nn.Function(igd["network"], W),
        lambda y, c: loss(c - y),
        (X, C),
        optim.sgd(0.05),
        regularizer=lambda W: lam / n * regularizer(W),
        epochs=5,
        batch_size=1,
        shuffle=False,
        progress=False,
    )
    assert fit.steps == 150
    for mine, its, before in zip(by_hand, fit.model.params, W, strict=True):
        assert np.array_equal(mine, its)
        assert not np.array_equal(mine, before)


def test_layers_of_the_library(example):
    """`nn.Dense` adds its bias after the product, so sums are rounded otherwise: 2e-16 apart after 150 steps."""
    igd = example("igd")
    X, C = examples(2, 3)
    W = weights([2, 6, 5, 3])
    by_hand = igd["igd"](list(zip(X, C, strict=True)), W, 0.05, SQUARED, losses.l2(1.0), 0.1, lambda D, y, t: t == 5)
    dense = [nn.replace(nn.Dense(w.shape[1] - 1, len(w), key=0), {"weight": w[:, 1:].T, "bias": w[:, 0]}) for w in W]
    model = nn.Sequential(dense[0], "tanh", dense[1], "relu", dense[2], nn.softmax)
    fit = ad.train(
        model,
        lambda y, c: SQUARED(c - y),
        (X, C),
        optim.sgd(0.05),
        regularizer=losses.l2(0.1 / len(X)),
        epochs=5,
        batch_size=1,
        shuffle=False,
        progress=False,
    )
    for k, mine in zip((0, 2, 4), by_hand, strict=True):
        layer = fit.model.layers[k]
        np.testing.assert_allclose(np.hstack([layer.bias[:, None], layer.weight.T]), mine, rtol=0, atol=1e-14)


def test_goes_down_until_converged(example):
    """Each epoch makes the sum of the losses smaller; it ends when the rule says so."""
    igd = example("igd")
    X, C = examples(2, 2)
    seen: list[float] = []

    def converged(D, y, t):
        seen.append(sum([float(np.sum((c - y(x)) ** 2)) for x, c in D]))
        return t == 8

    igd["igd"](list(zip(X, C, strict=True)), weights([2, 5, 2]), 0.02, SQUARED, losses.l2(1.0), 0.0, converged)
    assert len(seen) == 8
    assert seen == sorted(seen, reverse=True)
