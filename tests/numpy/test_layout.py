"""What arrays say of their memory, and their elements in order: `x.flags`, `x.strides`, `x.flat`; byte orders."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import DerivativeDroppedError

X = np.arange(6.0).reshape(2, 3) + 0.5
MODES = {
    "grad": ad.grad,
    "jit": lambda f: ad.jit(ad.grad(f)),
    "vmap": lambda f: lambda x: ad.vmap(ad.grad(f))(np.stack([x, x]))[1],
}


def _advanced(x):
    flat = x.flat
    first, second = next(flat), next(flat)
    assert (flat.index, flat.coords, len(flat)) == (2, (0, 2), 6)
    return first + 3 * second + sum(flat) + flat.base[0, 0]


def _written(x):
    y = x.copy()
    y.flat[1] = x[0, 0] ** 2
    y.flat[[3, 5]] = 0.0
    return np.sum(y**2)


def _filled(x):
    y = x.copy()
    y.flat = x[0] * 2
    return np.sum(y**2)


FUNCTIONS = {
    "advanced": _advanced,
    "written": _written,
    "filled": _filled,
    "an array": lambda x: np.sum(np.array(x.flat) ** 2) + np.sum(np.asarray(x.flat[1:4]) ** 3),
    "functions": lambda x: np.sum(x.flat) + np.max(np.sin(x.flat)) + np.sum(x.flat.copy() ** 2),
    "compared": lambda x: np.sum((x.flat > 2) * x.ravel() + (x.flat != 9.0)),
    "in a loop": lambda x: sum([a * b for a, b in zip(x.flat, range(6), strict=True)]),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_flat(function, mode):
    """An iterator that is read, written, compared and made an array of, as NumPy's is."""
    np.testing.assert_allclose(mode(function)(X), ad.numerical.grad(function)(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_flags_and_strides_are_those_of_a_new_array(mode):
    """A handle has no memory: packages that ask are told what a copy would say."""

    def f(x):
        assert x.flags.c_contiguous
        assert x.flags["WRITEABLE"]
        assert x.strides == (24, 8)
        assert x.T.copy().strides == (16, 8)
        return np.sum(x) * x.strides[1]

    np.testing.assert_array_equal(mode(f)(X), np.full((2, 3), 8.0))


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">c8", ">c16"])
def test_other_byte_orders(dtype):
    """As argument and captured, plain, differentiated, jitted and batched; results are in the machine's own order."""
    x = np.arange(1.0, 4.0).astype(dtype)

    def f(y):
        return np.abs(np.sum(y * y * x))

    native = x.astype(x.dtype.newbyteorder("="))
    wanted = ad.grad(lambda y: np.abs(np.sum(y * y * native)))(native)
    for found in (ad.grad(f)(x), ad.jit(ad.grad(f))(x), ad.vmap(ad.grad(f))(np.stack([x, x]))[1]):
        assert found.dtype == native.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_array_equal(ad.jit(lambda y: y * x)(x), native * native)


def test_numba_is_told_by_name_that_it_gets_no_memory():
    """It asks for the layout of an array, and would go on to read it."""
    names = {"__name__": "numba.core.typing.typeof"}
    exec("def kernel(x): return x.flags.writeable", names)
    kernel = names["kernel"]
    with pytest.raises(DerivativeDroppedError) as caught:
        ad.grad(lambda x: np.sum(kernel(x)))(X)
    assert "kernel is compiled by numba, and cannot take a traced value" in str(caught.value)
    assert "ad.custom_rule" in str(caught.value)


class Wrapped:
    """Holds an array as some packages do."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_objects_that_are_made_arrays_of(mode):
    """What an object's `__array__` gives may be a handle."""

    def f(x):
        cell = np.zeros((2, 3))
        cell[:] = x
        return np.sum(np.asarray(Wrapped(cell)) ** 2) + np.sum(np.array(Wrapped(x), float))

    np.testing.assert_allclose(mode(f)(X), 2 * X + 1)
