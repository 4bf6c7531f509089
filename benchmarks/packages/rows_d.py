"""Finite elements, splines, swarms, orbits, optics, weather, refraction, attitude and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .row import Made, of_number, row


@row("pyswarms")
def pyswarms_objectives() -> Made:
    """Objective functions of many particles."""
    from pyswarms.utils.functions import single_obj as fx

    return (
        lambda p: np.sum(fx.ackley(np.reshape(p, (2, 2))) + fx.rosenbrock(np.reshape(p, (2, 2)))),
        [0.3, 0.7, -0.2, 1.1],
    )


@row("scikit-fem")
def skfem_poisson() -> Made:
    """The energy of a discretised Poisson problem."""
    import skfem
    from skfem.models.poisson import laplace, unit_load

    basis = skfem.Basis(skfem.MeshTri().refined(1), skfem.ElementTriP1())
    stiffness, load = laplace.assemble(basis), unit_load.assemble(basis)
    return lambda u: 0.5 * u @ (stiffness @ u) - load @ u, np.linspace(0.1, 0.9, 9)


@row("scikit-fem")
def skfem_interpolated_form() -> Made:
    """A form assembled with a field that is given, as in Newton's method."""
    import skfem
    from skfem.helpers import dot, grad

    basis = skfem.Basis(skfem.MeshTri().refined(1), skfem.ElementTriP1())

    @skfem.Functional
    def energy(w: Any) -> Any:
        return 0.5 * (1.0 + w["u"] ** 2) * dot(grad(w["u"]), grad(w["u"]))

    return lambda u: energy.assemble(basis, u=basis.interpolate(u)), np.linspace(0.1, 0.9, 9) ** 2


@row("geomdl")
def geomdl_curve() -> Made:
    """A point of a B-spline curve."""
    from geomdl import BSpline, utilities

    def f(p: Any) -> Any:
        curve = BSpline.Curve()
        curve.degree = 2
        curve.ctrlpts = [[0.0, 0.0], [p[0], p[1]], [2.0, p[2]], [3.0, 0.0]]
        curve.knotvector = utilities.generate_knot_vector(2, 4)
        x, y = curve.evaluate_single(0.3)
        return x**2 + y

    return f, [0.7, 1.2, 0.4]


@row("sgp4", compiled="satellite.sgp4")
def sgp4_position() -> Made:
    """A satellite's position, by C++."""
    from sgp4.api import Satrec

    s = "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991"
    t = "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482"
    satellite = Satrec.twoline2rv(s, t)
    return of_number(lambda fr: satellite.sgp4(2458827.0, fr)[1][0] * 1e-3), [0.362605]


@row("sgp4")
def sgp4_in_python() -> Made:
    """The same in Python."""
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    s = "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991"
    t = "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482"
    satellite = twoline2rv(s, t, wgs72)
    return of_number(lambda minutes: sgp4(satellite, minutes)[0][0] * 1e-3), [12.5]


@row("tslearn", compiled="_soft_dtw_generic")
def tslearn_soft_dtw() -> Made:
    """Soft dynamic time warping of a series and another."""
    from tslearn.metrics import soft_dtw

    y = np.array([0.1, 0.5, 0.9, 0.2])
    return lambda p: soft_dtw(p[:, None], y[:, None], gamma=0.7), [0.3, 0.8, 0.4, 0.1]


@row("PyWavelets", compiled="pywt")
def pywt_transform() -> Made:
    """A wavelet transform, by Cython."""
    import pywt

    signal = np.sin(np.arange(16) * 0.7)
    return lambda p: np.sum(pywt.dwt(signal * p[0] + p[1] * signal**2, "db2")[1] ** 2), [1.2, 0.3]


