"""`split`: some examples to train on, the others to test with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Seed, checked
from .checks import check_lengths
from .frames import as_arrays
from .rows import rows_of


@checked(
    "X",
    "y",
    "stratify",
    "test_size",
    test="test_size=",
    random_state="seed=",
    key="seed=",
    train_size="test_size=, the share of the other part",
)
def split(X: Any, y: Any = None, *, test_size: float = 0.2, seed: Seed = 0, stratify: Any = None) -> Any:
    """Random parts of the data, to train on and to test with.

    Parameters
    ----------
    X : array, containers of arrays, or frame
        The inputs, one row for each example.
    y : array, containers of arrays, or frame, optional
        The targets.
    test_size : float or int, default 0.2
        The share of the test set, between 0 and 1, rounded up; or the number of its examples.
    seed : int, default 0
        Equal seeds give equal parts.
    stratify : array of shape (n,), optional
        Labels, whose shares are the same in both parts, as nearly as possible.

    Returns
    -------
    tuple
        X to train on, X to test with, and if `y` was given, y to train on and y to test with, in scikit-learn's order.

    Raises
    ------
    ValueError
        If lengths differ, or a part would be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import data
    >>> X, y = np.arange(10.0)[:, None], np.arange(10)
    >>> X_train, X_test, y_train, y_test = data.split(X, y, test_size=0.3, seed=1)
    >>> len(X_train), len(X_test), y_test
    (7, 3, array([8, 4, 7]))
    >>> data.split(y, test_size=2, stratify=y % 2)[1] % 2
    array([1, 0])
    """
    X, y = as_arrays(X, "X"), as_arrays(y, "y")
    n = check_lengths(X, y)
    held = _number(test_size, n)
    draw = np.random.default_rng(seed)
    places = draw.permutation(n)
    if stratify is not None:
        places = _stratified(np.asarray(as_arrays(stratify, "stratify")), n, held, draw)
    first, second = places[held:], places[:held]
    parts = (rows_of(X, first), rows_of(X, second))
    return parts if y is None else (*parts, rows_of(y, first), rows_of(y, second))


def _number(test_size: Any, n: int) -> int:
    """How many examples the test set has."""
    held = math.ceil(test_size * n) if isinstance(test_size, float) and 0 < test_size < 1 else test_size
    if isinstance(held, (int, np.integer)) and not isinstance(held, bool) and 0 < held < n:
        return int(held)
    raise ValueError(
        ad.errors.message(
            "split needs at least one example in each part.",
            got=f"test_size={test_size!r} of {n} examples",
            fix="Write a share between 0 and 1, as  test_size=0.2,  or a number of examples.",
        )
    )


def _stratified(labels: np.ndarray, n: int, held: int, draw: np.random.Generator) -> np.ndarray:
    """An order whose first `held` examples have each label as often as its share asks for."""
    if labels.shape != (n,):
        raise ValueError(
            ad.errors.message(
                "stratify needs one label for each example.",
                got=f"stratify of shape {labels.shape} for {n} examples",
                fix=f"Wanted shape ({n},).",
            )
        )
    _, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
    exact = counts * (held / n)
    wanted = np.floor(exact).astype(int)
    rest = np.lexsort((draw.random(len(counts)), -(exact - wanted)))  # the largest remainders first, equal ones by lot
    wanted[rest[: held - wanted.sum()]] += 1
    order = draw.permutation(n)
    places = [order[numbers[order] == k] for k in range(len(counts))]
    tested = np.concatenate([own[:m] for own, m in zip(places, wanted, strict=True)])
    trained = np.concatenate([own[m:] for own, m in zip(places, wanted, strict=True)])
    return np.concatenate([draw.permutation(tested), draw.permutation(trained)])
