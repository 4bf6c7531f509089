"""The primitive `scan`: a loop of known length, and its derivatives, which are scans again.

`stored` says that the last results are the stacked carries as they were before each step, which the sweep back needs;
`memory` (in bytes) that it has to do without. Its sweep back is then `scan_pull`, which is equal to two scans.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.reverse import ReverseTrace
from ...core.rule import Slots
from ...core.singular.structural_zeros import Cotangent
from ...core.traced import Traced
from ...core.types import Params
from ...core.values import Value, decidable, is_inexact, shape_of
from ...ir.loops import LoopPrimitive, PullOperands, ScanOperands, split
from ...ir.program import Program
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
    with_tangents,
)
from .capture import Body, captured, derived, interned, speculating
from .evaluate import run_scan, scan_steps
from .recomputing import recomputing, sweep, waiting
from .running import Pace, by_machine
from .step_back import as_values, step_back

BODY = ScanOperands.BODY


def apply(
    body: Body, loop: ScanOperands, *, length: int, reverse: bool, memory: int = 0, stored: bool = False
) -> tuple[Value, ...]:
    """A scan with the values that the body brings along; if it speculates, where that was wrong is the last result."""
    loop = loop.having(consts=[*body.hoisted, *loop.consts])
    params = {"body": body.program, "sizes": loop.sizes, "length": length, "reverse": reverse, "memory": memory}
    params = storing(params) if stored else {**params, "stored": False}
    found: tuple[Value, ...] = scan(*loop.flat(), **params)
    if not (body.speculates and stored):
        return found
    last = len(body.program.outputs) - 1
    return (*found[:last], *found[last + 1 :], found[last])


def _how(params: Params) -> Params:
    return {name: params[name] for name in ("length", "reverse", "memory")}


class Scan(LoopPrimitive):
    """Under a reverse trace it keeps its carries, as further results that the caller does not see."""

    __slots__ = ()

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Evaluate, or let the innermost trace take the step."""
        n_carry = params["sizes"][1]
        if params["stored"] or params["memory"] or not n_carry or not any([is_recorded(a) for a in args]):
            return super().__call__(*args, **params)
        return super().__call__(*args, **storing(params))[:-n_carry]


def is_recorded(x: Value) -> bool:
    """Whether a reverse trace is under a value."""
    while isinstance(x, Traced):
        if isinstance(x.traced_by, ReverseTrace) and x.traced_by.level:
            return True
        x = x.value
    return False


def storing(params: Params) -> Params:
    """The same loop with its carries among the results."""
    body, (n_consts, n_carry, _) = params["body"], params["sizes"]

    def make() -> Program:
        return interned(body.having(outputs=body.outputs + body.inputs[n_consts : n_consts + n_carry]))

    return {**params, "body": derived(body, ("storing", n_consts, n_carry), make), "stored": True, "memory": 0}


def _without_stored(params: Params) -> Params:
    """The same loop without its carries among the results."""
    body, n_carry = params["body"], params["sizes"][1]
    if not params["stored"]:
        return params
    make = lambda: interned(body.having(outputs=body.outputs[: len(body.outputs) - n_carry]))  # noqa: E731
    return {**params, "body": derived(body, ("bare", n_carry), make), "stored": False}


def _evaluate(*args: Value, **params: Any) -> Values:
    """On plain values: by machine code if it is long, else by Python."""
    work = params["length"] * len(params["body"].steps)
    with Pace(params["body"]) as pace:
        found = by_machine(scan, args, params) if pace.is_long(work) else None
        if found is not None:
            return found
        pace.add(work)
        return run_scan(*_plainly(args, params))


def _flat(*args: Value, **params: Any) -> Values:
    """Step by step."""
    return scan_steps(*_plainly(args, params))


def _plainly(args: Values, params: Params) -> tuple[ScanOperands, Program, int, bool]:
    return ScanOperands.cut(args, params["sizes"]), params["body"], params["length"], params["reverse"]


# Derivatives and batches


def _push(tangents: Values, args: Values, params: Params, order: int = 0) -> tuple[Values, Values]:
    """A scan of the carry and its tangent; it stores both if the scan stores the one."""
    body, sizes = _without_stored(params)["body"], params["sizes"]
    loop, moved = ScanOperands.cut(args, sizes), ScanOperands.cut(tangents, sizes)
    moves, ends = spread(moved.map(lambda t: t is not None), BODY, body, smoothly=True)
    operands = loop.each(partial(with_tangents, order=order), moved, moves)

    def attempt(speculative: bool) -> tuple[Values, bool]:
        both = pushed_body(body, BODY, loop, moves, ends, order, speculative=speculative)
        return apply(both, operands, **_how(params), stored=params["stored"]), both.speculates

    return parted(speculating(attempt), [*ends, moves.carry] if params["stored"] else ends, order)


