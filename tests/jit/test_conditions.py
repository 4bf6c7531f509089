"""Floating-point conditions and warnings of which the user makes errors: under jit as without it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError

GOOD = np.array([1.0, 2.0, 3.0])
ZERO = np.array([1.0, 0.0, 3.0])
SMALL = np.array([1.0, 1e-4, 3.0])
NEGATIVE = np.array([-1.0, 1.0, 3.0])


def inside(x: Any) -> Any:
    """Errors in a part of the function."""
    with np.errstate(all="raise"):
        try:
            return np.sum(np.log(x))
        except FloatingPointError:
            return -99.0


def divided(x: Any) -> Any:
    """One condition, by an operator."""
    with np.errstate(divide="raise"):
        try:
            return np.sum(1 / x)
        except FloatingPointError:
            return -99.0


def too_large(x: Any) -> Any:
    """Overflow."""
    with np.errstate(over="raise"):
        try:
            return np.sum(np.exp(1 / (x + 1e-9)))
        except FloatingPointError:
            return -99.0


def too_small(x: Any) -> Any:
    """Underflow."""
    with np.errstate(under="raise"):
        try:
            return np.sum(np.exp(-1 / (x * x + 1e-9)))
        except FloatingPointError:
            return -99.0


def unused(x: Any) -> Any:
    """A step that is taken for its error alone."""
    with np.errstate(invalid="raise"):
        try:
            np.sqrt(x - 0.001)
        except FloatingPointError:
            return np.sum(x)
    return np.sum(x * 2)


@np.errstate(all="raise")
def decorated(x: Any) -> Any:
    """The whole function."""
    try:
        return np.sum(np.log(x))
    except FloatingPointError as error:
        return -99.0 if "divide" in str(error) else -98.0


@np.errstate(all="raise")
def strict(x: Any) -> Any:
    """Raises."""
    return np.sum(np.log(x))


def around(x: Any) -> Any:
    """A function of the user's that raises."""
    try:
        return strict(x)
    except FloatingPointError:
        return -99.0


def set_and_reset(x: Any) -> Any:
    """The older way."""
    old = np.seterr(all="raise")
    try:
        return np.sum(np.log(x))
    except FloatingPointError:
        return -99.0
    finally:
        np.seterr(**old)


def as_errors(x: Any) -> Any:
    """Warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.sum(np.log(x))
        except RuntimeWarning:
            return -99.0


def some_as_errors(x: Any) -> Any:
    """Warnings with a certain text are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "divide by zero")
        try:
            return np.sum(np.log(x))
        except RuntimeWarning:
            return -99.0


def of_nothing(x: Any) -> Any:
    """A warning that comes from no condition."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return np.mean(x[x > 2.5]) + np.nanmean(np.where(x > 0, x, np.nan)[:1])
        except RuntimeWarning:
            return -99.0


def collected(x: Any) -> Any:
    """Warnings are collected, and looked at."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        y = np.sum(np.log(x))
    return -99.0 if noted else y


def silent(x: Any) -> Any:
    """Nothing is an error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sum(np.log(x))


FUNCTIONS = [
    inside, divided, too_large, too_small, unused, decorated, strict, around, set_and_reset, as_errors, some_as_errors,
    of_nothing, collected, silent,
]  # fmt: skip
TRANSFORMS = {
    "jit": lambda f, jit: jit(f),
    "jit grad": lambda f, jit: jit(ad.grad(f)),
    "grad jit": lambda f, jit: ad.grad(jit(f)),
    "jit jvp": lambda f, jit: jit(lambda x: ad.jvp(f, (x,), (np.ones(3),))[1]),
    "vmap jit": lambda f, jit: lambda x: ad.vmap(jit(f))(np.stack([x, x])),
}


def outcome(f: Any, x: Any) -> Any:
    """The result, or the kind and text of the error; warnings of the first recording are not looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(f(x))
        except (FloatingPointError, RuntimeWarning) as error:
            return type(error), str(error)


def check(jitted: Any, plain: Any, x: Any) -> None:
    """The outcomes agree."""
    got, want = outcome(jitted, x), outcome(plain, x)
    assert isinstance(got, tuple) == isinstance(want, tuple), (got, want)
    if isinstance(want, tuple):
        assert got == want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12)


