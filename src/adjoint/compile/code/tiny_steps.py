"""Whole operations on values that live in registers: elements change places, or are multiplied and summed."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ...core.entry.algebra import Labels
from ...core.entry.moves import Pad, Pieces
from ...ir.program import Step
from ..assembly.emit import Emitter
from ..assembly.kinds import bits_kind
from ..assembly.values import NULL, Value, literal
from ..program.classify import INLINED, Sort
from ..program.indices import ZERO, Index, Place, constant, row_major, through
from ..program.moving import ACCUMULATE, ZEROS, labels_of, monoid_of, pieces_of, region_of
from ..program.plan import Plan
from ..scalar.casting import cast
from .kernel_function import KernelFunction
from .reductions import combined


def straight(kernel: KernelFunction, step: Step) -> None:
    """A step in registers, one element after the other; mathematics is called there, not written out in place."""
    outside, kernel.module.straight = kernel.module.straight, True
    if kernel.plan.sort(step) is Sort.CHECK:
        _guard(kernel, step)
    else:
        kernel.define(step.outs[0], _registers(kernel, step))
    kernel.module.straight = outside


def _registers(kernel: KernelFunction, step: Step) -> list[Value]:
    """The elements of a step's result."""
    plan, x = kernel.plan, kernel.elements
    sort = plan.sort(step)
    (v,) = step.outs
    if sort in INLINED:
        return [x.at(v, place, compute=True) for place in all_places(plan.types[v].shape)]
    return _reduced(kernel, step) if sort is Sort.REDUCE else whole_tiny(kernel, step)


def _reduced(kernel: KernelFunction, step: Step) -> list[Value]:
    plan, x = kernel.plan, kernel.elements
    (v,), (source,) = step.outs, step.args
    have, t, monoid = plan.types[source], plan.types[v], monoid_of(step)
    axes = {a % len(have.shape) for a in step.params["axis"]} if have.shape else set()
    totals: dict[tuple[int, ...], Value] = {}
    for place in all_places(have.shape):
        kept = tuple([i.shift for a, i in enumerate(place) if a not in axes])
        new = cast(kernel.e, x.at(source, place), have.dtype, t.dtype)
        had = totals.get(kept)
        if had is None and monoid.combines is np.add:  # as NumPy's sums do: a sum of negative zeros is zero
            had = literal(0, t.dtype)
        totals[kept] = new if had is None else combined(kernel.e, monoid, t.dtype, had, new)
    return list(totals.values())


def _guard(kernel: KernelFunction, step: Step) -> None:
    (v,) = step.args
    t = kernel.plan.types[v]
    expected = step.params["expected"]
    values = expected.ravel().tolist() if hasattr(expected, "ravel") else [expected]
    for place, value in zip(all_places(t.shape), values, strict=True):
        kernel.check(_differs(kernel.e, kernel.elements.at(v, place), value, t.dtype), 1)


def _differs(e: Emitter, register: Value, value: float, dtype: np.dtype) -> Value:
    """Whether a register holds anything else than a value, to the last bit; one nan is as good as another."""
    if dtype.kind != "f":
        return e.compare("ne", register, literal(value, dtype))
    if value != value:
        return e.compare("ord", register, register)
    whole_kind = bits_kind(dtype)
    bits = e.convert("bitcast", register, whole_kind)
    want = e.convert("bitcast", literal(value, dtype), whole_kind)
    return e.compare("ne", bits, want)


def all_places(shape: tuple[int, ...]) -> list[Place]:
    """Every place of a small array, row by row."""
    found: list[Place] = [()]
    for n in shape:
        found = [(*place, constant(k)) for place in found for k in range(n)]
    return found


def whole_tiny(kernel: KernelFunction, step: Step) -> list[Value]:
    """A whole operation on values in registers: elements change places, or are multiplied and summed."""
    plan, x = kernel.plan, kernel.elements
    (v,) = step.outs
    t = plan.types[v]
    facts = step.primitive.facts
    if step.primitive is ZEROS:
        return [literal(0, t.dtype)] * t.size
    read = {a: [x.at(a, place) for place in all_places(plan.types[a].shape)] for a in step.args}
    if isinstance(facts.moves, Pieces):
        return _joined(plan, step, read)
    if facts.contracts is not None:
        return _product(kernel, step, read)
    if isinstance(facts.moves, Pad):
        out = [literal(0, t.dtype)] * t.size
        value = step.args[0]
    else:
        out = list(read[step.args[0]])
        if plan.types[step.args[0]].dtype != t.dtype:
            out = [cast(kernel.e, r, plan.types[step.args[0]].dtype, t.dtype) for r in out]
        value = step.args[1]
    region = region_of(plan.types, step)
    assert region is not None
    have = plan.types[value].shape
    for place in all_places(region.shape):
        spot = _position(through(region.places, place), t.shape)
        source = (
            place[len(place) - len(have) :]
            if len(have) <= len(place)
            else (constant(0),) * (len(have) - len(place)) + place
        )
        k = sum([0 if n == 1 else i.shift * s for i, n, s in zip(source, have, row_major(have), strict=True)])
        new = cast(kernel.e, read[value][k], plan.types[value].dtype, t.dtype)
        out[spot] = kernel.e.op("fadd", out[spot], new) if step.primitive is ACCUMULATE else new
    return out


def _position(place: Place, shape: tuple[int, ...]) -> int:
    """The number of an element, counted row by row."""
    return sum([i.shift * s for i, s in zip(place, row_major(shape), strict=True)])


def _joined(plan: Plan, step: Step, read: dict[int, list[Value]]) -> list[Value]:
    (v,) = step.outs
    shape, shapes = plan.types[v].shape, [plan.types[a].shape for a in step.args]
    found: list[Value] = [NULL] * plan.types[v].size
    for piece in pieces_of(plan.types, step):
        registers = read[step.args[piece.operand]]
        for place in all_places(piece.shape):
            source = _position(through(piece.source, place), shapes[piece.operand])
            found[_position(through(piece.target, place), shape)] = registers[source]
    return found


def _product(kernel: KernelFunction, step: Step, read: dict[int, list[Value]]) -> list[Value]:
    e, (x, y), types = kernel.e, step.args, kernel.plan.types
    first, second, result = labels_of(types, step)
    length: dict[Hashable, int] = {}
    for labels, a in ((first, x), (second, y)):
        for label, n in zip(labels, types[a].shape, strict=True):
            length[label] = max(n, length.get(label, 1))
    summed = [label for label in length if label not in result]

    def number(a: int, labels: Labels, at: dict[Hashable, Index]) -> Value:
        shape = types[a].shape
        return read[a][_position(tuple([ZERO if n == 1 else at[k] for k, n in zip(labels, shape, strict=True)]), shape)]

    found = []
    for place in all_places(tuple([length[label] for label in result])):
        total = literal(0, types[step.outs[0]].dtype)  # as NumPy's sums do: a sum of negative zeros is zero
        for inner in all_places(tuple([length[label] for label in summed])):
            at = dict(zip((*result, *summed), (*place, *inner), strict=True))
            total = e.op("fadd", total, e.op("fmul", number(x, first, at), number(y, second, at)))
        found.append(total)
    return found
