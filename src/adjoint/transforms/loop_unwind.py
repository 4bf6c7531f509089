"""The primitives `scan_pull` and `while_pull`: walk through a loop and back where its carries cannot be results.

That is so if there is no room for them (a memory budget), or if their number is not known in advance (a while loop).
Arguments: the number of steps; what the body and the step back bring along; consts, init carry, xs; the state of the
walk back and the cotangents that it meets. Results: the state at the end, and stacked results of the steps back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.batch import BatchTrace
from ..core.errors import message
from ..core.primitive import Primitive
from ..core.traced import Traced
from ..core.values import Value, raw, shape_of, zeros_for
from ..ir.capture import GuardRefusedError, example
from ..ir.interpret import own, replay
from ..ir.program import Program
from ..rules.stacking import repeated
from .loop_capture import (
    Body,
    DecisionError,
    as_type,
    captured,
    carried,
    chosen,
    derived,
    executable,
    leading_example,
    numpys,
    reached,
    split,
)
from .loop_derive import Back, ByFormula, Values, batched, pushed, unbatched
from .loop_scan import apply, settling, storing
from .loop_schedule import walk_back

SIZES = ("n_body", "n_back", "n_consts", "n_carry", "n_xs", "n_state")


def unwind(
    params: dict[str, Any], back: Back, *, count: Value, consts: Values, carry: Values, xs: Values, state: Values,
    arrived: Values,
) -> tuple[Value, ...]:  # fmt: skip
    """Walk through the loop of a body and back."""
    primitive = scan_pull if params["memory"] else while_pull
    return primitive(  # type: ignore[no-any-return]
        count, *back.hoisted, *consts, *carry, *xs, *state, *arrived,
        body=params["body"], back=back.program, n_body=0, n_back=len(back.hoisted), n_consts=len(consts),
        n_carry=len(carry), n_xs=len(xs), n_state=len(state), reverse=params["reverse"], memory=params["memory"],
    )  # fmt: skip


def _groups(args: Sequence[Any], params: dict[str, Any]) -> list[list[Any]]:
    return split(args, *[params[size] for size in SIZES])


def _evaluate(count: Any, *args: Any, **params: Any) -> Any:
    body, back, n, reverse = params["body"], params["back"], int(count), params["reverse"]
    of_body, of_back, consts, carry, xs, state, arrived = _groups(args, params)
    forward, backward = executable(body), executable(back)
    first = [*of_body, *consts, *carry]
    first = [as_type(a, body.types[k]) for a, k in zip(first, body.inputs[: len(first)], strict=True)]
    fixed, carry = first[: len(first) - len(carry)], first[len(first) - len(carry) :]
    kinds = settling(body, len(fixed), len(carry))
    given = [*of_back, *consts]
    given = [as_type(a, back.types[k]) for a, k in zip(given, back.inputs, strict=False)]
    types = [back.types[o] for o in back.outputs[len(state) :]]
    ys = [np.empty((n, *t.shape), t.dtype) for t in types]

    def forth(carry: list[Any], k: int) -> list[Any]:
        i = n - 1 - k if reverse else k
        found = forward(*fixed, *carry, *[x[i] for x in xs])[: len(carry)]
        for place, kind in kinds:
            found[place] = kind(found[place])
        return found

    def step_back(carry: list[Any], k: int) -> None:
        nonlocal state
        i = n - 1 - k if reverse else k
        found = backward(*given, *state, *carry, *[x[i] for x in xs], *[g[i] for g in arrived])
        state = found[: len(state)]
        for y, new in zip(ys, found[len(state) :], strict=True):
            y[i] = new

    with np.errstate(all="ignore"):
        walk_back(carry, n, slots_for(body, carry, params["memory"]) if params["memory"] else n, forth, step_back)
    return (*own([numpys(s) for s in state], args), *ys)


def slots_for(body: Program, carry: Values, memory: int) -> int:
    """How many carries fit into so many bytes; one, the first, has to."""
    size = sum([np.asarray(c).nbytes for c in carry])
    return max(memory // max(size, 1), 1)


def _formula(args: Values, params: dict) -> tuple[Value, ...]:
    """The same with scans, which store every carry: what is differentiated."""
    n, differs = _decided(args[0])
    of_body, of_back, consts, carry, xs, state, arrived = _groups(args[1:], params)
    body, back = Body(params["body"], tuple(of_body)), Body(params["back"], tuple(of_back))
    if differs:
        consts, xs = [*consts, args[0]], [np.arange(n)]
        body = _for_a_while(body, len(carry), [*consts, *carry, np.int64(0)], at=len(consts) - 1)
        back = _for_a_while(back, len(state), [*consts, *state, *carry, np.int64(0)], at=len(consts) - 1)
    how = {"length": n, "reverse": params["reverse"]}
    given = [*body.hoisted, *consts]
    stored = storing({**how, "body": body.program, "n_consts": len(given), "n_carry": len(carry), "memory": 0})
    found = apply(Body(stored["body"], ()), carry, xs, given, **how, stored=len(carry))
    carries = found[len(found) - len(carry) :]
    return apply(back, state, [*carries, *xs, *arrived], consts, length=n, reverse=not params["reverse"])


def _for_a_while(body: Body, n_moving: int, values: Values, *, at: int) -> Body:
    """The body that changes nothing from a step on: among its inputs are the number of steps, at `at`, and the step."""

    def step(*flat: Value) -> list[Value]:
        outside, given = split(flat, len(body.hoisted))
        goes_on = np.less(given.pop(), given.pop(at))
        new = replay(body.program, [*outside, *given])
        return [np.where(goes_on, n, old) for n, old in zip(new, given[at : at + n_moving], strict=True)]

    def make() -> Body:
        return captured(step, [numpys(example(v)) for v in (*body.hoisted, *values)])

    made = derived(body.program, ("a while", n_moving, at), make)
    return Body(made.program, (*made.hoisted, *body.hoisted))


def _decided(count: Value) -> tuple[int, bool]:
    """The number of steps, in a batch the largest, and whether it differs between examples."""
    whole = raw(count)
    try:
        return int(np.max(whole, initial=0)), shape_of(whole) != ()
    except GuardRefusedError:
        raise DecisionError(
            message(
                "A second derivative, reverse over reverse, of a while_loop inside another loop is not known.",
                fix="Take it forward over reverse, as  ad.hessian  and  ad.hvp  do, or use  ad.scan.",
            )
        ) from None


def _push(tangents: Values, args: Values, params: dict) -> list[Value | None]:
    """The same walk of values and tangents together: no number of steps is needed."""
    body, back, count = params["body"], params["back"], args[0]
    values, moves = _groups(args[1:], params), _groups([t is not None for t in tangents[1:]], params)
    tangent = _groups(tangents[1:], params)
    n_fixed = [params["n_body"] + params["n_consts"], params["n_back"] + params["n_consts"]]
    marks = carried(body, [*moves[0], *moves[2], *moves[3], *moves[4]], n_fixed[0], params["n_carry"], smoothly=True)
    moves[3] = marks[n_fixed[0] : n_fixed[0] + params["n_carry"]]
    order = (1, 2, 5, 3, 4, 6)
    in_order = [m for k in order for m in moves[k]]
    in_order = carried(back, in_order, n_fixed[1], params["n_state"], smoothly=True)
    moves[5] = in_order[n_fixed[1] : n_fixed[1] + params["n_state"]]
    ends = reached(back, in_order, smoothly=True)
    ends[: params["n_state"]] = moves[5]

    def examples(k: int) -> list[Value]:
        return [leading_example(v) if k in (4, 6) else numpys(example(v)) for v in values[k]]

    def program(which: Program, places: Sequence[int], n: int, kept: list[bool], name: str) -> Body:
        """The program of values and tangents, each group with its tangents after it."""
        sizes = [s for k in places for s in (len(moves[k]), sum(moves[k]))]

        def step(*flat: Value) -> list[Value]:
            parts = split(flat, *sizes)
            primal = [v for part in parts[0:-1:2] for v in part]
            rest = iter([t for part in parts[1:-1:2] for t in part])
            new, moved = pushed(primal, [next(rest) if m else None for k in places for m in moves[k]], which)
            moved = [zeros_for(o) if t is None else t for o, t in zip(new, moved, strict=True)]
            return [*new[:n], *chosen(moved[:n], kept[:n]), *new[n:], *chosen(moved[n:], kept[n:])]

        def make() -> Body:
            start = [v for k in places for e in [examples(k)] for v in (*e, *map(zeros_for, chosen(e, moves[k])))]
            return captured(step, start)

        return derived(which, (name, tuple([tuple(moves[k]) for k in places])), make)

    forward = program(
        body, (0, 2, 3, 4), params["n_carry"], moves[3] + [False] * (len(body.outputs) - params["n_carry"]), "forth"
    )
    backward = program(back, order, params["n_state"], ends, "back")

    def both(k: int) -> list[Value]:
        pairs = chosen(list(zip(values[k], tangent[k], strict=True)), moves[k])
        return [*values[k], *[zeros_for(v) if t is None else t for v, t in pairs]]

    groups = [both(k) for k in range(7)]
    new = {**params, "body": forward.program, "back": backward.program}
    # what the two programs bring along stands first in their groups; groups 0 and 1 are the former ones
    groups[0], groups[1] = [*forward.hoisted, *groups[0]], [*backward.hoisted, *groups[1]]
    new.update({size: len(group) for size, group in zip(SIZES, groups, strict=False)})
    primitive = scan_pull if params["memory"] else while_pull
    found = list(primitive(count, *[v for group in groups for v in group], **new))
    n_state, n_moving, n_out = params["n_state"], sum(moves[5]), len(back.outputs) - params["n_state"]
    of_state, of_out = found[n_state : n_state + n_moving], found[n_state + n_moving + n_out :]
    rest = iter([*of_state, *of_out])
    return [next(rest) if end else None for end in ends]


class UnwindRule(ByFormula):
    """Forward it is a walk of the same kind; backward it is that of the formula."""

    __slots__ = ()

    def push(self, primitive: Any, tangents: Values, out: Value, args: Values, params: dict) -> list[Value]:
        """The tangents of the results."""
        return _push(tangents, args, params)


def _stacked(primitive: Any, values: Values, marks: Sequence[bool], params: dict, size: int) -> tuple[Value, ...]:
    """The same walk with steps for the whole batch; where the numbers of steps differ, those who are done wait."""
    body, back, count, differ = params["body"], params["back"], values[0], marks[0]
    groups, marked = _groups(values[1:], params), _groups(marks[1:], params)
    n_fixed, n_carry, n_state = params["n_body"] + params["n_consts"], params["n_carry"], params["n_state"]
    now = [*marked[0], *marked[2], *([True] * n_carry if differ else marked[3]), *marked[4]]
    later = carried(body, now, n_fixed, n_carry, smoothly=False)[n_fixed : n_fixed + n_carry]
    groups[3] = [
        repeated(numpys(v), size) if new and not m else v for v, m, new in zip(groups[3], marked[3], later, strict=True)
    ]
    groups[5] = [v if m else repeated(numpys(v), size) for v, m in zip(groups[5], marked[5], strict=True)]
    marked[3], marked[5] = later, [True] * n_state
    for k in (4, 6):
        groups[k] = [np.moveaxis(v, 0, 1) if m else v for v, m in zip(groups[k], marked[k], strict=True)]
    if differ:
        groups[2], marked[2] = [*groups[2], count], [*marked[2], True]
        groups[3], marked[3] = [*groups[3], np.int64(0)], [*marked[3], False]
        count = np.max(count, initial=0)

    def program(which: Program, order: tuple[int, ...], outs: list[bool], make: Any) -> Body:
        def examples() -> list[Value]:
            return [leading_example(v) if k in (4, 6) else numpys(example(v)) for k in order for v in groups[k]]

        return make(which, examples, [m for k in order for m in marked[k]], outs, size)  # type: ignore[no-any-return]

    forth, order = (0, 2, 3, 4), (1, 2, 5, 3, 4, 6)
    outs = [*later, *[True] * (len(body.outputs) - n_carry)]
    if differ:
        forward = program(body, forth, outs, _waiting(n_fixed, n_carry, n_fixed, n_carry, counting=True))
        n_given = params["n_back"] + params["n_consts"]
        places = n_given, n_state, n_given + n_state, n_carry
        backward = program(back, order, [True] * len(back.outputs), _waiting(*places, counting=False))
    else:
        forward = program(body, forth, outs, batched)
        backward = program(back, order, [True] * len(back.outputs), batched)
    groups[0], groups[1] = [*forward.hoisted, *groups[0]], [*backward.hoisted, *groups[1]]
    new = {**params, "body": forward.program, "back": backward.program}
    new.update({name: len(group) for name, group in zip(SIZES, groups, strict=False)})
    found = primitive(count, *[v for group in groups for v in group], **new)
    return tuple([f if k < n_state else np.moveaxis(f, 1, 0) for k, f in enumerate(found)])


def _waiting(n_given: int, n_moving: int, at: int, n_carry: int, *, counting: bool) -> Callable[..., Body]:
    """How a batched step is made where each example has its own number of steps.

    Inputs: `n_given` values and the numbers of steps, then among the rest (with the `n_moving` that a step changes in
    front) the carry, at `at`, followed by the number of the step. Examples that are done keep what they have.
    """

    def make(
        program: Program, examples: Callable[[], Values], marks: Sequence[bool], outs: Sequence[bool], size: int
    ) -> Body:
        def step(*flat: Value) -> list[Value]:
            given, counts = [*flat[:n_given], *flat[n_given + 1 :]], flat[n_given]
            now = given.pop(at + n_carry)
            moving = given[n_given : n_given + n_moving]
            kept = [*marks[:n_given], *marks[n_given + 1 :]]
            del kept[at + n_carry]
            walk = BatchTrace(size)
            handles = [Traced(v, walk, None) if m else v for v, m in zip(given, kept, strict=True)]
            found = [unbatched(o, walk) for o in replay(program, handles)]
            active = np.less(now, counts)
            found = [where_active(active, new, old) for new, old in zip(found, moving, strict=True)]
            return [*found, now + 1] if counting else found

        key = ("waiting", n_given, n_moving, at, n_carry, counting, tuple(marks), size)
        return derived(program, key, lambda: captured(step, examples()))

    return make


def where_active(active: Value, new: Value, old: Value) -> Value:
    """For each example the new value if it goes on, else the old one."""
    rank = len(shape_of(new)) - 1
    return np.where(np.reshape(active, shape_of(active) + (1,) * rank) if rank else active, new, old)


_rule = UnwindRule(_formula)
scan_pull: Any = Primitive("scan_pull", _evaluate, derivative=_rule, stacking=_stacked, multiple=True)
while_pull: Any = Primitive("while_pull", _evaluate, derivative=_rule, stacking=_stacked, multiple=True)
