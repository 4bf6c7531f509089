"""The branches that a function took: `if x > 0: taken`, in its place among the steps, with its line."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ...ir.program import GUARD, Step
from ..formula.expression import CONSTANT, Expression, expression_of
from ..show.rows import Row, TraceView

ASKING = re.compile(r"^(?P<word>if|elif|while|assert)\b|\b(?P<inside>if|and|or|not|any|all|next)\b")
"""A line that asks: a statement, or a part of an expression."""
WHERE = re.compile(r"^(?P<file>.*?):(?P<line>\d+)(?: in [^:]*)?:  (?P<source>.*)$", re.DOTALL)
"""What the user's line looks like in a message."""


class Decision(NamedTuple):
    """One condition, and how it fell out."""

    step: int
    """Where in the program it was asked."""
    word: str
    condition: Expression
    holds: bool
    line: str

    @property
    def outcome(self) -> str:
        """What became of it."""
        if self.word == "while":
            return "goes on" if self.holds else "ends"
        if self.word == "assert":
            return "holds" if self.holds else "fails"
        return "taken" if self.holds else "not taken"


def decisions_of(view: TraceView) -> dict[int, list[Decision]]:
    """The decisions of the user's lines, by the number of the row before which they were taken."""
    recorded = view.recorded
    own = recorded.notebook.program.steps[: recorded.steps]
    found = [d for k, step in enumerate(own) if step.primitive is GUARD and (d := _decision(view, k, step))]
    if not found:
        return {}
    ends = _ends(view, own)
    placed: dict[int, list[Decision]] = {}
    for decision in found:
        row = next((k for k, (_, last) in enumerate(ends) if last > decision.step), len(ends))
        if row < len(ends) and view.rows[row].kind in ("block", "loop") and ends[row][0] < decision.step:
            continue  # inside what is shown as one
        placed.setdefault(row, []).append(decision)
    return placed


def _decision(view: TraceView, k: int, step: Step) -> Decision | None:
    where = WHERE.match(step.line)
    asked = where and ASKING.search(where["source"])
    if not where or not asked or np.ndim(step.params["expected"]):
        return None
    condition = expression_of(view.recorded.notebook, step.args[0], view.symbols)
    if condition.head == CONSTANT:
        return None
    word = view.recorded.notebook.words.get(k)
    if word == "":
        return None
    word = word or asked["word"] or "if"
    return Decision(k, "if" if word == "elif" else word, condition, bool(step.params["expected"]), where["line"])


def _ends(view: TraceView, own: list[Step]) -> list[tuple[int, int]]:
    """For each row, between which steps of the program it was computed."""
    places = {id(step): k for k, step in enumerate(own)}
    return [_span(view, row, places) for row in view.rows]


def _span(view: TraceView, row: Row, places: dict[int, int]) -> tuple[int, int]:
    producers = view.recorded.notebook.producers
    at = [places.get(id(producers.get(view.number(m))), -1) for m in row.members or row.outs]
    return min(at), max(at)
