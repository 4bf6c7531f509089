"""What the methods with curvature compute: searches, L-BFGS, Newton, least squares, natural gradients."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim
from adjoint.optim.search import Trial, line, strong_wolfe


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("first", [1e-6, 1.0, 1e4])
def test_strong_wolfe_conditions_hold(seed, first):
    """From first lengths that are far too short and far too long."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=4)
    value, gradient = ad.value_and_grad(rosenbrock)(x)
    direction = -gradient * rng.uniform(0.1, 1.0, size=4)
    slope = gradient @ direction
    with np.errstate(all="ignore"):
        found = strong_wolfe(line(rosenbrock, x, direction), Trial(0.0, value, slope, x, gradient), first, 1e-4, 0.9)
    assert found.value <= value + 1e-4 * found.length * slope
    assert abs(ad.grad(rosenbrock)(x + found.length * direction) @ direction) <= 0.9 * abs(slope)


@pytest.mark.parametrize("memory", [1, 3, 10])
def test_the_compact_form_is_the_two_loops(memory):
    """The direction of L-BFGS equals that of the recursion in Nocedal and Wright, algorithm 7.4."""
    optimizer = optim.lbfgs(memory)
    x = np.tile([-1.2, 1.0], 4)
    state, pairs = optimizer.init(x), []
    value, gradient = ad.value_and_grad(rosenbrock)(x)
    for _ in range(15):
        expected = two_loops(gradient, pairs[-memory:])
        step, state = optimizer.update(gradient, state, x, value=value, function=rosenbrock)
        np.testing.assert_allclose(step / np.linalg.norm(step), expected / np.linalg.norm(expected), atol=1e-8)
        x, before = optim.apply(x, step), gradient
        value, gradient = ad.value_and_grad(rosenbrock)(x)
        np.testing.assert_allclose(state["known"][1], gradient)
        pairs.append((step, gradient - before))


def two_loops(gradient, pairs):
    q, shares = gradient.copy(), []
    for s, y in reversed(pairs):
        shares.append((s @ q) / (s @ y))
        q -= shares[-1] * y
    q *= (pairs[-1][0] @ pairs[-1][1]) / (pairs[-1][1] @ pairs[-1][1]) if pairs else 1.0
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (y @ q) / (s @ y)) * s
    return -q


def test_states_are_not_written_to():
    """A state can be used twice: two updates from it give the same."""
    optimizer, x = optim.lbfgs(2), np.array([-1.2, 1.0])
    value, gradient = ad.value_and_grad(rosenbrock)(x)
    _, state = optimizer.update(gradient, optimizer.init(x), x, value=value, function=rosenbrock)
    x = np.array([-1.0, 1.1])
    value, gradient = ad.value_and_grad(rosenbrock)(x)
    one = optimizer.update(gradient, state, x, value=value, function=rosenbrock)
    two = optimizer.update(gradient, state, x, value=value, function=rosenbrock)
    for a, b in zip(ad.tree.leaves(one), ad.tree.leaves(two), strict=True):
        np.testing.assert_array_equal(a, b)


def test_lbfgs_reaches_what_scipy_reaches():
    """On a logistic regression, to the last digits of the minimum."""
    minimize = pytest.importorskip("scipy.optimize").minimize
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(200, 5)), rng.normal(size=5)
    y = np.where(X @ w + rng.normal(size=200) > 0, 1.0, -1.0)

    def loss(w):
        return np.mean(np.logaddexp(0.0, -y * (X @ w))) + 0.01 * np.sum(w**2)

    found = optim.minimize(loss, np.zeros(5), optim.lbfgs(), stop=optim.stop.gradient(1e-9))
    expected = minimize(ad.value_and_grad(loss), np.zeros(5), jac=True, options={"gtol": 1e-9})
    assert found.value == pytest.approx(expected.fun, abs=1e-14)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-7)


