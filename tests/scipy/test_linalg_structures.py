"""`scipy.linalg`: assumed structures, factorisations with SciPy's conventions, matrix equations and functions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl

import adjoint as ad

A = np.random.default_rng(0).normal(size=(3, 3))
INVERTED = ("upper triangular", "lower triangular", "sym", "gen")
SOLVED = ("diagonal", "tridiagonal", "banded", "upper triangular", "sym")
FUNCTIONS = {
    "eigh": lambda A: sl.eigh(A @ A.T),
    "eigh upper": lambda A: sl.eigh(A, lower=False),
    "eigh generalised": lambda A: sl.eigh(A + A.T, A @ A.T + np.eye(3)),
    "eigh type 2": lambda A: sl.eigh(A + A.T, A @ A.T + np.eye(3), type=2),
    "eigh type 3": lambda A: sl.eigh(A + A.T, A @ A.T + np.eye(3), type=3),
    "eigh subset": lambda A: sl.eigh(A, subset_by_index=[0, 1]),
    "eigvalsh": sl.eigvalsh,
    "eig": sl.eig,
    "eigvals generalised": lambda A: sl.eigvals(A, np.eye(3) + A @ A.T),
    "svd": sl.svd,
    "svd thin": lambda A: sl.svd(A[:, :2], full_matrices=False),
    "svdvals": sl.svdvals,
    "qr": sl.qr,
    "qr economic": lambda A: sl.qr(A[:, :2], mode="economic"),
    "qr r": lambda A: sl.qr(A[:, :2], mode="r"),
    "pinv": lambda A: sl.pinv(A[:, :2]),
    "lstsq": lambda A: sl.lstsq(A[:, :2], A[:, 2])[:2],
    "inv": sl.inv,
    **{f"inv {kind}": lambda A, kind=kind: sl.inv(A, assume_a=kind) for kind in INVERTED},
    "inv sym lower": lambda A: sl.inv(A, assume_a="sym", lower=True),
    "inv pos": lambda A: sl.inv(A @ A.T, assume_a="pos"),
    **{f"solve {kind}": lambda A, kind=kind: sl.solve(A, A[2] + 1.0, assume_a=kind) for kind in SOLVED},
    "toeplitz": sl.toeplitz,
    "toeplitz batch": lambda A: sl.toeplitz(A, A[:, :2]),
    "hankel": lambda A: sl.hankel(A[0], A[1]),
    "circulant": sl.circulant,
    "sylvester": lambda A: sl.solve_sylvester(A, A @ A.T, A.T),
    "lyapunov": lambda A: sl.solve_continuous_lyapunov(A, A.T),
    "sqrtm": lambda A: sl.sqrtm(A @ A.T),
    "logm": lambda A: sl.logm(A @ A.T + np.eye(3)),
}


def total(found):
    if isinstance(found, tuple):
        return sum(total(x) for x in found)
    return np.sum(np.abs(found) ** 3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_and_derivatives(name):
    """SciPy's value and shapes, slopes by differences, both second orders, jit."""
    f = FUNCTIONS[name]

    def g(A):
        return total(f(A))

    shapes = ad.tree.map(np.shape, f(A))
    assert ad.tree.map(np.shape, ad.vjp(f, A)[0]) == shapes
    value, found = ad.value_and_grad(g)(A)
    np.testing.assert_allclose(value, g(A), rtol=1e-9)
    differences = ad.numerical.grad(g)(A)
    np.testing.assert_allclose(
        found, getattr(differences, "value", differences), rtol=1e-5, atol=1e-5 * np.abs(found).max()
    )
    np.testing.assert_allclose(ad.jit(ad.grad(g))(A), found, rtol=1e-8, atol=1e-9 * np.abs(found).max())
    forward, reverse = ad.hessian(g)(A), ad.jacrev(ad.grad(g))(A)
    np.testing.assert_allclose(reverse, forward, rtol=1e-6, atol=1e-6 * np.abs(forward).max())


def test_toeplitz_of_a_stack():
    """A stack of columns is a stack of matrices, as SciPy has it."""
    c = np.arange(8.0).reshape(2, 4)
    assert ad.vjp(sl.toeplitz, c)[0].shape == sl.toeplitz(c).shape == (2, 4, 4)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
