"""A jitted function inside a derivative or a batch: one step, whose rules are jitted functions in their turn.

The step's value comes from the function's own recordings. Its JVP and VJP are jitted functions of the arguments and
their tangents or cotangents, its batch the jitted `vmap`; they are made when they are first wanted, and meet an outer
trace as steps again, so that derivatives of any order are run from recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from ...capture.recording.recording import is_dynamic
from ...capture.recording.state import noting_puts, take_back
from ...core.calls.float_warnings import words
from ...core.primitive import Primitive
from ...core.reverse import ReverseTrace
from ...core.rule import Needed, Rule, Slots, Tangents
from ...core.series import Expansion, by_push
from ...core.singular.careful_sweep import pull_parts
from ...core.singular.finite import all_finite
from ...core.singular.structural_zeros import Cotangent
from ...core.taylor import TaylorTrace
from ...core.traced import Traced, is_of
from ...core.types import Numeric, Params
from ...core.values import Value, is_inexact, zeros_for
from ...ir.counts import is_count
from ...ir.effects import silenced
from ...rules.one_sided import is_settled
from ...rules.residuals import like, near_by_push
from ..calling import call_traced, run
from ..interface.checking import output_leaves
from ..jvp import jvp as push_forward
from ..step import conjugated, writable
from ..vjp import vjp_inside as pull_back
from ..vmap import vmap
from .keys import CallParts

Flat = Callable[..., tuple[Value, ...]]


def call_inside(jitted: Any, call: CallParts) -> Any:
    """The result of a call with traced leaves."""
    places = [k for k, x in enumerate(call.leaves) if isinstance(x, Traced) or is_dynamic(x) or is_count(x)]
    dynamic = frozenset(places)
    fixed, rebuild = tuple([None if k in dynamic else x for k, x in enumerate(call.leaves)]), call.rebuild
    shapes: list[Any] = []
    kind, fun = call.loose, jitted.fun

    def arguments(values: Sequence[Value]) -> tuple[Any, dict[str, Any]]:
        full = list(fixed)
        for k, v in zip(places, values, strict=True):
            full[k] = v
        return rebuild(full)

    def whole(*values: Value) -> Any:
        return call_traced(fun, *arguments(values))

    def flat(*values: Value) -> tuple[Value, ...]:
        return tuple(output_leaves(whole(*values), "jit")[0])

    def noted(result: Any) -> tuple[Value, ...]:
        outputs, shape = output_leaves(result, "jit")
        shapes.append(shape)
        return tuple([writable(o) for o in outputs])

    def evaluate(*values: Value) -> tuple[Value, ...]:
        args, kwargs = arguments(values)
        return noted(jitted.on_plain(*args, **kwargs))

    def stacked(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Any:
        axes = tuple([0 if b else None for b in batched])
        return noted(derived("vmap", axes, make=lambda: vmap(whole, in_axes=axes))(*values))

    def derived(*about: Any, make: Callable[[], Callable[..., Any]]) -> Any:
        return jitted.derived((kind, *about), make)

    rule = JitRule(flat, derived, np.errstate(**words()))
    step = Primitive("jit", evaluate, derivative=rule, stacking=stacked, multiple=True)
    given = [call.leaves[k] for k in places]
    if not jitted._learned.keeps_state:
        lengths = _lengths(given)
        with noting_puts() as puts:
            found = step(*given)
        if not puts:
            return shapes[-1](list(found))
        take_back(puts)  # a rule would run the function once more, with the state that it has left
        for trace, length in lengths:
            trace.shorten(length)
        jitted._learned.keeps_state = True
    return call_traced(fun, *rebuild(call.leaves))


def _lengths(values: Sequence[Any]) -> list[tuple[ReverseTrace, int]]:
    """The traces that will record a step of these values, and how long they are."""
    found = dict[int, tuple[ReverseTrace, int]]()
    for x in values:
        while isinstance(x, Traced):
            if type(x.traced_by) is ReverseTrace:
                found[id(x.traced_by)] = x.traced_by, len(x.traced_by)
            x = x.value
    return list(found.values())


@final
class JitRule(Rule[Any]):
    """The rules of a jitted function."""

    __slots__ = ("derived", "flat", "outside")
    flat: Flat
    is_at_point = True
    near = near_by_push

    def __init__(self, flat: Flat, derived: Callable[..., Any], outside: Any) -> None:
        self.flat = flat
        self.derived = derived
        self.outside = outside
        """The floating-point conditions where it was called: rules are silent, but here the function runs once more."""

    def push(self, primitive: Primitive, tangents: Tangents, out: Any, args: Sequence[Numeric], params: Params) -> Any:
        """The tangents of the results, by a jitted function."""
        moves, flat = tuple([t is not None for t in tangents]), self.flat

        def make() -> Callable[..., Any]:
            def pushed(args: Sequence[Value], moving: Sequence[Value]) -> Any:
                part, primals = _of_moving(flat, args, moves)
                with silenced():
                    return push_forward(part, primals, moving)[1]

            return pushed

        function = self.outside(self.derived("jvp", moves, make=make))
        found = function(tuple(args), tuple([t for t in tangents if t is not None]))
        return [like(t, o) if is_inexact(o) else None for t, o in zip(found, out, strict=True)]

    def expand(self, step: Expansion) -> Callable[[int], Any]:
        """The coefficients of the results, by a trace through the function: its tangents know conventions at kinks.

        Inside another rule, where not all coefficients of the arguments are known yet, by the tangents.
        """
        if not is_settled(step):
            return by_push(step)
        found: list[list[Any]] = []

        def find(k: int) -> list[Any]:
            if not found:
                found.extend(self._series(step))
            return [row[k] for row in found]

        return find

    def _series(self, step: Expansion) -> list[list[Any]]:
        outer = step.trace
        trace = TaylorTrace(outer.order, is_certain=outer.is_certain, side=outer.side)
        inputs = [
            v if row is None else trace.input(v, *row.known[1:]) for row, v in zip(step.rows, step.values, strict=True)
        ]
        try:
            with silenced():
                results = run(self.outside(self.flat), inputs, {})
            orders = range(outer.order + 1)
            return [[r.node.at(k) if is_of(r, trace) else None for k in orders] for r in results]
        finally:
            trace.end()
            outer.in_doubt |= trace.in_doubt
            outer.has_kinks |= trace.has_kinks

    def pull(
        self, primitive: Primitive, g: Any, out: Any, args: Sequence[Numeric], params: Params, needed: Needed
    ) -> list[Any]:
        """The cotangents of the arguments, by a jitted function."""
        needed, flat = tuple([bool(n) for n in needed]), self.flat
        arrived = tuple([c is not None and is_inexact(o) for c, o in zip(g, out, strict=True)])

        def make() -> Callable[..., Any]:
            def pulled(args: Sequence[Value], cotangents: Sequence[Value]) -> Any:
                part, primals = _of_moving(flat, args, needed)
                with silenced():
                    values, pullback = pull_back(part, *primals)
                rest = iter(cotangents)
                full = [conjugated(next(rest)) if a else zeros_for(v) for a, v in zip(arrived, values, strict=True)]
                return tuple([conjugated(c) for c in pullback(tuple(full))])

            return pulled

        function = self.outside(self.derived("vjp", needed, arrived, make=make))
        found = iter(function(tuple(args), tuple([c for c, a in zip(g, arrived, strict=True) if a])))
        return [next(found) if need else None for need in needed]

    def pull_slots(
        self, primitive: Primitive, slots: Slots, out: Any, args: Sequence[Numeric], params: Params, needed: Needed
    ) -> list[Cotangent | None]:
        """The jitted rule where nothing but finite numbers is met; else a careful sweep through the function."""
        if all(c is None or c.is_plain for c in slots):
            parts = [None if c is None else c.finite for c in slots]
            found = self.pull(primitive, parts, out, args, params, needed)
            if all_finite(found):
                return [None if c is None else Cotangent(c) for c in found]
        trace = ReverseTrace()
        inputs = [trace.input(a) if need else a for a, need in zip(args, needed, strict=True)]
        try:
            with silenced():
                results = run(self.outside(self.flat), inputs, {})
            seeds = [(r.node, c) for r, c in zip(results, slots, strict=True) if c is not None and is_of(r, trace)]
            inner = iter(pull_parts(trace, seeds, sum(needed)))
        finally:
            trace.end()
        return [next(inner) if need else None for need in needed]


def _of_moving(flat: Flat, args: Sequence[Value], moves: Sequence[bool]) -> tuple[Flat, list[Value]]:
    def part(*moving: Value) -> tuple[Value, ...]:
        rest = iter(moving)
        return flat(*[next(rest) if m else a for a, m in zip(args, moves, strict=True)])

    return part, [a for a, m in zip(args, moves, strict=True) if m]
