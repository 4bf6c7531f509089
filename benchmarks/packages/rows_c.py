"""Filters, chemistry, astronomy, colours, rotations, meshes and compiled packages."""

from __future__ import annotations

import numpy as np

from .row import Made, of_number, row


@row("pvlib")
def pvlib_sapm_cell_erbs() -> Made:
    """Sapm_cell, erbs."""
    import pvlib

    return (lambda x: pvlib.temperature.sapm_cell(x[0], x[1], x[2], -3.47, -0.0594, 3.0), np.array([900.0, 20.0, 3.0]))


@row("pvlib")
def pvlib_i_from_v() -> Made:
    """I_from_v."""
    import pvlib

    return (lambda v: pvlib.pvsystem.i_from_v(v, 7.0, 1e-09, 0.3, 500.0, 1.5).sum(), np.array([10.0, 20.0]))


@row("pvlib")
def pvlib_isotropic_haydavies() -> Made:
    """Isotropic + haydavies."""
    import pvlib

    return (
        lambda x: pvlib.irradiance.haydavies(30.0, 180.0, x[0], x[1], 1360.0, 40.0, 170.0),
        np.array([120.0, 700.0]),
    )


@row("pvlib")
def pvlib_physical_iam_airmass() -> Made:
    """Physical iam, airmass."""
    import pvlib

    return (lambda x: (pvlib.iam.physical(x) + pvlib.atmosphere.get_relative_airmass(x)).sum(), np.array([20.0, 50.0]))


@row("numdifftools")
def numdifftools_derivative_of_a_closure() -> Made:
    """Derivative of a closure."""
    import numdifftools as nd

    def f(a):
        return nd.Derivative(lambda t: np.exp(a * t))(0.5)

    return (of_number(f), [1.2])


@row("filterpy")
def filterpy_kalmanfilter_log_likelihood() -> Made:
    """KalmanFilter log-likelihood."""
    from filterpy.kalman import KalmanFilter

    zs = [1.0, 1.2, 1.7, 2.1]

    def f(q):
        k = KalmanFilter(dim_x=2, dim_z=1)
        k.x = np.array([[0.0], [1.0]])
        k.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        k.H = np.array([[1.0, 0.0]])
        k.P = k.P * 10.0
        k.R = np.array([[0.5]])
        k.Q = np.eye(2) * q
        s = 0.0
        for z in zs:
            k.predict()
            k.update(z)
            s = s + k.y[0, 0] ** 2 + k.x[0, 0]
        return s

    return (of_number(f), [0.3])


@row("filterpy")
def filterpy_kalman_predict_update_functions() -> Made:
    """Kalman.predict/update functions."""
    from filterpy.kalman import predict, update

    def f(x):
        m, P = predict(x=x, P=np.eye(2), F=np.array([[1.0, 1.0], [0.0, 1.0]]), Q=np.eye(2) * 0.1)
        m, P = update(m, P, np.array([1.3]), R=np.array([[0.3]]), H=np.array([[1.0, 0.0]]))
        return (m**2).sum()

    return (f, np.array([0.1, 0.2]))


@row("filterpy")
def filterpy_q_discrete_white_noise() -> Made:
    """Q_discrete_white_noise."""
    from filterpy.common import Q_discrete_white_noise

    return (of_number(lambda dt: Q_discrete_white_noise(2, dt=dt, var=0.3).sum()), [0.4])


@row("chemicals")
def chemicals_antoine_rackett() -> Made:
    """Antoine, Rackett."""
    from chemicals import Antoine
    from chemicals.volume import Rackett

    return (of_number(lambda T: Antoine(T, 20.8, 2800.0, -40.0) + Rackett(T, 369.83, 4248000.0, 0.2763)), [300.0])


@row("fluids")
def fluids_friction_factor_clamond() -> Made:
    """Friction_factor Clamond."""
    from fluids import friction_factor

    return (of_number(lambda Re: friction_factor(Re=Re, eD=0.0001)), [100000.0])


