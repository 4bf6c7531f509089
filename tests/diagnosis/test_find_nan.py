"""`ad.debug.find_nan`: the step and the line that made the first nan or infinity."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def test_a_step_of_the_function():
    """The first one on the way to the result, with what it was given."""

    def f(x):
        y = np.log(x)
        return np.sum(y * 2.0)

    found = ad.debug.find_nan(f)(np.array([1.0, -2.0]))
    assert (found.what, found.where, found.step) == ("nan", "value", "log")
    assert found.line.endswith("y = np.log(x)")
    assert found.operands == "float64[2] [ 1. -2.]"
    assert str(found).splitlines()[0] == "The first nan was made by log."
    assert ad.debug.find_nan(f)(np.array([1.0, 2.0])) is None


def test_an_infinity_that_becomes_a_nan():
    """It is the infinity that came first."""
    found = ad.debug.find_nan(lambda x: np.exp(x) - np.exp(x))(1e3)
    assert (found.what, found.step) == ("inf", "exp")


def test_a_step_of_the_derivative():
    """Finite values, infinite slope."""
    found = ad.debug.find_nan(lambda x: np.sum(np.sqrt(x)))(np.array([1.0, 0.0]))
    assert (found.what, found.where, found.step) == ("inf", "derivative", "sqrt")
    assert str(found).startswith("The first inf was made by the derivative of sqrt.\n  at test_find_nan.py")


def test_an_argument():
    """Nothing was made."""
    found = ad.debug.find_nan(lambda p, x: p["w"] * x)({"w": np.nan}, 1.0)
    assert (found.where, found.step) == ("argument", "p.w")
    assert str(found) == "There was a nan from the start, in p.w."


def test_what_does_not_reach_the_result_is_not_reported():
    """A nan that `where` leaves out, in the value and in the gradient, which is that of `ad.grad`."""

    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    x = np.array([1.0, 0.0, -1.0])
    assert ad.debug.find_nan(f)(x) is None
    with np.errstate(invalid="ignore"):
        assert np.all(np.isfinite(ad.grad(f)(x)))

    def g(x):
        with ad.block("inner"):
            y = x * 1.0
        return f(y)

    assert ad.debug.health(g)(x).is_healthy


@pytest.mark.parametrize("wrap", [lambda f: f, ad.jit, ad.checkpoint])
def test_inside_jit_loops_and_checkpoints(wrap):
    """The user's line inside."""

    def f(x):
        def step(c, t):
            return np.log(c), None

        return ad.scan(step, x, np.arange(4.0))[0]

    found = ad.debug.find_nan(wrap(f))(1.5)
    assert (found.step, found.operands) == ("log", "float -0.90272045571788")
    assert found.line.endswith("return np.log(c), None")


def test_several_results_and_arguments():
    """Any containers; and no warning is given besides."""
    found = ad.debug.find_nan(lambda a, b: {"x": a, "y": [np.arcsin(b)]})(np.ones(2), 2.0)
    assert (found.step, found.what) == ("arcsin", "nan")
    found = ad.debug.find_nan(lambda x: np.float64(np.inf))(1.0)
    assert found.step == "a step that does not depend on the arguments"


def test_health_reports_it():
    """In `first_bad`, and in the table."""
    found = ad.debug.health(lambda p: np.log(p["a"]) + p["b"])({"a": -1.0, "b": 1.0})
    assert found.first_bad.step == "log"
    assert "The first nan was made by log." in str(found)
    assert not found.is_healthy
    found = ad.debug.health(lambda p: np.sqrt(p["a"]) * p["b"])({"a": 0.0, "b": 1.0})
    assert found.exploding == ["a"]
    assert found.blocks[0].verdict == "inf"
