"""Dense layers and embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, DTypeLike, Key
from .. import checks
from ..init import Initializer, as_key, initializer
from ..layer import described, layer, set_fields


@layer
class Dense:
    """x W + b, with W of shape (c, c') and b of shape (c',): c'(c + 1) parameters.

    Parameters
    ----------
    inputs : int
        The number of inputs c, the length of the last axis of x.
    outputs : int
        The number of outputs c'.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    bias : bool, default True
        Whether there is a bias; it starts at 0.
    init : str or callable, default "glorot_uniform"
        The first weights: a name in `nn.init`, or a function `(key, shape, dtype)`.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> layer = nn.Dense(64, 32, key=0)
    >>> layer, layer(np.zeros((5, 64))).shape
    (Dense(weight=float64[64,32], bias=float64[32]), (5, 32))
    """

    weight: np.ndarray
    bias: np.ndarray | None

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        key: Key,
        bias: bool = True,
        init: str | Initializer = "glorot_uniform",
        dtype: DTypeLike = np.float64,
    ) -> None:
        kind = checks.real("Dense", dtype)
        shape = (checks.count("Dense", "inputs", inputs), checks.count("Dense", "outputs", outputs))
        set_fields(
            self, weight=initializer(init)(as_key(key), shape, kind), bias=np.zeros(outputs, kind) if bias else None
        )

    def __call__(self, x: Array) -> Any:
        """Apply the layer to the last axis."""
        checks.last_axis("Dense", x, self.weight.shape[0])
        return x @ self.weight if self.bias is None else x @ self.weight + self.bias


@layer
class Embedding:
    """One vector for each of n things: row i of a table of shape (n, width), which is trained.

    Parameters
    ----------
    count : int
        The number n of things.
    width : int
        The length of the vectors.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first vectors, which are normal with variance 1 / width.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> words = nn.Embedding(1000, 16, key=0)
    >>> words(np.array([[3, 1, 4], [1, 5, 9]])).shape
    (2, 3, 16)
    """

    weight: np.ndarray

    def __init__(self, count: int, width: int, *, key: Key, dtype: DTypeLike = np.float64) -> None:
        shape = (checks.count("Embedding", "count", count), checks.count("Embedding", "width", width))
        kind = checks.real("Embedding", dtype)
        set_fields(self, weight=ad.random.normal(as_key(key), shape, 0.0, shape[1] ** -0.5, dtype=kind))

    def __call__(self, x: Array) -> Any:
        """The vectors of whole numbers x, with one axis more than x."""
        numbers = np.asarray(x) if isinstance(x, (int, list, tuple)) else x
        if not np.issubdtype(numbers.dtype, np.integer):
            raise checks.refuse(
                "Embedding takes whole numbers.", described(x), "Write  x.astype(int)  if that is what they are."
            )
        table = self.weight
        if type(numbers) is np.ndarray and numbers.size and not 0 <= numbers.min() <= numbers.max() < len(table):
            wrong, most = (numbers.min() if numbers.min() < 0 else numbers.max()), max(numbers.max() + 1, len(table))
            raise checks.refuse(
                f"Embedding takes numbers from 0 to {len(table) - 1}, as it has {len(table)} vectors.",
                f"{wrong}",
                "Give what is missing or unknown a number of its own."
                if wrong < 0
                else f"Write  nn.Embedding({most}, ...),  or number things from 0.",
            )
        if type(numbers) is not np.ndarray and numbers.dtype.kind == "i":
            numbers = np.where(numbers < 0, len(table), numbers)  # out of bounds for machine code, too
        if type(table) is np.ndarray and type(numbers) is not np.ndarray:
            table = ad.numpy.array(table)  # a plain array does not take a number of each example of a batch
        return table[numbers]
