"""Slopes of incomplete functions in their shapes, of K in its order, of zeta in its exponent, against more digits."""

import numpy as np
import pytest
import scipy.special as sc

import adjoint as ad

mpmath = pytest.importorskip("mpmath")

GAMMA = [(a, a * r) for a in (1e-3, 0.5, 1.0, 2.5, 50.0, 1e4) for r in (1e-3, 0.5, 0.99, 1.1, 3.0)]
BETA = [(a, b, x) for a in (0.01, 1.0, 20.0) for b in (0.3, 3.0, 300.0) for x in (1e-6, 0.2, 0.8)]


@pytest.mark.parametrize(("a", "x"), GAMMA)
def test_gammainc(a, x):
    """To 12 digits, in both tails, unless the slope is too small for a number."""
    with mpmath.workdps(40):
        if x < a:
            want = mpmath.diff(lambda a: mpmath.gammainc(a, 0, mpmath.mpf(x), regularized=True), mpmath.mpf(a))
        else:
            want = -mpmath.diff(lambda a: mpmath.gammainc(a, mpmath.mpf(x), mpmath.inf, True), mpmath.mpf(a))
    if abs(want) > 1e-280:
        assert ad.grad(sc.gammainc)(a, x) == pytest.approx(float(want), rel=1e-12)
        assert ad.grad(sc.gammaincc)(a, x) == pytest.approx(-float(want), rel=1e-12)


@pytest.mark.parametrize(("a", "b", "x"), BETA)
def test_betainc(a, b, x):
    """To 10 digits in both shapes, as far as the difference of the reference has them."""

    def level(a, b):
        return mpmath.betainc(a, b, 0, mpmath.mpf(x), regularized=True)

    with mpmath.workdps(40):
        h, first, second = mpmath.mpf("1e-12"), mpmath.mpf(a), mpmath.mpf(b)
        wanted = [
            (level(first + h, second) - level(first - h, second)) / (2 * h),
            (level(first, second + h) - level(first, second - h)) / (2 * h),
        ]
    for got, want in zip(ad.grad(sc.betainc, (0, 1))(a, b, x), wanted, strict=True):
        assert got == pytest.approx(float(want), rel=1e-10, abs=1e-18)


@pytest.mark.parametrize(("v", "z"), [(0.3, 0.01), (2.5, 1.0), (50.0, 1.0), (1.0, 300.0)])
def test_order_of_k(v, z):
    """To 12 digits."""
    want = float(mpmath.diff(lambda v: mpmath.besselk(v, z) * mpmath.exp(z), v))
    assert ad.grad(lambda v: sc.kve(v, z))(v) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(("s", "q"), [(1.1, 1.0), (3.0, 1.0), (2.0, 0.3), (9.0, 4.0)])
def test_exponent_of_zeta(s, q):
    """To 13 digits."""
    want = float(mpmath.diff(lambda s: mpmath.zeta(s, q), s))
    assert ad.grad(lambda s: sc.zeta(s, q))(s) == pytest.approx(want, rel=1e-13)


def test_ends():
    """At the ends of the support a level does not move with the shapes, nor does a quantile."""
    assert ad.grad(sc.gammainc)(2.0, 0.0) == 0.0
    assert ad.grad(sc.gammainc)(2.0, np.inf) == 0.0
    assert ad.grad(sc.betainc, (0, 1))(2.0, 3.0, 0.0) == (0.0, 0.0)
    assert ad.grad(sc.betainc, (0, 1))(2.0, 3.0, 1.0) == (0.0, 0.0)
    assert ad.grad(sc.stdtr)(3.0, 0.0) == 0.0
