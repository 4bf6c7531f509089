"""Derivatives where slopes are 0 and infinite at once: their limits at points nearby, if those agree.

`sqrt(x)**2` at 0 has the slope 0 * inf, and a derivative, 1. It is found by walks along tiny steps (`core/near.py`) to
four points: two distances in two directions, and opposite to them. If all agree that is the derivative. Opposite sides
may differ, as those of a norm do at its kink; then their mean counts, which is the documented slope 0. A side outside
of the domain does not count. What grows without end is infinite, what shrinks is 0, and all else is nan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.near import UnknownValueError, pull_near, push_near
from ..core.primitive import Primitive
from ..core.reverse import INPUT, LOW, OUTPUT, ReverseTrace
from ..core.trace import is_differentiated
from ..core.traced import Traced
from ..core.values import Value, cannot_branch, dtype_of, fit, is_inexact, may_hold, shape_of
from .elementwise import Elementwise
from .keeping import near_by_push
from .stacking import aligned

DISTANCES = ((2.0**-240, 2.0**-180, 1e-7), (2.0**-60, 2.0**-52, 1e-12), (2.0**-20, 2.0**-16, 1e-13))
"""How far the steps go, and what is the same limit seen from both distances; the next ones where numbers get too small.
The exponents have many divisors, so that roots of the steps are powers of 2 too."""


class Limit(NamedTuple):
    """A derivative found near a point, and where it is the mean of two sides that differ, as at a kink."""

    value: Value
    is_kink: Value


Limits = list[Limit | None]
Run = Callable[[Any, Any, dict[str, Any]], Any]
"""How a function of the user's is run on traced values."""


def decided(
    found: list[Value | None],
    doubts: list[Value | None],
    limits: Callable[[], Limits],
    trace: ReverseTrace,
    inputs: list[Value],
) -> list[Value | None]:
    """Derivatives with limits where they are not finite or in doubt, as 0 * inf is; `inputs` is what they depend on."""
    unsure = [None if g is None else _is_unsure(g, d) for g, d in zip(found, doubts, strict=True)]
    asked = [u for u in unsure if u is not None]
    if any(map(cannot_branch, asked)) or not any(map(may_hold, asked)) or not _can_be_near(trace):
        return found
    try:
        near = limits()
    except (np.linalg.LinAlgError, ZeroDivisionError, OverflowError, RecursionError, UnknownValueError):
        near = [Limit(np.nan, False)] * len(found)
    total: Any = sum([np.sum(x) for x in inputs if is_differentiated(x)], 0.0)
    return [
        g if g is None or n is None else _replaced(g, n, u, total) for g, n, u in zip(found, near, unsure, strict=True)
    ]


def _is_unsure(g: Value, doubt: Value | None) -> Value:
    return ~np.isfinite(g) if doubt is None else ~np.isfinite(g) | doubt


def _replaced(g: Value, near: Limit, unsure: Value, total: Value) -> Value:
    """A derivative with its limits. Those are constants to a derivative further out, except at a kink."""
    value = fit(np.where(np.isnan(near.value) & np.isinf(g), g, near.value), g)
    is_same = np.equal(g, value) | (np.abs(g - value) <= 1e-9 * np.abs(g))
    other = unsure & ~(is_same & (near.is_kink | ~np.equal(g, 0)))
    return fit(replaced(g, value, other, total), g) if may_hold(other) else g


def limit_of_gradient(trace: ReverseTrace, seeds: list[tuple[int, Value]], inputs: list[Value], run: Run) -> Limits:
    """The limits of the inputs' cotangents; nan where there are none."""
    trace, places = expanded(trace, [place for place, _ in seeds], run)
    seeds = [(p, _stripped(g)) for p, (_, g) in zip(places, seeds, strict=True) if p is not None]
    steps = [_stripped(x) for x in inputs]

    def near(distance: float, turn: float, turned: int = -1) -> list[Value | None]:
        moves = [_directions(x, turn, k) * distance * _scale(x) for k, x in enumerate(steps)]
        moves = [-m if k == turned else m for k, m in enumerate(moves)]
        slopes = pull_near(trace, seeds, moves)
        pushed = push_near(trace, [p for p, _ in seeds], moves)
        back: Any = sum([np.sum(g * m) for g, m in zip(slopes, moves, strict=True) if g is not None], 0.0)
        ahead: Any = sum([np.sum(g * m) for (_, g), m in zip(seeds, pushed, strict=True) if m is not None], 0.0)
        return (
            slopes if _agree(back / distance, ahead / distance) else [None if g is None else g * np.nan for g in slopes]
        )

    return _limits(near, len(inputs), has_turns=True)


