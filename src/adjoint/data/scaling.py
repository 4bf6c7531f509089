"""`standardize`: columns of mean 0 and scale 1, fitted on one part of the data and applied to others."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Axis, checked
from ..typing import Array, Tree
from .checks import check
from .frames import as_arrays


@checked("X")
def standardize(X: Any, *, axis: Axis | tuple[Axis, ...] = 0) -> Standardizer:
    r"""The mean and the scale of each column, to subtract and to divide by.

    .. math:: z = \frac{x - \mu}{\sigma}

    Fit it on the data that are trained on, and apply it to all: the mean of test data is not known beforehand.

    Parameters
    ----------
    X : array or frame
        The data to fit on, one row for each example.
    axis : int or tuple of int, default 0
        The axes over which means are taken: (0, 1, 2) gives one for each channel of images of shape (n, h, w, c).

    Returns
    -------
    Standardizer
        With `mean` and `scale`, and `apply` and `undo`. The scale of a constant column is 1, so that it becomes 0.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import data
    >>> train, test = np.array([[1.0, 7.0], [3.0, 7.0]]), np.array([[4.0, 8.0]])
    >>> standard = data.standardize(train)
    >>> standard.apply(train)
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> standard.apply(test)
    array([[2., 1.]])
    >>> standard.undo(standard.apply(test))
    array([[4., 8.]])
    """
    X = as_arrays(X, "X")
    check(X)
    X = np.asarray(X)
    dtype = X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)
    exact = np.result_type(dtype, np.float64)
    mean = X.mean(axis=axis, dtype=exact)
    scale = X.std(axis=axis, dtype=exact)
    constant = X.max(axis=axis) == X.min(axis=axis)
    return Standardizer(
        np.where(constant, X.max(axis=axis), mean).astype(dtype), np.where(constant, 1.0, scale).astype(dtype), axis
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Standardizer:
    """What `data.standardize` returns.

    Parameters
    ----------
    mean : ndarray
        What is subtracted.
    scale : ndarray
        What is divided by.
    axis : int or tuple of int, default 0
        The axes over which these were taken.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import data
    >>> data.standardize(np.array([[1.0, 7.0], [3.0, 7.0]]))
    Standardizer(mean=array([2., 7.]), scale=array([1., 1.]), axis=0)
    """

    mean: np.ndarray
    scale: np.ndarray
    axis: int | tuple[int, ...] = dataclasses.field(default=0, metadata={"static": True})

    def __getattr__(self, name: str) -> Any:
        meant = {"transform": ": use  .apply(X)", "inverse_transform": ": use  .undo(Z)"}.get(name, "")
        raise AttributeError(f"'Standardizer' object has no attribute {name!r}{meant}")

    def apply(self, X: Tree) -> Any:
        """Data with the mean subtracted, over the scale.

        Parameters
        ----------
        X : array or frame
            Data with the columns of those it was fitted on; traced arrays too.

        Returns
        -------
        array
            The same data, standardised.

        Examples
        --------
        >>> from adjoint import data
        >>> data.standardize([1.0, 3.0]).apply([1.0, 2.0])
        array([-1.,  0.])
        """
        X, mean, scale = self._fitting(X)
        return (X - mean) / scale

    def undo(self, Z: Array) -> Any:
        """The data that standardised ones were made of.

        Parameters
        ----------
        Z : array
            Standardised data; traced arrays too.

        Returns
        -------
        array
            The data.

        Examples
        --------
        >>> from adjoint import data
        >>> data.standardize([1.0, 3.0]).undo([-1.0, 0.0])
        array([1., 2.])
        """
        Z, mean, scale = self._fitting(Z)
        return Z * scale + mean

    def _fitting(self, X: Tree) -> tuple[Any, Any, Any]:
        """Data with a mean and a scale that can be broadcast to them."""
        X = as_arrays(X, "X")
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
        axes = (self.axis,) if isinstance(self.axis, int) else self.axis
        ndim = self.mean.ndim + len(axes)
        kept = [k for k in range(ndim) if k not in {axis % ndim for axis in axes}]
        have = tuple([X.shape[k] for k in kept]) if X.ndim == ndim else None
        if have != self.mean.shape:
            raise ValueError(
                ad.errors.message(
                    "The data do not have the columns of those that were standardised.",
                    got=f"data of shape {X.shape}",
                    fix=f"Wanted {ndim} axes, and columns of shape {self.mean.shape}.",
                )
            )
        shape = tuple([X.shape[k] if k in kept else 1 for k in range(ndim)])
        dtype = X.dtype if X.dtype.kind == "f" else self.mean.dtype
        return X, self.mean.reshape(shape).astype(dtype), self.scale.reshape(shape).astype(dtype)
