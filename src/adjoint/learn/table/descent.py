"""Training of a packed network, written out in NumPy: nothing is compiled, so a first fit is as quick as all others.

A step is made of products that BLAS computes, and of a few passes over arrays that fit into the cache: machine code
made for it takes the same time, after half a second for the compiler. The slopes are those of `ad.grad`, as a test
says.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint import nn

from ..labels import Array
from .packed import PackedDense, PackedNetwork

BETA1, BETA2, EPS = 0.9, 0.95, 1e-8
"""Adam's; the mean of squares is over twenty steps, as of hundreds there are none in a short run."""
LEVELS = 256
"""Dropout draws bytes."""
Single = np.float32
TINY = Single(1e-30)
"""Is added to moments, as those of words that are hardly ever met would become subnormal, and slow."""


class Descent:
    """Parameters of a packed network in single precision, side by side in one array, with Adam's moments."""

    def __init__(self, network: PackedNetwork) -> None:
        given = nn.parameters(network)
        self.parameters = np.concatenate([a.ravel() for a in given.values()]).astype(Single)
        self.slopes = np.zeros_like(self.parameters)
        self.mean, self.square, self.spare = [np.zeros_like(self.parameters) for _ in range(3)]
        self.steps = 0
        ends = np.cumsum([0, *[a.size for a in given.values()]]).tolist()
        places = {name: slice(*ends[k : k + 2]) for k, name in enumerate(given)}
        self.decaying = [place for name, place in places.items() if name.endswith("weight")]
        values, slopes = [
            {name: flat[place].reshape(given[name].shape) for name, place in places.items()}
            for flat in (self.parameters, self.slopes)
        ]
        self.network, self.slope = _network_of(values, network), _network_of(slopes, network)
        self.hidden: list[Array] = []
        self.kept: list[Array] = []

    def outputs(self, x: Array, dropout: float = 0.0, random: Any = None) -> Array:
        """What members give for rows (n, c), with dropout where there is a generator; remembered for `slopes_at`."""
        layers = self.network.layers
        self.hidden, self.kept = [], []
        z = x @ (self.network.scale * layers[0].weight)
        z += layers[0].bias
        for layer in layers[1:]:
            np.maximum(z, 0.0, out=z)
            if random is not None and dropout > 0.0:
                self.kept.append(_kept(z.shape, dropout, random))
                z *= self.kept[-1]
            self.hidden.append(z)
            z = _by_groups(z, layer.weight)
            z += layer.bias
        return z

    def slopes_at(self, x: Array, back: Array) -> None:
        """Set the slopes, given those of the outputs."""
        layers, slopes = self.network.layers, self.slope.layers
        for k in range(len(layers) - 1, 0, -1):
            h = self.hidden[k - 1]
            np.sum(back, axis=2, keepdims=True, out=slopes[k].bias)
            np.matmul(_rows(h).transpose(0, 2, 1), _rows(back), out=slopes[k].weight[:, 0])
            back = _by_groups(back, layers[k].weight.transpose(0, 1, 3, 2))
            back *= h > 0.0
            if self.kept:
                back *= self.kept[k - 1]
        np.sum(back, axis=2, keepdims=True, out=slopes[0].bias)
        each = x.T @ back
        np.sum(each * layers[0].weight, axis=3, keepdims=True, out=self.slope.scale)
        each *= self.network.scale
        np.sum(each, axis=1, keepdims=True, out=slopes[0].weight)

    def step(self, rate: float, decay: float) -> None:
        """One of Adam's, with weights that decay by themselves."""
        self.steps += 1
        spare = self.spare
        self.mean *= Single(BETA1)
        np.multiply(self.slopes, Single(1.0 - BETA1), out=spare)
        spare += TINY
        self.mean += spare
        np.multiply(self.slopes, self.slopes, out=spare)
        spare *= Single(1.0 - BETA2)
        spare += TINY
        self.square *= Single(BETA2)
        self.square += spare
        np.sqrt(self.square, out=spare)
        spare *= Single(1.0 / math.sqrt(1.0 - BETA2**self.steps))
        spare += Single(EPS)
        np.divide(self.mean, spare, out=spare)
        spare *= Single(rate / (1.0 - BETA1**self.steps))
        if decay > 0.0:
            for place in self.decaying:
                self.parameters[place] *= Single(1.0 - rate * decay)
        self.parameters -= spare


def slope_of_loss(z: Array, y: Array, weights: Array, *, classifies: bool) -> Array:
    """The slope of the mean loss over members with respect to their outputs, in their place.

    `y` is (n, outputs), `weights` (n, groups).
    """
    if classifies:
        z -= np.max(z, axis=-1, keepdims=True)
        np.exp(z, out=z)
        z /= np.sum(z, axis=-1, keepdims=True)
    z -= y
    share = weights / (np.sum(weights) * z.shape[1])
    z *= (share if classifies else 2.0 * share).T[:, None, :, None]
    return z


def loss_of(outputs: Array, y: Array, weights: Array, *, classifies: bool) -> float:
    """The weighted mean loss of outputs (..., outputs): cross-entropy of logits, or squares."""
    if classifies:
        z = outputs - np.max(outputs, axis=-1, keepdims=True)
        losses = np.log(np.sum(np.exp(z), axis=-1)) - np.sum(z * y, axis=-1)
    else:
        losses = np.sum((outputs - y) ** 2, axis=-1)
    return float(np.average(losses, weights=weights))


def as_doubles(network: PackedNetwork) -> PackedNetwork:
    """A copy in double precision, in which rows do not depend on those beside them in the last bits."""
    arrays = {name: a.astype(np.float64) for name, a in nn.parameters(network).items()}
    found: PackedNetwork = nn.replace(network, arrays)
    return found


def _network_of(arrays: dict[str, Array], like: PackedNetwork) -> PackedNetwork:
    """A network of these very arrays, which may be written to."""
    layers = [
        PackedDense(weight=arrays[f"layers.{k}.weight"], bias=arrays[f"layers.{k}.bias"])
        for k in range(len(like.layers))
    ]
    return PackedNetwork(scale=arrays["scale"], layers=tuple(layers), classifies=like.classifies)


def _rows(h: Array) -> Array:
    """Rows of all members of a group below each other."""
    return h.reshape(h.shape[0], -1, h.shape[3])


def _by_groups(h: Array, weight: Array) -> Array:
    """Products with the weights of the groups, one for each group."""
    return (_rows(h) @ weight[:, 0]).reshape(*h.shape[:3], weight.shape[3])


def _kept(shape: tuple[int, ...], dropout: float, random: np.random.Generator) -> Array:
    """What hidden numbers are multiplied with: 0, or what makes up for it."""
    cut = min(round(dropout * LEVELS), LEVELS - 1)
    kept = (random.integers(0, LEVELS, size=shape, dtype=np.uint8) >= cut).astype(Single)
    kept *= Single(LEVELS / (LEVELS - cut))
    return kept
