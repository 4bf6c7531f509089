"""numpy.linalg: the laws over a table of cases, and the points where derivatives are hard."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import NotDifferentiableError, UnsupportedError
from adjoint.testing.laws import LAWS
from tests.cases.linalg import CASES, SQUARE, STACK, TALL, hermitian, in_complex, linalg, positive, rng

WEIGHTS = rng.normal(size=(3, 3))
TURN = linalg.qr(rng.normal(size=(3, 3)))[0]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_law(case, law):
    """Every function obeys the laws, real and complex, in both precisions."""
    LAWS[law](case)


def sloped(function, a):
    """The gradient by central differences along Hermitian directions."""
    found = np.zeros_like(a)
    for i, j in np.ndindex(*a.shape):
        step = np.zeros_like(a)
        step[i, j] = 5e-6
        found[i, j] = (function(a + step) - function(a - step)) / 1e-5
    return found


def is_nan(x):
    return bool(np.all(np.isnan(x)))


# Determinants at singular matrices.


def test_det_at_rank_one_less():
    """The gradient is the matrix of cofactors."""
    a = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(ad.grad(linalg.det)(a), [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]], atol=1e-13)
    np.testing.assert_allclose(ad.jacfwd(linalg.det)(a), [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]], atol=1e-13)
    np.testing.assert_allclose(ad.grad(linalg.det)(np.diag([0.0, -2.0, 3.0])), np.diag([-6.0, 0.0, 0.0]), atol=1e-14)


def test_det_at_complex_singular_matrix():
    """The gradient is the conjugate of the cofactors: the direction in which the real part grows."""
    a = np.array([[1.0, 1j], [1j, -1.0]])
    want = np.conjugate(np.array([[-1.0, -1j], [-1j, 1.0]]))
    np.testing.assert_allclose(ad.grad(lambda x: np.real(linalg.det(x)))(a), want, atol=1e-14)


def test_det_at_rank_two_less():
    """All cofactors are zero; the second derivatives are the entries of the other 1 x 1 minors."""
    np.testing.assert_allclose(ad.grad(linalg.det)(np.ones((3, 3))), np.zeros((3, 3)), atol=1e-14)
    second = ad.hessian(linalg.det)(np.diag([5.0, 0.0, 0.0]))
    assert second[1, 1, 2, 2] == pytest.approx(5.0)
    assert second[1, 2, 2, 1] == pytest.approx(-5.0)
    assert second[0, 0, 1, 1] == pytest.approx(0.0)


def test_det_third_derivative_at_zero():
    """det is a polynomial: at 0 its third derivatives are the signs of permutations."""
    third = ad.jacfwd(ad.jacfwd(ad.jacrev(linalg.det)))(np.zeros((3, 3)))
    assert third[0, 0, 1, 1, 2, 2] == pytest.approx(1.0)
    assert third[0, 1, 1, 0, 2, 2] == pytest.approx(-1.0)


def test_det_in_stack_with_singular_matrix():
    """A singular matrix in a stack does not spoil the others."""
    stack = np.stack([np.diag([1.0, 0.0]), np.diag([2.0, 3.0])])
    want = np.stack([np.diag([0.0, 1.0]), np.diag([3.0, 2.0])])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(linalg.det(x)))(stack), want, atol=1e-15)


def test_slogdet_at_singular_matrix():
    """log|det| has no derivative where it is minus infinity; the others of the stack keep theirs."""
    stack = np.stack([np.diag([1.0, 0.0]), np.diag([2.0, 4.0])])
    found = ad.grad(lambda x: np.sum(linalg.slogdet(x)[1]))(stack)
    assert is_nan(found[0])
    np.testing.assert_allclose(found[1], np.diag([0.5, 0.25]))


# Repeated eigenvalues.


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_symmetric_functions_of_repeated_eigenvalues(dtype):
    """sum(w**2) has the gradient 2 A, in both modes, at the identity and at a turned matrix with twins."""
    for a in (np.eye(3), TURN @ np.diag([1.0, 1.0, 5.0]) @ TURN.T):
        a = a.astype(dtype)
        tolerance = 2e-5 if dtype == np.float32 else 1e-13
        for function in (lambda x: np.sum(linalg.eigh(x)[0] ** 2), lambda x: np.sum(np.real(linalg.eigvals(x) ** 2))):
            np.testing.assert_allclose(ad.grad(function)(a), 2 * a, atol=tolerance)
            t = hermitian(WEIGHTS).astype(dtype)
            want = 2 * np.sum(a * t).real
            assert ad.jvp(function, (a,), (t,))[1] == pytest.approx(want, abs=50 * tolerance)


def test_one_of_repeated_eigenvalues_has_no_gradient():
    """A single one of twins is not differentiable: nan, not a number that depends on LAPACK's choice."""
    assert is_nan(ad.grad(lambda x: linalg.eigvalsh(x)[0])(np.eye(3)))
    assert is_nan(ad.grad(lambda x: linalg.eigvalsh(x)[0])(TURN @ np.diag([1.0, 1.0, 5.0]) @ TURN.T))
    found = ad.grad(lambda x: linalg.eigvalsh(x)[2])(np.diag([1.0, 1.0, 5.0]))
    np.testing.assert_allclose(found, np.diag([0.0, 0.0, 1.0]), atol=1e-15)


