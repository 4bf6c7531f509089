"""A function that names an error of Python's arithmetic gets it from Python's numbers, as without derivatives."""

import numpy as np
import pytest

import adjoint as ad

STEPS = {
    "1 / x": (lambda x: 1 / x, 0.0),
    "x / 0": (lambda x: x / 0, 1.0),
    "x % 0": (lambda x: x % 0, 1.0),
    "x // 0": (lambda x: x // 0, 1.0),
    "divmod": (lambda x: divmod(7, x)[1], 0.0),
    "x ** -1": (lambda x: x**-1, 0.0),
    "overflow": (lambda x: x**400, 10.0),
    "of its own": (lambda x: x / (x - x), 2.0),
    "checkpoint": (lambda x: ad.checkpoint(lambda y: 1 / y)(x), 0.0),
}


def spoken_of(step):
    """The step, or five times its argument where Python has an error."""

    def safe(x):
        try:
            return step(x)
        except (ZeroDivisionError, OverflowError):
            return 5 * x

    return safe


@pytest.mark.parametrize("name", STEPS)
def test_a_named_error_is_raised_in_every_walk(name):
    """The value and the slope are those of the branch that the plain function takes."""
    step, x = STEPS[name]
    safe = spoken_of(step)
    assert safe(x) == 5 * x
    assert ad.value_and_grad(safe)(x) == (5 * x, 5.0)
    assert ad.jvp(safe, (x,), (1.0,)) == (5 * x, 5.0)
    assert ad.grad(lambda y: ad.grad(safe)(y) * y)(x) == 5.0


@pytest.mark.parametrize("step", [lambda x: 1 / np.sin(x), lambda x: np.divide(1, x), lambda x: 1 / np.array(x)])
def test_numpys_numbers_have_no_such_errors(step):
    """A number that NumPy made is divided by as NumPy does it, also where the error is named."""
    with np.errstate(all="ignore"):
        assert spoken_of(step)(0.0) == np.inf
        assert ad.value_and_grad(spoken_of(step))(0.0) == (np.inf, -np.inf)
        assert ad.jvp(spoken_of(step), (0.0,), (1.0,)) == (np.inf, -np.inf)


def test_only_the_functions_that_are_differentiated_count():
    """Elsewhere Python's floats follow NumPy's arithmetic, whatever the caller names."""
    try:
        with np.errstate(all="ignore"):
            assert ad.value_and_grad(lambda x: 1 / x)(0.0) == (np.inf, -np.inf)
    except ZeroDivisionError:
        pytest.fail("the caller named the error, not the function")


def test_slopes_raise_nothing():
    """An infinite slope in a function that names the error is no error of the function's."""
    assert ad.grad(spoken_of(lambda x: x**0.5))(0.0) == np.inf
    assert ad.jvp(spoken_of(lambda x: x**0.5), (0.0,), (1.0,)) == (0.0, np.inf)