@row("fluids")
def fluids_reynolds_dp_packed_bed() -> Made:
    """Reynolds, dP packed bed."""
    from fluids import Reynolds
    from fluids.packed_bed import Ergun

    return (
        of_number(
            lambda V: (
                Reynolds(V=V, D=0.25, rho=1.2, mu=1.8e-05) * 0.0001
                + Ergun(dp=0.0008, voidage=0.4, vs=V, rho=1000.0, mu=0.001, L=0.5)
            )
        ),
        [0.002],
    )


@row("thermo")
def thermo_pr_eos_pressure() -> Made:
    """PR EOS pressure."""
    from thermo.eos import PR

    return (of_number(lambda T: PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=T, P=1000000.0).V_l * 10000.0), [299.0])


@row("PyAstronomy")
def pyastronomy_pyasl_unred() -> Made:
    """Pyasl.unred."""
    from PyAstronomy import pyasl

    w = np.linspace(3000.0, 8000.0, 6)
    return (of_number(lambda e: pyasl.unred(w, np.ones(6), e).sum()), [0.3])


@row("PyAstronomy")
def pyastronomy_keplerellipse_xyzpos() -> Made:
    """KeplerEllipse.xyzPos."""
    from PyAstronomy import pyasl

    def f(e):
        k = pyasl.KeplerEllipse(a=1.0, per=1.0, e=e, Omega=10.0, i=30.0, w=20.0)
        return k.xyzPos(0.3).sum()

    return (of_number(f), [0.2])


@row("PyAstronomy")
def pyastronomy_markleykesolver_planck() -> Made:
    """MarkleyKESolver / planck."""
    from PyAstronomy import pyasl

    return (of_number(lambda T: pyasl.planck(T, lam=np.array([5e-07, 8e-07])).sum() * 1e-09), [5000.0])


@row("colour-science")
def colour_xyz_to_lab() -> Made:
    """XYZ_to_Lab."""
    import colour

    return (lambda x: (colour.XYZ_to_Lab(x) ** 2).sum(), np.array([0.2065, 0.122, 0.051]))


@row("colour-science")
def colour_delta_e_cie_2000() -> Made:
    """Delta_E CIE 2000."""
    import colour

    return (
        lambda x: colour.delta_E(x, np.array([100.0, 426.67945353, 72.39590835]), method="CIE 2000"),
        np.array([100.0, 21.57210357, 272.2281935]),
    )


@row("colour-science")
def colour_xyz_to_srgb() -> Made:
    """XYZ_to_sRGB."""
    import colour

    return (lambda x: (colour.XYZ_to_sRGB(x) ** 2).sum(), np.array([0.2065, 0.122, 0.051]))


@row("pyquaternion")
def pyquaternion_rotate_a_vector() -> Made:
    """Rotate a vector."""
    from pyquaternion import Quaternion

    def f(x):
        q = Quaternion(x[0], x[1], x[2], x[3])
        v = q.rotate(np.array([1.0, 2.0, 3.0]))
        return v[0] + 2 * v[1]

    return (f, np.array([0.9, 0.1, 0.2, 0.3]))


@row("pyquaternion")
def pyquaternion_slerp_exp() -> Made:
    """Slerp, exp."""
    from pyquaternion import Quaternion

    def f(t):
        a = Quaternion(axis=[1.0, 0, 0], angle=0.4)
        b = Quaternion(axis=[0.0, 1, 0], angle=0.9)
        return Quaternion.slerp(a, b, t).elements.sum()

    return (of_number(f), [0.3])


@row("transforms3d")
def transforms3d_euler2mat_quat2mat() -> Made:
    """Euler2mat, quat2mat."""
    import transforms3d as t

    return (
        lambda x: (
            (t.euler.euler2mat(x[0], x[1], x[2]) * np.arange(9.0).reshape(3, 3)).sum()
            + (t.quaternions.quat2mat(np.array([1.0, x[0], x[1], x[2]])) * np.arange(9.0).reshape(3, 3)).sum()
        ),
        np.array([0.1, 0.2, 0.3]),
    )


