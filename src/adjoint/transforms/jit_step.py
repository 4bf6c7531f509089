"""A jitted function inside a derivative or a batch: one step, whose rules are jitted functions in their turn.

The step's value comes from the function's own recordings. Its JVP and VJP are jitted functions of the arguments and
their tangents or cotangents, its batch the jitted `vmap`; they are made when they are first wanted, and meet an outer
walk as steps again, so that derivatives of any order are run from recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent, pull_parts
from ..core.finite import all_finite
from ..core.float_warnings import words
from ..core.primitive import Primitive
from ..core.reverse import ReverseTrace
from ..core.traced import Traced
from ..core.values import Value, is_inexact, zeros_for
from ..ir.counts import is_count
from ..ir.effects import silenced
from ..ir.recording import is_dynamic
from ..rules.opaque import Opaque
from .jit_keys import Call
from .jvp import jvp as push_forward
from .recording import output_leaves, run
from .step import conjugated, writable
from .vjp import vjp_inside as pull_back
from .vmap import vmap

Flat = Callable[..., tuple[Value, ...]]


def call_inside(jitted: Any, call: Call) -> Any:
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
        args, kwargs = arguments(values)
        return fun(*args, **kwargs)

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
    found = step(*[call.leaves[k] for k in places])
    return shapes[-1](list(found))


class JitRule(Opaque):
    """The rules of a jitted function."""

    __slots__ = ("derived", "flat", "outside")
    by_parts = True

    def __init__(self, flat: Flat, derived: Any, outside: Any) -> None:
        super().__init__(self._push, self._pull)
        self.flat = flat
        self.derived = derived
        self.outside = outside
        """The floating-point conditions where it was called: rules are silent, but here the function runs once more."""

    def _push(self, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Any:
        moves, flat = tuple([t is not None for t in tangents]), self.flat

        def make() -> Callable[..., Any]:
            def pushed(args: Sequence[Value], moving: Sequence[Value]) -> Any:
                part, primals = _of_moving(flat, args, moves)
                with silenced():
                    return push_forward(part, primals, moving)[1]

            return pushed

        function = self.outside(self.derived("jvp", moves, make=make))
        found = function(tuple(args), tuple([t for t in tangents if t is not None]))
        return [t if is_inexact(o) else None for t, o in zip(found, out, strict=True)]

    def _pull(
        self, g: Sequence[Value], out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Value | None]:
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

    def pull_careful(
        self, primitive: Any, g: Any, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """The jitted rule where nothing but finite numbers is met; else a careful walk through the function."""
        if all(c is None or c.is_plain for c in g):
            found = self._pull([None if c is None else c.finite for c in g], out, args, params, needed)
            if all_finite(found):
                return [None if c is None else Cotangent(c) for c in found]
        trace = ReverseTrace()
        inputs = [trace.input(a) if need else a for a, need in zip(args, needed, strict=True)]
        try:
            with silenced():
                results = run(self.outside(self.flat), inputs, {})
            seeds = [
                (r.node, c)
                for r, c in zip(results, g, strict=True)
                if c is not None and isinstance(r, Traced) and r.walk is trace
            ]
            parts = iter(pull_parts(trace, seeds, sum(needed)))
        finally:
            trace.end()
        return [next(parts) if need else None for need in needed]


def _of_moving(flat: Flat, args: Sequence[Value], moves: Sequence[bool]) -> tuple[Flat, list[Value]]:
    def part(*moving: Value) -> tuple[Value, ...]:
        rest = iter(moving)
        return flat(*[next(rest) if m else a for a, m in zip(args, moves, strict=True)])

    return part, [a for a, m in zip(args, moves, strict=True) if m]
