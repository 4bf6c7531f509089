"""Batch, layer, group and root-mean-square normalisation."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, DTypeLike, Key
from .. import checks
from ..layer import described, layer, set_fields, static, statistic


@layer
class BatchNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + shift, for each number of the last axis.

    In training the mean and variance are those of the batch, over all axes but the last, and the running ones move
    towards them: m <- (1 - momentum) m + momentum (mean of the batch); the variance in the same way, by its unbiased
    estimate. Outside training the running ones are used.

    Parameters
    ----------
    width : int
        The length of the last axis: neurons, or channels of a convolution.
    momentum : float, default 0.1
        How far the running statistics move in each step.
    epsilon : float, default 1e-5
        What is added to the variance.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> y, layer = nn.training(nn.BatchNorm(1), np.array([[1.0], [3.0]]))
    >>> y.round(3), layer.mean, layer.variance
    (array([[-1.], [ 1.]]), array([0.2]), array([1.1]))
    """

    scale: np.ndarray
    shift: np.ndarray
    mean: np.ndarray = statistic()
    variance: np.ndarray = statistic()
    momentum: float = static()
    epsilon: float = static()

    stochastic = False

    def __init__(
        self, width: int, *, momentum: float = 0.1, epsilon: float = 1e-5, dtype: DTypeLike = np.float64
    ) -> None:
        n, kind = checks.count("BatchNorm", "width", width), checks.real("BatchNorm", dtype)
        set_fields(
            self, scale=np.ones(n, kind), shift=np.zeros(n, kind), mean=np.zeros(n, kind), variance=np.ones(n, kind)
        )
        set_fields(self, momentum=checks.fraction("BatchNorm", "momentum", momentum))
        set_fields(self, epsilon=checks.positive("BatchNorm", "epsilon", epsilon))

    def __call__(self, x: Array) -> Any:
        """Normalised by the running statistics."""
        checks.last_axis("BatchNorm", x, self.scale.shape[0])
        factor = self.scale * _inverse_root(self.variance + self.epsilon)
        return x * factor + (self.shift - self.mean * factor)

    def training(self, x: Array, key: Key) -> tuple[Any, BatchNorm]:
        """Normalised by the statistics of the batch; and the layer with new running statistics."""
        checks.last_axis("BatchNorm", x, self.scale.shape[0])
        axes = tuple(range(np.ndim(x) - 1))
        size = x.size // self.scale.shape[0]
        if size < 2:
            raise checks.refuse(
                "BatchNorm needs two or more examples in a batch, as one has no variance.",
                described(x),
                "Leave out a last batch of one example, as  drop_last=True  does in  ad.train,  or use  nn.LayerNorm.",
            )
        mean = np.mean(x, axis=axes)
        centred = x - mean
        variance = np.mean(centred * centred, axis=axes)
        y = centred * (self.scale * _inverse_root(variance + self.epsilon)) + self.shift
        new_mean, new_variance = ad.stop_gradient((mean, variance * (size / (size - 1))))
        return y, dataclasses.replace(  # type: ignore[type-var]
            self,
            mean=self.mean + self.momentum * (new_mean - self.mean),
            variance=self.variance + self.momentum * (new_variance - self.variance),
        )


@layer
class LayerNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + shift, with mean and variance along the last axis of x.

    The same in training and outside it, as each example is normalised by itself.

    Parameters
    ----------
    width : int
        The length of the last axis.
    epsilon : float, default 1e-5
        What is added to the variance.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.LayerNorm(2)(np.array([1.0, 3.0])).round(3)
    array([-1.,  1.])
    """

    scale: np.ndarray
    shift: np.ndarray
    epsilon: float = static()

    def __init__(self, width: int, *, epsilon: float = 1e-5, dtype: DTypeLike = np.float64) -> None:
        n, kind = checks.count("LayerNorm", "width", width), checks.real("LayerNorm", dtype)
        set_fields(self, scale=np.ones(n, kind), shift=np.zeros(n, kind))
        set_fields(self, epsilon=checks.positive("LayerNorm", "epsilon", epsilon))

    def __call__(self, x: Array) -> Any:
        """Normalised along the last axis."""
        checks.last_axis("LayerNorm", x, self.scale.shape[0])
        centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
        return centred * _inverse_root(variance + self.epsilon) * self.scale + self.shift


@layer
class RMSNorm:
    """x / sqrt(mean of x**2 + epsilon) * scale along the last axis of x: layer normalisation without its shift.

    Parameters
    ----------
    width : int
        The length of the last axis.
    epsilon : float, default 1e-5
        What is added to the mean of the squares.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.RMSNorm(2)(np.array([3.0, 4.0])).round(3)
    array([0.849, 1.131])
    """

    scale: np.ndarray
    epsilon: float = static()

    def __init__(self, width: int, *, epsilon: float = 1e-5, dtype: DTypeLike = np.float64) -> None:
        n, kind = checks.count("RMSNorm", "width", width), checks.real("RMSNorm", dtype)
        set_fields(self, scale=np.ones(n, kind), epsilon=checks.positive("RMSNorm", "epsilon", epsilon))

    def __call__(self, x: Array) -> Any:
        """Normalised along the last axis."""
        checks.last_axis("RMSNorm", x, self.scale.shape[0])
        return x * _inverse_root(np.mean(x * x, axis=-1, keepdims=True) + self.epsilon) * self.scale


@layer
class GroupNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + shift, over each example's places and a group of its channels.

    x has shape (n, ..., width): an example is what follows the first axis. The same in training and outside it,
    whatever the size of the batch.

    Parameters
    ----------
    groups : int
        The number of groups, which divides the width; 1 normalises all channels together, `width` each by itself.
    width : int
        The length of the last axis, the number of channels.
    epsilon : float, default 1e-5
        What is added to the variance.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.GroupNorm(2, 4)(np.array([[1.0, 3.0, 10.0, 30.0]])).round(3)
    array([[-1.,  1., -1.,  1.]])
    """

    scale: np.ndarray
    shift: np.ndarray
    groups: int = static()
    epsilon: float = static()

    def __init__(self, groups: int, width: int, *, epsilon: float = 1e-5, dtype: DTypeLike = np.float64) -> None:
        n, kind = checks.count("GroupNorm", "width", width), checks.real("GroupNorm", dtype)
        parts = checks.count("GroupNorm", "groups", groups)
        if n % parts:
            raise checks.refuse("GroupNorm: groups has to divide width.", f"groups={parts}, width={n}")
        set_fields(self, scale=np.ones(n, kind), shift=np.zeros(n, kind), groups=parts)
        set_fields(self, epsilon=checks.positive("GroupNorm", "epsilon", epsilon))

    def __call__(self, x: Array) -> Any:
        """Normalised over each group of channels of each example."""
        checks.last_axis("GroupNorm", x, self.scale.shape[0])
        shape = np.shape(x)
        apart = x.reshape(*shape[:-1], self.groups, shape[-1] // self.groups)
        axes = (*range(min(1, len(shape) - 1), len(shape) - 1), len(shape))
        centred = apart - np.mean(apart, axis=axes, keepdims=True)
        variance = np.mean(centred * centred, axis=axes, keepdims=True)
        return (centred * _inverse_root(variance + self.epsilon)).reshape(shape) * self.scale + self.shift


def _inverse_root(x: Array) -> Any:
    """1 / sqrt(x) of positive numbers, without the vertex of sqrt at 0 for which derivatives in loops would prepare."""
    return np.exp(-0.5 * np.log(x))
