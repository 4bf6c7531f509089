"""`float(x)` and `complex(x)` of traced numbers pass through wherever a function calls them by name."""

import functools
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.host.code.versions import IS_KNOWN
from adjoint.numpy.patching.redirecting import is_run_by_python

pytestmark = pytest.mark.skipif(not IS_KNOWN, reason="the code of this interpreter is not changed")


class Parameter:
    """As packages for fitting have them."""

    def __init__(self, value):
        self.value = value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        self._value = float(value)

    @classmethod
    def of(cls, value):
        return cls(float(value))

    @staticmethod
    def doubled(value):
        return 2.0 * float(value)

    @functools.cached_property
    def turned(self):
        return complex(self.value, 0.0) if isinstance(self.value, str) else complex(self.value) * 1j


def logged(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)

    return call


@logged
def decorated(x):
    return float(x[0]) ** 2 * float(x[1])


PLAIN = np.array([[1.0, -2.0], [0.5, 3.0]])


class Own:
    """A class with a method that has the name of one of arrays."""

    def dot(self, x, *, twice=False):
        return (2.0 if twice else 1.0) * x


FUNCTIONS = {
    "dot": lambda x: np.sum(PLAIN.dot(x) ** 2 * PLAIN.T.dot([x[1], x[0]])),
    "dot of a product": lambda x: (2.0 * PLAIN)[0].dot(x) ** 2,
    "dot of another class": lambda x: Own().dot(x[0], twice=True) * x[1] + np.dot(PLAIN, x)[0],
    "clip": lambda x: np.sum(PLAIN.clip(x[1], x[0]) ** 2),
    "clip by name": lambda x: np.sum(PLAIN.clip(min=x[1]) ** 2) * x[0],
    "choose": lambda x: np.sum(np.array([0, 1]).choose([x, x**2]) ** 2),
    "hasattr": lambda x: (x[0] if hasattr(x[0], "__len__") else x[1] ** 2) * (x[0] if hasattr(x, "shape") else 1.0),
    "searchsorted": lambda x: PLAIN[1].searchsorted(x).sum() * x[0] * x[1],
    "by name": lambda x: float(x[0]) ** 2 * float(x[1]),
    "list": lambda x: np.prod([float(v) for v in x]),
    "map": lambda x: functools.reduce(lambda a, b: a * b**2, map(float, x)),
    "setter": lambda x: Parameter(x[0]).value ** 2 * x[1],
    "class method": lambda x: Parameter.of(x[0]).value * Parameter.doubled(x[1]),
    "cached": lambda x: np.abs(Parameter(x[0]).turned) ** 2 * x[1],
    "decorated": decorated,
    "closure": (lambda inner: lambda x: inner(x[0]) * x[1])(lambda v: float(v) ** 3),
    "stored": lambda x: np.sum(np.array([float(x[0]), 2.0, float(x[1])]) ** 2),
    "of a type": lambda x: x[0] * isinstance(float(x[1]), float) + np.zeros(2, dtype=float)[0],
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_numbers_pass(f):
    """Values and derivatives of the first and second order, under jit, in batches."""
    x = np.array([1.3, 0.7])
    want = ad.numerical.grad(f)(x)
    jitted = ad.jit(ad.grad(f))
    np.testing.assert_allclose(ad.grad(f)(x), want, rtol=1e-6)
    for point in (x, 1.1 * x):
        np.testing.assert_allclose(jitted(point), ad.numerical.grad(f)(point), rtol=1e-6)
    np.testing.assert_allclose(ad.hessian(f)(x), ad.jacfwd(ad.grad(f))(x))
    np.testing.assert_allclose(ad.vmap(f)(np.stack([x, 2.0 * x])), [f(x), f(2.0 * x)])


def test_what_comes_out_is_pythons_number():
    """It is a float to `isinstance` and not one of NumPy's; the number that went in stays what it was."""
    seen = []

    def f(x):
        number = float(x[0])
        seen.append((isinstance(number, float), isinstance(number, np.floating), isinstance(x[0], np.floating)))
        return number * x[1]

    ad.grad(f)(np.array([1.3, 0.7]))
    assert seen == [(True, False, True)]


def test_methods_of_plain_values_are_their_own():
    """Outside of traces, results and errors are those of the method; also with more names than a byte holds."""

    def f(a, b):
        return a.dot(b), a.clip(max=0.0, out=None)

    text = "def many(a, b):\n" + "\n".join([f"    a.name{k} if b is None else None" for k in range(300)])
    names = {"np": np}
    exec(text + "\n    return a.dot(b)", names)
    for _ in range(2):
        product, clipped = f(PLAIN, PLAIN[0])
        np.testing.assert_array_equal(product, PLAIN @ PLAIN[0])
        np.testing.assert_array_equal(clipped, np.minimum(PLAIN, 0.0))
        np.testing.assert_array_equal(names["many"](PLAIN, PLAIN[0]), PLAIN @ PLAIN[0])
        with pytest.raises(AttributeError, match="'float' object has no attribute 'dot'"):
            f(1.0, 2.0)
        with pytest.raises(ValueError, match="not aligned"):
            f(PLAIN, np.ones(3))
        np.testing.assert_allclose(ad.grad(lambda x, f=f: f(PLAIN, x)[0].sum())(np.ones(2)), PLAIN.sum(0))
        many = names["many"]
        np.testing.assert_allclose(ad.grad(lambda x, f=many: f(PLAIN, x).sum())(np.ones(2)), PLAIN.sum(0))
    with pytest.raises(AttributeError, match="shift"):
        ad.grad(lambda x: (None).shift(x))(1.0)


def test_errors_are_those_of_float():
    """An array of several numbers, a complex number and a text are no floats."""
    for f in (lambda x: float(x * np.ones(2)), lambda x: float(x * 1j), lambda x: float("one") * x):
        with pytest.raises((TypeError, ValueError)):
            ad.grad(f)(2.0)


def test_where_it_leaves_it_is_refused():
    """Compiled code that asks for the number gets none."""
    from array import array

    with pytest.raises(ad.errors.DerivativeDroppedError, match="array cannot take a traced value"):
        ad.grad(lambda x: array("d", [float(x)])[0])(2.0)


def test_modules_of_numba_are_left_alone():
    """numba reads the code of Python functions too, and would not know the versions."""
    numba = types.ModuleType("numba")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "numba", numba)
        assert not is_run_by_python({"nb": numba})
        assert is_run_by_python({"np": np, "x": 1.0})
