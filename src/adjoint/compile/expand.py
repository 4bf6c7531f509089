"""Steps put together from others that have machine code, and outputs that are results of their own."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from ..ir.program import Program, Step, Type
from .emit import is_known
from .indices import cuts
from .scalar.table import SCALARS


class Named:
    """Stands for a primitive by its name: all that machine code is found by."""

    __slots__ = ("name",)
    multiple = False

    def __init__(self, name: str) -> None:
        self.name = name


COPY: Any = Named("astype")
BOOL = np.dtype(np.bool)
EMPTY = frozenset(("sum", "prod", "any", "all"))
"""Reductions that take arrays without elements."""


def expanded(program: Program) -> Program:
    """The program in the words of the compiler; every output is the result of a step, and of one output alone."""
    work = Program(list(program.types), list(program.inputs), dict(program.constants), [], [])
    same: dict[int, int] = {}
    uniform = _uniform(work, program.frozen)
    for step in program.steps:
        if same:
            step = step._replace(args=tuple([same.get(a, a) for a in step.args]))
        if uniform and step.primitive.name in SCALARS:
            kept = _chosen(work, step, uniform)
            if kept is not None:
                same[step.outs[0]] = kept
                continue
            if any([a not in uniform for a in step.args]):
                step = step._replace(args=tuple([uniform.get(a, a) for a in step.args]))
        if step.primitive.name == "logsumexp" and program.types[step.outs[0]].dtype.kind == "f":
            same[step.outs[0]] = _logsumexp(work, step)
        elif step.primitive.name == "item" and is_known(work.types[step.outs[0]].dtype):
            work.steps.append(step._replace(primitive=COPY, params={"dtype": work.types[step.outs[0]].dtype}))
        elif step.primitive.name == "roll":
            same[step.outs[0]] = _roll(work, step)
        elif step.primitive.name in EMPTY and work.types[step.args[0]].size == 0:
            same[step.outs[0]] = _of_nothing(work, step)
        else:
            work.steps.append(step)
    outputs = [same.get(o, o) for o in program.outputs]
    work.steps = _accumulated(work, outputs)
    made = {o for s in work.steps for o in s.outs}
    for o in outputs:
        t = work.types[o]
        if (o not in made or o in work.outputs) and is_known(t.dtype):
            o = _add(work, "astype", (o,), t, dtype=t.dtype)
        work.outputs.append(o)
    return work


def _accumulated(work: Program, outputs: list[int]) -> list[Step]:
    """Sums of small pads, as the gradient of reading single elements makes them, become additions in place.

    `(pad(a) + pad(b)) + pad(c)` starts from zeros and adds a, b and c where they belong: the same sums, as 0.0 + a is
    what a sum of pads has there.
    """
    uses = Counter([a for s in work.steps for a in s.args] + outputs)
    sums: set[int] = set()
    pads: dict[int, Step] = {}
    for s in work.steps:
        if s.primitive.name == "unindex" and len(s.args) == 1 and uses[s.outs[0]] == 1 and _is_small(work, s):
            pads[s.outs[0]] = s
    if not pads:
        return work.steps
    steps: list[Step] = []
    for s in work.steps:
        if s.primitive.name != "add" or s.args[0] == s.args[1]:
            steps.append(s)
            continue
        x, y = s.args
        if y not in pads:
            x, y = y, x
        fits = y in pads and (x in pads or (x in sums and uses[x] == 1)) and work.types[x] == work.types[y]
        if not fits or work.types[s.outs[0]] != work.types[y]:
            steps.append(s)
            continue
        if x in pads:
            zeros = work.new(work.types[x])
            steps.append(Step(Named("zeros"), (), {}, (zeros,)))
            start = work.new(work.types[x])
            pad = pads[x]
            steps.append(
                Step(Named("accumulate"), (zeros, pad.args[0]), {"template": pad.params["template"]}, (start,))
            )
            x = start
        pad = pads[y]
        steps.append(Step(Named("accumulate"), (x, pad.args[0]), {"template": pad.params["template"]}, s.outs))
        sums.add(s.outs[0])
    used = {a for s in steps for a in s.args} | set(outputs)
    return [s for s in steps if s.primitive.name != "unindex" or s.outs[0] in used]


def _is_small(work: Program, step: Step) -> bool:
    """Whether a pad is mostly zeros."""
    t = work.types[step.outs[0]]
    found = cuts(step.params["template"], t.shape)
    if found is None or t.dtype.kind != "f" or t.dtype != work.types[step.args[0]].dtype:
        return False
    return 2 * math.prod([c.length for c in found[0]]) <= t.size


def _uniform(work: Program, frozen: set[int]) -> dict[int, int]:
    """Arrays that hold one number only, and that number: a loop then need not read them."""
    found = {}
    for n in frozen:
        value = work.constants.get(n)
        if isinstance(value, np.ndarray) and value.size and is_known(value.dtype):
            first = value[(0,) * value.ndim]
            if _is_one(value, first):
                found[n] = work.new(Type(value.dtype, (), False))
                work.constants[found[n]] = first
    return found


def _is_one(value: np.ndarray, first: Any) -> bool:
    """Whether all elements are this number, signs of zeros included."""
    same = bool((value == first).all())
    return same and not (value.dtype.kind == "f" and first == 0 and np.signbit(value).any() != np.signbit(value).all())


def _chosen(work: Program, step: Step, uniform: dict[int, int]) -> int | None:
    """What `where` gives if its condition is the same everywhere, and the chosen value is of the result's type."""
    if step.primitive.name != "where" or step.args[0] not in uniform:
        return None
    kept = step.args[1] if work.constants[uniform[step.args[0]]] else step.args[2]
    have, want = work.types[kept], work.types[step.outs[0]]
    return kept if have.dtype == want.dtype and have.shape == want.shape and not have.weak else None