def test_repeated_eigenvalues_move_one_sidedly_in_forward_mode():
    """Along a direction, twins part as the eigenvalues of the perturbation."""
    moved = ad.jvp(linalg.eigvalsh, (np.eye(3),), (np.ones((3, 3)),))[1]
    np.testing.assert_allclose(moved, [0.0, 0.0, 3.0], atol=1e-14)


def test_vectors_of_other_eigenvalues():
    """Twins do not disturb what depends on the other eigenvectors, or on the twins' plane."""
    a = TURN @ np.diag([1.0, 1.0, 5.0]) @ TURN.T

    def line(x):
        v = linalg.eigh(x)[1][:, 2]
        return np.sum(WEIGHTS * np.outer(v, v))

    def plane(x):
        v = linalg.eigh(x)[1][:, :2]
        return np.sum(WEIGHTS * (v @ v.T))

    want = hermitian(sloped(lambda x: line(hermitian(x)), a))
    np.testing.assert_allclose(ad.grad(line)(a), want, atol=1e-8)
    np.testing.assert_allclose(ad.grad(plane)(a), -want, atol=1e-8)
    assert ad.jvp(line, (a,), (WEIGHTS,))[1] == pytest.approx(np.sum(want * WEIGHTS), rel=1e-7)


@pytest.mark.parametrize("function", [np.exp, np.log, np.sqrt], ids=lambda f: f.__name__)
def test_spectral_function_at_repeated_eigenvalues_is_never_wrong(function):
    """V f(w) V^T at twins: what the vectors hand back does not determine the gradient, so it is nan."""

    def spectral(x):
        w, v = linalg.eigh(x)
        return np.sum((v * function(w)) @ v.T)

    assert is_nan(ad.grad(spectral)(np.eye(3)))
    assert np.isnan(ad.jvp(spectral, (np.eye(3),), (np.ones((3, 3)),))[1])
    apart = TURN @ np.diag([1.0, 1.01, 5.0]) @ TURN.T
    want = hermitian(sloped(lambda x: spectral(hermitian(x)), apart))
    np.testing.assert_allclose(ad.grad(spectral)(apart), want, atol=1e-7)


def test_vectors_of_repeated_eigenvalues_have_no_derivative():
    """An element of a twin's eigenvector: nan in both modes."""
    for routine in (linalg.eigh, linalg.eig):
        # np.real: from NumPy 2.5 on, eig gives complex vectors of real matrices too
        assert is_nan(ad.grad(lambda x, r=routine: np.real(r(x)[1][0, 0] ** 3 + r(x)[1][1, 0]))(np.eye(3)))
        moved = ad.jvp(lambda x, routine=routine: routine(x)[1][0, 0], (np.eye(3),), (WEIGHTS + WEIGHTS.T,))[1]
        assert np.isnan(moved)


def test_second_derivatives_at_repeated_eigenvalues_are_never_wrong():
    """Of sum(w**2) at the identity: the derivative of 2 A where it is found, else nan."""
    found = ad.hessian(lambda x: np.sum(linalg.eigvalsh(x) ** 2))(np.eye(2))
    want = np.zeros((2, 2, 2, 2))
    want[0, 0, 0, 0] = want[1, 1, 1, 1] = 2.0
    want[0, 1] = want[1, 0] = [[0.0, 1.0], [1.0, 0.0]]
    known = ~np.isnan(found)
    np.testing.assert_allclose(found[known], want[known], atol=1e-14)
    assert known[0, 0, 0, 0]


def test_defective_matrix_has_no_derivative():
    """Without a basis of eigenvectors the rule cannot be used, and says so."""
    assert is_nan(ad.grad(lambda x: np.sum(np.real(linalg.eigvals(x))))(np.array([[1.0, 1.0], [0.0, 1.0]])))


# Repeated and zero singular values.


