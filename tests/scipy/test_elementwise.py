"""`scipy.optimize.elementwise`: many roots and minima, each of one number."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import UnsupportedError

elementwise = pytest.importorskip("scipy.optimize.elementwise")
POINT = np.array([3.0, 4.0, 5.0])


def cubic(x, c):
    """Has one root above 1."""
    return x**3 - 2 * x - c


def valley(x, c):
    """Has its minimum log(c)."""
    return np.exp(x) - c * x


def _bracketed(c):
    found = elementwise.bracket_root(cubic, 0.0, args=(c,))
    return elementwise.find_root(cubic, found.bracket, args=(c,)).x


SLOPE = lambda x, c: 1 / (3 * x**2 - 2)  # noqa: E731
CASES = {
    "roots": (lambda c: elementwise.find_root(cubic, (1.0, 4.0), args=(c,)).x, SLOPE),
    "in a closure": (lambda c: elementwise.find_root(lambda x: cubic(x, c), (1.0, 4.0)).x, SLOPE),
    "bracketed": (_bracketed, SLOPE),
    "minima": (lambda c: elementwise.find_minimum(valley, (-2.0, 1.0, 9.0), args=(c,)).x, lambda x, c: 1 / c),
    "values": (lambda c: elementwise.find_minimum(valley, (-2.0, 1.0, 9.0), args=(c,)).f_x, lambda x, c: -np.log(c)),
}  # fmt: skip


@pytest.mark.parametrize(("solve", "slope"), CASES.values(), ids=CASES)
def test_solutions_move_with_their_equations(solve, slope):
    """By the implicit function theorem, for each element by itself, in all modes; values are those of SciPy."""
    point = POINT[0] if solve is CASES["in a closure"][0] else POINT
    wanted = slope(solve(point), point)
    total = lambda c: np.sum(solve(c))  # noqa: E731
    np.testing.assert_allclose(ad.grad(total)(point), wanted, rtol=1e-6)
    np.testing.assert_allclose(ad.jit(ad.grad(total))(point), wanted, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(total, (point,), (np.ones_like(point)[()],))[1], np.sum(wanted), rtol=1e-6)
    np.testing.assert_allclose(ad.vmap(ad.grad(total))(np.stack([point, point]))[1], wanted, rtol=1e-6)
    np.testing.assert_array_equal(ad.jit(solve)(point), solve(point))


def test_a_bracket_does_not_follow_its_start():
    """Its ends do move with it, so it is refused and no 0."""
    with pytest.raises(UnsupportedError, match="does not differentiate a bracket with respect to xl0"):
        ad.grad(lambda a: elementwise.bracket_root(cubic, a, args=(3.0,)).xl)(0.5)
