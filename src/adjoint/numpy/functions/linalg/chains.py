"""Linear algebra: products of several matrices, and powers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.values import shape_of
from ....ops.linalg.solving import identity
from ...dispatch.arguments import as_value, ndim_of
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """`np.linalg.multi_dot`: the product in the order that costs least."""
    parts = [as_value(a) for a in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(parts) == 2:
        return np.dot(parts[0], parts[1], out)
    if any(ndim_of(p) != 2 for p in parts[1:-1]):
        raise np.linalg.LinAlgError("Array must be two-dimensional")
    first, last = ndim_of(parts[0]) == 1, ndim_of(parts[-1]) == 1
    parts[0] = parts[0][None, :] if first else parts[0]
    parts[-1] = parts[-1][:, None] if last else parts[-1]
    sizes = [shape_of(p)[0] for p in parts] + [shape_of(parts[-1])[1]]
    found = _product(parts, _splits(sizes), 0, len(parts) - 1)
    found = found[0] if first else found
    return deliver(found[..., 0] if last else found, out)


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut each chain of factors, by dynamic programming over their lengths."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    cut = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], cut[i, j] = min(options)
    return cut


def _product(parts: list[Any], cut: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return parts[i]
    k = cut[i, j]
    return _product(parts, cut, i, k) @ _product(parts, cut, k + 1, j)


@implements(np.linalg.matrix_power, whole=True)
def matrix_power(a: Any, n: int) -> Any:
    """`np.linalg.matrix_power`, by squaring."""
    a = as_value(a)
    n = operator.index(n)
    if ndim_of(a) < 2 or shape_of(a)[-1] != shape_of(a)[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n == 0:
        return np.broadcast_to(identity(a), shape_of(a)).copy()
    if n < 0:
        a, n = np.linalg.inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else result @ a
        n >>= 1
        a = a @ a if n else a
    return result
