"""What stands in for the functions of `scipy.special` while a function is traced.

Universal functions are not here: NumPy dispatches them (`adjoint.ops.special`). These are SciPy's plain functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import scipy.special as sc

from ..core.primitive import Primitive
from ..numpy.dispatch.arguments import as_value, axes_of, ndim_of
from ..numpy.patching.replacements import replaces
from ..ops import reduction, special
from ..ops.declare import where
from ..rules.elementwise import Elementwise
from .options import refuse

special.load()
from ..ops.special import gamma, spherical, sums  # noqa: E402  (they import SciPy, which is here by now)
from . import special_names  # noqa: E402

NAMES = special_names
Axis = int | tuple[int, ...] | None


@replaces("scipy.special", "logsumexp", in_parts=True)
def logsumexp(a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """The logarithm of a (weighted) sum of exponentials."""
    a = as_value(a)
    if b is None and not return_sign:
        return reduction.logsumexp(a, axis=axes_of(axis, ndim_of(a)), keepdims=keepdims)
    b = as_value(1.0 if b is None else b)
    a, b = np.broadcast_arrays(a, b)
    axes = axes_of(axis, ndim_of(a))
    top = _finite_peak(where(b == 0, -math.inf, a), axes)
    height = a - top
    # what has no weight may be higher than the top, but must not overflow
    total = np.sum(b * np.exp(where((b == 0) & (np.real(height) > 700.0), 0.0, height)), axis=axes, keepdims=True)
    size = np.log(np.abs(total)) + top if return_sign else np.log(total) + top
    results = [size, np.sign(total)] if return_sign else [size]
    results = [r if keepdims else np.squeeze(r, axis=axes) for r in results]
    return tuple(results) if return_sign else results[0]


@replaces("scipy.special", "softmax", in_parts=True)
def softmax(x: Any, axis: Axis = None) -> Any:
    """Exponentials that sum to one."""
    x = as_value(x)
    axes = axes_of(axis, ndim_of(x))
    e = np.exp(x - sums.peak(x, axis=axes))
    return e / np.sum(e, axis=axes, keepdims=True)


@replaces("scipy.special", "log_softmax", in_parts=True)
def log_softmax(x: Any, axis: Axis = None) -> Any:
    """The logarithm of softmax, without going through it."""
    x = as_value(x)
    axes = axes_of(axis, ndim_of(x))
    height = x - _finite_peak(x, axes)
    return height - np.log(np.sum(np.exp(height), axis=axes, keepdims=True))


def _finite_peak(x: Any, axes: tuple[int, ...]) -> Any:
    top = sums.peak(np.real(x), axis=axes)
    return where(np.isfinite(top), top, 0.0)


@replaces("scipy.special", "softplus")
def softplus(x: Any, **kwargs: Any) -> Any:
    """log(1 + exp(x))."""
    return np.logaddexp(0.0, x, **kwargs)


@replaces("scipy.special", "multigammaln")
def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the multivariate gamma function."""
    a = as_value(a)
    return sum([sc.gammaln(a - 0.5 * j) for j in range(d)], 0.25 * d * (d - 1) * np.log(np.pi))


@replaces("scipy.special", "polygamma")
def polygamma(n: Any, x: Any) -> Any:
    """Derivatives of the digamma function."""
    return gamma.polygamma(n, as_value(x))


@replaces("scipy.special", "zeta")
def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """Hurwitz's zeta function: a derivative is known in `q` only."""
    refuse("special.zeta", out is not None, "out=")
    return gamma.zeta(as_value(x), 1.0 if q is None else as_value(q))


@replaces("scipy.special", "lambertw")
def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    """The inverse of w exp(w)."""
    return sums.lambertw(as_value(z), k, tol)


@replaces("scipy.special", "factorial")
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """gamma(n + 1); 0 for negative n, unless extended."""
    refuse("special.factorial", exact, "exact=True")
    n = as_value(n) * np.float64(1.0)  # SciPy's result is never of single precision
    if extend == "complex":
        return sc.gamma(n + 1.0)
    return where(n < 0, 0.0, sc.gamma(where(n < 0, 0.0, n) + 1.0))


@replaces("scipy.special", "comb")
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """Combinations, continued between the whole numbers."""
    refuse("special.comb", exact, "exact=True")
    N, k = as_value(N), as_value(k)
    if repetition:
        return where((N == 0) & (k == 0), 1.0, comb(N + k - 1, k))
    return where((k <= N) & (N >= 0) & (k >= 0), sc.binom(N, k), 0.0)


@replaces("scipy.special", "perm")
def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """Permutations, continued between the whole numbers."""
    refuse("special.perm", exact, "exact=True")
    N, k = as_value(N), as_value(k)
    return where((k <= N) & (N >= 0) & (k >= 0), sc.poch(N - k + 1, k), 0.0)


@replaces("scipy.special", "diric")
def diric(x: Any, n: Any) -> Any:
    """sin(n x / 2) / (n sin(x / 2)), a polynomial in cos(x / 2)."""
    return sc.eval_chebyu(n - 1, np.cos(0.5 * as_value(x))) / n


@replaces("scipy.special", "sph_harm_y")
def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """Spherical harmonics."""
    refuse("special.sph_harm_y", diff_n != 0, "diff_n")
    return sums.sph_harm_y(as_value(n), as_value(m), as_value(theta), as_value(phi))


def _spherical(primitive: Primitive) -> Callable[..., Any]:
    """A spherical Bessel function, whose slope is that of the primitive."""
    slope: Any = cast("Elementwise", primitive.derivative).partials[1]

    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        n, z = as_value(n), as_value(z)
        return slope(n, z) if derivative else primitive(n, z)

    return function


for _bessel in (spherical.spherical_jn, spherical.spherical_yn, spherical.spherical_in, spherical.spherical_kn):
    replaces("scipy.special", _bessel.name)(_spherical(_bessel))