def test_newton_takes_one_step_on_a_quadratic():
    """With the Hessian, and with its products."""
    matrix = np.array([[3.0, 1.0], [1.0, 2.0]])
    for dense in (200, 0):
        found = optim.minimize(lambda x: 0.5 * x @ matrix @ x - x[0], np.array([4.0, -3.0]), optim.newton(dense=dense))
        assert found.steps <= 3
        np.testing.assert_allclose(found.x, np.linalg.solve(matrix, [1.0, 0.0]), atol=1e-9)


@pytest.mark.parametrize("dense", [200, 0])
def test_newton_descends_where_the_hessian_is_indefinite(dense):
    """From the hill between two wells, and past a saddle point."""
    optimizer = optim.newton(dense=dense)

    def wells(x):
        return (x[0] ** 2 - 1.0) ** 2 + (x[1] ** 2 - 1.0) ** 2

    start = np.array([0.1, 0.05])
    assert np.all(np.linalg.eigvalsh(ad.hessian(wells)(start)) < 0)
    found = optim.minimize(wells, start, optimizer)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    value, gradient = ad.value_and_grad(wells)(start)
    step, _ = optimizer.update(gradient, optimizer.init(start), start, value=value, function=wells)
    assert optim.is_descent(gradient, step)


def test_exact_is_exact_on_a_quadratic():
    """The slope along the direction is 0 after a step."""
    curvature = np.array([1.0, 10.0, 100.0])

    def f(x):
        return 0.5 * np.sum(curvature * x**2)

    x = np.ones(3)
    value, gradient = ad.value_and_grad(f)(x)
    step, _ = optim.exact().update(gradient, optim.exact().init(x), x, value=value, function=f)
    assert abs(ad.grad(f)(x + step) @ gradient) < 1e-9


def test_directions_that_lead_up_are_replaced():
    """A momentum that points uphill is not followed."""
    x = np.array([1.0, 1.0])
    uphill = optim.Optimizer(lambda params: (), lambda gradient, state, params=None, **context: (gradient, state))
    for search in (optim.armijo, optim.wolfe, optim.exact):
        optimizer = search(uphill)
        step, _ = optimizer.update(2 * x, optimizer.init(x), x, value=2.0, function=lambda x: np.sum(x**2))
        assert optim.is_descent(2 * x, step)


def test_least_squares_is_that_of_scipy():
    """Levenberg-Marquardt and Gauss-Newton on a decay with noise; residuals of any shape, or in a tree."""
    least_squares = pytest.importorskip("scipy.optimize").least_squares
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 3.0, 40)
    y = 2.0 * np.exp(-1.5 * t) + 0.3 + 0.01 * rng.normal(size=40)

    def residuals(p):
        return p[0] * np.exp(-p[1] * t) + p[2] - y

    expected = least_squares(residuals, np.ones(3), xtol=1e-12, ftol=1e-12, gtol=1e-12)
    shapes = (
        residuals,
        lambda p: residuals(p).reshape(4, 10),
        lambda p: {"a": residuals(p)[:15], "b": residuals(p)[15:]},
    )
    for f in shapes:
        for optimizer in (optim.levenberg_marquardt(), optim.gauss_newton()):
            found = optim.minimize(f, np.ones(3), optimizer, stop=optim.stop.gradient(1e-9), max_steps=50)
            assert found.converged
            assert found.value == pytest.approx(expected.cost, rel=1e-10)
            np.testing.assert_allclose(found.x, expected.x, atol=1e-6)


def test_least_squares_without_full_rank():
    """A parameter that does nothing stays where it is; Gauss-Newton takes the shortest step."""
    for optimizer in (optim.levenberg_marquardt(), optim.gauss_newton()):
        found = optim.minimize(lambda p: np.array([p[0] - 1.0, 2.0 * p[0] - 2.0]), np.array([3.0, 5.0]), optimizer)
        np.testing.assert_allclose(found.x, [1.0, 5.0], atol=1e-6)


