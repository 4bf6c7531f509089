"""Steps put together from others that have machine code, and outputs that are results of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...core.entry.moves import Pad
from ...core.primitive import Primitive
from ...ir.builder import Builder
from ...ir.fold import made_by, may_fail, read_by, uses_of, values_of, written
from ...ir.formulas import composition_of, steps_of, written_out
from ...ir.passes import program_pass, without_dead
from ...ir.program import GUARD, Program, Step, Type
from ...ops.arithmetic import add, multiply
from ...ops.contraction import matmul
from ...ops.selection import where
from ...ops.shape import astype, broadcast_to, item
from ..assembly.kinds import is_known
from .factors import with_factors
from .identities import identities_of, multiplied_by_identity, times_identity
from .idle import without_idle
from .moving import ACCUMULATE, ZEROS, region_of
from .pair_forms import paired


@program_pass
def expanded(program: Program) -> Program:
    """The program in the words of the compiler; every output is the result of a step, and of one output alone."""
    program = paired(without_idle(program))
    work = Builder.of(program)
    uniform = _uniform(work, program.frozen)
    identities = identities_of(program)

    def change(step: Step) -> Step | Sequence[int]:
        if uniform and step.primitive.facts.kernel is not None:
            kept = _chosen(work, step, uniform)
            if kept is not None:
                return (kept,)
            if any([a not in uniform for a in step.args]):
                step = step._replace(args=tuple([uniform.get(a, a) for a in step.args]))
        number = _by_identity(work, step, identities)
        number = _in_other_words(work, step) if number is None else number
        return step if number is None else (number,)

    outputs = written(program, change, work.append)
    if identities or any(
        [s.primitive.facts.composition is not None for s in program.steps]
    ):  # of a result that nobody uses there may be left only that it did not raise
        work.rewrite(without_dead(work.build(outputs)).steps)
    with_factors(work)
    work.rewrite(_accumulated(work, outputs))
    made = made_by(work.steps)
    for o in outputs:
        t = work.types[o]
        if (o not in made or o in work.outputs) and is_known(t.dtype):
            o = work.add(astype, (o,), t, dtype=t.dtype)
        work.give([o])
    return work.build()


def _in_other_words(work: Builder, step: Step) -> int | None:
    """The number of the result of a step that is put together from others, which are appended; None for any other."""
    for expand in (OWN.get(step.primitive), _by_composition, _by_formula, _of_nothing):
        number = None if expand is None else expand(work, step)
        if number is not None:
            return number
    return None


def _by_identity(work: Builder, step: Step, identities: set[int]) -> int | None:
    """The number of a product of a matrix and the identity, without the product; None for any other step."""
    matrix, axis = multiplied_by_identity(work.types, step, identities)
    parts = None if matrix is None else steps_of(times_identity, (work.types[matrix],), (("axis", axis),))
    if matrix is None or parts is None:
        return None
    return _put_in(work, parts, (matrix,))[parts.outputs[0]]


def _item(work: Builder, step: Step) -> int | None:
    """The only element of an array is a number already."""
    t = work.types[step.outs[0]]
    return work.add(astype, step.args, t, dtype=t.dtype) if is_known(t.dtype) else None


def _outer_product(work: Builder, step: Step) -> int | None:
    """A product that sums one term: each element by itself, so that it need not be stored.

    With 0.0 added, as a sum begins with it: a product of -0.0 is 0.0.
    """
    x, y = (work.types[a] for a in step.args)
    t = work.types[step.outs[0]]
    if t.dtype.kind != "f" or x.dtype != y.dtype or min(len(x.shape), len(y.shape)) < 2 or x.shape[-1] != 1:
        return None
    zero = work.constant(t.dtype.type(0), Type(t.dtype, (), False))
    return work.add(add, (work.add(multiply, step.args, t), zero), t)


Expansion = Callable[[Builder, Step], int | None]
OWN: dict[Primitive, Expansion] = {item: _item, matmul: _outer_product}
"""What stands for single operations; most have a formula or a composition instead."""


def _by_composition(work: Builder, step: Step) -> int | None:
    """The number of the result of an operation whose parts are put in its place, with a guard if it may raise.

    Where that guard does not hold, the function is run once more without machine code, and raises what it raises.
    """
    if step.primitive.facts.composition is None or not _are_known(work, step):
        return None
    parts = composition_of(step.primitive, [work.types[a] for a in step.args], step.params)
    if parts is None or parts.types[parts.outputs[0]] != work.types[step.outs[0]]:
        return None
    found = _put_in(work, parts, step.args)
    if len(parts.outputs) > 1 and may_fail(work, step):
        work.append(Step(GUARD, (found[parts.outputs[1]],), {"expected": np.True_}, (), step.line))
    return found[parts.outputs[0]]


def _put_in(work: Builder, parts: Program, args: Sequence[int]) -> dict[int, int]:
    """Add the steps of a program, given the numbers of its inputs; the numbers of all its values."""
    return values_of(parts, _Put(work, parts), args)


class _Put(NamedTuple):
    """Numbers of the program that another one is put into."""

    work: Builder
    parts: Program

    def constant(self, number: int, value: object) -> int:
        return self.work.constant(value, self.parts.types[number])

    def step(self, step: Step, args: list[int]) -> tuple[int, ...]:
        outs = tuple([self.work.new(self.parts.types[o]) for o in step.outs])
        return _put(self.work, step._replace(args=tuple(args), outs=outs)), *outs[1:]


def _by_formula(work: Builder, step: Step) -> int | None:
    """An operation that has no code but a formula, whose steps have."""
    facts = step.primitive.facts
    if facts.formula is None or facts.kernel is not None:
        return None
    return written_out(work, step, _put) if _are_known(work, step) else None


def _are_known(work: Builder, step: Step) -> bool:
    """Whether there is machine code for what a step is given."""
    return all([is_known(work.types[a].dtype) for a in step.args])


def _put(work: Builder, step: Step) -> int:
    """Add a step, or what stands for it; the number of its result."""
    number = _in_other_words(work, step)
    if number is None:
        work.append(step)
    return step.outs[0] if number is None else number


def _of_nothing(work: Builder, step: Step) -> int | None:
    """A reduction of no elements: the same at every run."""
    reduces = step.primitive.facts.reduces
    if reduces is None or not reduces.takes_nothing or work.types[step.args[0]].size:
        return None
    x, t = work.types[step.args[0]], work.types[step.outs[0]]
    found = np.asarray(step.primitive.evaluate(np.zeros(x.shape, x.dtype), **step.params), t.dtype)
    number = work.constant(found.flat[0] if found.size else t.dtype.type(0), t._replace(shape=()))
    # of the elements, which are all the same: bodies of loops have no arrays among their constants
    return work.add(broadcast_to, (number,), t, shape=t.shape) if t.shape else number


def _accumulated(work: Builder, outputs: list[int]) -> list[Step]:
    """Sums of small pads, as the gradient of reading single elements makes them, become additions in place.

    `(pad(a) + pad(b)) + pad(c)` starts from zeros and adds a, b and c where they belong: the same sums, as 0.0 + a is
    what a sum of pads has there.
    """
    uses = uses_of(work.steps, outputs)
    sums: set[int] = set()
    pads: dict[int, Step] = {}
    for s in work.steps:
        if isinstance(s.primitive.facts.moves, Pad) and uses[s.outs[0]] == 1 and _is_small(work, s):
            pads[s.outs[0]] = s
    if not pads:
        return work.steps
    steps: list[Step] = []
    for s in work.steps:
        if s.primitive is not add or s.args[0] == s.args[1]:
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
            steps.append(Step(ZEROS, (), {}, (zeros,)))
            start = work.new(work.types[x])
            pad = pads[x]
            steps.append(Step(ACCUMULATE, (zeros, pad.args[0]), pad.params, (start,)))
            x = start
        pad = pads[y]
        steps.append(Step(ACCUMULATE, (x, pad.args[0]), pad.params, s.outs))
        sums.add(s.outs[0])
    used = read_by(steps, outputs)
    return [s for s in steps if not s.outs or s.outs[0] not in pads or s.outs[0] in used]


def _is_small(work: Builder, step: Step) -> bool:
    """Whether a pad is mostly zeros."""
    t, region = work.types[step.outs[0]], region_of(work.types, step)
    if region is None or t.dtype.kind != "f" or t.dtype != work.types[step.args[0]].dtype:
        return False
    return 2 * math.prod(region.shape) <= t.size


def _uniform(work: Builder, frozen: frozenset[int]) -> dict[int, int]:
    """Arrays that hold one number only, and that number: a loop then need not read them."""
    found = {}
    for n in frozen:
        value = work.constants.get(n)
        if isinstance(value, np.ndarray) and value.size and is_known(value.dtype):
            first = value[(0,) * value.ndim]
            if _is_one(value, first):
                found[n] = work.constant(first, Type(value.dtype, (), False))
    return found


def _is_one(value: np.ndarray, first: object) -> bool:
    """Whether all elements are this number, signs of zeros included."""
    same = bool((value == first).all())
    return same and not (value.dtype.kind == "f" and first == 0 and np.signbit(value).any() != np.signbit(value).all())


def _chosen(work: Builder, step: Step, uniform: dict[int, int]) -> int | None:
    """What `where` gives if its condition is the same everywhere, and the chosen value is of the result's type."""
    if step.primitive is not where or step.args[0] not in uniform:
        return None
    kept = step.args[1] if work.constants[uniform[step.args[0]]] else step.args[2]
    have, want = work.types[kept], work.types[step.outs[0]]
    return kept if have.dtype == want.dtype and have.shape == want.shape and not have.weak else None
