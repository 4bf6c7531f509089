"""NumPy's products, convolutions, sums over indices, calculus and polynomials."""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

RNG = np.random.default_rng(7)

X = np.array([0.31, -1.27, 0.84, 2.13, -0.46])

P = np.abs(X) + 0.5

A = RNG.normal(size=(3, 4))

B = RNG.normal(size=(4, 2))

C = RNG.normal(size=(2, 3, 4))

D = RNG.normal(size=(4, 4)) + 2 * np.eye(4)

T = RNG.normal(size=(3, 3, 3))

Z = A + 1j * RNG.normal(size=(3, 4))

W = B + 1j * RNG.normal(size=(4, 2))

V = X + 1j * RNG.normal(size=5)

PRODUCTS = [
    ("linalg.matmul", np.linalg.matmul, A, B),
    ("linalg.tensordot", lambda a, b: np.linalg.tensordot(a, b, axes=1), A, B),
    ("dot, matrices", np.dot, A, B),
    ("dot, higher ranks", np.dot, C, RNG.normal(size=(5, 4, 2))),
    ("dot, vector first", np.dot, A[0], RNG.normal(size=(5, 4, 2))),
    ("dot, vector last", np.dot, C, A[0]),
    ("dot, number", np.dot, 2.0, A),
    ("dot, complex", np.dot, Z, W),
    ("inner", np.inner, A, C),
    ("inner, complex", np.inner, V, V[::-1].copy()),
    ("outer", np.outer, A, X),
    ("vdot", np.vdot, A, A[::-1].copy()),
    ("vdot, complex", np.vdot, Z, Z[::-1].copy()),
    ("vecdot", np.vecdot, V, V[::-1].copy()),
    ("vecdot, axis", lambda a, b: np.vecdot(a, b, axis=0), Z, Z[:, ::-1].copy()),
    ("vecdot, keepdims", lambda a, b: np.vecdot(a, b, keepdims=True), A, A + 1),
    ("matvec", np.matvec, C, A[0]),
    ("vecmat", np.vecmat, Z[:, 0].copy(), Z),
    ("matmul, axes", lambda a, b: np.matmul(a, b, axes=[(1, 0), (-2, -1), (-1, -2)]), A.T.copy(), B),
    ("matmul, complex", np.matmul, Z, W),
    ("tensordot", np.tensordot, C, RNG.normal(size=(3, 4, 2))),
    ("tensordot, axes", lambda a, b: np.tensordot(a, b, ([0, 2], [1, 0])), C, RNG.normal(size=(4, 2, 5))),
    ("tensordot, nothing summed", lambda a, b: np.tensordot(a, b, 0), A, X),
    ("kron", np.kron, A, B),
    ("kron, ranks", np.kron, X, A),
    ("cross", np.cross, A[:, :3].copy(), T[0]),
    ("cross, axis", lambda a, b: np.cross(a, b, axis=0), A, A[:, ::-1] + 0.5),
    ("cov", np.cov, A),
    ("cov, two", np.cov, X, P),
    ("cov, weights", lambda a, w: np.cov(a, fweights=[1, 2, 1, 3], aweights=w), A, P[:4].copy()),
    ("cov, columns", lambda a: np.cov(a, rowvar=False, bias=True), A),
    ("cov, complex", np.cov, Z),
    ("corrcoef", np.corrcoef, A),
    ("corrcoef, complex", np.corrcoef, Z),
]

CONVOLUTIONS = [
    (f"{name} {mode} {m} {n}", lambda a, b, f=function, k=mode: f(a, b, k), V[:m].copy(), Z.ravel()[:n].copy())
    for name, function in (("convolve", np.convolve), ("correlate", np.correlate))
    for mode in ("full", "same", "valid")
    for m, n in ((5, 3), (3, 5), (4, 2), (2, 4), (2, 5), (3, 3))
]

EINSUMS = [
    (f"einsum {subscripts}{optimize}", lambda *o, s=subscripts, k=optimize: np.einsum(s, *o, optimize=k), *operands)
    for optimize in (False, True)
    for subscripts, *operands in (
        ("ij,jk", A, B),
        ("ij,jk->ki", Z, W),
        ("ij->", A),
        ("ba", A),
        ("ii", D),
        ("ii->i", D),
        ("iij->j", T),
        ("iii->i", T),
        ("ii,ij->j", D, D[::-1] + 1),
        ("...j,jk->...k", C, B),
        ("i...->...", C),
        ("a...b,b...->a...", C, A.T.copy()),
        ("...,...", A, A[0] + 1),
        ("ij,ij->i", A, A[::-1] + 1),
        ("ij,ij", A[:1].copy(), A),
        ("ij,k->i", A, X),
        ("bij,bjk->bik", C, np.swapaxes(C, 1, 2) + 1),
        ("ij,jk,kl->il", A, B, B[:3].T.copy()),
        ("ij,ij,ij->j", A, A + 1, A * 2),
        ("i,i,j,j->", X, P, X, P),
        ("i,->i", X, 2.0),
    )
] + [
    ("einsum, lists", lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), A, B),
    ("einsum, lists with ellipsis", lambda a, b: np.einsum(a, [0, ...], b, [0, ...]), A, A + 1),
]

