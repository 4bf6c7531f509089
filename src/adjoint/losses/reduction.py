"""What becomes of the loss of each example: its mean, its sum or itself, with weights.

A weighted mean divides by the sum of the weights, so that a weight of 2 is the example given twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array
from .checks import as_dtype, check_weights

REDUCTIONS = ("mean", "sum", "none")


def reduced(losses: Array, reduction: str, sample_weight: Any = None, *, count: Any = None) -> Any:
    """The mean, the sum, or the losses as they are, each times its weight.

    `count` says by how much each loss counts in a mean, if that is not 1: the weights of its class.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(
            ad.errors.message(
                "There is no such reduction.",
                got=f"reduction={reduction!r}",
                fix='Write  reduction="mean",  "sum"  or  "none".',
            )
        )
    if sample_weight is not None:
        weight = weights_of(losses, sample_weight)
        losses = losses * weight
        count = weight if count is None else count * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return np.sum(losses)
    if not losses.size:
        raise ValueError(
            ad.errors.message(
                "There is no mean of no examples.",
                got=f"losses of shape {losses.shape}",
                fix='Leave empty batches out, or write  reduction="sum".',
            )
        )
    if count is None:
        return np.mean(losses)
    return np.sum(losses) / (np.sum(count) * (losses.size // count.size))


def weights_of(losses: Array, sample_weight: Any) -> Any:
    """One weight for each example, with axes of length 1 for what an example has several losses for."""
    weight = as_dtype(sample_weight, losses.dtype)
    have, want = weight.shape, losses.shape
    if len(have) > len(want) or want[: len(have)] != have or (want and not have):
        raise ValueError(
            ad.errors.message(
                "sample_weight needs one weight for each example.",
                got=f"sample_weight of shape {have} for losses of shape {want}",
                fix=f"Pass an array of shape {want[:1]}.",
            )
        )
    check_weights(sample_weight, "sample_weight")
    return weight.reshape(have + (1,) * (len(want) - len(have)))
