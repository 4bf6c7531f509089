"""Functions of `math` and `cmath` on traced numbers: their numbers, their errors, and derivatives."""

import cmath
import math
from math import exp, hypot

import numpy as np
import pytest

import adjoint as ad

ONE = [
    "acos", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "degrees", "erf", "erfc", "exp", "exp2", "expm1",
    "fabs", "gamma", "lgamma", "log", "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip
FUNCTIONS = {
    **{name: (lambda x, name=name: getattr(math, name)(x)) for name in ONE},
    "acosh": lambda x: math.acosh(1.0 + x),
    "atan2": lambda x: math.atan2(x, 2.0) + math.atan2(2.0, x),
    "copysign": lambda x: math.copysign(x, -1.0),
    "dist": lambda x: math.dist([x, 2.0 * x], [1.0, 2.0]),
    "fmod": lambda x: math.fmod(3.0 * x, 0.25),
    "fsum": lambda x: math.fsum([x, x * x, 1.0]),
    "hypot": lambda x: math.hypot(x, 1.0) + math.hypot(x, 2.0, x),
    "ldexp": lambda x: math.ldexp(x, 3),
    "log with a base": lambda x: math.log(x, 3.0) + math.log(5.0, x),
    "modf": lambda x: math.modf(4.0 * x)[0],
    "pow": lambda x: math.pow(x, x),
    "prod": lambda x: math.prod([x, x * x, 3.0]),
    "remainder": lambda x: math.remainder(3.0 * x, 0.25),
    "questions": lambda x: x if math.isnan(x) or math.isinf(x) or not math.isclose(x, x) else x * x,
    "whole numbers": lambda x: x * math.floor(10 * x) + x * math.ceil(10 * x) + x * math.trunc(10 * x),
    "by name": lambda x: exp(x) + hypot(x, 1.0),
    "cmath.exp": lambda x: abs(cmath.exp(1j * x + x)),
    "cmath.sqrt": lambda x: cmath.sqrt(x - 2.0).imag,
    "cmath.log": lambda x: cmath.log(x - 2.0, 3.0).real,
    "cmath.phase": lambda x: cmath.phase(1j * x + 2.0) + cmath.polar(1j * x + 2.0)[0],
    "cmath.rect": lambda x: cmath.rect(x, 2.0 * x).real,
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_values_and_slopes(f):
    """The value is that of `math`, the slope that of a difference, also compiled."""
    x = 0.37
    value, slope = ad.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-15)
    want = (8 * (f(x + 1e-4) - f(x - 1e-4)) - (f(x + 2e-4) - f(x - 2e-4))) / 12e-4
    assert slope == pytest.approx(want, rel=1e-8, abs=1e-9)
    assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(want, rel=1e-8, abs=1e-9)
    assert ad.jit(f)(x) == pytest.approx(f(x), rel=1e-15)
    assert ad.jit(ad.grad(f))(x) == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("name", ["sin", "exp", "erf", "lgamma", "hypot", "fsum"])
def test_second_derivatives_and_batches(name):
    """Rules are differentiated again, and take whole batches."""
    f = FUNCTIONS[name]
    want = (ad.grad(f)(0.37 + 1e-5) - ad.grad(f)(0.37 - 1e-5)) / 2e-5
    assert ad.grad(ad.grad(f))(0.37) == pytest.approx(want, rel=1e-6, abs=1e-8)
    x = np.array([0.2, 0.37])
    np.testing.assert_allclose(ad.vmap(f)(x), [f(t) for t in x.tolist()], rtol=1e-15)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(x), [ad.grad(f)(t) for t in x.tolist()], rtol=1e-12)


ERRORS = {
    "log": (math.log, 2.0, -1.0, ValueError),
    "exp": (math.exp, 2.0, 1e4, OverflowError),
    "sin": (math.sin, 2.0, math.inf, ValueError),
    "gamma": (math.gamma, 2.0, -1.0, ValueError),
    "cmath.log": (lambda x: cmath.log(x).real, 2.0, 0.0, ValueError),
}


@pytest.mark.parametrize(("function", "good", "bad", "error"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_are_those_of_math(function, good, bad, error):
    """Where `math` raises, so does the traced function, also one that was compiled for other numbers."""

    def f(x):
        return function(x) * 1.0

    for transform in (ad.grad, ad.jit, lambda f: ad.jit(ad.grad(f))):
        g = transform(f)
        assert math.isfinite(g(good))
        with pytest.raises(error):
            g(bad)
        assert math.isfinite(g(good))


def test_outside_of_traces_nothing_has_changed():
    """The module's own functions, by their names; a function that was imported by name is equal to them."""
    ad.grad(lambda x: exp(x))(1.0)
    assert type(math) is type(np)
    assert math.sin.__self__ is math
    assert exp == math.exp
    assert exp(1.0) == math.exp(1.0)
    assert math.sin(True) == math.sin(1.0)
