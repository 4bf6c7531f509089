"""SciPy's interpolation: with respect to the values, the nodes and the places."""

import warnings

import numpy as np
import scipy.interpolate as si
from scipy.sparse.linalg import spsolve

from adjoint.testing.laws import Case

rng = np.random.default_rng(11)

X = np.array([0.0, 0.4, 1.1, 1.5, 2.3, 3.0])
Y = np.array([0.3, 1.2, 0.7, -0.4, 0.5, 1.9])
TABLE = rng.normal(size=(6, 2))
T = np.array([0.15, 0.9, 1.35, 2.0, 2.9])
OUTSIDE = np.array([[-0.3, 0.2], [1.3, 3.4]])
UP = np.array([0.1, 0.5, 0.8, 1.9, 2.6, 2.7])

LONG = np.linspace(0.05, 2.8, 12)
INNER = {k: np.linspace(0.5, 2.5, 5 - k) for k in range(4)}
GRIDDED = rng.normal(size=(6, 6))
GRID = np.array([0.0, 0.7, 1.3, 3.0])
SPOTS = np.array([[0.2, 2.1], [1.3, 0.9], [0.9, 1.45]])
POINTS, PLACES = rng.uniform(size=(7, 2)), rng.uniform(size=(3, 2))
NO_BATCH = ("value", "tangent", "adjoint", "orders", "taylor")
CLOUD = np.array([[0.0, 0.0], [1.0, 0.1], [0.1, 1.0], [0.9, 1.1], [0.5, 0.4]])
INSIDE = np.array([[0.3, 0.6], [0.6, 0.2], [0.55, 0.7]])
SMOOTH = si.SmoothBivariateSpline(*rng.uniform(size=(2, 40)), rng.normal(size=40))


