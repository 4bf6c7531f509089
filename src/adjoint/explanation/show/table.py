"""The two traces side by side: left the values, read downwards, right the adjoints, read upwards."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ops.selection import clip, fmax, fmin, maximum, minimum, where
from ..formula.expression import RESULT, Expression, Symbol, decided, size
from ..formula.notation import LONGEST_FORMULA, Notation, spelled, value_text
from ..record.decisions import Decision, decisions_of
from ..record.memory import keeping_of, marks, memory_of
from ..record.sweeps import seed_sums
from .rows import Edge, Row, TraceView

WIDEST_FORMULA = 64
"""Longer formulas are named by their last operation."""

SHORT = 8
"""The condition of a selection is written out if it has no more parts than this."""


ORDER = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}

CHOICES: dict[Any, str] = {maximum: ">", fmax: ">", minimum: "<", fmin: "<"}
"""Operations that take one of two values, and when it is the first."""


LIMIT = "lim "
"""What stands before a product of 0 and infinity."""


class Line(NamedTuple):
    """One line of the table: formula and value of each column, as far as it has them."""

    primal: tuple[str, str] = ("", "")
    tangent: tuple[str, str] = ("", "")
    adjoint: tuple[str, str] = ("", "")
    place: str = ""


class Table:
    """A view as lines of text."""

    def __init__(
        self, view: TraceView, *, digits: int, names: bool, lines: bool, most: int, ascii: bool = False
    ) -> None:
        self.view = view
        self.digits = digits
        self.with_places = lines
        self.ascii = ascii
        self._names = names
        self.notation = Notation(self.name, [(a, self._plain(n)) for a, n in view.arrays], ascii=ascii)
        has_checkpoints = view.backward is not None and any(note.checkpoints for note in view.recorded.trace.notes)
        self._keeping = keeping_of(view.recorded) if has_checkpoints else None
        self._marks = {} if self._keeping is None else marks(view, self._keeping)
        self.lines = _shortened([*self._inputs(), *self._steps(), *self._results()], most)

    # names

    def called(self, place: int) -> str:
        """What a value is called in formulas: the user's name if there is one and it is wanted."""
        return self.label(place) or self.view.names[place]

    def label(self, place: int) -> str:
        """The user's name of a value, if there is one and it is wanted."""
        return self._plain(self.view.labels.get(place, "")) if self._names else ""

    def name(self, symbol: Symbol) -> str:
        """What a value, its adjoint or its tangent is called."""
        name = self.called(symbol.place)
        if symbol.kind == "adjoint":
            return self.adjoint_of(name)
        return self.tangent_of(name) if symbol.kind == "tangent" else name

    def adjoint_of(self, name: str) -> str:
        """`∇v4`, or `grad v4`."""
        return f"grad {name}" if self.ascii else f"∇{name}"

    def tangent_of(self, name: str) -> str:
        """`v̇4`, or `d v4`."""
        if self.ascii:
            return f"d {name}"
        return unicodedata.normalize("NFC", f"{name[0]}\N{COMBINING DOT ABOVE}{name[1:]}")

    def _plain(self, text: str) -> str:
        return spelled(text) if self.ascii else text

    @property
    def result(self) -> str:
        """What the function's result is called."""
        return self._plain(self.view.recorded.title)

    @property
    def summed(self) -> str:
        """What is differentiated: the result, or the sum of all its numbers."""
        if not self.view.has_several_results:
            return self.result
        return f"sum({self.result})" if self.ascii else f"Σ{self.result}"

    # rows

    def _inputs(self) -> list[Line]:
        view, found = self.view, []
        for k in range(len(view.recorded.inputs)):
            label = self._plain(view.labels[k])
            d = "d" if self.ascii else "∂"
            adjoint, last = view.adjoint(k), self.adjoint_of(view.names[k])
            if np.iscomplexobj(adjoint):  # the sweep uses plain transposes; the gradient is the direction of ascent
                adjoint, last = np.conjugate(adjoint), f"conj({last})"
            found.append(
                Line(
                    (f"{view.names[k]} = {label}", self.value(view.value(k))),
                    (f"{self.tangent_of(view.names[k])} = {self.tangent_of(label)}", self.value(view.tangent(k))),
                    (f"{self.adjoint_of(label)} = {d}{self.summed}/{d}{label} = {last}", self.value(adjoint)),
                )
            )
        return found

    def _steps(self) -> list[Line]:
        found: list[Line] = []
        start, decisions = len(self.view.recorded.inputs), decisions_of(self.view)
        for k, row in enumerate(self.view.rows[start:], start):
            found += [Line(self.decision(d)) for d in decisions.get(k, ())]
            left = [self._primal(row, place) for place in row.outs]
            middle = [self.tangent(row, place) for place in row.outs]
            right = [self._adjoint(row, edge) for edge in reversed(row.edges) if edge.value is not None]
            for k in range(max(len(left), len(right), 1)):
                found.append(
                    Line(
                        left[k] if k < len(left) else ("", ""),
                        middle[k] if k < len(middle) else ("", ""),
                        right[k] if k < len(right) else ("", ""),
                        self._place(row) if k == 0 else "",
                    )
                )
        return [*found, *[Line(self.decision(d)) for d in decisions.get(len(self.view.rows), ())]]

    def decision(self, decision: Decision) -> tuple[str, str]:
        """A condition of the function and how it fell out, and its line."""
        asked = self._written(decision.condition) or "..."
        return f"{decision.word} {asked}: {decision.outcome}", f"line {decision.line}"

    def _results(self) -> list[Line]:
        view, found = self.view, []
        sums = seed_sums(view.recorded, view.given_seeds)
        for k in reversed(range(len(view.recorded.outputs))):  # read upwards, as all adjoints are
            out, name = view.recorded.outputs[k], self.result + self._plain(view.recorded.result_names[k])
            if not view.recorded.is_traced(out):
                found.append(Line((f"{name}, without derivative", self.value(out))))
                continue
            place, seed = out.node, sums[k]
            called = self.called(place) if self.called(place) != name else view.names[place]
            adjoint, d = self.adjoint_of(called), "d" if self.ascii else "∂"
            before = f"{adjoint} + " if seed is not None and not seed.is_first else ""
            found.append(
                Line(
                    (f"{name} = {called}", self.value(view.value(place))),
                    (f"{self.tangent_of(name)} = {self.tangent_of(called)}", self.value(view.tangent(place))),
                    (
                        f"{adjoint} = {before}{d}{self.summed}/{d}{name if len(sums) > 1 else called}",
                        "" if seed is None else self.value(seed.total),
                    ),
                )
            )
        return found[::-1]

    def _primal(self, row: Row, place: int) -> tuple[str, str]:
        name = self.view.names[place]
        label = f"{self.label(place)} = " if self.label(place) else ""
        return f"{name} = {label}{self.formula(row, place)}", self.value(self.view.value(place))

    def formula(self, row: Row, place: int) -> str:
        """What is computed in a row."""
        operands = ", ".join([self.called(p) for p in row.operands[:6]]) + (", ..." if len(row.operands) > 6 else "")
        if row.kind == "block":
            return f"{self._plain(row.caption)}({operands})" + (
                f"[{row.outs.index(place)}]" if len(row.outs) > 1 else ""
            )
        if row.kind == "loop":
            return row.caption + (f" [{row.outs.index(place)}]" if len(row.outs) > 1 else "")
        return self._written(row.formulas[place]) or self._cut(row, place, operands)

    def _cut(self, row: Row, place: int, operands: str) -> str:
        """A formula that is too long: of one step its name and operands, of several steps the beginning."""
        if len(row.members) == 1 or size(row.formulas[place]) > LONGEST_FORMULA:
            return f"{self._operation(row)}({operands})" if len(row.members) == 1 else f"a sum of {operands}"
        dots = "..." if self.ascii else "…"
        return self.notation.text(row.formulas[place])[: WIDEST_FORMULA - 1] + dots

    def _written(self, e: Expression) -> str:
        """An expression, or nothing if it is too long for a column."""
        text = self.notation.text(e) if size(e) <= LONGEST_FORMULA else ""
        return text if width(text) <= WIDEST_FORMULA else ""

    def _operation(self, row: Row) -> str:
        e = row.formulas[row.outs[0]]
        return (e.args[0] if e.head == RESULT else e).head.name

    def through(self, row: Row, kind: str) -> str:
        """What cannot be written in short: from which values, through which step."""
        step = self._operation(row) if row.formulas else row.caption
        places = row.outs if kind == "adjoint" else row.operands
        names = [self.name(Symbol(kind, p)) for p in places[:4]] + ["..."] * (len(places) > 4)
        return f"{', '.join(names)} through {step}"

    def tangent(self, row: Row, place: int) -> tuple[str, str]:
        """What a tangent is made of, and its value."""
        view = self.view
        if row.kind == "input":
            return self.tangent_of(self.called(place)), self.value(view.tangent(place))
        if row.kind in ("block", "loop"):
            text = self.through(row, "tangent")
        elif row.edges and all(edge.partial is not None for edge in row.edges):
            text = self._products(row)
        else:
            text = self._written(decided(view.tangent_formula(place))) or self.through(row, "tangent")
        text = LIMIT * (place in view.limits) + text
        return f"{self.tangent_of(self.called(place))} = {text}", self.value(view.tangent(place))

    def _products(self, row: Row) -> str:
        """A tangent as the sum of partial times tangent."""
        terms = [
            self.pushed(row, e)
            for e in row.edges
            if e.partial is not None and self.view.tangents and e.operand in self.view.tangents
        ]
        return " + ".join(terms) or "0"

    def pushed(self, row: Row, edge: Edge) -> str:
        """What an operand's tangent gives to that of a row."""
        return self.notation.product(self.tangent_of(self.called(edge.operand)), self.partial(row, edge))

    def _adjoint(self, row: Row, edge: Edge) -> tuple[str, str]:
        target = self.adjoint_of(self.called(edge.operand))
        before = "" if edge.is_first else f"{target} + "
        return f"{target} = {before}{LIMIT * edge.is_limit}{self.handed(row, edge)}", self.value(edge.total)

    def handed(self, row: Row, edge: Edge) -> str:
        """What a row hands to an operand."""
        if edge.partial is not None:
            return self.notation.product(self.adjoint_of(self.called(row.outs[0])), self.partial(row, edge))
        return (edge.share and self._written(decided(edge.share))) or self.through(row, "adjoint")

    def written_out(self) -> list[tuple[str, str]]:
        """The values that partials are computed from, and that their formulas write out: b, which is exp(a)."""
        rows = [row for row in self.view.rows if any([edge.uses_result for edge in row.edges])]
        return [(self.called(row.outs[0]), self.formula(row, row.outs[0])) for row in rows]

    def partial(self, row: Row, edge: Edge) -> str:
        """A local partial as text, or as its value where the formula is too long to read."""
        assert edge.partial is not None
        as_taught = self._as_taught(row, edge)
        if as_taught:
            return as_taught
        partial = decided(edge.partial)
        is_choice = partial.head is where and size(partial) > SHORT
        return ("" if is_choice else self._written(partial)) or self.value(edge.partial.value)

    def _as_taught(self, row: Row, edge: Edge) -> str:
        """Partials as lectures write them: [x > 0] for a choice."""
        formula = row.formulas.get(row.outs[0])
        if formula is None or edge.partial is None or len(formula.args) == 0:
            return ""
        own = [a for a in formula.args if a.params.get("symbol") == Symbol("value", edge.operand)]
        others = [a for a in formula.args if not own or a is not own[0]]
        if formula.head in CHOICES and len(own) == len(others) == 1:
            return self._choice(edge, own[0], others[0], CHOICES[formula.head])
        if formula.head is clip and own and formula.args[0] is own[0] and len(others) == 2:
            return self._between(edge, own[0], *others)
        chosen = decided(edge.partial)
        if formula.head is where and chosen.head is where:
            return self._condition(*chosen.args)
        return ""

    def _choice(self, edge: Edge, own: Expression, other: Expression, sign: str) -> str:
        """[x > 0] for a maximum with 0, if that is what its partial is also where both are the same; not if all are."""
        if np.all(np.equal(own.value, other.value)):
            return ""
        for asked in (sign, f"{sign}="):
            if np.array_equal(edge.partial.value, ORDER[asked](own.value, other.value)):  # type: ignore[union-attr]
                return f"[{self._written(own)} {asked} {self._written(other)}]"
        return ""

    def _between(self, edge: Edge, own: Expression, low: Expression, high: Expression) -> str:
        """[0 <= x <= 1] for what stays between bounds."""
        inside = np.less_equal(low.value, own.value) & np.less_equal(own.value, high.value)
        if not np.array_equal(edge.partial.value, inside):  # type: ignore[union-attr]
            return ""
        left = "" if low.is_constant(-np.inf) else f"{self._written(low)} <= "
        right = "" if high.is_constant(np.inf) else f" <= {self._written(high)}"
        return f"[{left}{self._written(own)}{right}]" if left or right else ""

    def _condition(self, asked: Expression, yes: Expression, no: Expression) -> str:
        """[x > 0] for what was chosen, [x <= 0] for what was chosen otherwise."""
        if yes.is_constant(1) and no.is_constant(0):
            return f"[{self._written(asked)}]"
        sign = OPPOSITE.get(asked.head.facts.form.sign)
        if not (sign and yes.is_constant(0) and no.is_constant(1) and len(asked.args) == 2):
            return ""
        one, other = asked.args
        if not np.array_equal(np.logical_not(asked.value), ORDER[sign](one.value, other.value)):  # nan is neither
            return ""
        return f"[{self._written(one)} {sign} {self._written(other)}]"

    def _place(self, row: Row) -> str:
        place = row.note.place
        mark = self._marks.get(row.outs[-1], "")
        if place is None or not self.with_places:
            return mark
        return self._plain("  ".join(filter(None, [mark, str(place), place.source])))

    def value(self, x: Any) -> str:
        """A value, short enough for a column."""
        text = value_text(np.asarray(x), self.digits)
        return text.replace("×", "x").replace("…", "...") if self.ascii else text

    # columns

    def columns(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The columns that are shown, with their headings."""
        found = [("forward primal trace", [line.primal for line in self.lines])]
        if self.view.tangents is not None:
            found.append(("forward tangent trace", [line.tangent for line in self.lines]))
        if self.view.backward is not None:
            found.append(("reverse adjoint trace", [line.adjoint for line in self.lines]))
        if any(line.place for line in self.lines):
            found.append(("source" if self.with_places else "", [(line.place, "") for line in self.lines]))
        return found

    def text(self) -> str:
        """Plain text, columns under their headings."""
        blocks = [_column(heading, cells) for heading, cells in self.columns()]
        return "\n".join([*["   ".join(parts).rstrip() for parts in zip(*blocks, strict=True)], *self.foot()])

    def foot(self) -> list[str]:
        """What stands below: with checkpoints, what is stored and what is computed again."""
        found = [] if self._keeping is None else [str(memory_of(self.view, self.called, keeping=self._keeping))]
        if self.view.has_several_results and self.view.backward is not None:
            found.append(f"{self.summed} is the sum of all results, each times its seed; cotangent= sets the seeds.")
        if self.view.limits or any([edge.is_limit for row in self.view.rows for edge in row.edges]):
            found.append(f"{LIMIT}marks 0 · ∞: the limit near this point counts, at a kink the mean of both sides.")
        return [self._plain(line) for line in found]


def _column(heading: str, cells: Sequence[tuple[str, str]]) -> list[str]:
    formulas, values = [width(f) for f, _ in cells], [width(v) for _, v in cells]
    right = max(values, default=0)
    left = max([*formulas, width(heading) - right - 3 if right else width(heading)])
    lines = [f + " " * (left - width(f)) + ("   " + " " * (right - width(v)) + v if right else "") for f, v in cells]
    whole = left + (right + 3 if right else 0)
    return [heading + " " * (whole - width(heading)), *lines]


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(c) else 1 for c in text)


def _shortened(lines: list[Line], most: int) -> list[Line]:
    """The first and last lines, if there are too many."""
    if len(lines) <= most:
        return lines
    head = most - most // 3
    left_out = len(lines) - most + 1
    rule = Line((f"... {left_out} lines left out: max_rows={most}", ""))
    return [*lines[:head], rule, *lines[head + left_out :]]
