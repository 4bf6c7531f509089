"""scipy.linalg: the laws over a table of cases, and closed-form answers."""

import numpy as np
import pytest
import scipy.linalg

import adjoint as ad
from adjoint.testing.laws import LAWS, Case

rng = np.random.default_rng(3)
SQUARE = rng.normal(size=(4, 4))
SMALL = rng.normal(size=(3, 3))
STACK = rng.normal(size=(2, 3, 3))
VECTOR = rng.normal(size=4)
SKEW = np.array([[0.0, 0.3, 0.0], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]])
linalg = scipy.linalg


def positive(x):
    return x @ np.conjugate(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


def in_complex(x):
    return x + 1j * rng.normal(size=x.shape)


def both(name, function, *args):
    """The case with real and with complex arguments."""
    return [Case(name, function, args), Case(f"{name} complex", function, tuple([in_complex(a) for a in args]))]


CASES = [
    *both("expm", lambda a: linalg.expm(a), SMALL),
    *both("expm stack", lambda a: linalg.expm(a), STACK),
    *both("logm", lambda a: linalg.logm(positive(a) + SKEW), SMALL),
    *both("sqrtm", lambda a: linalg.sqrtm(positive(a) + SKEW), SMALL),
    *both("solve", lambda a, b: linalg.solve(a, b), SQUARE, VECTOR),
    Case("solve transposed", lambda a, b: linalg.solve(a, b, transposed=True), (SQUARE, VECTOR)),
    *both("solve positive", lambda a, b: linalg.solve(positive(a), b, assume_a="pos"), SQUARE, VECTOR),
    *both("solve hermitian", lambda a, b: linalg.solve(positive(a), b, lower=True, assume_a="her"), SQUARE, VECTOR),
    *both("solve symmetric", lambda a, b: linalg.solve(a + a.T, b, assume_a="sym"), SQUARE, VECTOR),
    *both("inv", lambda a: linalg.inv(a), SQUARE),
    *both("det", lambda a: linalg.det(a), SQUARE),
    *both("cholesky", lambda a: linalg.cholesky(positive(a)), SQUARE),
    *both("cholesky lower", lambda a: linalg.cholesky(positive(a), lower=True), SQUARE),
    *both("cho_solve", lambda a, b: linalg.cho_solve(linalg.cho_factor(positive(a)), b), SQUARE, VECTOR),
    *both("cho_solve lower", lambda a, b: linalg.cho_solve(linalg.cho_factor(positive(a), True), b), SQUARE, VECTOR),
    *both("solve_triangular", lambda a, b: linalg.solve_triangular(a, b), SQUARE, VECTOR),
    *both("solve_triangular T", lambda a, b: linalg.solve_triangular(a, b, trans=1, lower=True), SQUARE, VECTOR),
    *both("solve_triangular C", lambda a, b: linalg.solve_triangular(a, b, trans="C", lower=True), SQUARE, VECTOR),
    *both("solve_triangular unit", lambda a, b: linalg.solve_triangular(a, b, unit_diagonal=True), SQUARE, SQUARE),
    *both("block_diag", lambda a, b: linalg.block_diag(a, b, 2 * a[:2]), SQUARE, VECTOR),
    *both("toeplitz", lambda c: linalg.toeplitz(c), VECTOR),
    *both("toeplitz of two", lambda c, r: linalg.toeplitz(c, r), VECTOR, rng.normal(size=3)),
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_law(case, law):
    """Every function obeys the laws, real and complex, in both precisions."""
    LAWS[law](case)


def test_expm_of_zero_and_of_repeated_eigenvalues():
    """At 0 the derivative of the exponential is the identity; at c I it is exp(c) times that, off the diagonal too."""
    weights = rng.normal(size=(3, 3))
    for c in (0.0, 1.0):
        found = ad.grad(lambda a: np.sum(weights * linalg.expm(a)))(c * np.eye(3))
        np.testing.assert_allclose(found, np.exp(c) * weights, rtol=1e-12)


def test_logm_undoes_expm():
    """The Jacobian of logm(expm(a)) is the identity."""
    found = ad.jacobian(lambda a: linalg.logm(linalg.expm(a)))(0.3 * SMALL)
    np.testing.assert_allclose(found.reshape(9, 9), np.eye(9), atol=1e-10)


def test_direction_of_any_size():
    """The derivative is linear in a direction that is much larger or smaller than the matrix."""
    one = ad.jvp(linalg.expm, (SMALL,), (STACK[0],))[1]
    for size in (1e-200, 1e-8, 1e8, 1e200):
        found = ad.jvp(linalg.expm, (SMALL,), (size * STACK[0],))[1]
        np.testing.assert_allclose(found / size, one, rtol=1e-12)


def test_third_derivative_of_expm():
    """Along A itself the derivatives of t -> exp(t A) are A^k exp(A)."""

    def along(t):
        return linalg.expm(t * SMALL)

    third = ad.jvp(lambda t: ad.jvp(lambda t: ad.jvp(along, (t,), (1.0,))[1], (t,), (1.0,))[1], (1.0,), (1.0,))[1]
    np.testing.assert_allclose(third, np.linalg.matrix_power(SMALL, 3) @ scipy.linalg.expm(SMALL), rtol=1e-10)


def test_frames_can_be_looked_at() -> None:
    """Who prints a traceback with variables, or stops in a debugger, reads those of SciPy's functions too."""
    with pytest.raises(np.linalg.LinAlgError) as caught:
        ad.jit(lambda a: scipy.linalg.solve_triangular(a, np.ones(2)))(np.zeros((2, 2)))
    assert all([isinstance(dict(entry.frame.f_locals), dict) for entry in caught.traceback])
