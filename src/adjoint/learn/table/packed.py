"""An ensemble in one network: groups of members, which share weights within a group.

What a member sees of the inputs is scaled by a vector of its own, and each of its layers has biases of its own; all
else it shares with its group. So members cost hardly any memory, differ, and help each other to generalise. All members
are one batched product.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import nn

SMALLEST = 1e-30
"""Probabilities are kept above this, which single precision can hold."""


@nn.layer
class PackedDense:
    """x W + b for each member: `weight` (groups, 1, c, c') is a group's, `bias` (groups, members, 1, c') a member's."""

    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x: Any) -> Any:
        """From (groups, members, n, c), or what broadcasts to it, to (groups, members, n, c')."""
        return x @ self.weight + self.bias


@nn.layer
class PackedNetwork:
    """Dense layers of all members with ReLU between them, behind a scale (groups, members, c, 1) for each input.

    Rows of shape (n, c) go to all members: the call gives the outputs of the ensemble (n, outputs). Rows of shape
    (groups, n, c) go to one group each: the call gives the outputs of the groups (groups, n, outputs). For classes the
    mean over members is that of probabilities, and the outputs are their logarithms.
    """

    scale: np.ndarray
    layers: tuple[PackedDense, ...]
    classifies: bool

    def __call__(self, x: Any) -> Any:
        """Logits or numbers of the ensemble, or of its groups."""
        z = self.members(x)
        return pooled(z, (0, 1) if x.ndim == 2 else (1,), classifies=self.classifies)

    def members(self, x: Any) -> Any:
        """What each member gives: (groups, members, n, outputs)."""
        return self._through(x, len(self.layers))

    def features(self, x: Any) -> Any:
        """What the last layer gets, of all members side by side: (n, groups x members x width)."""
        h = x[None, None] if len(self.layers) == 1 else nn.relu(self._through(x, len(self.layers) - 1))
        return np.reshape(np.moveaxis(h, 2, 0), (len(x), -1))

    def _through(self, x: Any, count: int) -> Any:
        """What so many layers give."""
        first = self.layers[0]
        h = (x if x.ndim == 2 else x[:, None]) @ (self.scale * first.weight) + first.bias
        for layer in self.layers[1:count]:
            h = layer(nn.relu(h))
        return h


def pooled(z: Any, axes: tuple[int, ...], *, classifies: bool) -> Any:
    """The mean over members: of numbers, or of probabilities, as logarithms."""
    if not classifies:
        return np.mean(z, axis=axes)
    p = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return np.log(np.mean(p / np.sum(p, axis=-1, keepdims=True), axis=axes) + SMALLEST)


def packed(
    sizes: Sequence[int], *, groups: int, members: int, classifies: bool, power: float, random: np.random.Generator
) -> PackedNetwork:
    """A new network: He's weights, and signs at random for what each member sees of the inputs.

    `power` is the mean of the squared norm of rows, which is the number of inputs where all are standardised.
    """
    layers = []
    for k, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        gain = np.sqrt((1.0 if k == len(sizes) - 2 else 2.0) / (inputs if k else power))
        weight = gain * random.normal(size=(groups, 1, inputs, outputs))
        layers.append(PackedDense(weight=weight, bias=np.zeros((groups, members, 1, outputs))))
    signs = random.choice([-1.0, 1.0], size=(groups, members, sizes[0], 1))
    return PackedNetwork(scale=signs, layers=tuple(layers), classifies=classifies)
