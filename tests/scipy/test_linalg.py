"""scipy.linalg: the laws over a table of cases, and closed-form answers."""

import numpy as np
import pytest
import scipy.linalg

import adjoint as ad
from adjoint.testing.laws import LAWS
from tests.cases.scipy_linalg import CASES, SMALL, STACK, linalg, rng


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_law(case, law):
    """Every function obeys the laws, real and complex, in both precisions."""
    LAWS[law](case)


RECORDED = (
    "lu", "lu_solve", "solve_banded", "solveh_banded", "cho_solve_banded True", "eigh_tridiagonal", "solve_toeplitz",
    "qr pivoting", "schur", "solve_discrete_lyapunov", "solve_continuous_are", "signm", "polar", "subspace_angles",
)  # fmt: skip


@pytest.mark.parametrize("case", [c for c in CASES if c.name in RECORDED], ids=lambda case: case.name)
def test_recordings(case):
    """Recorded, the value and the gradient are the same, at other points too."""

    def total(*args):
        found = case.function(*args)
        return sum([np.sum(x**3) for x in (found if isinstance(found, tuple) else (found,))])

    numbers = tuple(range(len(case.args)))
    value, gradient = ad.jit(total), ad.jit(ad.grad(total, numbers))
    for scale in (1.0, 1.01):
        args = tuple([a * scale for a in case.args])
        np.testing.assert_allclose(value(*args), total(*args), rtol=1e-10, atol=1e-10)
        for got, want in zip(gradient(*args), ad.grad(total, numbers)(*args), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


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
