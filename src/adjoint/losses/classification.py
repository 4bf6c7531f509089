"""Cross-entropy, from logits: of labels, one-hot rows or probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Base, Fraction, RealNumbers, checked
from ..typing import Array
from .checks import as_dtype, check_share, check_weights
from .labels import classes_of, picked
from .reduction import reduced


@checked("targets", "reduction", "class_weight")
def cross_entropy(
    outputs: RealNumbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
    class_weight: RealNumbers | None = None,
    label_smoothing: Fraction = 0.0,
    base: Base = None,
) -> Any:
    r"""Minus the logarithm of the probability of the true class, from logits.

    .. math:: l(z, y) = -\log p_y = \log \sum_k e^{z_k} - z_y

    The largest logit is subtracted first, so neither the loss nor its derivatives overflow.

    Parameters
    ----------
    outputs : array of shape (..., classes)
        Logits: what a model gives before softmax.
    targets : array of integers of shape (...), or array of shape (..., classes)
        Labels from 0 to classes - 1, or one-hot rows or probabilities t, for which the loss is the sum of
        -t_k log p_k.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,) or (...), optional
        A weight for each example. A weighted mean divides by the sum of the weights.
    class_weight : array of shape (classes,), optional
        A weight for each class, multiplied with the weight of the example: `data.class_weights(y)` balances classes.
    label_smoothing : float, default 0.0
        The share of each target that is spread evenly over all classes, at least 0 and below 1.
    base : float, optional
        The base of the logarithm: 2 gives bits. Default e.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of shape (...).

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import losses
    >>> logits = np.log([[0.2, 0.5, 0.3]])
    >>> round(float(losses.cross_entropy(logits, [1])), 4)  # the true class has probability 0.5
    0.6931
    >>> round(float(losses.cross_entropy(logits, [1], base=2)), 4)
    1.0
    >>> ad.grad(losses.cross_entropy)(logits, [1])  # softmax minus one-hot
    array([[ 0.2, -0.5,  0.3]])
    """
    z, t, are_labels = classes_of(outputs, targets, "cross_entropy")
    weight = class_weights(class_weight, z)
    shifted = z - ad.stop_gradient(np.max(z, axis=-1, keepdims=True))
    log_total = np.log(np.sum(np.exp(shifted), axis=-1))
    if are_labels:
        count = None if weight is None else picked(np.broadcast_to(weight, z.shape), t)
        losses = log_total - picked(shifted, t)
        losses = losses if count is None else losses * count
    else:
        share = t if weight is None else t * weight
        count = None if weight is None else np.sum(share, axis=-1)
        possible = np.where((shifted > -np.inf) | (share != 0), shifted, 0.0)  # 0 times a logit of -inf is 0
        losses = np.sum(share, axis=-1) * log_total - np.sum(share * possible, axis=-1)
    if label_smoothing:
        losses = _smoothed(losses, log_total, shifted, weight, label_smoothing)
    return reduced(in_base(losses, base), reduction, sample_weight, count=count)


def class_weights(class_weight: Any, logits: Array) -> Any:
    """The weights in the dtype of the logits."""
    if class_weight is None:
        return None
    if isinstance(class_weight, (str, dict)):
        raise TypeError(
            ad.errors.message(
                "class_weight needs one weight for each class, as an array.",
                got=f"class_weight={class_weight!r}",
                fix="Write  class_weight=data.class_weights(y)  to balance classes;  in  ad.train,  "
                'class_weight="balanced".'
                if isinstance(class_weight, str)
                else f"Write  class_weight={list(class_weight.values())!r},  in the order of the classes.",
            )
        )
    weight = as_dtype(class_weight, logits.dtype)
    if weight.shape != logits.shape[-1:]:
        raise ValueError(
            ad.errors.message(
                "class_weight needs one weight for each class.",
                got=f"class_weight of shape {weight.shape} for outputs of shape {logits.shape}",
                fix=f"Pass an array of shape {logits.shape[-1:]}.",
            )
        )
    check_weights(class_weight, "class_weight")
    return weight


def _smoothed(losses: Array, log_total: Array, shifted: Array, weight: Array, share: float) -> Any:
    """A share of the loss is that of all classes alike."""
    check_share(share, "label_smoothing")
    if weight is None:
        even = log_total - np.mean(shifted, axis=-1)
    else:
        even = np.mean(weight) * log_total - np.mean(weight * shifted, axis=-1)
    return (1 - share) * losses + share * even


def in_base(losses: Array, base: float | None) -> Any:
    """Natural logarithms in another base."""
    if base is None:
        return losses
    if not base > 0 or base == 1:
        raise ValueError(
            ad.errors.message(
                "The base of a logarithm has to be positive, and not 1.", got=f"base={base!r}", fix="2 gives bits."
            )
        )
    return losses / math.log(base)
