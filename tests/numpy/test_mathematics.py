"""The laws, for NumPy's products, differences, integrals, interpolation and polynomials."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import BatchError, UnsupportedError
from adjoint.testing import Case, check_case
from tests.cases.mathematics import TABLE, A, P, X


def is_complex(args):
    """Whether an argument is complex."""
    return any(np.iscomplexobj(a) for a in args)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # from NumPy 2.5 on
@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in TABLE], ids=[row[0] for row in TABLE])
def test_laws(name, function, args):
    """Value, tangent, adjoint, orders, stacking and precision."""
    check_case(Case(name, function, tuple(args), rtol=1e-5))


@pytest.mark.parametrize(("name", "function", "args"), [(n, f, a) for n, f, *a in TABLE if is_complex(a)])
def test_complex_single_precision_is_kept(name, function, args):
    """complex64 in, complex64 (or float32) out, and back."""
    small = [np.asarray(a).astype(np.complex64 if np.iscomplexobj(a) else np.float32) for a in args]
    want = np.asarray(function(*small)).dtype
    value, pullback = ad.vjp(function, *small)
    assert np.asarray(value).dtype == want
    assert np.asarray(ad.jvp(function, small, small)[1]).dtype == want
    assert [np.asarray(g).dtype for g in pullback(value)] == [a.dtype for a in small]


def test_at_a_knot_the_slope_is_the_right_one():
    """Interpolation at a knot and at the last knot."""
    knots, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 1.0])
    slope = ad.grad(lambda x: np.interp(x, knots, values))
    assert [slope(0.0), slope(1.0), slope(3.0), slope(4.0)] == [2.0, -0.5, -0.5, 0.0]


def test_refusals():
    """What is not differentiated says so; what NumPy refuses is refused."""
    with pytest.raises(UnsupportedError, match="weights"):
        ad.grad(lambda x: np.quantile(x, 0.5, weights=P, method="inverted_cdf"))(X)
    with pytest.raises(ValueError, match="identity"):
        ad.grad(lambda x: np.max(x, where=x > 0))(X)
    with pytest.raises(ValueError, match="reorderable"):
        ad.grad(lambda x: np.subtract.reduce(x, axis=None))(A)
    with pytest.raises(BatchError, match="number of bins"):
        ad.vmap(lambda x: np.histogram(x, "auto")[1])(A)
    with pytest.raises(BatchError, match="coefficients that are zero"):
        ad.vmap(np.roots)(np.array([[1.0, 2.0, 3.0], [0.0, 2.0, 3.0]]))
    with pytest.raises(ZeroDivisionError, match="zero"):
        ad.grad(lambda x: np.average(x, weights=0 * x))(X)
    with pytest.raises(UnsupportedError, match="signature"):
        ad.grad(lambda x: np.sum(np.add(x, x, signature="dd->d")))(X)


def test_where_asks_a_traced_number():
    """A number as the condition of `where` counts as true where it is not 0, and has no part in the derivative."""
    x = np.array([0.4, 0.0, -1.0])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(np.where(x, 2.0 * x, 3.0 * x)))(x), [2.0, 3.0, 2.0])
    assert ad.grad(lambda x: np.where(x, 2.0 * x, 2.0))(0.4) == 2.0


def test_delete_where_the_values_say_so():
    """Places that come from the values themselves: eager, recorded (with a guard), and refused in a batch."""

    def f(x):
        return np.sum(np.delete(x, x > 1.0) ** 2) + np.sum(np.insert(x, np.flatnonzero(x > 1.0), 2.0))

    x, other = np.array([0.5, 2.0, 0.3]), np.array([0.5, 0.6, 3.0])
    compiled = ad.jit(ad.grad(f))
    for point in (x, other, x):
        np.testing.assert_allclose(compiled(point), ad.grad(f)(point))
    np.testing.assert_allclose(ad.grad(f)(x), [2.0, 1.0, 1.6])
    with pytest.raises(ad.errors.BatchError, match="places that the shape depends on"):
        ad.vmap(lambda x: np.sum(np.delete(x, x > 1.0)))(np.stack([x, other]))
