"""scipy.interpolate: the laws over a table of cases, recordings, and conventions."""

import numpy as np
import pytest
import scipy.interpolate as si

import adjoint as ad
from adjoint.core.errors import BatchError, UnsupportedError
from adjoint.testing.laws import LAWS
from tests.cases.scipy_interpolate import CASES, CLOUD, T, X, Y


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_laws(case):
    """Every interpolator obeys the laws, in its values, its nodes and its places."""
    for law in case.laws or LAWS:
        LAWS[law](case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_recordings(case):
    """Recorded, the value and the gradient are the same, at other points too."""

    def total(*args):
        return np.sum(np.abs(case.function(*args)) ** 2)

    numbers = tuple(range(len(case.args)))
    value, gradient = ad.jit(case.function), ad.jit(ad.grad(total, numbers))
    for scale in (1.0, 1.01):
        args = tuple([a * scale for a in case.args])
        np.testing.assert_allclose(value(*args), case.function(*args), rtol=1e-12, atol=1e-12)
        for got, want in zip(gradient(*args), ad.grad(total, numbers)(*args), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def test_places_are_no_decisions():
    """One recording serves places in other pieces: what is searched for is a step of the program."""
    spline = si.CubicSpline(X, Y)
    jitted = ad.jit(ad.grad(lambda t: np.sum(spline(t))))
    for t in (T, T[::-1].copy(), T * 0.3):
        np.testing.assert_allclose(jitted(t), spline(t, 1), rtol=1e-12)
    assert jitted.stats()["recordings"] == 1


def test_slopes_at_breakpoints():
    """A breakpoint belongs to the piece on its right, the last one to the last piece; outside, as SciPy says."""
    line = si.PPoly(np.array([[1.0, -2.0], [0.0, 1.0]]), np.array([0.0, 1.0, 2.0]), extrapolate=False)
    slope = ad.grad(lambda t: np.sum(line(t)))
    np.testing.assert_allclose(slope(np.array([0.0, 1.0, 2.0])), [1.0, -2.0, -2.0])
    assert np.isnan(ad.value_and_grad(lambda t: np.sum(line(t)))(np.array([3.0]))[0])


def test_scipys_own_errors():
    """What SciPy refuses is refused by it, also while a program is recorded and when it runs."""
    for f in (ad.grad, ad.jit):
        with pytest.raises(ValueError, match="strictly increasing"):
            f(lambda x: np.sum(si.CubicSpline(x, Y)(T)))(X[::-1].copy())
    jitted = ad.jit(lambda x: np.sum(si.CubicSpline(x, Y)(T)))
    jitted(X)
    with pytest.raises(ValueError, match="strictly increasing"):
        jitted(X[::-1].copy())


def test_triangles_belong_to_points():
    """Where the points are traced, a recording holds for them alone, and other points have other triangles."""
    values, place = CLOUD[:, 0] ** 2, np.array([[0.45, 0.5]])
    jitted = ad.jit(lambda p: si.LinearNDInterpolator(p, values)(place) + si.NearestNDInterpolator(p, values)(place))
    for points in (CLOUD, CLOUD[[0, 1, 4, 3, 2]]):
        plain = si.LinearNDInterpolator(points, values)(place) + si.NearestNDInterpolator(points, values)(place)
        np.testing.assert_allclose(jitted(points), plain)
    with pytest.raises(BatchError):
        ad.vmap(lambda p: si.LinearNDInterpolator(p, values)(place))(np.stack([CLOUD, CLOUD]))


def test_smoothing_is_refused():
    """A spline that searches for its knots, of traced data; at traced places it has a slope."""
    with pytest.raises(UnsupportedError, match="make_smoothing_spline"):
        ad.grad(lambda y: np.sum(si.UnivariateSpline(X, y, s=0.5)(T)))(Y)
    coefficients = ad.jacobian(lambda y: si.InterpolatedUnivariateSpline(X, y).get_coeffs())(Y)
    np.testing.assert_allclose(coefficients @ Y, si.InterpolatedUnivariateSpline(X, Y).get_coeffs(), rtol=1e-10)


def test_knots_of_a_tensor_product_spline_are_those_given():
    """`NdBSpline.t` of traced knots is traced: a derivative through it is not lost."""

    def f(scale):
        knots = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]) * scale
        return np.sum(si.NdBSpline((knots,), np.arange(6.0) ** 2, 3).t[0] ** 2)

    assert ad.grad(f)(1.5) == pytest.approx(2.0 * 1.5 * 41.0)
