"""What one more element makes of a reduction, and the instructions that do it for vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.entry.algebra import Monoid
from ...ops import UFUNCS
from ..assembly.emit import Emitter
from ..assembly.values import Value
from ..scalar.kernels import scalar_of


class Combination(NamedTuple):
    """LLVM's words for combining two numbers: integers, and floats."""

    whole: str
    real: str
    is_call: bool = False
    """Whether it is a function; that of integers begins with s or u, for signed and unsigned ones."""

    def word(self, is_real: bool, is_signed: bool) -> str:
        """The word for numbers of a type."""
        return self.real if is_real else f"{'s' if is_signed else 'u'}{self.whole}" if self.is_call else self.whole


COMBINING: dict[np.ufunc, Combination] = {
    np.add: Combination("add", "fadd"),
    np.multiply: Combination("mul", "fmul"),
    np.logical_or: Combination("or", "or"),
    np.logical_and: Combination("and", "and"),
    np.maximum: Combination("max", "maximum", is_call=True),
    np.minimum: Combination("min", "minimum", is_call=True),
}
"""What reductions may combine with; those with anything else are NumPy's."""
OF_TRUTH: dict[np.ufunc, np.ufunc] = {np.maximum: np.logical_or, np.minimum: np.logical_and}
"""Of truth values they are these: LLVM ends the process over `umax` of 64 bits, which no instruction of AVX-512 is."""


def combination(monoid: Monoid, *, is_truth: bool) -> Combination:
    """How numbers, or truth values, are combined."""
    return COMBINING[OF_TRUTH.get(monoid.combines, monoid.combines) if is_truth else monoid.combines]


def combined(e: Emitter, monoid: Monoid, dtype: np.dtype, total: Value, new: Value) -> Value:
    """One more element of a reduction. Sums may be taken in any order, as NumPy's are; nothing else is loosened."""
    how = COMBINING[monoid.combines]
    if dtype.kind != "f":
        return scalar_of(UFUNCS[monoid.combines])(e, [total, new], dtype)
    if how.is_call:  # nan wins; in this form LLVM makes vectors of it
        return e.intrinsic(how.real, total, new)
    return e.op(how.real, total, new, "reassoc")
