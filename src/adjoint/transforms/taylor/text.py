"""Taylor polynomials as text and as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.tree import flatten, paths
from ...core.values import concrete, shape_of

if TYPE_CHECKING:
    from .series import TaylorSeries

DIGITS = 6


def plain(series: TaylorSeries) -> str:
    """One line for each number or array of the result."""
    rows = _rows(series)
    if len(rows) == 1:
        return _sum(rows[0], _power, _array, DIGITS)
    places = paths((series.coefficients[0],))
    return "\n".join([f"{p}: {_sum(row, _power, _array, DIGITS)}" for p, row in zip(places, rows, strict=True)])


def latex(series: TaylorSeries, digits: int) -> str:
    """A sum of powers; several of them one below the other."""
    found = [_sum(row, _latex_power, _matrix, digits) for row in _rows(series)]
    found = [line.replace("inf", r"\infty").replace("nan", r"\mathrm{nan}") for line in found]
    if len(found) == 1:
        return found[0]
    return r"\begin{aligned}" + r" \\ ".join([f"&{line}" for line in found]) + r"\end{aligned}"


def _rows(series: TaylorSeries) -> list[list[Any]]:
    columns = [flatten(c)[0] for c in series.coefficients]
    return [[concrete(c) for c in row] for row in zip(*columns, strict=True)]


def _sum(row: list[Any], power: Any, array: Any, digits: int) -> str:
    """The terms that are not zero, and what is left out."""
    text = ""
    for k, c in enumerate(row):
        if np.all(np.equal(c, 0)):
            continue
        if shape_of(c) == ():
            sign, factor = _number(c, digits, alone=k == 0)
        else:
            sign, factor = "+", array(c, digits)
        term = " ".join([part for part in (factor, power(k)) if part])
        text += f" {sign} {term}" if text else term if sign == "+" else f"-{term}"
    return f"{text or 0} + O({power(len(row))})"


def _number(c: Any, digits: int, *, alone: bool) -> tuple[str, str]:
    """The sign of a number and its size; a size of 1 is not written in front of a power."""
    if np.iscomplexobj(c):
        return "+", f"({complex(c):.{digits}g})"
    sign = "-" if c < 0 else "+"
    size = f"{abs(float(c)):.{digits}g}"
    return sign, "" if size == "1" and not alone else size


def _power(k: int) -> str:
    return "" if k == 0 else "s" if k == 1 else f"s^{k}"


def _latex_power(k: int) -> str:
    return "" if k == 0 else "s" if k == 1 else f"s^{{{k}}}"


def _array(c: Any, digits: int) -> str:
    """NumPy's own text, in one line."""
    return " ".join(np.array2string(c, precision=digits, threshold=20).split())


def _matrix(c: Any, digits: int) -> str:
    """A column for a vector, a matrix for a matrix; of more axes NumPy's text."""
    if c.ndim > 2:
        return rf"\text{{{_array(c, digits)}}}"
    rows = c[:, None] if c.ndim == 1 else c
    lines = [" & ".join([f"{x:.{digits}g}" for x in row]) for row in rows]
    return r"\begin{pmatrix}" + r" \\ ".join(lines) + r"\end{pmatrix}"
