"""Errors of the user's own in what a solver calls back: raised once, they are met once, whoever records or runs."""

import sys

import numpy as np
import pytest
from scipy import integrate, optimize

import adjoint as ad

W = np.ones(2)


class OnceError(Exception):
    """Raised at one call out of many."""


@pytest.fixture(autouse=True)
def _counted():
    """Where nobody looks: an outage, a timeout."""
    sys.calls_so_far = sys.bad_call = 0
    yield
    del sys.calls_so_far, sys.bad_call


def now_and_then():
    sys.calls_so_far += 1
    if sys.calls_so_far == sys.bad_call:
        raise OnceError


def cube(x, p):
    now_and_then()
    return x**3 - p + 0 * W[0]


def square(x, p):
    now_and_then()
    return np.sum((x - p) ** 2)


SOLVERS = {
    "callback": lambda p: optimize.minimize(lambda x: np.sum((x - p) ** 2), W, callback=lambda *args: now_and_then()).x,
    "minimize": lambda p: optimize.minimize(square, W, args=(p,)).x,
    "brentq": lambda p: optimize.brentq(cube, 0.0, 10.0, args=(p,)),
    "root": lambda p: optimize.root(cube, W, args=(p,)).x,
    "quad": lambda p: integrate.quad(cube, 0.0, 1.0, args=(p,))[0],
    "solve_ivp": lambda p: integrate.solve_ivp(lambda t, y: -cube(y, p), (0, 0.1), W).y[:, -1],
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_it_is_raised(name, calls):
    """In the first call, in the second, and later; the next call is as ever."""
    f = ad.jit(SOLVERS[name])
    for k in range(calls):
        f(2.0 + k)
    sys.calls_so_far, sys.bad_call = 0, 2
    with pytest.raises(OnceError):
        f(3.0)
    assert sys.calls_so_far == 2, "nothing was called once more"
    assert np.allclose(f(3.0), SOLVERS[name](3.0))


def test_it_may_be_caught():
    """By the function, at the solver that raised it; another one is run."""

    def f(p):
        try:
            return optimize.brentq(cube, 0.0, 10.0, args=(p,))
        except OnceError:
            return optimize.brentq(cube, 0.0, 10.0, args=(p + 1.0,))

    g = ad.jit(f)
    g(2.0)
    sys.calls_so_far, sys.bad_call = 0, 2
    assert np.isclose(g(3.0), 4.0 ** (1 / 3))
    assert np.isclose(g(3.0), 3.0 ** (1 / 3))
    assert np.isclose(g(7.0), 7.0 ** (1 / 3))
