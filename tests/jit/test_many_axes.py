"""Arrays with more than 32 axes, which parts of NumPy do not take: jit and its derivatives do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad


def updated(x: Any) -> Any:
    """Assignment to a region, and by a mask."""
    y = x.copy()
    y[..., 0] = 5.0
    y[y < 3.0] *= 2.0
    return y


FUNCTIONS = {
    "elementwise": lambda x: np.sin(x) * 2.0 + 1.0,
    "sum": lambda x: np.sum(x, axis=0),
    "mean": lambda x: np.mean(x * x, axis=(-1, -2)),
    "max": lambda x: np.max(x, axis=-1, keepdims=True),
    "element": lambda x: x[(0,) * (x.ndim - 1)] * 2.0,
    "places": lambda x: x[..., np.array([1, 0, 1])],
    "take": lambda x: np.take(x, [0, 1, 1], axis=-1),
    "mask": lambda x: x[x > 2.0],
    "transpose": lambda x: np.transpose(x) * 1.0,
    "reshape": lambda x: x.reshape(-1) * x.reshape(-1)[::-1],
    "broadcast": lambda x: x + np.ones(2),
    "broadcast_to": lambda x: np.broadcast_to(x[..., :1], x.shape) * x,
    "where": lambda x: np.where(x > 1.0, x, 0.0),
    "concatenate": lambda x: np.concatenate([x, x * 2.0], -1),
    "matmul": lambda x: x @ x,
    "inv": lambda x: np.linalg.inv(x),
    "cumsum": lambda x: np.cumsum(x, -1),
    "branch": lambda x: x * 2.0 if np.all(x > 0) else x,
    "updated": updated,
}


@pytest.mark.parametrize("axes", [33, 64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_axes(name: str, axes: int) -> None:
    """Results and gradients agree with those without jit."""
    f, x = FUNCTIONS[name], np.arange(1.0, 5.0).reshape((1,) * (axes - 2) + (2, 2))

    def total(x: Any) -> Any:
        return np.sum(f(x))

    pairs = [(ad.jit(f), f), (ad.jit(ad.grad(total)), ad.grad(total)), (ad.grad(ad.jit(total)), ad.grad(total))]
    for jitted, plain in pairs:
        for point in (x, x + 0.5):
            got, want = jitted(point), plain(point)
            assert np.shape(got) == np.shape(want)
            assert np.allclose(got, want, rtol=1e-12)
