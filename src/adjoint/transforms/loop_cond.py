"""The primitive `cond`: one of several programs, chosen by a value.

Arguments: the number of the branch (or a truth value), operands. All branches have the same types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.batch import BatchTrace
from ..core.careful import Cotangent
from ..core.primitive import Primitive
from ..core.traced import Traced
from ..core.values import Value, is_inexact, plain, zeros_for
from ..ir.capture import example
from ..ir.interpret import own, replay
from ..ir.program import Program
from ..rules.stacking import repeated
from .loop_capture import Body, Same, as_type, captured, chosen, derived, executable, natively, numpys, reached, split
from .loop_derive import (
    NOTHING,
    LoopRule,
    Parts,
    Slots,
    Values,
    as_values,
    batched,
    joined,
    packed,
    parts_of,
    pulled,
    pushed,
    unpacked,
)
from .loop_unwind import where_active


@natively("cond")
def _evaluate(index: Any, *operands: Any, branches: tuple[Program, ...]) -> Any:
    """Run the chosen branch on plain values."""
    program = branches[int(index)]
    operands = tuple([as_type(a, program.types[k]) for a, k in zip(operands, program.inputs, strict=True)])
    with np.errstate(all="ignore"):
        return tuple(own(executable(program)(*operands), operands))


def _flat(index: Any, *operands: Any, branches: tuple[Program, ...]) -> tuple[Value, ...]:
    """The steps of the chosen branch."""
    return tuple(replay(branches[int(plain(index))], operands))


def apply(index: Value, bodies: Sequence[Body], operands: Values) -> tuple[Value, ...]:
    """A choice between bodies of the same operands, with the values that each brings along."""
    hoisted = [v for body in bodies for v in body.hoisted]
    counts = [len(body.hoisted) for body in bodies]
    programs = tuple([_taking(body.program, k, counts, bodies) for k, body in enumerate(bodies)])
    return cond(index, *hoisted, *operands, branches=programs)  # type: ignore[no-any-return]


def _taking(program: Program, place: int, counts: Sequence[int], bodies: Sequence[Body]) -> Program:
    """The program with further inputs, which it does not use: what the other branches bring along."""
    if sum(counts) == counts[place]:
        return program
    types = list(program.types)
    inputs: list[int] = []
    for k, body in enumerate(bodies):
        own_inputs = body.program.inputs[: counts[k]]
        if k == place:
            inputs += own_inputs
            continue
        for n in own_inputs:
            types.append(body.program.types[n])
            inputs.append(len(types) - 1)
    key = ("taking", place, tuple(counts), tuple([Same(b.program) for b in bodies]))
    new = Program(types, inputs + program.inputs[counts[place] :], program.constants, program.steps, program.outputs)
    return derived(program, key, lambda: new)


def _examples(values: Values) -> list[Value]:
    return [numpys(example(v)) for v in values]


def _push(tangents: Values, out: Any, args: Values, params: dict) -> tuple[Values, Values]:
    """The same choice between the branches' tangents."""
    branches, operands = params["branches"], args[1:]
    marks = [t is not None for t in tangents[1:]]
    ends = [any(e) for e in zip(*[reached(b, marks, smoothly=True) for b in branches], strict=True)]

    def body_of(program: Program) -> Body:
        def step(*flat: Value) -> list[Value]:
            values, moves = split(flat, len(operands))
            rest = iter(moves)
            new, moved = pushed(values, [next(rest) if m else None for m in marks], program)
            return [*new, *chosen([zeros_for(o) if t is None else t for o, t in zip(new, moved, strict=True)], ends)]

        def make() -> Body:
            values = _examples(operands)
            return captured(step, [*values, *map(zeros_for, chosen(values, marks))])

        return derived(program, ("push", tuple(marks), tuple(ends)), make)

    found = apply(args[0], [body_of(b) for b in branches], [*operands, *chosen(tangents[1:], marks)])
    out, moved = split(found, len(ends))
    rest = iter(moved)
    return out, [next(rest) if end else None for end in ends]