def _agree(slope: Value, quotient: Value) -> Value:
    """Whether the walk back has found what the function moves by; if not, its numbers have cancelled, as 1 - 1 does.

    Asked of numbers that are neither small nor large: those of a power other than 1 differ by that power.
    """
    size = np.abs(quotient)
    return not may_hold((size > 2.0**-8) & (size < 32.0) & (np.abs(slope - quotient) > 1e-3 * size))


def limit_of_tangent(trace: ReverseTrace, places: Sequence[int], tangents: list[Value], run: Run) -> Limits:
    """The limits of difference quotients along the tangents; nan where there are none."""
    trace, found = expanded(trace, places, run)
    moves, known = [_stripped(t) for t in tangents], [p for p in found if p is not None]

    def near(distance: float, turn: float) -> list[Value | None]:
        pushed = push_near(trace, known, [t * distance for t in moves])
        return [None if m is None else m / distance for m in pushed]

    rest = iter(_limits(near, len(known), has_turns=False))
    return [None if p is None else next(rest) for p in found]


def _limits(near: Callable[..., list[Value | None]], count: int, *, has_turns: bool) -> Limits:
    """The limits of all derivatives, given their values near the point."""
    found: Limits = [Limit(np.nan, False)] * count
    for close, far, tolerance in DISTANCES:
        steps = ((close, 0.0), (-close, 0.0), (far, 0.0), (-far, 0.0), (close, 0.5), (-close, 0.5))
        ends = [near(*step) for step in (steps if has_turns else steps[:4])]
        for k, had in enumerate(found):
            sides: Any = [end[k] for end in ends]
            if had is None or any([s is None for s in sides]):
                found[k] = None
                continue
            if has_turns and count > 1 and may_hold(np.isnan(sides[1]) & ~np.isnan(sides[0])):
                # another argument may have left its domain: let this one alone turn back
                sides[1::2] = [near(*step, k)[k] for step in steps[::2]]
            new, is_open = _limit(*sides, tolerance=tolerance), np.isnan(had.value)
            found[k] = Limit(np.where(is_open, new.value, had.value), np.where(is_open, new.is_kink, had.is_kink))
        if not any([f is not None and may_hold(np.isnan(f.value)) for f in found]):
            break
    return found


def _limit(ahead: Value, behind: Value, *others: Value, tolerance: float) -> Limit:
    """The limit of a slope, given on both sides; then farther away, and in another direction if there is any."""
    only_ahead, only_behind = np.isnan(behind), np.isnan(ahead)
    ahead, behind = np.where(only_behind, behind, ahead), np.where(only_ahead, ahead, behind)
    size, mean = np.maximum(np.abs(ahead), np.abs(behind)), 0.5 * (ahead + behind)
    same: Any = True
    for other, opposite in zip(others[::2], others[1::2], strict=True):
        other, opposite = np.where(only_behind, opposite, other), np.where(only_ahead, other, opposite)
        largest = np.maximum(np.abs(other), np.abs(opposite))
        same = same & (np.abs(mean - 0.5 * (other + opposite)) <= tolerance * np.maximum(size, largest))
    far = np.maximum(
        np.abs(np.where(only_behind, others[1], others[0])), np.abs(np.where(only_ahead, others[0], others[1]))
    )
    bounded = np.abs(size - far) <= 1e-3 * size
    found = np.where(same & bounded, _short(mean, size), np.nan)
    grows = (size > 1.1 * far) & (size > 32.0)
    found = np.where(grows & (np.sign(ahead) == np.sign(behind)), np.sign(ahead) * np.inf, found)
    found = np.where((size < 0.25 * far) & (size < 2.0**-8) | (size == 0) & (far == 0), 0.0, found)
    return Limit(found, same & bounded & (np.abs(ahead - behind) > tolerance * size))


