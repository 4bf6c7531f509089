"""Which of Python's numbers that are no inputs by themselves are inputs of a function's programs.

At first no integer or truth value among the arguments is, and no captured number: a program may rely on their values,
so that shapes and loops are known. One that differs between calls which are alike otherwise becomes an input. If the
programs rely on its value all the same, because it chooses a shape or the number of rounds, it goes back to having a
recording for each value.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...capture.environment.captured_inputs import Variable, changed_numbers, holds_array, kind_of
from ...capture.recording.recording import Recording
from .keys import CallParts

if TYPE_CHECKING:
    from ..control.branches import Branches

PINNED = 2
"""Recordings that rely on the value of an input, before it is no longer one."""


class NumberChoices:
    """What is known of the integers and truth values of one function's arguments."""

    def __init__(self) -> None:
        self._first: dict[Any, dict[int, Any]] = {}
        """For each kind of call, the numbers of the first one."""
        self._varying: dict[Any, frozenset[int]] = {}
        self._fixed: dict[Any, frozenset[int]] = {}
        self._free: set[tuple[Any, int]] = set()
        """Inputs that at least one program takes whatever they are."""
        self._pinned: Counter[tuple[Any, int]] = Counter()

    def of(self, call: CallParts) -> CallParts:
        """The call with its inputs, as far as they are known to vary."""
        numbers = call.numbers
        if not numbers:
            return call
        kind = call.loose
        first = self._first.setdefault(kind, numbers)
        changed = [k for k, x in numbers.items() if k not in first or first[k] != x]
        varying = self._varying[kind] = self._varying.get(kind, frozenset()).union(changed)
        counts = (varying & numbers.keys()) - self._fixed.get(kind, frozenset())
        return call.with_counts(frozenset(counts)) if counts else call

    def note(self, call: CallParts, recording: Recording) -> None:
        """Learn from a recording what it makes of its inputs."""
        kind = call.loose
        self._free |= {(kind, k) for k in call.counts - recording.pinned}
        for k in recording.pinned:
            self._pinned[kind, k] += 1
            if self._pinned[kind, k] >= PINNED and (kind, k) not in self._free:
                self.fix(call, frozenset((k,)))

    def fix(self, call: CallParts, places: frozenset[int]) -> None:
        """Let these numbers be part of what is recorded from now on."""
        kind = call.loose
        self._fixed[kind] = self._fixed.get(kind, frozenset()) | places


CHANGES = 2
"""Changes of a captured number, before it becomes an input: it may be set back and forth between two."""


class Captured:
    """What is known of the numbers that one function captures, and of the arrays that are replaced by others."""

    def __init__(self) -> None:
        self.inputs: tuple[Variable, ...] = ()
        self._changes: Counter[Variable] = Counter()
        self._pinned: Counter[Variable] = Counter()
        self._fixed: set[Variable] = set()
        self._free: set[Variable] = set()

    def note_changes(self, recordings: list[Recording]) -> list[Variable]:
        """Learn from recordings that no longer hold; the variables that are inputs from now on."""
        changed = {v for r in recordings for v in changed_numbers(r.watch)} - self._fixed - set(self.inputs)
        self._changes.update(changed)
        new = [v for v in changed if self._changes[v] >= CHANGES or holds_array(v.read())]
        self.inputs += tuple(new)
        return new

    def note(self, recording: Recording) -> None:
        """Learn from a recording what it makes of its inputs."""
        taken = {v: relied_on for v, _, relied_on in recording.variables}
        for v in self.inputs:
            if v not in taken:
                self._fixed |= {v} if kind_of(v.read()) is not None else set()
            elif not taken[v]:
                self._free.add(v)
            else:
                self._pinned[v] += 1
                if self._pinned[v] >= PINNED and v not in self._free:
                    self._fixed.add(v)
        self.inputs = tuple([v for v in self.inputs if v not in self._fixed])


class Learned:
    """What the recordings of one function have shown, so that the next one is for more calls."""

    __slots__ = ("branches", "captured", "keeps_state", "numbers")

    def __init__(self) -> None:
        self.numbers = NumberChoices()
        self.captured = Captured()
        self.branches: dict[Any, Branches] = {}
        """For each kind of call, what is known of its branches."""
        self.keeps_state = False
        """Whether the function leaves something in its surroundings; then it is no step of another trace."""
