"""The primitive `while_loop`: a loop that goes on for as long as a condition holds."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...core.batch import BatchTrace
from ...core.primitive import Primitive
from ...core.rule import Slots
from ...core.singular.structural_zeros import Cotangent
from ...core.traced import LOCAL, Traced
from ...core.types import Params
from ...core.values import Value, cannot_branch, is_inexact
from ...ir.capture import GuardRefusedError, example
from ...ir.interpret import replay
from ...ir.loops import LoopPrimitive, PullOperands, ScanOperands, WhileOperands, split
from ...ir.program import Program, type_of
from ...rules.stacking import repeated
from .body_rules import (
    LoopRule,
    Marks,
    Values,
    batch_in_front,
    batched,
    examples,
    parted,
    pushed_body,
    spread,
    unbatched,
    with_tangents,
)
from .capture import Body, captured, derived, speculating, taking
from .evaluate import run_while, while_steps
from .recomputing import recomputing, sweep
from .running import Pace, by_machine
from .scan import two_scans
from .step_back import step_back, zeros_of

COND, BODY = WhileOperands.COND, WhileOperands.BODY


def apply(cond: Body, body: Body, loop: WhileOperands) -> Values:
    """A while loop with the values its programs bring along; last whether it speculated wrongly, if it speculates."""
    loop = loop.having(cond_consts=[*cond.hoisted, *loop.cond_consts], body_consts=[*body.hoisted, *loop.body_consts])
    if not body.speculates:
        return while_loop(*loop.flat(), cond=cond.program, body=body.program, sizes=loop.sizes)  # type: ignore[no-any-return]
    loop = loop.having(carry=[*loop.carry, np.False_])
    programs = {"cond": _until_in_vain(cond.program), "body": taking(body.program, [*body.program.inputs, TRUTH])}
    *found, mis_speculated, count = while_loop(*loop.flat(), **programs, sizes=loop.sizes)
    return (*found, count, mis_speculated)


TRUTH = type_of(np.False_)


def _until_in_vain(cond: Program) -> Program:
    """The condition of a loop whose last carry says that it has mis-speculated, which ends it."""

    def ask(*flat: Value) -> list[Value]:
        *given, mis_speculated = flat
        return [np.logical_and(replay(cond, given)[0], np.logical_not(mis_speculated))]

    def make() -> Program:
        return captured(ask, [zeros_of(cond, n) for n in cond.inputs] + [np.False_]).program

    return derived(cond, "until mis-speculated", make)


def _evaluate(*args: Value, cond: Program, body: Program, sizes: tuple[int, ...]) -> Values:
    """On plain values: by Python, and once that has taken many steps by machine code, from where it is."""
    if LOCAL.forced:
        raise GuardRefusedError  # for such values it might not end
    loop, work = WhileOperands.cut(args, sizes), len(cond.steps) + len(body.steps)

    def goes_on() -> bool:
        pace.add(work)
        return not pace.is_long()

    with Pace(body) as pace:
        done: Values = (*loop.carry, np.int64(0)) if pace.is_long() else run_while(loop, cond, body, goes_on)
        if not pace.is_long():
            return done
        loop = loop.having(carry=done[:-1])
        found = by_machine(while_loop, loop.flat(), {"cond": cond, "body": body, "sizes": sizes})
        more = run_while(loop, cond, body) if found is None else found
        return (*more[:-1], np.int64(done[-1] + more[-1]))


def _flat(*args: Value, cond: Program, body: Program, sizes: tuple[int, ...]) -> Values:
    return while_steps(WhileOperands.cut(args, sizes), cond, body)


def _push(tangents: Values, args: Values, params: Params, order: int = 0) -> tuple[Values, Values]:
    """A while loop of the carry and its tangent, at which the condition does not look."""
    cond, body, sizes = params["cond"], params["body"], params["sizes"]
    loop, moved = WhileOperands.cut(args, sizes), WhileOperands.cut(tangents, sizes)
    moving = moved.map(lambda t: t is not None).having(cond_consts=[False] * len(loop.cond_consts))
    moves, ends = spread(moving, BODY, body, smoothly=True)
    operands = loop.each(partial(with_tangents, order=order), moved, moves)

    def attempt(speculative: bool) -> tuple[Values, bool]:
        both = pushed_body(body, BODY, loop, moves, ends, order, speculative=speculative)
        after = [both.program.types[o] for o in both.program.outputs]
        more = after[len(loop.carry) : len(operands.carry)]
        return apply(Body(taking(cond, [*cond.inputs, *more]), ()), both, operands), both.speculates

    return parted(speculating(attempt), [moves.carry, [False]], order)


def _pull(
    slots: Slots, out: Values, args: Values, params: Params, needed: Marks, careful: bool
) -> list[Cotangent | None]:
    """Go through the loop once more, keep the carries, and sweep back."""
    body, (n_cond, *sizes) = params["body"], params["sizes"]
    given, wanted = args[n_cond:], needed[n_cond:]
    loop = ScanOperands.cut(given, (*sizes, 0))
    marks = loop.map(lambda a, need: need and is_inexact(a), ScanOperands.cut(wanted, (*sizes, 0)))
    moves, _ = spread(marks, ScanOperands.BODY, body, smoothly=True)
    back = step_back(body, loop, moves, slots[:-1], careful=careful)
    state = tuple(back.state(body, loop, slots[:-1]))
    again = PullOperands((out[-1],), loop.consts, loop.consts, loop.carry, (), state, ())
    found = sweep(while_pull, Body(body, ()), back.body, again, reverse=False, memory=0)
    return [None] * n_cond + back.cotangents(found, wanted)


def _once_more(args: Values, params: Params) -> Values:
    """What a sweep through a while loop and back is equal to, by loops that can be swept back again."""
    loop = PullOperands.cut(args, params["sizes"])
    if not cannot_branch(loop.steps[0]):
        return two_scans(args, params)
    return _counting_down(params["body"], params["back"], loop)


def _counting_down(body: Program, back: Program, loop: PullOperands) -> Values:
    """The same where the number of steps is not known, in a body: each step back begins with all those before it.

    n steps take n**2 / 2 this way. Nothing is stored, so that nothing has to be as long as the loop.
    """
    sizes = [len(group) for group in (loop.body_consts, loop.back_consts, loop.carry, loop.state)]
    zero = np.int64(0)

    def forth(*flat: Value) -> list[Value]:
        return [*replay(body, flat[:-1]), flat[-1] + 1]

    def step(*flat: Value) -> list[Value]:
        consts, of_back, start, state, (left,) = split(flat, *sizes)
        given = WhileOperands((left - 1,), tuple(consts), (*start, zero))
        now = apply(Body(_until_all(len(start), body), ()), counted, given)[: len(start)]
        return [*replay(back, [*of_back, *state, *now]), left - 1]

    like = examples(loop)
    counted = derived(body, "counted", lambda: captured(forth, [*like.body_consts, *like.carry, zero]))
    whole = [*like.body_consts, *like.back_consts, *like.carry, *like.state, zero]
    down = derived(back, ("counting down", body), lambda: captured(step, whole))
    consts = (*loop.body_consts, *loop.back_consts, *loop.carry)
    ask = captured(lambda *flat: [np.greater(flat[-1], 0)], [*like.state, zero])
    return apply(ask, down, WhileOperands((), consts, (*loop.state, *loop.steps)))[: len(loop.state)]


def _until_all(count: int, body: Program) -> Program:
    """Whether fewer steps than asked for were taken, by a loop that counts them at the end of its carry."""

    def make() -> Program:
        carry = [zeros_of(body, n) for n in body.outputs[:count]]
        return captured(lambda left, *flat: [np.less(flat[-1], left)], [np.int64(0), *carry, np.int64(0)]).program

    return derived(body, ("until all", count), make)


def _stacked(primitive: Primitive, values: Values, marks: Marks, params: Params, size: int) -> Values:
    """Steps for the whole batch; if the condition differs between examples, until all are done."""
    cond, body, sizes = params["cond"], params["body"], params["sizes"]
    loop, had = WhileOperands.cut(values, sizes), WhileOperands.cut(marks, sizes)
    now, (ends, _) = spread(had, BODY, body, smoothly=False)
    _, (_, [differs]) = spread(now, COND, cond, smoothly=False)
    if differs:
        body, loop, had = _waiting(cond, body, loop, had, size)
        now, (ends, _) = spread(had, BODY, body, smoothly=False)
    whole = batch_in_front(loop, had, now, size)
    step = batched(body, BODY, whole, now, ends, size)
    if differs:
        return apply(_any(cond, whole, now, size), step, whole)[:-1]
    asked = _of_one(cond, whole, now) if any(now.carry) else Body(cond, ())
    found = apply(asked, step, whole)
    return [f if m else repeated(f, size) for f, m in zip(found, [*ends, False], strict=True)]


def _of_one(cond: Program, loop: WhileOperands, marks: WhileOperands) -> Body:
    """The condition for a batch, if it looks at nothing that differs: it is given zeros for that."""

    def ask(*flat: Value) -> list[Value]:
        rows = zip(flat, marks.inputs(COND), strict=True)
        return replay(cond, [np.zeros(np.shape(example(v))[1:], v.dtype) if m else v for v, m in rows])

    given = examples(loop).inputs(COND)
    key = ("one", marks, tuple([np.shape(v) for v in given]))
    return derived(cond, key, lambda: captured(ask, given))


def _waiting(
    cond: Program, body: Program, loop: WhileOperands, had: WhileOperands, size: int
) -> tuple[Program, WhileOperands, WhileOperands]:
    """The body that changes nothing once the condition does not hold, and a carry that ends with the steps taken."""
    n_cond, n_body, n_carry = loop.sizes

    def step(*flat: Value) -> list[Value]:
        of_cond, of_body, carry, (count,) = split(flat, n_cond, n_body, n_carry)
        (holds,) = replay(cond, [*of_cond, *carry])
        active = np.not_equal(holds + np.int8(0), 0)  # asked by the loop: what it drops is not replaced
        new = replay(body, [*of_body, *carry])
        return [*[np.where(active, n, old) for n, old in zip(new, carry, strict=True)], count + active]

    def make() -> Body:
        trace = BatchTrace(size)
        one = loop.map(lambda v, m: Traced(v, trace, None) if m else v, had)
        return captured(step, [*examples(one).flat(), np.int64(0)])

    alone = derived(body, ("waiting", cond, loop.sizes), make)
    consts = [*alone.hoisted, *loop.cond_consts, *loop.body_consts]
    marks = [*[False] * len(alone.hoisted), *had.cond_consts, *had.body_consts]
    return (
        alone.program,
        loop.having(body_consts=consts, carry=[*loop.carry, np.int64(0)]),
        had.having(body_consts=marks, carry=[*had.carry, False]),
    )


def _any(cond: Program, loop: WhileOperands, marks: WhileOperands, size: int) -> Body:
    """Whether the condition holds for an example; it does not look at the count at the end of the carry."""

    def ask(*flat: Value) -> list[Value]:
        trace = BatchTrace(size)
        rows = zip(flat[:-1], marks.inputs(COND)[:-1], strict=True)
        (found,) = replay(cond, [Traced(v, trace, None) if m else v for v, m in rows])
        return [np.any(unbatched(found, trace))]

    return derived(cond, ("any", tuple(marks.inputs(COND)), size), lambda: captured(ask, examples(loop).inputs(COND)))


while_pull = recomputing("while_pull", _once_more)
while_loop = LoopPrimitive(
    "while_loop", _evaluate, WhileOperands, derivative=LoopRule(_push, _pull, _flat), stacking=_stacked
)
