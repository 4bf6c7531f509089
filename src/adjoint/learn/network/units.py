"""The last layer of a regressor, which turns what a network gives into numbers in the units of the targets.

Inside, a network predicts targets of mean 0 and variance 1, whatever their unit. Where its last layer is dense the unit
becomes part of that layer after training, so that the model is one that everybody knows.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from adjoint import nn

from ..labels import Array


@nn.layer
class Units:
    """z * scale + shift, neither of which is trained."""

    scale: np.ndarray = nn.statistic()
    shift: np.ndarray = nn.statistic()

    def __call__(self, z: Any) -> Any:
        """In the units of the targets."""
        return z * self.scale + self.shift


@nn.layer
class Ascending:
    """Quantiles that cannot cross: the first of each output, and positive distances to the next ones.

    Of (n, outputs * levels) numbers, those of the first level first; (n, outputs, levels) come out.
    """

    scale: np.ndarray = nn.statistic()
    shift: np.ndarray = nn.statistic()

    def __call__(self, z: Any) -> Any:
        """Ascending along the last axis, in the units of the targets."""
        outputs = self.scale.shape[0]
        levels = z.reshape(z.shape[0], -1, outputs)
        steps = np.concatenate([levels[:, :1], nn.softplus(levels[:, 1:])], axis=1)
        return np.swapaxes(np.cumsum(steps, axis=1) * self.scale + self.shift, 1, 2)


def folded(model: Any) -> Any:
    """The model with its units in its last dense layer, where it ends in one; else as it is."""
    if isinstance(model, nn.Sequential) and isinstance(model.layers[-1], Units):
        *parts, units = model.layers
        whole = parts[0] if len(parts) == 1 else nn.Sequential(*parts)
        found = _last_dense(whole, units.scale, units.shift)
        return model if found is None else found
    return model


def unfolded(model: Any, units: Units) -> Any:
    """What `folded` made of it, taken apart again."""
    found = _last_dense(model, 1.0 / units.scale, -units.shift / units.scale)
    return model if found is None else nn.Sequential(found, units)


def _last_dense(model: Any, scale: Array, shift: Array) -> Any:
    """The model with outputs z * scale + shift, if its last layer can be changed so; else None."""
    if isinstance(model, nn.Dense):
        if model.bias is None:
            return None
        kind = model.weight.dtype
        weight, bias = (model.weight * scale).astype(kind), (model.bias * scale + shift).astype(kind)
        return dataclasses.replace(model, weight=weight, bias=bias)  # type: ignore[type-var]
    if isinstance(model, (nn.MLP, nn.Sequential)) and len(model.layers):
        last = _last_dense(model.layers[-1], scale, shift)
        return None if last is None else dataclasses.replace(model, layers=(*model.layers[:-1], last))  # type: ignore[type-var]
    return None


def units_of(y: Array, weights: Array | None) -> Units:
    """Mean and standard deviation of each column of targets; 1 where all are alike."""
    shift = np.average(y, axis=0, weights=weights)
    scale = np.sqrt(np.average((y - shift) ** 2, axis=0, weights=weights))
    rounding = 10.0 * np.finfo(y.dtype).eps * np.abs(shift)
    return Units(scale=np.where(scale > rounding, scale, 1.0).astype(y.dtype), shift=shift.astype(y.dtype))
