"""`TaylorSeries`: what `taylor` gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import InputError, message
from ...core.tree import flatten
from ...core.values import Value, concrete, describe


@dataclass(frozen=True, eq=False, repr=False)
class TaylorSeries:
    """The Taylor polynomial of a function at a point, along a direction: made by `ad.taylor`.

    As a function of s it is c_0 + c_1 s + ... + c_n s^n, close to f(x0 + s direction) where s is small.

    Attributes
    ----------
    coefficients : tuple
        The k-th derivative along the direction over k!, from k = 0 to the order, each as the function's result.
    x0 : number, array or any containers
        The point.
    direction : like x0
        Where to go from the point.
    fun : callable
        The function.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> print(ad.taylor(np.exp, 0.0, 3))
    1 + s + 0.5 s^2 + 0.166667 s^3 + O(s^4)
    """

    coefficients: tuple[Any, ...]
    x0: Any
    direction: Any
    fun: Callable[..., Any]

    @property
    def order(self) -> int:
        """The last order.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> ad.taylor(np.exp, 0.0, 3).order
        3
        """
        return len(self.coefficients) - 1

    @property
    def derivatives(self) -> tuple[Any, ...]:
        """The derivatives along the direction, from the function's value on: k! times the coefficients.

        Examples
        --------
        >>> import adjoint as ad
        >>> ad.taylor(lambda x: x**4, 1.0, 4).derivatives
        (1.0, 4.0, 12.0, 24.0, 24.0)
        """
        found = []
        for k, c in enumerate(self.coefficients):
            leaves, rebuild = flatten(c)
            for factor in _factorial(k):
                leaves = [leaf * factor for leaf in leaves]
            found.append(rebuild(leaves))
        return tuple(found)

    def __call__(self, s: Any) -> Any:
        """The polynomial at s.

        Parameters
        ----------
        s : number or array
            How far to go; an array has to broadcast against the function's result.

        Returns
        -------
        as the function's result
            The value of the polynomial.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> t = ad.taylor(np.sin, 0.0, 3)
        >>> print(t(0.5), t(np.array([0.0, 0.5])))
        0.4791666666666667 [0.         0.47916667]
        """
        return self.up_to(self.order, s)

    def up_to(self, order: int, s: Any) -> Any:
        """The polynomial of a lower order at s.

        Parameters
        ----------
        order : int
            The last order that is taken.
        s : number or array
            How far to go.

        Returns
        -------
        as the function's result
            The value of the polynomial.

        Raises
        ------
        InputError
            If the series does not have that order.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> t = ad.taylor(np.exp, 0.0, 3)
        >>> print(t.up_to(0, 0.5), t.up_to(1, 0.5), t.up_to(2, 0.5))
        1.0 1.5 1.625
        """
        if not isinstance(order, (int, np.integer)) or not 0 <= order <= self.order:
            raise InputError(
                message(
                    f"A Taylor series of order {self.order} has the orders from 0 to {self.order}.",
                    got=describe(order),
                    fix="Ask  ad.taylor  for a higher order.",
                )
            )
        rows = [flatten(c)[0] for c in self.coefficients[: order + 1]]
        total = rows[-1]
        for row in rows[-2::-1]:
            total = [t * s + c for t, c in zip(total, row, strict=True)]
        return flatten(self.coefficients[0])[1](total)

    @property
    def radius(self) -> float:
        """An estimate of how far the series converges: the smallest over all numbers of the result.

        It is read off the decay of the coefficients, and so gets better with the order: inf if the last third of them
        is zero, as for a polynomial, nan if there are too few.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> round(ad.taylor(lambda x: 1 / (1 - x), 0.0, 10).radius, 6)
        1.0
        >>> ad.taylor(lambda x: x**3, 1.0, 8).radius
        inf
        """
        return min([float(np.min(r, initial=np.inf)) for r in self._radii()], default=math.inf)

    def _radii(self) -> list[Any]:
        from .estimates import radii

        return [radii(row) for row in self._rows()]

    def _rows(self) -> list[Any]:
        """For each leaf of the result its coefficients as plain numbers, the order first."""
        columns = [flatten(c)[0] for c in self.coefficients]
        return [np.stack([np.asarray(concrete(c)) for c in row]) for row in zip(*columns, strict=True)]

    def remainder(self, s: Value) -> Any:
        """An estimate of how far the polynomial is from the function: of the size of all terms that were left out.

        They are taken to go on as the coefficients do: it is exact for a geometric series, inf beyond the radius.

        Parameters
        ----------
        s : number
            How far to go.

        Returns
        -------
        as the function's result
            The estimate, for each number.

        Examples
        --------
        >>> import adjoint as ad
        >>> t = ad.taylor(lambda x: 1 / (1 - x), 0.0, 10)
        >>> print(f"{t.remainder(0.5):.6f}, in fact {1 / (1 - 0.5) - t(0.5):.6f}")
        0.000977, in fact 0.000977
        """
        from .estimates import remainder

        found = [remainder(row, r, s) for row, r in zip(self._rows(), self._radii(), strict=True)]
        return flatten(self.coefficients[0])[1](found)

    def __str__(self) -> str:
        from .text import plain

        return plain(self)

    def __repr__(self) -> str:
        return f"<Taylor series of order {self.order}: {str(self).replace(chr(10), '; ')}>"

    def latex(self, digits: int = 6) -> str:
        """The polynomial as LaTeX.

        Parameters
        ----------
        digits : int, default 6
            How many digits numbers have.

        Returns
        -------
        str
            For one number a sum of powers of s; with arrays as coefficients if the result is one.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> print(ad.taylor(np.cos, 0.0, 4).latex(digits=3))
        1 - 0.5 s^{2} + 0.0417 s^{4} + O(s^{5})
        """
        from .text import latex

        return latex(self, digits)

    def plot(self, s: Any = None, ax: Any = None) -> Any:
        """Draw the function and its successive polynomials, with matplotlib.

        Parameters
        ----------
        s : array, optional
            Where to draw; by default from -1 to 1, or as far as the estimated radius if that is less.
        ax : matplotlib axes, optional
            Where to draw; by default on new ones.

        Returns
        -------
        matplotlib axes
            What was drawn on.

        Raises
        ------
        InputError
            If the result is not one number.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> ad.taylor(np.sin, 0.0, 5).plot().get_xlabel()  # doctest: +SKIP
        'x'
        """
        from .plotting import plot

        return plot(self, s, ax)


def _factorial(k: int) -> list[float]:
    """Factors whose product is k!, each in the range of floating-point numbers."""
    if k < 2:
        return []
    return [float(math.factorial(min(k, LARGEST))), *[float(j) for j in range(LARGEST + 1, k + 1)]]


LARGEST = 170
"""The last number whose factorial is in the range of float64."""
