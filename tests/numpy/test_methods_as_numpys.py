"""Methods of traced arrays take their arguments as ndarray's do; arrays made from lists are there to be filled."""

import numpy as np
import pytest
from numpy import asanyarray, asarray, full_like

import adjoint as ad
from adjoint.core.errors import AdjointError, AssignmentError

CALLS = {
    "argmax": (1,), "argmin": (0,), "argpartition": (1,), "argsort": (0,), "clip": (-0.5, 1.0),
    "compress": ([True, False], 0), "cumprod": (1,), "cumsum": (0,), "diagonal": (1,), "dot": (np.ones(3),),
    "max": (1,), "mean": (1,), "min": (0,), "prod": (1,), "ptp": (1,), "ravel": ("F",), "repeat": (2, 1),
    "reshape": (3, 2), "round": (1,), "squeeze": (), "std": (1,), "sum": (1,), "swapaxes": (0, 1),
    "take": ([0, 2], 1), "trace": (1,), "transpose": (1, 0), "var": (0,), "view": (np.ndarray,),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CALLS if name != "ptp" or hasattr(np.ndarray, "ptp")])
def test_arguments_by_position(name):
    """The same value as that of the plain method."""
    x = np.array([[0.7, -1.2, 2.3], [0.4, 0.9, -0.3]])
    found, _ = ad.jvp(lambda x: getattr(x, name)(*CALLS[name]), (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(found, getattr(x, name)(*CALLS[name]))


def test_compress_has_the_slope_of_what_it_keeps():
    """The condition comes first in the function and after the array in the method."""
    x = np.array([0.7, -1.2, 2.3])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x.compress([1, 0, 1]) ** 2))(x), 2 * x * [1, 0, 1])


@pytest.mark.parametrize("make", [np.asarray, np.asanyarray, np.ascontiguousarray, asarray, asanyarray])
def test_an_array_made_from_a_list_can_be_filled(make):
    """As one of `np.array`; an array that existed before stays the same array."""

    def f(x):
        y = make([1.0, 2.0])
        y[0] = x**2
        return np.sum(y)

    assert ad.value_and_grad(f)(3.0) == (11.0, 6.0)
    before = np.ones(3)
    assert ad.grad(lambda x: x * (make(before) is before))(1.0) == 1.0


@pytest.mark.parametrize("make", [np.full_like, full_like])
@pytest.mark.parametrize("like", [[1.0, 2.0], np.zeros(2), 1.0])
def test_full_like_a_plain_prototype(make, like):
    """The traced value is the one to fill in."""
    assert ad.grad(lambda x: np.sum(make(like, x) ** 2))(3.0) == 6.0 * np.size(like)


def test_a_shape_that_is_set_is_refused_with_a_fix():
    """Instead of an error from inside the library."""

    def f(x):
        x.shape = (2, 2)
        return np.sum(x)

    with pytest.raises(AssignmentError, match="reshape"):
        ad.grad(f)(np.ones(4))


def _writes():
    def real(z):
        z.real = 5.0

    def imaginary(z):
        z.imag[1] = 2.0

    def scaled(z):
        z.real *= 2.0

    def turned(z):
        z.reshape(2, 2).T[0] = 9.0

    def flat(z):
        z.flat[1:3] = z[0]

    def all_flat(z):
        z.flat = 2.0

    def moved(z):
        z.imag = 5.0

    return real, imaginary, scaled, turned, flat, all_flat, moved


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("write", _writes(), ids=lambda f: f.__name__)
def test_attributes_that_are_written_to(write, kind):
    """As NumPy does it, or its error: real arrays have no imaginary part to set."""

    def f(x):
        y = x * 1.0
        write(y)
        return y

    x = np.arange(1.0, 5.0).astype(kind)
    modes = (lambda: ad.vjp(f, x)[0], lambda: ad.vmap(f)(np.stack([x, x]))[0], lambda: ad.jit(f)(x))
    try:
        want = f(x)
    except (TypeError, ValueError) as error:
        for mode in modes:
            with pytest.raises(type(error)):
                mode()
    else:
        for mode in modes:
            np.testing.assert_array_equal(mode(), want)


@pytest.mark.parametrize("name", ["dtype", "shape", "strides", "T", "size", "ndim", "nbytes", "itemsize", "anything"])
def test_attributes_that_are_set(name):
    """Refused by name where NumPy would look at the memory in another way, and where it refuses as well."""

    def f(x):
        setattr(x, name, {"dtype": np.int64, "shape": (2, 2), "strides": (16,)}.get(name, 3))
        return np.sum(x)

    for mode in (ad.grad(f), ad.jit(f)):
        with pytest.raises((AdjointError, AttributeError)):
            mode(np.ones(4))


def _of_a_copy(x):
    y = 2.0 * x
    y.shape = (2, -1)
    return np.sum(y * WEIGHTS)


def _of_a_view(x):
    y = 1.0 * x
    part = y[1:5]
    part.shape = (2, 2)
    part[0, 1] = 7.0 * x[0]
    return np.sum(y**2) + np.sum(part @ WEIGHTS[:, :2])


def _of_a_new_array(x):
    y = np.zeros(6)
    y.shape = (2, 3)
    y[0] = x[:3]
    return np.sum(y**3 * WEIGHTS)


WEIGHTS = np.arange(6.0).reshape(2, 3) + 1.0


@pytest.mark.filterwarnings("ignore:Setting the shape")
@pytest.mark.parametrize("f", [_of_a_copy, _of_a_view, _of_a_new_array])
def test_shapes_set_in_place(f):
    """An array that takes another shape in place keeps its elements, and a view still shares them."""
    x = np.linspace(0.5, 2.0, 6)
    want = ad.numerical.grad(f)(x)
    for found in (ad.grad(f)(x), ad.jit(ad.grad(f))(x), ad.jacfwd(f)(x), ad.vmap(ad.grad(f))(np.stack([x, x]))[1]):
        np.testing.assert_allclose(found, want, rtol=1e-6)


def test_shapes_are_not_set_under_views():
    """The views would read at the places of the old shape; a shape that does not fit is NumPy's error."""

    def f(x, shape, keep):
        y = 2.0 * x
        view = y[:2] if keep else None
        y.shape = shape
        return np.sum(y) + (np.sum(view) if keep else 0.0)

    with pytest.raises(ad.errors.AssignmentError, match="while there are views of it"):
        ad.grad(f)(np.ones(4), (2, 2), True)
    with pytest.raises(ValueError, match="cannot reshape"):
        ad.grad(f)(np.ones(4), (3, 2), False)
