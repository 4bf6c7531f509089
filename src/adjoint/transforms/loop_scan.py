"""The primitive `scan`: a loop of known length, and its walks, which are scans again.

Arguments: consts, init carry, stacked xs. Results: final carry, stacked ys. The body's inputs are consts, carry and
slices of xs, its outputs carry and slices of ys. `stored` says that the last ys are the carry as it was before each
step, which the walk back needs; `memory` (in bytes) that it has to do without.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent
from ..core.near import UnknownValueError
from ..core.primitive import Primitive
from ..core.reverse import ReverseTrace
from ..core.traced import Traced
from ..core.values import Value, is_inexact, zeros_for
from ..ir.capture import example
from ..ir.interpret import own, replay
from ..ir.program import Program, Type
from ..rules.stacking import repeated
from .loop_capture import (
    Body,
    as_type,
    captured,
    carried,
    chosen,
    derived,
    executable,
    interned,
    leading_example,
    natively,
    numpys,
    reached,
    scalar_executable,
    split,
)
from .loop_derive import Back, LoopRule, Slots, Values, as_values, batched, packed, pushed, step_back, unpacked


@natively("scan")
def _evaluate(*args: Any, body: Program, n_consts: int, n_carry: int, length: int, reverse: bool, **_: int) -> Any:
    """Run the loop on plain values."""
    numbers = scalar_executable(body) if length > FEW else None
    if numbers is not None:
        return _evaluate_numbers(numbers, args, body, n_consts, n_carry, length, reverse)
    run = executable(body)
    args = tuple([as_type(a, body.types[n]) if k < n_consts + n_carry else a
                  for k, (a, n) in enumerate(zip(args, body.inputs, strict=True))])  # fmt: skip
    consts, carry, xs = args[:n_consts], list(args[n_consts : n_consts + n_carry]), args[n_consts + n_carry :]
    kinds = settling(body, n_consts, n_carry)
    ys = [np.empty((length, *body.types[o].shape), body.types[o].dtype) for o in body.outputs[n_carry:]]
    with np.errstate(all="ignore"):
        for i in range(length - 1, -1, -1) if reverse else range(length):
            found = run(*consts, *carry, *[x[i] for x in xs])
            carry = found[:n_carry]
            for k, kind in kinds:
                carry[k] = kind(carry[k])
            for y, new in zip(ys, found[n_carry:], strict=True):
                y[i] = new
    return (*own(carry, args), *ys)


def _flat(
    *args: Any, body: Program, n_consts: int, n_carry: int, length: int, reverse: bool, **_: int
) -> tuple[Value, ...]:
    """Take the steps one by one."""
    refuse_many(length * len(body.steps))
    consts, carry, xs = split(args, n_consts, n_carry)
    rows = []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        found = replay(body, [*consts, *carry, *[x[i] for x in xs]])
        carry = found[:n_carry]
        rows.append(found[n_carry:])
    columns = zip(*(rows[::-1] if reverse else rows), strict=True)
    return (*carry, *[np.stack(column) for column in columns])


MANY = 20_000


def refuse_many(count: int) -> None:
    """Raise if steps are too many to be taken one by one."""
    if count > MANY:
        raise UnknownValueError


FEW = 8
"""Steps for which it does not pay to write a function of Python's numbers."""


def _evaluate_numbers(
    run: Any, args: Values, body: Program, n_consts: int, n_carry: int, length: int, reverse: bool
) -> tuple[Value, ...]:
    """Run a loop of numbers alone."""
    n_first = n_consts + n_carry
    values = pythons(args[:n_first], [body.types[n] for n in body.inputs[:n_first]])
    consts, carry = values[:n_consts], values[n_consts:]
    rows = [np.asarray(x)[::-1].tolist() if reverse else np.asarray(x).tolist() for x in args[n_first:]]
    ys: list[list[Any]] = []
    for slices in zip(*rows, strict=True) if rows else itertools.repeat((), length):
        found = run(*consts, *carry, *slices)
        carry = found[:n_carry]
        ys.append(found[n_carry:])
    types = [body.types[o] for o in body.outputs[n_carry:]]
    stacks = [np.array(column, t.dtype) for column, t in zip(zip(*ys, strict=True), types, strict=True)]
    last = [as_type(c, body.types[n]) for c, n in zip(carry, body.inputs[n_consts:n_first], strict=True)]
    return (*last, *[s[::-1].copy() if reverse else s for s in stacks])


def pythons(values: Values, types: Sequence[Type]) -> list[Any]:
    """NumPy's numbers and truth values as Python's."""
    return [bool(v) if t.dtype.kind == "b" else float(v) for v, t in zip(values, types, strict=True)]


def settling(body: Program, n_consts: int, n_carry: int) -> list[tuple[int, Any]]:
    """Which parts of the carry come out of the body as Python's numbers and go in as NumPy's, or the other way."""
    pairs = zip(body.inputs[n_consts : n_consts + n_carry], body.outputs[:n_carry], strict=True)
    return [
        (k, type(np.zeros((), body.types[i].dtype).item()) if body.types[i].weak else body.types[i].dtype.type)
        for k, (i, o) in enumerate(pairs)
        if body.types[i].weak != body.types[o].weak
    ]


