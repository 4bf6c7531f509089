"""Attention."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ...arguments import Numbers, checked
from ...typing import Array, DTypeLike, Key
from .. import checks
from ..activations import softmax
from ..init import as_key
from ..layer import described, layer, set_fields, static
from .dense import Dense

FAR = -1e30
"""What stands for minus infinity in the logits: its exponential is 0, and differences of it are not nan."""


@checked()
def attention(
    query: Numbers,
    key: Numbers,
    value: Numbers,
    *,
    mask: Array | None = None,
    causal: bool = False,
) -> Any:
    """Scaled dot-product attention: softmax(Q K^T / sqrt(d)) V.

    Parameters
    ----------
    query : ndarray of shape (..., t, d)
        What each place asks for.
    key : ndarray of shape (..., s, d)
        What each place offers.
    value : ndarray of shape (..., s, e)
        What each place gives.
    mask : ndarray of bool, optional
        True where a query may look at a key; it is broadcast to (..., t, s). A query that may look nowhere gets zeros.
    causal : bool, default False
        Whether query i may look at keys 0 to i only.

    Returns
    -------
    ndarray of shape (..., t, e)
        For each query, the mean of the values, weighted by how well the keys fit.

    Raises
    ------
    InputError
        If the shapes do not fit together, or the mask is not boolean.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> nn.attention(x, x, x, causal=True).round(2)
    array([[1.  , 0.  ],
           [0.33, 0.67],
           [0.75, 0.75]])
    """
    t, s, d = _lengths(query, key, value)
    logits = (query * d**-0.5) @ np.swapaxes(key, -1, -2)
    allowed = np.tri(t, s, dtype=bool) if causal else None
    if mask is not None:
        if getattr(mask, "dtype", None) != np.dtype(bool):
            raise checks.refuse(
                "The mask has to be boolean, True where a query may look at a key.", described(mask), "Write  mask > 0."
            )
        allowed = mask if allowed is None else np.logical_and(mask, allowed)
    if allowed is None:
        return softmax(logits) @ value
    weights = softmax(np.where(allowed, logits, FAR))
    return (weights if mask is None else np.where(allowed, weights, 0.0)) @ value


def _lengths(query: Array, key: Array, value: Array) -> tuple[int, int, int]:
    shapes = np.shape(query), np.shape(key), np.shape(value)
    if min(map(len, shapes)) < 2 or shapes[0][-1] != shapes[1][-1] or shapes[1][-2] != shapes[2][-2]:
        raise checks.refuse(
            "attention takes queries (..., t, d), keys (..., s, d) and values (..., s, e).",
            " and ".join([described(x) for x in (query, key, value)]),
        )
    return shapes[0][-2], shapes[1][-2], shapes[0][-1]


@layer
class MultiHeadAttention:
    """Attention with h heads: each looks at its own part of width / h of queries, keys and values.

    x of shape (..., t, width) attends to itself, or to a context (..., s, width). Queries, keys and values are
    dense layers of x and of the context, and so is the result of all heads together: 4 width (width + 1) parameters.

    Parameters
    ----------
    width : int
        The length of the last axis.
    heads : int
        The number of heads, which divides the width.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    causal : bool, default False
        Whether place i may look at places 0 to i only.
    bias : bool, default True
        Whether the dense layers have biases.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.MultiHeadAttention(16, 4, key=0, causal=True)(np.zeros((8, 20, 16))).shape
    (8, 20, 16)
    """

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    heads: int = static()
    causal: bool = static()

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        key: Key,
        causal: bool = False,
        bias: bool = True,
        dtype: DTypeLike = np.float64,
    ) -> None:
        n, h = checks.count("MultiHeadAttention", "width", width), checks.count("MultiHeadAttention", "heads", heads)
        if n % h:
            raise checks.refuse("MultiHeadAttention: heads has to divide width.", f"width={n}, heads={h}")
        keys = ad.random.split(as_key(key), 4)
        q, k, v, o = [Dense(n, n, key=own, bias=bias, dtype=dtype) for own in keys]
        set_fields(self, query=q, key=k, value=v, output=o, heads=h, causal=causal)

    def __call__(self, x: Array, context: Array | None = None, *, mask: Array | None = None) -> Any:
        """Attend to the context, or to x itself; the mask is broadcast to (..., heads, t, s)."""
        other = x if context is None else context
        parts = [self._split(p) for p in (self.query(x), self.key(other), self.value(other))]
        found = np.swapaxes(attention(*parts, mask=mask, causal=self.causal), -2, -3)
        return self.output(found.reshape(np.shape(x)))

    def _split(self, x: Array) -> Any:
        """(..., t, width) as (..., heads, t, width / heads)."""
        shape = np.shape(x)
        return np.swapaxes(x.reshape(*shape[:-1], self.heads, shape[-1] // self.heads), -2, -3)
