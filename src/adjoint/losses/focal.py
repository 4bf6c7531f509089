"""Focal loss: cross-entropy that cares less about what is already right."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Finite, RealNumbers, checked
from ..typing import Array
from .binary import binary_targets, pair
from .checks import is_plain
from .classification import class_weights
from .labels import classes_of, own_and_others
from .reduction import reduced


@checked("targets", "reduction", "class_weight")
def focal(
    outputs: RealNumbers,
    targets: Any,
    *,
    gamma: Finite = 2.0,
    binary: bool = False,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
    class_weight: RealNumbers | None = None,
) -> Any:
    r"""Cross-entropy, times a power of the probability of being wrong: examples that are easy count less.

    .. math:: l(z, y) = -(1 - p_y)^\gamma \log p_y

    With gamma = 0 it is cross-entropy.

    Parameters
    ----------
    outputs : array of shape (..., classes), or with `binary` of any shape
        Logits.
    targets : array of integers of shape (...), or one-hot array of shape (..., classes)
        Labels from 0 to classes - 1. With `binary`, an array of 0 and 1 of the shape of the outputs.
    gamma : float, default 2.0
        The power, at least 0.
    binary : bool, default False
        Whether each output is the logit of a question of yes or no.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.
    class_weight : array of shape (classes,), optional
        A weight for each class (alpha in the paper), multiplied with the weight of the example.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    References
    ----------
    Lin, Goyal, Girshick, He, Dollar: Focal Loss for Dense Object Detection, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> logits = np.log([[0.2, 0.5, 0.3], [0.05, 0.9, 0.05]])
    >>> losses.cross_entropy(logits, [1, 1], reduction="none").round(4)
    array([0.6931, 0.1054])
    >>> losses.focal(logits, [1, 1], reduction="none").round(4)
    array([0.1733, 0.0011])
    """
    if not gamma >= 0:
        raise ValueError(ad.errors.message("gamma has to be at least 0.", got=f"gamma={gamma!r}", fix="2.0 is usual."))
    against, count = _of_two(outputs, targets, class_weight) if binary else _of_many(outputs, targets, class_weight)
    # with r the logarithm of (1 - p) / p:  -log p = log(1 + e^r)  and  log(1 - p) = -log(1 + e^-r)
    losses = np.exp(-gamma * np.logaddexp(0.0, -against)) * np.logaddexp(0.0, against)
    return reduced(losses if count is None else losses * count, reduction, sample_weight, count=count)


def _of_two(outputs: Array, targets: Array, class_weight: Any) -> tuple[Any, Any]:
    """The log-odds against the true answer, and the weight of that answer."""
    z, t = binary_targets(outputs, targets, "focal")
    is_one = t > 0.5
    if class_weight is None:
        return np.where(is_one, -z, z), None
    zero, one = pair(class_weight, z)
    return np.where(is_one, -z, z), np.where(is_one, one, zero)


def _of_many(outputs: Array, targets: Array, class_weight: Any) -> tuple[Any, Any]:
    """The log-odds against the true class, and the weight of that class."""
    z, t, are_labels = classes_of(outputs, targets, "focal")
    if not are_labels and is_plain(t) and not (t.max(axis=-1) == 1).all():
        raise ValueError(
            ad.errors.message(
                "focal needs one true class for each example.",
                got="targets with probabilities other than 0 and 1",
                fix="Pass labels, as  np.argmax(targets, axis=-1),  or train on  losses.cross_entropy.",
            )
        )
    own, others, is_own = own_and_others(z, t, are_labels)
    largest = ad.stop_gradient(np.max(others, axis=-1, keepdims=True))
    total = np.log(np.sum(np.exp(others - largest), axis=-1)) + largest[..., 0]
    weight = class_weights(class_weight, z)
    return total - own, None if weight is None else np.sum(np.where(is_own, weight, 0.0), axis=-1)