def _add(work: Program, name: str, args: tuple[int, ...], t: Type, **params: Any) -> int:
    out = work.new(t)
    work.steps.append(Step(Named(name), args, params, (out,)))
    return out


def _number(work: Program, value: float) -> int:
    out = work.new(Type(np.dtype(float), (), True))
    work.constants[out] = value
    return out


def _of_nothing(work: Program, step: Step) -> int:
    """A reduction of no elements: the same at every run."""
    x, t = work.types[step.args[0]], work.types[step.outs[0]]
    out = work.new(t)
    found = step.primitive.evaluate(np.zeros(x.shape, x.dtype), **step.params)
    work.constants[out] = np.asarray(found, t.dtype) if t.shape else t.dtype.type(found)
    return out


def _roll(work: Program, step: Step) -> int:
    """Two slices in the other order, for each axis."""
    (x,) = step.args
    for shift, axis in zip(step.params["shift"], step.params["axis"], strict=True):
        t = work.types[x]
        axis %= len(t.shape)
        n = t.shape[axis]
        if n == 0 or shift % n == 0:
            continue
        parts = []
        for piece in (slice(n - shift % n, None), slice(None, n - shift % n)):
            key = (*[slice(None)] * axis, piece)
            shape = (*t.shape[:axis], len(range(*piece.indices(n))), *t.shape[axis + 1 :])
            parts.append(_add(work, "index", (x,), t._replace(shape=shape), template=key))
        x = _add(work, "concatenate", (parts[0], parts[1]), t, axis=axis)
    return x


def _logsumexp(work: Program, step: Step) -> int:
    """log(sum(exp(x - m))) + m with the largest element m, or 0 where that is infinite."""
    (x,), axis = step.args, step.params["axis"]
    t, out = work.types[x], work.types[step.outs[0]]
    axes = {a % len(t.shape) for a in axis}
    thin = Type(t.dtype, tuple([1 if a in axes else n for a, n in enumerate(t.shape)]), False)
    zero = _number(work, 0.0)
    top = _add(work, "max", (x,), thin, axis=axis, keepdims=True)
    sound = _add(work, "isfinite", (top,), thin._replace(dtype=BOOL))
    base = _add(work, "where", (sound, top, zero), thin)
    moved = _add(work, "subtract", (x, base), t)
    terms = _add(work, "exp", (moved,), t)
    total = _add(work, "sum", (terms,), thin, axis=axis, keepdims=True)
    found = _add(work, "add", (_add(work, "log", (total,), thin), base), thin)
    return found if step.params["keepdims"] else _add(work, "reshape", (found,), out, shape=out.shape)