GRID = np.array([0.0, 0.3, 1.0, 1.2])

CALCULUS = [
    ("diff", np.diff, A),
    ("diff, twice with ends", lambda a, b: np.diff(a, 2, 0, prepend=b, append=1.0), A, 2.0),
    ("ediff1d", lambda a: np.ediff1d(a, to_begin=[0, 1], to_end=9), A),
    ("gradient", np.gradient, A),
    ("gradient, two points", np.gradient, X[:2].copy()),
    ("gradient, spacing", lambda a, h: np.gradient(a, h, axis=1, edge_order=2), A, 0.3),
    ("gradient, grid", lambda a, x: np.gradient(a, x, axis=1), A, GRID),
    ("gradient, edges", lambda a, x: np.gradient(a, 2.0, x, edge_order=2), A, GRID),
    ("trapezoid", np.trapezoid, A),
    ("trapezoid, grid", lambda y, x: np.trapezoid(y, x), A, GRID),
    ("trapezoid, grids", lambda y, x: np.trapezoid(y, x, axis=0), A, np.cumsum(np.abs(A), 0)),
    ("trapezoid, spacing", lambda y, h: np.trapezoid(y, dx=h, axis=0), A, 0.3),
    ("interp", np.interp, np.array([[-0.5, 0.4], [1.1, 3.5]]), GRID, A[0].copy()),
    ("interp, ends", lambda x, f: np.interp(x, GRID, f, left=-7.0, right=8.0), X, A[0].copy()),
    ("interp, period", lambda x, g, f: np.interp(x, g, f, period=1.7), X, GRID + 0.17, A[0].copy()),
    ("interp, complex", np.interp, 0.7, GRID, Z[0].copy()),
    ("cumulative_sum", lambda a: np.cumulative_sum(a, axis=1, include_initial=True), A),
    ("cumulative_prod", lambda a: np.cumulative_prod(a, axis=0, include_initial=True), A),
    ("cumprod", np.cumprod, A),
    ("cumprod, axis", lambda a: np.cumprod(a, -1), A),
    ("sinc", np.sinc, A),
    ("i0", np.i0, A),
    ("unwrap", lambda a: np.unwrap(a, axis=0), 5 * A),
    ("angle", np.angle, Z),
    ("angle, degrees", lambda z: np.angle(z, deg=True), Z),
    ("real_if_close", lambda z: np.real_if_close(z.real + 1e-20j * z.imag), Z),
    ("round", lambda a: a * np.round(a, 1), np.array([0.33, 1.27])),
    ("fix", lambda a: a * np.fix(a), A),
    ("emath.logn", lambda n, x: np.emath.logn(n + 1, x), P, P),
    ("emath.power", np.emath.power, P, X),
    *[(f"emath.{f.__name__}", f, P) for f in (np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10)],
    *[(f"emath.{f.__name__}", f, 0.5 * np.sin(A)) for f in (np.emath.arccos, np.emath.arcsin, np.emath.arctanh)],
]

POLYNOMIALS = [
    ("polyval", np.polyval, X, A),
    ("poly", np.poly, X),
    ("polyadd", np.polyadd, X, A[0].copy()),
    ("polysub", np.polysub, A[0].copy(), X),
    ("polymul", np.polymul, X, A[0].copy()),
    ("polydiv", np.polydiv, X, A[0, :3] + 3),
    ("polyder", lambda p: np.polyder(p, 2), X),
    ("polyder, no order", lambda p: np.polyder(p * p, -0.5), X),
    ("polyint, no order", lambda p: np.polyint(p * p, 0.5), X),
    ("polyint of a number", lambda p: np.polyint(p[0] * p[0], 0), X),
    ("polyint", lambda p, k: np.polyint(p, 2, k), X, P[:2].copy()),
    ("polyfit", lambda x, y: np.polyfit(x, y, 2), X, P),
    ("polyfit, covariance", lambda x, y, w: np.polyfit(x, y, 1, w=w, cov=True), X, P, P[::-1].copy()),
    ("roots", lambda p: np.sum(np.roots(p) ** 3), np.array([1.0, -3.2, 1.1, 0.4])),
    ("Polynomial", lambda x: polynomial.Polynomial([1.0, 2.0, 3.0])(x), X),
    *[
        (f.__name__, f, A, X)
        for f in (
            polynomial.polyval, chebyshev.chebval, legendre.legval, hermite.hermval, hermite_e.hermeval, laguerre.lagval
        )
    ],
]  # fmt: skip

TABLE = [*PRODUCTS, *CONVOLUTIONS, *EINSUMS, *CALCULUS, *POLYNOMIALS]

SUMMED_FIRST = ("einsum ij,k->iFalse", "einsum i,i,j,j->False")
"""Here factors are summed before they are multiplied, so that infinities of two signs meet at other places."""
