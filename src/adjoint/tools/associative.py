"""`associative_scan`: running results of an associative operation, in a logarithmic number of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import Axis, Tree, checked
from ..core.errors import InputError, OutputError, message
from ..core.tree import flatten, same_structure
from ..core.values import Value, describe, shape_of
from ..transforms.interface.checking import checked_function, refuse_subclass

Rows = list[Value]
"""The leaves of the elements, each with the scanned axis in front."""


@checked("f", "elems")
def associative_scan(f: Callable[[Any, Any], Any], elems: Tree, reverse: bool = False, axis: Axis = 0) -> Any:
    """The running results x0, f(x0, x1), f(f(x0, x1), x2), ... of an associative operation.

    `np.cumsum` for any operation with f(f(a, b), c) = f(a, f(b, c)). About 2 n applications in 2 log2(n) rounds, each
    on whole slices of the arrays, so that NumPy does the loops: recurrences such as y[t] = a[t] y[t-1] + b[t] without a
    loop in Python.

    Parameters
    ----------
    f : callable
        `(a, b) -> c` on whole stacks of elements: it is called with slices of `elems` along the axis, in the same
        containers, and has to treat every element of the stack by itself, as NumPy's functions do.
    elems : any containers of arrays
        All with the same length along the axis.
    reverse : bool, default False
        Whether to start at the end.
    axis : int, default 0
        The axis along which the elements are stacked.

    Returns
    -------
    any containers of arrays
        The running results, with the containers and shapes of `elems`.

    Raises
    ------
    InputError
        If the arrays do not have the axis, or differ in length along it.
    OutputError
        If `f` does not return the containers and shapes that it takes.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.associative_scan(np.add, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  3.,  6., 10.])
    >>> def after(first, second):  # y -> a y + b, one after the other
    ...     return first[0] * second[0], second[0] * first[1] + second[1]
    >>> ad.associative_scan(after, (np.full(4, 0.5), np.ones(4)))[1]
    array([1.   , 1.5  , 1.75 , 1.875])
    """
    checked_function(f, "associative_scan", "ad.associative_scan(np.add, x)")
    leaves, restore = flatten(elems)
    if (
        not isinstance(axis, int)
        or not leaves
        or any([not -len(shape_of(x)) <= axis < len(shape_of(x)) for x in leaves])
    ):
        raise InputError(
            message(
                f"associative_scan needs arrays with an axis {axis!r} along which the elements are stacked.",
                got=", ".join([describe(x) for x in leaves]) or "no array",
            )
        )
    for x in leaves:
        refuse_subclass(x, "associative_scan does not take")
    rows = [np.moveaxis(x, axis, 0) for x in leaves]
    lengths = {shape_of(x)[0] for x in rows}
    if len(lengths) != 1:
        raise InputError(
            message(
                "The arrays given to associative_scan have different lengths along the axis.",
                got=", ".join([str(n) for n in sorted(lengths)]),
            )
        )

    def combined(a: Rows, b: Rows) -> Rows:
        result = f(restore([np.moveaxis(x, 0, axis) for x in a]), restore([np.moveaxis(x, 0, axis) for x in b]))
        found, _ = flatten(result)
        if not same_structure(result, elems) or [shape_of(x) for x in found] != [
            shape_of(np.moveaxis(x, 0, axis)) for x in b
        ]:
            raise OutputError(
                message(
                    "The function given to associative_scan has to return the containers and shapes that it takes.",
                    got=", ".join([describe(x) for x in found]),
                    fix="It is called with whole stacks of elements along the axis, not with one pair.",
                )
            )
        return [np.moveaxis(x, axis, 0) for x in found]

    rows = [x[::-1] for x in rows] if reverse else rows
    found = _scanned(combined, rows)
    found = [x[::-1] for x in found] if reverse else found
    return restore([np.moveaxis(x, 0, axis) for x in found])


def _scanned(f: Callable[[Rows, Rows], Rows], rows: Rows) -> Rows:
    """Results at odd places from the scan of neighbours, those between from one more round."""
    n = shape_of(rows[0])[0]
    if n < 2:
        return rows
    odd = _scanned(f, f([x[: n - 1 : 2] for x in rows], [x[1::2] for x in rows]))
    if n == 2:
        return [_interleaved(x[:1], y) for x, y in zip(rows, odd, strict=True)]
    between = f([x[: (n - 1) // 2] for x in odd], [x[2::2] for x in rows])
    first = [np.concatenate([x[:1], y]) for x, y in zip(rows, between, strict=True)]
    return [_interleaved(x, y) for x, y in zip(first, odd, strict=True)]


def _interleaved(even: Value, odd: Value) -> Value:
    """The rows of two arrays in turns; the first may have one more."""
    extra = even[len(odd) :]
    pairs = np.stack([even[: len(odd)], odd], axis=1)
    joined = np.reshape(pairs, (2 * len(odd), *shape_of(odd)[1:]))
    return np.concatenate([joined, extra]) if len(extra) else joined
