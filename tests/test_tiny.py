"""The two-second test, for before every commit: one look at each transformation."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.5, -1.2, 2.0])


def scalar(x):
    c = x**2 + np.exp(x**2)
    return np.sqrt(c) + np.cos(c)


def chain(x):
    return np.sum(np.tanh(np.sin(x) * np.exp(-x * x)) + np.log(1.0 + x * x))


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def central(f, x, step=1e-6):
    """The gradient by central differences."""
    x = np.asarray(x, float)
    moves = np.eye(x.size).reshape(x.size, *x.shape) * step
    return np.array([(f(x + m) - f(x - m)) / (2 * step) for m in moves]).reshape(x.shape)


def test_grad_of_a_number_is_a_number():
    """A Python float in, a Python float out."""
    value, slope = ad.value_and_grad(scalar)(1.3)
    assert type(value) is float
    assert type(slope) is float
    assert slope == pytest.approx(-9.144885, abs=1e-6)


@pytest.mark.parametrize("f", [chain, rosenbrock])
def test_grad_agrees_with_differences(f):
    """The gradient of array code is what central differences estimate."""
    value, g = ad.value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    np.testing.assert_allclose(g, central(f, X), rtol=1e-6, atol=1e-6)


def test_containers_and_broadcasting():
    """Gradients come back in the containers of the arguments, with the arguments' shapes."""
    A = np.arange(6.0).reshape(2, 3)

    def loss(p):
        z = np.tanh(A @ p["w"] + p["b"])
        return np.log(np.sum(np.exp(z - np.max(z)))) + np.max(z)

    p = {"w": np.linspace(-1, 1, 12).reshape(3, 4), "b": np.linspace(0, 1, 4)}
    g = ad.grad(loss)(p)
    np.testing.assert_allclose(g["w"], central(lambda w: loss({**p, "w": w}), p["w"]), atol=1e-7)
    np.testing.assert_allclose(g["b"], central(lambda b: loss({**p, "b": b}), p["b"]), atol=1e-7)


def test_forward_and_reverse_agree():
    """<g, J t> equals <J* g, t>."""
    t, g = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.7, -1.1])

    def f(x):
        return np.sin(x) * x[::-1]

    _, moved = ad.jvp(f, (X,), (t,))
    _, pullback = ad.vjp(f, X)
    assert g @ moved == pytest.approx(pullback(g)[0] @ t)


def test_vmap_is_a_loop():
    """Mapping over a batch gives what a loop gives."""
    xs = np.stack([X, X + 1, X - 1])
    np.testing.assert_allclose(ad.vmap(ad.grad(chain))(xs), [ad.grad(chain)(x) for x in xs])


def test_hessian_and_nesting():
    """Second derivatives by nesting, and nested gradients that do not see each other."""
    np.testing.assert_allclose(ad.hessian(rosenbrock)(X), ad.jacobian(ad.grad(rosenbrock))(X))
    assert ad.grad(ad.grad(lambda x: x**3))(2.0) == 12.0
    assert ad.grad(lambda x: x * ad.grad(lambda y: x * y)(1.0))(3.0) == 6.0


def test_assignment():
    """Arrays are filled in place, and views write through."""

    def f(x):
        y = np.zeros(3)
        y[0] = x[0] * x[1]
        y[1:] = x[1:] ** 2
        part = y[1:]
        part *= 2.0
        return np.sum(y)

    np.testing.assert_allclose(ad.grad(f)(X), central(f, X), atol=1e-7)


def test_constants_may_change_after_use():
    """A plain array that is changed after it was used does not change the gradient."""

    def f(x):
        c = np.asarray([1.0, 2.0, 3.0])
        total = np.sum(x * c)
        total = total + np.sum(c @ x)
        c *= 100.0
        return total

    np.testing.assert_allclose(ad.grad(f)(X), [2.0, 4.0, 6.0])


def test_structural_zeros():
    """What was not selected contributes nothing, not even 0 * inf; a norm at 0 has slope 0."""
    at = np.array([0.0, 4.0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0)))(at), [0.0, 0.25])
    np.testing.assert_allclose(ad.grad(lambda x: np.sqrt(np.sum(x**2)))(np.zeros(2)), [0.0, 0.0])
    assert ad.grad(np.sqrt)(0.0) == np.inf
    with np.errstate(divide="ignore"):
        assert ad.grad(lambda x: np.exp(np.log(x)))(0.0) == 1.0
