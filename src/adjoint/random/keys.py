"""Keys: made from a seed, split into independent ones, folded with a number.

New keys are words of the old key's own stream, read in regions of the counter that no draw reads (see `ops/words.py`).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from ..core.arguments import Array, Index, Key, Seed, Size, checked
from ..core.errors import message
from ..core.traced import Traced
from ..core.values import cast, describe, dtype_of, shape_of, spread
from ..ops.declare import CONSTANT, declare
from ..ops.words import FOLD, INNER, LARGEST, SPLIT, words
from ..rules.stacking import one_by_one, outer_aligned

UINT64 = np.dtype(np.uint64)


@checked("seed")
def key(seed: Seed) -> Any:
    """A key from a seed.

    Parameters
    ----------
    seed : int
        Any whole number that is not negative. Equal seeds give equal keys, on every machine and in every release.

    Returns
    -------
    ndarray of two uint64
        The key, to be passed to one draw or to `split`.

    Raises
    ------
    TypeError
        If the seed is not a whole number.
    ValueError
        If it is negative.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.random.key(0)
    array([15793235383387715774, 12390638538380655177], dtype=uint64)
    """
    if isinstance(seed, Traced) and shape_of(seed) == () and dtype_of(seed).kind in "iu":
        return _seeded(seed)
    if isinstance(seed, (bool, np.bool)) or not hasattr(seed, "__index__") or isinstance(seed, Traced):
        raise TypeError(
            message(
                "A seed has to be a whole number.",
                got=describe(seed),
                fix="Write  ad.random.key(0);  for another key in every run,  ad.random.key(secrets.randbits(64)).",
            )
        )
    return _seed(operator.index(seed))


@checked("key")
def split(key: Key, n: Size = 2) -> Any:
    """New keys whose streams are independent of each other and of the old key's draws.

    Key i depends on `key` and i alone, not on `n`. Use a key once: for one draw, or for one `split`.

    Parameters
    ----------
    key : array of two uint64
        The key to be split.
    n : int, default 2
        How many keys.

    Returns
    -------
    ndarray of uint64
        An array of shape (n, 2), one key in each row: unpack it, index it, or pass it to `ad.vmap`.

    Examples
    --------
    >>> import adjoint as ad
    >>> weights, noise = ad.random.split(ad.random.key(0))
    >>> ad.vmap(lambda k: ad.random.normal(k, 3))(ad.random.split(noise, 5)).shape
    (5, 3)
    """
    return _derived(checked_key(key), n=count_of(n, "split"), region=SPLIT)


@checked("data", "key")
def fold_in(key: Key, data: Index) -> Any:
    """A new key from a key and a number, for example that of a step: independent of those of other numbers.

    Parameters
    ----------
    key : array of two uint64
        The key.
    data : int
        A whole number from 0 to 2**64 - 1; it may be traced.

    Returns
    -------
    ndarray of two uint64
        The new key.

    Raises
    ------
    TypeError
        If `data` is not one whole number.
    ValueError
        If it is negative or too large.

    Examples
    --------
    >>> import adjoint as ad
    >>> key = ad.random.key(0)
    >>> [round(float(ad.random.normal(ad.random.fold_in(key, step))), 3) for step in range(3)]
    [0.616, 0.626, 0.526]
    """
    if isinstance(data, bool) or shape_of(data) != () or dtype_of(data).kind not in "iu":
        raise TypeError(
            message(
                "A key is folded with one whole number.",
                got=describe(data),
                fix="Write  ad.random.fold_in(key, step);  for many numbers use  ad.vmap.",
            )
        )
    return _folded(checked_key(key), data)


def inner(key: Key, n: int) -> Any:
    """Keys for the parts of one draw; a user's `split` of the same key gives others."""
    return _derived(key, n=n, region=INNER)


def checked_key(key: Key) -> Any:
    """The key, or an error that says how to get one."""
    if isinstance(key, (Traced, np.ndarray)) and key.dtype == UINT64:
        shape = key.shape
        if shape == (2,):
            return key
        if len(shape) > 1 and shape[-1] == 2:
            raise ValueError(
                message(
                    "One draw takes one key.",
                    got=f"{describe(key)}, which is an array of keys",
                    fix="Pass one of them, as  keys[0],  or draw for all with  ad.vmap(lambda key: ...)(keys).",
                )
            )
    seed = key if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, Traced)) and key >= 0 else "seed"
    raise TypeError(
        message(
            "A random draw needs a key: two uint64 in an array.",
            got=describe(key),
            fix=f"Make one with  ad.random.key({seed}),  and more of them with  ad.random.split(key).",
        )
    )


def count_of(n: Any, what: str) -> int:
    """A number of things as a Python number."""
    try:
        count = operator.index(n)
    except TypeError:
        count = -1
    if count < 0:
        raise ValueError(
            message(
                f"ad.random.{what} needs to know how many: a whole number that is not negative.",
                got=describe(n),
                fix="Inside  ad.jit  such a number has to be static: see  static_argnums.",
            )
        )
    return count


def _seed(seed: Any) -> Any:
    if np.ndim(seed):
        raise TypeError(message("A seed has to be a whole number.", got=describe(seed), fix="Write  ad.random.key(0)."))
    seed = int(seed)
    if seed < 0:
        raise ValueError(
            message(
                "A seed must not be negative.",
                got=describe(seed),
                fix="Write  ad.random.key(abs(seed)),  or choose another seed.",
            )
        )
    return SeedSequence(seed).generate_state(2, np.uint64)


def _split(key: Key, *, n: int, region: int) -> Any:
    return words(key, 2 * n, region=region).reshape((*key.shape[:-1], n, 2))


def _fold(key: Key, data: Array) -> Any:
    numbers = data.reshape(-1).tolist() if np.ndim(data) else [int(data)]
    unfit = [n for n in numbers if not 0 <= n <= LARGEST]
    if unfit:
        raise ValueError(
            message(
                "A key is folded with a number from 0 to 2**64 - 1.",
                got=describe(unfit[0]),
                fix="Count from 0,  or fold in the sign and the size one after the other.",
            )
        )
    return words(key, 2, region=FOLD, first=data)


def _fold_in_words(key: Key, data: Array) -> Any:
    outer = np.broadcast_shapes(shape_of(key)[:-1], shape_of(data))
    first = spread(cast(data, UINT64), outer)
    found = words(spread(key, (*outer, 2)), 2, region=FOLD, first=first)
    return found if dtype_of(data).kind == "u" else (found, np.all(data >= np.int64(0)))


_seeded = declare("random_key", _seed, CONSTANT, stacking=one_by_one, fails_from=0)
_derived = declare("random_split", _split, CONSTANT, composition=_split)  # takes arrays of keys, as draws do
_folded = declare(
    "random_fold_in", _fold, CONSTANT, stacking=outer_aligned(1, 0), fails_from=1, composition=_fold_in_words
)
