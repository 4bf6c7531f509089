"""Losses that are NumPy functions of outputs and targets: their values and gradients, with weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ..labels import Array


def differentiated(
    loss: Callable[..., Any], targets: Array, weights: Array, *, is_weighted: bool
) -> Callable[[Array], tuple[float, Array]]:
    """The weighted mean loss of outputs, and its gradient by them; nothing is compiled.

    Weights go to the loss, if it takes `sample_weight`, or are applied to the losses, if it gives one for each row.
    """
    extra = {"sample_weight": weights} if is_weighted and "sample_weight" in inspect.signature(loss).parameters else {}
    share = weights / np.sum(weights)

    def mean(outputs: Any) -> Any:
        found = loss(outputs, targets, **extra)
        if np.ndim(found) == 0:
            if is_weighted and not extra:
                raise ValueError(
                    "loss has to take sample_weight=, or give one loss for each sample, if fit gets a sample_weight."
                )
            return found
        if np.shape(found)[0] != len(share):
            raise ValueError(
                f"loss has to give one number, or one for each of {len(share)} samples, got shape {np.shape(found)}."
            )
        return np.sum(np.mean(np.reshape(found, (len(share), -1)), axis=1) * share)

    both = ad.value_and_grad(mean)

    def value_and_gradient(outputs: Array) -> tuple[float, Array]:
        value, gradient = both(outputs)
        return float(value), np.asarray(gradient)

    return value_and_gradient
