"""`np.vectorize`: a loop over elements, differentiated and recorded as one; grids that are filled; names of ufuncs."""

import numpy as np
import pytest
from numpy import add, exp, linspace

import adjoint as ad
from adjoint.core.errors import DerivativeDroppedError

X = np.array([0.5, 1.5, 2.5])


@np.vectorize
def bent(t):
    return t * t if t > 1 else 3.0 * t


VECTORIZED = {
    "one": (lambda x: np.sum(bent(x)), 2),
    "two": (lambda x: np.sum(np.vectorize(lambda a, b: a * b)(x, x[:, None])), 2),
    "a constant": (lambda x: np.sum(np.vectorize(lambda a, b: a**b)(x, [1.0, 2.0, 3.0])), 2),
    "several results": (lambda x: np.sum(np.vectorize(lambda a: (a * a, np.sin(a)))(x)[1]), 2),
    "excluded": (lambda x: np.sum(np.vectorize(lambda a, p: a * p[0], excluded=["p"])(x, p=[2.0, 3.0])), 2),
    "keywords": (lambda x: np.sum(np.vectorize(lambda a, b=1.0: a * b)(x, b=x)), 2),
    "otypes": (lambda x: np.sum(np.vectorize(lambda a: a * a, otypes=[float])(x)), 2),
    "a matrix": (lambda x: np.sum(np.vectorize(lambda a: a**3)(np.outer(x, x))), 2),
    "a number": (lambda x: np.vectorize(lambda a: a**3)(x[0]) * 1.0, 2),
    "integers first": (lambda x: np.sum(np.vectorize(lambda a: 0 if a < 1 else a)(x)) + np.sum(x), 2),
}


@pytest.mark.parametrize("name", VECTORIZED)
def test_vectorized_functions(name):
    """Value and gradient of the loop, also recorded."""
    f, _ = VECTORIZED[name]
    value, gradient = ad.value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    numerical = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    if name == "integers first":
        numerical = np.ones(3)  # the dtype of the first result is that of all
    np.testing.assert_allclose(gradient, numerical, rtol=1e-6)
    jitted = ad.jit(ad.grad(f))
    for x in (X, X + 0.01):
        np.testing.assert_allclose(jitted(x), ad.grad(f)(x))


def test_signatures():
    """They mean whole rows."""
    rows = np.vectorize(lambda a: np.sum(a**2), signature="(n)->()")
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(rows(x)))(X), 2.0 * X)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(rows(np.stack([x, 3.0 * x]))))(X), 20.0 * X)


def test_empty_arrays():
    """As NumPy: an error, unless the dtype is given."""
    for f in (lambda x: np.vectorize(lambda a: a)(x[:0]), lambda x: np.vectorize(lambda a: a, otypes=[float])(x[:0])):
        want = attempted(lambda f=f: f(X).shape)
        assert attempted(lambda f=f: ad.grad(lambda x: (np.sum(x), f(x).shape), has_aux=True)(X)[1]) == want


def attempted(call):
    try:
        return call()
    except ValueError:
        return "ValueError"


MAKERS = {
    "arange": lambda: np.arange(3.0),
    "linspace": lambda: np.linspace(0.0, 1.0, 3),
    "linspace by name": lambda: linspace(0.0, 1.0, 3),
    "logspace": lambda: np.logspace(0.0, 1.0, 3),
    "geomspace": lambda: np.geomspace(1.0, 2.0, 3),
    "tile": lambda: np.tile([1.0], 3),
    "repeat": lambda: np.repeat(1.0, 3),
    "copy": lambda: np.copy(X),
    "array": lambda: np.array([1.0, 2.0, 3.0]),
    "stack": lambda: np.stack([1.0, 2.0, 3.0]),
    "concatenate": lambda: np.concatenate([[1.0], [2.0, 3.0]]),
    "hstack": lambda: np.hstack([[1.0], [2.0, 3.0]]),
    "fromiter": lambda: np.fromiter([1.0, 2.0, 3.0], float),
    "of a grid": lambda: np.arange(3.0) * 2 + 1,
    "reshaped": lambda: np.arange(6.0).reshape(2, 3)[1],
}


def filled(make):
    def f(x):
        y = make()
        y[0] = 2 * x[0]
        y[1:] += x[1:] ** 2
        return np.sum(y**2)

    return f


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_grids_can_be_filled(make):
    """As arrays of zeros can, wherever they are made."""
    f = filled(make)
    gradient = ad.grad(f)(X)
    np.testing.assert_allclose(gradient, [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)], rtol=1e-6)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(X), gradient)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(np.stack([X, X]))[1], gradient)


def test_grids_that_another_function_fills():
    """Named by the function that makes the grid."""

    def fill(y, x):
        y[1] = x[1] ** 2

    def f(x):
        y = np.linspace(0.0, 1.0, 3)
        fill(y, x)
        return np.sum(y)

    assert ad.grad(f)(X).tolist() == [0.0, 3.0, 0.0]


def test_grids_stay_plain_where_nothing_is_filled():
    """They are quicker then."""
    kinds = []
    ad.grad(lambda x: np.sum(x * (kinds.append(type(t := np.arange(3.0))) or t)))(X)
    assert kinds == [np.ndarray]


def test_universal_functions_by_name():
    """A list is not looked into: the message says what to write."""
    with pytest.raises(DerivativeDroppedError, match=r"np\.exp(.|\n)*exp\(np\.array\(\[x, y\]\)\)"):
        ad.grad(lambda x: exp([x, 2.0])[0])(1.0)
    with pytest.raises(DerivativeDroppedError, match=r"np\.add(.|\n)*Write  np\.add"):
        ad.grad(lambda x: add([x, 2.0], 1.0)[0])(1.0)
    assert ad.grad(lambda x: exp(x))(0.0) == 1.0


def test_arrays_of_objects():
    """Their derivatives are nobody's."""
    with pytest.raises(DerivativeDroppedError, match="Leave  dtype=object  out"):
        ad.grad(lambda x: np.array([x, 2.0], dtype=object).sum())(1.0)
