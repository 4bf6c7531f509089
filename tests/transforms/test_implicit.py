"""`ad.implicit`: iterations of one's own, with derivatives from the equation."""

import numpy as np
import pytest

import adjoint as ad
from adjoint import errors

A = np.array([[4.0, 1.0, 0.5], [0.3, 3.0, 1.0], [0.2, 0.1, 5.0]])
B = np.array([1.0, -2.0, 0.5])


def heron(f, x0):
    """A solver that looks at nothing but values."""
    for _ in range(60):
        slope = (f(x0 + 1e-7) - f(x0 - 1e-7)) / 2e-7
        x0 = x0 - f(x0) / slope
    return x0


def dense(matvec, b):
    """A linear solver that makes the matrix."""
    return np.linalg.solve(np.stack([matvec(e) for e in np.eye(len(b))], 1), b)


SQRT = {
    "root": lambda a: ad.implicit.root(lambda x: x * x - a, 1.0),
    "root args": lambda a: ad.implicit.root(lambda x, a: x * x - a, 1.0, a),
    "root solver": lambda a: ad.implicit.root(lambda x: x * x - a, 1.0, solver=heron),
    "root containers": lambda a: ad.implicit.root(
        lambda p: {"u": p["u"] ** 2 - a * np.ones(2), "v": p["v"] - np.sum(p["u"]) / 2.0}, {"u": np.ones(2), "v": 1.0}
    )["v"],
    "fixed point": lambda a: ad.implicit.fixed_point(lambda x: 0.5 * (x + a / x), 1.0),
    "argmin": lambda a: ad.implicit.argmin(lambda x: x**3 / 3.0 - a * x, 1.0),
    "argmin containers": lambda a: ad.implicit.argmin(
        lambda p: (p["x"] ** 2 - a) ** 2 + p["y"] ** 2, {"x": 1.0, "y": 1.0}
    )["x"],
    "argmin optim": lambda a: ad.implicit.argmin(
        lambda x: np.sum(x**3 / 3.0 - a * x), np.ones(2), solver=lambda f, x0: ad.optim.minimize(f, x0).x
    )[0],
    "linear": lambda a: ad.implicit.linear_solve(lambda x: np.sqrt(a) * x, a),
    "products": lambda a: ad.implicit.root(
        lambda x: x * x - a, np.ones(2), linear_solver=dense
    )[1],
}  # fmt: skip


@pytest.mark.parametrize("f", SQRT.values(), ids=SQRT.keys())
def test_square_roots(f):
    """Value, both modes, second order, batch, program."""
    a, other = 2.0, 2.9
    slope, curvature = 0.5 / np.sqrt(a), -0.25 * a**-1.5
    np.testing.assert_allclose(ad.value_and_grad(f)(a), (np.sqrt(a), slope), rtol=1e-5)
    np.testing.assert_allclose(ad.jvp(f, (a,), (1.0,)), (np.sqrt(a), slope), rtol=1e-5)
    np.testing.assert_allclose(ad.grad(ad.grad(f))(a), curvature, rtol=1e-5)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(np.array([a, other])), 0.5 / np.sqrt([a, other]), rtol=1e-5)
    compiled = ad.jit(ad.grad(f))
    np.testing.assert_allclose([compiled(a), compiled(other)], 0.5 / np.sqrt([a, other]), rtol=1e-5)


@pytest.mark.parametrize("symmetric", [False, True])
def test_linear_solve_is_that_of_numpy(symmetric):
    """With respect to the right-hand side, and to what the product closes over."""
    matrix = A + A.T if symmetric else A

    def ours(s, b):
        return ad.implicit.linear_solve(lambda x, s: (s * matrix) @ x, b, s, symmetric=symmetric)

    def numpys(s, b):
        return np.linalg.solve(s * matrix, b)

    for k in (0, 1):
        found, wanted = [ad.jacobian(f, argnums=k)(1.7, B) for f in (ours, numpys)]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    second = [ad.hessian(lambda s: np.sum(f(s, B)))(1.7) for f in (ours, numpys)]
    np.testing.assert_allclose(second[0], second[1], rtol=1e-8)


def test_linear_solve_by_a_solver_of_ones_own():
    """The transposed equation is given to the same solver."""
    found = ad.grad(lambda b: np.sum(ad.implicit.linear_solve(lambda x: A @ x, b, solver=dense)))(B)
    np.testing.assert_allclose(found, np.linalg.solve(A.T, np.ones(3)), rtol=1e-12)


def test_solvers_may_collect():
    """What a solver or a function appends to a list is there after the call."""
    seen = []

    def solver(f, x0):
        seen.append(x0)
        return heron(f, x0)

    ad.grad(lambda a: ad.implicit.root(lambda x: x * x - a, 1.0, solver=solver))(2.0)
    assert seen == [1.0]


def test_plain_calls():
    """Outside derivatives these are solvers."""
    assert ad.implicit.root(lambda x: x - 2.0, 1.0) == 2.0
    np.testing.assert_allclose(ad.implicit.linear_solve(lambda x: A @ x, B), np.linalg.solve(A, B), rtol=1e-10)


def test_what_does_not_converge_is_refused():
    """There is no root, no fixed point, no minimum."""
    for solve in (
        lambda a: ad.implicit.root(lambda x: x * x + a, 1.0),
        lambda a: ad.implicit.fixed_point(lambda x: 2.0 * x + a, 1.0),
        lambda a: ad.implicit.argmin(lambda x: a * x, 1.0),
    ):
        with pytest.raises(errors.UnsupportedError, match="did not converge"):
            ad.grad(solve)(1.5)


def test_a_solver_that_does_not_arrive_is_refused():
    """Where a derivative is asked for."""
    f = lambda a: ad.implicit.root(lambda x: x * x - a, 1.0, solver=lambda f, x0: 1.2)  # noqa: E731
    assert ad.jit(f)(2.0) == 1.2
    with pytest.raises(errors.NotDifferentiableError, match="did not arrive"):
        ad.grad(f)(2.0)


def test_wrong_input():
    """Messages say what is wanted."""
    with pytest.raises(errors.OutputError, match="as many numbers"):
        ad.implicit.root(lambda x: np.array([1.0, 2.0]) * x, 1.0)
    with pytest.raises(errors.OutputError, match="one number"):
        ad.implicit.argmin(lambda x: np.ones(2) * x, 1.0)
    with pytest.raises(errors.InputError, match="root needs x0, a number, an array"):
        ad.implicit.root(lambda x: x, "a")
    with pytest.raises(errors.InputError):
        ad.implicit.root(3.0, 1.0)
