"""`np.emath`: results that are complex where they have to be, and derivatives on the cuts that they lie on."""

import cmath
import math

import numpy as np
import pytest

import adjoint as ad

POINT = np.array([0.3, -0.7, 1.9, -2.4])
WEIGHTS = np.array([0.3, -1.2, 0.7, 0.4])
FUNCTIONS = {
    **{name: getattr(np.emath, name) for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")},
    "logn": lambda x: np.emath.logn(x, 3.0),
    "power": lambda x: np.emath.power(x, 2.5),
    "a whole power": lambda x: np.emath.power(x, -2),
    "in the exponent": lambda x: np.emath.power(-2.5, x),
}


@pytest.mark.parametrize("x", [POINT, np.array([0.3, 0.2, 0.9, 0.5]), POINT.astype(np.float32)], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_values_dtypes_and_derivatives(function, x):
    """The dtype is NumPy's, in a batch that of all examples together; slopes are those of differences."""

    def f(x):
        y = function(x)
        return np.sum(np.real(y) * WEIGHTS) + np.sum(np.imag(y) * WEIGHTS[::-1])

    for found in (ad.jit(function)(x), ad.vmap(function)(np.stack([x, x]))[1]):
        np.testing.assert_allclose(found, function(x), rtol=1e-6)
        assert found.dtype == function(x).dtype
    x = x.astype(float)
    wanted = ad.numerical.grad(f)(x)
    for found in (ad.grad(f)(x), ad.jit(ad.grad(f))(x), ad.vmap(ad.grad(f))(np.stack([x, x]))[1]):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


CUTS = [complex(a, b) for a in (1.9, -1.9) for b in (0.0, -0.0)] + [
    complex(a, b) for a in (0.0, -0.0) for b in (2.0, -2.0)
]


@pytest.mark.parametrize("z", CUTS, ids=str)
@pytest.mark.parametrize("name", ["sqrt", "log", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"])
def test_slopes_on_a_cut_belong_to_the_side_of_the_value(name, z):
    """The sign of a zero says on which side of a cut a number is; its slope is that of its neighbours there."""
    function = getattr(np, name)
    beside = z + 1e-9 * complex(math.copysign(z.real == 0.0, z.real), math.copysign(z.imag == 0.0, z.imag))
    assert beside != z
    assert cmath.isclose(function(beside), function(z), rel_tol=1e-8)
    for run in (lambda f, z: ad.jvp(f, (z,), (1.0 + 0.0j,))[1], ad.jit(lambda f, z: ad.jvp(f, (z,), (1.0 + 0.0j,))[1])):
        found = run(function, np.complex128(z))
        assert cmath.isclose(found, run(function, np.complex128(beside)), rel_tol=1e-7)
