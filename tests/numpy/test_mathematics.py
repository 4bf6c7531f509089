"""The laws, for NumPy's mathematical functions: products, statistics, differences, polynomials, reductions."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.testing import Case, check_case

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
MASK = np.array([[True, False, True, True], [False, True, True, True], [True, True, False, True]])
ALONE = ("value", "tangent", "adjoint", "orders", "precision")
"""Without stacking: the shape of the result depends on the values."""
METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip


def with_gaps(a):
    """An array in which some elements are nan."""
    return np.where(MASK, a, np.nan)


def updated(ufunc, a, where, *values):
    """A copy of the array after `ufunc.at`."""
    b = a * 1.0
    ufunc.at(b, where, *values)
    return b


PRODUCTS = [
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
STATISTICS = [
    ("average", lambda a: np.average(a, 0), A),
    ("average, weights", lambda a, w: np.average(a, 1, w), A, np.abs(A) + 1),
    ("average, returned", lambda a, w: np.average(a, -1, w, returned=True), A, P[:4].copy()),
    ("average, axes", lambda a, w: np.average(a, (2, 0), w, keepdims=True), C, np.abs(C[:, 0].T) + 1),
    ("ptp", lambda a: np.ptp(a, 0), A),
    ("median", np.median, A),
    ("median, odd", np.median, X),
    ("median, axes", lambda a: np.median(a, (0, 2), keepdims=True), C),
    ("nanmedian", lambda a: np.nanmedian(with_gaps(a), 1), A),
    ("nanpercentile", lambda a: np.nanpercentile(with_gaps(a), [30, 60], 0), A),
    ("quantile, in q", np.quantile, X, np.array([0.3, 0.61])),
    ("quantile, hazen in q", lambda a, q: np.quantile(a, q, method="hazen"), X, 0.37),
    *[
        (f"quantile {method} {q}", lambda a, m=method, p=q: np.quantile(a, p, axis=0, method=m, keepdims=True), A)
        for method in METHODS
        for q in (0.0, 0.13, 0.5, 0.77, 1.0, [0.2, 0.75])
    ],
    *[
        (f"nanquantile {method}", lambda a, m=method: np.nanquantile(with_gaps(a), [0.2, 0.5], axis=1, method=m), A)
        for method in METHODS
    ],
    *[
        (f"percentile {method}", lambda a, m=method: np.percentile(a, 35.0, axis=1, method=m), A)
        for method in METHODS
    ],
    *[
        (f"{f.__name__}, axis {axis}", lambda a, f=f, k=axis: f(with_gaps(a), axis=k), A)
        for f in (
            np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin, np.nancumsum, np.nancumprod,
        )
        for axis in (None, 0, 1)
    ],
    ("nanvar, ddof", lambda a: np.nanvar(with_gaps(a), 1, ddof=1, keepdims=True), A),
    ("nan_to_num", lambda a: np.nan_to_num(with_gaps(a), nan=2.0), A),
    ("histogram", lambda w: np.histogram(X, 4, weights=w)[0], P),
    ("histogram, density", lambda w: np.histogram(X, [-2, -1, 0, 1, 3.0], density=True, weights=w)[0], P),
    ("histogram, edges", lambda a: np.histogram(a, 3)[1], X),
    ("histogram, automatic edges", lambda a: np.histogram(a, "sturges", range=None)[1], X),
    ("histogramdd", lambda w: np.histogramdd(A.T[:, :2], 3, density=True, weights=w)[0], P[:4].copy()),
    ("histogram2d", lambda w: np.histogram2d(X, P, 3, weights=w)[0], P),
    ("bincount", lambda w: np.bincount([0, 2, 2, 1, 5], w, 8), P),
]  # fmt: skip
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
]
POLYNOMIALS = [
    ("polyval", np.polyval, X, A),
    ("poly", np.poly, X),
    ("polyadd", np.polyadd, X, A[0].copy()),
    ("polysub", np.polysub, A[0].copy(), X),
    ("polymul", np.polymul, X, A[0].copy()),
    ("polydiv", np.polydiv, X, A[0, :3] + 3),
    ("polyder", lambda p: np.polyder(p, 2), X),
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
REDUCTIONS = [
    *[
        (f"{f.__name__}, axis {axis}", lambda a, f=f, k=axis: f(a, axis=k, keepdims=True), C)
        for f in (np.sum, np.prod, np.mean, np.var, np.max, np.min)
        for axis in (None, 0, (0, 2), ())
    ],
    *[
        (f"{f.__name__}, where", lambda a, f=f: f(a, axis=1, where=MASK, keepdims=True), A)
        for f in (np.sum, np.prod, np.mean, np.var, np.std)
    ],
    ("max, where", lambda a: np.max(a, axis=1, where=MASK, initial=-9.0), A),
    ("min, where", lambda a: np.min(a, axis=1, where=MASK, initial=9.0), A),
    ("sum, initial", lambda a, b: np.sum(a, 0, initial=b), A, 0.7),
    ("std, ddof", lambda a: np.std(a, 0, ddof=1), A),
    ("std, correction", lambda a: np.std(a, 0, correction=1), A),
    ("var, mean given", lambda a, m: np.var(a, 0, mean=m), A, A[:1] + 1),
    *[
        (f"{f.__name__}, complex", lambda z, f=f: f(z, 0), Z) for f in (np.sum, np.prod, np.mean, np.var, np.std)
    ],
    *[
        (f"{u.__name__}.reduce, axis {axis}", lambda a, u=u, k=axis: u.reduce(a, k), A)
        for u in (np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.hypot, np.fmax)
        for axis in (0, -1, None, (0, 1))
    ],
    *[
        (
            f"{u.__name__}.reduce, where",
            lambda a, u=u: u.reduce(a, axis=1, keepdims=True, initial=0.3, where=MASK),
            A,
        )
        for u in (np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.hypot, np.fmin)
    ],
    *[
        (f"{u.__name__}.{method}", lambda a, u=u, m=method: getattr(u, m)(a, axis=1), np.abs(A) + 0.3)
        for u, method in (
            (np.subtract, "reduce"), (np.divide, "reduce"), (np.add, "accumulate"), (np.multiply, "accumulate"),
            (np.maximum, "accumulate"), (np.logaddexp, "accumulate"), (np.subtract, "accumulate"),
            (np.power, "accumulate"),
        )
    ],
    *[
        (f"{u.__name__}.reduceat", lambda a, u=u: u.reduceat(a, [0, 2, 1], axis=1), A)
        for u in (np.add, np.multiply, np.maximum, np.logaddexp)
    ],
    *[
        (f"{u.__name__}.outer", lambda a, b, u=u: u.outer(a, b), A, P)
        for u in (np.add, np.multiply, np.maximum, np.subtract, np.hypot)
    ],
    ("add.at", lambda a, v: updated(np.add, a, [0, 0, 2], v), X, P[:3].copy()),
    ("subtract.at", lambda a, v: updated(np.subtract, a, [0, 0, 2], v), X, P[:3].copy()),
    ("multiply.at", lambda a, v: updated(np.multiply, a, [0, 0, 2], v), X, P[:3].copy()),
    ("maximum.at", lambda a, v: updated(np.maximum, a, [0, 0, 2], v), X, P[:3].copy()),
]  # fmt: skip
TABLE = [*PRODUCTS, *CONVOLUTIONS, *EINSUMS, *STATISTICS, *CALCULUS, *POLYNOMIALS, *REDUCTIONS]


def is_complex(args):
    """Whether the law of single precision, which is about real numbers, does not apply."""
    return any(np.iscomplexobj(a) for a in args)


@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in TABLE], ids=[row[0] for row in TABLE])
def test_laws(name, function, args):
    """Value, tangent, adjoint, orders, stacking and precision."""
    laws = (*ALONE[:4], "stacking") if is_complex(args) else (*ALONE, "stacking")
    check_case(Case(name, function, tuple(args), laws, rtol=1e-5))


@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in TABLE if is_complex(a)])
def test_complex_single_precision_is_kept(name, function, args):
    """complex64 in, complex64 (or float32) out, and back."""
    small = [np.asarray(a).astype(np.complex64 if np.iscomplexobj(a) else np.float32) for a in args]
    want = np.asarray(function(*small)).dtype
    value, pullback = ad.vjp(function, *small)
    assert np.asarray(value).dtype == want
    assert np.asarray(ad.jvp(function, small, small)[1]).dtype == want
    assert [np.asarray(g).dtype for g in pullback(value)] == [a.dtype for a in small]


def test_products_with_zeros():
    """Products and running products have the right derivatives of every order where factors are zero."""
    np.testing.assert_array_equal(ad.grad(np.prod)(np.array([0.0, 2.0, 3.0])), [6, 0, 0])
    np.testing.assert_array_equal(ad.hessian(np.prod)(np.array([0.0, 0.0, 3.0])), [[0, 3, 0], [3, 0, 0], [0, 0, 0]])
    rows = ad.jacobian(np.cumprod)(np.array([2.0, 0.0, 5.0]))
    np.testing.assert_array_equal(rows, [[1, 0, 0], [0, 2, 0], [0, 10, 0]])
    third = ad.jacobian(ad.hessian(np.prod))(np.zeros(3))
    assert third[0, 1, 2] == third[2, 0, 1] == 1
    assert np.sum(third) == 6


def test_spread_of_equal_elements():
    """The standard deviation of equal elements has slope 0, their variance its usual curvature."""
    for x in (np.full(3, 0.1), np.full(4, 2.0)):
        np.testing.assert_allclose(ad.grad(np.std)(x), 0, atol=1e-15)
        np.testing.assert_allclose(ad.grad(np.nanstd)(x), 0, atol=1e-15)
    np.testing.assert_allclose(ad.hessian(np.var)(np.ones(2)), [[0.5, -0.5], [-0.5, 0.5]], atol=1e-15)


def test_extremes_with_ties_and_nan():
    """Ties share equally over all reduced axes; nan takes all, or nothing where nan is passed over."""
    np.testing.assert_array_equal(ad.grad(np.max)(np.array([1.0, 2.0, 2.0])), [0, 0.5, 0.5])
    np.testing.assert_array_equal(ad.grad(lambda x: np.max(x, axis=(0, 1)))(np.ones((2, 2))), np.full((2, 2), 0.25))
    np.testing.assert_array_equal(ad.grad(np.max)(np.array([1.0, np.nan])), [0, 1])
    np.testing.assert_array_equal(ad.grad(np.nanmax)(np.array([1.0, np.nan])), [1, 0])
    np.testing.assert_array_equal(ad.grad(np.nansum)(np.array([1.0, np.nan])), [1, 0])
    assert ad.jvp(np.nanargmax, (np.array([np.nan, 3.0, 5.0]),), (np.ones(3),))[0] == 2
    with pytest.raises(ValueError, match="All-NaN"):
        ad.grad(lambda x: x[np.nanargmin(x)])(np.full(2, np.nan))


def test_nothing_to_reduce():
    """Sums and products of no elements are constants."""
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x[:0]) + np.prod(x[:0]) + x[0])(np.ones(2)), [1, 0])
    value = ad.jvp(lambda x: np.prod(x, axis=0), (np.ones((0, 3)),), (np.ones((0, 3)),))[0]
    np.testing.assert_array_equal(value, np.ones(3))


def test_at_a_knot_the_slope_is_the_right_one():
    """Interpolation at a knot and at the last knot."""
    knots, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 1.0])
    slope = ad.grad(lambda x: np.interp(x, knots, values))
    assert [slope(0.0), slope(1.0), slope(3.0), slope(4.0)] == [2.0, -0.5, -0.5, 0.0]


def test_medians_of_missing_and_infinite_numbers():
    """nan makes the median nan, and infinities do not."""
    assert np.isnan(ad.vjp(np.median, np.array([1.0, np.nan, 2.0]))[0])
    assert ad.vjp(np.median, np.array([np.inf, np.inf, 2.0, np.inf]))[0] == np.inf
    assert ad.vjp(np.median, np.array([-np.inf, np.inf, 2.0]))[0] == 2.0


def test_refusals():
    """What is not differentiated says so; what NumPy refuses is refused."""
    with pytest.raises(UnsupportedError, match="weights"):
        ad.grad(lambda x: np.quantile(x, 0.5, weights=P, method="inverted_cdf"))(X)
    with pytest.raises(ValueError, match="identity"):
        ad.grad(lambda x: np.max(x, where=x > 0))(X)
    with pytest.raises(ValueError, match="reorderable"):
        ad.grad(lambda x: np.subtract.reduce(x, axis=None))(A)
    with pytest.raises(ZeroDivisionError, match="zero"):
        ad.grad(lambda x: np.average(x, weights=0 * x))(X)
    with pytest.raises(UnsupportedError, match="signature"):
        ad.grad(lambda x: np.sum(np.add(x, x, signature="dd->d")))(X)


def test_out_and_dtype():
    """Results go to `out=`, and `dtype=` is obeyed."""

    def f(x):
        total = np.zeros_like(x[0])
        np.sum(x, axis=0, out=total)
        return np.sum(total**2)

    np.testing.assert_allclose(ad.grad(f)(A), np.broadcast_to(2 * A.sum(0), A.shape))
    assert ad.vjp(lambda x: np.add(x, 1, dtype=np.float32), A)[0].dtype == np.float32
    assert ad.vjp(lambda x: np.mean(x, dtype=np.float32), A)[0].dtype == np.float32
    assert ad.vjp(np.mean, A.astype(np.float16))[0].dtype == np.float16
    assert ad.vjp(lambda x: np.sum(x * np.arange(4), axis=np.int64(0)), A.astype(np.float32))[0].dtype == np.float64
