"""The primitive `while_loop`: a loop that goes on for as long as a condition holds.

Arguments: consts of the condition, consts of the body, init carry. Results: final carry, the number of steps taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.batch import BatchTrace
from ..core.primitive import Primitive
from ..core.traced import Traced
from ..core.values import Value, is_inexact, zeros_for
from ..ir.capture import example
from ..ir.interpret import own, replay
from ..ir.program import Program
from ..rules.stacking import repeated
from .loop_capture import (
    Body,
    Same,
    as_type,
    captured,
    carried,
    chosen,
    derived,
    executable,
    natively,
    numpys,
    reached,
    scalar_executable,
    split,
)
from .loop_derive import LoopRule, Slots, Values, batched, pushed, step_back, unbatched
from .loop_scan import outputs_like, pythons, refuse_many, result_of, settling, starting_state
from .loop_unwind import unwind, where_active


@natively("while_loop")
def _evaluate(*args: Any, cond: Program, body: Program, n_cond: int, n_body: int, n_carry: int) -> Any:
    """Run the loop on plain values."""
    of_cond, of_body, carry = split(args, n_cond, n_body)
    of_cond = [as_type(a, cond.types[k]) for a, k in zip(of_cond, cond.inputs, strict=False)]
    of_body = [as_type(a, body.types[k]) for a, k in zip(of_body, body.inputs, strict=False)]
    carry = [as_type(a, body.types[k]) for a, k in zip(carry, body.inputs[n_body:], strict=True)]
    numbers = scalar_executable(cond), scalar_executable(body)
    if numbers[0] is not None and numbers[1] is not None:
        return _evaluate_numbers(numbers[0], numbers[1], (of_cond, of_body, carry), (cond, body))
    goes_on, step = executable(cond), executable(body)
    kinds = settling(body, n_body, n_carry)
    count = 0
    with np.errstate(all="ignore"):
        while goes_on(*of_cond, *carry)[0]:
            carry = step(*of_body, *carry)
            for k, kind in kinds:
                carry[k] = kind(carry[k])
            count += 1
    return (*own(carry, args), np.int64(count))


def _flat(*args: Any, cond: Program, body: Program, n_cond: int, n_body: int, n_carry: int) -> tuple[Value, ...]:
    """Take the steps one by one."""
    of_cond, of_body, carry = split(args, n_cond, n_body)
    count = 0
    while replay(cond, [*of_cond, *carry])[0]:
        carry = replay(body, [*of_body, *carry])
        count += 1
        refuse_many(count * len(body.steps))
    return (*carry, np.int64(count))


def _evaluate_numbers(goes_on: Any, step: Any, values: Any, programs: tuple[Program, Program]) -> tuple[Value, ...]:
    """Run a loop of numbers alone."""
    cond, body = programs
    of_cond = pythons(values[0], [cond.types[n] for n in cond.inputs[: len(values[0])]])
    of_body = pythons(values[1], [body.types[n] for n in body.inputs[: len(values[1])]])
    types = [body.types[n] for n in body.inputs[len(values[1]) :]]
    carry = pythons(values[2], types)
    count = 0
    while goes_on(*of_cond, *carry)[0]:
        carry = step(*of_body, *carry)
        count += 1
    return (*[as_type(c, t) for c, t in zip(carry, types, strict=True)], np.int64(count))


def apply(cond: Body, body: Body, of_cond: Values, of_body: Values, carry: Values) -> tuple[Value, ...]:
    """A while loop with the values that its programs bring along."""
    first, second = [*cond.hoisted, *of_cond], [*body.hoisted, *of_body]
    return while_loop(  # type: ignore[no-any-return]
        *first, *second, *carry, cond=cond.program, body=body.program, n_cond=len(first), n_body=len(second),
        n_carry=len(carry),
    )  # fmt: skip


def _examples(values: Values) -> list[Value]:
    return [numpys(example(v)) for v in values]


def _push(tangents: Values, out: Any, args: Values, params: dict) -> tuple[Values, Values]:
    """A while loop of the carry and its tangent."""
    cond, body, n_carry = params["cond"], params["body"], params["n_carry"]
    of_cond, of_body, carry = split(args, params["n_cond"], params["n_body"])
    _, *moved = split(tangents, params["n_cond"], params["n_body"])
    marks = carried(body, [t is not None for part in moved for t in part], params["n_body"], n_carry, smoothly=True)
    moving = split(marks, params["n_body"])

    def step(*flat: Value) -> list[Value]:
        c, dc, k, dk = split(flat, params["n_body"], sum(moving[0]), n_carry)
        rest = iter([*dc, *dk])
        new, pushes = pushed([*c, *k], [next(rest) if m else None for m in marks], body)
        pushes = [zeros_for(o) if t is None else t for o, t in zip(new, pushes, strict=True)]
        return [*new, *chosen(pushes, moving[1])]

    def make() -> Body:
        c, k = _examples(of_body), _examples(carry)
        moves = [list(map(zeros_for, chosen(values, m))) for values, m in zip((c, k), moving, strict=True)]
        return captured(step, [*c, *moves[0], *k, *moves[1]])

    starts = chosen(list(zip(carry, moved[1], strict=True)), moving[1])
    dcarry = [zeros_for(c) if t is None else t for c, t in starts]
    found = apply(
        _looking_at(cond, of_cond, carry, len(dcarry), _examples(dcarry)),
        derived(body, ("push", params["n_body"], tuple(marks)), make),
        of_cond,
        [*of_body, *chosen(moved[0], moving[0])],
        [*carry, *dcarry],
    )
    rest = iter(found[n_carry:-1])
    return [*found[:n_carry], found[-1]], [*[next(rest) if m else None for m in moving[1]], None]


def _looking_at(cond: Program, of_cond: Values, carry: Values, extra: int, more: Values) -> Body:
    """The condition for a carry with further parts, which it does not look at."""

    def ask(*flat: Value) -> list[Value]:
        return replay(cond, flat[: len(flat) - extra])

    key = ("more", tuple([(np.shape(m), np.asarray(m).dtype) for m in more]))
    return derived(cond, key, lambda: captured(ask, [*_examples(of_cond), *_examples(carry), *more]))


def _pull(slots: Slots, out: Value, args: Values, params: dict, needed: Sequence[bool], careful: bool) -> list[Any]:
    """Walk through the loop once more, keep the carries, and walk back."""
    body, sizes = params["body"], (params["n_body"], params["n_carry"])
    _, given = split(args, params["n_cond"])
    _, wanted = split(needed, params["n_cond"])
    marks = carried(body, [m and is_inexact(a) for m, a in zip(wanted, given, strict=True)], *sizes, smoothly=True)
    slots = list(slots[:-1])
    back = step_back(body, sizes, lambda: _examples(given), marks, slots, careful=careful)
    state, _ = starting_state(back, given, marks, sizes, slots, outputs_like(body, sizes[1], 0))
    consts, carry = split(given, params["n_body"])
    found = unwind(
        {"body": body, "reverse": False, "memory": 0}, back, count=out[-1], consts=consts, carry=carry, xs=(),
        state=state, arrived=(),
    )  # fmt: skip
    return [None] * params["n_cond"] + result_of(back, found, marks, sizes, wanted)


def _stacked(primitive: Any, values: Values, marks: Sequence[bool], params: dict, size: int) -> tuple[Value, ...]:
    """Steps for the whole batch; if the condition differs between examples, until all are done, who waits unchanged."""
    cond, body, n_cond, n_body, n_carry = [params[k] for k in ("cond", "body", "n_cond", "n_body", "n_carry")]
    of_cond, of_body, carry = split(values, n_cond, n_body)
    marked = split(marks, n_cond, n_body)
    was = marked[2]
    marked[2] = carried(body, [*marked[1], *was], n_body, n_carry, smoothly=False)[n_body:]
    differ = reached(cond, [*marked[0], *marked[2]], smoothly=False)[0]
    if differ:
        marked[2] = [True] * n_carry
    carry = [repeated(numpys(c), size) if m and not had else c for c, m, had in zip(carry, marked[2], was, strict=True)]
    if not differ:
        asked = Body(cond, ())
        if any(marked[2]):  # the condition looks at none of what differs: it takes an example's
            asked = _of_one(cond, of_cond, carry, marked[2])
        step = batched(body, lambda: _examples([*of_body, *carry]), [*marked[1], *marked[2]], marked[2], size)
        found = apply(asked, step, of_cond, of_body, carry)
        return tuple([f if m else repeated(f, size) for f, m in zip(found, [*marked[2], False], strict=True)])
    go_on, step = _waiting(cond, body, (of_cond, of_body, carry), (marked[0], marked[1]), size)
    found = apply(go_on, step, of_cond, [*of_cond, *of_body], [*carry, np.zeros(size, np.int64)])
    return found[:-1]


def _of_one(cond: Program, of_cond: Values, carry: Values, marks: Sequence[bool]) -> Body:
    def ask(*flat: Value) -> list[Value]:
        c, k = split(flat, len(of_cond))
        firsts = [np.zeros(np.shape(example(v))[1:], v.dtype) if m else v for v, m in zip(k, marks, strict=True)]
        return replay(cond, [*c, *firsts])

    size = next(len(example(v)) for v, m in zip(carry, marks, strict=True) if m)
    make = lambda: captured(ask, [*_examples(of_cond), *_examples(carry)])  # noqa: E731
    return derived(cond, ("one", tuple(marks), size), make)


def _waiting(cond: Program, body: Program, values: Any, marks: Any, size: int) -> tuple[Body, Body]:
    """Condition and body for examples that stop at different times; the last part of the carry counts their steps."""
    of_cond, of_body, carry = values

    def asked(walk: BatchTrace, c: Values, k: Values) -> Value:
        handles = [Traced(v, walk, None) if m else v for v, m in zip(c, marks[0], strict=True)]
        return unbatched(replay(cond, [*handles, *[Traced(v, walk, None) for v in k]])[0], walk)

    def go_on(*flat: Value) -> list[Value]:
        c, k, _ = split(flat, len(of_cond), len(carry))
        return [np.any(asked(BatchTrace(size), c, k))]

    def step(*flat: Value) -> list[Value]:
        c, b, k, (counts,) = split(flat, len(of_cond), len(of_body), len(carry))
        walk = BatchTrace(size)
        active = asked(walk, c, k)
        handles = [Traced(v, walk, None) if m else v for v, m in zip(b, marks[1], strict=True)]
        new = [unbatched(o, walk) for o in replay(body, [*handles, *[Traced(v, walk, None) for v in k]])]
        return [*[where_active(active, n, old) for n, old in zip(new, k, strict=True)], counts + active]

    key = ("waiting", Same(cond), tuple(marks[0]), tuple(marks[1]), size)
    more = [*_examples(carry), np.zeros(size, np.int64)]
    return derived(
        body,
        key,
        lambda: (
            captured(go_on, [*_examples(of_cond), *more]),
            captured(step, [*_examples(of_cond), *_examples(of_body), *more]),
        ),
    )


while_loop: Any = Primitive(
    "while_loop", _evaluate, derivative=LoopRule(_push, _pull, _flat), stacking=_stacked, multiple=True
)
