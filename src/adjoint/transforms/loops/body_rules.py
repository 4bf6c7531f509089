"""From the program of a body to those of its tangents and of its batches, and the rule of a loop.

Nothing here differentiates a program: it is replayed through a trace, and what that does is captured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar, final

import numpy as np

from ...core.batch import BatchTrace
from ...core.calls.float_warnings import quiet
from ...core.forward import ForwardTrace, met
from ...core.primitive import Primitive
from ...core.reverse import ReverseTrace, pull
from ...core.rule import Needed, Rule, Slots, Tangents
from ...core.series import Expansion, Series
from ...core.singular.careful_sweep import pull_parts
from ...core.singular.structural_zeros import Cotangent
from ...core.taylor import TaylorTrace
from ...core.traced import Traced
from ...core.types import Params
from ...core.values import Value, zeros_for
from ...ir.capture import example
from ...ir.fold import reached
from ...ir.interpret import replay
from ...ir.loops import Operands, Part, split
from ...ir.program import Program, Step
from ...rules.stacking import repeated
from ..sweeps.back import has_replaced
from .capture import Body, as_numpy_scalar, captured, derived, leading_example

T = TypeVar("T")
Record = TypeVar("Record", bound=Operands)
Values = Sequence[Value]
Marks = Sequence[bool]


def examples(loop: Record) -> Record:
    """Plain values for one step: those of the first."""
    return loop.map(lambda v: as_numpy_scalar(example(v)), stacked=leading_example)


def chosen(values: Sequence[T], marks: Marks) -> list[T]:
    """The marked ones."""
    return [v for v, m in zip(values, marks, strict=True) if m]


def spread(marks: Record, part: Part, program: Program, *, smoothly: bool) -> tuple[Record, list[Marks]]:
    """The marks with what they spread to in the carry from step to step; and those of last carry and other results.

    They spread to whatever depends on what is marked; `smoothly`, so that a derivative may flow.
    """

    def make() -> tuple[Record, list[Marks]]:
        now = marks
        while True:
            had: tuple[bool, ...] = getattr(now, part.carries) if part.carries else ()
            ends, others = split(_reached(program, now.inputs(part), smoothly), len(had))
            both = tuple([a or b for a, b in zip(had, ends, strict=True)])
            if both == had:
                return now, [had, others]
            now = now.having(**{part.carries: both})

    return derived(program, ("spread", part, marks, smoothly), make)


def _reached(program: Program, inputs: Marks, smoothly: bool) -> list[bool]:
    def smooth(step: Step) -> Iterable[int]:
        is_still = step.primitive.derivative.is_zero
        return () if is_still else [o for o in step.outs if program.types[o].dtype.kind in "fc"]

    start = chosen(program.inputs, inputs)
    marked = reached(program.steps, start, smooth) if smoothly else reached(program.steps, start)
    return [o in marked for o in program.outputs]


# Forward: after each group, the tangents of what moves in it; for Taylor series, all coefficients up to an order.


def with_tangents(values: Values, tangents: Values, moves: Marks, order: int = 0) -> list[Value]:
    """A group and the tangents of what moves in it, or its towers of coefficients; what is None is 0 so far."""
    moving = chosen(list(zip(values, tangents, strict=True)), moves)
    if not order:
        return [*values, *[zeros_for(v) if t is None else t for v, t in moving]]
    rows = [(v, [None] * order if tower is None else tower) for v, tower in moving]
    return [*values, *[zeros_for(v) if c is None else c for v, tower in rows for c in tower]]


def parted(found: Values, moves: Sequence[Marks], order: int = 0) -> tuple[list[Value], list[Any]]:
    """The values of groups of results and their tangents, or towers, None for what does not move: the way back."""
    rest = iter(found)
    values: list[Value] = []
    tangents: list[Any] = []
    for group in moves:
        values += [next(rest) for _ in group]
        tangents += [([next(rest) for _ in range(order)] if order else next(rest)) if m else None for m in group]
    return values, tangents


def pushed_body(
    program: Program,
    part: Part,
    loop: Record,
    moves: Record,
    ends: Sequence[Marks],
    order: int = 0,
    *,
    speculative: bool = False,
) -> Body:
    """The program of values and tangents, for operands `with_tangents` and results that are `parted`."""
    groups = moves.taken(part)

    def step(*flat: Value) -> list[Value]:
        values, tangents = parted(flat, groups, order)
        trace = TaylorTrace(order) if order else ForwardTrace()
        nodes = [None if t is None else Series([v, *t]) if order else t for v, t in zip(values, tangents, strict=True)]
        found = replay(program, [v if n is None else Traced(v, trace, n) for v, n in zip(values, nodes, strict=True)])
        mine = [isinstance(o, Traced) and o.traced_by is trace for o in found]
        out = [o.value if m else o for o, m in zip(found, mine, strict=True)]
        moved = [o.node if m else None for o, m in zip(found, mine, strict=True)]
        if order:
            moved = [row and [row.at(k) for k in range(1, order + 1)] for row in moved]
        sizes = [len(end) for end in ends[:-1]]
        rows = zip(split(out, *sizes), split(moved, *sizes), ends, strict=True)
        return [x for group in rows for x in with_tangents(*group, order)]

    def make() -> tuple[Body, bool]:
        still = loop.map(lambda _: None)
        with_zeros = examples(loop).each(partial(with_tangents, order=order), still, moves)
        before, met.vertex = met.vertex, False
        try:
            return captured(step, with_zeros.inputs(part), speculative=speculative and not order), met.vertex
        finally:
            met.vertex = before

    key = ("push", part, moves, tuple([tuple(end) for end in ends]), order, speculative)
    found, may_meet_vertex = derived(program, key, make)
    met.vertex = met.vertex or may_meet_vertex
    return found


# Backward: see also step_back.py.


def pulled(trace: ReverseTrace, found: Values, slots: Slots, moves: Marks, *, careful: bool) -> list[Cotangent | None]:
    """The cotangents of the inputs of a trace (one for each that moves), given those of its results."""
    pairs = zip(found, slots, strict=True)
    seeds = [(o.node, g) for o, g in pairs if g is not None and isinstance(o, Traced) and o.traced_by is trace]
    back: Sequence[Cotangent | None]
    if careful:
        back = pull_parts(trace, seeds, sum(moves))
    elif has_replaced(trace):  # whoever sweeps back will see that it has to be careful
        parts = [None if c is None else c.masked() for c in pull_parts(trace, seeds, sum(moves))]
        back = [c and Cotangent(c.finite if c.doubt is None else np.where(c.doubt, np.nan, c.finite)) for c in parts]
    else:
        plain = pull(trace, [(place, g.finite) for place, g in seeds], sum(moves))
        back = [None if c is None else Cotangent(c) for c in plain]
    rest = iter(back)
    return [next(rest) if m else None for m in moves]


Pull = Callable[[Slots, Values, Values, Params, Marks, bool], list[Cotangent | None]]
"""(cotangents, results, arguments, params, which are needed, careful) -> cotangents of the arguments."""


def pulled_by(formula: Callable[[Values, Params], Values]) -> Pull:
    """The sweep back of what is equal to a formula of other primitives, `(args, params) -> results`."""

    def pull_formula(
        slots: Slots, out: Values, args: Values, params: Params, needed: Marks, careful: bool
    ) -> list[Cotangent | None]:
        trace = ReverseTrace()
        handles = [trace.input(a) if need else a for a, need in zip(args, needed, strict=True)]
        return pulled(trace, formula(handles, params), slots, needed, careful=careful)

    return pull_formula


# Batches: the axis of the examples stands in front, and behind that of the steps.


def batched(program: Program, part: Part, loop: Operands, marks: Operands, outs: Marks, size: int) -> Body:
    """The program for a whole batch: marked inputs and outputs have the batch axis in front."""

    def step(*values: Value) -> list[Value]:
        trace = BatchTrace(size)
        handles = [Traced(v, trace, None) if m else v for v, m in zip(values, marks.inputs(part), strict=True)]
        return [unbatched(o, trace) if m else o for o, m in zip(replay(program, handles), outs, strict=True)]

    make = lambda: captured(step, examples(loop).inputs(part))  # noqa: E731
    return derived(program, ("batch", part, marks, tuple(outs), size), make)


def batch_in_front(loop: Record, had: Record, marks: Record, size: int) -> Record:
    """The operands of a batched loop: what differs between examples later on does so from the start."""
    return loop.map(
        lambda v, h, m: repeated(as_numpy_scalar(v), size) if m and not h else v,
        had,
        marks,
        stacked=lambda v, h, m: np.moveaxis(v, 0, 1) if h else v,
    )


def unbatched(x: Value, trace: BatchTrace) -> Value:
    """A value with the batch axis in front, whether it differs between the examples or not."""
    return x.value if isinstance(x, Traced) and x.traced_by is trace else repeated(as_numpy_scalar(x), trace.size)


@final
class LoopRule(Rule[Any]):
    """The derivative of a loop, from two functions.

    Parameters
    ----------
    push : callable
        `(tangents, args, params, order=0) -> results, their tangents`, None where there is none: one loop finds both.
        With an order, a tangent is a tower: the list of all Taylor coefficients from the first on.
    pull : callable
        `(slots, out, args, params, needed, careful) -> cotangents of the arguments`, in parts.
    flat : callable, optional
        `(*args, **params) -> results`, step by step, for what has to look inside.
    """

    __slots__ = ("_pull", "_push", "flat")
    pushes_together = True

    def __init__(
        self,
        push: Callable[..., tuple[Values, Any]],
        pull: Pull,
        flat: Callable[..., Sequence[Value]] | None = None,
    ) -> None:
        self._push = push
        self._pull = pull
        self.flat = flat

    def push(self, primitive: Primitive, tangents: Tangents, out: Any, args: Values, params: Params) -> Values:
        """The tangents of the results."""
        return self._push(tangents, args, params)[1]

    @quiet
    def push_together(
        self, primitive: Primitive, tangents: Tangents, args: Values, params: Params
    ) -> tuple[Values, Values]:
        """The results and their tangents."""
        if all(t is None for t in tangents):
            out = primitive(*args, **params)
            return out, [None] * len(out)
        return self._push(tangents, args, params)

    def push_towers(
        self, primitive: Primitive, towers: Sequence[Any], args: Values, params: Params, order: int
    ) -> tuple[Values, Any]:
        """The results and their Taylor coefficients, by a loop of towers."""
        if order == 0:
            out = primitive(*args, **params)
            return out, [None] * len(out)
        return self._push(towers, args, params, order)

    def expand(self, step: Expansion) -> Callable[[int], list[Value | None]]:
        """Inside another rule: loops to ever higher orders, as far as the coefficients of the arguments are known."""
        found: list[Any] = []

        def find(k: int) -> list[Value | None]:
            if not found or found[0] < k:
                order = max(k, min([len(row.known) for row in step.rows if row is not None]) - 1)
                towers = [None if row is None else [row.at(i) for i in range(1, order + 1)] for row in step.rows]
                found[:] = order, self._push(towers, step.values, step.params, order)[1]
            return [None if tower is None else tower[k - 1] for tower in found[1]]

        return find

    def pull(
        self, primitive: Primitive, g: Any, out: Any, args: Values, params: Params, needed: Needed
    ) -> list[Value | None]:
        """The cotangents of the arguments, by the plain sweep."""
        slots = [None if c is None else Cotangent(c) for c in g]
        return [None if c is None else c.finite for c in self._pull(slots, out, args, params, needed, False)]

    def pull_slots(
        self, primitive: Primitive, slots: Slots, out: Any, args: Values, params: Params, needed: Needed
    ) -> list[Cotangent | None]:
        """The cotangents of the arguments, by the careful sweep."""
        return self._pull(slots, out, args, params, needed, True)
