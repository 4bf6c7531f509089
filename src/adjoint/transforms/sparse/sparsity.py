"""`Sparsity`: the pattern of a Jacobian or a Hessian, to be read, drawn, and given back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import message
from ...core.hints import warn_of_old_name
from .colouring import Colours
from .compression import CompressionPlan

LARGEST_DRAWING = 2000
"""Rows or columns up to which each entry is drawn in its colour; of larger ones only dots are seen."""
TEXT_SIZE = 40
"""Rows and columns up to which a pattern prints as a picture of characters."""


class Sparsity:
    """Where a matrix of derivatives can have entries, and which columns and rows are found together.

    Made by `ad.sparse.sparsity(f)(x)` and `ad.sparse.hessian_sparsity(f)(x)`. It prints as a picture, if it is small.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array of bool
        True where there can be an entry.
    plan : callable
        Gives the plan with the colours when these are first asked for.
    symmetric : bool
        Whether it is the pattern of a Hessian.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> found = ad.sparse.sparsity(lambda x: np.diff(x) ** 2)(np.ones(5))
    >>> found
    <sparsity 4 x 5, 8 entries, 2 products>
    >>> print(found)
    0 1 . . .
    . 1 0 . .
    . . 0 1 .
    . . . 1 0
    """

    def __init__(self, matrix: Any, plan: Callable[[], CompressionPlan], *, symmetric: bool) -> None:
        self.matrix = matrix
        self.symmetric = symmetric
        self._make = plan
        self._plan: CompressionPlan | None = None

    def _planned(self) -> CompressionPlan:
        if self._plan is None:
            self._plan = self._make()
        return self._plan

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.matrix.nnz)

    @property
    def colours(self) -> Colours:
        """The old spelling."""
        warn_of_old_name("pattern.colours", "pattern.colors")
        return self.colors

    @property
    def colors(self) -> Colours:
        """The colour of each column and of each row: those of one colour take one product; -1 takes none."""
        return self._planned().colours

    @property
    def products(self) -> int:
        """How many products with vectors give the whole matrix."""
        return sum(self.colors.counts)

    def toarray(self) -> Any:
        """The pattern as a dense matrix of truth values.

        Returns
        -------
        ndarray of bool
            True where there can be an entry.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> ad.sparse.sparsity(lambda x: x[:2] * x[2])(np.ones(3)).toarray()
        array([[ True, False,  True],
               [False,  True,  True]])
        """
        return self.matrix.toarray()

    def __repr__(self) -> str:
        m, n = self.shape
        return f"<sparsity {m} x {n}, {self.nnz} entries, {self.products} products>"

    def __str__(self) -> str:
        m, n = self.shape
        if max(m, n) > TEXT_SIZE:
            return repr(self)
        text = np.full((m, n), ".", dtype=object)
        for i, j, colour in zip(*self._entries(), strict=True):
            text[i, j] = _DIGITS[colour % len(_DIGITS)]
        return "\n".join([" ".join(row) for row in text])

    def _entries(self) -> tuple[Any, Any, Any]:
        """Rows and columns of the entries, and the products that they are found by."""
        entries = self.matrix.tocoo()
        return entries.row, entries.col, self._planned().products()

    def plot(self, ax: Any = None) -> Any:
        """Draw the pattern; entries of one colour are found by one product.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; without it, a new figure.

        Returns
        -------
        matplotlib axes
            The drawing.

        Raises
        ------
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> ad.sparse.sparsity(lambda x: np.diff(x))(np.ones(5)).plot().get_title()  # doctest: +SKIP
        '4 x 5, 8 entries, 2 products'
        """
        try:
            from matplotlib.colors import ListedColormap
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError(
                message("Drawing a pattern needs matplotlib.", fix="Install it with  pip install 'adjoint[viz]'.")
            ) from None
        if ax is None:
            ax = Figure(figsize=(5.0, 5.0), layout="constrained").add_subplot()
        m, n = self.shape
        rows, columns, colours = self._entries()
        if max(m, n) <= LARGEST_DRAWING:
            picture = np.full((m, n), np.nan)
            picture[rows, columns] = colours % len(PALETTE)
            ax.imshow(picture, cmap=ListedColormap(PALETTE), vmin=-0.5, vmax=len(PALETTE) - 0.5, interpolation="none")
        else:
            ax.scatter(columns, rows, s=0.1, c=np.array(PALETTE)[colours % len(PALETTE)], marker="s", rasterized=True)
            ax.set(xlim=(-0.5, n - 0.5), ylim=(m - 0.5, -0.5), aspect="equal")
        ax.set(title=f"{m} x {n}, {self.nnz} entries, {self.products} products", xlabel="input")
        ax.set_ylabel("input" if self.symmetric else "result")
        return ax


PALETTE = [
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bb5566", "#004488", "#ddaa33", "#44bb99",
    "#999933", "#882255",
]  # fmt: skip
"""Colours that can be told apart; after the last comes the first again."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