def _pull(slots: Slots, out: Value, args: Values, params: dict, needed: Sequence[bool], careful: bool) -> list[Any]:
    """The same choice between the branches' walks back."""
    branches, operands = params["branches"], args[1:]
    marks = [m and is_inexact(a) for m, a in zip(needed[1:], operands, strict=True)]
    given = tuple([None if g is None else parts_of(g) for g in slots])
    written: list[Parts | None] = [None] * sum(marks)
    while True:
        bodies = [_step_back(b, operands, marks, given, tuple(written), out, careful) for b in branches]
        wanted = [_either(had, parts, careful) for had, *parts in zip(written, *[p for _, p in bodies], strict=True)]
        if wanted == written:
            break
        written = wanted
    arrived = [part for g in slots if g is not None for part in as_values(g)]
    rest = iter(apply(args[0], [body for body, _ in bodies], [*operands, *arrived]))
    found = iter([None if p is None else unpacked(rest, p) for p in written])
    return [None, *[next(found) if m else None for m in marks]]


def _either(had: Parts | None, parts: Sequence[Parts | None], careful: bool) -> Parts | None:
    """The parts of a cotangent in any branch; where nothing arrives in one of them, its zeros are structural."""
    total = had
    for p in parts:
        if p is not None:
            total = p if total is None else joined(total, p)
    return joined(total, NOTHING) if careful and total is not None and None in parts else total


def _step_back(
    program: Program, operands: Values, marks: Sequence[bool], given: tuple[Parts | None, ...],
    written: tuple[Parts | None, ...], out: Values, careful: bool,
) -> tuple[Body, list[Parts | None]]:  # fmt: skip
    def make() -> tuple[Body, list[Parts | None]]:
        values = _examples(operands)
        movers = chosen(values, marks)
        seen: list[Parts | None] = []

        def step(*flat: Value) -> list[Value]:
            primal, g = split(flat, len(values))
            rest = iter(g)
            slots: list[Cotangent | None] = [None if p is None else unpacked(rest, p) for p in given]
            found = chosen(pulled(program, primal, marks, slots, careful=careful), marks)
            seen[:] = [None if f is None else parts_of(f) for f in found]
            return [
                v
                for f, p, x in zip(found, written, movers, strict=True)
                if p is not None
                for v in packed(f, p, x)
            ]  # fmt: skip

        likes = [zeros_for(numpys(example(o))) for o in out]
        arrived = [z for p, o in zip(given, likes, strict=True) if p is not None for z in packed(None, p, o)]
        return captured(step, [*values, *arrived]), seen

    return derived(program, ("pull", tuple(marks), given, written, careful), make)


def _stacked(primitive: Any, values: Values, marks: Sequence[bool], params: dict, size: int) -> tuple[Value, ...]:
    """One branch for the whole batch; if the choice differs between examples, both, of which each example has one."""
    branches, operands = params["branches"], values[1:]
    if not marks[0]:
        outs = [True] * len(branches[0].outputs)
        bodies = [batched(b, lambda: _examples(operands), marks[1:], outs, size) for b in branches]
        return apply(values[0], bodies, operands)
    walk = BatchTrace(size)
    handles = [Traced(v, walk, None) if m else v for v, m in zip(operands, marks[1:], strict=True)]
    results = [[_whole(o, walk) for o in replay(b, handles)] for b in branches]
    found = results[0]
    for k, other in enumerate(results[1:], 1):
        here = np.equal(values[0], k)
        found = [where_active(here, new, old) for new, old in zip(other, found, strict=True)]
    return tuple(found)


def _whole(x: Value, walk: BatchTrace) -> Value:
    return x.value if isinstance(x, Traced) and x.walk is walk else repeated(numpys(x), walk.size)


cond: Any = Primitive("cond", _evaluate, derivative=LoopRule(_push, _pull, _flat), stacking=_stacked, multiple=True)
