"""Units, tables, cosmology, control, images, atoms, optics and solar cells."""

from __future__ import annotations

import numpy as np

from .row import Made, of_number, row


@row("xarray")
def xarray_weighted_mean_of_a_dataarray() -> Made:
    """Weighted mean of a DataArray."""
    import xarray as xr

    def f(x):
        a = xr.DataArray(x, dims=("t",), coords={"t": np.arange(4.0)})
        return ((a - a.mean("t")) ** 2).sum("t").values

    return (f, np.array([1.0, 2.0, 4.0, 7.0]))


@row("xarray")
def xarray_dot_broadcasting_by_name() -> Made:
    """Dot, broadcasting by name."""
    import xarray as xr

    w = xr.DataArray(np.arange(12.0).reshape(3, 4), dims=("a", "b"))

    def f(x):
        v = xr.DataArray(x, dims=("b",))
        return np.tanh(w * 0.1 * v).sum().data

    return (f, np.array([0.1, 0.2, 0.3, 0.4]))


@row("xarray")
def xarray_isel_diff_where() -> Made:
    """Isel, diff, where."""
    import xarray as xr

    def f(x):
        v = xr.DataArray(x, dims=("t",), coords={"t": np.arange(4.0)})
        d = v.diff("t")
        return (d.where(d > 0, 0.0) ** 2).sum().data + v.isel(t=1).data

    return (f, np.array([0.1, 0.5, 0.3, 0.4]))


@row("pint")
def pint_kinetic_energy() -> Made:
    """Kinetic energy."""
    import pint

    u = pint.UnitRegistry()

    def f(v):
        q = v * u.meter / u.second
        return (0.5 * (2.0 * u.kilogram) * q**2).to("kilojoule").magnitude.sum()

    return (f, np.array([1.0, 2.0, 3.0]))


@row("pint")
def pint_ideal_gas() -> Made:
    """Ideal gas."""
    import pint

    u = pint.UnitRegistry()
    R = 8.314 * u.joule / u.mol / u.kelvin

    def f(T):
        p = 1.0 * u.mol * R * (T * u.kelvin) / (0.02 * u.meter**3)
        return p.to(u.kilopascal).magnitude

    return (of_number(f), [300.0])


@row("pint")
def pint_sin_of_degrees() -> Made:
    """Sin of degrees."""
    import pint

    u = pint.UnitRegistry()

    def f(a):
        return np.sum(np.sin(a * u.degree)).magnitude

    return (f, np.array([10.0, 20.0]))


@row("uncertainties", compiled="float.__mul__")
def uncertainties_nominal_value_of_a_product() -> Made:
    """Nominal value of a product."""
    from uncertainties import ufloat

    def f(x):
        a = ufloat(x, 0.1)
        b = ufloat(2.0, 0.2)
        return (a * b + a**2).nominal_value

    return (of_number(f), [1.5])


@row("uncertainties")
def uncertainties_standard_deviation() -> Made:
    """Standard deviation."""
    from uncertainties import ufloat

    def f(s):
        a = ufloat(1.5, s)
        b = ufloat(2.0, 0.2)
        return (a * b).std_dev

    return (of_number(f), [0.3])


@row("sympy")
def sympy_lambdify_numpy() -> Made:
    """Lambdify numpy."""
    import sympy as sp

    x, y = sp.symbols("x y")
    g = sp.lambdify((x, y), sp.exp(-(x**2)) * sp.besselj(0, y) + sp.Piecewise((x, x > 0), (y, True)), "scipy")
    return (lambda v: g(v[0], v[1]), np.array([0.4, 0.7]))


@row("sympy")
def sympy_lambdify_matrix_cse() -> Made:
    """Lambdify matrix, cse."""
    import sympy as sp

    x, y = sp.symbols("x y")
    M = sp.Matrix([[sp.cos(x), -sp.sin(x) * y], [sp.sin(x), sp.cos(x) * y]])
    g = sp.lambdify((x, y), M, "numpy", cse=True)
    return (lambda v: (g(v[0], v[1]) ** 2 * np.arange(4.0).reshape(2, 2)).sum(), np.array([0.4, 0.7]))


