"""The trace as a reader wants it: sums with constant factors in one row, blocks and long loops in one row each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.reverse import OUTPUT
from ...core.values import concrete, shape_of, zeros_for
from ...ops.selection import where
from ...rules.selecting import Selecting
from ..formula.expression import Expression, Symbol, constant, expression_of, symbols_in
from ..record.record import Recorded, numbered
from ..record.recorder import Note, is_elementwise
from ..record.sweeps import Backward, Forward, Share, pulled_through
from .grouping import grouped


@dataclass(frozen=True)
class Edge:
    """From an operand to the row that uses it; on the way back, what the row hands to the operand."""

    operand: int
    """The operand's place in the trace."""
    partial: Expression | None
    """The local partial derivative, where it is one number for each element."""
    share: Expression | None
    """What is handed over, as an expression of the row's adjoint."""
    value: Any
    """What is handed over; None if nothing is."""
    total: Any
    """The operand's adjoint after this share has been added."""
    is_first: bool
    """Whether nothing had arrived at the operand before."""
    is_structural: bool = False
    """Whether a partial of 0 says that this operand was not selected: then nothing at all is handed over."""
    is_vertex: bool = False
    """Whether an infinite partial marks the end of a domain, as that of sqrt does at 0."""
    is_limit: bool = False
    """Whether it is 0 * inf here, so that a limit counts."""
    uses_result: bool = False
    """Whether the partial is computed from the row's own value, which its formula writes out: exp(a) for b = exp(a)."""


@dataclass
class Row:
    """One line of the table, one box of the graph."""

    outs: list[int]
    """The places whose values it gives."""
    members: list[int]
    """The steps that it consists of."""
    kind: str
    """`input`, `step`, `block` or `loop`."""
    caption: str
    """What a block or loop is called."""
    note: Note
    operands: list[int] = field(default_factory=list)
    formulas: dict[int, Expression] = field(default_factory=dict)
    """What each of its values is; empty for blocks and loops."""
    edges: list[Edge] = field(default_factory=list)
    """In the order of the operands."""


@dataclass
class _Shares:
    """What a row hands to one operand, through all of its steps."""

    handles: list[Any] = field(default_factory=list)
    doubt: Any = False
    settled: Any = None
    """What it comes to where it is 0 * inf."""

    def add(self, share: Share) -> None:
        self.handles.append(share.handle)
        self.doubt = self.doubt | share.doubt

    @property
    def value(self) -> Any:
        if self.settled is not None:
            return self.settled
        return sum([concrete(h) for h in self.handles[1:]], concrete(self.handles[0]))