@pytest.mark.parametrize("matrix", [
    np.diag([1e-4, 1e-2, 1.0]), np.eye(3) * 4, 2 * np.eye(3) + np.eye(3, k=1), np.array([[1.0, 2.0], [3.0, 4.0]]),
    np.array([[2.0, 1.0], [1.0, 2.0]]), A @ A.T + 1e-3 * np.eye(3),
], ids=range(6))  # fmt: skip
def test_second_orders_of_matrix_functions_agree(name, matrix):
    """Small, repeated, defective and complex cases: both nestings of second derivatives, and differences."""

    def g(M):
        return np.sum(np.real(getattr(sl, name)(M)) * np.arange(M.size).reshape(M.shape))

    forward, reverse = ad.hessian(g)(matrix), ad.jacrev(ad.grad(g))(matrix)
    np.testing.assert_allclose(reverse, forward, rtol=1e-6, atol=1e-6 * np.abs(forward).max())
    h = 1e-6 * np.abs(matrix).max()
    direction = np.random.default_rng(1).normal(size=matrix.shape) * np.where(matrix == 0, 0.0, 1.0)
    difference = (ad.grad(g)(matrix + h * direction) - ad.grad(g)(matrix - h * direction)) / (2 * h)
    along = np.tensordot(forward, direction, 2)
    if matrix[0, 0] != 1e-4:
        np.testing.assert_allclose(along, difference, rtol=1e-4, atol=1e-4 * np.abs(forward).max())


@pytest.mark.parametrize("call", [
    lambda A: sl.eigh(A, subset_by_value=[0, 1]), lambda A: sl.eig(A, left=True), lambda A: sl.qr(A, mode="raw"),
    lambda A: sl.inv(A, assume_a="diagonal"),
])  # fmt: skip
def test_options_without_derivative(call):
    """Refused by their name."""
    with pytest.raises(ad.errors.UnsupportedError, match=r"scipy\.linalg\.\w+ is not differentiated with"):
        ad.vjp(call, A @ A.T)


ONE_TRIANGLE = {
    "cholesky": sl.cholesky,
    "cholesky lower": lambda A: sl.cholesky(A, lower=True),
    "cho_factor": lambda A: np.triu(sl.cho_factor(A)[0]),
    "cho_factor lower": lambda A: np.tril(sl.cho_factor(A, lower=True)[0]),
    "cho_solve": lambda A: sl.cho_solve(sl.cho_factor(A), np.arange(3.0)),
    "eigvalsh": sl.eigvalsh,
    "eigvalsh upper": lambda A: sl.eigvalsh(A, lower=False),
    "solve": lambda A: sl.solve(A, np.arange(3.0), assume_a="pos"),
}


@pytest.mark.parametrize("name", ONE_TRIANGLE)
@pytest.mark.parametrize("part", [np.zeros_like, np.triu, np.tril], ids=["symmetric", "upper", "lower"])
def test_only_the_triangle_that_is_read_counts(name, part):
    """Along any direction, symmetric or not, at any matrix, the slope is that of SciPy's own function."""
    f = ONE_TRIANGLE[name]
    at, along = A @ A.T + 2.0 * np.eye(3) + 0.1 * part(A), np.random.default_rng(1).normal(size=(3, 3))
    value, slope = ad.jvp(f, (at,), (along,))
    np.testing.assert_allclose(value, f(at), rtol=1e-12)
    np.testing.assert_allclose(slope, (f(at + 1e-6 * along) - f(at - 1e-6 * along)) / 2e-6, rtol=1e-6, atol=1e-8)
    gradient = ad.grad(lambda a: np.sum(f(a) ** 2))(at)
    np.testing.assert_allclose(np.sum(gradient * along), np.sum(2.0 * value * slope), rtol=1e-9)
    assert not np.any(np.tril(gradient, -1)) or not np.any(np.triu(gradient, 1))


def test_one_triangle_keeps_the_precision():
    """Single precision stays what it is."""
    at = (A @ A.T + np.eye(3)).astype(np.float32)
    for f in (sl.cholesky, sl.eigvalsh):
        assert ad.jvp(f, (at,), (at,))[0].dtype == f(at).dtype == np.float32
