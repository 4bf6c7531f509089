"""The careful sweep back: as the plain one, with cotangents that know their structural zeros and vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..reverse import INPUT, OUTPUT, ReverseTrace, Seeds
from ..traced import Traced, is_differentiated
from ..types import Numeric
from ..values import fit, ieee, shape_of, zeros_for
from .masks import both, either, nonzero, support_of
from .replaced import doubts_at, in_doubt
from .structural_zeros import Cotangent


def pull_careful(
    trace: ReverseTrace, seeds: Seeds, count: int, *, is_asked: bool = True
) -> tuple[list[Any], list[Any]]:
    """As `pull`, with structural zeros and vertices; and where the numbers found are in doubt.

    `is_asked` says that a seed asks for what it is not 0 for; else its zeros may have come out of arithmetic.
    """
    parts = [(place, Cotangent(g, support=_asked_for(g) if is_asked else None)) for place, g in seeds]
    found = pull_parts(trace, parts, count)
    told = pull_parts(trace, parts, count, doubts=False) if trace.replaced else found
    told = [
        f and Cotangent(zeros_for(trace[place][3])) if t is None else t
        for place, (t, f) in enumerate(zip(told, found, strict=True))
    ]
    numbers = [None if g is None else fit(g.collapsed(), trace[place][3]) for place, g in enumerate(told)]
    return numbers, [None if g is None else either(g.doubt, both(g.fragile, nonzero(g.infinite))) for g in found]


def pull_parts(
    trace: ReverseTrace, seeds: Sequence[tuple[int, Cotangent]], count: int, *, doubts: bool = True
) -> list[Cotangent | None]:
    """The careful sweep from cotangents in parts to cotangents in parts; with `doubts` about what was replaced."""
    cotangents: list[Any] = [None] * len(trace)
    for place, seed in seeds:
        _add(cotangents, place, seed)
    results: list[Cotangent | None] = [None] * count
    replaced = doubts_at(trace) if doubts and trace.replaced else {}
    questions = [step for steps in replaced.values() for step in steps if step.is_question]
    for step in questions:
        _add(cotangents, step.place, in_doubt(step, trace[step.place], None))
    for place in range(max([*[p for p, _ in seeds], *[q.place for q in questions]], default=-1), -1, -1):
        g = cotangents[place]
        if g is None:
            continue
        cotangents[place] = None
        primitive, parents, args, out, params = trace[place]
        if primitive is INPUT:
            results[place] = g
            continue
        if primitive is OUTPUT:
            slots = cotangents[parents[0]] or [None] * len(trace[parents[0]][3])  # type: ignore[index]
            slots[params["k"]] = g
            cotangents[parents[0]] = slots  # type: ignore[index]
            continue
        args, out = tuple([ieee(a) for a in args]), ieee(out)
        rule, needed = primitive.derivative, [p is not None for p in parents]
        pulled = rule.pull_slots if isinstance(g, list) else rule.pull_careful
        for parent, c, value in zip(parents, pulled(primitive, g, out, args, params, needed), args, strict=False):
            if parent is not None and c is not None:
                _add(cotangents, parent, c.fitted(value))
        for found in replaced.get(place, ()):
            if not found.is_question:
                _add(cotangents, parents[found.argument], in_doubt(found, trace[place], g))  # type: ignore[arg-type]
    return results


def _add(cotangents: list[Any], place: int, g: Cotangent) -> None:
    had = cotangents[place]
    cotangents[place] = g if had is None else had.plus(g)


def _asked_for(seed: Numeric) -> Any:
    """Where a seed asks for anything: one element, for a row of a Jacobian. A zero that may vary is not structural."""
    is_number = shape_of(seed) == () and not isinstance(seed, Traced)
    return None if is_number or is_differentiated(seed) else support_of(seed)
