"""What operations cost that are not elementwise, in floating-point operations.

The constants are those of Golub and Van Loan, and of Higham for functions of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.entry.algebra import Cost

if TYPE_CHECKING:
    from ..core.entry.algebra import Sized

Sizes = Sequence["Sized"]


def nothing(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """Elements are looked at, but nothing is computed with them."""
    return 0


def each_element(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """One operation for each element of the operand."""
    return takes[0].size


def arithmetic(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """One operation for each element of the result, and no function such as exp."""
    return gives[0].size


def sort(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """n log2 n comparisons."""
    return takes[0].size * math.log2(max(takes[0].shape[-1] if takes[0].shape else 1, 2))


def search(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """log2 n comparisons for each element that is looked for."""
    return gives[0].size * math.log2(max(min(t.size for t in takes), 2))


def convolution(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """A product and a sum for each pair that meets."""
    each = takes[1].size if params["mode"] == "full" else gives[0].size
    return 2 * each * (takes[0].size if params["mode"] == "full" else takes[1].size)


def fourier(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """5 n log2 n, and half of that for real numbers."""
    t = takes[0] if takes[0].size >= gives[0].size else gives[0]
    axes = params["axes"] if "axes" in params else (params["axis"],)
    length = math.prod([t.shape[a] for a in axes])
    half = 0.5 if "axes" not in params else 1
    return half * 5 * t.size * math.log2(max(length, 2))


def cubic(constant: float) -> Cost:
    """So many n**3, for each matrix of a batch."""
    return lambda takes, gives, params: constant * takes[0].size * takes[0].shape[-1]


def solution(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
    """An LU decomposition, and two triangular systems for each right-hand side."""
    return 2 / 3 * takes[0].size * takes[0].shape[-1] + 2 * gives[0].size * takes[0].shape[-1]


def tall(formula: Callable[[int, int], float]) -> Cost:
    """A formula of the longer and the shorter side, for each matrix of a batch."""

    def counted(takes: Sizes, gives: Sizes, params: dict[str, Any]) -> float:
        *batch, rows, columns = takes[0].shape
        return math.prod(batch) * formula(max(rows, columns), min(rows, columns))

    return counted
