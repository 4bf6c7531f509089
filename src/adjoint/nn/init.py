"""First weights that keep the variance of what passes through a layer: `nn.init.glorot_uniform` and its like.

Each is a function `(key, shape, dtype)`. The last two axes of a shape are the inputs c and the outputs c'; those in
front are a convolution's kernel of k places. Then fan-in = k c numbers go into each output, and each input into fan-
out = k c' of them. The law: from inputs of mean square 1, `lecun` makes sums of variance 1, `he` such that ReLU
leaves a mean square of 1, and `glorot` is between the forward and the backward direction.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import adjoint as ad

from ..typing import DTypeLike, Key

__all__ = [
    "fans", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform", "orthogonal",
    "zeros",
]  # fmt: skip

ELSEWHERE = {
    f"{theirs}_{kind}{end}": f"nn.init.{ours}_{kind}"
    for theirs, ours in (("xavier", "glorot"), ("kaiming", "he"))
    for kind in ("uniform", "normal")
    for end in ("", "_")
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.nn.init", __all__, ELSEWHERE)

Initializer = Callable[[Any, Sequence[int], Any], Any]


def __dir__() -> list[str]:
    return __all__


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many numbers go into each output, and into how many outputs each input goes.

    Parameters
    ----------
    shape : sequence of int
        The shape of the weights, (..., c, c').

    Returns
    -------
    fan_in : int
        The product of all lengths but the last.
    fan_out : int
        The product of all lengths but the last but one.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.fans((64, 32)), nn.init.fans((3, 3, 8, 16))
    ((64, 32), (72, 144))
    """
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    kernel = math.prod(shape[:-2])
    return kernel * shape[-2], kernel * shape[-1]


def glorot_uniform(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Uniform weights of mean 0 and variance 2 / (fan-in + fan-out).

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.glorot_uniform(0, (64, 32)).shape
    (64, 32)
    """
    return _uniform(key, shape, 2.0 / sum(fans(shape)), dtype)


def glorot_normal(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Normal weights of mean 0 and variance 2 / (fan-in + fan-out).

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.glorot_normal(0, (64, 32)).shape
    (64, 32)
    """
    return _normal(key, shape, 2.0 / sum(fans(shape)), dtype)


def he_uniform(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Uniform weights of mean 0 and variance 2 / fan-in, for ReLU and its like.

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.he_uniform(0, (64, 32)).shape
    (64, 32)
    """
    return _uniform(key, shape, 2.0 / fans(shape)[0], dtype)


def he_normal(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Normal weights of mean 0 and variance 2 / fan-in, for ReLU and its like.

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.he_normal(0, (64, 32)).shape
    (64, 32)
    """
    return _normal(key, shape, 2.0 / fans(shape)[0], dtype)


def lecun_uniform(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Uniform weights of mean 0 and variance 1 / fan-in.

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.lecun_uniform(0, (64, 32)).shape
    (64, 32)
    """
    return _uniform(key, shape, 1.0 / fans(shape)[0], dtype)


def lecun_normal(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Normal weights of mean 0 and variance 1 / fan-in.

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.lecun_normal(0, (64, 32)).shape
    (64, 32)
    """
    return _normal(key, shape, 1.0 / fans(shape)[0], dtype)


def orthogonal(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Weights whose columns, or rows if there are fewer, are orthonormal when all axes but the last count as one.

    Parameters
    ----------
    key : int or array of two uint64
        A seed or a key of `ad.random`.
    shape : sequence of int
        The shape of the weights, (..., c, c').
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> W = nn.init.orthogonal(0, (5, 3))
    >>> np.allclose(W.T @ W, np.eye(3))
    True
    """
    rows, columns = math.prod(shape[:-1]), shape[-1]
    tall = ad.random.normal(as_key(key), (max(rows, columns), min(rows, columns)))
    basis, upper = np.linalg.qr(tall)
    basis = basis * np.where(np.diag(upper) < 0.0, -1.0, 1.0)  # so that every orientation is equally likely
    return (basis if rows >= columns else basis.T).reshape(shape).astype(dtype)


def zeros(key: Key, shape: Sequence[int], dtype: DTypeLike = np.float64) -> Any:
    """Zeros, for biases and for layers that start as nothing.

    Parameters
    ----------
    key : int or array of two uint64
        Not used.
    shape : sequence of int
        The shape of the weights.
    dtype : dtype, default float64
        float64 or float32.

    Returns
    -------
    ndarray
        The zeros.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.init.zeros(0, (2,))
    array([0., 0.])
    """
    return np.zeros(shape, dtype)


def _uniform(key: Key, shape: Sequence[int], variance: float, dtype: DTypeLike) -> Any:
    half = math.sqrt(3.0 * variance)
    return ad.random.uniform(as_key(key), tuple(shape), -half, half, dtype=np.dtype(dtype))


def _normal(key: Key, shape: Sequence[int], variance: float, dtype: DTypeLike) -> Any:
    return ad.random.normal(as_key(key), tuple(shape), 0.0, math.sqrt(variance), dtype=np.dtype(dtype))


def as_key(key: Key) -> Any:
    """A key of `ad.random` from a seed or a key."""
    if not isinstance(key, np.ndarray) or not key.ndim:
        return ad.random.key(key)
    if key.shape != (2,) or key.dtype != np.uint64:
        raise ad.errors.InputError(
            ad.errors.message(
                "A key is two uint64 in an array, or a seed.",
                got=f"{key.dtype}[{','.join(map(str, key.shape))}]",
                fix="Write  key=0,  or make one with  ad.random.key(0).",
            )
        )
    return key


def initializer(init: str | Initializer) -> Initializer:
    """The function of that name, or the function that is given."""
    if callable(init):
        return init
    names = [name for name in __all__ if name != "fans"]
    if init not in names:
        meant = str(init).replace("xavier", "glorot").replace("kaiming", "he")
        close = difflib.get_close_matches(meant, names, n=2, cutoff=0.4)
        raise ad.errors.InputError(
            ad.errors.message(
                "There is no initialisation of this name.",
                got=f"init={init!r}",
                fix=(f"Did you mean  {', '.join(map(repr, close))}?\n" if close else "")
                + f"The names are {', '.join(names)}; a function  (key, shape, dtype)  works too.",
            )
        )
    found: Initializer = globals()[init]
    return found
