"""The plain functions of `scipy.special`, which are taught to know traced values."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.special as sc
from scipy.special import logsumexp

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.numpy.patching.replacements import REPLACEMENTS, install
from adjoint.testing import check_case
from tests.cases.scipy_special import CASES

install()


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_laws(case):
    """Value, tangent, cotangent, second order, vmap and float32."""
    check_case(case)


def test_every_replacement_has_a_case():
    """A function that is added without a case is noticed."""
    known = {c.name.split(",")[0] for c in CASES} | {"softplus", "errstate", "geterr", "seterr"}
    assert {n for n, answer in REPLACEMENTS["scipy.special"].items() if answer.kind == "differentiates"} <= known


REFUSED = [(n, a) for n, a in REPLACEMENTS["scipy.special"].items() if a.kind == "refused"]


@pytest.mark.parametrize("name", [n for n, a in REFUSED if not n.endswith("_roots")])
def test_refusals_name_the_call(name):
    """Of each function that is refused, by its name and with what to write instead."""
    answer = REPLACEMENTS["scipy.special"][name]
    if not hasattr(sc, name):
        pytest.skip("not in this SciPy")
    function = getattr(sc, name)
    count = function.nin if isinstance(function, np.ufunc) else 4
    with pytest.raises(UnsupportedError) as caught:
        ad.grad(lambda x: np.sum(function(*[x] * count)))(0.5)
    assert f"scipy.special.{name} is not differentiated: {answer.note}" in str(caught.value)
    assert answer.fix in str(caught.value)


def test_zeros_are_constants():
    """Of whole numbers, which have no derivative; at traced places polynomials have one."""
    x = np.array([0.2, 0.4])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(sc.jn_zeros(1, 2) * x))(x), sc.jn_zeros(1, 2))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(sc.legendre(2)(x)))(x), 3 * x)


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