def quiet(function, *args):
    """What SciPy still has, but warns about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return function(*args)


CUBIC = {
    "CubicSpline": lambda x, y: si.CubicSpline(x, y),
    "CubicSpline natural": lambda x, y: si.CubicSpline(x, y, bc_type="natural"),
    "CubicSpline clamped": lambda x, y: si.CubicSpline(x, y, bc_type="clamped"),
    "CubicSpline ends": lambda x, y: si.CubicSpline(x, y, bc_type=((1, y[0]), (2, 0.3))),
    "CubicSpline other ends": lambda x, y: si.CubicSpline(x, y, bc_type=((2, 0.7), (1, 0.2))),
    "PchipInterpolator": lambda x, y: si.PchipInterpolator(x, y),
    "Akima1DInterpolator": lambda x, y: si.Akima1DInterpolator(x, y, extrapolate=True),
    "makima": lambda x, y: si.Akima1DInterpolator(x, y, method="makima"),
    "CubicHermiteSpline": lambda x, y: si.CubicHermiteSpline(x, y, np.sin(y)),
}


def knots(inner, k):
    return np.concatenate([[0.0] * (k + 1), inner, [3.0] * (k + 1)])


KNOTS = {k: knots(INNER[k], k) for k in INNER}


def closed(y):
    return np.concatenate([y[:-1], y[:1]])


CASES = [
    *[Case(name, lambda x, y, t, make=make: make(x, y)(t), (X, Y, T)) for name, make in CUBIC.items()],
    Case("CubicSpline table", lambda y, t: si.CubicSpline(X, y, axis=1)(t), (TABLE.T, OUTSIDE)),
    Case("CubicSpline complex", lambda y, t: si.CubicSpline(X, y)(t), (TABLE[:, 0] + 1j * TABLE[:, 1], T)),
    Case("CubicSpline of three", lambda x, y, t: si.CubicSpline(x, y)(t), (X[:3], Y[:3], T[:2])),
    Case("CubicSpline of two", lambda x, y, t: si.CubicSpline(x, y)(t), (X[:2], Y[:2], T[:1])),
    *[
        Case(
            f"CubicSpline periodic {n}",
            lambda x, y, t: si.CubicSpline(x, closed(y), bc_type="periodic")(t),
            (X[:n], Y[:n], OUTSIDE + 0.05),
        )
        for n in (3, 4, 6)
    ],
    Case("spline slope", lambda x, y, t: si.CubicSpline(x, y)(t, 1), (X, Y, T)),
    Case("spline derivative", lambda x, y, t: si.CubicSpline(x, y).derivative(2)(t), (X, Y, T)),
    Case("spline antiderivative", lambda x, y, t: si.CubicSpline(x, y).antiderivative()(t), (X, Y, T)),
    Case("spline integrate", lambda x, y, a, b: si.CubicSpline(x, y).integrate(a, b), (X, Y, 0.3, 2.2)),
    Case("spline integrate back", lambda a, b: si.CubicSpline(X, Y).integrate(a, b), (3.2, 0.2)),
    Case(
        "periodic integrate",
        lambda y, a, b: si.CubicSpline(X, closed(y), bc_type="periodic").integrate(a, b),
        (Y, 0.3, 8.2),
    ),
    Case("spline roots", lambda y: si.CubicSpline(X, y).roots(), (Y,), ("value", "tangent", "adjoint", "orders")),
    Case("spline outside", lambda t: si.CubicSpline(X, Y)(t), (OUTSIDE,)),
    Case("PPoly", lambda c, x, t: si.PPoly(c, x)(t), (rng.normal(size=(3, 5)), X, OUTSIDE)),
    Case("PPoly descending", lambda c, t: si.PPoly(c, -X)(-t), (rng.normal(size=(3, 5)), T)),
    Case("PPoly axis", lambda c, t: si.PPoly(c, X, axis=1)(t), (rng.normal(size=(2, 3, 5)), T)),
    Case("BPoly", lambda c, x, t: si.BPoly(c, x)(t), (rng.normal(size=(4, 5)), X, T)),
    *[
        Case(
            f"BSpline {k}",
            lambda t, c, x, k=k: si.BSpline(knots(t, k), c, k)(x),
            (INNER[k], rng.normal(size=6), OUTSIDE),
        )
        for k in (0, 1, 2, 3)
    ],
    Case("BSpline slope", lambda t, c, x: si.BSpline(knots(t, 3), c, 3)(x, 2), (INNER[3], rng.normal(size=6), T)),
    Case("BSpline axis", lambda c, x: si.BSpline(KNOTS[3], c, 3, axis=1)(x), (rng.normal(size=(2, 6)), T)),
    Case("BSpline complex", lambda c, x: si.BSpline(KNOTS[2], c, 2)(x), (TABLE @ np.array([1, 1j]), T)),
    Case(
        "BSpline derivative",
        lambda t, c, x: si.BSpline(knots(t, 3), c, 3).derivative()(x),
        (INNER[3], rng.normal(size=6), T),
    ),
    Case("BSpline antiderivative", lambda c, x: si.BSpline(KNOTS[3], c, 3).antiderivative()(x), (Y, T)),
    Case(
        "BSpline integrate", lambda t, c, a, b: si.BSpline(knots(t, 3), c, 3).integrate(a, b), (INNER[3], Y, 0.2, 2.8)
    ),
    *[
        Case(f"make_interp_spline {k}", lambda x, y, t, k=k: si.make_interp_spline(x, y, k=k)(t), (X, Y, T))
        for k in (0, 1, 2, 3)
    ],
    Case("make_interp_spline natural", lambda x, y, t: si.make_interp_spline(x, y, bc_type="natural")(t), (X, Y, T)),
    Case(
        "make_interp_spline ends",
        lambda y, a, t: si.make_interp_spline(X, y, bc_type=([(1, a)], [(2, 0.3)]))(t),
        (Y, 0.7, T),
    ),
    Case(
        "make_interp_spline periodic",
        lambda y, t: si.make_interp_spline(X, closed(y), bc_type="periodic")(t),
        (Y, T),
    ),
    Case("make_interp_spline table", lambda y, t: si.make_interp_spline(X, y, axis=1)(t), (TABLE.T, T)),
    Case(
        "make_lsq_spline",
        lambda x, y, t, w: si.make_lsq_spline(x, y, knots(t, 3), w=w)(T),
        (LONG, np.sin(LONG), INNER[3], 1 + LONG),
    ),
    Case(
        "make_smoothing_spline",
        lambda x, y, w, lam: si.make_smoothing_spline(x, y, w, lam)(T),
        (X, Y, 1 + X, 0.3),
    ),
    *[
        Case(
            f"RBFInterpolator {kernel}",
            lambda y, d, x, kernel=kernel: si.RBFInterpolator(y, d, kernel=kernel, epsilon=0.7, smoothing=0.1)(x),
            (POINTS, POINTS[:, 0] ** 2, PLACES),
        )
        for kernel in (
            "linear",
            "thin_plate_spline",
            "cubic",
            "quintic",
            "multiquadric",
            "inverse_multiquadric",
            "inverse_quadratic",
            "gaussian",
        )
    ],
    Case(
        "RBFInterpolator table",
        lambda d, e, s: si.RBFInterpolator(POINTS, d, kernel="gaussian", epsilon=e, smoothing=s)(PLACES),
        (POINTS**2, 0.9, 0.2),
    ),
    *[
        Case(f"interp1d {kind}", lambda x, y, t, kind=kind: si.interp1d(x, y, kind=kind)(t), (X, Y, T))
        for kind in ("linear", "slinear", "quadratic", "cubic", 2)
    ],
    *[
        Case(f"interp1d {kind}", lambda x, y, kind=kind: si.interp1d(x, y, kind=kind)(T), (X, Y))
        for kind in ("zero", "nearest", "nearest-up", "previous", "next")
    ],
    Case(
        "interp1d outside",
        lambda y, t, a: si.interp1d(X, y, axis=0, bounds_error=False, fill_value=(a, 2.0))(t),
        (TABLE, OUTSIDE, 0.3),
    ),
    Case(
        "interp1d extrapolate",
        lambda y, t: si.interp1d(X[::-1], y, axis=0, fill_value="extrapolate")(t),
        (TABLE, OUTSIDE),
    ),
    *[
        Case(
            f"RegularGridInterpolator {m}",
            lambda x, v, xi, m=m: si.RegularGridInterpolator((x, GRID), v, m)(xi),
            (X[:4], GRIDDED[:4, :4], SPOTS),
        )
        for m in ("linear", "pchip", "cubic_legacy", "slinear")
    ],
    Case(
        "RegularGridInterpolator cubic",
        lambda x, v, xi: si.RegularGridInterpolator((x, GRID), v, "cubic", solver=spsolve)(xi),
        (X[:4], GRIDDED[:4, :4], SPOTS),
    ),
    Case(
        "RegularGridInterpolator iterated",
        lambda v, xi: si.RegularGridInterpolator((X[:4], GRID), v, "cubic")(xi),
        (GRIDDED[:4, :4], SPOTS),
        ("value", "adjoint", "orders", "stacking"),
        1e-4,
    ),
    Case(
        "RegularGridInterpolator nearest",
        lambda v: si.RegularGridInterpolator((X, -X), v, "nearest", bounds_error=False, fill_value=None)(OUTSIDE),
        (GRIDDED,),
    ),
    Case("RegularGridInterpolator places", lambda xi: si.RegularGridInterpolator((X,), TABLE)(xi), (T,)),
    Case(
        "RegularGridInterpolator filled",
        lambda v, xi, a: si.RegularGridInterpolator((X[::-1], X), v, bounds_error=False, fill_value=a)(xi),
        (GRIDDED, OUTSIDE, 0.7),
    ),
    Case("interpn", lambda v, xi: si.interpn((X, X), v, xi), (GRIDDED, SPOTS)),
    Case(
        "NdBSpline",
        lambda c, xi: si.NdBSpline((KNOTS[3], KNOTS[2]), c, (3, 2))(xi, nu=(1, 0)),
        (GRIDDED, SPOTS),
    ),
    # far from the nodes the last digits depend on the order in which SciPy multiplies weights, which it draws by itself
    Case(
        "BarycentricInterpolator",
        lambda x, y, t: si.BarycentricInterpolator(x, y, rng=np.random.default_rng(0))(t),
        (X, Y, np.append(T, 5.0)),
    ),
    Case("BarycentricInterpolator at a node", lambda y, t: si.BarycentricInterpolator(X, y)(t), (TABLE, X[1:4])),
    Case("BarycentricInterpolator derivative", lambda y, t: si.BarycentricInterpolator(X, y).derivative(t), (Y, T)),
    Case("KroghInterpolator", lambda x, y, t: si.KroghInterpolator(x, y)(t), (X, Y, OUTSIDE)),
    Case("KroghInterpolator derivatives", lambda y, t: si.KroghInterpolator(X, y).derivatives(t, 3), (TABLE, T)),
    Case("krogh_interpolate", lambda x, y, t: si.krogh_interpolate(x, y, t), (X, Y, T)),
    Case("barycentric_interpolate", lambda x, y, t: si.barycentric_interpolate(x, y, t), (X, Y, T)),
    Case("pchip_interpolate", lambda x, y, t: si.pchip_interpolate(x, y, t, der=1), (X, Y, T)),
    Case("lagrange", lambda x, y: quiet(si.lagrange, x, y).coeffs, (X[:4], Y[:4])),
    Case("pade", lambda a: [p.coeffs for p in quiet(si.pade, a, 2)], (Y[:5],)),
    Case("splev", lambda t, c, x: si.splev(x, (knots(t, 3), np.concatenate([c, np.zeros(4)]), 3)), (INNER[3], Y, T)),
    *[
        Case(f"splev ext {e}", lambda c, x, e=e: si.splev(x, (KNOTS[3], c, 3), ext=e), (np.append(Y, [0] * 4), OUTSIDE))
        for e in (0, 1, 3)
    ],
    Case("splev der", lambda c, x: si.splev(x, (KNOTS[3], c, 3), der=2), (np.append(Y, [0.0] * 4), T)),
    *[Case(f"splrep {k}", lambda x, y, t, k=k: si.splev(t, si.splrep(x, y, k=k)), (X, Y, T)) for k in (1, 2, 3)],
    Case("splrep knots", lambda y, t: si.splev(T, si.splrep(LONG, y, t=t)), (np.sin(LONG), INNER[3])),
    Case("splint", lambda c, a, b: si.splint(a, b, (KNOTS[3], c, 3)), (np.append(Y, [0.0] * 4), 0.3, 2.2)),
    Case("spalde", lambda c, x: si.spalde(x, (KNOTS[3], c, 3)), (np.append(Y, [0.0] * 4), 0.3)),
    Case("splder", lambda c: si.splder((KNOTS[3], c, 3))[1], (np.append(Y, [0.0] * 4),)),
    Case("splantider", lambda c: si.splantider((KNOTS[3], c, 3))[1], (np.append(Y, [0.0] * 4),)),
    Case("make_splrep", lambda x, y, t: si.make_splrep(x, y)(t), (X, Y, T)),
    Case(
        "PPoly.from_spline",
        lambda c, x: si.PPoly.from_spline((KNOTS[3], c, 3))(x),
        (np.append(Y, [0.0] * 4), T),
        ("value", "tangent", "adjoint", "orders", "stacking", "taylor"),
    ),
    Case("UnivariateSpline", lambda x, y, t: si.UnivariateSpline(x, y, s=0)(t), (X, Y, T)),
    Case("UnivariateSpline places", lambda t: si.UnivariateSpline(X, Y, s=0.5)(t, 1), (T,)),
    Case("InterpolatedUnivariateSpline", lambda y, t: si.InterpolatedUnivariateSpline(X, y).derivative()(t), (Y, T)),
    Case(
        "InterpolatedUnivariateSpline integral",
        lambda y: si.InterpolatedUnivariateSpline(X, y).integral(0.2, 2.0),
        (Y,),
    ),
    Case(
        "LSQUnivariateSpline",
        lambda x, y, t, w: si.LSQUnivariateSpline(x, y, t, w)(T),
        (LONG, np.sin(LONG), INNER[3], 1 + LONG),
    ),
    Case("RectBivariateSpline", lambda x, z, a, b: si.RectBivariateSpline(x, X, z).ev(a, b), (X, GRIDDED, T, T[::-1])),
    Case("RectBivariateSpline grid", lambda z, a, b: si.RectBivariateSpline(X, X, z)(a, b, dx=1), (GRIDDED, T, T[:3])),
    Case("RectBivariateSpline at a place", lambda z: si.RectBivariateSpline(X, X, z)(1.2, 2)[0, 0], (GRIDDED,)),
    Case("SmoothBivariateSpline", lambda a, b: SMOOTH.ev(a, b), (PLACES[:, 0], PLACES[:, 1])),
    Case("bisplev", lambda a, b, c: si.bisplev(a, b, (KNOTS[3], KNOTS[3], c, 3, 3)), (T, T[:3], GRIDDED.ravel())),
    Case("interpn splinef2d", lambda v, xi: si.interpn((X, X), v, xi, "splinef2d"), (GRIDDED, SPOTS)),
    Case(
        "LinearNDInterpolator", lambda p, v, xi: si.LinearNDInterpolator(p, v)(xi), (CLOUD, CLOUD**2, INSIDE), NO_BATCH
    ),
    Case(
        "LinearNDInterpolator places",
        lambda x, y: si.LinearNDInterpolator(CLOUD, CLOUD[:, 0] ** 2, 0.5)(x, y),
        (INSIDE[:, 0], INSIDE[:, 1]),
    ),
    Case("griddata", lambda v, xi: si.griddata(CLOUD, v, xi), (CLOUD[:, 0] ** 2, INSIDE)),
    Case("griddata nearest", lambda v: si.griddata(CLOUD, v, INSIDE, "nearest"), (CLOUD[:, 0] ** 2,)),
    Case("griddata line", lambda v, xi: si.griddata(X, v, xi, "cubic"), (Y, T)),
    Case("NearestNDInterpolator", lambda v: si.NearestNDInterpolator(CLOUD, v)(INSIDE), (CLOUD**2,)),
    Case("BPoly derivative", lambda c, x, t: si.BPoly(c, x).derivative(2)(t), (rng.normal(size=(4, 5)), X, T)),
    Case("BPoly antiderivative", lambda c, x, t: si.BPoly(c, x).antiderivative()(t), (rng.normal(size=(4, 5)), X, T)),
    Case("BPoly integrate", lambda c, a, b: si.BPoly(c, X).integrate(a, b), (rng.normal(size=(4, 5)), 0.2, 2.5)),
    Case("BSpline.design_matrix", lambda x: si.BSpline.design_matrix(x, KNOTS[3], 3) @ Y, (T,), NO_BATCH),
    Case("RectBivariateSpline degrees", lambda z: si.RectBivariateSpline(X, X, z, kx=1, ky=2).ev(T, T), (GRIDDED,)),
    Case("BPoly slope", lambda c, x, t: si.BPoly(c, x)(t, 1), (rng.normal(size=(4, 5)), X, T)),
]