class Scan(Primitive):
    """Under a reverse walk it keeps its carries, as further results that the caller does not see."""

    __slots__ = ()

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Evaluate, or let the innermost walk take the step."""
        n_carry = params["n_carry"]
        if params["stored"] or params["memory"] or not n_carry or not any(is_recorded(a) for a in args):
            return super().__call__(*args, **params)
        return super().__call__(*args, **storing(params))[:-n_carry]


def is_recorded(x: Value) -> bool:
    """Whether a reverse walk is under a value."""
    while isinstance(x, Traced):
        if isinstance(x.walk, ReverseTrace) and x.walk.level:
            return True
        x = x.value
    return False


def storing(params: dict[str, Any]) -> dict[str, Any]:
    """The same loop with its carries among the results."""
    body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]

    def make() -> Program:
        return interned(body.with_steps(body.steps, body.outputs + body.inputs[n_consts : n_consts + n_carry]))

    return {**params, "body": derived(body, ("storing", n_consts, n_carry), make), "stored": n_carry, "memory": 0}


def without_stored(params: dict[str, Any]) -> dict[str, Any]:
    """The same loop without its carries among the results."""
    if not params["stored"]:
        return params
    body, stored = params["body"], params["stored"]
    make = lambda: interned(body.with_steps(body.steps, body.outputs[:-stored]))  # noqa: E731
    return {**params, "body": derived(body, ("bare", stored), make), "stored": 0}


def apply(body: Body, carry: Values, xs: Values, consts: Values = (), **params: Any) -> tuple[Value, ...]:
    """A scan with the values that the body brings along."""
    params = {"stored": 0, "memory": 0, **params}
    given = [*body.hoisted, *consts]
    return scan(  # type: ignore[no-any-return]
        *given, *carry, *xs, body=body.program, n_consts=len(given), n_carry=len(carry), **params
    )


def examples_of(args: Values, params: dict[str, Any]) -> list[Value]:
    """Values for one step: those of the first iteration."""
    consts, carry, xs = split(args, params["n_consts"], params["n_carry"])
    return [*[example(a) for a in (*consts, *carry)], *[leading_example(x) for x in xs]]


def _push(tangents: Values, out: Any, args: Values, params: dict) -> tuple[Values, Values]:
    """A scan of the carry and its tangent; of the tangent alone, where the carries are stored."""
    if out is None and params["stored"]:
        out = scan(*args, **params)
    body, sizes = params["body"], (params["n_consts"], params["n_carry"])
    marks = carried(body, [t is not None for t in tangents], *sizes, smoothly=True)
    moving = split(marks, *sizes)
    ends = reached(body, marks, smoothly=True)
    ends[: sizes[1]] = moving[1]
    stored, whole = bool(params["stored"]), out is None

    def make() -> Body:
        values = [numpys(v) for v in examples_of(args, params)]
        consts, carry, xs = split(values, *sizes)
        moves = [[zeros_for(v) for v in chosen(part, m)] for part, m in zip((consts, carry, xs), moving, strict=True)]
        order = [consts, moves[0], *(([moves[1], carry]) if stored else [carry, moves[1]]), xs, moves[2]]
        counts = [len(part) for part in order]

        def step(*flat: Value) -> list[Value]:
            c, dc, one, other, x, dx = split(flat, *counts[:-1])
            k, dk = (other, one) if stored else (one, other)
            rest = iter([*dc, *dk, *dx])
            new, moved = pushed([*c, *k, *x], [next(rest) if m else None for m in marks], body)
            moved = [zeros_for(o) if t is None else t for o, t in zip(new, moved, strict=True)]
            if stored:
                return chosen(moved, ends)
            n = sizes[1]
            return [*new[:n], *chosen(moved[:n], ends[:n]), *chosen(moved[n:], ends[n:]), *(new[n:] if whole else [])]

        return captured(step, [v for part in order for v in part])

    linear = derived(body, ("push", sizes, tuple(marks), stored, whole), make)
    consts, carry, xs = split(args, *sizes)
    of_consts, of_carry, of_xs = split(tangents, *sizes)
    consts += chosen(of_consts, moving[0])
    starts = [zeros_for(c) if t is None else t for c, t in chosen(list(zip(carry, of_carry, strict=True)), moving[1])]
    xs = [*xs, *chosen(of_xs, moving[2])]
    how = {"length": params["length"], "reverse": params["reverse"], "memory": params["memory"]}
    if stored:
        found = list(apply(linear, starts, [*out[-params["stored"] :], *xs], consts, **how))
    else:
        found = list(apply(linear, [*carry, *starts], xs, consts, **how))
        last, moved, ys = split(found, sizes[1], sum(ends))
        out, found = ([*last, *ys] if whole else out), moved
    rest = iter(found)
    return out, [next(rest) if end else None for end in ends]


def _pull(slots: Slots, out: Value, args: Values, params: dict, needed: Sequence[bool], careful: bool) -> list[Any]:
    """A scan in the other direction, over the stored carries."""
    body, sizes, n = params["body"], (params["n_consts"], params["n_carry"]), params["length"]
    marks = carried(body, [m and is_inexact(a) for m, a in zip(needed, args, strict=True)], *sizes, smoothly=True)
    back = step_back(body, sizes, lambda: examples_of(args, params), marks, slots, careful=careful)
    consts, carry, xs = split(args, *sizes)
    state, arrived = starting_state(back, args, marks, sizes, slots, outputs_like(body, sizes[1], n))
    if params["memory"]:
        from .loop_unwind import unwind

        found = unwind(
            without_stored(params), back, count=n, consts=consts, carry=carry, xs=xs, state=state, arrived=arrived
        )
    else:
        if not params["stored"]:
            out = scan(*args, **storing(params))
        carries = list(out[-sizes[1] :]) if sizes[1] else []
        found = apply(
            Body(back.program, back.hoisted), state, [*carries, *xs, *arrived], consts, length=n,
            reverse=not params["reverse"],
        )  # fmt: skip
    return result_of(back, found, marks, sizes, needed)


def outputs_like(body: Program, n_carry: int, length: int) -> list[Any]:
    """Stacks of zeros that take no memory, with the shapes of the results of a loop."""
    types = [body.types[o] for o in body.outputs]
    shapes = [t.shape if k < n_carry else (length, *t.shape) for k, t in enumerate(types)]
    return [np.broadcast_to(np.zeros((), t.dtype), s) for t, s in zip(types, shapes, strict=True)]


def starting_state(
    back: Back, args: Values, marks: Sequence[bool], sizes: tuple[int, int], slots: Slots, likes: Values
) -> tuple[list[Value], list[Value]]:
    """What the walk back starts with (no sums yet, the cotangents of the result), and what it meets on its way."""
    n_consts, n_carry = sizes
    movers = chosen(args[:n_consts], marks[:n_consts])
    state = [z for p, v in zip(back.consts, movers, strict=True) if p is not None for z in packed(None, p, v)]
    ends = chosen(list(zip(slots[:n_carry], likes[:n_carry], strict=True)), marks[n_consts : n_consts + n_carry])
    state += [z for p, (g, v) in zip(back.carry, ends, strict=True) for z in packed(g, p, v)]
    arrived: list[Value] = []
    for g in slots[n_carry:]:
        if g is not None:
            arrived += as_values(g)
    return state, arrived


def result_of(
    back: Back, found: Values, marks: Sequence[bool], sizes: tuple[int, int], needed: Sequence[bool]
) -> list[Cotangent | None]:
    """The cotangents of the arguments, from the results of the walk back."""
    rest = iter(found)
    parts = iter([None if p is None else unpacked(rest, p) for p in (*back.consts, *back.carry, *back.xs)])
    per_argument = [next(parts) if m else None for m in marks]
    return [c if need else None for c, need in zip(per_argument, needed, strict=True)]


def _stacked(primitive: Any, values: Values, marks: Sequence[bool], params: dict, size: int) -> tuple[Value, ...]:
    """A scan whose body takes the whole batch in each step."""
    bare, sizes, stored = without_stored(params), (params["n_consts"], params["n_carry"]), params["stored"]
    body = bare["body"]
    marks = carried(body, marks, *sizes, smoothly=False)
    outs = [*marks[sizes[0] : sum(sizes)], *[True] * (len(body.outputs) - sizes[1])]
    consts, carry, xs = split(batch_in_front(values, params, marks, size), *sizes)
    whole = batched(
        body,
        lambda: [*map(numpys, map(example, (*consts, *carry))), *[leading_example(x) for x in xs]],
        marks,
        outs,
        size,
    )
    how = {"length": params["length"], "reverse": params["reverse"], "memory": params["memory"]}
    given = [*whole.hoisted, *consts]
    how.update(body=whole.program, n_consts=len(given), n_carry=sizes[1], stored=0)
    found = list(scan(*given, *carry, *xs, **(storing(how) if stored else how)))
    outs += outs[: sizes[1]] if stored else []
    return tuple([
        repeated(f, size) if not m else f if k < sizes[1] else np.moveaxis(f, 1, 0)
        for k, (f, m) in enumerate(zip(found, outs, strict=True))
    ])  # fmt: skip


def batch_in_front(values: Values, params: dict, marks: Sequence[bool], size: int) -> list[Value]:
    """The arguments of a batched loop: what differs between examples later on does so from the start."""
    n_consts, n_carry = params["n_consts"], params["n_carry"]
    shapes = [params["body"].types[n].shape for n in params["body"].inputs]
    found = []
    for k, (v, m, shape) in enumerate(zip(values, marks, shapes, strict=True)):
        has = len(np.shape(v)) > len(shape) + (k >= n_consts + n_carry)
        if k >= n_consts + n_carry:
            v = np.moveaxis(v, 0, 1) if has else v
        elif m and not has:
            v = repeated(numpys(v), size)
        found.append(v)
    return found


scan: Any = Scan("scan", _evaluate, derivative=LoopRule(_push, _pull, _flat), stacking=_stacked, multiple=True)
