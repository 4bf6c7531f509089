"""A function's Jacobian at a point as a matrix of numbers, and its products with vectors in containers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import InputError, message
from ...core.traced import Traced
from ...core.values import Value, describe, dtype_of, shape_of
from ..interface.checking import checked_tangents
from ..interface.presenting import presented
from ..sweeps.blocks import columns, prefers_columns, rows
from ..sweeps.forward import push
from ..vjp import TraceAtPoint
from .along import refuse_complex, refuse_complex_result


class Linearized:
    """One recording at x, for products with the Jacobian J from both sides."""

    def __init__(self, fun: Callable[[Any], Any], x: Any, transform: str) -> None:
        self.recording = TraceAtPoint(fun, (x,), False, transform)
        self.point, self.transform = x, transform
        for value in self.recording.inputs:
            refuse_complex(value, transform)
        for value in self.recording.values:
            refuse_complex_result(value, transform)

    @property
    def size(self) -> int:
        """How many numbers the argument has."""
        return sum([math.prod(shape_of(x)) for x in self.recording.inputs])

    def result(self, leaves: list[Value] | None = None) -> Any:
        """What the function returned; or other leaves in the same containers."""
        return self.recording.shape(self.recording.values if leaves is None else leaves)

    def jacobian(self) -> Any:
        """All of it: a row for each number of the result, a column for each of the argument, as in `ad.tree.ravel`."""
        by_columns = prefers_columns(self.recording)
        blocks = columns(self.recording, None) if by_columns else rows(self.recording, None)
        found = []
        for y, row in zip(self.recording.values, blocks, strict=True):
            m = math.prod(shape_of(y))
            sizes = [math.prod(shape_of(x)) for x in self.recording.inputs]
            parts = [np.reshape(b, (m, n)) for b, n in zip(row, sizes, strict=True)]
            found.append(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))
        return found[0] if len(found) == 1 else np.concatenate(found, axis=0)

    def pushed(self, v: Any) -> list[Value]:
        """The leaves of J v, for v in the containers of the argument."""
        return push(self.recording, checked_tangents((self.point,), (v,), self.recording.given, self.transform))

    def pushed_flat(self, vector: Any) -> list[Value]:
        """The leaves of J v, for v as one array."""
        return push(self.recording, [part[0] for part in self._cut(vector[None])])

    def pulled(self, cotangents: list[Value]) -> Any:
        """J' u in the containers of the argument, for the leaves of u."""
        found = self.recording.pull(cotangents)
        pairs = zip(found, self.recording.given, strict=True)
        return self.recording.rebuild([presented(g, x) for g, x in pairs])[0]

    def ravelled(self, v: Any) -> Any:
        """A vector in the containers of the argument as one array."""
        moves = checked_tangents((self.point,), (v,), self.recording.given, self.transform)
        return np.concatenate([np.reshape(t, -1) for t in moves])

    def stacked(self, matrix: Any) -> Any:
        """The rows of a matrix, each in the containers of the argument: arrays with one more axis in front."""
        return self.recording.rebuild(self._cut(matrix))[0]

    def _cut(self, matrix: Any) -> list[Value]:
        """The rows of a matrix as leaves, with one more axis in front."""
        found, start = [], 0
        for x in self.recording.inputs:
            stop = start + math.prod(shape_of(x))
            found.append(np.reshape(matrix[:, start:stop], (len(matrix), *shape_of(x))).astype(dtype_of(x)))
            start = stop
        return found


def only_array(at: Linearized, what: str) -> Value:
    """The outputs of a model, which are one array."""
    values = at.recording.values
    if len(values) != 1 or not isinstance(at.result(), (np.ndarray, np.generic, float, Traced)):
        raise InputError(
            message(
                f"{what} needs a model that returns one array of outputs, examples along the first axis.",
                got=", ".join([describe(v) for v in values]) or "nothing",
                fix="Choose the outputs that the likelihood is of.",
            )
        )
    return values[0]
