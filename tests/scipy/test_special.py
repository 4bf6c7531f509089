"""The plain functions of `scipy.special`, which are taught to know traced values."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.special as sc
from scipy.special import logsumexp

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.numpy.replacements import REPLACEMENTS, install
from adjoint.testing import LAWS, Case, check_case

install()
ROWS = np.array([[0.7, -1.3, 0.4], [1.9, 0.2, -0.6]])
HIGH = np.abs(ROWS) + 0.3
WEIGHTS = np.array([1.0, 0.3, 0.0])

CASES = [
    Case("logsumexp", lambda x: sc.logsumexp(x), (ROWS,)),
    Case("logsumexp, axis", lambda x: sc.logsumexp(x, axis=0, keepdims=True), (ROWS,)),
    Case("logsumexp, weights", lambda x, b: sc.logsumexp(x, axis=-1, b=b), (ROWS, WEIGHTS)),
    Case("logsumexp, sign", lambda x, b: sc.logsumexp(x, 1, b, return_sign=True), (ROWS, 0.1 - WEIGHTS)),
    Case("softmax", lambda x: sc.softmax(x, axis=-1), (ROWS,)),
    Case("softmax, all", lambda x: sc.softmax(x), (ROWS,)),
    Case("log_softmax", lambda x: sc.log_softmax(x, axis=0), (ROWS,)),
    Case("multigammaln", lambda x: sc.multigammaln(x + 3.0, 4), (HIGH,)),
    Case("polygamma", lambda x: sc.polygamma(2, x), (HIGH,)),
    Case("zeta", lambda q: sc.zeta(2.5, q), (HIGH,)),
    Case("lambertw", lambda z: sc.lambertw(z), (HIGH,)),
    Case("lambertw, branch", lambda z: sc.lambertw(z, 1), (ROWS + 1j * HIGH,), laws=tuple(LAWS)[:-1]),
    Case("factorial", lambda n: sc.factorial(n), (ROWS,)),
    Case("comb", lambda n, k: sc.comb(n + 5.0, k), (HIGH, HIGH)),
    Case("comb, repetition", lambda n, k: sc.comb(n + 5.0, k, repetition=True), (HIGH, HIGH)),
    Case("perm", lambda n, k: sc.perm(n + 5.0, k), (HIGH, HIGH)),
    Case("diric", lambda x: sc.diric(x, 5), (ROWS,)),
    Case("sph_harm_y", lambda t, p: sc.sph_harm_y(3, 2, t, p), (HIGH, ROWS)),
    Case("sph_harm_y, at its last order", lambda t, p: sc.sph_harm_y(2, -2, t, p), (HIGH, ROWS)),
    Case("spherical_jn", lambda x: sc.spherical_jn(2, x), (ROWS,)),
    Case("spherical_jn, slope", lambda x: sc.spherical_jn(2, x, derivative=True), (ROWS,)),
    Case("spherical_yn", lambda x: sc.spherical_yn(1, x), (HIGH,)),
    Case("spherical_in", lambda x: sc.spherical_in(0, x), (ROWS,)),
    Case("spherical_kn", lambda x: sc.spherical_kn(1, x), (HIGH,)),
    Case("sinc", lambda x: sc.sinc(x), (ROWS,)),
    Case("jvp", lambda x: sc.jvp(1.5, x, 2), (HIGH,)),
    Case("kvp", lambda x: sc.kvp(1.5, x, 2), (HIGH,)),
    Case("assoc_laguerre", lambda x: sc.assoc_laguerre(x, 3, 1.5), (HIGH,)),
]
if hasattr(sc, "softplus"):
    CASES.append(Case("softplus", lambda x: sc.softplus(x), (ROWS,)))


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_laws(case):
    """Value, tangent, cotangent, second order, vmap and float32."""
    check_case(case)


def test_every_replacement_has_a_case():
    """A function that is added without a case is noticed."""
    assert set(REPLACEMENTS["scipy.special"]) <= {c.name.split(",")[0] for c in CASES} | {"softplus"}


def test_functions_imported_by_name():
    """The function object itself has been taught, not a name in SciPy's module."""
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ad.grad(logsumexp)(x), sc.softmax(x), rtol=1e-14)


def test_plain_calls_are_as_before():
    """Without traced arguments SciPy's own code runs; signature, name and pickling are SciPy's."""
    assert list(inspect.signature(logsumexp).parameters) == ["a", "axis", "b", "keepdims", "return_sign"]
    assert pickle.loads(pickle.dumps(logsumexp)) is logsumexp
    assert sc.comb(5, 2, exact=True) == 10
    assert logsumexp([0.0, 0.0]) == np.log(2.0)
    assert logsumexp.__name__ == "logsumexp"


def test_large_and_infinite_logarithms():
    """No overflow, and a term that is absent has no share."""
    x = np.array([1e4, 1e4 - 1.0, -np.inf])
    share = 1.0 / (1.0 + np.exp(-1.0))
    np.testing.assert_allclose(ad.grad(sc.logsumexp)(x), [share, 1.0 - share, 0.0], rtol=1e-12)
    np.testing.assert_allclose(ad.jacobian(sc.softmax)(np.array([1e4, 0.0])), np.zeros((2, 2)), atol=1e-300)
    weights = np.array([1.0, 0.0])
    slope = ad.grad(lambda b: sc.logsumexp(np.array([0.0, 2.0]), b=b))(weights)
    np.testing.assert_allclose(slope, [1.0, np.exp(2.0)], rtol=1e-14)


def test_slopes_at_the_poles_of_coordinates():
    """Dirichlet's kernel at 0 and spherical harmonics at the pole are smooth."""
    np.testing.assert_allclose(ad.derivative(lambda x: sc.diric(x, 5), 2)(0.0), -2.0, rtol=1e-12)
    slope = ad.jvp(lambda t: sc.sph_harm_y(1, 1, t, 0.0), (0.0,), (1.0,))[1]
    np.testing.assert_allclose(slope, -np.sqrt(3.0 / (8.0 * np.pi)), rtol=1e-12)


@pytest.mark.parametrize("function", [lambda n: sc.factorial(n, exact=True), lambda n: sc.comb(n, 2, exact=True)])
def test_exact_results_are_refused(function):
    """Whole numbers have no derivative."""
    with pytest.raises(UnsupportedError, match="exact=True"):
        ad.grad(function)(3.0)
