"""Taking the steps of a merged program again, inside the recording of the call that it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import decidable
from ...ir.fold import fold, results
from ...ir.interpret import holds
from ...ir.program import GUARD, Program, Step
from .path_tree import NoWayError


def retaken(program: Program, inputs: list[Any], arrays: dict[int, Traced]) -> list[Any]:
    """The steps of a program through the traces of its inputs; guards are those of the recording."""
    return fold(program, _Guarded(program, arrays), inputs)


class _Guarded:
    """Values of the recording; captured arrays are what they are there."""

    def __init__(self, program: Program, arrays: dict[int, Traced]) -> None:
        self._frozen, self._arrays = program.frozen, arrays

    def constant(self, number: int, value: Any) -> Any:
        value = self._arrays.get(id(value), value)
        if type(value) is np.ndarray and number not in self._frozen:
            raise NoWayError  # captured by another recording, but not by this one
        return value

    def step(self, step: Step, args: list[Any]) -> Iterable[Any]:
        if step.primitive is not GUARD:
            return results(step, step.primitive(*args, **step.params))
        asked = decidable(args[0])
        if isinstance(asked, Traced):
            asked = asked.traced_by.decided(asked, step.line)
        if not holds(asked, step.params["expected"]):
            raise NoWayError
        return ()
