"""The block that transformers are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, DTypeLike, Key
from .. import checks
from ..init import as_key
from ..layer import layer, set_fields
from ..training import split_among
from .attention import KeyValueCache, MultiHeadAttention
from .dropout import Dropout
from .mlp import MLP
from .normalization import LayerNorm, RMSNorm
from .sequential import inside

NORMS: dict[str, Callable[..., Any]] = {"layer": LayerNorm, "rms": RMSNorm}


@layer
class TransformerBlock:
    """A block of a transformer, with norms in front: y = x + attention(norm(x)), then y + mlp(norm(y)).

    With width d and 4 d hidden numbers it has 12 d^2 + 13 d parameters. Positions are rotary, so the model needs no
    others. `start` and `extend` are for generation: places come a few at a time, and what attention needs of those
    before stays in a cache.

    Parameters
    ----------
    width : int
        The length d of the last axis.
    heads : int
        The number of heads, which divides the width.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    hidden : int, optional
        The width of the hidden layer behind attention; 4 d by default.
    causal : bool, default True
        Whether place i may look at places 0 to i only, as in language models.
    rotary : bool, default True
        Whether queries and keys are turned by their places; width / heads is even then.
    activation : str or callable, default "gelu"
        The activation of the hidden layer.
    norm : {"layer", "rms"}, default "layer"
        The normalisation.
    dropout : float, default 0.0
        The probability that a number which is added to x is set to 0 in training.
    bias : bool, default True
        Whether the dense layers of attention have biases.
    dtype : dtype, default float64
        float64 or float32.

    References
    ----------
    A. Vaswani and others, Attention Is All You Need, 2017; R. Xiong and others, On Layer Normalization in the
    Transformer Architecture, 2020, on norms in front.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> block = nn.TransformerBlock(16, 4, key=0)
    >>> x = np.random.default_rng(0).normal(size=(2, 5, 16))
    >>> whole = block(x)
    >>> cache = block.start((2,), 5)
    >>> first, cache = block.extend(x[:, :3], cache)
    >>> rest, cache = block.extend(x[:, 3:], cache)
    >>> bool(np.abs(np.concatenate([first, rest], axis=1) - whole).max() < 1e-12)
    True
    """

    attention_norm: Any
    attention: MultiHeadAttention
    mlp_norm: Any
    mlp: MLP
    dropout: Dropout | None

    delegates = True  # it behaves differently in training only if a layer inside does

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        key: Key,
        hidden: int | None = None,
        causal: bool = True,
        rotary: bool = True,
        activation: str | Callable[[Any], Any] = "gelu",
        norm: str = "layer",
        dropout: float = 0.0,
        bias: bool = True,
        dtype: DTypeLike = np.float64,
    ) -> None:
        d = checks.count("TransformerBlock", "width", width)
        h = 4 * d if hidden is None else checks.count("TransformerBlock", "hidden", hidden)
        if norm not in NORMS:
            raise checks.refuse("TransformerBlock: norm has to be 'layer' or 'rms'.", f"norm={norm!r}")
        first, second = ad.random.split(as_key(key), 2)
        set_fields(
            self,
            attention_norm=NORMS[norm](d, dtype=dtype),
            attention=MultiHeadAttention(d, heads, key=first, causal=causal, rotary=rotary, bias=bias, dtype=dtype),
            mlp_norm=NORMS[norm](d, dtype=dtype),
            mlp=MLP([d, h, d], activation, key=second, dtype=dtype),
            dropout=Dropout(dropout) if checks.fraction("TransformerBlock", "dropout", dropout) else None,
        )

    def __call__(self, x: Array, *, mask: Array | None = None) -> Any:
        """The block for x of shape (..., t, width); the mask is broadcast to (..., heads, t, t)."""
        with inside("attention"):
            y = x + self.attention(self.attention_norm(x), mask=mask)
        with inside("mlp"):
            return y + self.mlp(self.mlp_norm(y))

    def training(self, x: Array, key: Any) -> tuple[Any, TransformerBlock]:
        """The block with dropout, and itself."""
        if self.dropout is None:
            return self(x), self
        first, second = split_among([self.dropout] * 2, key)
        more, _ = self.dropout.training(self.attention(self.attention_norm(x)), first)
        y = x + more
        more, _ = self.dropout.training(self.mlp(self.mlp_norm(y)), second)
        return y + more, self

    def start(self, shape: tuple[int, ...], capacity: int) -> KeyValueCache:
        """An empty cache.

        Parameters
        ----------
        shape : tuple of int
            The shape of the batch: (n,) for x of shape (n, t, width).
        capacity : int
            How many places there is room for.

        Returns
        -------
        KeyValueCache
            The cache.
        """
        return self.attention.start(shape, capacity)

    def extend(self, x: Array, cache: KeyValueCache) -> tuple[Any, KeyValueCache]:
        """The block for the next places of sequences.

        Parameters
        ----------
        x : ndarray of shape (..., t, width)
            The next t places.
        cache : KeyValueCache
            What `start` gave, or the last call of `extend`.

        Returns
        -------
        y : ndarray of shape (..., t, width)
            What the call gives for the whole sequences at these places.
        cache : KeyValueCache
            For the places behind these.
        """
        more, cache = self.attention.extend(self.attention_norm(x), cache)
        y = x + more
        return y + self.mlp(self.mlp_norm(y)), cache
