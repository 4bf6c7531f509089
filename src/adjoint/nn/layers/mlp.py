"""The multilayer perceptron."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, DTypeLike, Key
from .. import checks, named
from ..init import Initializer, as_key
from ..layer import layer, set_fields
from ..training import split_among, training
from .dense import Dense
from .dropout import Dropout
from .normalization import BatchNorm, LayerNorm
from .prelu import PReLU
from .sequential import Activation, inside

NORMS: dict[str, Callable[..., Any]] = {"batch": BatchNorm, "layer": LayerNorm}
RECTIFIERS = ("elu", "gelu", "leaky_relu", "prelu", "relu", "silu")
"""Activations that pass about half of the variance, which `he_normal` makes up for."""


@layer
class MLP:
    """A multilayer perceptron: dense layers with an activation between them.

    Each hidden layer is x W + b, then the normalisation, the activation and dropout if there are any; the last layer is
    x W + b alone, so that a loss gets logits.

    Parameters
    ----------
    sizes : sequence of int
        The number of inputs, the widths of the hidden layers, and the number of outputs: two or more numbers.
    activation : str or callable, default "relu"
        A name that `nn.activation` knows, "prelu", or a function of an array.
    dropout : float, default 0.0
        The probability that a hidden number is set to 0 in training.
    norm : {None, "batch", "layer"}, default None
        The normalisation of the hidden layers.
    init : str or callable, optional
        The first weights: a name in `nn.init`, or a function `(key, shape, dtype)`. By default "he_normal" in front of
        ReLU and its like, and "glorot_uniform" otherwise.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> model = nn.MLP([64, 32, 10], activation="relu", key=0)
    >>> model(np.zeros((5, 64))).shape, nn.count_parameters(model)
    ((5, 10), 2410)
    """

    layers: tuple[Dense, ...]
    activations: tuple[Any, ...]
    norms: tuple[Any, ...]
    dropout: Dropout | None

    delegates = True  # it behaves differently in training only if a layer inside does

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str | Callable[[Any], Any] = "relu",
        *,
        dropout: float = 0.0,
        norm: str | None = None,
        init: str | Initializer | None = None,
        key: Key,
        dtype: DTypeLike = np.float64,
    ) -> None:
        widths, hidden = _widths(sizes), list(sizes)[1:-1]
        if norm is not None and norm not in NORMS:
            raise checks.refuse("MLP: norm has to be None, 'batch' or 'layer'.", f"norm={norm!r}")
        kind = checks.real("MLP", dtype)
        keys = ad.random.split(as_key(key), len(widths) - 1)
        set_fields(
            self,
            layers=tuple(
                [
                    Dense(
                        c,
                        d,
                        key=k,
                        init=_init_for(activation, last=i == len(hidden)) if init is None else init,
                        dtype=kind,
                    )
                    for i, (c, d, k) in enumerate(zip(widths, widths[1:], keys, strict=False))
                ]
            ),
            activations=tuple([_activation(activation, width, kind) for width in hidden]),
            norms=tuple([NORMS[norm](width, dtype=kind) for width in hidden]) if norm else (),
            dropout=Dropout(dropout) if checks.fraction("MLP", "dropout", dropout) else None,
        )

    def __call__(self, x: Array) -> Any:
        """The outputs; on the last axis of x are the inputs."""
        for k, activation in enumerate(self.activations):
            with inside(f"layers.{k}"):
                x = self.layers[k](x)
            x = activation(self.norms[k](x) if self.norms else x)
        with inside(f"layers.{len(self.layers) - 1}"):
            return self.layers[-1](x)

    def training(self, x: Array, key: Key) -> tuple[Any, MLP]:
        """The outputs as in training, and the network with its new statistics."""
        norms = []
        keys = split_among([self.dropout] * len(self.activations), key)
        for k, activation in enumerate(self.activations):
            with inside(f"layers.{k}"):
                x = self.layers[k](x)
            if self.norms:
                x, norm = training(self.norms[k], x)
                norms.append(norm)
            x = activation(x)
            if self.dropout is not None:
                x, _ = self.dropout.training(x, keys[k])
        y = self.layers[-1](x)
        return y, dataclasses.replace(self, norms=tuple(norms)) if norms else self


def _widths(sizes: Any) -> list[int]:
    if isinstance(sizes, (int, str)) or not hasattr(sizes, "__len__") or len(sizes) < 2:
        raise checks.refuse(
            "MLP: sizes has to be a sequence of two or more numbers: inputs, hidden layers, outputs.",
            f"sizes={sizes!r}",
            "Write  nn.MLP([64, 32, 10], key=0).",
        )
    return [checks.count("MLP", f"sizes[{k}]", size) for k, size in enumerate(sizes)]


def _activation(activation: Any, width: int, dtype: np.dtype) -> Any:
    return PReLU(width, dtype=dtype) if activation == "prelu" else Activation(named.activation(activation))


def _init_for(activation: Any, *, last: bool) -> str:
    name = activation if isinstance(activation, str) else getattr(activation, "__name__", "")
    return "he_normal" if name in RECTIFIERS and not last else "glorot_uniform"