def test_norms_by_repeated_singular_values():
    """Symmetric functions of singular values at an orthogonal matrix and at one of lower rank."""
    np.testing.assert_allclose(ad.grad(lambda x: linalg.norm(x, "nuc"))(TURN), TURN, atol=1e-14)
    np.testing.assert_allclose(ad.grad(lambda x: linalg.norm(x, 2))(TURN), TURN / 3, atol=1e-14)
    np.testing.assert_allclose(ad.grad(lambda x: linalg.norm(x, -2))(TURN), TURN / 3, atol=1e-14)
    lower = np.diag([1.0, 2.0, 0.0])
    np.testing.assert_allclose(ad.grad(lambda x: linalg.norm(x, "nuc"))(lower), np.diag([1.0, 1.0, 0.0]), atol=1e-15)
    for gradient in (ad.jacrev, ad.jacfwd):
        found = gradient(lambda x: np.sum(linalg.svdvals(x) ** 2))(lower)
        np.testing.assert_allclose(found, 2 * lower, atol=1e-14)


def test_polar_factor_at_repeated_singular_values():
    """U V^T is smooth where all singular values are equal; the tangent at Q is its antisymmetric part."""

    def polar(x):
        u, _, vh = linalg.svd(x)
        return np.sum(WEIGHTS * (u @ vh))

    inner = TURN.T @ WEIGHTS
    want = TURN @ ((inner - inner.T) / 2)
    np.testing.assert_allclose(ad.grad(polar)(TURN), want, atol=1e-13)
    assert is_nan(ad.grad(polar)(np.diag([1.0, 2.0, 0.0])))


def test_product_of_factors_is_never_wrong():
    """U S V^T is A itself: the gradient is the weights, or nan where singular values are equal or zero."""

    def product(x):
        u, s, vh = linalg.svd(x)
        return np.sum(WEIGHTS * ((u * s) @ vh))

    np.testing.assert_allclose(ad.grad(product)(STACK[0]), WEIGHTS, atol=1e-13)
    for a in (TURN, np.diag([1.0, 2.0, 0.0]), np.zeros((3, 3))):
        assert is_nan(ad.grad(product)(a))
        assert np.isnan(ad.jvp(product, (a,), (WEIGHTS,))[1])


def test_full_singular_vectors():
    """The columns that complete a basis: their plane has a derivative, one of them has none."""
    weights = rng.normal(size=(5, 5))

    def plane(x):
        u = linalg.svd(x)[0][:, 3:]
        return np.sum(weights * (u @ u.T))

    def thin(x):
        u, _, _ = linalg.svd(x)
        return np.sum(u[:, :3] * TALL)

    for function in (plane, thin):
        np.testing.assert_allclose(ad.grad(function)(TALL), sloped(function, TALL), atol=1e-7)
    assert is_nan(ad.grad(lambda x: linalg.svd(x)[0][0, 4])(TALL))
    assert np.isnan(ad.jvp(lambda x: linalg.svd(x)[0][0, 4], (TALL,), (TALL**2,))[1])
    assert is_nan(ad.grad(lambda x: linalg.qr(x, "complete")[0][0, 4])(TALL))


def test_second_derivatives_at_zero_singular_values_are_never_wrong():
    """Of sum(s**2), whose Hessian is 2 I: at a matrix of lower rank nan where it is not found."""
    for second in (ad.hessian, lambda f: ad.jacrev(ad.jacrev(f))):
        found = second(lambda x: np.sum(linalg.svdvals(x) ** 2))(np.diag([1.0, 0.0]))
        want = 2 * np.eye(4).reshape(2, 2, 2, 2)
        known = ~np.isnan(found)
        np.testing.assert_allclose(found[known], want[known], atol=1e-12)


# Dependent columns, norms at 0, small and empty matrices.


def test_qr_of_dependent_columns():
    """Q is not determined: nan."""
    assert is_nan(ad.grad(lambda x: np.sum(linalg.qr(x)[1]))(np.ones((3, 3))))


