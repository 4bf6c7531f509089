"""First weights keep the variance."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

LAWS = {
    "glorot_uniform": lambda i, o: 2 / (i + o),
    "glorot_normal": lambda i, o: 2 / (i + o),
    "he_uniform": lambda i, o: 2 / i,
    "he_normal": lambda i, o: 2 / i,
    "lecun_uniform": lambda i, o: 1 / i,
    "lecun_normal": lambda i, o: 1 / i,
}


@pytest.mark.parametrize("shape", [(200, 300), (3, 3, 40, 50), (5, 60, 90)])
@pytest.mark.parametrize("name", LAWS)
def test_mean_and_variance(name, shape):
    """Mean 0 and the variance of the law, with the fans of a kernel."""
    w = getattr(nn.init, name)(0, shape)
    k = int(np.prod(shape[:-2]))
    wanted = LAWS[name](k * shape[-2], k * shape[-1])
    assert w.shape == shape
    assert abs(w.mean()) < 5 * np.sqrt(wanted / w.size)
    assert abs(w.var() / wanted - 1) < 0.03


@pytest.mark.parametrize("name", [*LAWS, "orthogonal", "zeros"])
def test_keys_and_dtypes(name):
    """The same key gives the same weights; float32 is float32; a seed is a key."""
    init = getattr(nn.init, name)
    w = init(7, (4, 6), np.float32)
    assert w.dtype == np.float32
    np.testing.assert_array_equal(w, init(ad.random.key(7), (4, 6), np.float32))
    assert name == "zeros" or not np.array_equal(w, init(8, (4, 6), np.float32))


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5), (3, 3, 2, 7)])
def test_orthogonal(shape):
    """The columns, or the rows if there are fewer, are orthonormal."""
    w = nn.init.orthogonal(0, shape).reshape(-1, shape[-1])
    product = w.T @ w if w.shape[0] >= w.shape[1] else w @ w.T
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-12)


@pytest.mark.parametrize(("activation", "init"), [("relu", None), ("tanh", None), ("identity", "lecun_normal")])
def test_deep_networks_keep_their_size(activation, init):
    """After ten layers of width 256 the mean square is neither tiny nor huge."""
    model = nn.MLP([256] * 11, activation, init=init, key=0)
    x = ad.random.normal(ad.random.key(1), (100, 256))
    size = np.mean(model(x) ** 2)
    assert 0.05 < size < 5.0
