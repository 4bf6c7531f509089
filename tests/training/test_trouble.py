"""Numbers that are no longer finite: the run ends, says where, and keeps the last good weights."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim

X = np.linspace(-1.0, 1.0, 20)[:, None]


def test_the_loss():
    """A logarithm of what has become negative."""
    model = nn.Function(lambda p, x: p["w"] * x, {"w": np.ones(1)})

    def loss(outputs, targets):
        return np.mean(np.log(0.5 + outputs * targets))

    with pytest.warns(RuntimeWarning, match="Training ended early: the loss was nan in step 5 .epoch 3, examples"):
        fit = ad.train(model, loss, (X, X), optim.sgd(0.8), epochs=20, batch_size=10, progress=False)
    assert fit.stopped.endswith("the weights before that step are kept")
    assert fit.steps == 4
    params = {"params.w": np.ones(1)}
    order = [np.random.default_rng([0, epoch]).permutation(20) for epoch in (0, 1)]
    for rows in (order[0][:10], order[0][10:], order[1][:10], order[1][10:]):
        gradient = ad.grad(lambda w, rows=rows: loss(w * X[rows], X[rows]))(params["params.w"])
        params["params.w"] = params["params.w"] - 0.8 * gradient
    np.testing.assert_allclose(nn.parameters(fit.model)["params.w"], params["params.w"], rtol=1e-12)


def test_a_layer():
    """The first layer whose output is not finite is named."""
    model = nn.Sequential(nn.Dense(1, 4, key=0), lambda x: np.exp(x), nn.Dense(4, 1, key=1))
    with pytest.warns(RuntimeWarning, match=r"the output of layers.1 \(Activation\) was not finite in step"):
        fit = ad.train(model, losses.squared, (X, X), optim.sgd(1e5), epochs=9, progress=False)
    assert all([np.all(np.isfinite(a)) for a in nn.parameters(fit.model).values()])


def test_a_gradient():
    """An infinite slope where the value is finite."""
    model = nn.Function(lambda p, x: np.sqrt(p["w"]) * x, {"w": np.zeros(1)})
    with pytest.warns(RuntimeWarning, match=r"the gradient of params.w was not finite in step 1 \(epoch 1"):
        fit = ad.train(model, losses.squared, (X, X), optim.sgd(0.1), epochs=2, progress=False)
    assert fit.history.epochs == 0
    assert nn.parameters(fit.model)["params.w"] == [0.0]
