"""Slopes of special functions at points where their formulas need care: ends, poles, zeros, far out, cut orders."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special as sc

import adjoint as ad

SMOOTH = [
    (sc.kn, (0.9, 0.7), 1), (sc.kn, (2.5, 1.3), 1), (sc.yn, (0.5, 0.7), 1), (sc.yn, (1.9, 2.0), 1),
    (sc.bdtr, (0.5, 0.5, 0.3), 2), (sc.bdtr, (1.0, 4.7, 0.3), 2), (sc.bdtrc, (0.0, 0.5, 0.3), 2),
    (sc.nbdtr, (0.5, 2.0, 0.3), 2), (sc.nbdtrc, (1.9, 2.5, 0.3), 2), (sc.nbdtri, (0.5, 2.0, 0.3), 2),
    (sc.pdtri, (0.9, 0.3), 1), (sc.smirnov, (2.5, 0.3), 1), (sc.smirnovi, (2.5, 0.3), 1),
    (sc.kolmogorov, (-0.5,), 0), (sc.kolmogorov, (-30.0,), 0), (sc.kolmogorov, (0.0,), 0),
    (sc.elliprj, (1.0, 1.0, 5.0, 1.0), 3), (sc.elliprj, (1.0, 0.5, 2.0, 1.0), 0), (sc.elliprj, (0.5, 0.5, 0.5, 0.5), 3),
    (sc.elliprj, (1.0, 2.0, 3.0, 2.0 + 1e-7), 1), (sc.elliprc, (0.5, -1.5), 0), (sc.elliprc, (0.5, -1.5), 1),
    (sc.elliprg, (2.0, 0.0, 0.0), 0), (sc.binom, (1.0, 2.0), 0), (sc.binom, (0.0, 1.0), 0), (sc.binom, (2.0, 5.0), 0),
    (sc.binom, (-0.5, 0.5), 0), (sc.beta, (-2.5, 0.5), 0), (sc.beta, (0.5, -1.5), 1),
    (sc.betaln, (-5.0, 2.0), 0), (sc.poch, (-5.0, -1.5), 0), (sc.poch, (-3.0, 2.0), 0), (sc.poch, (-1.0, 0.0), 0),
    (sc.it2struve0, (0.0,), 0), (sc.hyp1f1, (0.0, 0.5, 1e5), 2), (sc.gdtr, (2.0, 0.5, 0.0), 0),
    (sc.struve, (0.0, 0.4), 1), (sc.struve, (2.5, 30.0), 1), (sc.modstruve, (1.0, 0.5), 1), (sc.agm, (2.0, 0.0), 0),
    (sc.voigt_profile, (1.5, 0.0, 0.7), 0), (sc.voigt_profile, (1.5, 0.0, 0.7), 2), (sc.powm1, (0.0, 0.7), 1),
    (sc.ncfdtr, (2.0, 3.0, 2e3, 900.0), 2), (sc.chndtr, (900.0, 2.0, 950.0), 0), (sc.chndtr, (900.0, 2.0, 950.0), 2),
    (sc.lpmv, (0.0, 2.0, 0.5), 2), (sc.i1e, (20.0,), 0), (sc.i0e, (2e3,), 0),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:non-integer arg n:DeprecationWarning")
@pytest.mark.parametrize(("f", "point", "place"), SMOOTH, ids=lambda x: getattr(x, "__name__", str(x)))
def test_slope_equals_differences(f, point, place):
    """A smooth function at an unusual point: the slope of its values."""

    def along(t):
        args = list(point)
        args[place] = t
        return f(*args)

    x, h = point[place], 1e-4 * max(1.0, abs(point[place]))
    values = [along(x + k * h) for k in (-2, -1, 1, 2)]
    wanted = (8 * (values[2] - values[1]) - (values[3] - values[0])) / (12 * h)
    for found in (ad.grad(along)(x), ad.jvp(along, (x,), (1.0,))[1], ad.jit(ad.grad(along))(x)):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9 * max(1.0, abs(f(*point))))


EXACT = [
    (lambda x: sc.lpmv(0, 2, x), 1.0, 3.0),
    (lambda x: sc.lpmv(0, 2, x), -1.0, -3.0),
    (lambda x: sc.lpmv(0, 3, x), -1.0, 6.0),
    (lambda x: sc.lpmv(2, 2, x), 1.0, -6.0),
    (lambda x: sc.lpmv(2, 3, x), 1.0, -30.0),
    (lambda x: sc.lpmv(3, 4, x), 1.0, 0.0),
    (lambda x: sc.lpmv(1, 2, x), 1.0, math.inf),
    (sc.i1e, 2e9, -0.5 * sc.i1e(2e9) / 2e9),
    (sc.i1e, -2e9, -0.5 * sc.i1e(2e9) / 2e9),
    (lambda p: sc.smirnovi(2, p), 0.0, -math.inf),
    (lambda n: sc.binom(n, 2), 1.0, 0.5),
    (lambda p: sc.elliprj(1.0, 1.0, 5.0, p), 1.0, -0.3128),
    (lambda n: sc.comb(n, 0.0, repetition=True), 0.0, 0.0),
]


@pytest.mark.parametrize(("f", "x", "wanted"), EXACT, ids=range(len(EXACT)))
def test_slope_at_the_end_of_a_domain(f, x, wanted):
    """Limits that are known in closed form."""
    for found in (ad.grad(f)(x), ad.jvp(f, (x,), (1.0,))[1], ad.jit(ad.grad(f))(x)):
        np.testing.assert_allclose(found, wanted, rtol=2e-4 if f is EXACT[-2][0] else 1e-6)


@pytest.mark.parametrize("order", [(1, 0), (1, 1), (2, 1), (2, -1), (3, 2), (3, 0)])
@pytest.mark.parametrize("theta", [-3.0, -0.5, 0.5, 3.0, 4.0, 7.0])
def test_spherical_harmonics_on_the_whole_circle(order, theta):
    """SciPy's are even in theta; so their slopes are odd."""
    for part in (np.real, np.imag):

        def f(t, part=part):
            return part(sc.sph_harm_y(*order, t, 0.3))

        wanted = (f(theta + 1e-6) - f(theta - 1e-6)) / 2e-6
        np.testing.assert_allclose(ad.grad(f)(theta), wanted, rtol=1e-7, atol=1e-8)


def test_comb_of_nothing():
    """One way to choose nothing from nothing, also with repetition."""
    assert ad.jvp(lambda n: sc.comb(n, 0.0, repetition=True), (0.0,), (1.0,))[0] == 1.0
    assert sc.comb(0, 0, repetition=True) == 1.0
