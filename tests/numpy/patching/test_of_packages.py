"""What packages do that gives no hook: conversions imported by name, subclasses of arrays, objects that raise."""

import sys
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.host.frames import ownership as whose

SOURCE = """
from math import sin
from numpy import array, asarray, ravel, zeros

class Missing:
    def __getattribute__(self, name):
        raise ImportError("an optional package is not there")

absent = Missing()

def converted(p):
    return ravel(asarray(p, dtype=float)) * float(array(2.0)) + zeros(2)

def sine(p):
    return sin(p) * 2.0

def optional(p):
    return absent(float(p))
"""


@pytest.fixture
def package(monkeypatch):
    """A module of a package that has compiled code."""
    module = types.ModuleType("a_compiled_package")
    monkeypatch.setitem(sys.modules, "a_compiled_package", module)
    monkeypatch.setattr(whose, "_compiled", {*whose._compiled, "a_compiled_package"})
    exec(SOURCE, vars(module))
    return module


def test_conversions_by_name(package):
    """Of a traced value they give one; new arrays stay plain, as compiled code may get to see them."""
    x = np.array([0.3, 0.7])
    f = lambda x: np.sum(package.converted(x) ** 2) + np.sum(package.converted([x[0], x[1]]))  # noqa: E731
    for found in (ad.grad(f)(x), ad.jit(ad.grad(f))(x)):
        np.testing.assert_allclose(found, 8.0 * x + 2.0)
    np.testing.assert_array_equal(package.converted([1, 2]), [2.0, 4.0])
    assert ad.grad(lambda x: package.sine(x))(0.3) == 2.0 * np.cos(0.3)


class Length(np.ndarray):
    """Numbers with a unit."""

    unit = "m"

    @property
    def value(self):
        return np.asarray(self)

    def __array_wrap__(self, *args):
        return self


def test_subclasses_of_plain_numbers():
    """A constant of the function may be one; a traced value may not, and the refusal says how to take the numbers."""
    assert ad.grad(lambda x: float(np.asarray(2.0).view(Length).value) * x)(3.0) == 2.0
    with pytest.raises(
        ad.errors.UnsupportedError, match=r"Length has an arithmetic(.|\n)*q\.value(.|\n)*ad\.custom_rule"
    ):
        ad.grad(lambda x: np.sum(np.asarray(x).view(Length)))(np.ones(2))


def test_methods_of_pythons_types_are_named():
    """`float.__mul__(x, y)` is C, and says 'Traced' to nobody's help."""
    multiply = float.__mul__

    def f(x):
        return multiply(x, 2.0)

    with pytest.raises(ad.errors.UnsupportedError, match=r"float.__mul__ is compiled code(.|\n)*ad\.custom_rule"):
        ad.grad(f)(3.0)
