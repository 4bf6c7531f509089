"""Constants of a trace that move in a derivative further out: limits depend on them as on the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.reverse import ReverseTrace, Seeds
from ...core.traced import Traced, is_differentiated
from ...core.values import shape_of


class OutsideValues:
    """The values in a trace, or behind its function, that do not move in it but do in a derivative further out."""

    def __init__(self, trace: ReverseTrace) -> None:
        self.values: list[Any] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._places: dict[tuple[int, int], int] = {}
        """Which of the values an argument of a step is."""
        for place, (_, parents, args, _, _) in enumerate(trace):
            for k, (parent, a) in enumerate(zip(parents, args, strict=False)):
                if parent is None and isinstance(a, Traced) and is_differentiated(a):
                    self._places[place, k] = self._number(a)
        for x in trace.again.behind if trace.again is not None else ():
            if is_differentiated(x):
                self._number(x)

    def _number(self, x: Traced) -> int:
        key = (id(x.traced_by), id(x.node))
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(x)
        return self._numbers[key]

    def as_inputs(
        self, trace: ReverseTrace, ends: Seeds, inputs: list[Any], more: Sequence[Any]
    ) -> tuple[ReverseTrace, Seeds, list[Any]]:
        """The trace with these as further inputs, behind its own, and with its ends where they are then.

        Its function has no such arguments, and cannot be run again.
        """
        if not more:
            return trace, ends, inputs
        count = len(inputs)

        def moved(place: Any) -> Any:
            return place if place is None or place < count else place + len(more)

        found = ReverseTrace()
        for x in (*inputs, *more):
            found.input(x)
        for place, (primitive, parents, args, out, params) in enumerate(trace[count:], count):
            own = [self._places.get((place, k)) for k in range(len(parents))]
            gone = [moved(p) if n is None else count + n for n, p in zip(own, parents, strict=True)]
            found.append((primitive, gone, args, out, params))
        found.jumps, found.replaced = trace.jumps, [step._replace(place=moved(step.place)) for step in trace.replaced]
        still = [(-1, np.zeros(shape_of(x))) for x in more] if any([place < 0 for place, _ in ends]) else []
        return found, [*[(moved(place), g) for place, g in ends], *still], [*inputs, *more]
