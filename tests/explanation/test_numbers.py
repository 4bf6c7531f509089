"""Numbers as texts; that the page writes the same ones is tested with the page."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from adjoint.explanation.formula.number_text import number_text

HARD = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.005, -0.005, 0.125, 0.375, 2.5, 1e-12, -3.2e-7, 4.96e-5, 5e-5, 0.00499999, 1e300,
    -1e300, 123456.789, 999999.99999, 1e6, 1234567.0, -2.5e10, 9.96e-9, math.nan, math.inf, -math.inf, 5e-324,
    1.7976931348623157e308, 0.1 + 0.2, 1 / 3, -2 / 3, 1.005, 10.0, 100.0, 1e5,
]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.1, 2, "0.1"), (1.0, 2, "1"), (-0.0, 4, "0"), (-0.7773, 2, "-0.78"), (1e-12, 4, "1e-12"),
        (3.2e-7, 4, "3.2e-07"),
        (1e300, 4, "1e+300"), (123456.789, 4, "123456.789"), (123456.789, 1, "123456.8"), (1234567.0, 4, "1.2346e+06"),
        (0.005, 2, "0.01"), (0.004, 2, "4e-03"), (-0.004, 2, "-4e-03"), (0.125, 2, "0.13"), (-0.125, 2, "-0.13"),
        (2.5, 0, "3"), (100.0, 0, "100"), (9.96e-9, 4, "1e-08"), (math.nan, 4, "nan"), (-math.inf, 4, "-inf"),
    ],
)  # fmt: skip
def test_number_text(x, digits, text):
    """Rounded, without idle zeros, scientific at both ends."""
    assert number_text(x, digits) == text


@pytest.mark.parametrize("x", [x for x in HARD if math.isfinite(x)])
def test_text_is_near(x):
    """The text says the number, to half a unit of the last digit it may show."""
    said, exact = Decimal(number_text(x, 4)), Decimal(x)
    allowed = abs(exact) / 20 if abs(x) < 5e-5 else max(Decimal("5e-5"), abs(exact) * Decimal("5e-5") * (abs(x) >= 1e6))
    assert abs(said - exact) <= allowed
