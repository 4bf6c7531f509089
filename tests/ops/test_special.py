"""SciPy's universal functions: which ones are known, and exact slopes at the edges of their domains.

The laws run over every one of them in `tests/laws`.
"""

import subprocess
import sys

import numpy as np
import pytest
import scipy.special as sc

import adjoint as ad
from adjoint.core.errors import NotDifferentiableError, UnsupportedError
from adjoint.core.primitive import Primitive
from adjoint.ops import UFUNCS, special
from adjoint.ops.declare import CATALOGUE

special.load()
KNOWN = {n for n in dir(sc) if isinstance(getattr(sc, n), np.ufunc)}
LEFT_OUT = {
    # inverses with respect to a shape parameter, in which no slope of the distribution is known
    "bdtrik", "bdtrin", "btdtria", "btdtrib", "chdtriv", "chndtridf", "fdtridfd", "gdtrib", "nbdtrik", "nbdtrin",
    "ncfdtridfd", "ncfdtridfn", "nctdtridf", "pdtrik", "stdtridf",
    # the slope of Riemann's zeta function is not in SciPy
    "zetac",
    # the eigenvalue is an argument of its own, which the equation does not tie to the order
    "obl_ang1_cv", "obl_rad1_cv", "obl_rad2_cv", "pro_ang1_cv", "pro_rad1_cv", "pro_rad2_cv",
    # SciPy's value and slope contradict each other
    "obl_rad2",
}  # fmt: skip
PI, INF, NAN = np.pi, np.inf, np.nan
EULER = 0.57721566490153286


def test_every_universal_function_is_known_or_left_out_for_a_reason():
    """A new function of SciPy is noticed."""
    assert {n for n in KNOWN if getattr(sc, n) not in UFUNCS} == LEFT_OUT & KNOWN


def test_how_many():
    """More than two hundred, of which a slope is known in at least one argument."""
    rules = [UFUNCS[getattr(sc, n)].derivative for n in KNOWN - LEFT_OUT]
    assert sum(any(getattr(rule, "partials", [])) for rule in rules) > 195


def test_names_are_not_taken_twice():
    """A special function does not push one of NumPy's out of the catalogue."""
    for name in KNOWN - LEFT_OUT:
        found = UFUNCS[getattr(sc, name)]
        assert CATALOGUE[found.name] is (found if isinstance(found, Primitive) else UFUNCS[getattr(np, name)])


