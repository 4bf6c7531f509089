"""`adjoint.scipy.optimize`: SciPy's solvers with exact derivatives."""

import numpy as np
import pytest
import scipy.optimize as so
from scipy import sparse

import adjoint as ad
import adjoint.scipy.optimize as bridge

START = np.array([-1.2, 1.0, 0.8])
METHODS = (
    "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "trust-ncg", "trust-krylov", "trust-exact",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_minimize(method):
    """Every method arrives, with a call of the function for each step that it looks at."""
    found = bridge.minimize(so.rosen, START, method=method, options={"maxfun": 1000} if method == "TNC" else None)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-2)
    assert isinstance(found, so.OptimizeResult)


def test_fewer_evaluations_than_differences():
    """SciPy's count of evaluations is less by the number of unknowns."""
    exact, differences = bridge.minimize(so.rosen, START), so.minimize(so.rosen, START)
    assert 3 * exact.nfev < differences.nfev


@pytest.mark.parametrize("method", [None, "Nelder-Mead", "trust-constr"])
def test_containers(method):
    """The function takes what x0 is, and the result is in the same containers."""

    def f(p, c):
        return (p["a"] - c) ** 2 + np.sum((p["b"] - p["a"]) ** 2)

    found = bridge.minimize(f, {"a": 0.0, "b": np.zeros(2)}, (2.0,), method)
    np.testing.assert_allclose(found.x["b"], 2.0, atol=1e-3)
    assert found.x["a"].shape == ()


@pytest.mark.parametrize("kind", ["dict", "constraint"])
def test_constraints_get_jacobians(kind):
    """Those that come without."""
    values = lambda p: p["a"] + 2.0 * p["b"]  # noqa: E731
    constraint = {"type": "eq", "fun": values} if kind == "dict" else so.NonlinearConstraint(values, 0.0, 0.0)
    method = "SLSQP" if kind == "dict" else "trust-constr"
    found = bridge.minimize(
        lambda p: (p["a"] - 1.0) ** 2 + p["b"] ** 2, {"a": 0.0, "b": 0.0}, method=method, constraints=[constraint]
    )
    np.testing.assert_allclose([found.x["a"], found.x["b"]], [0.8, -0.4], atol=1e-5)


def test_given_derivatives_are_used():
    """A gradient of the user's own stays, and so do differences that are asked for."""
    calls = []

    def jac(x):
        calls.append(x)
        return 2.0 * x

    bridge.minimize(lambda x: np.sum(x**2), START, jac=jac)
    assert calls
    assert bridge.minimize(lambda x: np.sum(x**2), START, jac="3-point").nfev > 6


def test_a_function_that_counts_runs_without_jit():
    """What a recording would not repeat is done at every call."""
    calls = []

    def f(x):
        calls.append(0)
        return np.sum((x - 1.0) ** 2)

    found = bridge.minimize(f, START)
    assert found.success
    assert len(calls) >= found.nfev


def test_least_squares():
    """A dense Jacobian for few unknowns, further arguments, containers."""
    t = np.linspace(0.0, 1.0, 9)

    def residuals(p, scale, *, shift):
        return scale * p["a"] * np.exp(-p["k"] * t) + shift - 3.0 * np.exp(-2.0 * t)

    found = bridge.least_squares(residuals, {"a": 1.0, "k": 1.0}, args=(2.0,), kwargs={"shift": 0.0})
    np.testing.assert_allclose([found.x["a"], found.x["k"]], [1.5, 2.0], rtol=1e-6)
    assert isinstance(found.jac, np.ndarray)


def test_least_squares_with_a_sparse_jacobian():
    """Found from the function, and passed on as a sparse array."""

    def residuals(x):
        return np.concatenate([x[1:] - x[:-1], x - 1.0])

    found = bridge.least_squares(residuals, np.zeros(150))
    assert sparse.issparse(found.jac)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_root(method):
    """Methods that use the Jacobian and one that does not; containers."""
    found = bridge.root(
        lambda p: {"u": p["u"] ** 2 - 4.0, "v": p["v"] * p["u"] - 1.0}, {"u": 1.0, "v": 1.0}, method=method
    )
    np.testing.assert_allclose([found.x["u"], found.x["v"]], [2.0, 0.5], rtol=1e-4)


def test_inside_a_derivative():
    """They are SciPy's solvers there too."""

    def f(a):
        fitted = bridge.least_squares(lambda p: p["a"] - a**2, {"a": 0.0}).x["a"]
        minimum = bridge.minimize(lambda p: (p["x"] - a) ** 2, {"x": 0.0}).x["x"]
        return fitted + minimum + bridge.root(lambda x: x - a**3, [1.0]).x[0]

    np.testing.assert_allclose(ad.grad(f)(2.0), 4.0 + 1.0 + 12.0, rtol=1e-6)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(2.0), 17.0, rtol=1e-6)
