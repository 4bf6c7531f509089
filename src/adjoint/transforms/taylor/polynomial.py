"""`taylor_polynomial`: the Taylor polynomial of a function of several variables, and its derivative tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

from ...core.arguments import Tree, checked, whole
from ...core.errors import InputError, message
from ...core.tree import flatten
from ...core.values import describe, dtype_of, shape_of
from ...host.frames.tracebacks import FOLDING
from ..calling import entered
from ..interface.checking import checked_function
from ..vmap import vmap
from .expansion import checked_order, expanded

CHUNK = 256
"""How many entries of a tensor are computed at a time."""


class TaylorPolynomial:
    """The Taylor polynomial of a function of several variables: made by `ad.curvature.taylor_polynomial`.

    It evaluates the function anew, along each direction that it is asked for, and holds no derivatives.

    Attributes
    ----------
    fun : callable
        The function.
    x0 : number, array or any containers
        The point.
    order : int
        The last order.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> p = ad.curvature.taylor_polynomial(lambda x: x[0] ** 2 * x[1], np.array([1.0, 2.0]), 2)
    >>> print(p(np.array([0.1, 0.1])))
    2.54
    """

    def __init__(self, fun: Callable[..., Any], x0: Any, order: int) -> None:
        self.fun = fun
        self.x0 = x0
        self.order = order

    def __repr__(self) -> str:
        leaves, _ = flatten(self.x0)
        where = describe(leaves[0]) if len(leaves) == 1 else f"{len(leaves)} leaves"
        return f"<Taylor polynomial of order {self.order} at {where}>"

    def __call__(self, delta: Any) -> Any:
        """The polynomial at x0 + delta.

        Parameters
        ----------
        delta : like x0
            How far to go.

        Returns
        -------
        as the function's result
            The sum of all terms.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> p = ad.curvature.taylor_polynomial(lambda x: np.exp(x[0]) * x[1], np.array([0.0, 1.0]), 3)
        >>> print(round(p(np.array([0.1, 0.2])), 8))
        1.32616667
        """
        first, *others = self.terms(delta)
        total, rebuild = flatten(first)
        for term in others:
            total = [t + c for t, c in zip(total, flatten(term)[0], strict=True)]
        return rebuild(total)

    def terms(self, delta: Any) -> tuple[Any, ...]:
        """The terms of the polynomial: the k-th is D^k f(x0) . delta^k / k!, from k = 0 to the order.

        One sweep along the direction gives all of them; no tensor is built.

        Parameters
        ----------
        delta : like x0
            How far to go.

        Returns
        -------
        tuple
            Each term as the function's result.

        Raises
        ------
        TangentError
            If delta does not have the structure, shapes or kinds of the point.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> p = ad.curvature.taylor_polynomial(lambda x: x[0] ** 2 * x[1], np.array([1.0, 2.0]), 3)
        >>> print(*[round(term, 6) for term in p.terms(np.array([0.1, 0.1]))])
        2.0 0.5 0.04 0.001
        """
        with FOLDING:
            return entered(_terms, (self.fun, self.order), (self.x0, delta))  # type: ignore[no-any-return]

    def tensor(self, k: int) -> Any:
        """The k-th derivative as a symmetric tensor; every entry that is not the same by symmetry is computed once.

        Parameters
        ----------
        k : int
            The order, from 0 on; it may be larger than that of the polynomial.

        Returns
        -------
        as the function's result
            Each array has, behind its own axes, those of x0, k times. For k = 1 that is the Jacobian, for k = 2 the
            Hessian.

        Raises
        ------
        InputError
            If x0 is neither a number nor an array.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> p = ad.curvature.taylor_polynomial(lambda x: x[0] ** 2 * x[1], np.array([1.0, 2.0]), 2)
        >>> p.tensor(2)
        array([[4., 2.],
               [2., 0.]])
        """
        with FOLDING:
            k = checked_order(k, "tensor")
            leaves, _ = flatten(self.x0)
            if len(leaves) != 1 or leaves[0] is not self.x0:
                raise InputError(
                    message(
                        "A derivative tensor needs a function of one number or one array.",
                        got=f"{type(self.x0).__name__} of {len(leaves)} leaves",
                        fix="Put the numbers into one array; for the terms of the polynomial, containers will do.",
                    )
                )
            return entered(_tensor, (self.fun, k), (self.x0,))


@checked("fun")
def taylor_polynomial(fun: Callable[..., Any], x0: Tree, order: Annotated[int, whole(0, 1_000)]) -> TaylorPolynomial:
    """The Taylor polynomial of a function of several variables, sum of D^k f(x0) . delta^k / k!.

    Parameters
    ----------
    fun : callable
        A function of one argument; its argument and result may be any containers.
    x0 : number, array or any containers
        The point.
    order : int
        The last order, from 0 on.

    Returns
    -------
    TaylorPolynomial
        A function of delta; `terms(delta)` are its terms, `tensor(k)` is the k-th derivative.

    Raises
    ------
    InputError
        If the order is not 0, 1, 2, ...

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> p = ad.curvature.taylor_polynomial(lambda x: np.sin(x[0]) * x[1], np.array([0.0, 1.0]), 3)
    >>> delta = np.array([0.1, 0.2])
    >>> print(round(p(delta), 6), round(np.sin(0.1) * 1.2, 6))
    0.119833 0.1198
    """
    checked_function(fun, "taylor_polynomial", "ad.curvature.taylor_polynomial(f, x0, 2)")
    with FOLDING:
        return TaylorPolynomial(fun, x0, checked_order(order, "taylor_polynomial"))


def _terms(fun: Callable[..., Any], order: int, x0: Any, delta: Any) -> tuple[Any, ...]:
    return expanded(fun, x0, delta, order, "taylor_polynomial")


def _tensor(fun: Callable[..., Any], k: int, x0: Any) -> Any:
    """All entries, by how often each variable is differentiated by; then each is read where it belongs."""
    if k == 0:
        return fun(x0)
    shape = shape_of(x0)
    basis = np.eye(math.prod(shape), dtype=dtype_of(x0)).reshape((math.prod(shape), *shape))
    if not len(basis):
        leaves, rebuild = flatten(fun(x0))
        return rebuild([np.zeros((*shape_of(leaf), *shape * k), dtype_of(leaf)) for leaf in leaves])
    parts: list[Any] = []
    number: dict[tuple[int, ...], int] = {}
    for counts, chosen in _by_counts(len(basis), k):
        for variables in chosen:
            number[tuple(sorted(itertools.chain(*[[v] * c for v, c in zip(variables, counts, strict=True)])))] = len(
                number
            )
        directions = [basis[list(column)] for column in zip(*chosen, strict=True)]
        entry = _entry(fun, x0, counts)
        parts.append(vmap(entry, chunk_size=CHUNK)(*directions))
    places = np.empty((len(basis),) * k, int)
    for index in np.ndindex(places.shape):
        places[index] = number[tuple(sorted(index))]
    first, rebuild = flatten(parts[0])
    rows = [np.concatenate(leaves, 0) for leaves in zip(first, *[flatten(p)[0] for p in parts[1:]], strict=True)]
    return rebuild([np.moveaxis(r, 0, -1)[..., places.reshape(shape * k)] for r in rows])


def _by_counts(n: int, k: int) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """How often the variables of an entry occur, most often first, and all choices of variables for that."""
    groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for index in itertools.combinations_with_replacement(range(n), k):
        counted = sorted([(-index.count(v), v) for v in set(index)])
        groups.setdefault(tuple([-c for c, _ in counted]), []).append(tuple([v for _, v in counted]))
    yield from groups.items()


def _entry(fun: Callable[..., Any], x0: Any, counts: tuple[int, ...]) -> Callable[..., Any]:
    """One entry as a function of the directions: a derivative along each, as often as it is counted."""

    def entry(*directions: Any) -> Any:
        function = fun
        for direction, count in zip(directions, counts, strict=True):
            function = derivative_along(function, direction, count)
        return function(x0)

    return entry


def derivative_along(fun: Callable[..., Any], direction: Any, count: int) -> Callable[..., Any]:
    """The derivative of an order along a direction, as a function of the point."""

    def derivative(x: Any) -> Any:
        leaves, rebuild = flatten(expanded(fun, x, direction, count, "taylor_polynomial")[count])
        return rebuild([leaf * float(math.factorial(count)) for leaf in leaves])

    return derivative
