"""Python's integers as points: of a real function, 3 is 3.0."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from adjoint import errors


def cubic(x):
    return 2.0 * x**3


def pair(x):
    return np.array([x**2, 3 * x])


CALLS = {
    "grad": lambda x: ad.grad(cubic)(x),
    "value_and_grad": lambda x: ad.value_and_grad(cubic)(x),
    "second": lambda x: ad.grad(ad.grad(cubic))(x),
    "jvp": lambda x: ad.jvp(cubic, (x,), (x,)),
    "vjp": lambda x: ad.vjp(cubic, x)[1](1.0),
    "linearize": lambda x: ad.linearize(cubic, x)[1](1.0),
    "jacobian": lambda x: ad.jacobian(pair)(x),
    "jacfwd": lambda x: ad.jacfwd(pair)(x),
    "hessian": lambda x: ad.hessian(cubic)(x),
    "hvp": lambda x: ad.hvp(cubic, (x,), (1,)),
    "laplacian": lambda x: ad.curvature.laplacian(cubic)(x),
    "taylor": lambda x: ad.taylor(cubic, x, 3),
    "metric": lambda x: ad.curvature.pullback_metric(pair)(x),
    "sparse_jacobian": lambda x: ad.sparse.jacobian(pair)(x).toarray(),
    "jit of grad": lambda x: ad.jit(ad.grad(cubic))(x),
    "grad of jit": lambda x: ad.grad(ad.jit(cubic))(x),
    "jit of hessian": lambda x: float(ad.jit(ad.hessian(cubic))(x)),
    "two arguments": lambda x: ad.grad(lambda a, b: a**2 * b, (0, 1))(x, 2),
    "by name": lambda x: ad.grad(lambda a, b: a * b, argnames="b")(2, b=x),
    "list": lambda x: ad.grad(lambda p: p[0] ** 2 * p[1])([x, 2.0]),
    "dict": lambda x: ad.grad(lambda p: p["a"] ** 2 * p["b"])({"a": x, "b": x}),
    "explain": lambda x: str(ad.explain(cubic)(x)),
}


def with_floats(found):
    """The text of a result, in which 3.0 is not 3."""
    return repr(found)


@pytest.mark.parametrize("name", CALLS)
def test_an_integer_is_the_float_it_is_equal_to(name):
    """Values, slopes and their types are those at 3.0."""
    assert with_floats(CALLS[name](3)) == with_floats(CALLS[name](3.0))


def test_one_recording_after_another():
    """An integer that varies becomes an input, and is a float all the same."""
    f = ad.jit(ad.grad(cubic))
    assert [f(n) for n in (1, 2, 3, -4)] == [6.0 * n**2 for n in (1, 2, 3, -4)]
    assert f(2.5) == 37.5
    assert ad.testing.check_grads(cubic, (3,)) is None


@dataclass
class Layers:
    """An integer that may be a setting."""

    w: float
    n: int


@pytest.mark.parametrize("x", [True, np.int64(3), np.arange(3), 2**60 + 1, 10**400, Layers(2.0, 3)], ids=str)
def test_what_is_refused(x):
    """Truth values, what has a dtype, what no float is equal to, and fields of dataclasses."""
    with pytest.raises(errors.InputError) as caught:
        ad.grad(lambda x: 1.0)(x)
    has_dtype = isinstance(x, (np.ndarray, np.generic))
    assert ("pass  x.astype(float)" in str(caught.value).splitlines()[0]) == has_dtype


def test_a_count_has_to_stay_one():
    """What needs an integer says so: nothing is rounded."""
    with pytest.raises(TypeError, match="integer"):
        ad.grad(lambda n: sum([n * 1.0 for _ in range(n)]))(3)
