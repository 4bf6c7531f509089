"""The edges of what can be traced: elements left out, bytes and records, batches of none, whole numbers."""

import math
import pickle

import numpy as np
import pytest

import adjoint as ad


@pytest.mark.parametrize(
    "transform", [ad.grad, ad.jacfwd, ad.hessian, lambda f: lambda x: ad.vmap(ad.grad(f))(x[None])]
)
def test_what_is_left_out_gives_no_warning(transform):
    """With where= NumPy does not look at the other elements, so it does not warn of them; warnings are errors here."""
    transform(lambda x: np.sum(np.divide(1.0, x, out=np.zeros(2), where=x != 0)))(np.array([0.0, 2.0]))


LOSSES = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "objects": lambda x: np.array([x[0], x[1]], dtype=object),
    "records": lambda x: np.array([(x[0], x[1])], dtype=[("a", float), ("b", float)])["a"],
}


@pytest.mark.parametrize("name", LOSSES)
def test_no_conversion_loses_a_derivative(name):
    """Bytes, objects and records hold plain numbers only."""
    with pytest.raises(ad.errors.DerivativeDroppedError):
        ad.grad(lambda x: np.sum(LOSSES[name](x)))(np.ones(2))


def test_a_buffer_of_constants_may_be_pickled():
    """Nothing is lost: it is a plain array."""

    def f(x):
        weights = np.zeros(2)
        weights[1] = 3.0
        return np.sum(x * pickle.loads(pickle.dumps(weights)))

    assert ad.grad(f)(np.ones(2)).tolist() == [0.0, 3.0]


EMPTY = {
    "interp": lambda x: np.interp(x, np.arange(3.0), x),
    "convolve": lambda x: np.convolve(x, x),
    "median": np.median,
    "pinv": lambda x: np.linalg.pinv(x[:, None]),
    "jacobian": ad.jacrev(ad.jacfwd(lambda x: np.sum(x**2))),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_batch_of_none(name):
    """A batch without examples has results of the right shape."""
    shape = np.shape(EMPTY[name](np.ones(3)))
    assert ad.vmap(EMPTY[name])(np.zeros((0, 3))).shape == (0, *shape)


def test_second_derivative_with_respect_to_nothing():
    """An empty argument has an empty Hessian, in both orders."""
    for second in (ad.jacrev(ad.jacfwd(np.sum)), ad.hessian(np.sum)):
        assert second(np.zeros(0)).shape == (0, 0)


def test_compositions_take_a_plain_array_first():
    """np.matvec and its like, a constant first."""
    A, x = np.arange(6.0).reshape(2, 3), np.ones(3)
    np.testing.assert_allclose(ad.jacobian(lambda x: np.matvec(A, x))(x), A)
    np.testing.assert_allclose(ad.jacobian(lambda x: np.vecdot(A, x))(x), A)
    np.testing.assert_allclose(ad.vmap(lambda x: np.matvec(A, x))(A), A @ A.T)


@pytest.mark.parametrize("whole", [round, math.floor, math.ceil, int])
def test_a_batch_is_no_integer(whole):
    """Inside vmap there is no one number to round."""
    assert ad.grad(lambda x: x * whole(x))(2.7) == whole(2.7)
    with pytest.raises(ad.errors.BatchError):
        ad.vmap(lambda x: x * whole(x))(np.ones(1))
