"""Colours for the columns and rows of a pattern: those of one colour are found by one product.

All colourings are greedy: each column in turn gets the first colour that is free. The colours that are taken are bits
of one of Python's integers, kept for each row, so that a colouring takes time proportional to the entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .lattices import lattice_colours
from .sets import Sets, Shape

ROW_COST = 1.5
"""What a product from the left costs, if one from the right costs 1: the sweep back goes over more."""
MOST_BITS = 10**9
"""Rows times colours from which each column gets a colour of its own."""
THRESHOLDS = 8
"""How many numbers of dense rows, or columns, are tried."""


class Colours(NamedTuple):
    """The colour of each column and of each row; -1 for those that no product is needed for."""

    columns: Any
    rows: Any

    @property
    def counts(self) -> tuple[int, int]:
        """How many colours there are: of columns, of rows."""
        return count_of(self.columns), count_of(self.rows)

    @property
    def cost(self) -> float:
        """What the products cost."""
        columns, rows = self.counts
        return columns + ROW_COST * rows


def count_of(colours: Any) -> int:
    """How many colours there are."""
    return int(colours.max(initial=-1)) + 1


def of_jacobian(pattern: Sets, inputs: Shape | None = None, outputs: Shape | None = None) -> Colours:
    """Colours for columns, or rows, or a few dense rows and the columns of the rest, or the other way round.

    The shapes, if the inputs or results are one array, help with stencils.
    """
    by_columns, by_rows = pattern, pattern.T.tocsr()
    best = Colours(columns_of(by_columns, inputs), np.full(pattern.shape[0], -1))
    if best.cost > _bound(by_rows) * ROW_COST:
        other = Colours(np.full(pattern.shape[1], -1), columns_of(by_rows, outputs))
        best = other if other.cost < best.cost else best
    for count in _candidates(np.diff(by_columns.indptr)):
        best = _split(by_columns, count, best, first_by_rows=True)
    for count in _candidates(np.diff(by_rows.indptr)):
        best = _split(by_rows, count, best, first_by_rows=False)
    return best


def _bound(pattern: Sets) -> int:
    """So many colours the columns need at least: the entries of one row are all different."""
    return int(np.diff(pattern.indptr).max(initial=0))


def _candidates(sizes: Any) -> Iterator[int]:
    """Numbers of rows that are much denser than the rest, from few to many."""
    order = np.sort(sizes)[::-1]
    jumps = np.flatnonzero((order[:-1] >= 2 * order[1:]) & (order[1:] > 0)) + 1
    yield from jumps[:THRESHOLDS].tolist()


def _split(pattern: Sets, count: int, best: Colours, *, first_by_rows: bool) -> Colours:
    """The better of the best so far and this: the densest rows by products from the left, the rest from the right.

    Of a transposed pattern, rows are columns and the other way round.
    """
    sizes = np.diff(pattern.indptr)
    order = np.argsort(-sizes, kind="stable")
    dense, rest = np.sort(order[:count]), np.sort(order[count:])
    least = int(sizes[rest].max(initial=0))
    if (least + ROW_COST if first_by_rows else ROW_COST * least + 1) >= best.cost:
        return best
    left = np.full(pattern.shape[0], -1)
    left[dense] = columns_of(pattern[dense].T.tocsr())
    right = columns_of(pattern[rest])
    found = Colours(right, left) if first_by_rows else Colours(left, right)
    return found if found.cost < best.cost else best


def columns_of(pattern: Sets, shape: Shape | None = None) -> Any:
    """Colours of columns such that no row has two entries of one colour: the fewest of several ways to find them.

    They are the columns in order, those of a stencil, and the longest columns first.
    """
    by_column = pattern.tocsc()
    least = _bound(pattern)
    if pattern.shape[0] * least > MOST_BITS:  # a row that is so long needs that many colours
        return np.where(np.diff(by_column.indptr) > 0, np.arange(pattern.shape[1]), -1)
    natural = _greedy(by_column, range(pattern.shape[1]))
    if count_of(natural) <= least:
        return natural
    sizes = np.diff(by_column.indptr)
    if shape is not None:
        regular = lattice_colours(pattern, shape, least, count_of(natural))
        if regular is not None:
            return np.where(sizes > 0, regular, -1)
    longest = _greedy(by_column, np.argsort(-sizes, kind="stable").tolist())
    return longest if count_of(longest) < count_of(natural) else natural


def _greedy(by_column: Any, order: Any) -> Any:
    starts, rows = by_column.indptr.tolist(), by_column.indices.tolist()
    used = [0] * by_column.shape[0]
    colours = [-1] * by_column.shape[1]
    for j in order:
        mine = rows[starts[j] : starts[j + 1]]
        if not mine:
            continue
        taken = 0
        for i in mine:
            taken |= used[i]
        free = ~taken & (taken + 1)  # the lowest bit that is 0
        colours[j] = free.bit_length() - 1
        for i in mine:
            used[i] |= free
    return np.array(colours, dtype=int)