SLOPES = [
    ("entr at 0: the limit", sc.entr, (0.0,), 0, INF),
    ("entr at 1", sc.entr, (1.0,), 0, -1.0),
    ("rel_entr at x = 0", sc.rel_entr, (0.0, 2.0), 0, -INF),
    ("rel_entr in y at (0, 0)", sc.rel_entr, (0.0, 0.0), 1, 0.0),
    ("rel_entr of extreme ratios", sc.rel_entr, (1e-200, 1e200), 0, 1.0 - 400.0 * np.log(10.0)),
    ("kl_div at x = y", sc.kl_div, (0.7, 0.7), 0, 0.0),
    ("kl_div close to x = y", sc.kl_div, (1.0 + 2.0**-40, 1.0), 0, 2.0**-40 - 2.0**-81),
    ("kl_div in y at (0, 0)", sc.kl_div, (0.0, 0.0), 1, 1.0),
    ("xlogy in x at (0, 0)", sc.xlogy, (0.0, 0.0), 0, 0.0),
    ("xlogy in y at (0, 0)", sc.xlogy, (0.0, 0.0), 1, 0.0),
    ("xlogy in x at x = 0", sc.xlogy, (0.0, 0.5), 0, np.log(0.5)),
    ("xlog1py in x at (0, -1)", sc.xlog1py, (0.0, -1.0), 0, 0.0),
    ("xlog1py in y at (0, -1)", sc.xlog1py, (0.0, -1.0), 1, 0.0),
    ("huber at its bend", sc.huber, (1.0, 1.0), 1, 1.0),
    ("huber beyond", sc.huber, (1.0, -3.0), 1, -1.0),
    ("huber in its width, inside", sc.huber, (1.0, 0.5), 0, 0.0),
    ("huber in its width, outside", sc.huber, (1.0, 3.0), 0, 2.0),
    ("pseudo_huber in its width, without cancellation", sc.pseudo_huber, (1.0, 1e-8), 0, 0.25e-32),
    ("expit far left", sc.expit, (-700.0,), 0, np.exp(-700.0)),
    ("expit far right", sc.expit, (700.0,), 0, np.exp(-700.0)),
    ("log_expit far left", sc.log_expit, (-800.0,), 0, 1.0),
    ("log_expit far right", sc.log_expit, (50.0,), 0, np.exp(-50.0)),
    ("logit near 0", sc.logit, (1e-300,), 0, 1e300),
    ("log_ndtr far left", sc.log_ndtr, (-40.0,), 0, 40.02496884720726),
    ("log_ndtr farther left", sc.log_ndtr, (-1e8,), 0, 1e8),
    ("log_ndtr far right", sc.log_ndtr, (60.0,), 0, 0.0),
    ("ndtri_exp far left", sc.ndtri_exp, (-804.6084420137538,), 0, 1.0 / 40.02496884720726),
    ("erfcx far right", sc.erfcx, (1e8,), 0, -1e-16 / np.sqrt(PI)),
    ("dawsn far right", sc.dawsn, (1e8,), 0, -0.5e-16),
    ("erf at 0", sc.erf, (0.0,), 0, 2.0 / np.sqrt(PI)),
    ("erfinv at 0", sc.erfinv, (0.0,), 0, np.sqrt(PI) / 2.0),
    ("ndtri in the middle", sc.ndtri, (0.5,), 0, np.sqrt(2.0 * PI)),
    ("gamma at 1", sc.gamma, (1.0,), 0, -EULER),
    ("gammaln at 2", sc.gammaln, (2.0,), 0, 1.0 - EULER),
    ("rgamma at 0", sc.rgamma, (0.0,), 0, 1.0),
    ("rgamma at -1", sc.rgamma, (-1.0,), 0, -1.0),
    ("rgamma at -4", sc.rgamma, (-4.0,), 0, 24.0),
    ("psi at 1", sc.psi, (1.0,), 0, PI**2 / 6.0),
    ("gammainc of large order", sc.gammainc, (1e6, 1e6), 1, 3.9894224715624403e-4),
    ("betainc of large orders", sc.betainc, (1e6, 1e6, 0.5), 2, 1128.3790260481255),
    ("betaln of a large and a small number", sc.betaln, (1e8, 1.0), 0, -1e-8),
    ("poch of a large number", sc.poch, (1e8, 1.0), 0, 1.0),
    ("gammainc of order 1 at 0", sc.gammainc, (1.0, 0.0), 1, 1.0),
    ("gammainc of order 3 at 0", sc.gammainc, (3.0, 0.0), 1, 0.0),
    ("betainc at 0", sc.betainc, (1.0, 3.0, 0.0), 2, 3.0),
    ("exprel at 0", sc.exprel, (0.0,), 0, 0.5),
    ("exprel close to 0", sc.exprel, (1e-9,), 0, 0.5 + 1e-9 / 3.0),
    ("exprel far left", sc.exprel, (-1e4,), 0, 1e-8),
    ("boxcox at exponent 0", sc.boxcox, (np.e, 0.0), 1, 0.5),
    ("boxcox at 0", sc.boxcox, (0.0, 2.0), 1, 0.25),
    ("boxcox1p at exponent 0", sc.boxcox1p, (np.e - 1.0, 0.0), 1, 0.5),
    ("inv_boxcox at exponent 0", sc.inv_boxcox, (2.0, 0.0), 1, -2.0 * np.exp(2.0)),
    ("inv_boxcox1p at exponent 0", sc.inv_boxcox1p, (2.0, 0.0), 1, -2.0 * np.exp(2.0)),
    ("agm of equal numbers", sc.agm, (2.0, 2.0), 0, 0.5),
    ("agm of negative numbers", sc.agm, (-2.0, -2.0), 1, 0.5),
    ("spence at 1", sc.spence, (1.0,), 0, -1.0),
    ("j0 at 0", sc.j0, (0.0,), 0, 0.0),
    ("j1 at 0", sc.j1, (0.0,), 0, 0.5),
    ("i1 at 0", sc.i1, (0.0,), 0, 0.5),
    ("jv of whole order at 0", sc.jv, (1, 0.0), 1, 0.5),
    ("beip at 0", sc.beip, (0.0,), 0, 0.5),
    ("ellipk at 0", sc.ellipk, (0.0,), 0, PI / 8.0),
    ("ellipe at 0", sc.ellipe, (0.0,), 0, -PI / 8.0),
    ("ellipkinc beyond a turn", sc.ellipkinc, (3.0 * PI, 0.0), 1, 6.0 * PI / 8.0),
    ("ellipkinc in the modulus at angle 0", sc.ellipkinc, (0.0, 0.5), 1, 0.0),
    ("elliprf of equal numbers", sc.elliprf, (1.0, 1.0, 1.0), 0, -1.0 / 6.0),
    ("elliprd of equal numbers", sc.elliprd, (1.0, 1.0, 1.0), 0, -0.3),
    ("elliprd of equal numbers, last", sc.elliprd, (1.0, 1.0, 1.0), 2, -0.9),
    ("elliprg of equal numbers", sc.elliprg, (1.0, 1.0, 1.0), 1, 1.0 / 6.0),
    ("elliprc of equal numbers", sc.elliprc, (1.0, 1.0), 0, -1.0 / 6.0),
    ("legendre of degree 0", sc.eval_legendre, (0, 0.3), 1, 0.0),
    ("legendre of degree 5 at 1", sc.eval_legendre, (5, 1.0), 1, 15.0),
    ("chebyshev of degree 4 at 1", sc.eval_chebyt, (4, 1.0), 1, 16.0),
    ("hermite of degree 0", sc.eval_hermite, (0, 0.3), 1, 0.0),
    ("expn of order 0", sc.expn, (0, 1.0), 1, -2.0 / np.e),
    ("hyp1f1 at 0", sc.hyp1f1, (2.0, 3.0, 0.0), 2, 2.0 / 3.0),
    ("owens_t at 0", sc.owens_t, (0.0, 1.0), 1, 0.25 / PI),
    ("tklmbda in the middle", sc.tklmbda, (0.0, 0.5), 0, 0.5 / np.sqrt(2.0)),
    ("tklmbda outside", sc.tklmbda, (3.0, 0.5), 0, 0.0),
    ("radian in seconds", sc.radian, (1.0, 2.0, 3.0), 2, PI / 648000.0),
    ("round", sc.round, (0.3,), 0, 0.0),
    ("gammasgn", sc.gammasgn, (-0.3,), 0, 0.0),
]


