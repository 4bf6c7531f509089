"""`docs/adjoint_in_100_lines.py` has at most 100 lines, and agrees with the library in every mode."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import adjoint as ad

FILE = Path(__file__).parent.parent.parent / "docs" / "adjoint_in_100_lines.py"
tiny = SimpleNamespace(**runpy.run_path(str(FILE)))


def shared(x):
    c = x**2 + np.exp(x**2)
    return np.sqrt(c) + np.cos(c)


def looping(x):
    y = x
    for _ in range(3):
        y = y * y + 1.0 / y
    return np.log(y) - 2.0**x


def of_array(x):
    return np.sum(np.sin(x) * x / 2.0) * np.sum(np.exp(-x)) - np.sum(x**3)


NUMBERS = [(shared, 1.3), (looping, 0.8), (lambda x: x**2 - 1.5 * x, 0.5)]
ARRAY = np.array([0.3, -0.7, 1.9])


def test_length():
    """A hundred lines, not one more."""
    assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 100


@pytest.mark.parametrize(("f", "x"), NUMBERS)
def test_reverse_and_forward_of_numbers(f, x):
    """Gradient and tangent equal the library's."""
    assert tiny.grad(f)(x) == pytest.approx(ad.grad(f)(x))
    assert tiny.jvp(f, x, 0.7) == pytest.approx(ad.jvp(f, (x,), (0.7,)))


@pytest.mark.parametrize(("f", "x"), NUMBERS)
def test_nested_modes(f, x):
    """Second derivatives by every pair of modes, and the third."""
    second = ad.derivative(f, 2)(x)
    assert tiny.grad(tiny.grad(f))(x) == pytest.approx(second)
    assert tiny.jvp(tiny.grad(f), x, 1.0)[1] == pytest.approx(second)
    assert tiny.grad(lambda y: tiny.jvp(f, y, 1.0)[1])(x) == pytest.approx(second)
    assert tiny.jvp(lambda y: tiny.jvp(f, y, 1.0)[1], x, 1.0)[1] == pytest.approx(second)
    assert tiny.grad(tiny.grad(tiny.grad(f)))(x) == pytest.approx(ad.derivative(f, 3)(x))


def test_arrays():
    """Gradient and Hessian-vector product of array code."""
    np.testing.assert_allclose(tiny.grad(of_array)(ARRAY), ad.grad(of_array)(ARRAY))
    _, product = tiny.jvp(tiny.grad(of_array), ARRAY, np.ones(3))
    np.testing.assert_allclose(product, ad.hvp(of_array, (ARRAY,), (np.ones(3),)))


def test_traces_of_different_levels_do_not_mix():
    """The derivative of x * d/dy (x + y) at y = 1 is 1: the inner trace does not see the outer variable move."""
    assert tiny.grad(lambda x: x * tiny.grad(lambda y: x + y)(1.0))(3.0) == 1.0