def test_least_squares_of_lower_rank():
    """Refused with respect to the matrix, right with respect to the right-hand side."""
    with pytest.raises(NotDifferentiableError, match="does not have full rank"):
        ad.grad(lambda a: np.sum(linalg.lstsq(a, np.ones(3))[0]))(np.ones((3, 3)))
    found = ad.grad(lambda b: np.sum(linalg.lstsq(np.ones((3, 3)), b)[0]))(np.ones(3))
    np.testing.assert_allclose(found, np.full(3, 1 / 3))
    x, residuals, rank, s = ad.vjp(lambda a: linalg.lstsq(a, np.ones(5)), TALL)[0]
    for got, want in zip((x, residuals, rank, s), linalg.lstsq(TALL, np.ones(5)), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-13)


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, 2.5, 0.5, -1, -2, np.inf, -np.inf])
def test_vector_norms_at_zero(order):
    """The subgradient at 0 is 0."""
    np.testing.assert_array_equal(ad.grad(lambda x: linalg.norm(x, order))(np.zeros(3)), np.zeros(3))
    assert ad.jvp(lambda x: linalg.norm(x, order), (np.zeros(3),), (np.ones(3),))[1] == 0.0


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms_at_zero(order):
    """The subgradient at 0 is 0."""
    np.testing.assert_array_equal(ad.grad(lambda x: linalg.norm(x, order))(np.zeros((2, 3))), np.zeros((2, 3)))


@pytest.mark.parametrize("order", [None, 1, 2, 3, 1.5, np.inf])
def test_vector_norms_with_a_zero_element(order):
    """A zero element has slope 0."""
    np.testing.assert_allclose(ad.grad(lambda x: linalg.norm(x, order))(np.array([-3.0, 0.0])), [-1.0, 0.0])


def test_one_by_one():
    """For 1 x 1 matrices the gradients are those of the numbers."""
    slopes = {
        "det": (linalg.det, 1.0),
        "inv": (linalg.inv, -0.0625),
        "eigvalsh": (linalg.eigvalsh, 1.0),
        "svdvals": (linalg.svdvals, 1.0),
        "cholesky": (linalg.cholesky, 0.25),
        "slogdet": (lambda a: linalg.slogdet(a)[1], 0.25),
        "qr": (lambda a: -linalg.qr(a)[1], 1.0),
        "pinv": (linalg.pinv, -0.0625),
        "cond": (linalg.cond, 0.0),
    }
    for name, (function, slope) in slopes.items():
        found = ad.grad(lambda a, f=function: np.sum(np.abs(f(a))))(np.array([[4.0]]))
        assert abs(found[0, 0]) == pytest.approx(abs(slope)), name


def test_empty_matrices():
    """Nothing in, nothing out."""
    empty = np.zeros((0, 0))
    for function in (linalg.det, linalg.inv, linalg.eigvalsh, linalg.svdvals, lambda a: linalg.qr(a)[0]):
        assert ad.grad(lambda a, f=function: np.sum(f(a)))(empty).shape == (0, 0)


def test_hermitian_convention():
    """What reads one triangle is differentiated for Hermitian perturbations: gradients are Hermitian."""
    a = positive(STACK[0])
    for function in (linalg.cholesky, linalg.eigvalsh, lambda x: linalg.eigh(x, "U")[1]):
        found = ad.grad(lambda x, f=function: np.sum(f(x) ** 3))(a)
        np.testing.assert_allclose(found, found.T, atol=1e-13)


def test_phases_are_those_of_lapack():
    """Complex eigenvectors have a derivative one by one: LAPACK fixes their phases by making an element real."""
    a = hermitian(in_complex(STACK[0]))
    t = hermitian(in_complex(STACK[1]))
    moved = ad.jvp(lambda x: linalg.eigh(x)[1], (a,), (t,))[1]
    assert np.max(np.abs(moved[0].imag)) < 1e-14
    want = (linalg.eigh(a + 1e-6 * t)[1] - linalg.eigh(a - 1e-6 * t)[1]) / 2e-6
    np.testing.assert_allclose(moved, want, atol=1e-8)


def test_constants():
    """matrix_rank and the zeroth power do not move."""
    np.testing.assert_array_equal(
        ad.grad(lambda x: np.sum(linalg.matrix_power(x, 0)) * 1.0)(STACK), np.zeros((2, 3, 3))
    )
    found = ad.grad(lambda x: linalg.matrix_rank(x) * np.sum(x))(SQUARE)
    np.testing.assert_array_equal(found, np.full((4, 4), 4.0))
    with pytest.raises(UnsupportedError, match="mode='raw'"):
        ad.grad(lambda x: np.sum(linalg.qr(x, "raw")[0]))(SQUARE)


def test_results_are_named_tuples():
    """As NumPy's: eigenvalues, eigenvectors, U, S, Vh, Q, R, sign, logabsdet."""

    def named(x):
        h = hermitian(x)
        total = linalg.eigh(h).eigenvalues[0] + linalg.svd(x).S[0] + linalg.qr(x).R[0, 0]
        return total + linalg.slogdet(x).logabsdet + np.real(linalg.eig(x).eigenvalues[0])

    assert np.all(np.isfinite(ad.grad(named)(SQUARE)))