@row("galpy")
def galpy_potential() -> Made:
    """A potential and a circular velocity."""
    from galpy.potential import MiyamotoNagaiPotential, NFWPotential, evaluatePotentials, vcirc

    disk, halo = MiyamotoNagaiPotential(a=0.5, b=0.0375, normalize=0.6), NFWPotential(a=4.5, normalize=0.4)
    return (
        lambda p: evaluatePotentials([disk, halo], p[0], p[1]) + vcirc([disk, halo], p[0]),
        [1.1, 0.2],
    )


@row("ambiance")
def ambiance_atmosphere() -> Made:
    """Density and speed of sound of the standard atmosphere."""
    from ambiance import Atmosphere

    return lambda h: np.sum(Atmosphere(h).density * Atmosphere(h).speed_of_sound), [1000.0, 5000.0]


@row("scikit-rf")
def skrf_network() -> Made:
    """Networks in a row: reflection and transmission."""
    import skrf

    def f(p: Any) -> Any:
        s = np.zeros((1, 2, 2), complex)
        s[0, 0, 0], s[0, 0, 1], s[0, 1, 0], s[0, 1, 1] = 0.1 * p[0], 0.9 * p[1], 0.9 * p[1], 0.2j * p[0]
        cascade = skrf.network.connect_s(s, 1, s, 0)
        return np.sum(np.abs(cascade) ** 2)

    return f, [0.7, 0.9]


@row("psychrolib", compiled="numba")
def psychrolib_humidity() -> Made:
    """Humid air; by numba, if that is installed."""
    import psychrolib

    psychrolib.SetUnitSystem(psychrolib.SI)
    return (
        lambda p: (
            psychrolib.GetHumRatioFromRelHum(p[0], p[1], 101325.0) * 100.0
            + psychrolib.GetTDewPointFromRelHum(p[0], p[1])
        ),
        [25.0, 0.6],
    )


@row("iapws")
def iapws_steam() -> Made:
    """Water and steam in region 1 of the industrial formulation."""
    from iapws.iapws97 import _Region1

    return lambda p: _Region1(p[0], p[1])["h"], [300.0, 3.0]


@row("pytransform3d")
def pytransform3d_rotations() -> Made:
    """Rotations by axis and angle, and quaternions."""
    from pytransform3d import rotations as pr

    def f(p: Any) -> Any:
        q = pr.quaternion_from_axis_angle(np.hstack((pr.norm_vector(p[:3]), p[3])))
        return np.sum(pr.matrix_from_quaternion(q) * np.arange(9.0).reshape(3, 3))

    return f, [0.3, 0.5, 0.2, 0.7]


@row("scikit-spatial")
def skspatial_distance() -> Made:
    """The distance of a point from a plane."""
    from skspatial.objects import Plane, Point

    plane = Plane([0.0, 0.0, 1.0], [0.2, 0.3, 0.9])
    return lambda p: plane.distance_point(Point(p)) ** 2, [0.5, 0.7, 2.0]


@row("properscoring")
def properscoring_crps() -> Made:
    """The score of a forecast."""
    import properscoring

    obs = np.array([0.1, 0.7])
    return lambda p: np.sum(properscoring.crps_gaussian(obs, mu=p[0], sig=p[1])), [0.3, 0.8]


@row("numpy-financial")
def numpy_financial_values() -> Made:
    """Present values and payments."""
    import numpy_financial as npf

    flows = np.array([-100.0, 39.0, 59.0, 55.0, 20.0])
    return lambda p: npf.npv(p[0], flows) + npf.pmt(p[0] / 12, 15 * 12, p[1]), [0.05, 2000.0]


@row("empyrical")
def empyrical_ratios() -> Made:
    """Risk measures of returns."""
    import empyrical

    returns = np.random.default_rng(3).normal(0.001, 0.01, 20)
    return lambda p: empyrical.sharpe_ratio(returns * p[0] + p[1]) + empyrical.cum_returns_final(returns * p[0]), [
        1.2,
        0.002,
    ]


@row("dust_extinction")
def dust_extinction_law() -> Made:
    """An extinction law."""
    from dust_extinction.parameter_averages import CCM89

    x = np.array([1.0, 2.0, 4.0])
    return lambda p: np.sum(CCM89(Rv=3.1).evaluate(x * p[0], p[1])), [1.05, 3.3]


