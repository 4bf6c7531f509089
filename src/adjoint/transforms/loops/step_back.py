"""The program of one step back through a body, and the cotangents it deals with, which may have several parts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ...core.reverse import ReverseTrace
from ...core.rule import Slots
from ...core.singular.structural_zeros import Cotangent
from ...core.values import Value, shape_of, spread, zeros_for
from ...ir.interpret import replay
from ...ir.loops import ScanOperands, split
from ...ir.program import Program
from .body_rules import Marks, Values, chosen, examples, pulled
from .capture import Body, as_numpy_scalar, captured_with, derived


class CotangentParts(NamedTuple):
    """Which parts a cotangent has besides its finite one."""

    infinite: bool = False
    support: bool = False
    doubt: bool = False
    fragile: bool = False


PLAIN, NOTHING = CotangentParts(), CotangentParts(support=True)
"""The parts of an ordinary cotangent, and of one that is structurally zero."""
PartsOf = tuple[CotangentParts | None, ...]
"""Those of several cotangents; None where nothing arrives."""


def parts_of(slots: Slots) -> PartsOf:
    """The parts that cotangents have."""
    return tuple([None if g is None else _parts(g) for g in slots])


def _parts(g: Cotangent) -> CotangentParts:
    return CotangentParts(*[getattr(g, name) is not None for name in CotangentParts._fields])


def joined(a: CotangentParts, b: CotangentParts) -> CotangentParts:
    """The parts of either."""
    return CotangentParts(*[x or y for x, y in zip(a, b, strict=True)])


def written(slots: Slots, parts: PartsOf, likes: Values) -> list[Value]:
    """Cotangents as values: those of their parts, written out; None, where something may arrive, is zero."""
    rows = zip(slots, parts, likes, strict=True)
    return [v for g, p, like in rows if p is not None for v in _packed(g, p, like)]


def _packed(g: Cotangent | None, parts: CotangentParts, value: Value) -> list[Value]:
    zero, shape = as_numpy_scalar(zeros_for(value)), shape_of(value)
    values = [zero if g is None else g.finite]
    for name in [name for name, has in zip(CotangentParts._fields, parts, strict=True) if has]:
        part = None if g is None else getattr(g, name)
        if part is None:
            part = zero if name == "infinite" else np.full(shape, name == "support" and g is not None)[()]
        values.append(part)
    return [v if shape_of(v) == shape else spread(v, shape) for v in values]


def nothing(parts: PartsOf, likes: Values) -> list[Value]:
    """Zeros of these parts, as values."""
    return written([None] * len(parts), parts, likes)


def read(values: Iterator[Value], parts: PartsOf) -> list[Cotangent | None]:
    """The cotangents that the next values stand for."""
    return [
        None if p is None else Cotangent(next(values), *[next(values) if has else None for has in p]) for p in parts
    ]


def as_values(slots: Slots) -> list[Value]:
    """Cotangents as values: those of the parts they have."""
    named = ("finite", *CotangentParts._fields)
    return [v for g in slots if g is not None for name in named if (v := getattr(g, name)) is not None]


class CarryFlow(NamedTuple):
    """The parts of the cotangents that a step back deals with: of what moves among its operands, and of all `ys`."""

    consts: PartsOf
    carry: PartsOf
    ys: PartsOf
    xs: PartsOf = ()


class Back(NamedTuple):
    """One step back through a body: a program with the inputs that `PullOperands.BACK` names.

    Its state is the sums of the consts' cotangents so far and the carry's cotangents; its other outputs are the
    cotangents of the xs.
    """

    body: Body
    moves: ScanOperands
    flow: CarryFlow

    def state(self, program: Program, loop: ScanOperands, slots: Slots) -> list[Value]:
        """What the sweep back starts with: no sums yet, and the cotangents of the last carry."""
        ends = [zeros_of(program, o) for o in program.outputs[: len(loop.carry)]]
        arrived = chosen(slots[: len(ends)], self.moves.carry)
        sums = nothing(self.flow.consts, chosen(loop.consts, self.moves.consts))
        return sums + written(arrived, self.flow.carry, chosen(ends, self.moves.carry))

    def cotangents(self, found: Values, needed: Marks) -> list[Cotangent | None]:
        """Those of the operands, from the results of the sweep back."""
        parts = iter(read(iter(found), (*self.flow.consts, *self.flow.carry, *self.flow.xs)))
        per_operand = [next(parts) if m else None for m in self.moves.flat()]
        return [c if need else None for c, need in zip(per_operand, needed, strict=True)]


def step_back(program: Program, loop: ScanOperands, moves: ScanOperands, slots: Slots, *, careful: bool) -> Back:
    """The step back through a body, given the cotangents of the loop's results."""
    carry, ys = split(slots, len(moves.carry))
    if careful:
        came = tuple([p or NOTHING for p in parts_of(chosen(carry, moves.carry))])
        flow = CarryFlow((PLAIN,) * sum(moves.consts), came, parts_of(ys))
    else:
        met = tuple([None if g is None else PLAIN for g in ys])
        flow = CarryFlow((PLAIN,) * sum(moves.consts), (PLAIN,) * sum(moves.carry), met)
    key = ("back", moves, flow, careful)
    return derived(program, key, lambda: _step_back(program, examples(loop), moves, flow, careful))


