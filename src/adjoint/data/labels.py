"""Labels: one-hot rows, and weights that balance classes."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Count, NumericDType, checked
from ..typing import Array
from .frames import as_arrays


@checked("labels")
def one_hot(labels: Any, classes: Count | None = None, *, dtype: NumericDType = np.float64) -> Any:
    """Rows with a 1 at the place of the label.

    Parameters
    ----------
    labels : array of integers
        Labels from 0, of any shape; traced ones too.
    classes : int, optional
        How many classes there are. Default the largest label plus 1.
    dtype : dtype, default float64
        What the rows are made of.

    Returns
    -------
    array of shape (..., classes)
        The rows.

    Raises
    ------
    TypeError
        If labels are not integers.
    ValueError
        If a label is negative or not below `classes`.

    Examples
    --------
    >>> from adjoint import data
    >>> data.one_hot([0, 2, 1])
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """
    labels = _integers(as_arrays(labels, "labels"))
    if type(labels) is np.ndarray:
        classes = _check_range(labels, classes)
    if classes is None:
        raise ValueError(
            ad.errors.message(
                "one_hot has to be told the number of classes.",
                got="traced labels, whose largest is not known",
                fix="Write  data.one_hot(labels, 10).",
            )
        )
    return (labels[..., None] == np.arange(classes)).astype(dtype)


def _integers(labels: Array) -> Any:
    labels = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
    if labels.dtype.kind in "iu":
        return labels
    raise TypeError(
        ad.errors.message(
            "Labels have to be whole numbers.",
            got=f"labels: {labels.dtype}[{','.join(map(str, labels.shape))}]",
            fix="Write  y.astype(int)  if these are numbers of classes;  np.unique(y, return_inverse=True)[1] "
            "numbers any others.",
        )
    )


def _check_range(labels: np.ndarray, classes: int | None) -> int:
    """The number of classes, above every label."""
    if not labels.size:
        return classes or 0
    classes = int(labels.max()) + 1 if classes is None else classes
    if labels.min() >= 0 and labels.max() < classes:
        return classes
    place = tuple(map(int, np.argwhere((labels < 0) | (labels >= classes))[0]))
    raise ValueError(
        ad.errors.message(
            f"Labels have to be from 0 to {classes - 1}, as there are {classes} classes.",
            got=f"labels[{', '.join(map(str, place))}] = {int(labels[place])}",
            fix="Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.",
        )
    )


@checked("labels")
def class_weights(labels: Any, classes: Count | None = None) -> np.ndarray:
    r"""Weights under which all classes count alike, however many examples each has.

    .. math:: c_k = \frac{n}{K n_k}

    These are scikit-learn's "balanced" weights; their mean over the examples is 1.

    Parameters
    ----------
    labels : array of integers
        Labels from 0.
    classes : int, optional
        How many classes there are. Default the largest label plus 1.

    Returns
    -------
    ndarray of shape (classes,)
        The weights, for `class_weight` of a loss. A class without examples has weight 0, and does not count in K.

    Examples
    --------
    >>> from adjoint import data
    >>> data.class_weights([0, 0, 0, 1])
    array([0.66666667, 2.        ])
    """
    labels = _integers(as_arrays(labels, "labels")).ravel()
    classes = _check_range(labels, classes)
    if not labels.size:
        raise ValueError(
            ad.errors.message("There are no labels to count.", got="labels of shape (0,)", fix="Look at their source.")
        )
    counts = np.bincount(labels.astype(np.int64), minlength=classes)
    present = counts > 0
    return np.where(present, labels.size / (present.sum() * np.maximum(counts, 1)), 0.0)