@row("astropy")
def astropy_flatlambdacdm_luminosity_distance() -> Made:
    """FlatLambdaCDM.luminosity_distance."""
    from astropy.cosmology import FlatLambdaCDM

    def f(z):
        c = FlatLambdaCDM(H0=70.0, Om0=0.3)
        return c.luminosity_distance(z).value

    return (of_number(f), [0.5])


@row("astropy")
def astropy_efunc_in_om0() -> Made:
    """Efunc in Om0."""
    from astropy.cosmology import FlatLambdaCDM

    def f(om):
        return FlatLambdaCDM(H0=70.0, Om0=om).efunc(0.5)

    return (of_number(f), [0.3])


@row("astropy")
def astropy_w0wacdm_de_density_scale() -> Made:
    """W0waCDM.de_density_scale."""
    from astropy.cosmology import w0waCDM

    c = w0waCDM(H0=70, Om0=0.3, Ode0=0.7, w0=-0.9, wa=0.1)
    return (lambda z: c.efunc(z).sum(), np.array([0.2, 0.5]))


@row("astropy")
def astropy_gaussian1d_model() -> Made:
    """Gaussian1D model."""
    from astropy.modeling.models import Gaussian1D

    xs = np.linspace(-1, 1, 5)
    return (lambda p: Gaussian1D.evaluate(xs, p[0], p[1], p[2]).sum(), np.array([1.0, 0.2, 0.5]))


@row("astropy")
def astropy_blackbody_units() -> Made:
    """Blackbody units."""
    import astropy.units as u

    def f(v):
        return (0.5 * (3.0 * u.kg) * (v * u.m / u.s) ** 2).to(u.J).value.sum()

    return (f, np.array([1.0, 2.0]))


@row("astropy")
def astropy_sersic1d_powerlaw1d_evaluate() -> Made:
    """Sersic1D / PowerLaw1D evaluate."""
    from astropy.modeling.models import Moffat1D, PowerLaw1D

    xs = np.linspace(1, 2, 5)
    return (
        lambda p: (PowerLaw1D.evaluate(xs, p[0], p[1], p[2]) + Moffat1D.evaluate(xs, 1.0, p[0], p[1], p[2])).sum(),
        np.array([1.0, 1.2, 0.5]),
    )


@row("control")
def control_tf_frequency_response() -> Made:
    """Tf frequency response."""
    import control

    def f(k):
        s = control.tf([k], [1.0, 2.0, 1.0])
        return np.abs(s(1j * 0.7))

    return (of_number(f), [1.3])


@row("control")
def control_ss_dcgain() -> Made:
    """Ss dcgain."""
    import control

    def f(k):
        s = control.ss([[0.0, 1.0], [-2.0, -k]], [[0.0], [1.0]], [[1.0, 0.5]], [[0.0]])
        return np.abs(s(0.5j))

    return (of_number(f), [1.3])


@row("control")
def control_step_response_of_ss() -> Made:
    """Step_response of ss."""
    import control

    def f(k):
        s = control.ss(np.array([[0.0, 1.0], [-2.0, -k]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]]), 0.0)
        T = np.linspace(0, 3, 7)
        _t, y = control.step_response(s, T)
        return y.sum()

    return (of_number(f), [1.3])


@row("control")
def control_lqr_gain() -> Made:
    """Lqr gain."""
    import control

    def f(k):
        _K, S, _E = control.lqr(
            np.array([[0.0, 1.0], [-2.0, -1.0]]), np.array([[0.0], [1.0]]), np.eye(2) * k, np.eye(1)
        )
        return S.sum()

    return (of_number(f), [1.3])


@row("scikit-image")
def skimage_rgb2gray() -> Made:
    """Rgb2gray."""
    from skimage.color import rgb2gray

    return (lambda x: (rgb2gray(x) ** 2).sum(), np.linspace(0.1, 0.9, 27).reshape(3, 3, 3))


@row("scikit-image")
def skimage_rgb2lab() -> Made:
    """Rgb2lab."""
    from skimage.color import rgb2lab

    return (lambda x: rgb2lab(x).sum(), np.linspace(0.1, 0.9, 12).reshape(2, 2, 3))


