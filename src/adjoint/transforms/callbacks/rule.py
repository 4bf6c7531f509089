"""The frame of the rules of solvers' steps: which values move, and batches one example after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...core.types import Params
from ...core.values import is_inexact
from ...rules.opaque import Opaque
from .examples import each_example
from .solver import Callbacks

FIRST = 1
"""Where the results of the solver begin among those of the step: behind the number of the outcome."""


class SolverRule(ABC):
    """What the results of a solver move by, which its subclasses say for one example.

    `found` are the results, `values` the arguments of the step, and `moving` the places of those values that move.
    """

    results: int | None = None
    """How many of the results have a derivative, counted from the first one; all of them if there is no number."""

    def __init__(self, callbacks: Callbacks) -> None:
        self.callbacks = callbacks

    @abstractmethod
    def push(self, found: Sequence[Any], values: Sequence[Any], moving: list[int], along: tuple[Any, ...]) -> list[Any]:
        """The tangents of the results, given those of the values that move."""

    @abstractmethod
    def pull(
        self, found: Sequence[Any], values: Sequence[Any], moving: list[int], arrived: Sequence[Any]
    ) -> Sequence[Any]:
        """The cotangents of the values that move, given those of the results; None for nothing."""

    @property
    def opaque(self) -> Opaque:
        """The rule of the step."""
        return Opaque(self._jvp, self._vjp)

    def _jvp(self, tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Params) -> list[Any]:
        count = len(out) - FIRST

        def pushed(given: Sequence[Any], moves: Sequence[Any]) -> list[Any]:
            values = given[count:]
            moving = [k for k, t in enumerate(moves) if t is not None and is_inexact(values[k])]
            return self.push(given[:count], values, moving, tuple([moves[k] for k in moving]))

        found = each_example(pushed, [*out[FIRST:], *args], tangents)
        return [None, *found, *[None] * (count - len(found))]

    def _vjp(
        self, g: Sequence[Any], out: Any, args: Sequence[Any], params: Params, needed: Sequence[bool]
    ) -> list[Any]:
        count, arriving = len(out) - FIRST, g[FIRST:][: self.results]
        if all([c is None for c in arriving]):
            return [None] * len(args)
        moving = [k for k, need in enumerate(needed) if need and is_inexact(args[k])]

        def pulled(given: Sequence[Any], arrived: Sequence[Any]) -> list[Any]:
            values = given[count:]
            full: list[Any] = [None] * len(values)
            for k, c in zip(moving, self.pull(given[:count], values, moving, arrived), strict=True):
                full[k] = c
            return full

        return each_example(pulled, [*out[FIRST:], *args], arriving)


def with_moved(values: Sequence[Any], moving: Sequence[int], moved: Sequence[Any]) -> list[Any]:
    """The values, with others in the place of those that move."""
    full = list(values)
    for k, v in zip(moving, moved, strict=True):
        full[k] = v
    return full
