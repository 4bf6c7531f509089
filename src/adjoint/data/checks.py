"""Whether data can be trained on: arrays of numbers, one row for each example, nothing missing."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import checked
from ..typing import Array, Tree
from .rows import is_lazy, leaves_of


@checked("X", "y")
def check(X: Any, y: Any = None) -> int:
    """How many examples there are; raises if the data cannot be trained on.

    Memory maps and other arrays that are read from a file are not read: of these the shape and dtype alone are checked.

    Parameters
    ----------
    X : array or containers of arrays
        The inputs, one row for each example.
    y : array or containers of arrays, optional
        The targets.

    Returns
    -------
    int
        The number of examples.

    Raises
    ------
    TypeError
        If an array holds objects or text instead of numbers.
    ValueError
        If there are no examples, lengths differ, or a number is nan or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import data
    >>> data.check(np.ones((3, 2)), np.array([0, 1, 1]))
    3
    >>> data.check(np.array([[1.0, 2.0], [3.0, np.nan]]))
    Traceback (most recent call last):
        ...
    ValueError: X must not have nan or infinite numbers.
      at ...
      got nan in row 1, column 1
      Leave these rows out, or fill them in, as  np.nan_to_num  or scikit-learn's  SimpleImputer  do.
    """
    n = check_lengths(X, y)
    for name, array in leaves_of(X, "X") + leaves_of(y, "y"):
        if not is_lazy(array):
            refuse_missing(name, array)
    return n


def check_lengths(X: Tree, y: Tree | None = None) -> int:
    """The number of examples, the same in all arrays of numbers, and not 0."""
    arrays = leaves_of(X, "X") + leaves_of(y, "y")
    if not arrays:
        raise ValueError(
            ad.errors.message(
                "There is no array in the data.",
                got="X: " + type(X).__name__,
                fix="Pass an array with one row for each example.",
            )
        )
    for name, array in arrays:
        _check_kind(name, array)
    first, n = arrays[0][0], arrays[0][1].shape[0]
    for name, array in arrays:
        if array.shape[0] != n:
            raise ValueError(
                ad.errors.message(
                    f"{first} and {name} need the same number of rows, one for each example.",
                    got=f"{first} of shape {tuple(arrays[0][1].shape)} and {name} of shape {tuple(array.shape)}",
                    fix=f"Wanted {name} with {n} rows.",
                )
            )
    if n == 0:
        raise ValueError(
            ad.errors.message(
                "There are no examples in the data.",
                got=f"{first} of shape {tuple(arrays[0][1].shape)}",
                fix="Look at the filter or the file that the data come from.",
            )
        )
    return int(n)


def _check_kind(name: str, array: Array) -> None:
    """Raise if an array has no rows, or holds no numbers."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise TypeError(
            ad.errors.message(
                f"{name} has to be an array.",
                got=f"{name}: {type(array).__name__}",
                fix="Pass arrays, containers of arrays, a frame, or an iterator of chunks.",
            )
        )
    if not array.shape:
        raise ValueError(
            ad.errors.message(
                f"{name} needs one row for each example.",
                got=f"{name}: a single {array.dtype.name}",
                fix=f"Wanted an array of shape (n, ...);  {name}[None]  is one example.",
            )
        )
    if array.dtype.kind not in "biufc":
        raise TypeError(
            ad.errors.message(
                f"{name} has to hold numbers.",
                got=f"{name}: {array.dtype}[{','.join(map(str, array.shape))}]",
                fix="Rows of different lengths have to be padded; text and categories have to be numbered, as by "
                "np.unique(y, return_inverse=True)[1]\nor  data.one_hot.",
            )
        )


def refuse_missing(name: str, array: Array) -> None:
    """Raise if there is a nan or an infinite number, and say where."""
    if array.dtype.kind not in "fc":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):  # one quick pass, which infinities and nan do not survive
            return
    wrong = ~np.isfinite(array)
    if not wrong.any():
        return
    row, *rest = map(int, np.argwhere(wrong)[0])
    value = array[(row, *rest)]
    names = ["row", "column"] if len(rest) <= 1 else ["row", *[f"axis {k + 1}" for k in range(len(rest))]]
    place = ", ".join([f"{n} {k}" for n, k in zip(names, [row, *rest], strict=False)])
    raise ValueError(
        ad.errors.message(
            f"{name} must not have nan or infinite numbers.",
            got=f"{value} in {place}" + (f", and {wrong.sum() - 1} more" if wrong.sum() > 1 else ""),
            fix="Leave these rows out, or fill them in, as  np.nan_to_num  or scikit-learn's  SimpleImputer  do.",
        )
    )
