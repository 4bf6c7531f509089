"""How a function is run again at points nearby, if it was told of a number that is not finite at the point alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.reverse import INPUT, ReverseTrace
from ...core.rule import UnknownValueError
from ...core.traced import Traced, is_of
from ...core.values import is_inexact, shape_of
from ...ir.effects import silenced
from ..callbacks.copies import Copies
from ..callbacks.reach import Reach

Call = Callable[..., Sequence[Any]]
"""(function and whatever else goes with it, inputs) -> results."""


class Again:
    """A function that can be run again, with other values in the place of those behind it that are traced."""

    def __init__(self, function: Call, about: Any, places: list[int | None]) -> None:
        self._function, self._about = function, about
        self.places = places
        """Where its results are in the trace."""

    @functools.cached_property
    def _reach(self) -> Reach:
        return Reach(self._about)

    @property
    def behind(self) -> list[Traced]:
        """The traced values behind it."""
        return [h if type(h) is Traced else h.current() for h in self._reach.handles]  # type: ignore[attr-defined]

    def with_values(self, values: Sequence[Any]) -> Again:
        """The same function with plain values in their place."""
        return Again(self._function, Copies(self._reach, values).of(self._about), self.places)

    def recorded(self, inputs: list[Any]) -> ReverseTrace:
        """What the function does for other inputs."""
        from ...rules.singular.paths import recorded

        return recorded(inputs, self.call).trace

    def call(self, inputs: list[Any]) -> Sequence[Any]:
        """The results for other inputs; not known if it raises there."""
        try:
            with silenced():
                return self._function(self._about, inputs)
        except Exception as error:
            raise UnknownValueError from error


def prepare(trace: ReverseTrace, outputs: Sequence[Any], call: Call, about: Any) -> list[Any]:
    """Let a trace run its function again, if it was told of a number that is not finite; and its results, as steps.

    Each has a place of its own then, even one that did not depend on the inputs: nearby it may.
    """
    if not any([step.is_question for step in trace.replaced]):
        return list(outputs)
    found, places = [], set[Any]()
    inputs = [Traced(out, trace, k) for k, (p, _, _, out, _) in enumerate(trace) if p is INPUT]
    inputs = [x for x in inputs if math.prod(shape_of(x))]
    for out in outputs:
        if is_of(out, trace):
            out = np.positive(out) if out.node in places else out
            places.add(out.node)
        elif inputs and is_inexact(out):
            out = np.where(True, out, np.ravel(inputs[0])[0])
        found.append(out)
    trace.again = Again(call, about, [out.node if is_of(out, trace) else None for out in found])
    return found
