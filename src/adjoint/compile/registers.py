"""Whole operations on values that live in registers: elements change places, or are multiplied and summed."""

from __future__ import annotations

import math
from typing import Any

from ..ir.program import Step
from .emit import Emitter, literal, llvm_type
from .indices import Place, broadcast, constant, cuts, row_major
from .plan import Plan
from .scalar.casting import cast


def differs(e: Emitter, register: str, value: Any, dtype: Any) -> str:
    """Whether a register holds anything else than a value, to the last bit; one nan is as good as another."""
    kind = llvm_type(dtype)
    if dtype.kind != "f":
        return e.op(f"icmp ne {kind} {register}, {literal(value, dtype)}")
    if value != value:
        return e.op(f"fcmp ord {kind} {register}, {register}")
    whole_kind = "i64" if dtype.itemsize == 8 else "i32"
    bits = e.op(f"bitcast {kind} {register} to {whole_kind}")
    want = e.op(f"bitcast {kind} {literal(value, dtype)} to {whole_kind}")
    return e.op(f"icmp ne {whole_kind} {bits}, {want}")


def all_places(shape: tuple[int, ...]) -> list[Place]:
    """Every place of a small array, row by row."""
    found: list[Place] = [()]
    for n in shape:
        found = [(*place, constant(k)) for place in found for k in range(n)]
    return found


def whole_tiny(kernel: Any, step: Step) -> list[str]:
    """A whole operation on values in registers: elements change places, or are multiplied and summed."""
    plan, x = kernel.plan, kernel.elements
    (v,) = step.outs
    t = plan.types[v]
    name = step.primitive.name
    if name == "zeros":
        return [literal(0, t.dtype)] * t.size
    read = {a: [x.at(a, place) for place in all_places(plan.types[a].shape)] for a in step.args}
    if name in ("stack", "concatenate"):
        return _joined(plan, step, read)
    if name == "matmul":
        return _product(kernel, step, read)
    if name == "unindex":
        out = [literal(0, t.dtype)] * t.size
        value = step.args[0]
    else:
        out = list(read[step.args[0]])
        if plan.types[step.args[0]].dtype != t.dtype:
            out = [cast(kernel.e, r, plan.types[step.args[0]].dtype, t.dtype) for r in out]
        value = step.args[1]
    found = cuts(step.params["template"], t.shape)
    assert found is not None
    region = tuple([1 if a is None else found[0][a].length for a in found[1]])
    strides = row_major(t.shape)
    have = plan.types[value].shape
    for place in all_places(region):
        spot = sum([c.start * s for c, s in zip(found[0], strides, strict=True)])
        for i, a in zip(place, found[1], strict=True):
            if a is not None:
                spot += i.shift * found[0][a].step * strides[a]
        source = (
            place[len(place) - len(have) :]
            if len(have) <= len(place)
            else (constant(0),) * (len(have) - len(place)) + place
        )
        k = sum([0 if n == 1 else i.shift * s for i, n, s in zip(source, have, row_major(have), strict=True)])
        new = cast(kernel.e, read[value][k], plan.types[value].dtype, t.dtype)
        out[spot] = kernel.e.op(f"fadd {llvm_type(t.dtype)} {out[spot]}, {new}") if name == "accumulate" else new
    return out


def _joined(plan: Plan, step: Step, read: dict[int, list[str]]) -> list[str]:
    (v,) = step.outs
    shape, axis = plan.types[v].shape, step.params["axis"] % len(plan.types[v].shape)
    parts = []
    for a in step.args:
        length = 1 if step.primitive.name == "stack" else plan.types[a].shape[axis]
        parts.append((length * math.prod(shape[axis + 1 :]), read[a]))
    found: list[str] = []
    for row in range(math.prod(shape[:axis])):
        for width, registers in parts:
            found += registers[row * width : (row + 1) * width]
    return found


def _product(kernel: Any, step: Step, read: dict[int, list[str]]) -> list[str]:
    e, (x, y) = kernel.e, step.args
    types = kernel.plan.types
    (v,) = step.outs
    kind = llvm_type(types[v].dtype)
    a, b = types[x].shape, types[y].shape
    rows, inner, columns = (a[-2] if len(a) > 1 else 1), a[-1], (b[-1] if len(b) > 1 else 1)
    found = []
    for na, nb in _matched(a[:-2], b[:-2]):
        for i in range(rows):
            for j in range(columns):
                total = "0.0"  # as NumPy's sums do: a sum of negative zeros is zero
                for k in range(inner):
                    first, second = read[x][(na * rows + i) * inner + k], read[y][(nb * inner + k) * columns + j]
                    total = e.op(f"fadd {kind} {total}, {e.op(f'fmul {kind} {first}, {second}')}")
                found.append(total)
    return found


def _matched(a: tuple[int, ...], b: tuple[int, ...]) -> list[tuple[int, int]]:
    """For stacks of matrices that are broadcast: which ones are multiplied with each other."""
    wide, narrow = (a, b) if len(a) >= len(b) else (b, a)
    extra = len(wide) - len(narrow)
    joined = [m if n == 1 else n for n, m in zip(wide[extra:], narrow, strict=True)]
    places = all_places((*wide[:extra], *joined))

    def number(place: Place, shape: tuple[int, ...]) -> int:
        return sum([i.shift * s for i, s in zip(broadcast(place, shape), row_major(shape), strict=True)])

    return [(number(place, a), number(place, b)) for place in places]