@pytest.mark.parametrize(("function", "args", "k", "slope"), [c[1:] for c in SLOPES], ids=[c[0] for c in SLOPES])
def test_slope_at_the_edge(function, args, k, slope):
    """The slope is the exact one, forward and backward, of numbers and of arrays."""

    def along(x):
        return function(*args[:k], x, *args[k + 1 :])

    x = float(args[k])
    for found in (
        ad.grad(along)(x),
        ad.derivative(along)(x),
        ad.grad(lambda v: np.sum(along(v)))(np.array([x]))[0],
    ):
        np.testing.assert_allclose(found, slope, rtol=1e-13, atol=1e-300 if slope else 1e-16)


SECOND = [
    ("ellipk at 0", sc.ellipk, 0.0, 9.0 * PI / 64.0),
    ("ellipe at 0", sc.ellipe, 0.0, -3.0 * PI / 64.0),
    ("exprel at 0", sc.exprel, 0.0, 1.0 / 3.0),
    ("spence at 1", sc.spence, 1.0, 0.5),
    ("rgamma at 0", sc.rgamma, 0.0, 2.0 * EULER),
    ("j1 at 0", sc.j1, 0.0, 0.0),
    ("entr at 1", sc.entr, 1.0, -1.0),
    ("xlogy(x, x) at 1", lambda x: sc.xlogy(x, x), 1.0, 1.0),
    ("agm(x, 1) at 1", lambda x: sc.agm(x, 1.0), 1.0, -0.125),
    ("elliprf(x, 1, 1) at 1", lambda x: sc.elliprf(x, 1.0, 1.0), 1.0, 0.15),
    ("log_ndtr far left", sc.log_ndtr, -1e4, -1.0 + 1e-8),
]


