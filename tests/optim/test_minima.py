"""Every optimiser reaches the minimum of a quadratic function and of Rosenbrock's, with sensible settings."""

from __future__ import annotations

import numpy as np
import pytest

from adjoint import optim

CURVATURE = np.array([1.0, 4.0, 9.0])


def quadratic(x):
    return 0.5 * np.sum(CURVATURE * (x - 1.0) ** 2)


def rosenbrock(x):
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def quadratic_residuals(x):
    return np.sqrt(CURVATURE) * (x - 1.0)


def rosenbrock_residuals(x):
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def rosenbrock_metric(x):
    """That of its residuals, J'J for |r|^2 = 2 f / 2."""
    return 2.0 * np.array([[400.0 * x[0] ** 2 + 1.0, -200.0 * x[0]], [-200.0 * x[0], 100.0]])


FIRST_ORDER = {
    # name: on the quadratic, on Rosenbrock's, steps there
    "sgd": (optim.sgd(0.1), optim.sgd(1e-3), 20_000),
    "momentum": (optim.sgd(0.05, momentum=0.5), optim.sgd(1e-3, momentum=0.9), 4000),
    "nesterov": (optim.sgd(0.05, momentum=0.5, nesterov=True), optim.sgd(1e-3, momentum=0.9, nesterov=True), 4000),
    "adagrad": (optim.adagrad(0.5), optim.adagrad(0.5), 10_000),
    "rmsprop": (
        optim.rmsprop(optim.schedule.cosine(0.05, steps=1000)),
        optim.rmsprop(optim.schedule.cosine(0.01, steps=5000)),
        5000,
    ),
    "adam": (optim.adam(0.1), optim.adam(0.05), 3000),
    "adamw": (optim.adamw(0.1, weight_decay=0.0), optim.adamw(0.05, weight_decay=1e-9), 3000),
    "lion": (
        optim.lion(optim.schedule.cosine(0.05, steps=1000)),
        optim.lion(optim.schedule.cosine(0.01, steps=5000)),
        5000,
    ),
    "subgradient": (optim.subgradient(0.2), optim.subgradient(0.1, normalize=True), 20_000),
    "clipped": (
        optim.chain(optim.clip_by_norm(1.0), optim.sgd(0.1)),
        optim.chain(optim.clip_by_norm(10.0), optim.sgd(1e-3, 0.9)),
        4000,
    ),
}
SEARCHING = {
    "armijo": (optim.armijo(), optim.armijo(), 20_000),
    "armijo along momentum": (optim.armijo(optim.sgd(0.1, 0.9)), optim.armijo(optim.sgd(1e-3, 0.9)), 20_000),
    "wolfe": (optim.wolfe(), optim.wolfe(), 20_000),
    "exact": (optim.exact(), optim.exact(), 20_000),
    "lbfgs": (optim.lbfgs(), optim.lbfgs(), 60),
    "lbfgs(1)": (optim.lbfgs(1), optim.lbfgs(1), 200),
    "newton": (optim.newton(), optim.newton(), 40),
    "newton by products": (optim.newton(dense=0), optim.newton(dense=0), 60),
    "natural gradient": (
        optim.natural_gradient(1.0, metric=lambda x: np.diag(CURVATURE), damping=0.0),
        optim.natural_gradient(0.5, metric=rosenbrock_metric, damping=0.0),
        100,
    ),
}
SQUARES = {
    "gauss_newton": (optim.gauss_newton(), 30),
    "levenberg_marquardt": (optim.levenberg_marquardt(), 40),
}
START = np.array([-1.2, 1.0])


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_first_order_on_a_quadratic(name):
    """In a thousand steps."""
    found = optim.minimize(quadratic, np.zeros(3), FIRST_ORDER[name][0], max_steps=1000)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-2)
    assert found.value == found.values[-1] or name == "subgradient"


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_first_order_on_rosenbrock(name):
    """To two digits of its minimum at (1, 1)."""
    _, optimizer, steps = FIRST_ORDER[name]
    found = optim.minimize(rosenbrock, START, optimizer, max_steps=steps)
    np.testing.assert_allclose(found.x, 1.0, atol=0.05)


@pytest.mark.parametrize("name", SEARCHING)
def test_searches_on_a_quadratic(name):
    """To the default bound of the gradient."""
    found = optim.minimize(quadratic, np.zeros(3), SEARCHING[name][0], max_steps=1000)
    assert found.converged
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


@pytest.mark.parametrize("name", SEARCHING)
def test_searches_on_rosenbrock(name):
    """To the default bound of the gradient."""
    _, optimizer, steps = SEARCHING[name]
    found = optim.minimize(rosenbrock, START, optimizer, max_steps=steps)
    assert found.converged, found
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


@pytest.mark.parametrize("name", SQUARES)
def test_least_squares(name):
    """Residuals of the same two functions; the value is half the sum of squares."""
    optimizer, steps = SQUARES[name]
    found = optim.minimize(quadratic_residuals, np.zeros(3), optimizer)
    assert found.converged
    assert found.steps <= 10
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    found = optim.minimize(rosenbrock_residuals, START, optimizer, max_steps=steps)
    assert found.converged
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    np.testing.assert_allclose(found.values[0], 0.5 * rosenbrock(START))


@pytest.mark.parametrize("name", ["lbfgs", "newton", "wolfe", "armijo", "newton by products"])
def test_searches_descend(name):
    """The values never grow."""
    found = optim.minimize(rosenbrock, START, SEARCHING[name][1], max_steps=200)
    assert np.all(np.diff(found.values) <= 1e-15)
