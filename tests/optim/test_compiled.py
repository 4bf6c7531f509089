"""Optimisers under jit and in the carry of scan: the same numbers, the same types, one recording."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim

OPTIMIZERS = {
    "sgd": optim.sgd(0.01),
    "nesterov": optim.sgd(optim.schedule.cosine(0.01, steps=20), 0.9, True),
    "adam": optim.adam(optim.schedule.one_cycle(0.1, steps=30)),
    "adamw": optim.adamw(0.1, only="w"),
    "lion": optim.lion(0.1, weight_decay=0.1),
    "adagrad": optim.adagrad(optim.schedule.warmup(0.1, steps=5)),
    "rmsprop": optim.rmsprop(optim.schedule.step(0.1, every=5), momentum=0.5, centered=True),
    "subgradient": optim.subgradient(0.1, normalize=True),
    "chain": optim.chain(
        optim.clip(1.0),
        optim.clip_by_norm(1.0),
        optim.weight_decay(0.1),
        optim.sgd(0.1),
        optim.scale(optim.schedule.diminishing(1.0)),
    ),
}


def advancing(optimizer):
    def loss(p):
        return np.sum(p["w"] ** 2 * np.array([1, 3, 9], p["w"].dtype)) + p["b"] ** 4

    def advance(carry, _=None):
        params, state = carry
        value, gradient = ad.value_and_grad(loss)(params)
        step, state = optimizer.update(gradient, state, params, value=value)
        return (optim.apply(params, step), state), value

    return advance


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_same_numbers_and_types(name, dtype):
    """Eager, jitted, scanned, and scanned under jit; float32 stays float32, and the state keeps its types."""
    optimizer = OPTIMIZERS[name]
    advance = advancing(optimizer)
    params = {"w": np.ones(3, dtype), "b": dtype(2.0)}
    start = (params, optimizer.init(params))
    jitted, eager, compiled = ad.jit(advance), start, start
    for _ in range(6):
        eager, compiled = advance(eager)[0], jitted(compiled)[0]
    scanned = ad.scan(advance, start, length=6)[0]
    both = ad.jit(lambda carry: ad.scan(advance, carry, length=6))(start)[0]
    assert "recordings       1" in str(jitted.stats())
    for other in (compiled, scanned, both):
        assert ad.tree.structure(other) == ad.tree.structure(eager) == ad.tree.structure(start)
        for path, first, x, y in zip(ad.tree.paths(eager), *map(ad.tree.leaves, (start, eager, other)), strict=True):
            assert x.dtype == y.dtype == first.dtype, path
            assert x.dtype in (dtype, np.int64) or path.endswith("best_value")
            np.testing.assert_allclose(y, x, rtol=1e-5 if dtype is np.float32 else 1e-12)


def test_the_result_is_differentiated_with_respect_to_the_rate():
    """A rate may be traced: three steps of gradient descent on w^2 give w (1 - 2 rate)^3."""

    def trained(rate):
        optimizer, w = optim.sgd(rate), 1.0
        state = optimizer.init(w)
        for _ in range(3):
            step, state = optimizer.update(2.0 * w, state, w)
            w = optim.apply(w, step)
        return w

    assert ad.grad(trained)(0.1) == pytest.approx(3 * 0.8**2 * -2)


@pytest.mark.slow
@pytest.mark.parametrize("make", [optim.lbfgs, optim.newton, optim.armijo, optim.wolfe, optim.exact])
def test_searches_under_jit(make):
    """Those that look at the function branch on values: jit records the paths, the numbers are the same."""
    optimizer = make()

    def f(x):
        return np.sum(np.cosh(x) * np.array([1.0, 2.0, 3.0]))

    def advance(x, state):
        value, gradient = ad.value_and_grad(f)(x)
        step, state = optimizer.update(gradient, state, x, value=value, function=f)
        return optim.apply(x, step), state

    x = y = np.array([1.0, -0.5, 0.3])
    state, other, jitted = optimizer.init(x), optimizer.init(x), ad.jit(advance)
    for _ in range(4):
        x, state = advance(x, state)
        y, other = jitted(y, other)
        np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-12)