@row("rowan")
def rowan_rotation() -> Made:
    """Quaternions of many."""
    import rowan

    return lambda p: np.sum(rowan.rotate(rowan.normalize(p), np.array([1.0, 2.0, 3.0]))), [0.9, 0.1, 0.2, 0.3]


@row("ahrs")
def ahrs_direction_cosines() -> Made:
    """Direction cosine matrices."""
    from ahrs.common.orientation import q2R

    return lambda p: np.sum(q2R(p / np.linalg.norm(p)) * np.arange(9.0).reshape(3, 3)), [0.9, 0.1, 0.2, 0.3]


@row("nashpy")
def nashpy_payoff() -> Made:
    """The payoff of mixed strategies."""
    import nashpy

    def f(p: Any) -> Any:
        game = nashpy.Game(np.array([[p[0], 2.0], [0.5, p[1]]]))
        return game[np.array([0.3, 0.7]), np.array([0.6, 0.4])][0]

    return f, [1.3, 0.8]


@row("miepython")
def miepython_efficiencies() -> Made:
    """Scattering by a sphere."""
    import miepython

    return of_number(lambda x: miepython.efficiencies_mx(1.5 - 0.1j, x)[0]), [2.5]


@row("POT")
def pot_sinkhorn() -> Made:
    """Regularised optimal transport."""
    import ot

    a = np.full(3, 1.0 / 3.0)
    x, y = np.array([0.0, 0.4, 1.0]), np.array([0.1, 0.5, 0.8])

    def f(p: Any) -> Any:
        cost = (p[0] * x[:, None] - y[None, :]) ** 2 * p[1]
        return np.sum(ot.sinkhorn(a, a, cost, 0.5, numItermax=20, stopThr=0.0, warn=False) * cost)

    return f, [1.1, 0.8]


@row("prysm")
def prysm_polynomials() -> Made:
    """Zernike polynomials."""
    from prysm.polynomials import zernike_nm

    return lambda p: np.sum(zernike_nm(4, 2, p[:2], p[2:], norm=True)), [0.3, 0.7, 0.4, 1.1]


@row("lenstronomy", compiled="ellipticity2phi_q")
def lenstronomy_deflection() -> Made:
    """The deflection by a lens."""
    from lenstronomy.LensModel.lens_model import LensModel

    lens = LensModel(["SIE", "SHEAR"])

    def f(p: Any) -> Any:
        words = [
            {"theta_E": p[0], "e1": 0.1, "e2": p[1], "center_x": 0.0, "center_y": 0.0},
            {"gamma1": p[2], "gamma2": 0.01},
        ]
        ax, ay = lens.alpha(1.0, 0.5, words)
        return ax**2 + ay

    return f, [1.2, 0.05, 0.03]


@row("antropy")
def antropy_entropy() -> Made:
    """The spectral entropy of a signal."""
    from antropy import spectral_entropy

    signal = np.sin(np.arange(32) * 0.5) + 0.3 * np.random.default_rng(1).normal(size=32)
    return lambda p: spectral_entropy(signal * p[0] + p[1] * signal**2, 10.0, method="fft", normalize=True), [1.1, 0.2]


@row("pyet")
def pyet_humidity() -> Made:
    """Vapour pressures of evapotranspiration."""
    from pyet.meteo_utils import calc_e0, calc_vpc

    return lambda p: np.sum(calc_e0(p) * calc_vpc(p)), [18.0, 25.0]


@row("spectrum")
def spectrum_window() -> Made:
    """Correlations of a signal."""
    from spectrum import CORRELATION

    signal = np.sin(np.arange(12) * 0.7)
    return lambda p: np.sum(np.abs(CORRELATION(signal * p[0] + p[1], maxlags=3, norm="unbiased")) ** 2), [1.2, 0.3]
