"""From colours to products and back: which vectors to multiply with, and where in the products each entry is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .colouring import Colours, of_jacobian
from .sets import Sets, Shape, empty, scipy_sparse, with_short_indices
from .stars import star_colours


class CompressionPlan(NamedTuple):
    """How a sparse matrix is found by a few products with dense vectors."""

    pattern: Sets
    colours: Colours
    places: Any
    """For each entry its place among the numbers of all products: first those from the right, then from the left."""

    def seeds(self) -> tuple[Any, Any]:
        """For each colour the vector that is 1 where it is: of columns, and of rows."""
        return _marks(self.colours.columns), _marks(self.colours.rows)

    def products(self) -> Any:
        """For each entry the number of the product that it is found by."""
        m, n = self.pattern.shape
        first = self.colours.counts[0]
        return np.where(
            self.places < first * m, self.places // max(m, 1), first + (self.places - first * m) // max(n, 1)
        )


def _marks(colours: Any) -> Any:
    found = np.zeros((int(colours.max(initial=-1)) + 1, len(colours)), bool)
    have = np.flatnonzero(colours >= 0)
    found[colours[have], have] = True
    return found


def jacobian_plan(pattern: Sets, inputs: Shape | None = None, outputs: Shape | None = None) -> CompressionPlan:
    """A few products from the right, from the left, or from both sides."""
    colours = of_jacobian(pattern, inputs, outputs)
    return CompressionPlan(with_short_indices(pattern), colours, _places(pattern, colours))


def hessian_plan(pattern: Sets, inputs: Shape | None = None) -> CompressionPlan:
    """A few products of a symmetric matrix."""
    columns = star_colours(pattern, inputs)
    colours = Colours(columns, np.full(len(columns), -1))
    count = pattern.shape[0]
    entries = pattern.tocoo()
    row, column = entries.row.astype(int), entries.col.astype(int)
    is_alone = _alone(row, columns[column], colours.counts[0])
    mirrored = np.where(is_alone, columns[column] * count + row, columns[row] * count + column)
    return CompressionPlan(with_short_indices(pattern), colours, mirrored)


def _places(pattern: Sets, colours: Colours) -> Any:
    """An entry is in the product of its row if it is alone there in its column, else in that of its column.

    Whether rows or columns were split off, and whichever have no colour as nothing is left of them, every entry is
    alone on one side.
    """
    m, n = pattern.shape
    entries = pattern.tocoo()
    row, column = entries.row.astype(int), entries.col.astype(int)
    of_columns, of_rows = colours.columns[column], colours.rows[row]
    by_rows = _alone(column, of_rows, colours.counts[1])
    return np.where(by_rows, colours.counts[0] * m + of_rows * n + column, of_columns * m + row)


def _alone(rows: Any, colours: Any, count: int) -> Any:
    """Whether an entry is the only one of its colour in its row; those without a colour never are."""
    keys = rows * (count + 1) + colours + 1
    _, places, often = np.unique(keys, return_inverse=True, return_counts=True)
    return (often[places] == 1) & (colours >= 0)


def assembled(pattern: Sets, places: Any, products: Any) -> Any:
    """The sparse matrix, from the numbers of all products and where each entry is; its arrays are its own."""
    parts = (np.take(products, places), pattern.indices.copy(), pattern.indptr.copy())
    found = scipy_sparse().csr_array(parts, shape=pattern.shape)
    found.has_canonical_format = True
    return found


def nothing(shape: tuple[int, int], dtype: Any) -> Any:
    """A matrix without entries."""
    return empty(*shape).astype(dtype)
