"""The order of the examples in an epoch, a function of the seed and the number of the epoch alone."""

from __future__ import annotations

import numpy as np

from ..arguments import Seed, Size, checked


@checked()
def order(n: Size, seed: Seed = 0, epoch: Size = 0) -> np.ndarray:
    """The order in which an epoch passes the examples.

    It depends on nothing but its arguments, so a run that was broken off continues with the same batches.

    Parameters
    ----------
    n : int
        How many examples there are.
    seed : int, default 0
        Equal seeds give equal orders.
    epoch : int, default 0
        The number of the epoch, from 0.

    Returns
    -------
    ndarray of int64
        A permutation of 0..n-1.

    Examples
    --------
    >>> from adjoint import data
    >>> data.order(5), data.order(5, epoch=1)
    (array([2, 4, 3, 0, 1]), array([1, 4, 3, 0, 2]))
    """
    return np.random.default_rng([seed, epoch]).permutation(n)