@row("scikit-image")
def skimage_filters_gaussian() -> Made:
    """Filters.gaussian."""
    from skimage.filters import gaussian

    return (lambda x: (gaussian(x, 1.0) ** 2).sum(), np.linspace(0.1, 0.9, 25).reshape(5, 5))


@row("scikit-image")
def skimage_filters_sobel() -> Made:
    """Filters.sobel."""
    from skimage.filters import sobel

    x = np.random.default_rng(0).uniform(size=(5, 5))
    return (lambda x: sobel(x).sum(), x)


@row("scikit-image")
def skimage_metrics_ssim() -> Made:
    """Metrics ssim."""
    from skimage.metrics import structural_similarity

    r = np.random.default_rng(0)
    y = r.uniform(size=(9, 9))
    return (lambda x: structural_similarity(x, y, data_range=1.0), r.uniform(size=(9, 9)))


@row("scikit-image")
def skimage_denoise_tv_chambolle() -> Made:
    """Denoise_tv_chambolle."""
    from skimage.restoration import denoise_tv_chambolle

    r = np.random.default_rng(0)
    return (lambda x: (denoise_tv_chambolle(x, weight=0.1, max_num_iter=5) ** 2).sum(), r.uniform(size=(6, 6)))


@row("ase", compiled="cKDTree")
def ase_lennardjones_energy_of_positions() -> Made:
    """LennardJones energy of positions."""
    from ase import Atoms
    from ase.calculators.lj import LennardJones

    def f(p):
        a = Atoms("Ar3", positions=p)
        a.calc = LennardJones(sigma=1.0, epsilon=1.0, rc=5.0)
        return a.get_potential_energy()

    return (f, np.array([[0.0, 0, 0], [1.1, 0.1, 0], [0.3, 1.2, 0.2]]))


@row("ase")
def ase_get_distance_angle() -> Made:
    """Get_distance, angle."""
    from ase import Atoms

    def f(p):
        a = Atoms("H2O", positions=p)
        return a.get_distance(0, 1) + a.get_angle(1, 0, 2)

    return (f, np.array([[0.0, 0, 0], [1.1, 0.1, 0], [0.3, 1.2, 0.2]]))


@row("ase")
def ase_geometry_center_of_mass() -> Made:
    """Geometry center of mass."""
    from ase import Atoms

    def f(p):
        a = Atoms("H2O", positions=p)
        return (a.get_center_of_mass() ** 2).sum()

    return (f, np.array([[0.0, 0, 0], [1.1, 0.1, 0], [0.3, 1.2, 0.2]]))


@row("ase")
def ase_eos_birchmurnaghan() -> Made:
    """Eos birchmurnaghan."""
    from ase.eos import birchmurnaghan, murnaghan

    return (lambda p: birchmurnaghan(11.0, *p) + murnaghan(11.0, *p), np.array([-1.0, 0.8, 4.0, 10.0]))


@row("tmm")
def tmm_coh_tmm_r_of_thicknesses() -> Made:
    """Coh_tmm R of thicknesses."""
    import tmm

    def f(d):
        return tmm.coh_tmm("s", [1.0, 2.2, 1.5 + 0.1j, 1.0], [np.inf, d[0], d[1], np.inf], 0.3, 500.0)["R"]

    return (f, np.array([100.0, 200.0]))


@row("tmm")
def tmm_unpolarized_rt_of_index() -> Made:
    """Unpolarized_RT of index."""
    import tmm

    def f(n):
        return tmm.unpolarized_RT([1.0, n, 1.5], [np.inf, 120.0, np.inf], 0.2, 500.0)["T"]

    return (of_number(f), [2.1])


@row("pvlib")
def pvlib_pvwatts_dc() -> Made:
    """Pvwatts_dc."""
    import pvlib

    return (lambda x: pvlib.pvsystem.pvwatts_dc(x[0], x[1], 100.0, -0.003), np.array([800.0, 40.0]))


@row("pvlib")
def pvlib_singlediode_lambertw() -> Made:
    """Singlediode lambertw."""
    import pvlib

    def f(x):
        return pvlib.pvsystem.singlediode(x[0], x[1], 0.3, 500.0, 1.5, method="lambertw")["p_mp"]

    return (f, np.array([7.0, 1e-09]))
