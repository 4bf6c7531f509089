"""Running models in training: dropout, statistics of batches, keys, layers of one's own."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn


def test_dropout_keeps_the_mean():
    """A share p is 0, the others are divided by 1 - p; outside training nothing happens."""
    x = np.ones((100, 1000))
    for rate in (0.1, 0.5, 0.9):
        y, same = nn.training(nn.Dropout(rate), x, key=3)
        assert abs(np.mean(y == 0) - rate) < 0.005
        np.testing.assert_allclose(y[y != 0], 1 / (1 - rate))
        assert abs(np.mean(y) - 1) < 0.05
        assert nn.Dropout(rate)(x) is x
        assert same.rate == rate


def test_dropout_by_key():
    """The same key drops the same numbers, with jit too; another key drops others; each example has its own."""
    layer, x = nn.Dropout(0.5), np.ones((8, 50))
    run = lambda x, key: nn.training(layer, x, key)[0]  # noqa: E731
    key, other = ad.random.split(ad.random.key(0))
    np.testing.assert_array_equal(run(x, key), run(x, key))
    assert np.mean(run(x, key) != run(x, other)) > 0.3
    compiled = ad.jit(run)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(x, key), run(x, key))
    keys = ad.random.split(key, 8)
    np.testing.assert_array_equal(ad.vmap(run)(x, keys), np.stack([run(a, k) for a, k in zip(x, keys, strict=True)]))


def test_layers_have_keys_of_their_own():
    """Two dropout layers of a model do not drop the same numbers."""
    model = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5))
    y, _ = nn.training(model, np.ones(10_000), key=0)
    assert abs(np.mean(y != 0) - 0.25) < 0.02


def test_batch_norm_by_the_batch():
    """Mean 0 and variance 1 over all axes but the last; running statistics move as written."""
    x = np.random.default_rng(0).normal(3.0, 2.0, size=(40, 5, 2))
    layer = nn.BatchNorm(2, momentum=0.2)
    y, new = nn.training(layer, x)
    np.testing.assert_allclose(y.mean(axis=(0, 1)), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=(0, 1)), 1, rtol=1e-5)
    np.testing.assert_allclose(new.mean, 0.2 * x.mean(axis=(0, 1)))
    np.testing.assert_allclose(new.variance, 0.8 + 0.2 * x.var(axis=(0, 1), ddof=1))
    assert layer.mean.tolist() == [0, 0]


def test_batch_norm_learns_the_statistics():
    """After many batches the running ones are those of the data, and inference normalises by them."""
    random = np.random.default_rng(0)
    layer = nn.BatchNorm(2)
    for _ in range(200):
        _, layer = nn.training(layer, random.normal([1.0, -2.0], [3.0, 0.5], size=(100, 2)))
    np.testing.assert_allclose(layer.mean, [1, -2], atol=0.1)
    np.testing.assert_allclose(layer.variance, [9, 0.25], rtol=0.1)
    x = np.array([[4.0, -1.5]])
    wanted = (x - layer.mean) / np.sqrt(layer.variance + 1e-5)
    np.testing.assert_allclose(layer(x), wanted)
    layer = nn.replace(layer, {"scale": [2.0, 3.0], "shift": [1.0, 0.0]})
    np.testing.assert_allclose(layer(x), wanted * [2, 3] + [1, 0])


def test_statistics_have_no_derivative():
    """New statistics are constants, whatever is done with them."""
    gradient = ad.grad(lambda x: np.sum(nn.training(nn.BatchNorm(2), x)[1].mean))
    np.testing.assert_array_equal(gradient(np.ones((3, 2))), 0)


def test_batch_norm_in_training_has_derivatives():
    """Through the statistics of the batch."""
    x = np.random.default_rng(0).normal(size=(5, 2))
    ad.testing.check_grads(lambda layer, x: nn.training(layer, x)[0], (nn.BatchNorm(2), x), order=2)


def test_models_pass_it_on():
    """Sequences and networks run their layers in training, and return them with new statistics."""
    inner = nn.Sequential(nn.Dense(2, 2, key=0), nn.BatchNorm(2), "relu", nn.Dropout(0.5))
    model = nn.Sequential(inner, nn.MLP([2, 4, 4, 1], norm="batch", dropout=0.5, key=1))
    x = np.random.default_rng(0).normal(size=(6, 2))
    y, new = nn.training(model, x, key=0)
    assert np.any(y != model(x))
    changed = nn.statistics(new)
    assert list(changed) == list(nn.statistics(model))
    assert all([np.any(changed[name] != was) for name, was in nn.statistics(model).items()])
    for name, p in nn.parameters(new).items():
        assert p is nn.parameters(model)[name]


def test_what_needs_a_key():
    """Dropout does, normalisation does not, nor does a rate of 0."""
    assert not nn.is_stochastic(nn.MLP([2, 3, 1], norm="batch", key=0))
    assert not nn.is_stochastic(nn.Sequential(nn.Dropout(0.0)))
    assert nn.is_stochastic(nn.Sequential(nn.Sequential(nn.Dropout(0.1))))
    x = np.ones((4, 2))
    for model in (nn.Dense(2, 3, key=0), nn.MLP([2, 3, 1], key=0), nn.Sequential(nn.Dropout(0.0))):
        y, same = nn.training(model, x)
        np.testing.assert_array_equal(y, model(x))
        assert ad.tree.structure(same) == ad.tree.structure(model)


@dataclasses.dataclass(frozen=True)
class Residual:
    """A layer that forgets about training."""

    inner: Any

    def __call__(self, x):
        return x + self.inner(x)


@dataclasses.dataclass(frozen=True)
class Careful(Residual):
    """A layer that does not."""

    def training(self, x, key):
        y, inner = nn.training(self.inner, x, key)
        return x + y, dataclasses.replace(self, inner=inner)


def test_layers_of_ones_own():
    """One that passes training on works anywhere; one that does not is fine as long as nothing is lost."""
    x = np.ones((4, 2))
    model = nn.Sequential(Careful(nn.Sequential(nn.BatchNorm(2), nn.Dropout(0.5))))
    assert not np.any(
        nn.statistics(nn.training(model, x + np.arange(4)[:, None], key=0)[1])["layers.0.inner.layers.0.mean"] == 0
    )
    plain = Residual(nn.Sequential(nn.Dense(2, 2, key=0), "relu"))
    np.testing.assert_array_equal(nn.training(plain, x)[0], plain(x))


def test_what_would_be_lost_is_refused():
    """Dropout inside a layer that does not pass training on, wherever it is."""
    for model in (Residual(nn.Dropout(0.5)), nn.Sequential(Residual(nn.Dropout(0.5)))):
        with pytest.raises(ad.errors.InputError, match="Residual has no method `training`"):
            nn.training(model, np.ones(2), key=0)