def _step_back(program: Program, values: ScanOperands, moves: ScanOperands, flow: CarryFlow, careful: bool) -> Back:
    """Captured again until the parts that come out are those that went in."""
    movers = values.each(chosen, moves)
    results = [zeros_of(program, o) for o in program.outputs[len(values.carry) :]]
    while True:
        state = nothing(flow.consts, movers.consts) + nothing(flow.carry, movers.carry)
        given = [*values.consts, *state, *values.carry, *values.xs, *nothing(flow.ys, results)]
        step = partial(_swept, program, moves, movers, flow, len(state), careful)
        body, seen = captured_with(step, given)
        if (seen.consts, seen.carry) == (flow.consts, flow.carry):
            return Back(body, moves, seen)
        flow = seen


def _swept(
    program: Program,
    moves: ScanOperands,
    movers: ScanOperands,
    flow: CarryFlow,
    n_state: int,
    careful: bool,
    *flat: Value,
) -> tuple[list[Value], CarryFlow]:
    """The results of a step back, and the parts that were found on the way."""
    n_consts, n_carry, n_xs = moves.sizes
    consts, state, now, arrived = split(flat, n_consts, n_state, n_carry + n_xs)
    rest = iter(state)
    sums, came = read(rest, flow.consts), iter(read(rest, flow.carry))
    slots = [next(came) if m else None for m in moves.carry] + read(iter(arrived), flow.ys)
    trace = ReverseTrace()
    handles = [trace.input(v) if m else v for v, m in zip([*consts, *now], moves.flat(), strict=True)]
    back = pulled(trace, replay(program, handles), slots, moves.flat(), careful=careful)
    found = ScanOperands.cut(back, moves.sizes).each(chosen, moves)
    totals = [g if s is None or g is None else s.plus(g) for s, g in zip(sums, found.consts, strict=True)]
    carry = flow.carry
    if careful:
        parts = parts_of(found.carry)
        carry = tuple([joined(p or NOTHING, q or NOTHING) for p, q in zip(carry, parts, strict=True)])
    seen = CarryFlow(parts_of(found.consts), carry, flow.ys, parts_of(found.xs))
    out = written(totals, flow.consts, movers.consts) + written(found.carry, flow.carry, movers.carry)
    return out + written(found.xs, seen.xs, movers.xs), seen


def zeros_of(program: Program, number: int) -> Value:
    """A zero of the type of a value."""
    type_ = program.types[number]
    return np.zeros(type_.shape, type_.dtype)[()]
