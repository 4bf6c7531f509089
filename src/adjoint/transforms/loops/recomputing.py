"""The primitives `scan_pull` and `while_pull`: sweep through a loop and back where its carries cannot be results.

That is so if there is no room for them (a memory budget), or if their number is not known in advance (a while loop).
Forward and in batches they are sweeps of the same kind, whose programs are those of tangents and batches. Backward they
are what they are equal to: two scans, of which the first stores its carries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...core.batch import BatchTrace
from ...core.traced import Traced
from ...core.types import Params
from ...core.values import Value
from ...ir.interpret import replay
from ...ir.loops import LoopPrimitive, Part, PullOperands, split
from ...ir.program import Program
from .body_rules import (
    LoopRule,
    Marks,
    Values,
    batch_in_front,
    batched,
    examples,
    parted,
    pulled_by,
    pushed_body,
    spread,
    with_tangents,
)
from .capture import Body, captured, derived, speculating, speculating_alike
from .evaluate import run_pull
from .running import Pace, by_machine
from .step_back import zeros_of

BODY, BACK = PullOperands.BODY, PullOperands.BACK


def sweep(
    primitive: LoopPrimitive, body: Body, back: Body, loop: PullOperands, *, reverse: bool, memory: int
) -> Values:
    """A sweep through a loop and back, with the values that its programs bring along."""
    loop = loop.having(body_consts=[*body.hoisted, *loop.body_consts], back_consts=[*back.hoisted, *loop.back_consts])
    return primitive(  # type: ignore[no-any-return]
        *loop.flat(), body=body.program, back=back.program, sizes=loop.sizes, reverse=reverse, memory=memory
    )


def recomputing(name: str, formula: Callable[[Values, Params], Values]) -> LoopPrimitive:
    """The primitive of this name; it is equal to a formula of other loops, which the sweep back goes through."""
    made: LoopPrimitive = LoopPrimitive(
        name,
        lambda *args, **params: _evaluate(made, args, params),
        PullOperands,
        derivative=LoopRule(lambda *given: _push(made, *given), pulled_by(formula)),
        stacking=_stacked,
    )
    return made


def _evaluate(primitive: LoopPrimitive, args: Values, params: Params) -> Values:
    """On plain values: by machine code if it is long, else by Python."""
    loop, body, back = PullOperands.cut(args, params["sizes"]), params["body"], params["back"]
    work = int(loop.steps[0]) * (len(body.steps) + len(back.steps))
    with Pace(back) as pace:
        found = by_machine(primitive, args, params) if pace.is_long(work) else None
        if found is not None:
            return found
        pace.add(work)
        return run_pull(loop, body, back, params["reverse"], params["memory"])


def _push(
    primitive: LoopPrimitive, tangents: Values, args: Values, params: Params, order: int = 0
) -> tuple[Values, Values]:
    """The same sweep of values and tangents together: the number of steps need not be known."""
    body, back, sizes = params["body"], params["back"], params["sizes"]
    loop, moved = PullOperands.cut(args, sizes), PullOperands.cut(tangents, sizes)
    moves, (_, others) = spread(moved.map(lambda t: t is not None), BODY, body, smoothly=True)
    moves, ends = spread(moves, BACK, back, smoothly=True)
    operands = loop.each(partial(with_tangents, order=order), moved, moves)

    def attempt(speculative: bool) -> tuple[Values, bool]:
        marks = [moves.carry, [False] * len(others)]
        forth = pushed_body(body, BODY, loop, moves, marks, order, speculative=speculative)
        behind = pushed_body(back, BACK, loop, moves, ends, order, speculative=speculative)
        if not forth.speculates and not behind.speculates:
            return sweep(primitive, forth, behind, operands, **_how(params)), False
        forth, behind = speculating_alike([forth, behind])
        forth, behind = _noting(forth, BODY, operands), _noting(behind, BACK, operands)
        noting = operands.having(carry=[*operands.carry, np.False_])
        *found, mis_speculated = sweep(primitive, forth, behind, noting, **_how(params))
        return [*found, np.any(mis_speculated)], True

    return parted(speculating(attempt), ends, order)


def _noting(body: Body, part: Part, loop: PullOperands) -> Body:
    """A body that speculates, with whether it was wrong so far at the end of the carry; a result on the way back."""
    before = [len(loop.taken(part)[k]) for k in range(part.takes.index("carry") + 1)]
    place = len(body.hoisted) + sum(before)

    def step(*flat: Value) -> list[Value]:
        given = list(flat)
        noted = given.pop(place)
        *found, mis_speculated = replay(body.program, given)
        found.insert(before[-1] if part is BODY else len(found), np.logical_or(mis_speculated, noted))
        return found

    def make() -> Program:
        values = [zeros_of(body.program, n) for n in body.program.inputs]
        return captured(step, [*values[:place], np.False_, *values[place:]]).program

    return Body(derived(body.program, ("noting", part, place), make), body.hoisted)


def _stacked(primitive: LoopPrimitive, values: Values, marks: Marks, params: Params, size: int) -> Values:
    """The same sweep with steps for the whole batch; where the numbers of steps differ, examples that are done wait."""
    body, back, sizes = params["body"], params["back"], params["sizes"]
    loop, had = PullOperands.cut(values, sizes), PullOperands.cut(marks, sizes)
    if had.steps[0]:
        trace = BatchTrace(size)
        handles = loop.map(lambda v, m: Traced(v, trace, None) if m else v, had)
        longer = waiting(body, back, handles, np.max(loop.steps[0], initial=0))
        return [o.value for o in sweep(primitive, *longer, **_how(params))]
    spreading, (_, others) = spread(had, BODY, body, smoothly=False)
    now = spreading.having(state=[True] * len(had.state))
    whole = batch_in_front(loop, had, now, size)
    forth = batched(body, BODY, whole, now, [*now.carry, *[True] * len(others)], size)
    back_all = batched(back, BACK, whole, now, [True] * len(back.outputs), size)
    found = sweep(primitive, forth, back_all, whole, **_how(params))
    return [f if k < len(had.state) else np.moveaxis(f, 1, 0) for k, f in enumerate(found)]


def _how(params: Params) -> Params:
    return {name: params[name] for name in ("reverse", "memory")}


def waiting(body: Program, back: Program, loop: PullOperands, most: Value) -> tuple[Body, Body, PullOperands]:
    """The same sweep for more steps than the loop has: after its own, nothing changes any more.

    Their number becomes one of the consts, and the carry begins with the number of the step.
    """
    longer = loop.having(
        steps=[most],
        body_consts=[*loop.steps, *loop.body_consts],
        back_consts=[*loop.steps, *loop.back_consts],
        carry=[np.int64(0), *loop.carry],
    )
    return _waiting(body, BODY, longer), _waiting(back, BACK, longer), longer


def _waiting(program: Program, part: Part, loop: PullOperands) -> Body:
    sizes = tuple([len(group) for group in loop.taken(part)])

    def step(*flat: Value) -> list[Value]:
        groups = dict(zip(part.takes, split(flat, *sizes[:-1]), strict=True))
        count, now = groups[part.takes[0]].pop(0), groups["carry"].pop(0)
        new = replay(program, [v for group in groups.values() for v in group])
        goes_on = np.less(now, count)
        kept = [np.where(goes_on, v, had) for v, had in zip(new, groups[part.carries], strict=True)]
        return [now + 1, *kept] if part is BODY else kept

    return derived(program, ("waiting", part, sizes), lambda: captured(step, examples(loop).inputs(part)))
