"""Discrete distributions and orders. What is drawn is piecewise constant, so the parameters have no derivative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.arguments import Array, Axis, Key, NumericDType, RealNumbers, Shape, checked
from ..core.errors import message
from ..core.values import describe, dtype_of, shape_of
from ..numpy.dispatch.arguments import as_value, axis_of, ndim_of
from ..ops.declare import CONSTANT, declare
from ..ops.words import words
from ..rules.stacking import leading, one_by_one, outer_aligned
from .draws import FLOAT64, open_uniform, shape_for, standard_between, standard_exponential, standard_gumbel
from .integers import drawn_integers
from .keys import checked_key

INT64 = np.dtype(np.int64)
ZERO, ONE = np.float64(0.0), np.float64(1.0)


@checked("key")
def integers(
    key: Key, low: RealNumbers, high: RealNumbers | None = None, shape: Shape | None = None, dtype: NumericDType = int
) -> Any:
    """Whole numbers from `low` to `high - 1`, all equally likely; with one number, from 0.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    low : array_like of int
        The smallest number; if `high` is left out, this is `high`, and the smallest is 0.
    high : array_like of int, optional
        One more than the largest number.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.
    dtype : dtype, default int
        The dtype of the result, any of NumPy's integers.

    Returns
    -------
    ndarray or int
        The numbers drawn, which are constants for derivatives.

    Raises
    ------
    TypeError
        If an end or the dtype is not one of integers.
    ValueError
        If there is no number between the ends, or they do not fit the dtype.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.integers(ad.random.key(0), 0, 10, 5)
    array([0, 4, 9, 9, 0])
    """
    low, high = (0, low) if high is None else (low, high)
    low, high = as_value(low), as_value(high)
    for end in (low, high):
        if dtype_of(end).kind not in "iu":
            raise TypeError(
                message("The ends have to be whole numbers.", got=describe(end), fix="Convert them with  .astype(int).")
            )
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        raise TypeError(
            message(
                "Whole numbers are drawn as one of NumPy's integers.",
                got=f"dtype {dtype.name}",
                fix="Use  ad.random.bernoulli  for truth values and  ad.random.uniform  for real numbers.",
            )
        )
    return drawn_integers(checked_key(key), low, high, shape=shape_for(shape, low, high), dtype=dtype)


@checked("key")
def bernoulli(key: Key, p: RealNumbers = 0.5, shape: Shape | None = None) -> Any:
    """True with probability `p`, else False.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    p : array_like, default 0.5
        Probabilities, from 0 to 1.
    shape : int or tuple of int, optional
        The shape of the result; by default that of the parameters, broadcast together.

    Returns
    -------
    ndarray of bool or bool
        The truth values drawn, which are constants for derivatives.

    Raises
    ------
    ValueError
        If a probability is not between 0 and 1.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.bernoulli(ad.random.key(0), 0.5, 5)
    array([ True,  True,  True,  True, False])
    """
    p = as_value(p)
    return _bernoulli(checked_key(key), p, shape=shape_for(shape, p))


@checked("key")
def categorical(key: Key, logits: RealNumbers, axis: Axis = -1, shape: Shape | None = None) -> Any:
    """The number of a category, drawn with probabilities softmax(logits) along `axis`: argmax(logits + gumbel).

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    logits : array_like
        Logarithms of the probabilities, up to a constant; -inf for what is impossible.
    axis : int, default -1
        The axis of the categories.
    shape : int or tuple of int, optional
        The shape of the result; by default that of `logits` without `axis`.

    Returns
    -------
    ndarray of int or int
        The numbers of the categories, which are constants for derivatives.

    Raises
    ------
    ValueError
        If there is no category, or none is possible.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.random.categorical(ad.random.key(0), np.log([0.1, 0.2, 0.7]), shape=8)
    array([2, 1, 0, 2, 1, 1, 2, 2])
    """
    logits = as_value(logits)
    rank = ndim_of(logits)
    if rank == 0 or shape_of(logits)[axis] == 0:
        raise ValueError(
            message(
                "There is no category to draw.",
                got=describe(logits),
                fix="Pass one logit for each category, in an array.",
            )
        )
    last = np.moveaxis(logits, axis_of(axis, rank), -1)
    return _categorical(checked_key(key), last, shape=shape_for(shape, np.empty(shape_of(last)[:-1])))


@checked("key", "x")
def permutation(key: Key, x: Any, axis: Axis = 0) -> Any:
    """The numbers below `x` in random order; or the array `x` with its entries along `axis` in random order.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    x : int or array_like
        How many numbers, or the array.
    axis : int, default 0
        The axis of the array along which its entries change places.

    Returns
    -------
    ndarray
        The numbers, or the array, which is differentiable in `x`.

    Raises
    ------
    TypeError
        If one number is given that is not whole, or negative.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.random.permutation(ad.random.key(0), 5)
    array([0, 3, 1, 2, 4])
    >>> ad.grad(lambda x: ad.random.permutation(ad.random.key(0), x)[1])(np.ones(5))
    array([0., 0., 0., 1., 0.])
    """
    x = as_value(x)
    if ndim_of(x) == 0:
        return _order(checked_key(key), n=_how_many(x))
    return np.take(x, _order(checked_key(key), n=shape_of(x)[axis_of(axis, ndim_of(x))]), axis)


@checked("key", "a")
def choice(
    key: Key, a: Any, shape: Shape = (), replace: bool = True, p: RealNumbers | None = None, axis: Axis = 0
) -> Any:
    """Entries of `a` along `axis`, or numbers below `a`.

    Parameters
    ----------
    key : array of two uint64
        A key, used for this draw alone.
    a : int or array_like
        An array, or a number that stands for `np.arange(a)`.
    shape : int or tuple of int, default ()
        How many are drawn, in which arrangement.
    replace : bool, default True
        Whether one entry may be drawn more than once.
    p : array_like, optional
        How likely each entry is, up to a factor; by default all are equally likely.
    axis : int, default 0
        The axis along which entries are drawn.

    Returns
    -------
    ndarray
        The entries, which are differentiable in `a`, or the numbers.

    Raises
    ------
    ValueError
        If there are too few entries to draw from, or `p` does not fit them.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.random.choice(ad.random.key(0), np.array([10.0, 20.0, 30.0]), 8, p=[0.5, 0.25, 0.25])
    array([10., 10., 10., 10., 30., 10., 30., 10.])
    >>> ad.random.choice(ad.random.key(0), 5, 3, replace=False)
    array([0, 3, 1])
    """
    a = as_value(a)
    n = _how_many(a) if ndim_of(a) == 0 else shape_of(a)[axis_of(axis, ndim_of(a))]
    size = shape_for(() if shape is None else shape)
    count = math.prod(size)
    if (n == 0 and count) or (not replace and count > n):
        raise ValueError(
            message(
                f"{count} entries cannot be drawn from {n}" + ("." if replace else " without repetition."),
                got=describe(a),
                fix="Ask for fewer, or write  replace=True." if n else "Pass something to choose from.",
            )
        )
    if p is not None:
        p = as_value(p)
        if shape_of(p) != (n,):
            raise ValueError(
                message(
                    f"Each of the {n} entries needs its probability.", got=describe(p), fix=f"Pass an array of {n}."
                )
            )
        places = _pick(checked_key(key), p, shape=size, replace=bool(replace))
    elif replace:
        places = drawn_integers(checked_key(key), 0, n, shape=size, dtype=INT64)
    else:
        places = np.reshape(_order(checked_key(key), n=n)[:count], size)
    return places if ndim_of(a) == 0 else np.take(a, places, axis)


def _how_many(n: Any) -> int:
    if isinstance(n, (bool, np.bool)) or dtype_of(n).kind not in "iu" or n < 0:
        raise TypeError(
            message(
                "A number that stands for all numbers below it has to be whole and not negative.",
                got=describe(n),
                fix="Pass such a number, or an array to draw from.",
            )
        )
    return int(n)


def _draw_bernoulli(key: Key, p: Array, *, shape: tuple[int, ...]) -> Any:
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        raise ValueError(
            message(
                "A probability has to be between 0 and 1.", got=_worst(p), fix="Clip it with  np.clip(p, 0.0, 1.0)."
            )
        )
    return standard_between.evaluate(key, shape=shape, dtype=FLOAT64) < p


def _bernoulli_in_steps(key: Key, p: Array, *, shape: tuple[int, ...]) -> Any:
    w = words(key, math.prod(shape)).reshape((*key.shape[:-1], *shape))
    return open_uniform(w) < p, np.all((p >= ZERO) & (p <= ONE))


def _worst(p: Array) -> str:
    p = np.asarray(p)
    return f"{p[~((p >= 0) & (p <= 1))].flat[0]}"


def _draw_categorical(key: Key, logits: Array, *, shape: tuple[int, ...]) -> Any:
    top = np.max(logits, axis=-1)
    if not np.all(top > -np.inf):  # not a number, or impossible all over
        raise ValueError(
            message(
                "No category is possible: the logits are all -inf, or one is nan.",
                got=describe(np.asarray(logits)),
                fix="Let at least one logit of each draw be finite.",
            )
        )
    gumbel = standard_gumbel.evaluate(key, shape=(*shape, logits.shape[-1]), dtype=FLOAT64)
    return np.argmax(logits + gumbel, axis=-1)


def _draw_pick(key: Key, p: Array, *, shape: tuple[int, ...], replace: bool) -> Any:
    p = np.asarray(p, float)
    total, possible = p.sum(), np.count_nonzero(p)
    if not (np.all(p >= 0) and 0 < total < np.inf):
        raise ValueError(
            message("Probabilities must not be negative, nor all zero.", got=f"{p!r}", fix="They need not sum to 1.")
        )
    if replace:
        sums = np.cumsum(p)
        u = standard_between.evaluate(key, shape=shape, dtype=FLOAT64)
        places = np.searchsorted(sums, u * sums[-1], side="right")
        return np.minimum(places, np.flatnonzero(p)[-1])  # a product may round up to the sum
    count = math.prod(shape)
    if possible < count:
        raise ValueError(
            message(
                f"{count} entries cannot be drawn without repetition from {possible} that are possible.",
                got=f"{p.size} probabilities, of which {p.size - possible} are zero",
                fix="Ask for fewer, or write  replace=True.",
            )
        )
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # a race: the entry of rate p arrives after an exponential time of mean 1 / p
        times = standard_exponential.evaluate(key, shape=p.shape, dtype=FLOAT64) / p
    return np.argsort(times, kind="stable")[:count].reshape(shape)[()]


def _by_key(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    """Keys alone may have a leading axis; parameters that differ between examples are taken one by one."""
    return (one_by_one if any(batched[1:]) else leading)(primitive, values, batched, params, size)


_bernoulli = declare(
    "random_bernoulli", _draw_bernoulli, CONSTANT, stacking=outer_aligned(1, None), fails_from=1,
    composition=_bernoulli_in_steps,
)  # fmt: skip
_categorical = declare("random_categorical", _draw_categorical, CONSTANT, stacking=_by_key, fails_from=1)
_pick = declare("random_choice", _draw_pick, CONSTANT, stacking=one_by_one, fails_from=1)
_order = declare("random_order", lambda keys, *, n: np.argsort(words(keys, n)), CONSTANT)