@pytest.mark.parametrize(("function", "x", "slope"), [c[1:] for c in SECOND], ids=[c[0] for c in SECOND])
def test_second_derivative_where_formulas_break_down(function, x, slope):
    """Quotients and differences that vanish at the point have been replaced by series."""
    for found in (ad.derivative(function, 2)(x), ad.grad(ad.grad(function))(x)):
        np.testing.assert_allclose(found, slope, rtol=1e-11, atol=1e-15)


def test_entropy_of_absent_classes():
    """A probability that is 0 and does not move contributes no slope, as in the square root of a square."""
    probabilities = np.array([0.0, 0.25, 0.75])
    slope = ad.grad(lambda s: np.sum(sc.entr(s * probabilities)))(1.0)
    np.testing.assert_allclose(slope, np.sum(-probabilities[1:] * (1.0 + np.log(probabilities[1:]))), rtol=1e-14)


def test_complex_arguments():
    """Holomorphic functions have complex slopes."""
    z = 0.7 + 0.4j
    step = 1e-6
    for function in (sc.gamma, sc.loggamma, sc.rgamma, sc.erf, sc.erfcx, sc.dawsn, sc.wofz, sc.exp1, sc.spence):
        slope = ad.jvp(function, (z,), (1.0 + 0j,))[1]
        np.testing.assert_allclose(slope, (function(z + step) - function(z - step)) / (2 * step), rtol=1e-7)


REFUSED = [
    (lambda v: sc.jv(v, 2.0), "jv has no known derivative with respect to argument 1."),
    (lambda a: sc.chndtr(2.0, a, 1.0), "chndtr has no known derivative with respect to argument 2."),
    (lambda v: sc.pbdv(v, 1.0)[0], "pbdv has no known derivative with respect to argument 1."),
    (lambda q: sc.mathieu_a(1, q), "mathieu_a has no known derivative with respect to argument 2."),
    (lambda x: sc.besselpoly(0.5, x, 1.0), "besselpoly has no known derivative with respect to argument 2."),
]


@pytest.mark.parametrize(("function", "text"), REFUSED)
@pytest.mark.parametrize("transform", [ad.grad, ad.derivative])
def test_unknown_slopes_are_refused_at_the_users_line(function, text, transform):
    """Where no derivative is known the message says so, and shows the line that asked for it."""
    with pytest.raises(NotDifferentiableError) as caught:
        transform(function)(1.5)
    assert text in str(caught.value)
    assert "test_special.py" in str(caught.value)


def test_left_out_functions_are_refused_by_name():
    """A function without a rule is named, with its module."""
    with pytest.raises(UnsupportedError, match=r"scipy\.special\.zetac is not differentiated"):
        ad.grad(lambda x: sc.zetac(x))(2.0)


def test_scipy_is_not_imported():
    """Neither importing the library nor differentiating plain NumPy code imports SciPy."""
    code = "import sys, numpy as np, adjoint as ad; ad.grad(np.sin)(1.0); sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
