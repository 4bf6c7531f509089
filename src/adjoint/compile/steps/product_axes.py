"""A product as rows, columns, an inner axis and outer ones, with their strides in memory."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir.program import Step, Type
from ..program.indices import row_major
from ..program.moving import labels_of

SMALL = 48**3
"""Multiplications up to which no call of BLAS pays."""
LINE = 8
"""Numbers in a vector, and in a line of a cache."""


@dataclass(frozen=True)
class Axis:
    """A label of a contraction: its length, and its strides in the two operands and in the result."""

    length: int
    strides: tuple[int, int, int]


@dataclass(frozen=True)
class Product:
    """C[i, j] (+)= sum over k of A[i, k] B[k, j], for every combination of the outer axes."""

    rows: Axis
    columns: Axis
    inner: Axis
    outer: tuple[Axis, ...]
    adds: bool
    dtype: np.dtype
    is_swapped: bool = False
    """Whether A and B are the second and the first operand."""

    @property
    def work(self) -> int:
        """Multiplications in one of the products."""
        return self.rows.length * self.columns.length * self.inner.length


ONE = Axis(1, (0, 0, 0))


def product_of(types: Sequence[Type], step: Step, strides: Sequence[tuple[int, ...]]) -> Product:
    """The product that a step stands for; `strides` are those of its operands."""
    labels, out = labels_of(types, step), types[step.outs[0]]
    shapes = [types[a].shape for a in step.args] + [out.shape]
    found: dict[Hashable, Axis] = {}
    for which, (names, shape, steps) in enumerate(zip(labels, shapes, [*strides, row_major(out.shape)], strict=True)):
        for name, n, s in zip(names, shape, steps, strict=True):
            axis = found.get(name, ONE)
            new = list(axis.strides)
            new[which] = 0 if n == 1 else s
            found[name] = Axis(max(axis.length, n), (new[0], new[1], new[2]))
    first, second, result = (set(names) for names in labels)
    groups: dict[str, list[Axis]] = {"rows": [], "columns": [], "inner": [], "outer": []}
    for name, axis in found.items():
        if axis.length == 1:
            continue
        kind = (
            "inner"
            if name not in result
            else "outer"
            if name in first and name in second
            else ("rows" if name in first else "columns")
        )
        groups[kind].append(axis)
    merged = {kind: _merged(axes) for kind, axes in groups.items()}
    made = [_arranged(merged, r, c, out.dtype) for r in _choices(merged["rows"]) for c in _choices(merged["columns"])]
    return min(made, key=_effort)


def _choices(axes: list[Axis]) -> list[int | None]:
    """Which of its axes a product can count its rows or columns along, the longest first."""
    return [*range(len(axes))[::-1]] or [None]


def _arranged(merged: dict[str, list[Axis]], row: int | None, column: int | None, dtype: np.dtype) -> Product:
    """The product with these axes as its rows and columns; the others are loops around it."""
    *others, inner = merged["inner"] or [ONE]
    rows, columns = merged["rows"], merged["columns"]
    outer = [a for axes, k in ((rows, row), (columns, column)) for n, a in enumerate(axes) if n != k]
    made = Product(
        ONE if row is None else rows[row],
        ONE if column is None else columns[column],
        inner,
        (*merged["outer"], *sorted(outer, key=lambda a: -a.strides[2]), *others),
        bool(others),
        dtype,
    )
    if (made.columns.strides[2] > 1 and made.rows.strides[2] == 1) or (
        made.columns.length == 1 and made.rows.length > 1
    ):
        made = replace(made, rows=_swapped(made.columns), columns=_swapped(made.rows), inner=_swapped(made.inner),
                       outer=tuple([_swapped(a) for a in made.outer]), is_swapped=True)  # fmt: skip
    return made


def _effort(p: Product) -> int:
    """About what a product takes: vectors of multiplications, and the cache lines that are touched for them.

    Numbers that do not lie side by side are copied first, or last, and each of them is a line of its own.
    """
    m, n, k = p.rows.length, p.columns.length, p.inner.length
    lines = [
        size if 1 not in (x.strides[which], y.strides[which]) else -(-size // LINE)
        for which, (size, x, y) in enumerate(
            ((m * k, p.rows, p.inner), (k * n, p.inner, p.columns), (m * n, p.rows, p.columns))
        )
    ]
    copied = sum([size for size, which in ((k * n, 1), (m * n, 2)) if n > 1 and p.columns.strides[which] != 1])
    each = m * k * -(-n // LINE) + sum(lines) + 2 * copied
    return each * math.prod([a.length for a in p.outer])


def _swapped(axis: Axis) -> Axis:
    a, b, c = axis.strides
    return Axis(axis.length, (b, a, c))


def _merged(axes: list[Axis]) -> list[Axis]:
    """Neighbours that are one axis in every operand, made one; the longest comes last."""
    found: list[Axis] = []
    for axis in sorted(axes, key=lambda a: [-s for s in a.strides]):
        if found and all([p == s * axis.length for p, s in zip(found[-1].strides, axis.strides, strict=True)]):
            found[-1] = Axis(found[-1].length * axis.length, axis.strides)
        else:
            found.append(axis)
    return sorted(found, key=lambda a: a.length)
