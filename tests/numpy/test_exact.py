"""Python's floats beside decimals, fractions and long integers: compared exactly, and computed with as Python does."""

import math
import operator
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import DerivativeDroppedError

COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
EXACT = (
    Decimal("2.5"), Decimal("0.1"), Decimal(2), Decimal("1e400"), Decimal("-Infinity"), Fraction(5, 2), Fraction(1, 3),
    Fraction(1, 10), Fraction(2), 2**53 + 1, -(2**53) - 1, 10**30, 10**400, -(10**400), 2**60,
)  # fmt: skip
POINTS = (2.5, 0.1, 1 / 3, 2.0, 2.0**53, -(2.0**53), 1e30, math.inf, -math.inf, math.nan, 2.5)

TRANSFORMS = {
    "grad": lambda f: lambda x: ad.grad(lambda y: (y * 1.0, f(y)), has_aux=True)(x)[1],
    "jvp": lambda f: lambda x: ad.jvp(lambda y: (y * 1.0, f(y)), (x,), (1.0,), has_aux=True)[2],
    "jit": ad.jit,
}


def attempted(call):
    """The number, or the kind of error."""
    try:
        return call()
    except InvalidOperation:  # a decimal number beside nan
        return "InvalidOperation"
    except (TypeError, OverflowError) as error:
        return "TypeError" if isinstance(error, TypeError) else "OverflowError"


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("exact", EXACT, ids=str)
def test_comparisons_are_exact(exact, transform):
    """On both sides of the operator, for floats next to the number and far from it."""

    def f(x):
        return [op(x, exact) for op in COMPARISONS] + [op(exact, x) for op in COMPARISONS]

    compared = transform(f)
    for x in POINTS:
        assert attempted(lambda x=x: list(map(bool, compared(x)))) == attempted(lambda x=x: f(x)), x


def test_one_recording_for_many_floats():
    """A comparison with a decimal is a comparison with a float, so it needs no recording for each value."""
    f = ad.jit(lambda x: x if x < Decimal("0.1") else -x)
    for k in range(40):
        assert f(0.01 * k) == (0.01 * k if 0.01 * k < Decimal("0.1") else -0.01 * k)
    assert f.stats()["recordings"] == 2


OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.floordiv, operator.mod)
OPERANDS = (Decimal("2.5"), Fraction(5, 2), True, 3, 2 + 1j, 10**30, 10**400, "a", None)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("other", OPERANDS, ids=lambda x: f"{type(x).__name__} {x}"[:20])
def test_arithmetic_is_pythons(op, other):
    """The value that Python gives, or its error."""
    for f in (lambda x: op(x, other), lambda x: op(other, x)):
        if isinstance(other, str) and op is operator.mod:
            continue  # text is made of it
        want = attempted(lambda f=f: f(1.5))
        if want == "OverflowError" and op is operator.pow and other == 10**30:
            continue  # infinite, as derivatives need it
        for name, transform in TRANSFORMS.items():
            got = attempted(lambda f=f, transform=transform: ad.value(transform(f)(1.5)))
            assert got == want or np.isclose(got, want, rtol=1e-14), (name, got, want)


def test_complex_numbers_have_no_order():
    """Neither in a trace nor in a recording."""
    for transform in TRANSFORMS.values():
        with pytest.raises(TypeError, match="not supported between instances"):
            transform(lambda x: x < 1j)(1.0)


def test_floats_have_no_matrix_product():
    """`x @ y` of two Python floats is an error of type, as without a trace."""
    for transform in TRANSFORMS.values():
        with pytest.raises(TypeError, match="unsupported operand type"):
            transform(lambda x: x @ x)(1.0)


def test_integers_beside_exact_numbers():
    """A Python integer that is an input of a recording, too."""
    f = ad.jit(lambda n, x: x * (n == Decimal(3)) + float(n * Fraction(1, 2)) + (Fraction(7, 2) < n))
    for n in (1, 2, 3, 4, 5):
        assert f(n, 2.0) == 2.0 * (n == 3) + n / 2 + (n > 3.5)


def test_methods_of_floats():
    """`is_integer` of infinities; `as_integer_ratio` would lose the derivative, and arrays have no such method."""
    for x in (2.0, 2.5, math.inf, math.nan):
        for transform in TRANSFORMS.values():
            assert transform(lambda x: x.is_integer())(x) == x.is_integer()
    assert ad.grad(lambda x: (x, x.hex()), has_aux=True)(2.0)[1] == (2.0).hex()
    with pytest.raises(DerivativeDroppedError):
        ad.grad(lambda x: x.as_integer_ratio()[0] * x)(2.0)
    assert ad.jit(lambda x: x * x.as_integer_ratio()[0])(2.5) == 12.5
    with pytest.raises(AttributeError):
        ad.grad(lambda x: x.hex())(np.ones(2))
