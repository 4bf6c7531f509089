"""Plain networks with Adam, written out in NumPy: nothing is compiled, so the first fit is as quick as all others.

Dense layers, an activation whose slope is a function of its value, cross-entropy or squares, and Adam: for these the
gradient is a dozen lines, and a step takes half of scikit-learn's time. All else is trained by `ad.train`, whose
numbers these are up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import nn

from ..labels import Array

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


def _sigmoid(z: Array) -> None:
    z *= 0.5
    np.tanh(z, out=z)
    z += 1.0
    z *= 0.5


ACTIVATIONS: dict[Any, tuple[Callable[[Array], Any], Callable[[Array, Array], Any]]] = {
    nn.relu: (lambda z: np.maximum(z, 0.0, out=z), lambda a, g: np.multiply(g, a > 0.0, out=g)),
    nn.tanh: (lambda z: np.tanh(z, out=z), lambda a, g: np.multiply(g, 1.0 - a * a, out=g)),
    nn.sigmoid: (_sigmoid, lambda a, g: np.multiply(g, a * (1.0 - a), out=g)),
    nn.identity: (lambda z: z, lambda a, g: g),
}
"""In place: the activation, and the product with its slope, given its value."""


def cross_entropy(z: Array, codes: Array, share: Array) -> float:
    """The mean of the losses with these shares; the logits are overwritten by the slopes of it."""
    rows = np.arange(len(z))
    z -= np.max(z, axis=1, keepdims=True)
    own = z[rows, codes]
    np.exp(z, out=z)
    total = np.add.reduce(z, axis=1)
    value = float(share @ (np.log(total) - own))
    z /= total[:, None]
    z[rows, codes] -= 1.0
    z *= share[:, None]
    return value


def squared(z: Array, y: Array, share: Array) -> float:
    """Likewise, of the mean over the outputs of a row."""
    z -= y
    value = float(share @ np.einsum("ij,ij->i", z, z)) / z.shape[1]
    z *= (2.0 / z.shape[1]) * share[:, None]
    return value


class Plain:
    """Weights, gradient and moments of a network of dense layers, each of the four in one vector."""

    def __init__(self, network: nn.MLP, rows: int) -> None:
        self.activate, self.slope = ACTIVATIONS[network.activations[0].function if network.activations else nn.identity]
        arrays: list[Any] = [a for layer in network.layers for a in (layer.weight, layer.bias)]
        kind = arrays[0].dtype
        self.theta = np.concatenate([a.ravel() for a in arrays])
        self.gradient, self.mean, self.square, self.room = [np.zeros_like(self.theta) for _ in range(4)]
        self.shapes = [a.shape for a in arrays]
        self.W, self.b = self.parts(self.theta)[::2], self.parts(self.theta)[1::2]
        self.slopes = self.parts(self.gradient)
        self.values = [np.empty((rows, W.shape[1]), kind) for W in self.W]
        self.back = [np.empty((rows, W.shape[1]), kind) for W in self.W[:-1]]
        self.count = 0

    def parts(self, vector: Array) -> list[Array]:
        """Views of a vector as weights and biases, layer by layer."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(vector, ends), self.shapes, strict=True)]

    def forward(self, X: Array) -> list[Array]:
        """The values of each layer; those for one batch are overwritten by the next."""
        found: list[Array] = []
        for W, b, room in zip(self.W, self.b, self.values, strict=True):
            if found:
                self.activate(found[-1])
            z = room[: len(X)] if len(X) <= len(room) else np.empty((len(X), W.shape[1]), W.dtype)
            np.matmul(found[-1] if found else X, W, out=z)
            z += b
            found.append(z)
        return found

    def backward(self, X: Array, values: list[Array], slope: Array) -> None:
        """The gradient, from the slope by the outputs."""
        for k in range(len(self.W) - 1, -1, -1):
            np.matmul((values[k - 1] if k else X).T, slope, out=self.slopes[2 * k])
            np.add.reduce(slope, axis=0, out=self.slopes[2 * k + 1])
            if k:
                before = self.back[k - 1][: len(X)]
                np.matmul(slope, self.W[k].T, out=before)
                self.slope(values[k - 1], before)
                slope = before

    def step(self, rate: float, alpha: float, unit: float) -> None:
        """A step of Adam down the loss times a unit, and alpha/2 times the squares of the weights."""
        self.count += 1
        if unit != 1.0:
            self.gradient *= unit
        for W, dW in zip(self.W, self.slopes[::2], strict=True):
            dW += alpha * W
        g, room = self.gradient, self.room
        self.mean *= BETA1
        self.mean += np.multiply(g, 1.0 - BETA1, out=room)
        self.square *= BETA2
        np.multiply(g, g, out=room)
        room *= 1.0 - BETA2
        self.square += room
        np.sqrt(self.square, out=room)
        room *= (1.0 - BETA2**self.count) ** -0.5
        room += EPS
        np.divide(self.mean, room, out=room)
        room *= rate / (1.0 - BETA1**self.count)
        self.theta -= room