class TraceView:
    """The rows of a recording, and the names of everything in them."""

    @quiet
    def __init__(
        self,
        recorded: Recorded,
        backward: Backward | None,
        forward: Forward | None,
        *,
        seeds: list[Any],
        collapse: bool,
    ) -> None:
        self.recorded = recorded
        self.given_seeds = seeds
        """For each result the seed of the sweep back; None for constants."""
        self.backward = backward
        self.tangents = None if forward is None else forward.tangents
        self.limits = frozenset() if forward is None else forward.limits
        """The places whose tangent is a limit."""
        trace = recorded.trace
        count = len(recorded.inputs)
        self.outputs = [o.node for o in recorded.outputs if recorded.is_traced(o)]
        groups = grouped(trace, count, self.outputs, collapse=collapse)
        self.rows = [Row([k], [], "input", "", trace.notes[k]) for k in range(count)]
        self.rows += [Row(g.outs, g.members, g.kind, g.caption, trace.notes[g.members[-1]]) for g in groups]
        self.labels = _labels(recorded, self.rows)
        self.names = _names(self.rows, count, _letter(self.labels))
        taken = {*self.names.values(), *self.labels.values()}
        self.arrays = [(array, _free(name, taken)) for array, name in recorded.arrays]
        """Arrays that the function uses, and names for them that nothing else has."""
        self.symbols = self._symbols()
        start = len(recorded.notebook.program.steps)
        for row in self.rows[count:]:
            self._fill(row)
        self._connect()
        self.formed = slice(start, len(recorded.notebook.program.steps))
        """The steps of the program that formulas and local partials were read off."""

    @property
    def has_several_results(self) -> bool:
        """Whether the adjoints are those of a sum."""
        return sum(np.size(concrete(o)) for o in self.recorded.outputs) > 1

    def number(self, place: int) -> int:
        """The number of the program that a place of the trace holds."""
        return self.recorded.notebook.number_of(self.recorded.trace[place][3])[0]

    def value(self, place: int) -> Any:
        """The value at a place."""
        return concrete(self.recorded.trace[place][3])

    def adjoint(self, place: int) -> Any:
        """The adjoint of a place; 0 where nothing arrived."""
        found = None if self.backward is None else self.backward.adjoints.get(place)
        return zeros_for(self.value(place)) if found is None else concrete(found)

    def tangent(self, place: int) -> Any:
        """The tangent of a place; 0 where it does not move."""
        found = None if self.tangents is None else self.tangents.get(place)
        return zeros_for(self.value(place)) if found is None else concrete(found)

    def tangent_formula(self, place: int) -> Expression:
        """The tangent as an expression of the tangents of the operands."""
        found = None if self.tangents is None else self.tangents.get(place)
        if found is None:
            return constant(0.0)
        notebook = self.recorded.notebook
        step = notebook.producers[found.node]
        return expression_of(notebook, step.args[0], self.symbols, but={self.number(place)})

    def _symbols(self) -> dict[int, Symbol]:
        found: dict[int, Symbol] = {}
        adjoints = {} if self.backward is None else self.backward.adjoints
        for row in self.rows:
            for place in row.outs:
                found.setdefault(self.number(place), Symbol("value", place))
                for kind, handles in (("adjoint", adjoints), ("tangent", self.tangents or {})):
                    if place in handles:
                        found[handles[place].node] = Symbol(kind, place)
        return found

    def _fill(self, row: Row) -> None:
        """The formula and the operands, from left to right."""
        trace, inside = self.recorded.trace, set(row.members)
        used = dict.fromkeys(p for m in row.members for p in trace[m][1] if p is not None and p not in inside)
        if row.kind in ("block", "loop"):
            row.operands = list(used)
            return
        own = [self.number(place) for place in row.outs]
        row.formulas = {
            place: expression_of(self.recorded.notebook, number, self.symbols, but=own)
            for place, number in zip(row.outs, own, strict=True)
        }
        found = [s for e in row.formulas.values() for s in symbols_in(e)]
        seen = [s.place for s in found if s.kind == "value" and s.place in used]
        row.operands = list(dict.fromkeys([*seen, *used]))

    def _connect(self) -> None:
        """What each row hands to each of its operands, in the order of the sweep back."""
        handed = self._handed()
        totals: dict[int, Any] = {} if self.backward is None else dict(self.backward.seeds)
        left = Counter(target for _, target in handed)
        for k in range(len(self.rows) - 1, len(self.recorded.inputs) - 1, -1):
            row = self.rows[k]
            partials = self._partials(row)
            structural, vertex = self._manners(row)
            for operand in row.operands:
                shares = handed.get((k, operand))
                first = operand not in totals
                value = None
                if shares:
                    value = shares.value
                    left[operand] -= 1
                    totals[operand] = value if first else totals[operand] + value
                    if not left[operand]:
                        totals[operand] = self.adjoint(operand)  # to the last bit
                partial, uses_result = partials.get(operand, (None, False))
                formula = None if partial is not None or not shares else self._share(row, operand, shares.handles)
                is_limit = shares is not None and (bool(np.any(shares.doubt)) or k in self._inside_limits)
                row.edges.append(
                    Edge(
                        operand, partial, formula, value, totals.get(operand), first, structural, vertex, is_limit,
                        uses_result,
                    )
                )  # fmt: skip

    def _handed(self) -> dict[tuple[int, int], _Shares]:
        """What each row hands to each operand. What is 0 * inf is the rest of the operand's adjoint, if it is one."""
        shares = [] if self.backward is None else self.backward.shares
        found: dict[tuple[int, int], _Shares] = {}
        owner = {m: k for k, row in enumerate(self.rows) for m in row.members}
        self._inside_limits: set[int] = set()
        """The rows that hand something in doubt from one of their steps to another."""
        for share in shares:
            if owner.get(share.step) != owner.get(share.target, -1):
                found.setdefault((owner[share.step], share.target), _Shares()).add(share)
            elif np.any(share.doubt):
                self._inside_limits.add(owner[share.step])
        for (_, target), own in found.items():
            if not np.any(own.doubt):
                continue
            others = [s for (_, t), s in found.items() if t == target and s is not own]
            rest = sum([s.value for s in others], 0.0) + self.backward.seeds.get(target, 0.0)  # type: ignore[union-attr]
            rest = np.nan if any([np.any(s.doubt) for s in others]) else rest
            own.settled = np.where(own.doubt, self.adjoint(target) - rest, own.value)[()]
        return found

    def _partials(self, row: Row) -> dict[int, tuple[Expression, bool]]:
        """The local partials of a row that works element by element, and whether they use its own value."""
        trace, notebook = self.recorded.trace, self.recorded.notebook
        if row.kind != "step" or len(row.outs) != 1 or not all(is_elementwise(trace[m][0]) for m in row.members):
            return {}
        out = row.outs[0]
        if any(np.iscomplexobj(self.value(p)) for p in (out, *row.operands)):  # conjugation is no factor
            return {}
        shape = shape_of(self.value(out))
        try:
            found = pulled_through(trace, row.members, {out: 1.0})
        except (ZeroDivisionError, OverflowError):
            return {}
        partials = {}
        for place, terms in found.items():
            if shape_of(self.value(place)) != shape:
                continue
            total = sum(terms[1:], terms[0])
            number = notebook.number_of(total)[0]
            own = Symbol("value", out) in symbols_in(expression_of(notebook, number, self.symbols))
            partials[place] = expression_of(notebook, number, self.symbols, but={self.number(out)}), own
        unmoved = dict.fromkeys([p for p in row.operands if p not in found], (constant(0.0), False))
        return {**unmoved, **partials}

    def _share(self, row: Row, operand: int, handles: list[Any]) -> Expression | None:
        """What is handed over, written with the adjoint of the row; None where there is too much to write."""
        if row.kind in ("block", "loop"):
            return None
        notebook, backward = self.recorded.notebook, self.backward
        assert backward is not None
        if backward.is_careful:  # its formula would show the bookkeeping: that of the plain sweep is the same
            seeds = {o: backward.adjoints[o] for o in row.outs if o in backward.adjoints}
            try:
                handles = pulled_through(self.recorded.trace, row.members, seeds).get(operand, handles)
            except (ZeroDivisionError, OverflowError):
                return None
        total = sum(handles[1:], handles[0])
        return expression_of(notebook, notebook.number_of(total)[0], self.symbols)

    def _manners(self, row: Row) -> tuple[bool, bool]:
        """How the last step of a row treats zero and infinite partials."""
        primitive = self.recorded.trace[row.members[-1]][0]
        if row.kind != "step" or primitive is OUTPUT:
            return False, False
        rule = primitive.derivative
        return primitive is where or isinstance(rule, Selecting), getattr(rule, "vertex", False)


