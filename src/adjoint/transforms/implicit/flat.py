"""Containers of numbers and arrays as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import InputError, message
from ...core.tree import flatten
from ...core.values import describe, dtype_of, shape_of


class TreeShape:
    """What the leaves of containers look like."""

    def __init__(self, tree: Any, name: str) -> None:
        leaves, self.rebuild = flatten(tree)
        self.shapes = [shape_of(x) for x in leaves]
        self.sizes = [int(np.prod(s)) for s in self.shapes]
        for x in leaves:
            if not isinstance(x, (int, float, np.ndarray, np.generic)) or dtype_of(x).kind not in "iuf":
                raise InputError(
                    message(
                        f"{name} begins at real numbers and arrays, in any containers.",
                        got=describe(x),
                        fix="Begin at floating-point numbers.",
                    )
                )

    def vector(self, tree: Any) -> Any:
        """All leaves, one after the other."""
        leaves = [np.reshape(np.asarray(x) * 1.0, (-1,)) for x in flatten(tree)[0]]
        return np.concatenate(leaves) if len(leaves) != 1 else leaves[0]

    def tree(self, vector: Any) -> Any:
        """The containers again."""
        leaves, place = [], 0
        for size, shape in zip(self.sizes, self.shapes, strict=True):
            part = vector[place : place + size] if len(self.sizes) > 1 else vector
            leaves.append(np.reshape(part, shape) if shape else part[0])
            place += size
        return self.rebuild(leaves)

    def on_vectors(self, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A function from containers to such containers, as one of vectors."""
        return lambda vector: self.vector(f(self.tree(vector)))
