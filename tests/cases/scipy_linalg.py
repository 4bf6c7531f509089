"""SciPy's linear algebra."""

import numpy as np
import scipy.linalg

from adjoint.testing.laws import Case

rng = np.random.default_rng(3)

SQUARE = rng.normal(size=(4, 4))

SMALL = rng.normal(size=(3, 3))

STACK = rng.normal(size=(2, 3, 3))

VECTOR = rng.normal(size=4)

SKEW = np.array([[0.0, 0.3, 0.0], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]])

TALL = rng.normal(size=(5, 3))

EYE = np.eye(3)

SHIFT = np.array([0.0, 0.0, 5.0, 0.0])[:, None]

HALF = np.array([0.0, 5.0])[:, None]

linalg = scipy.linalg


def banded(ab):
    """The diagonals without the corner that belongs to nothing, which SciPy leaves as it was."""
    return ab[1], ab[0, 1:]


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
    *both("lu", lambda a: linalg.lu(a)[1:], SQUARE),
    *both("lu permuted", lambda a: linalg.lu(a, permute_l=True), TALL),
    Case("lu wide", lambda a: linalg.lu(a, p_indices=True)[1:], (TALL.T,)),
    *both("lu_solve", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), SQUARE, VECTOR),
    *both("lu_solve T", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1), SQUARE, TALL[:4]),
    *both("lu_solve C", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=2), SQUARE, VECTOR),
    *both("solve_banded", lambda a, b: linalg.solve_banded((1, 2), a + SHIFT, b), SQUARE, VECTOR),
    *both("solve_banded of columns", lambda a, b: linalg.solve_banded((2, 1), a + SHIFT[::-1], b), SQUARE, TALL[:4]),
    Case("solveh_banded", lambda a, b: linalg.solveh_banded(a + HALF, b), (SQUARE[:2], VECTOR)),
    Case("solveh_banded lower", lambda a, b: linalg.solveh_banded(a + HALF[::-1], b, lower=True), (SQUARE[:2], VECTOR)),
    Case("cholesky_banded", lambda a: banded(linalg.cholesky_banded(a + HALF)), (SQUARE[:2],)),
    *[
        Case(
            f"cho_solve_banded {lower}",
            lambda a, b, lower=lower: linalg.cho_solve_banded(
                (linalg.cholesky_banded(a + (HALF[::-1] if lower else HALF), lower=lower), lower), b
            ),
            (SQUARE[:2], VECTOR),
        )
        for lower in (False, True)
    ],
    Case("eig_banded", lambda a: linalg.eig_banded(a + HALF), (SQUARE[:2],)),
    Case("eigvals_banded", lambda a: linalg.eigvals_banded(a, select="i", select_range=(1, 2)), (SQUARE[:2],)),
    Case("eigh_tridiagonal", lambda d, e: linalg.eigh_tridiagonal(d, e), (VECTOR, SQUARE[0, :3])),
    Case("eigvalsh_tridiagonal", lambda d, e: linalg.eigvalsh_tridiagonal(d, e), (VECTOR, SQUARE[0, :3])),
    *both("solve_toeplitz", lambda c, b: linalg.solve_toeplitz(c + 3 * np.eye(4)[0], b), VECTOR, SQUARE[0]),
    *both("matmul_toeplitz", lambda c, r, x: linalg.matmul_toeplitz((c, r), x), VECTOR, SQUARE[1], SQUARE[0]),
    *both("solve_circulant", lambda c, b: linalg.solve_circulant(c + 3 * np.eye(4)[0], b), VECTOR, SQUARE[0]),
    Case("qr pivoting", lambda a: linalg.qr(a, mode="economic", pivoting=True)[:2], (TALL,)),
    Case("rq", lambda a: linalg.rq(a), (SQUARE,)),
    Case("qr_multiply", lambda a, c: linalg.qr_multiply(a, c), (TALL, SQUARE[:, [0, 1, 2, 3, 0]])),
    Case("schur", lambda a: linalg.schur(np.triu(a) + 0.01 * a + np.diag([1.0, 4.0, 9.0])), (SMALL,)),
    Case("matrix_balance", lambda a: linalg.matrix_balance(a * np.array([1.0, 500.0, 1.0, 1.0]))[0], (SQUARE,)),
    Case("solve_discrete_lyapunov", lambda a, q: linalg.solve_discrete_lyapunov(a / 5, q), (SMALL, STACK[0])),
    Case("solve_continuous_are", lambda a, b: linalg.solve_continuous_are(a, b, EYE, EYE), (SMALL, STACK[0])),
    Case("solve_discrete_are", lambda a, b: linalg.solve_discrete_are(a, b, EYE, EYE), (SMALL, STACK[0])),
    Case("expm_frechet", lambda a, e: linalg.expm_frechet(a, e), (SMALL, STACK[0])),
    *[Case(n, getattr(linalg, n), (SMALL / 2,)) for n in ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")],
    Case("signm", lambda a: linalg.signm(a + np.diag([-5.0, 4.0, 9.0])), (SMALL,)),
    Case("fractional_matrix_power", lambda a, t: linalg.fractional_matrix_power(positive(a), t), (SMALL, 0.3)),
    Case("funm", lambda a: linalg.funm(positive(a), np.sin), (SMALL,)),
    Case("polar", lambda a: linalg.polar(a), (SMALL,)),
    Case("polar left", lambda a: linalg.polar(a, side="left"), (SMALL,)),
    Case("orth", lambda a: linalg.orth(a), (TALL,)),
    Case("subspace_angles", lambda a, b: linalg.subspace_angles(a, b), (TALL, TALL[:, :2] ** 2)),
    Case("orthogonal_procrustes", lambda a, b: linalg.orthogonal_procrustes(a, b), (SMALL, STACK[0])),
    Case("pinvh", lambda a: linalg.pinvh(positive(a)), (SMALL,)),
    *[Case(f"norm {o}", lambda a, o=o: linalg.norm(a, o), (SQUARE,)) for o in (None, 1, np.inf, "nuc", 2)],
    Case("companion", lambda a: linalg.companion(a), (VECTOR,)),
    Case("leslie", lambda a: linalg.leslie(a, a[1:]), (VECTOR,)),
    Case("fiedler", lambda a: linalg.fiedler(a), (VECTOR,)),
    Case("fiedler_companion", lambda a: linalg.fiedler_companion(a), (VECTOR,)),
    Case("convolution_matrix", lambda a: linalg.convolution_matrix(a, 3, "same"), (VECTOR,)),
    Case("khatri_rao", lambda a, b: linalg.khatri_rao(a, b), (SMALL, STACK[0])),
    Case("diagsvd", lambda s: linalg.diagsvd(s, 4, 5), (VECTOR,)),
    Case("clarkson_woodruff_transform", lambda a: linalg.clarkson_woodruff_transform(a, 3, rng=0), (TALL,)),
]