def test_units_do_not_matter_to_levenberg_marquardt():
    """Parameters in other units take the same way."""
    t = np.linspace(0.0, 3.0, 20)
    y = 2.0 * np.exp(-1.5 * t)

    def residuals(p):
        return p[0] * np.exp(-p[1] * t) - y

    one = optim.minimize(residuals, np.ones(2), optim.levenberg_marquardt())
    two = optim.minimize(lambda p: residuals(p / 1000.0), 1000.0 * np.ones(2), optim.levenberg_marquardt())
    np.testing.assert_allclose(two.values[:4], one.values[:4], rtol=1e-6)


def test_natural_gradient_of_likelihoods():
    """With a rate of 1 it is Newton's step where the likelihood has canonical parameters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    labels, signs, targets = rng.integers(0, 3, 30), rng.integers(0, 2, 30), rng.normal(size=30)

    def categorical(w):
        z = X @ w.reshape(3, 3)
        return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(30), labels])

    def bernoulli(w):
        return np.mean(np.logaddexp(0.0, X @ w) - signs * (X @ w))

    def gaussian(w):
        return 0.5 * np.mean((X @ w - targets) ** 2)

    cases = {
        "gaussian": (gaussian, lambda w: X @ w, 3),
        "bernoulli": (bernoulli, lambda w: X @ w, 3),
        "categorical": (categorical, lambda w: X @ w.reshape(3, 3), 9),
    }
    for likelihood, (loss, model, n) in cases.items():
        w = 0.3 * rng.normal(size=n)
        optimizer = optim.natural_gradient(1.0, model=model, likelihood=likelihood, damping=1e-3)
        gradient, hessian = ad.grad(loss)(w), ad.hessian(loss)(w)
        step, _ = optimizer.update(gradient, optimizer.init(w), w)
        np.testing.assert_allclose(step, -np.linalg.solve(hessian + 1e-3 * np.eye(n), gradient), atol=1e-10)


def test_natural_gradient_of_a_tree():
    """The metric is that of the parameters in the order of `ad.tree.ravel`; the model gets the tree."""
    params = {"b": 1.0, "w": np.array([1.0, 2.0])}
    optimizer = optim.natural_gradient(1.0, metric=lambda p: np.diag([1.0, p["b"] * 2.0, 4.0]), damping=0.0)
    step, _ = optimizer.update({"b": 1.0, "w": np.array([2.0, 4.0])}, optimizer.init(params), params)
    assert step["b"] == -1.0
    np.testing.assert_allclose(step["w"], -1.0)
    x = np.linspace(0.0, 1.0, 5)
    optimizer = optim.natural_gradient(1.0, model=lambda p: p["w"][0] * x + p["w"][1] * x**2 + p["b"], damping=0.0)
    target = 3.0 * x - x**2 + 2.0
    found = optim.minimize(
        lambda p: 0.5 * np.mean((p["w"][0] * x + p["w"][1] * x**2 + p["b"] - target) ** 2), params, optimizer
    )
    assert found.steps <= 2
    np.testing.assert_allclose(found.x["w"], [3.0, -1.0])


def test_objectives_are_functions_of_vectors():
    """With compiled derivatives of a function of a tree, for a driver of one's own."""
    params = {"b": 1.0, "w": np.array([2.0, 3.0])}
    objective = optim.Objective(lambda p, c: p["b"] ** 3 + c * np.sum(p["w"] ** 2), params, args=(2.0,))
    x, v = objective.start, np.ones(3)
    np.testing.assert_allclose(objective(x), 27.0)
    np.testing.assert_allclose(objective.value_and_grad(x)[1], [3.0, 8.0, 12.0])
    np.testing.assert_allclose(objective.hessian(x), np.diag([6.0, 4.0, 4.0]))
    np.testing.assert_allclose(objective.hvp(x, v), [6.0, 4.0, 4.0])
    at, value, _, slope = objective.along(x, v, 0.0)
    np.testing.assert_allclose((value, slope), (27.0, 23.0))
    np.testing.assert_array_equal(at, x)
    optimizer = optim.lbfgs()
    step, _ = optimizer.update(objective.value_and_grad(x)[1], optimizer.init(x), x, value=27.0, function=objective)
    assert step.shape == (3,)
