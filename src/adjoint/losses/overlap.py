"""The loss of overlaps, for segmentation."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import NonNegative, RealNumbers, checked
from .binary import binary_targets
from .checks import as_floats
from .labels import classes_of
from .reduction import reduced


@checked("targets", "reduction")
def dice(
    outputs: RealNumbers,
    targets: Any,
    *,
    smooth: NonNegative = 1.0,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""1 minus Dice's coefficient: how little what is predicted and what is there overlap, from logits.

    .. math:: l(z, t) = 1 - \frac{2 \sum_i p_i t_i + s}{\sum_i p_i + \sum_i t_i + s}

    The sums are over all places of an example, which is what follows the first axis. For labels of classes the loss is
    the mean of those of the classes. Rare classes count as much as frequent ones, so it is often added to
    `cross_entropy`.

    Parameters
    ----------
    outputs : array of shape (n, ...) or (n, ..., classes)
        Logits: p is their sigmoid, or for labels their softmax over the last axis.
    targets : array of the same shape, or array of integers of shape (n, ...)
        0 or 1, or between them, for each logit; or a label from 0 to classes - 1 for each place.
    smooth : float, default 1.0
        What is added above and below, so that an example without anything to find has a loss.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of shape (n,).

    References
    ----------
    F. Milletari, N. Navab and S.-A. Ahmadi, V-Net: Fully Convolutional Neural Networks for Volumetric Medical Image
    Segmentation, 2016. C. H. Sudre and others, Generalised Dice overlap as a deep learning loss function for highly
    unbalanced segmentations, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> image = np.array([[[9.0, 9.0], [-9.0, -9.0]]])  # sure of the upper row
    >>> losses.dice(image, [[[1, 1], [0, 0]]]).round(3), losses.dice(image, [[[0, 0], [1, 1]]]).round(3)
    (np.float64(0.0), np.float64(0.8))
    """
    z = as_floats(outputs)
    if z.ndim < 2:
        raise ValueError(
            ad.errors.message(
                "dice needs outputs of shape (n, ...): an example is what follows the first axis.",
                got=f"outputs of shape {z.shape}",
                fix="Write  outputs[None]  and  targets[None]  for one example.",
            )
        )
    if np.ndim(targets) == z.ndim:
        z, t = binary_targets(z, targets, "dice")
        p = np.exp(-np.logaddexp(0.0, -z))
        return reduced(_apart(p, t, tuple(range(1, z.ndim)), smooth), reduction, sample_weight)
    z, labels, _ = classes_of(z, targets, "dice")
    raised = np.exp(z - ad.stop_gradient(np.max(z, axis=-1, keepdims=True)))
    p = raised / np.sum(raised, axis=-1, keepdims=True)
    t = np.where(labels[..., None] == np.arange(z.shape[-1]), 1.0, 0.0).astype(z.dtype)
    return reduced(np.mean(_apart(p, t, tuple(range(1, z.ndim - 1)), smooth), axis=-1), reduction, sample_weight)


def _apart(p: Any, t: Any, axes: tuple[int, ...], smooth: float) -> Any:
    """1 minus Dice's coefficient over these axes."""
    both = np.sum(p, axis=axes) + np.sum(t, axis=axes) + smooth
    return 1.0 - (2.0 * np.sum(p * t, axis=axes) + smooth) / both
