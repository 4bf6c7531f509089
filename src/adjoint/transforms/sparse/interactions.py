"""Which pairs of inputs meet in a way that is not linear: the pattern of a Hessian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.program import Step
from ...rules.elementwise import Elementwise
from ...rules.linear import Linear
from ...rules.multilinear import Multilinear
from ...rules.partials import NAMES, wanted
from ...rules.reducing import Reducing
from ...rules.selecting import Selecting
from .sets import Sets, empty, grouped, product


class Interactions:
    """Pairs of inputs, as a symmetric matrix of truth values that grows."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._found: Sets = empty(width, width)
        self._met: dict[tuple[int, int], tuple[Sets, Sets]] = {}
        """Pairs of sets that have been multiplied; they are kept, so that their identities stay theirs."""

    def add(self, first: Sets | None, second: Sets | None) -> None:
        """Element by element, all in one set meet all in the other."""
        if first is None or second is None or (id(first), id(second)) in self._met:
            return
        self._met[id(first), id(second)] = self._met[id(second), id(first)] = (first, second)
        self._found = self._found + product(first.T.tocsr(), second)

    def pairs(self) -> Sets:
        """All pairs, in both orders."""
        found = (self._found + self._found.T).tocsr()
        found.sort_indices()
        return found


def partners(step: Step, count: int) -> list[tuple[int, int]]:
    """The pairs of operands of an elementwise step that meet in its second derivatives.

    The partial of an operand names what it depends on. Linear steps and those that pick have no second derivatives.
    """
    rule = step.primitive.derivative
    every = [(k, j) for k in range(count) for j in range(k, count)]
    if isinstance(rule, (Linear, Selecting)):
        return []
    if isinstance(rule, Multilinear):
        return [(k, j) for k, j in every if k != j]
    if not isinstance(rule, Elementwise):
        return every
    asked = [() if p is None else wanted(p) for p in rule.partials]
    return [(k, j) for k, j in every if "out" in asked[k] + asked[j] or NAMES[j] in asked[k] or NAMES[k] in asked[j]]


def is_bent(step: Step) -> bool:
    """Whether a step that is not elementwise has second derivatives."""
    rule = step.primitive.derivative
    return not isinstance(rule, Linear) and not (isinstance(rule, Reducing) and rule.selects)


def add_all(pairs: Interactions, sets: Sequence[Sets | None], is_multilinear: bool) -> None:
    """Let all elements of the operands meet: of different operands only, if the step is linear in each."""
    whole = [None if s is None else _together(s) for s in sets]
    for k, first in enumerate(whole):
        for second in whole[k + is_multilinear :]:
            pairs.add(first, second)


def _together(sets: Sets) -> Any:
    """One set of all that is in any of them."""
    return grouped(sets, np.zeros(sets.shape[0], int), 1)