INSIDE = [
    (f, transform) for f in FUNCTIONS for transform in TRANSFORMS if f is not of_nothing or transform != "vmap jit"
]
"""As many elements as there happen to be are no batch."""


@pytest.mark.parametrize(
    "order", [(GOOD, ZERO, GOOD, SMALL, NEGATIVE, GOOD), (ZERO, GOOD, NEGATIVE, ZERO, SMALL, GOOD)]
)
@pytest.mark.parametrize(("f", "transform"), INSIDE, ids=lambda x: getattr(x, "__name__", x))
def test_inside_the_function(f: Any, transform: str, order: tuple[Any, ...]) -> None:
    """What the function asks for inside, in all orders and transformations."""
    jitted, plain = TRANSFORMS[transform](f, ad.jit), TRANSFORMS[transform](f, lambda f: f)
    for x in order:
        check(jitted, plain, x)


def test_outside_the_function() -> None:
    """A recording made where nothing is an error is not for where something is, nor the other way round."""

    def f(x: Any) -> Any:
        return np.sum(np.log(x))

    jitted = ad.jit(f)
    for words in ({}, {"all": "raise"}, {}, {"divide": "raise"}, {"all": "ignore"}, {"invalid": "raise"}, {}):
        for x in (GOOD, ZERO, NEGATIVE, GOOD):
            with np.errstate(**words):
                check(jitted, f, x)


def test_a_function_outside_that_catches() -> None:
    """`np.seterr` around everything, and an `except` inside."""

    def f(x: Any) -> Any:
        try:
            return np.sum(1.0 / x)
        except FloatingPointError:
            return np.sum(x)

    jitted, slope = ad.jit(f), ad.grad(ad.jit(f))
    for words in ({"all": "raise"}, {"all": "ignore"}, {"all": "raise"}):
        for x in (GOOD, ZERO, GOOD):
            with np.errstate(**words):
                check(jitted, f, x)
                check(slope, ad.grad(f), x)


def test_numbers_of_python_do_not_look_at_numpys_conditions() -> None:
    """Python's own arithmetic knows no `np.errstate`."""

    def f(x: Any) -> Any:
        with np.errstate(all="raise"):
            return x * 1e300 * 1e300 - 1.0

    assert ad.jit(f)(2.0) == f(2.0) == np.inf


def test_without_wishes_nothing_is_checked() -> None:
    """Only steps that may have to raise are looked at each time."""

    def f(x: Any) -> Any:
        y = np.sum(np.log(x) / x)
        with np.errstate(all="ignore"):
            return y + np.sum(np.sqrt(x))

    jitted = ad.jit(f)
    jitted(GOOD)
    assert not [name for name in jitted.stats()["called by NumPy"] if "checked" in name]


def test_a_call_at_a_condition_is_refused() -> None:
    """A function that NumPy calls would be called once only."""
    with np.errstate(all="call", call=lambda *facts: None), pytest.raises(ImpureError, match="call"):
        ad.jit(lambda x: np.sum(np.log(x)))(ZERO)


def test_loops() -> None:
    """A body that asks for errors, caught in the body or around the loop."""

    def body(total: Any, x: Any) -> Any:
        with np.errstate(all="raise"):
            try:
                y = np.log(x)
            except FloatingPointError:
                y = 100.0 + x
        return total + y, y

    def strictly(total: Any, x: Any) -> Any:
        with np.errstate(all="raise"):
            return total + np.log(x), x

    def caught(xs: Any) -> Any:
        try:
            return ad.scan(strictly, 0.0, xs)[0]
        except FloatingPointError:
            return -99.0

    first, second = ad.jit(lambda xs: ad.scan(body, 0.0, xs)[0]), ad.jit(caught)
    for xs in (GOOD, ZERO, GOOD, NEGATIVE, ZERO[::-1].copy(), GOOD):
        wanted = sum(np.log(x) if x > 0 else 100.0 + x for x in xs)
        np.testing.assert_allclose(first(xs), wanted)
        np.testing.assert_allclose(second(xs), np.sum(np.log(xs)) if np.all(xs > 0) else -99.0)
