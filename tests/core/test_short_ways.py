"""The short ways of steps that are met often: they give what the general ways do, and share no memory."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.values import LARGE, fit, sum_to

X = np.array([0.5, -1.5, 2.0])


def test_elements_that_are_read_add_up_with_whole_arrays():
    """Reads before and after steps of the whole array, from both ends, and one element more than once."""

    def f(x):
        first = x[0]
        whole = np.sum(x * x)
        return first * x[1] + whole + x[0] + x[-1] ** 2 + np.sum(x + x)

    expected = 2.0 * X + 2.0 + np.array([X[1] + 1.0, X[0], 2.0 * X[2]])
    assert np.array_equal(ad.grad(f)(X), expected)


def test_an_element_is_not_added_to_the_cotangent_of_another_array():
    """A sum hands one cotangent to both of its arguments; what is read of one of them is none of the other's."""

    def f(a, b):
        first = a[0]
        return np.sum(np.array([1.0, 2.0, 3.0]) * (a + b)) + 10.0 * first

    to_a, to_b = ad.grad(f, argnums=(0, 1))(X, 2.0 * X)
    assert to_a.tolist() == [11.0, 2.0, 3.0]
    assert to_b.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("n", [3, LARGE + 1])
def test_elements_of_other_kinds(dtype, n):
    """The result has the kind of the argument, whatever its length."""
    x = np.arange(1.0, n + 1.0).astype(dtype)
    found = ad.grad(lambda x: np.real(x[1] * x[1] + 3.0 * x[-1]))(x)
    assert found.dtype == dtype
    assert found[1] == 4.0
    assert found[-1] == 3.0
    assert np.count_nonzero(found) == 2


def test_elements_of_matrices_are_rows():
    """A row is a view, which shares its elements."""

    def f(x):
        x = x * 1.0
        row = x[1]
        row[0] = 0.0
        return np.sum(x * x)

    assert ad.grad(f)(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[2.0, 4.0], [0.0, 8.0]]


def test_an_index_out_of_bounds_is_numpys_error():
    """As without a trace."""
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        ad.grad(lambda x: x[3])(X)


def test_the_number_of_a_number():
    """A number is read at no index at all."""
    assert ad.grad(lambda x: x[()] * x)(np.float64(3.0)) == 6.0


@pytest.mark.parametrize(
    "entries",
    [
        lambda a, b: [a, b, a],
        lambda a, b: (a, b, a),
        lambda a, b: [a, 2.0, b],
        lambda a, b: [a, 2, b],
        lambda a, b: [a, np.float64(2.0), b],
        lambda a, b: [[a, b], [b, 1.0]],
    ],
)
def test_arrays_of_numbers(entries):
    """`np.array` of a list of numbers, some of them plain, is an array of the user's own."""

    def f(x):
        made = np.array(entries(x[0] * 1.0, x[1]))
        value = np.sum(made * made)
        made[0] = 0.0
        return value + np.sum(made)

    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(3)]
    assert np.allclose(ad.grad(f)(X), expected, atol=1e-8)
    assert np.allclose(ad.jacobian(ad.grad(f))(X), ad.hessian(f)(X))


def test_arrays_of_numbers_of_two_traces():
    """A number of the function further out beside one of the inner one."""
    second = ad.grad(lambda x: ad.grad(lambda y: np.sum(np.array([x, y]) * np.array([y, x * y])))(x))(3.0)
    assert second == 13.0  # of x + 2 x**2


def test_arrays_of_numbers_in_another_precision():
    """As asked for."""

    def f(x):
        made = np.array([x[0], x[1]], dtype=np.float32)
        assert made.dtype == np.float32
        return np.sum(made)

    assert ad.grad(f)(X).tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("n", [3, LARGE + 1])
def test_a_product_with_itself(n):
    """One handle twice, and two handles of one array: the gradients share no memory."""
    x = np.linspace(-1.0, 2.0, n)
    assert np.array_equal(ad.grad(lambda x: np.sum(x * x))(x), 2.0 * x)
    assert np.array_equal(ad.grad(lambda x: np.sum(x * x + x))(x), x + x + 1.0)
    a, b = ad.grad(lambda a, b: np.sum(a * b + a), argnums=(0, 1))(x, x)
    assert np.array_equal(a, x + 1.0)
    assert np.array_equal(b, x)
    assert not np.shares_memory(a, b)
    assert not np.shares_memory(b, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda h, a, b: a @ h,
        lambda h, a, b: h @ a,
        lambda h, a, b: b @ h,
        lambda h, a, b: h @ b,
        lambda h, a, b: (b * h) @ b,
        lambda h, a, b: a @ (b[:, None] * h),
    ],
)
def test_products_with_plain_arrays(function):
    """Of vectors and matrices; what becomes of the plain array afterwards does not matter."""
    a, b = np.arange(9.0).reshape(3, 3), np.array([1.0, -2.0, 0.5])

    def f(h, is_changed=False):
        mine, vector = a.copy(), b.copy()
        found = function(h, mine, vector)
        if is_changed:
            mine[...] = vector[...] = np.nan
        return np.sum(found * found)

    expected = [(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    assert np.allclose(ad.grad(f)(X, True), expected, rtol=1e-7)


def test_the_product_of_vectors_is_numpys_number():
    """Not Python's: its comparisons give NumPy's truth values."""

    def f(x):
        y = x @ X
        assert type(y > 0.0) is np.bool
        return y

    assert np.array_equal(ad.grad(f)(X), X)


SHAPES = ((), (1,), (4,), (3, 1), (1, 4), (3, 4), (1, 1), (2, 3, 4), (2, 1, 4), (2, 3, 1), (1, 1, 1), (0, 1), (1, 0))


@pytest.mark.parametrize("shape", SHAPES)
def test_broadcasting_is_undone(shape):
    """Each element gets the sum of those that were made of it."""
    value = np.zeros(shape)
    for other in SHAPES:
        try:
            whole = np.broadcast_shapes(shape, other)
        except ValueError:
            continue
        g = np.arange(1.0, 1.0 + np.prod(whole, dtype=int)).reshape(whole)
        expected = np.zeros(shape)
        for place in np.ndindex(*whole):
            tail = place[len(whole) - len(shape) :]
            expected[tuple([0 if n == 1 else k for n, k in zip(shape, tail, strict=True)])] += g[place]
        assert np.array_equal(sum_to(g, shape), expected)
        found = fit(g, value)
        assert type(found) is np.ndarray
        assert np.array_equal(found, expected)
