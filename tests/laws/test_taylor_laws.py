"""Taylor series: elementary functions against mpmath to order 12, and how many series a step takes."""

import mpmath
import numpy as np
import pytest

import adjoint as ad
from adjoint.core.taylor import TaylorTrace
from adjoint.core.tree import flatten
from adjoint.ops.declare import CATALOGUE
from adjoint.testing.check import random_like
from adjoint.transforms.calling import run
from tests.cases.primitives import DIFFERENTIABLE, cases_of

mp = mpmath.mp
ELEMENTARY = {
    "exp": (np.exp, mp.exp, 0.7),
    "exp2": (np.exp2, lambda x: mp.mpf(2) ** x, 0.7),
    "expm1": (np.expm1, mp.expm1, 0.3),
    "log": (np.log, mp.log, 1.7),
    "log2": (np.log2, lambda x: mp.log(x) / mp.log(2), 1.7),
    "log10": (np.log10, mp.log10, 1.7),
    "log1p": (np.log1p, mp.log1p, 0.4),
    "sin": (np.sin, mp.sin, 0.6),
    "cos": (np.cos, mp.cos, 0.6),
    "tan": (np.tan, mp.tan, 0.6),
    "arcsin": (np.arcsin, mp.asin, 0.4),
    "arccos": (np.arccos, mp.acos, 0.4),
    "arctan": (np.arctan, mp.atan, 0.8),
    "sinh": (np.sinh, mp.sinh, 0.6),
    "cosh": (np.cosh, mp.cosh, 0.6),
    "tanh": (np.tanh, mp.tanh, 0.6),
    "arcsinh": (np.arcsinh, mp.asinh, 0.6),
    "arccosh": (np.arccosh, mp.acosh, 1.8),
    "arctanh": (np.arctanh, mp.atanh, 0.4),
    "sqrt": (np.sqrt, mp.sqrt, 1.3),
    "cbrt": (np.cbrt, mp.cbrt, 1.3),
    "square": (np.square, lambda x: x * x, 1.3),
    "reciprocal": (np.reciprocal, lambda x: 1 / x, 1.3),
    "divide": (lambda x: (1.0 + x) / (2.0 + x * x), lambda x: (1 + x) / (2 + x * x), 0.4),
    "whole power": (lambda x: x**7, lambda x: x**7, 0.9),
    "whole power at 0": (lambda x: x**7, lambda x: x**7, 0.0),
    "negative power": (lambda x: x**-3, lambda x: x**-3, 0.9),
    "power": (lambda x: x**2.5, lambda x: x ** mp.mpf(2.5), 0.9),
    "power of powers": (lambda x: x**x, lambda x: x**x, 0.9),
    "logistic": (lambda x: 1.0 / (1.0 + np.exp(-x)), lambda x: 1 / (1 + mp.exp(-x)), 0.5),
    "logaddexp": (lambda x: np.logaddexp(x, 2.0 * x), lambda x: mp.log(mp.exp(x) + mp.exp(2 * x)), 0.5),
    "hypot": (lambda x: np.hypot(x, 1.0 + x), lambda x: mp.sqrt(x**2 + (1 + x) ** 2), 0.5),
    "arctan2": (lambda x: np.arctan2(x, 1.0 + x * x), lambda x: mp.atan2(x, 1 + x * x), 0.5),
    "sinc": (np.sinc, lambda x: mp.sincpi(x), 0.3),
    "sinc at 0": (np.sinc, lambda x: mp.sincpi(x), 0.0),
    "composition": (
        lambda x: np.exp(np.sin(x)) / np.sqrt(1.0 + x * x) + np.log1p(np.tanh(x)),
        lambda x: mp.exp(mp.sin(x)) / mp.sqrt(1 + x * x) + mp.log1p(mp.tanh(x)),
        0.4,
    ),
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_mpmath(name):
    """Coefficients to order 12 are those of mpmath, to nearly all digits."""
    function, exact, x = ELEMENTARY[name]
    with mpmath.workdps(60):
        want = [float(c) for c in mpmath.taylor(exact, mp.mpf(x), 12)]
    got = ad.taylor(function, x, 12).coefficients
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13 * np.max(np.abs(want)))


def series_taken(case, order):
    """The largest number of series that a step of the case takes."""

    class Counting(TaylorTrace):
        __slots__ = ("most",)

        def _taken(self, *given):
            found = super()._taken(*given)
            self.most = max(self.most, self.count)
            return found

    trace = Counting(order)
    trace.most = 0
    leaves, rebuild = flatten(case.args)
    moves, _ = flatten(random_like(case.args, np.random.default_rng(0)))
    run(case.function, rebuild([trace.input(x, m) for x, m in zip(leaves, moves, strict=True)]), {})
    return trace.most


FAMILIES = ("sinc_derivative", "i0_derivative", "spherical_", "sph_harm_", "zeta", "polygamma")
"""How operations begin, besides SciPy's universal functions, whose derivatives are all different functions."""


BY_INTEGRALS = {
    "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "betainc", "betaincc", "betaincinv", "betainccinv", "chdtr",
    "chdtrc", "chdtri", "fdtr", "fdtrc", "fdtri", "gdtr", "gdtrc", "gdtria", "gdtrix", "stdtr", "stdtrit", "kv", "kve",
    "zeta", "_beta_pdf", "_beta_ppf", "_nbinom_pmf", "_nbinom_cdf", "_nbinom_sf",
}  # fmt: skip
"""Functions whose slopes in shapes are sums over nodes, each with steps that are expanded anew with every order."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name not in BY_INTEGRALS])
def test_series_are_few(name):
    """The equations of a rule close: NumPy's functions take as many series at order 12 as at order 6.

    Special functions of which each derivative is another one take more, but never more with every order than before.
    """
    case = next(iter(cases_of(CATALOGUE[name])))
    at_6, at_12 = series_taken(case, 6), series_taken(case, 12)
    assert at_12 <= (5 * at_6 if is_special(CATALOGUE[name]) else at_6)


def is_special(primitive):
    """Whether it is one of SciPy's special functions, or of a family of derivatives."""
    ufunc = primitive.facts.ufunc
    is_scipys = ufunc is not None and getattr(np, ufunc.__name__, None) is not ufunc
    return primitive.name.startswith(FAMILIES) or is_scipys
