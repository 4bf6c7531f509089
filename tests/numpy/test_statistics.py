"""The laws, for NumPy's statistics and reductions, and for the methods of universal functions."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import LAWS, Case, check_case
from tests.cases.statistics import RAGGED, TABLE, A


@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in TABLE], ids=[row[0] for row in TABLE])
def test_laws(name, function, args):
    """Value, tangent, adjoint, orders, stacking and precision."""
    skipped = {"stacking"} if name in RAGGED else set()
    check_case(Case(name, function, tuple(args), tuple([law for law in LAWS if law not in skipped]), rtol=1e-5))


def test_products_with_zeros():
    """Products and running products have the right derivatives of every order where factors are zero."""
    np.testing.assert_array_equal(ad.grad(np.prod)(np.array([0.0, 2.0, 3.0])), [6, 0, 0])
    np.testing.assert_array_equal(ad.hessian(np.prod)(np.array([0.0, 0.0, 3.0])), [[0, 3, 0], [3, 0, 0], [0, 0, 0]])
    rows = ad.jacobian(np.cumprod)(np.array([2.0, 0.0, 5.0]))
    np.testing.assert_array_equal(rows, [[1, 0, 0], [0, 2, 0], [0, 10, 0]])
    third = ad.jacobian(ad.hessian(np.prod))(np.zeros(3))
    assert third[0, 1, 2] == third[2, 0, 1] == 1
    assert np.sum(third) == 6


def test_spread_of_equal_elements():
    """The standard deviation of equal elements has slope 0, their variance its usual curvature."""
    for x in (np.full(3, 0.1), np.full(4, 2.0)):
        np.testing.assert_allclose(ad.grad(np.std)(x), 0, atol=1e-15)
        np.testing.assert_allclose(ad.grad(np.nanstd)(x), 0, atol=1e-15)
    np.testing.assert_allclose(ad.hessian(np.var)(np.ones(2)), [[0.5, -0.5], [-0.5, 0.5]], atol=1e-15)


def test_extremes_with_ties_and_nan():
    """Ties share equally over all reduced axes; nan takes all, or nothing where nan is passed over."""
    np.testing.assert_array_equal(ad.grad(np.max)(np.array([1.0, 2.0, 2.0])), [0, 0.5, 0.5])
    np.testing.assert_array_equal(ad.grad(lambda x: np.max(x, axis=(0, 1)))(np.ones((2, 2))), np.full((2, 2), 0.25))
    np.testing.assert_array_equal(ad.grad(np.max)(np.array([1.0, np.nan])), [0, 1])
    np.testing.assert_array_equal(ad.grad(np.nanmax)(np.array([1.0, np.nan])), [1, 0])
    np.testing.assert_array_equal(ad.grad(np.nansum)(np.array([1.0, np.nan])), [1, 0])
    assert ad.jvp(np.nanargmax, (np.array([np.nan, 3.0, 5.0]),), (np.ones(3),))[0] == 2
    with pytest.raises(ValueError, match="All-NaN"):
        ad.grad(lambda x: x[np.nanargmin(x)])(np.full(2, np.nan))


def test_nothing_to_reduce():
    """Sums and products of no elements are constants."""
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x[:0]) + np.prod(x[:0]) + x[0])(np.ones(2)), [1, 0])
    value = ad.jvp(lambda x: np.prod(x, axis=0), (np.ones((0, 3)),), (np.ones((0, 3)),))[0]
    np.testing.assert_array_equal(value, np.ones(3))


def test_medians_of_missing_and_infinite_numbers():
    """nan makes the median nan, and infinities do not."""
    assert np.isnan(ad.vjp(np.median, np.array([1.0, np.nan, 2.0]))[0])
    assert ad.vjp(np.median, np.array([np.inf, np.inf, 2.0, np.inf]))[0] == np.inf
    assert ad.vjp(np.median, np.array([-np.inf, np.inf, 2.0]))[0] == 2.0


def test_out_and_dtype():
    """Results go to `out=`, and `dtype=` is obeyed."""

    def f(x):
        total = np.zeros_like(x[0])
        np.sum(x, axis=0, out=total)
        return np.sum(total**2)

    np.testing.assert_allclose(ad.grad(f)(A), np.broadcast_to(2 * A.sum(0), A.shape))
    assert ad.vjp(lambda x: np.add(x, 1, dtype=np.float32), A)[0].dtype == np.float32
    assert ad.vjp(lambda x: np.mean(x, dtype=np.float32), A)[0].dtype == np.float32
    assert ad.vjp(np.mean, A.astype(np.float16))[0].dtype == np.float16
    assert ad.grad(np.mean)(A.astype(np.float16)).dtype == np.float16
    assert ad.vjp(lambda x: np.sum(x * np.arange(4), axis=np.int64(0)), A.astype(np.float32))[0].dtype == np.float64
