"""Universal functions: complex arguments, boundary points of orders one and two, accuracy, dtypes."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import Case, check_case

X = np.array([0.31, -1.27, 0.84, 2.13])
P = np.abs(X) + 0.5
Z = np.array([0.31 + 1.2j, -1.27 + 0.4j, 0.84 - 0.9j, 2.13 + 0.2j])
INF, NAN = math.inf, math.nan

HOLOMORPHIC = (
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.square, np.reciprocal, np.sin, np.cos,
    np.tan, np.sinh, np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh,
    np.negative, np.positive,
)  # fmt: skip
COMPLEX = [
    *[(f.__name__, f, Z) for f in HOLOMORPHIC],
    ("absolute", np.absolute, Z),
    ("sign", np.sign, Z),
    ("conjugate", np.conjugate, Z),
    ("real", np.real, Z),
    ("imag", np.imag, Z),
    ("angle", np.angle, Z),
    ("power", np.power, Z, Z[::-1].copy()),
    ("power, whole", lambda z: z**3 + z**-2 + z**2, Z),
    ("divide", np.divide, Z, P + 1j),
    ("multiply by real", np.multiply, Z, P),
    ("add imaginary unit", lambda x: (x + 1j) * (2 - x), X),
    ("square of modulus", lambda z: (z * np.conj(z)).real, Z),
]
REAL = [
    ("modf", np.modf, 3 * X),
    ("frexp", lambda x: np.frexp(x)[0], 3 * X),
    ("divmod", np.divmod, 7 * X, P),
    ("divmod operator", lambda x, y: divmod(x, y), 7 * X, P),
    ("float_power", np.float_power, P, X),
    ("power, whole exponents", lambda x: x ** np.array([3, 2, 1, 0]), -P),
    ("power, whole float exponents", lambda x: x ** np.array([3.0, 2.0, 1.0, 0.0]), -P),
    ("power, whole base", lambda y: 2**y, X),
    ("copysign", np.copysign, X, -P),
    ("heaviside", np.heaviside, X, P),
    ("nextafter", lambda x: np.nextafter(x, 9.0), X),
    ("spacing", lambda x: x + np.spacing(x), X),
    ("where=", lambda x: np.exp(x, out=np.zeros_like(x), where=X > 0), X),
    ("booleans and integers", lambda x: x * (X > 0) + np.arange(4) * x - True, X),
]


@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in COMPLEX], ids=[r[0] for r in COMPLEX])
def test_complex_laws(name, function, args):
    """Value, tangent, adjoint, orders and stacking for complex arguments, and single precision is kept."""
    check_case(Case(name, function, tuple(args), ("value", "tangent", "adjoint", "orders", "stacking"), rtol=2e-6))
    small = [a.astype(np.complex64 if np.iscomplexobj(a) else np.float32) for a in args]
    value, pullback = ad.vjp(function, *small)
    assert value.dtype == function(*small).dtype
    assert [g.dtype for g in pullback(value)] == [a.dtype for a in small]


@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in REAL], ids=[r[0] for r in REAL])
def test_real_laws(name, function, args):
    """All laws for universal functions of several results, with constants or keywords."""
    check_case(Case(name, function, tuple(args), rtol=2e-6))


SECH_SQUARED_AT_20 = 4 * math.exp(-40.0) / (1 + math.exp(-40.0)) ** 2
HALF = math.sqrt(0.5)
BOUNDARY = [
    ("x**2 at 0", lambda x: x**2, 0.0, 0.0, 2.0),
    ("x**2.0 at 0", lambda x: x**2.0, 0.0, 0.0, 2.0),
    ("x**array(2) at 0", lambda x: x ** np.array(2), 0.0, 0.0, 2.0),
    ("x**array(2.0) at 0", lambda x: x ** np.array(2.0), 0.0, 0.0, 2.0),
    ("x**1 at 0", lambda x: x**1, 0.0, 1.0, 0.0),
    ("x**1.0 at 0", lambda x: x**1.0, 0.0, 1.0, 0.0),
    ("x**array(1.0) at 0", lambda x: x ** np.array(1.0), 0.0, 1.0, 0.0),
    ("x**0 at 0", lambda x: x**0, 0.0, 0.0, 0.0),
    ("x**0.0 at 0", lambda x: x**0.0, 0.0, 0.0, 0.0),
    ("x**array(0.0) at 0", lambda x: x ** np.array(0.0), 0.0, 0.0, 0.0),
    ("x**3 at 0", lambda x: x**3, 0.0, 0.0, 0.0),
    ("x**3 at -2", lambda x: x**3.0, -2.0, 12.0, -12.0),
    ("x**array(3) at -2", lambda x: x ** np.array(3), -2.0, 12.0, -12.0),
    ("x**-1 at -2", lambda x: x**-1.0, -2.0, -0.25, -0.25),
    ("x**1.5 at 0", lambda x: x**1.5, 0.0, 0.0, INF),
    ("float_power at 0", lambda x: np.float_power(x, 2), 0.0, 0.0, 2.0),
    ("0**y at 0", lambda y: 0.0**y, 0.0, 0.0, 0.0),
    ("0**y at 2", lambda y: 0.0**y, 2.0, 0.0, 0.0),
    ("1**y", lambda y: 1.0**y, 0.7, 0.0, 0.0),
    ("square at 0", np.square, 0.0, 0.0, 2.0),
    ("abs at 0", np.abs, 0.0, 0.0, 0.0),
    ("fabs at 0", np.fabs, 0.0, 0.0, 0.0),
    ("sqrt(x**2) at 0", lambda x: np.sqrt(x**2), 0.0, 0.0, 0.0),
    ("copysign", lambda x: np.copysign(x, -2.0), -3.0, 1.0, 0.0),
    ("maximum with 0", lambda x: np.maximum(x, 0), 0.0, 0.0, 0.0),
    ("maximum with 0.0, keyword", lambda x: np.maximum(x, 0.0, dtype=None), 0.0, 0.0, 0.0),
    ("maximum, tie", lambda x: np.maximum(x, 1.0), 1.0, 0.5, 0.0),
    ("clip at bound", lambda x: np.clip(x, 0.0, 1.0), 1.0, 1.0, 0.0),
    ("clip of nan", lambda x: np.clip(x, 0.0, 1.0), NAN, 1.0, 0.0),
    ("fmax with nan", lambda x: np.fmax(x, NAN), 2.0, 1.0, 0.0),
    ("fmin with nan", lambda x: np.fmin(NAN, x) ** 2, 2.0, 4.0, 2.0),
    ("hypot at 0", lambda x: np.hypot(x, 0.0), 0.0, 0.0, 0.0),
    ("hypot, huge", lambda x: np.hypot(x, 1e200), 1e200, HALF, HALF / 2e200),
    ("hypot, tiny", lambda x: np.hypot(x, 1e-200), 1e-200, HALF, HALF / 2e-200),
    ("arctan2 at 0", lambda x: np.arctan2(x, 0.0), 0.0, 0.0, 0.0),
    ("arctan2, huge", lambda x: np.arctan2(x, 1e200), 1e200, 5e-201, 0.0),
    ("arctan2, large", lambda x: np.arctan2(x, 1e100), 1e100, 5e-101, -5e-201),
    ("arctan2, tiny", lambda x: np.arctan2(x, 1e-100), 1e-100, 5e99, -5e199),
    ("logaddexp, tie", lambda x: np.logaddexp(x, 1.0), 1.0, 0.5, 0.25),
    ("logaddexp with -inf", lambda x: np.logaddexp(x, -INF), 1.0, 1.0, 0.0),
    ("logaddexp with inf", lambda x: np.logaddexp(x, INF), 1.0, 0.0, 0.0),
    ("logaddexp of -inf twice", lambda x: np.logaddexp(x, -INF), -INF, 0.5, 0.0),
    ("logaddexp, far", lambda x: np.logaddexp(x, 0.0), 1000.0, 1.0, 0.0),
    ("logaddexp, small", lambda x: np.logaddexp(x, 0.0), -700.0, math.exp(-700.0), math.exp(-700.0)),
    (
        "logaddexp, large numbers",
        lambda x: np.logaddexp(x, 1e15),
        1e15 + 1,
        1 / (1 + math.exp(-1.0)),
        0.19661193324148185,
    ),
    ("logaddexp2, tie", lambda x: np.logaddexp2(x, 1.0), 1.0, 0.5, 0.25 * math.log(2.0)),
    ("tanh at 20", np.tanh, 20.0, SECH_SQUARED_AT_20, -2 * SECH_SQUARED_AT_20),
    ("tanh, far", np.tanh, -800.0, 0.0, 0.0),
    ("expm1, negative", np.expm1, -40.0, math.exp(-40.0), math.exp(-40.0)),
    ("log1p, tiny", np.log1p, 1e-20, 1.0, -1.0),
    ("exp2", np.exp2, 3.0, 8 * math.log(2), 8 * math.log(2) ** 2),
    ("log2", np.log2, 4.0, 0.25 / math.log(2), -0.0625 / math.log(2)),
    ("log10", np.log10, 4.0, 0.25 / math.log(10), -0.0625 / math.log(10)),
    ("log10, huge", np.log10, 1.5e308, 1 / math.log(10) / 1.5e308, 0.0),
    ("sinc at 0", np.sinc, 0.0, 0.0, -(math.pi**2) / 3),
    ("sinc near 0", np.sinc, 1e-9, -1e-9 * math.pi**2 / 3, -(math.pi**2) / 3),
    ("i0 at 0", np.i0, 0.0, 0.0, 0.5),
    ("i0 near 0", np.i0, 1e-10, 5e-11, 0.5),
    ("fmod", lambda y: np.fmod(7.3, y), 2.0, -3.0, 0.0),
    ("remainder", lambda y: np.remainder(-7.3, y), 2.0, 4.0, 0.0),
    ("remainder, whole", lambda x: np.remainder(x, 1.0), 2.0, 1.0, 0.0),
    ("heaviside", lambda x: np.heaviside(x, 0.5) * x, 0.0, 0.5, 0.0),
    ("floor", lambda x: x * np.floor(x), 2.5, 2.0, 0.0),
    ("sign", lambda x: x * np.sign(x), -2.5, -1.0, 0.0),
    ("arccosh, complex step", lambda x: np.real(np.exp(1j * x)), 0.3, -math.sin(0.3), -math.cos(0.3)),
]
WAYS = {
    "reverse over reverse": lambda f: ad.grad(ad.grad(f)),
    "forward over forward": lambda f: ad.derivative(f, 2),
    "reverse over forward": lambda f: ad.grad(ad.derivative(f)),
    "forward over reverse": lambda f: ad.derivative(ad.grad(f)),
}


@pytest.mark.parametrize(
    ("function", "x", "slope", "curvature"), [r[1:] for r in BOUNDARY], ids=[r[0] for r in BOUNDARY]
)
def test_boundary_points(function, x, slope, curvature):
    """First and second derivatives in closed form, by all nested transformations, for numbers and for arrays."""
    assert float(ad.grad(function)(x)) == pytest.approx(slope, rel=1e-14, abs=0)
    assert float(ad.derivative(function)(x)) == pytest.approx(slope, rel=1e-14, abs=0)
    line = ad.grad(lambda v: np.sum(function(v)))(np.full(2, x))
    np.testing.assert_allclose(line, slope, rtol=1e-14)
    for name, twice in WAYS.items():
        assert float(twice(function)(x)) == pytest.approx(curvature, rel=2e-14, abs=1e-300), name


INFINITE = [
    ("sqrt at 0", np.sqrt, 0.0, INF),
    ("cbrt at 0", np.cbrt, 0.0, INF),
    ("x**0.5 at 0", lambda x: x**0.5, 0.0, INF),
    ("arcsin at 1", np.arcsin, 1.0, INF),
    ("arccos at -1", np.arccos, -1.0, -INF),
    ("arccosh at 1", np.arccosh, 1.0, INF),
]


@pytest.mark.parametrize(("function", "x", "slope"), [r[1:] for r in INFINITE], ids=[r[0] for r in INFINITE])
def test_infinite_slopes(function, x, slope):
    """A vertical tangent is infinite, forward and back."""
    assert ad.grad(function)(x) == slope
    assert ad.derivative(function)(x) == slope


def test_power_in_both_arguments():
    """Mixed second derivatives of a power, where the exponent or the base is 0."""
    log = math.log(2.0)
    np.testing.assert_allclose(ad.hessian(lambda v: v[0] ** v[1])(np.array([2.0, 0.0])), [[0, 0.5], [0.5, log**2]])
    np.testing.assert_array_equal(ad.hessian(lambda v: v[0] ** v[1])(np.array([0.0, 2.0])), [[2, 0], [0, 0]])


def test_modulus_of_zero():
    """|z| has slope 0 at 0, and so has z / |z|."""
    np.testing.assert_allclose(ad.grad(lambda z: np.sum(np.abs(z)))(np.array([0j, 3 + 4j])), [0, 0.6 + 0.8j])
    np.testing.assert_array_equal(ad.grad(lambda z: np.real(np.sum(np.sign(z))))(np.zeros(2, complex)), [0, 0])


@pytest.mark.parametrize("order", range(9))
def test_sinc_of_every_order(order):
    """Derivatives of sinc at 0 in closed form, and across the point where the series meets the recurrence."""
    derivative = ad.derivative(np.sinc, order)
    want = 0.0 if order % 2 else (-1) ** (order // 2) * math.pi**order / (order + 1)
    assert float(derivative(0.0)) == pytest.approx(want, rel=1e-14, abs=0)
    switch = (order + 1) / math.pi
    nodes, weights = np.polynomial.legendre.leggauss(60)
    s = (nodes + 1) / 2
    for x in (switch * 0.999, switch * 1.001, 3.7):
        integral = np.sum(weights / 2 * s**order * np.cos(math.pi * x * s + order * math.pi / 2)) * math.pi**order
        assert float(derivative(x)) == pytest.approx(integral, rel=1e-12, abs=1e-13 * math.pi**order)


def test_bessel_recurrence():
    """I0'' = I0 - I0' / x, over the whole range of doubles that I0 has."""
    for x in (1e-3, 0.7, 7.9, 8.1, 40.0, 600.0):
        first, second = (float(ad.derivative(np.i0, n)(x)) for n in (1, 2))
        assert second + first / x == pytest.approx(float(np.i0(x)), rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
def test_python_numbers_do_not_widen(dtype):
    """Python's numbers give way to the dtype of the array, with every kind of keyword and operand."""
    x = np.array([0.5, 1.5], dtype)
    functions = [
        lambda v: v + 1, lambda v: 2 * v - True, lambda v: v / 3, lambda v: 3.0 / v, lambda v: v**2, lambda v: v**3,
        lambda v: 2.0**v, lambda v: np.add(v, 1, out=np.zeros_like(v), where=[True, False]),
        lambda v: np.where(v == v, v, 0), lambda v: np.sum(v, keepdims=1),
        lambda v: np.mean(v), lambda v: np.var(v), lambda v: np.sum(v, where=[True, False], initial=1),
        lambda v: np.multiply.outer(v, 2), lambda v: np.cumprod(v), lambda v: np.abs(v), lambda v: np.square(v),
    ]  # fmt: skip
    for f in functions:
        want = np.asarray(f(x)).dtype
        value, pullback = ad.vjp(f, x)
        assert np.asarray(value).dtype == want
        assert np.asarray(ad.jvp(f, (x,), (x,))[1]).dtype == want
        assert pullback(value)[0].dtype == dtype


def test_mixed_precision():
    """Operands of two precisions promote as in NumPy, and each gets a cotangent of its own."""
    a, b = np.ones(2, np.float32), np.ones(2, np.float64)
    value, pullback = ad.vjp(lambda x, y: x * y + np.arange(2), a, b)
    assert value.dtype == np.float64
    assert [g.dtype for g in pullback(value)] == [np.float32, np.float64]
    value, pullback = ad.vjp(lambda x, z: x * z, a, np.ones(2, np.complex64))
    assert value.dtype == np.complex64
    assert [g.dtype for g in pullback(value)] == [np.float32, np.complex64]


def test_piecewise_constants_are_plain():
    """Rounding and comparing give constants, so that nothing is recorded for them."""
    seen = []
    for f in (np.floor, np.ceil, np.trunc, np.rint, np.round, np.fix, np.sign, np.isnan, np.signbit, np.spacing):
        ad.grad(lambda x, f=f: seen.append(type(f(x))) or np.sum(x))(X)
    assert all(kind is np.ndarray for kind in seen)