def _names(rows: list[Row], count: int, letter: str) -> dict[int, str]:
    """v0, v(-1), v(-2) for the inputs, then v1, v2, ..."""
    names = {k: f"{letter}({-k})" if k else f"{letter}0" for k in range(count)}
    for row in rows[count:]:
        for place in row.outs:
            names[place] = f"{letter}{len(names) - count + 1}"
    return names


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"_{name}"
    return name


def _letter(labels: dict[int, str]) -> str:
    """v, unless the user has variables called v1, v2, ..."""
    taken = {name[0] for name in labels.values() if name[1:].isdigit()}
    return next((letter for letter in "vuwstz" if letter not in taken), "node")


def _labels(recorded: Recorded, rows: list[Row]) -> dict[int, str]:
    """What the user calls the values; a name that is given again gets a number: y, y₂, y₃."""
    places = [place for row in rows for place in row.outs]
    count = len(recorded.inputs)
    found, seen = {}, Counter[str]()
    taken = {*recorded.names, *recorded.trace.variables.values()}  # a user's own y_2 is not the second y
    for place in places:
        name = recorded.names[place] if place < count else recorded.trace.variables.get(place, "")
        if not name:
            continue
        seen[name] += 1
        while seen[name] > 1 and not taken.isdisjoint((numbered(name, seen[name]), f"{name}_{seen[name]}")):
            seen[name] += 1
        found[place] = numbered(name, seen[name])
    return found