def _pull(
    slots: Slots, out: Values, args: Values, params: Params, needed: Marks, careful: bool
) -> list[Cotangent | None]:
    """A scan in the other direction, over the stored carries; where there are none, the loop is gone through again."""
    body = params["body"]
    loop = ScanOperands.cut(args, params["sizes"])
    wanted = loop.map(lambda a, need: need and is_inexact(a), ScanOperands.cut(needed, params["sizes"]))
    moves, _ = spread(wanted, BODY, body, smoothly=True)
    back = step_back(body, loop, moves, slots, careful=careful)
    state, arrived = back.state(body, loop, slots), as_values(slots[len(loop.carry) :])
    n, reverse = params["length"], params["reverse"]
    if params["memory"]:
        again = PullOperands((n,), loop.consts, loop.consts, loop.carry, loop.xs, tuple(state), tuple(arrived))
        found = sweep(scan_pull, Body(body, ()), back.body, again, reverse=reverse, memory=params["memory"])
    else:
        out = out if params["stored"] or not loop.carry else scan(*args, **storing(params))
        carries = out[len(out) - len(loop.carry) :]
        over = ScanOperands(loop.consts, tuple(state), (*carries, *loop.xs, *arrived))
        found = apply(back.body, over, length=n, reverse=not reverse)
    return back.cotangents(found, needed)


def _stacked(primitive: Primitive, values: Values, marks: Marks, params: Params, size: int) -> Values:
    """A scan whose body takes the whole batch in each step."""
    body, sizes = _without_stored(params)["body"], params["sizes"]
    had = ScanOperands.cut(marks, sizes)
    now, (ends, others) = spread(had, BODY, body, smoothly=False)
    outs = [*ends, *[True] * len(others)]
    loop = batch_in_front(ScanOperands.cut(values, sizes), had, now, size)
    found = apply(batched(body, BODY, loop, now, outs, size), loop, **_how(params), stored=params["stored"])
    outs += ends if params["stored"] else []
    return [
        repeated(f, size) if not m else f if k < len(ends) else np.moveaxis(f, 1, 0)
        for k, (f, m) in enumerate(zip(found, outs, strict=True))
    ]


def two_scans(args: Values, params: Params) -> Values:
    """What a sweep through a loop and back is equal to: a scan that stores its carries, and one over them."""
    loop, reverse = PullOperands.cut(args, params["sizes"]), params["reverse"]
    body, back = Body(params["body"], ()), Body(params["back"], ())
    n, differs = _decided(loop.steps[0])
    if differs:
        body, back, loop = waiting(body.program, back.program, loop, n)
    forth = apply(body, ScanOperands(loop.body_consts, loop.carry, loop.xs), length=n, reverse=reverse, stored=True)
    carries = forth[len(forth) - len(loop.carry) :]
    over = ScanOperands(loop.back_consts, loop.state, (*carries, *loop.xs, *loop.arrived))
    return apply(back, over, length=n, reverse=not reverse)


def _decided(count: Value) -> tuple[int, bool]:
    """The number of steps, in a batch the largest, and whether it differs between examples."""
    whole = decidable(count)
    return int(np.max(whole, initial=0)), shape_of(whole) != ()


scan = Scan("scan", _evaluate, ScanOperands, derivative=LoopRule(_push, _pull, _flat), stacking=_stacked)
scan_pull = recomputing("scan_pull", two_scans)


# `checkpoint_every`: a scan of scans, whose outer one keeps its carries while the inner one computes them again.


def in_segments(body: Body, loop: ScanOperands, length: int, every: int, **how: Any) -> Values:
    """A scan taken in segments of `every` steps, and what is left over after them."""
    reverse, whole = how["reverse"], length // every * every
    carry: Values = loop.carry
    parts: list[Values] = []
    done = 0
    for steps in (whole, length - whole):
        if steps:
            start = length - done - steps if reverse else done
            here = loop.having(carry=carry, xs=[x[start : start + steps] for x in loop.xs])
            if steps >= every:
                found = _segments(body, here, length // every, every, how)
            else:
                found = apply(body, here, length=steps, **how)
            carry, ys = split(found, len(carry))
            parts.append(ys)
            done += steps
    order = parts[::-1] if reverse else parts
    stacks = order[0] if len(order) == 1 else [np.concatenate(pieces) for pieces in zip(*order, strict=True)]
    return (*carry, *stacks)


def _segments(body: Body, loop: ScanOperands, count: int, every: int, how: Params) -> Values:
    rows = [np.reshape(x, (count, every, *shape_of(x)[1:])) for x in loop.xs]
    outer = loop.having(consts=[*body.hoisted, *loop.consts], xs=rows)

    def segment(*flat: Value) -> Values:
        return apply(Body(body.program, ()), ScanOperands.cut(flat, outer.sizes), length=every, **how)

    found = apply(captured(segment, examples(outer).flat()), outer, length=count, **how)
    carry, ys = split(found, len(loop.carry))
    return (*carry, *[np.reshape(y, (count * every, *shape_of(y)[2:])) for y in ys])
