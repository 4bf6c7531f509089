"""Dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, Key
from .. import checks
from ..layer import layer, set_fields, static


@layer
class Dropout:
    """In training each number is set to 0 with probability p, and divided by 1 - p otherwise, so that its mean stays.

    Parameters
    ----------
    rate : float
        The probability p, from 0 up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> layer = nn.Dropout(0.5)
    >>> layer(np.ones(6)), nn.training(layer, np.ones(6), key=0)[0]
    (array([1., 1., 1., 1., 1., 1.]), array([2., 2., 2., 2., 0., 2.]))
    """

    rate: float = static()

    def __post_init__(self) -> None:
        set_fields(self, rate=checks.fraction("Dropout", "rate", self.rate))

    @property
    def stochastic(self) -> bool:
        """Whether there is anything to draw."""
        return self.rate > 0.0

    def __call__(self, x: Array) -> Any:
        """x itself: nothing is dropped outside training."""
        return x

    def training(self, x: Array, key: Key) -> tuple[Any, Dropout]:
        """x with some numbers set to 0, and the layer."""
        if self.rate == 0.0:
            return x, self
        kept = ad.random.bernoulli(key, 1.0 - self.rate, np.shape(x))
        return np.where(kept, x * (1.0 / (1.0 - self.rate)), 0.0), self
