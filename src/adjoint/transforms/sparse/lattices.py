"""Colours of stencils: a number that grows by a fixed step along each axis of the inputs, modulo the number of colours.

For patterns that look the same everywhere this finds the fewest colours there can be, as five for the five points of a
Laplacian on a grid, where a greedy colouring has seven.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .sets import Sets, Shape

SAMPLE = 64
"""Rows that are looked at first; most steps fail there."""
MOST_STEPS = 400
"""Combinations of steps that are tried for one number of colours."""


def lattice_colours(pattern: Sets, shape: Shape, least: int, fewer_than: int) -> Any:
    """Such colours of the columns, which are the elements of an array of this shape; None if there are none."""
    sizes = np.diff(pattern.indptr)
    sample = np.argsort(-sizes, kind="stable")[:SAMPLE]
    few = pattern[sample]
    grids = list(_grids(pattern, shape))
    for count, grid in itertools.product(range(least, fewer_than), grids):
        for steps in itertools.islice(itertools.product(range(count), repeat=len(grid) - 1), MOST_STEPS):
            if _are_different(few, grid, (*steps, 1), count) and _are_different(pattern, grid, (*steps, 1), count):
                return _coloured(np.arange(pattern.shape[1]), grid, (*steps, 1), count)
    return None


def _grids(pattern: Sets, shape: Shape) -> Iterator[Shape]:
    """The shape, or for a vector those grids that the distances between the entries of a long row speak for."""
    yield shape
    if len(shape) != 1 or not pattern.nnz:
        return
    longest = int(np.argmax(np.diff(pattern.indptr)))
    columns = pattern.indices[pattern.indptr[longest] : pattern.indptr[longest + 1]]
    apart = np.unique(np.abs(columns - columns[len(columns) // 2]))
    for width in [int(d) for d in apart if d > 1][:SAMPLE]:
        if shape[0] % width == 0:
            yield (shape[0] // width, width)


def _coloured(places: Any, grid: Shape, steps: Shape, count: int) -> Any:
    total = np.zeros(len(places), int)
    strides = [math.prod(grid[k + 1 :]) for k in range(len(grid))]
    for stride, n, step in zip(strides, grid, steps, strict=True):
        total += places // stride % n * step
    return total % count


def _are_different(pattern: Sets, grid: Shape, steps: Shape, count: int) -> bool:
    """Whether no row has two entries of one colour."""
    colours = _coloured(pattern.indices, grid, steps, count)
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    met = np.zeros(pattern.shape[0] * count, bool)
    met[rows * count + colours] = True
    return int(met.sum()) == len(rows)
