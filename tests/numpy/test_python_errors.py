"""A function that names an error of Python's arithmetic gets it from Python's numbers, as without derivatives."""

import builtins
import contextlib

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
    "a square": (lambda x: x**2, 1e200),
    "pow": (lambda x: pow(x, 2), -1e200),
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
def test_a_named_error_is_raised_under_every_transform(name):
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


KINDS = (KeyError, ArithmeticError)


def bare(step, x):
    try:
        return step(x)
    except:  # noqa: E722
        return 5 * x


def broad(step, x):
    try:
        return step(x)
    except Exception:
        return 5 * x


def by_variable(step, x):
    try:
        return step(x)
    except KINDS:
        return 5 * x


def by_attribute(step, x):
    try:
        return step(x)
    except builtins.ArithmeticError as error:
        return 5 * x + 0 * len(error.args)


def second_clause(step, x):
    try:
        return step(x)
    except KeyError:
        return 7 * x
    except (TypeError, *KINDS):
        return 9 * x
    except Exception:
        return 5 * x


def further_out(step, x):
    try:
        with np.errstate(all="ignore"):
            try:
                return step(x)
            finally:
                x = x + 0.0
    except Exception:
        return 5 * x


def in_a_loop(step, x):
    total = 0.0
    for _ in range(5):
        try:
            total += step(x)
        except Exception:
            total += x
    return total


def suppressed(step, x):
    with contextlib.suppress(ZeroDivisionError, OverflowError):
        return step(x)
    return 5 * x


CATCHING = (bare, broad, by_variable, by_attribute, further_out, in_a_loop, suppressed)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("catching", CATCHING)
def test_a_caught_error_is_raised_under_every_transform(catching, name):
    """Whatever the handler is called, if it would catch the error, it gets it: in derivatives and under jit."""
    step, x = STEPS[name]

    def safe(y):
        return catching(step, y)

    assert safe(x) == 5 * x
    assert ad.value_and_grad(safe)(x) == (5 * x, 5.0)
    assert ad.jvp(safe, (x,), (1.0,)) == (5 * x, 5.0)
    if name != "checkpoint":
        jitted, slope = ad.jit(safe), ad.jit(ad.grad(safe))
        for y in (3.0, x, 3.0):
            assert jitted(y) == pytest.approx(safe(y))
            assert slope(y) == pytest.approx(ad.grad(safe)(y))


def other_errors(step, x):
    try:
        return step(x)
    except (KeyError, ValueError):
        return 5 * x


def only_cleaned_up(step, x):
    try:
        with np.errstate(all="ignore"):
            return step(x)
    finally:
        x = 0.0


@pytest.mark.parametrize("catching", [other_errors, only_cleaned_up])
def test_other_handlers_do_not_count(catching):
    """Where nobody catches the error, Python's floats follow NumPy's arithmetic."""
    with np.errstate(all="ignore"):
        assert ad.value_and_grad(lambda x: catching(lambda y: 1 / y, x))(0.0) == (np.inf, -np.inf)
        assert ad.jit(lambda x: catching(lambda y: 1 / y, x))(0.0) == np.inf


def test_the_first_clause_that_fits_is_taken():
    """As Python does it, whatever stands in later clauses."""
    assert ad.grad(lambda x: second_clause(lambda y: 1 / y, x))(0.0) == 9.0
