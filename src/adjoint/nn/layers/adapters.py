"""Layers to fine-tune with: what is frozen is part of the structure, so nothing that trains can forget it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Key, Tree
from .. import checks
from ..init import as_key, initializer
from ..layer import layer, set_fields, statistic
from .dense import Dense


@layer
class Frozen:
    """A layer whose arrays stay as they are, and that behaves in training as it does in inference.

    Parameters
    ----------
    inner : layer
        Any layer, as a batch normalisation, whose statistics stay too.

    Examples
    --------
    >>> from adjoint import nn
    >>> model = nn.Sequential(nn.Frozen(nn.Dense(64, 32, key=0)), "relu", nn.Dense(32, 10, key=1))
    >>> list(nn.parameters(model))
    ['layers.2.weight', 'layers.2.bias']
    """

    inner: Any = statistic()

    def __call__(self, x: Tree) -> Any:
        """What the layer gives."""
        return self.inner(x)

    def training(self, x: Tree, key: Key) -> tuple[Any, Frozen]:
        """The same in training."""
        return self.inner(x), self


@layer
class LowRank:
    """x (W + L R) + b, where W and b stay, and L of shape (c, rank) and R of shape (rank, c') are trained.

    It starts as the dense layer it is made of, as R is 0; r (c + c') parameters in place of c'(c + 1).

    Parameters
    ----------
    dense : Dense
        The layer to change by a matrix of low rank.
    rank : int
        The rank of the change.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first L.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> layer = nn.LowRank(nn.Dense(64, 32, key=0), 4, key=1)
    >>> nn.count_parameters(layer), layer(np.zeros((5, 64))).shape
    (384, (5, 32))
    >>> layer.merged()
    Dense(weight=float64[64,32], bias=float64[32])
    """

    weight: np.ndarray = statistic()
    bias: np.ndarray | None = statistic()
    left: np.ndarray
    right: np.ndarray

    def __init__(self, dense: Dense, rank: int, *, key: Key) -> None:
        inputs, outputs = dense.weight.shape
        kind, size = dense.weight.dtype, checks.count("LowRank", "rank", rank)
        left = initializer("lecun_normal")(as_key(key), (inputs, size), kind)
        set_fields(self, weight=dense.weight, bias=dense.bias, left=left, right=np.zeros((size, outputs), kind))

    def __call__(self, x: Tree) -> Any:
        """Apply the layer to the last axis."""
        checks.last_axis("LowRank", x, self.weight.shape[0])
        y = x @ self.weight + (x @ self.left) @ self.right
        return y if self.bias is None else y + self.bias

    def merged(self) -> Dense:
        """The dense layer that gives the same."""
        return Dense(weight=self.weight + self.left @ self.right, bias=self.bias)  # type: ignore[call-arg, arg-type]
