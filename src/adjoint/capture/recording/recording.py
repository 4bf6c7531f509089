"""A recording: a program, what surrounds it, and how its outputs become the result of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.traced import Traced
from ...ir.effects import Performance
from ...ir.program import KINDS, Program
from ..environment.captured_inputs import Counts, Variable, kind_of, numbers_in
from ..environment.watch import Watch

DYNAMIC = (float, complex, np.ndarray, np.generic)
"""Leaves whose values a program takes anew at each run; everything else is part of what was recorded."""


NOT_YET: Any = object()
"""The result of a call that has been recorded, but not computed: the program gives it."""


def is_dynamic(leaf: object) -> bool:
    """Whether a leaf is a number or an array that a program can take."""
    if isinstance(leaf, Traced):
        return False
    if isinstance(leaf, np.ndarray):
        return type(leaf) is np.ndarray and leaf.dtype.kind in KINDS
    return isinstance(leaf, DYNAMIC) and not (isinstance(leaf, np.generic) and leaf.dtype.kind not in KINDS)


class Given(NamedTuple):
    """What a function was called with, and what was declared of its arguments."""

    args: Sequence[Any]
    kwargs: dict[str, Any]
    static: frozenset[Any]
    """Numbers and names of static arguments."""
    donated: frozenset[int]
    """Numbers of arguments whose arrays may be written over."""


class Recording:
    """A program, what surrounds it, and how its outputs become the function's result."""

    __slots__ = (
        "attempts", "branches", "counts", "effects", "forms", "is_for_once", "loops", "outputs", "pinned", "program",
        "restore", "variables", "watch",
    )  # fmt: skip

    def __init__(
        self, program: Program, watch: Watch, outputs: list[Leaf], restore: Restore, effects: Performance
    ) -> None:
        self.is_for_once = False
        """Whether it may not be run again: the function caught an error that no guard stands for."""
        self.program = program
        self.effects = effects
        self.watch = watch
        self.outputs = outputs
        """For each leaf of the result, `Computed` or `Fixed`."""
        self.restore = restore
        self.forms = [(c, _form(c)) for c in program.constants.values() if isinstance(c, np.ndarray)]
        """Arrays that are read at every run, and how they lay in memory."""
        self.attempts: tuple[str, ...] = ()
        """Why the function was run, each time, in order to record this call."""
        self.branches: list[str] = []
        """The lines of branches of Python's of which the program has both sides."""
        self.loops: list[str] = []
        """The lines of loops of Python's that are one loop in the program."""
        self.counts: Counts = frozenset()
        """Leaves that are inputs although they are Python's integers or truth values."""
        self.pinned: Counts = frozenset()
        """Leaves that are inputs, but which the program relies on as they were: they chose a shape or a place."""

        self.variables: tuple[tuple[Variable, Any, bool], ...] = ()
        """Captured numbers that are read at every run, of which kind, and whether the program relies on them."""

    def captured_numbers(self) -> list[Any] | None:
        """The captured numbers as they are now, which are the last inputs; None if one is no longer of its kind."""
        found: list[Any] = []
        for variable, kind, _ in self.variables:
            value = variable.read()
            if kind_of(value) != kind:
                return None
            found += numbers_in(value)
        return found

    def is_valid(self) -> bool:
        """Whether everything the recording relies on is still as it was."""
        for array, form in self.forms:
            if _form(array) != form:  # resized, or given another shape or dtype in place
                return False
        return self.watch.is_as_it_was()

    def result(self, found: Sequence[object]) -> Any:
        """The function's result, from the program's outputs."""
        if self.effects:
            self.effects(found)
        return self.restore([o.of(found) for o in self.outputs])


def _form(array: np.ndarray) -> tuple[Any, ...]:
    return array.shape, array.dtype, array.strides


class Computed:
    """A leaf of the result that the program computes."""

    __slots__ = ("is_array", "place")

    def __init__(self, place: int, is_array: bool) -> None:
        self.place = place
        self.is_array = is_array
        """Whether it is an array without axes, which a program does not tell from a number."""

    def of(self, found: Sequence[object]) -> Any:
        """The leaf, given the program's outputs."""
        value = found[self.place]
        return np.asarray(value) if self.is_array else value


class Fixed:
    """A leaf of the result that is not computed: a string, None, an array of text."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def of(self, found: Sequence[object]) -> Any:
        """The leaf; the caller may write to it."""
        return self._value.copy() if isinstance(self._value, (np.ndarray, set)) else self._value


Leaf = Computed | Fixed
Restore = Callable[[list[Any]], Any]
"""Puts leaves back into the containers of the result."""
