"""The loss of quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Numbers, RealNumbers, checked
from .checks import as_dtype, as_floats, is_plain, refuse_nan, same_shape
from .reduction import reduced


@checked("targets", "reduction", "q")
def quantile(
    outputs: Numbers,
    targets: Any,
    *,
    q: Any = 0.5,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""The pinball loss, which is smallest at a quantile: a share q of what may come is below it.

    .. math:: l(f, y) = \max(q (y - f), (q - 1)(y - f))

    For q = 1/2 it is half the absolute error, and its best constant the median. Where the error is 0 the derivative is
    the mean of those on both sides.

    Parameters
    ----------
    outputs : array, or array of shape (..., m)
        The quantiles that the model predicts; on the last axis one for each of m numbers q.
    targets : array of the same shape, or of shape (...)
        What is to be predicted: one number for each output, or for each row of m quantiles.
    q : float or sequence of m floats, default 0.5
        Which quantile: numbers above 0 and below 1.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses: their mean over all elements, their sum, or nothing.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of the shape of the outputs.

    References
    ----------
    R. Koenker and G. Bassett, Regression Quantiles, Econometrica 46, 1978.

    Examples
    --------
    >>> from adjoint import losses
    >>> losses.quantile([1.0, 3.0], [2.0, 2.0], q=0.9, reduction="none")
    array([0.9, 0.1])

    An interval that 80 % of the targets are in, from two outputs for each example:

    >>> float(losses.quantile([[1.0, 3.0]], [2.0], q=(0.1, 0.9)).round(3))
    0.1
    """
    share = _shares(q)
    if np.ndim(share):
        outputs, targets = _one_for_each(outputs, targets, np.shape(share)[0])
    f, y = same_shape(outputs, targets, "quantile")
    share = as_dtype(share, f.dtype)
    error = y - f
    return reduced(np.maximum(share * error, (share - 1) * error), reduction, sample_weight)


def _shares(q: Any) -> Any:
    """The numbers q, which lie between 0 and 1."""
    share = q if isinstance(q, np.ndarray) else np.asarray(q)
    wrong = share.dtype.kind not in "fiu" or share.ndim > 1 or not share.size
    if wrong or (is_plain(share) and not ((share > 0) & (share < 1)).all()):
        raise ValueError(
            ad.errors.message(
                "quantile needs q above 0 and below 1: a number, or one for each output.",
                got=f"q={q!r}",
                fix="Write  q=0.5  for the median,  q=(0.05, 0.95)  for the ends of an interval.",
            )
        )
    return share


def _one_for_each(outputs: Any, targets: Any, m: int) -> tuple[Any, Any]:
    """Rows of m quantiles, and as many copies of each target."""
    f, y = as_floats(outputs), as_floats(targets, "targets")
    if not f.shape or f.shape[-1] != m or y.shape != f.shape[:-1]:
        raise ValueError(
            ad.errors.message(
                f"quantile needs {m} outputs for each target, one for each q.",
                got=f"outputs of shape {f.shape} and targets of shape {y.shape}",
                fix=f"Wanted outputs of shape {(*y.shape, m)}.",
            )
        )
    refuse_nan(y, "targets")
    return f, np.broadcast_to(y[..., None], f.shape)
