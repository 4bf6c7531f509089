"""The coefficients of a function along a curve, in one sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.errors import InputError, message
from ...core.forward import met
from ...core.hints import public_name
from ...core.taylor import TaylorTrace
from ...core.traced import Traced, is_of
from ...core.tree import flatten
from ...core.values import Value, concrete, describe, dtype_of, is_python, may_hold, shape_of, unshared, zeros_for
from ..calling import run
from ..interface.checking import checked_inputs, checked_tangents, given_leaves, output_leaves
from ..interface.presenting import finished
from ..sweeps.forward import as_value


def expanded(fun: Callable[..., Any], x: Any, direction: Any, order: int, transform: str) -> tuple[Any, ...]:
    """The coefficients of `fun(x + s direction)` in s up to an order, each in the containers of the result."""
    leaves, rebuild = flatten(x)
    given = given_leaves(leaves, (x,))
    moves = checked_tangents(x, direction, given, transform)
    inputs = [
        np.float64(v) if type(v) is float and type(g) is not float else v  # as given: arithmetic goes by the kind
        for v, g in zip(checked_inputs(given, (x,), transform), given, strict=True)
    ]

    def run_once(trace: TaylorTrace) -> tuple[list[list[Value]], Callable[[list[Any]], Any]]:
        return _run(fun, trace, rebuild, inputs, moves, transform)

    trace = TaylorTrace(order)
    before, met.vertex = met.vertex, False
    try:
        rows, shape = run_once(trace)
    finally:
        in_doubt, met.vertex = met.vertex, before
    if trace.in_doubt or trace.has_kinks:
        from ...ir.effects import silenced  # seldom needed, so not when the library is imported

        with silenced():
            if trace.in_doubt:
                trace = TaylorTrace(HIGHER * (order + 1), is_certain=True)
                rows, shape = run_once(trace)
            if trace.has_kinks and _lacks([c for row in rows for c in row[1 : order + 1]]):
                left, right = [run_once(TaylorTrace(order + FURTHER, side=side))[0] for side in (-1, 1)]
                rows = [_of_both(x, y, z[: order + 1]) for x, y, z in zip(left, right, rows, strict=True)]
    if in_doubt and order:
        rows = _with_replaced(fun, x, direction, rows, transform)
    count = len(rows)
    flat = unshared([row[k] for k in range(order + 1) for row in rows], inputs + moves)
    return tuple([shape(flat[k * count : (k + 1) * count]) for k in range(order + 1)])


def _with_replaced(fun: Callable[..., Any], x: Any, direction: Any, rows: list[Any], transform: str) -> list[Any]:
    """The coefficients where something was replaced as it was not finite: what a limit tells, and nan."""
    from ...core.singular.replaced import isolated  # seldom needed, so not when the library is imported
    from ...ir.effects import silenced
    from ...rules.singular.retrace import expanded
    from ..jvp import jvp
    from ..vjp import TraceAtPoint

    with silenced():
        recording = TraceAtPoint(fun, (x,), False, transform)
        if not isolated(expanded(recording.trace, [], run, None).path.trace, flatten(direction)[0]):
            return rows
        moved, _ = flatten(jvp(fun, (x,), (direction,))[1])
    unknown = [
        [t] + [np.full(shape_of(v), np.nan)[()]] * (len(row) - 1) for t, (v, *row) in zip(moved, rows, strict=True)
    ]
    return [[v, *[as_value(c, v) for c in found]] for found, (v, *_) in zip(unknown, rows, strict=True)]


HIGHER = 3
"""How many times the order tells whether a root, of a value that is 0 so far, is 0: of the third root, three times."""


def _run(
    fun: Callable[..., Any],
    trace: TaylorTrace,
    rebuild: Callable[[list[Any]], Any],
    inputs: list[Value],
    moves: list[Value],
    transform: str,
) -> tuple[list[list[Value]], Callable[[list[Any]], Any]]:
    """The coefficients of every result, and the way back to containers."""
    traced = [trace.input(v, *([m] if trace.order else [])) for v, m in zip(inputs, moves, strict=True)]
    try:
        outputs, shape = output_leaves(run(fun, (rebuild(traced),), {}), transform)
        values = [finished(o, trace) for o in outputs]
        return [_coefficients(o, v, trace) for o, v in zip(outputs, values, strict=True)], shape
    finally:
        trace.end()


def _lacks(coefficients: list[Value]) -> bool:
    """Whether any coefficient is nan."""
    found: Any = False
    for c in coefficients:
        found = found | np.any(np.isnan(c))
    return may_hold(found)


@quiet
def _of_both(left: list[Value], right: list[Value], found: list[Value]) -> list[Value]:
    """The coefficients that are there, or else are the same on both sides, up to the first order they differ in."""
    value, broken, size = found[0], False, np.abs(found[0])
    merged = [value]
    for x, y, was in zip(left[1:], right[1:], found[1:], strict=False):
        size = np.maximum(size, np.maximum(np.abs(x), np.abs(y)))
        broken = broken | ~(np.abs(x - y) <= SAME * np.finfo(dtype_of(value)).eps * size)
        c = np.where(np.isnan(was), np.where(broken, np.nan, 0.5 * (x + y)), was)
        merged.append(as_value(_of_numpy(c, value), value))
    return merged


FURTHER = 4
"""How many more orders the sides are found to: the root of s**(2 m) takes m, and what is not known is nan."""
SAME = 1e3
"""In units of rounding, how far apart the coefficients of both sides may be."""


def _coefficients(x: Any, value: Value, trace: TaylorTrace) -> list[Value]:
    """All coefficients of a result, those that are structurally zero written down."""
    zero = 0.0 if type(concrete(value)) is float and is_python(value) else zeros_for(value)
    zero = np.asarray(zero) if type(value) is np.ndarray else zero
    found = [x.node.at(k) for k in range(1, trace.order + 1)] if is_of(x, trace) else [None] * trace.order
    return [value, *[zero if c is None else as_value(_of_numpy(c, value), value) for c in found]]


def _of_numpy(c: Value, value: Value) -> Value:
    """A coefficient that is one of NumPy's numbers if its value is, while a program is captured."""
    is_number = isinstance(c, Traced) and type(concrete(c)) is float and isinstance(concrete(value), np.generic)
    return np.positive(c) if is_number else c


def checked_order(order: Any, transform: str) -> int:
    """An order from 0 on."""
    if isinstance(order, (int, np.integer)) and not isinstance(order, bool) and order >= 0:
        return int(order)
    raise InputError(
        message(
            f"The order given to {transform} has to be 0, 1, 2, ...",
            got=describe(order),
            fix=f"Write  ad.{public_name(transform)}(f, x0, 5).",
        )
    )


def checked_direction(x: Any, direction: Any, transform: str) -> Any:
    """The direction to go, for a number 1 if none is given."""
    if direction is not None:
        return direction
    if isinstance(x, (int, float, complex, np.generic, np.ndarray, Traced)) and shape_of(x) == ():
        return 1.0 if type(concrete(x)) in (int, float) else dtype_of(x).type(1)
    leaves, _ = flatten(x)
    raise InputError(
        message(
            f"{transform} needs a direction to go from arrays and containers.",
            got=describe(x) if len(leaves) == 1 and leaves[0] is x else f"{type(x).__name__} of {len(leaves)} leaves",
            fix=f"Write  ad.{public_name(transform)}(f, x0, order, direction=v)  with a v of the same shapes as x0.",
        )
    )
