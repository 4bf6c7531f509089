"""Losses of regression: squared, absolute, Huber."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Numbers, RealNumbers, checked
from .checks import same_shape
from .reduction import reduced


@checked("targets", "reduction")
def squared(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""The square of the error.

    .. math:: l(f, y) = (f - y)^2

    It is, up to constants, the negative logarithm of a Gaussian likelihood: see `gaussian`.

    Parameters
    ----------
    outputs : array
        What the model predicts.
    targets : array of the same shape
        What it should. Arrays of other shapes are refused, not broadcast.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses: their mean over all elements, their sum, or nothing.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of the shape of the outputs.

    Examples
    --------
    >>> from adjoint import losses
    >>> float(losses.squared([1.0, 2.0], [1.0, 4.0]))
    2.0
    >>> float(losses.squared([1.0, 2.0], [1.0, 4.0], sample_weight=[3.0, 1.0]))
    1.0
    """
    f, y = same_shape(outputs, targets, "squared")
    return reduced((f - y) ** 2, reduction, sample_weight)


@checked("targets", "reduction")
def absolute(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""The size of the error, which far-off examples move less than its square.

    .. math:: l(f, y) = |f - y|

    Where the error is 0 the derivative is taken to be 0.

    Parameters
    ----------
    outputs : array
        What the model predicts.
    targets : array of the same shape
        What it should. Arrays of other shapes are refused, not broadcast.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses: their mean over all elements, their sum, or nothing.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of the shape of the outputs.

    Examples
    --------
    >>> from adjoint import losses
    >>> float(losses.absolute([1.0, 2.0], [1.0, 4.0]))
    1.0
    """
    f, y = same_shape(outputs, targets, "absolute")
    return reduced(np.abs(f - y), reduction, sample_weight)


@checked("targets", "reduction")
def huber(
    outputs: Numbers,
    targets: Any,
    *,
    delta: float = 1.0,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""Half the square of small errors, a line for those larger than `delta`.

    .. math:: l(f, y) = \begin{cases} r^2 / 2 & |r| \le \delta \\ \delta (|r| - \delta / 2) & |r| > \delta
        \end{cases}, \qquad r = f - y

    Parameters
    ----------
    outputs : array
        What the model predicts.
    targets : array of the same shape
        What it should. Arrays of other shapes are refused, not broadcast.
    delta : float, default 1.0
        Where the line begins, above 0.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses: their mean over all elements, their sum, or nothing.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of the shape of the outputs.

    Examples
    --------
    >>> from adjoint import losses
    >>> losses.huber([1.5, 4.0], [1.0, 1.0], reduction="none")
    array([0.125, 2.5  ])

    As the loss of a training, with another delta:

    >>> from functools import partial
    >>> loss = partial(losses.huber, delta=0.1)
    """
    if not delta > 0:
        raise ValueError(ad.errors.message("delta has to be above 0.", got=f"delta={delta!r}", fix="1.0 is usual."))
    f, y = same_shape(outputs, targets, "huber")
    size = np.abs(f - y)
    inner = np.where(size <= delta, size, delta)
    return reduced(inner * (size - 0.5 * inner), reduction, sample_weight)