def _short(x: Value, size: Value) -> Value:
    """A number without the rounding errors of the walk, if it has few digits: 1 instead of 0.9999999999999998."""
    unit = 2.0 ** (np.floor(np.log2(np.where(size == 0, 1.0, size))) - 20.0)
    rounded = np.round(x / unit) * unit
    return np.where(np.abs(x - rounded) <= unit * 2.0**-24, rounded, x)


def _directions(x: Value, turn: float, number: int) -> Any:
    """Steps that are the same for no two elements, between 1 and 2; the first of the first array is 1."""
    count = int(np.prod(shape_of(x), dtype=int))
    parts = (np.arange(count) + 7.3 * number) * (0.6180339887498949 + turn * 0.31) % 1.0
    return (1.0 + parts).reshape(shape_of(x))


def _scale(x: Value) -> Value:
    """A step is small beside the number it starts from."""
    size = np.abs(x)
    return np.where(np.equal(size, 0) | ~np.isfinite(size), 1.0, size)


def expanded(trace: ReverseTrace, places: Sequence[int], run: Run) -> tuple[ReverseTrace, list[int | None]]:
    """The trace with constants for what derivatives further out see, and with the steps inside of jitted functions.

    Also where some of its places have gone to; None for what does not depend on the inputs.
    """
    values = ReverseTrace()
    for primitive, parents, args, out, params in trace:
        args = tuple([_stripped(a) for a in args])
        out = tuple([_stripped(o) for o in out]) if isinstance(out, (tuple, list)) else _stripped(out)
        values.append((primitive, parents, args, out, params))
    if all([_inside(node[0]) is None for node in values]):
        return values, list(places)
    found, results = ReverseTrace(), []
    for primitive, parents, args, out, params in values:
        if primitive is INPUT:
            results.append(found.input(out))
        elif primitive is OUTPUT:
            results.append(results[parents[0]][params["k"]])  # type: ignore[index]
        else:
            args = [a if p is None else results[p] for p, a in zip(parents, args, strict=False)]
            inside = _inside(primitive)
            results.append(primitive(*args, **params) if inside is None else run(inside, args, params))
    moved = [results[p] for p in places]
    return found, [m.node if isinstance(m, Traced) and m.walk is found else None for m in moved]


def _inside(primitive: Any) -> Any:
    """The function that a step stands for, if it is one of the user's."""
    if primitive is INPUT or primitive is OUTPUT:
        return None
    return primitive.evaluate if primitive.inline else getattr(primitive.derivative, "flat", None)


def _stripped(x: Any) -> Any:
    if not isinstance(x, Traced) or x.walk.is_capture:
        is_low = isinstance(x, (Traced, np.ndarray, np.generic)) and x.dtype in LOW
        return x.astype(np.float64) if is_low else x
    inner = _stripped(x.value)
    return Traced(inner, x.walk, x.node) if x.walk.lead else inner


def _can_be_near(trace: ReverseTrace) -> bool:
    """Whether limits are known for a trace: of real numbers, and without loops."""
    for primitive, _, args, out, _ in trace:
        if primitive is not INPUT and primitive is not OUTPUT and not hasattr(primitive.derivative, "near"):
            return False
        outs = out if isinstance(out, (tuple, list)) else [out]
        if any([is_inexact(v) and dtype_of(v).kind == "c" for v in (*args, *outs)]):
            return False
    return True


class _Replacing(Elementwise):
    """The rule of `replaced`; near a point as at it."""

    __slots__ = ()
    near = near_by_push
    is_at_point = True


replaced = Primitive(
    "replaced",
    lambda x, limit, where, inputs: np.where(where, limit, x),
    derivative=_Replacing([
        lambda z: np.where(z, 0.0, 1.0), lambda: 0.0, lambda: 0.0, lambda z: np.where(z, np.nan, 0.0),
    ]),
    stacking=aligned,
)  # fmt: skip
"""A derivative with limits in some places; there its own derivative with respect to what it depends on is not known."""
