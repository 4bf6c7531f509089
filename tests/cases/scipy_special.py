"""SciPy's special functions that are plain functions."""

import numpy as np
import scipy.special as sc

from adjoint.testing import LAWS, Case

ROWS = np.array([[0.7, -1.3, 0.4], [1.9, 0.2, -0.6]])

HIGH = np.abs(ROWS) + 0.3

INSIDE = np.array([0.2, 0.35, 0.8])

TWICE = ("value", "tangent", "adjoint", "stacking")

WEIGHTS = np.array([1.0, 0.3, 0.0])

CASES = [
    Case("logsumexp", lambda x: sc.logsumexp(x), (ROWS,)),
    Case("logsumexp, axis", lambda x: sc.logsumexp(x, axis=0, keepdims=True), (ROWS,)),
    Case("logsumexp, weights", lambda x, b: sc.logsumexp(x, axis=-1, b=b), (ROWS, WEIGHTS)),
    Case("logsumexp, sign", lambda x, b: sc.logsumexp(x, 1, b, return_sign=True), (ROWS, 0.1 - WEIGHTS)),
    Case("softmax", lambda x: sc.softmax(x, axis=-1), (ROWS,)),
    Case("softmax, all", lambda x: sc.softmax(x), (ROWS,)),
    Case("log_softmax", lambda x: sc.log_softmax(x, axis=0), (ROWS,)),
    Case("multigammaln", lambda x: sc.multigammaln(x + 3.0, 4), (HIGH,)),
    Case("polygamma", lambda x: sc.polygamma(2, x), (HIGH,)),
    Case("zeta", lambda q: sc.zeta(2.5, q), (HIGH,)),
    Case("lambertw", lambda z: sc.lambertw(z), (HIGH,)),
    Case("lambertw, branch", lambda z: sc.lambertw(z, 1), (ROWS + 1j * HIGH,), laws=tuple(LAWS)[:-1]),
    Case("factorial", lambda n: sc.factorial(n), (ROWS,)),
    Case("comb", lambda n, k: sc.comb(n + 5.0, k), (HIGH, HIGH)),
    Case("comb, repetition", lambda n, k: sc.comb(n + 5.0, k, repetition=True), (HIGH, HIGH)),
    Case("perm", lambda n, k: sc.perm(n + 5.0, k), (HIGH, HIGH)),
    Case("diric", lambda x: sc.diric(x, 5), (ROWS,)),
    Case("sph_harm_y", lambda t, p: sc.sph_harm_y(3, 2, t, p), (HIGH, ROWS)),
    Case("sph_harm_y, at its last order", lambda t, p: sc.sph_harm_y(2, -2, t, p), (HIGH, ROWS)),
    Case("spherical_jn", lambda x: sc.spherical_jn(2, x), (ROWS,)),
    Case("spherical_jn, slope", lambda x: sc.spherical_jn(2, x, derivative=True), (ROWS,)),
    Case("spherical_yn", lambda x: sc.spherical_yn(1, x), (HIGH,)),
    Case("spherical_in", lambda x: sc.spherical_in(0, x), (ROWS,)),
    Case("spherical_kn", lambda x: sc.spherical_kn(1, x), (HIGH,)),
    Case("sinc", lambda x: sc.sinc(x), (ROWS,)),
    *[Case(f"SciPy's {f.__name__}", lambda x, f=f: f(x), (HIGH,)) for f in (sc.cbrt, sc.exp2, sc.expm1, sc.log1p)],
    Case("jvp", lambda x: sc.jvp(1.5, x, 2), (HIGH,)),
    Case("kvp", lambda x: sc.kvp(1.5, x, 2), (HIGH,)),
    *[Case(f"{n}, slope", lambda x, f=getattr(sc, n): f(1.5, x), (HIGH,)) for n in ("h1vp", "h2vp", "ivp", "yvp")],
    Case("assoc_laguerre", lambda x: sc.assoc_laguerre(x, 3, 1.5), (HIGH,)),
    *[Case(n, lambda x, f=getattr(sc, n): f(3, x), (INSIDE,), TWICE) for n in ("legendre_p", "legendre_p_all")],
    *[
        Case(n, lambda x, f=getattr(sc, n): f(3, 1, x), (INSIDE,), TWICE)
        for n in ("assoc_legendre_p", "sph_legendre_p", "assoc_legendre_p_all", "sph_legendre_p_all")
    ],
    *[Case(n, lambda x, f=getattr(sc, n): f(3, x), (0.7,), TWICE) for n in ("riccati_jn", "riccati_yn")],
    *[Case(n, lambda x, f=getattr(sc, n): f(2.3, x), (0.7,), TWICE) for n in ("pbdv_seq", "pbvv_seq")],
    *[
        Case(n, lambda x, f=getattr(sc, n)(3): f(x), (INSIDE,), TWICE)
        for n in (
            "legendre",
            "chebyt",
            "chebyu",
            "chebyc",
            "chebys",
            "hermite",
            "hermitenorm",
            "laguerre",
            "sh_legendre",
            "sh_chebyt",
            "sh_chebyu",
        )
    ],
    *[Case(n, lambda x, f=getattr(sc, n)(3, 0.7): f(x), (INSIDE,), TWICE) for n in ("genlaguerre", "gegenbauer")],
    *[Case(n, lambda x, f=getattr(sc, n)(3, 2.7, 1.9): f(x), (INSIDE,), TWICE) for n in ("jacobi", "sh_jacobi")],
]

if hasattr(sc, "softplus"):
    CASES.append(Case("softplus", lambda x: sc.softplus(x), (ROWS,)))
