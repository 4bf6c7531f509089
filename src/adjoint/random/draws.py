"""Draws without parameters: element i is made of word i of the key's stream, whatever the shape and dtype.

The formulas are the library's own, not those of `numpy.random.Generator`, which may change from release to release.
Single precision is double precision rounded, so it has the same tails; a uniform number is cut off, to stay below 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import Array, DTypeLike, Key, Shape, checked
from ..core.errors import message
from ..core.primitive import Primitive
from ..core.values import cast, describe, dtype_of, shape_of
from ..ops.declare import CONSTANT, declare
from ..ops.words import stream, words
from .keys import checked_key, count_of

BLOCK = 8192
"""How many elements are made at a time, so that what is between word and number stays in the cache. Even."""

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)


@checked("key")
def bits(key: Key, shape: Shape = ()) -> Any:
    """Random words of 64 bits: the stream itself.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    shape : int or tuple of int, default ()
        The shape of the result.

    Returns
    -------
    ndarray of uint64
        The words.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.bits(ad.random.key(0), 2)
    array([ 259491006799949737, 4754966410622352325], dtype=uint64)
    """
    return _bits(checked_key(key), shape=shape_for(shape))


def open_uniform(w: Array) -> Any:
    """Numbers between 0 and 1 that are neither, symmetric about 1/2: the middles of 2**52 equal intervals."""
    return ((w >> 12) + 0.5) * 2.0**-52


def paired_normal(w: Array) -> Any:
    """Box and Muller: two words, the length and the angle, give two normal numbers. The number of words is even."""
    length = np.sqrt(-2.0 * np.log(open_uniform(w[..., 0::2])))
    angle = (2.0 * math.pi) * open_uniform(w[..., 1::2])
    return np.stack([length * np.cos(angle), length * np.sin(angle)], axis=-1).reshape(w.shape)


def _laplace(w: Array) -> Any:
    u = open_uniform(w)
    return np.where(u < 0.5, np.log(2.0 * u), -np.log(2.0 * (1.0 - u)))


def _logistic(w: Array) -> Any:
    u = open_uniform(w)
    return np.log(u) - np.log1p(-u)


def _filled(keys: Key, shape: tuple[int, ...], dtype: DTypeLike, formula: Callable[[Any], Any]) -> Any:
    """An array of numbers for a key, or for each of an array of keys in leading axes."""
    count = math.prod(shape)
    if keys.ndim > 1:
        w = words(keys, count + count % 2)
        numbers = formula(w.reshape(-1)).astype(dtype, copy=False).reshape(w.shape)
        return numbers[..., :count].reshape(*w.shape[:-1], *shape)
    out = np.empty(shape, dtype)
    flat, philox = out.reshape(-1), stream(keys)
    for start in range(0, count, BLOCK):
        block = flat[start : start + BLOCK]
        block[...] = formula(philox.random_raw(block.size + block.size % 2))[: block.size]
    return out[()]


def _in_steps(keys: Key, shape: tuple[int, ...], dtype: DTypeLike, formula: Callable[[Any], Any]) -> Any:
    """The same in steps that have machine code: a formula is read off element by element, but for that of pairs."""
    count = math.prod(shape)
    full = (*keys.shape[:-1], *shape)
    if formula is paired_normal:
        return cast(paired_normal(words(keys, count + count % 2))[..., :count].reshape(full), dtype)
    return cast(formula(words(keys, count).reshape(full)), dtype)


def _standard(name: str, formula: Callable[[Any], Any]) -> Primitive:
    """Enter the draw of a distribution without parameters."""

    def evaluate(key: Key, *, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        return _filled(key, shape, dtype, formula)

    def composition(key: Key, *, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        return _in_steps(key, shape, dtype, formula)

    return declare(f"random_{name}", evaluate, CONSTANT, composition=composition)


def _uniform(key: Key, *, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    return _filled(key, shape, dtype, UNIFORM[dtype])


def _uniform_in_steps(key: Key, *, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    return _in_steps(key, shape, dtype, UNIFORM[dtype])


UNIFORM: dict[np.dtype, Callable[[Any], Any]] = {
    FLOAT64: lambda w: (w >> 11) * 2.0**-53,
    FLOAT32: lambda w: (w >> 40).astype(np.int32).astype(FLOAT32) * np.float32(2.0**-24),
}


def _raw(keys: Key, *, shape: tuple[int, ...]) -> Any:
    return words(keys, math.prod(shape)).reshape((*keys.shape[:-1], *shape))[()]


_bits = declare("random_bits", _raw, CONSTANT, composition=_raw)
standard_uniform = declare("random_uniform", _uniform, CONSTANT, composition=_uniform_in_steps)
standard_between = _standard("open_uniform", open_uniform)
standard_normal = _standard("normal", paired_normal)
standard_exponential = _standard("exponential", lambda w: -np.log1p(-((w >> 11) * 2.0**-53)))
standard_gumbel = _standard("gumbel", lambda w: -np.log(-np.log(open_uniform(w))))
standard_laplace = _standard("laplace", _laplace)
standard_logistic = _standard("logistic", _logistic)
standard_cauchy = _standard("cauchy", lambda w: np.tan(math.pi * (open_uniform(w) - 0.5)))


def shape_for(shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape asked for, into which the parameters have to fit; None for that of the parameters."""
    for p in parameters:
        if dtype_of(p).kind not in "fciub":
            raise TypeError(
                message(
                    "The parameters of a random draw have to be numbers or arrays of them.",
                    got=describe(p),
                    fix="Write  ad.random.normal(key, shape, loc, scale),  for example.",
                )
            )
    shapes = [shape_of(p) for p in parameters]
    needed = np.broadcast_shapes(*shapes) if any(shapes) else ()
    if shape is None:
        return needed
    asked = shape if isinstance(shape, (tuple, list)) else (shape,)
    full = tuple([count_of(n, "draws of a shape") for n in asked])
    try:
        fits = needed == () or np.broadcast_shapes(full, needed) == full
    except ValueError:
        fits = False
    if not fits:  # one draw would stand for many elements, or the result would have another shape than asked
        raise ValueError(
            message(
                "The parameters do not fit into the shape of the draw.",
                got=f"shape {full} for parameters of shape {needed}",
                fix=f"Leave  shape  out to draw one number for each parameter, {needed}, "
                "or give a shape that ends with it.",
            )
        )
    return full


def real_dtype(dtype: DTypeLike) -> np.dtype:
    """`dtype` of a draw of real numbers."""
    found = np.dtype(dtype)
    if found not in (FLOAT64, FLOAT32):
        raise TypeError(
            message(
                "Random real numbers are drawn as float64 or float32.",
                got=f"dtype {found.name}",
                fix="Draw float32 and convert with  .astype(dtype);  for whole numbers use  ad.random.integers.",
            )
        )
    return found