@row("transforms3d")
def transforms3d_axangle2mat_mat2euler() -> Made:
    """Axangle2mat, mat2euler."""
    import transforms3d as t

    return (of_number(lambda a: sum(t.euler.mat2euler(t.axangles.axangle2mat([1.0, 2.0, 3.0], a)))), [0.4])


@row("trimesh")
def trimesh_triangles_area_cross() -> Made:
    """Triangles.area, cross."""
    from trimesh import triangles

    r = np.random.default_rng(0).normal(size=(4, 3, 3))
    return (lambda x: triangles.area(x).sum(), r)


@row("trimesh")
def trimesh_transformations_rotation_matrix() -> Made:
    """Transformations.rotation_matrix."""
    from trimesh import transformations as tf

    return (of_number(lambda a: (tf.rotation_matrix(a, [1.0, 2.0, 3.0]) * np.arange(16.0).reshape(4, 4)).sum()), [0.4])


@row("trimesh")
def trimesh_mass_properties() -> Made:
    """Mass_properties."""
    import trimesh

    m = trimesh.creation.box()
    F = np.array(m.faces)
    return (lambda v: trimesh.triangles.mass_properties(v[F], skip_inertia=False).volume, np.array(m.vertices))


@row("networkx")
def networkx_pagerank_like_laplacian_quad_form() -> Made:
    """Pagerank-like laplacian quad form."""
    import networkx as nx

    G = nx.path_graph(4)
    L = nx.laplacian_matrix(G).toarray().astype(float)
    return (lambda x: x @ L @ x, np.array([1.0, 2.0, 4.0, 3.0]))


@row("networkx")
def networkx_edge_weight_shortest_path_length() -> Made:
    """Edge weight shortest path length."""
    import networkx as nx

    def f(w):
        G = nx.Graph()
        G.add_edge(0, 1, weight=w[0])
        G.add_edge(1, 2, weight=w[1])
        G.add_edge(0, 2, weight=w[2])
        return nx.shortest_path_length(G, 0, 2, weight="weight")

    return (f, np.array([1.0, 2.0, 4.0]))


@row("gstools")
def gstools_gaussian_covariance() -> Made:
    """Gaussian covariance."""
    import gstools as gs

    r = np.linspace(0.1, 3, 5)
    return (of_number(lambda s: gs.Gaussian(dim=2, var=1.5, len_scale=s).variogram(r).sum()), [1.2])


@row("gstools")
def gstools_matern_exponential_correlation() -> Made:
    """Matern / Exponential correlation."""
    import gstools as gs

    m = gs.Exponential(dim=2, var=1.5, len_scale=1.3)
    return (lambda r: m.covariance(r).sum(), np.array([0.3, 0.7]))


@row("discretize")
def discretize_tensormesh_grad_operator() -> Made:
    """TensorMesh grad operator."""
    import discretize

    m = discretize.TensorMesh([4, 3])
    D = m.face_divergence
    return (lambda u: ((D @ u) ** 2).sum(), np.linspace(0, 1, m.n_faces) ** 2)


@row("discretize")
def discretize_cell_volumes_of_h() -> Made:
    """Cell_volumes of h."""
    import discretize

    def f(h):
        return (discretize.TensorMesh([h, np.ones(2)]).cell_volumes ** 2).sum()

    return (f, np.array([0.5, 1.0, 0.7]))


@row("shapely", compiled="linearrings")
def shapely_area() -> Made:
    """Area."""
    import shapely

    return (lambda x: shapely.Polygon(x).area, np.array([[0.0, 0], [1, 0], [1, 1.2]]))


@row("numba", compiled="g")
def numba_njit_function() -> Made:
    """Njit function."""
    import numba

    @numba.njit
    def g(x):
        s = 0.0
        for v in x:
            s += v * v
        return s

    return (lambda x: g(x), np.array([1.0, 2.0]))


@row("numba", compiled="numba")
def numba_vectorize() -> Made:
    """Vectorize."""
    import numba

    @numba.vectorize(["float64(float64)"])
    def g(x):
        return x * x

    return (lambda x: g(x).sum(), np.array([1.0, 2.0]))
