"""Decisions of least expected cost.

`costs[i, j]` is what it costs to decide i when j is true: rows are decisions, columns are classes. With probabilities
p the decision is arg min_i sum_j costs[i, j] p_j. There may be more decisions than classes ("ask somebody").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..labels import Array, probabilities


def expected_cost(p: Any, costs: Any) -> Array:
    """What each decision is expected to cost: sum_j costs[i, j] p_j for each example and decision i.

    Parameters
    ----------
    p : array of shape (n, classes) or (n,)
        Probabilities; a vector is the probability of the second of two classes.
    costs : array of shape (decisions, classes), or (n, decisions, classes)
        `costs[i, j]`: deciding i when j is true; one matrix for all examples, or one for each.

    Returns
    -------
    array of shape (n, decisions)

    Examples
    --------
    >>> expected_cost([[0.9, 0.1]], [[0, 10], [1, 0]])
    array([[1. , 0.9]])
    """
    given = probabilities(p)
    matrix = checked_costs(costs, given.shape[1])
    if matrix.ndim == 3 and len(matrix) != len(given):
        raise ValueError(f"costs has matrices for {len(matrix)} examples, but p has {len(given)}.")
    return (matrix @ given[:, :, None])[:, :, 0]


def decide(p: Any, costs: Any) -> Array:
    """The decision of least expected cost for each example: arg min_i sum_j costs[i, j] p_j.

    Parameters
    ----------
    p : array of shape (n, classes) or (n,)
        Probabilities; a vector is the probability of the second of two classes.
    costs : array of shape (decisions, classes), or (n, decisions, classes)
        `costs[i, j]`: deciding i when j is true.

    Returns
    -------
    array of shape (n,)
        The number of the row of `costs`; of equal ones the first.

    Examples
    --------
    Missing a 1 costs ten times a false alarm, so 1 is decided from p = 1/11 on:

    >>> decide([0.0, 0.09, 0.1, 1.0], costs=[[0, 10], [1, 0]])
    array([0, 0, 1, 1])
    """
    return np.argmin(expected_cost(p, costs), axis=1)


def checked_costs(costs: Any, classes: int) -> Array:
    """A matrix of finite costs, or one for each example, with a column for each class."""
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.ndim not in (2, 3) or matrix.shape[-1] != classes or matrix.shape[-2] == 0:
        raise ValueError(
            f"costs has to have the shape (decisions, {classes}), a row for each decision and a column for each class, "
            f"got {matrix.shape}."
        )
    if not np.all(np.isfinite(matrix)):
        raise ValueError("costs has to be finite numbers.")
    return matrix
