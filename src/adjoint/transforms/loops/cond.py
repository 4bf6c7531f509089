"""The primitive `cond`: one of several programs, chosen by a value. All branches have the same types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...core.batch import BatchTrace
from ...core.primitive import Primitive
from ...core.reverse import ReverseTrace
from ...core.rule import Slots
from ...core.singular.structural_zeros import Cotangent
from ...core.traced import Traced
from ...core.types import Params
from ...core.values import Value, concrete, is_inexact
from ...ir.interpret import replay
from ...ir.loops import CondOperands, LoopPrimitive, split
from ...ir.program import Program, Type
from .body_rules import (
    LoopRule,
    Marks,
    Values,
    batched,
    chosen,
    examples,
    parted,
    pulled,
    pushed_body,
    spread,
    unbatched,
    with_tangents,
)
from .capture import Body, captured_with, derived, speculating, speculating_alike, taking
from .evaluate import run_branch
from .step_back import NOTHING, CotangentParts, PartsOf, as_values, joined, nothing, parts_of, read, written, zeros_of

BRANCH = CondOperands.BRANCH


def apply(index: Value, bodies: Sequence[Body], given: Values) -> Values:
    """A choice between bodies of the same operands, with the values that each brings along."""
    loop = CondOperands((index,), tuple([v for body in bodies for v in body.hoisted] + list(given)))
    programs = tuple([_taking_all(k, bodies) for k in range(len(bodies))])
    return cond(*loop.flat(), branches=programs, sizes=loop.sizes)  # type: ignore[no-any-return]


def _taking_all(place: int, bodies: Sequence[Body]) -> Program:
    """A branch that is given what the other branches bring along as well, and does not use it."""
    inputs: list[int | Type] = []
    for k, (program, hoisted, _) in enumerate(bodies):
        brought = program.inputs[: len(hoisted)]
        inputs += brought if k == place else [program.types[n] for n in brought]
    program, hoisted, _ = bodies[place]
    return taking(program, [*inputs, *program.inputs[len(hoisted) :]])


def _evaluate(index: Value, *given: Value, branches: tuple[Program, ...], sizes: tuple[int, ...]) -> Values:
    """Run the chosen branch on plain values."""
    return run_branch(given, branches[int(index)])


def _flat(index: Value, *given: Value, branches: tuple[Program, ...], sizes: tuple[int, ...]) -> Values:
    """The steps of the chosen branch."""
    return tuple(replay(branches[int(concrete(index))], given))


def _push(tangents: Values, args: Values, params: Params, order: int = 0) -> tuple[Values, Values]:
    """The same choice between the branches' tangents."""
    branches, sizes = params["branches"], params["sizes"]
    loop, moved = CondOperands.cut(args, sizes), CondOperands.cut(tangents, sizes)
    moves = moved.map(lambda t: t is not None)
    each = [spread(moves, BRANCH, b, smoothly=True)[1][1] for b in branches]
    ends = [any(marks) for marks in zip(*each, strict=True)]
    operands = loop.each(partial(with_tangents, order=order), moved, moves)

    def attempt(speculative: bool) -> tuple[Values, bool]:
        bodies = [pushed_body(b, BRANCH, loop, moves, [ends], order, speculative=speculative) for b in branches]
        return apply(args[0], speculating_alike(bodies), operands.given), any([body.speculates for body in bodies])

    return parted(speculating(attempt), [ends], order)


def _pull(
    slots: Slots, out: Values, args: Values, params: Params, needed: Marks, careful: bool
) -> list[Cotangent | None]:
    """The same choice between the branches' sweeps back."""
    loop = CondOperands.cut(args, params["sizes"])
    moves = tuple([need and is_inexact(a) for need, a in zip(needed[1:], loop.given, strict=True)])
    parts: PartsOf = (None,) * sum(moves)
    while True:  # until each branch gives the parts that any of them gives
        found = [_step_back(b, loop, moves, parts_of(slots), parts, careful) for b in params["branches"]]
        wanted = tuple([_either(had, each, careful) for had, *each in zip(parts, *[p for _, p in found], strict=True)])
        if wanted == parts:
            break
        parts = wanted
    results = apply(args[0], [body for body, _ in found], [*loop.given, *as_values(slots)])
    rest = iter(read(iter(results), parts))
    return [None, *[next(rest) if m else None for m in moves]]


def _either(had: CotangentParts | None, parts: Sequence[CotangentParts | None], careful: bool) -> CotangentParts | None:
    """The parts of a cotangent in any branch; where nothing arrives in one of them, its zeros are structural."""
    total = had
    for p in parts:
        if p is not None:
            total = p if total is None else joined(total, p)
    return joined(total, NOTHING) if careful and total is not None and None in parts else total


def _step_back(
    program: Program, loop: CondOperands, moves: tuple[bool, ...], given: PartsOf, gives: PartsOf, careful: bool
) -> tuple[Body, PartsOf]:
    """The step back through a branch that gives cotangents of certain parts, and the parts that it finds itself."""

    def make() -> tuple[Body, PartsOf]:
        values = examples(loop).given
        likes = [zeros_of(program, o) for o in program.outputs]
        step = partial(_swept, program, moves, chosen(values, moves), given, gives, careful)
        return captured_with(step, [*values, *nothing(given, likes)])

    return derived(program, ("pull", moves, given, gives, careful), make)


def _swept(
    program: Program, moves: Marks, movers: Values, given: PartsOf, gives: PartsOf, careful: bool, *flat: Value
) -> tuple[list[Value], PartsOf]:
    values, arrived = split(flat, len(moves))
    trace = ReverseTrace()
    handles = [trace.input(v) if m else v for v, m in zip(values, moves, strict=True)]
    slots = read(iter(arrived), given)
    found = chosen(pulled(trace, replay(program, handles), slots, moves, careful=careful), moves)
    return written(found, gives, movers), parts_of(found)


def _stacked(primitive: Primitive, values: Values, marks: Marks, params: Params, size: int) -> Values:
    """One branch for the whole batch; if the choice differs between examples, all, of which each example has one."""
    branches, sizes = params["branches"], params["sizes"]
    loop, had = CondOperands.cut(values, sizes), CondOperands.cut(marks, sizes)
    if not had.choice[0]:
        outs = [True] * len(branches[0].outputs)
        return apply(values[0], [batched(b, BRANCH, loop, had, outs, size) for b in branches], loop.given)
    trace = BatchTrace(size)
    one = loop.map(lambda v, m: Traced(v, trace, None) if m else v, had)
    found, *others = [replay(b, one.given) for b in branches]
    for k, other in enumerate(others, 1):
        here = np.equal(one.choice[0], k)
        found = [np.where(here, new, old) for new, old in zip(other, found, strict=True)]
    return tuple([unbatched(o, trace) for o in found])


cond = LoopPrimitive("cond", _evaluate, CondOperands, derivative=LoopRule(_push, _pull, _flat), stacking=_stacked)
