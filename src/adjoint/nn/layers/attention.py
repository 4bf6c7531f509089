"""Attention."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ...arguments import Numbers, Positive, RealNumbers, checked
from ...typing import Array, DTypeLike, Key
from .. import checks
from ..activations import softmax
from ..init import as_key
from ..layer import described, layer, set_fields, static, statistic
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
    rotary : bool, default False
        Whether queries and keys are turned by their places, as `nn.rotary` does; width / heads is even then.
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
    rotary: bool = static(False)

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        key: Key,
        causal: bool = False,
        rotary: bool = False,
        bias: bool = True,
        dtype: DTypeLike = np.float64,
    ) -> None:
        n, h = checks.count("MultiHeadAttention", "width", width), checks.count("MultiHeadAttention", "heads", heads)
        if n % h:
            raise checks.refuse("MultiHeadAttention: heads has to divide width.", f"width={n}, heads={h}")
        if rotary and n // h % 2:
            raise checks.refuse(
                "MultiHeadAttention: width / heads has to be even for rotary positions.", f"width={n}, heads={h}"
            )
        keys = ad.random.split(as_key(key), 4)
        q, k, v, o = [Dense(n, n, key=own, bias=bias, dtype=dtype) for own in keys]
        set_fields(self, query=q, key=k, value=v, output=o, heads=h, causal=causal, rotary=rotary)

    def __call__(self, x: Array, context: Array | None = None, *, mask: Array | None = None) -> Any:
        """Attend to the context, or to x itself; the mask is broadcast to (..., heads, t, s)."""
        other = x if context is None else context
        q, k, v = [self._split(p) for p in (self.query(x), self.key(other), self.value(other))]
        if self.rotary:
            q, k = rotary(q), rotary(k)
        return self._joined(attention(q, k, v, mask=mask, causal=self.causal))

    def start(self, shape: tuple[int, ...], capacity: int) -> KeyValueCache:
        """An empty cache, for a batch of this shape and sequences of at most `capacity` places."""
        n = checks.count("MultiHeadAttention", "capacity", capacity)
        width, kind = self.key.weight.shape[1], self.key.weight.dtype
        empty = np.zeros((*shape, self.heads, n, width // self.heads), kind)
        return KeyValueCache(empty, empty.copy(), np.int64(0))

    def extend(self, x: Any, cache: KeyValueCache) -> tuple[Any, KeyValueCache]:
        """Attend from the next places x, of shape (..., t, width), to all so far; and the cache with these."""
        if not self.causal:
            raise checks.refuse(
                "A cache is for causal attention: a place that is done sees nothing of what follows.",
                "causal=False",
                "Write  causal=True.",
            )
        q, k, v = [self._split(p) for p in (self.query(x), self.key(x), self.value(x))]
        capacity, t = cache.key.shape[-2], q.shape[-2]
        places = cache.length + np.arange(t)
        _check_room(cache.length, t, capacity)
        if self.rotary:
            q, k = rotary(q, places), rotary(k, places)
        new = KeyValueCache(_written(cache.key, places, k), _written(cache.value, places, v), cache.length + t)
        seen = np.arange(capacity) <= places[:, None]
        return self._joined(attention(q, new.key, new.value, mask=seen)), new

    def _joined(self, heads: Any) -> Any:
        """What all heads found, (..., heads, t, width / heads), through the last dense layer."""
        beside = np.swapaxes(heads, -2, -3)
        return self.output(beside.reshape(*np.shape(beside)[:-2], self.output.weight.shape[0]))

    def _split(self, x: Array) -> Any:
        """(..., t, width) as (..., heads, t, width / heads)."""
        shape = np.shape(x)
        return np.swapaxes(x.reshape(*shape[:-1], self.heads, shape[-1] // self.heads), -2, -3)


@layer
class KeyValueCache:
    """Keys and values of the places so far, in arrays with room for more: what `extend` of attention goes on from.

    It is a tree of arrays whose shapes do not change, so that each step of a generation runs the same machine code, and
    `ad.scan` can carry it. `MultiHeadAttention.start` makes one.

    Parameters
    ----------
    key : ndarray of shape (..., heads, capacity, d)
        The keys.
    value : ndarray of shape (..., heads, capacity, d)
        The values.
    length : int
        How many places there are so far.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> attention = nn.MultiHeadAttention(16, 4, causal=True, key=0)
    >>> y, cache = attention.extend(np.ones((1, 3, 16)), attention.start((1,), 8))
    >>> cache.key.shape, int(cache.length)
    ((1, 4, 8, 4), 3)
    """

    key: np.ndarray = statistic()
    value: np.ndarray = statistic()
    length: Any = statistic()


def _check_room(length: Any, t: int, capacity: int) -> None:
    """Refuse more places than there is room for, where that is known; machine code refuses the index."""
    so_far = int(length) if type(length) in (int, np.int64, np.ndarray) else 0  # a traced one has no value yet
    if so_far + t > capacity:
        raise checks.refuse(
            f"The cache has room for {capacity} places.",
            f"{t} more behind {so_far}",
            "Write  start(shape, capacity)  with a larger capacity.",
        )


def _written(cache: Any, places: Any, new: Any) -> Any:
    """The cache with new numbers at these places."""
    changed = cache.copy()
    changed[..., places, :] = new
    return changed


@checked()
def rotary(x: Array, positions: RealNumbers | None = None, *, base: Positive = 10_000.0) -> Any:
    r"""Turn the pairs (x[k], x[k + d/2]) of each place p by the angles p base^(-2 k / d).

    The product of a query and a key that were turned depends on how far apart they are, not on where:

    .. math:: \langle R_p q, R_s k \rangle = \langle R_{p - s} q, k \rangle

    Parameters
    ----------
    x : ndarray of shape (..., t, d)
        Queries or keys, with d even.
    positions : ndarray of integers of shape (t,), optional
        The places p: 0 to t - 1 by default.
    base : float, default 10000.0
        How slowly the slowest pair turns.

    Returns
    -------
    ndarray of shape (..., t, d)
        The same, turned.

    References
    ----------
    J. Su and others, RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021. The two numbers of a pair are
    d/2 apart, as in GPT-NeoX and Llama.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.rotary(np.array([[1.0, 0.0], [1.0, 0.0]])).round(3)  # by the angles 0 and 1
    array([[1.   , 0.   ],
           [0.54 , 0.841]])
    """
    shape = np.shape(x)
    if len(shape) < 2 or shape[-1] % 2:
        raise checks.refuse("rotary takes arrays of shape (..., t, d) with d even.", described(x))
    half = shape[-1] // 2
    places: Any = np.arange(shape[-2]) if positions is None else positions
    places = places if isinstance(places, np.ndarray) else np.asarray(places)
    if places.shape != (shape[-2],):
        raise checks.refuse(
            f"rotary needs a position for each of {shape[-2]} places.", f"positions of shape {places.shape}"
        )
    angles = places[:, None] * base ** (-np.arange(half) / half)  # in double precision: far places turn as near ones
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
