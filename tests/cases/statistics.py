"""NumPy's statistics, orders and reductions."""

import numpy as np

RNG = np.random.default_rng(7)

X = np.array([0.31, -1.27, 0.84, 2.13, -0.46])

P = np.abs(X) + 0.5

A = RNG.normal(size=(3, 4))

C = RNG.normal(size=(2, 3, 4))

Z = A + 1j * RNG.normal(size=(3, 4))

MASK = np.array([[True, False, True, True], [False, True, True, True], [True, True, False, True]])

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

TABLE = [*STATISTICS, *REDUCTIONS]

RAGGED = ("histogram, automatic edges",)
"""The shape of the result depends on the values, so that vmap refuses."""
