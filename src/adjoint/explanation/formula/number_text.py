"""Numbers as people write them: rounded to a few decimals, without the zeros nobody reads."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

LARGE = 1e6
"""From here on numbers are written in scientific notation."""

EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
"""Room for every decimal of a double before the point, so that rounding happens once."""


def number_text(x: float, digits: int) -> str:
    """A number with at most `digits` decimals; very small and very large ones in scientific notation.

    Halves are rounded away from zero, as JavaScript's `toFixed` does: the page and the table show the same text.

    >>> [number_text(x, 2) for x in (0.1, 1.0, -0.0, -0.775, 3.2e-07, 123456.789, 1234567.0)]
    ['0.1', '1', '0', '-0.78', '3.2e-07', '123456.79', '1.23e+06']
    """
    x = float(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == 0:
        return "0"
    if abs(x) >= LARGE:
        return _scientific(x, digits)
    rounded = EXACT.quantize(Decimal(x), Decimal(1).scaleb(-digits))
    return _without_zeros(f"{rounded:f}") if rounded else _scientific(x, 1)


def _scientific(x: float, decimals: int) -> str:
    """Such as 3.2e-07: the exponent has two digits or more."""
    rounded = Context(prec=decimals + 1, rounding=ROUND_HALF_UP).create_decimal(Decimal(x))
    exponent = rounded.adjusted()
    mantissa = _without_zeros(f"{rounded.scaleb(-exponent, EXACT):f}")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
