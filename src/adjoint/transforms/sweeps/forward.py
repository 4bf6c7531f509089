"""From tangents of a recording's inputs to those of its results: one sweep along the trace, and limits."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.forward import met, pushed
from ...core.reverse import INPUT, OUTPUT
from ...core.singular.careful_sweep import pull_careful
from ...core.singular.finite import all_finite
from ...core.traced import Traced
from ...core.values import Value, cannot_branch, may_hold, shape_of, unshared, zeros_for
from ..calling import run
from ..interface.presenting import of_kind
from ..vjp import TraceAtPoint
from .back import has_replaced


def push(recording: TraceAtPoint, tangents: list[Value]) -> list[Value]:
    """Sweep a trace forward: the tangents of the output leaves, given those of the input leaves."""
    trace = recording.trace
    before, met.vertex = met.vertex, False
    moved: list[Any] = [None] * len(trace)
    moved[: len(tangents)] = tangents
    for place, (primitive, parents, args, out, params) in enumerate(trace):
        if primitive is INPUT:
            continue
        if primitive is OUTPUT:
            found = moved[parents[0]]  # type: ignore[index]
            moved[place] = None if found is None else found[params["k"]]
            continue
        moves = [None if p is None else moved[p] for p in parents]
        if any(m is not None for m in moves):
            moved[place] = pushed(primitive, moves, out, args, params)
    results = [
        zeros_for(v) if place is None or moved[place] is None else as_value(moved[place], v)
        for place, v in zip(recording.places, recording.values, strict=True)
    ]
    in_doubt, met.vertex = met.vertex or has_replaced(trace), before
    if in_doubt or not is_certain([*results, *recording.values]):
        results = tangents_decided(recording, tangents, results, in_doubt)
    return unshared(results, tangents)


def is_certain(tangents: list[Value]) -> bool:
    """Whether all tangents are finite, or belong to a program that cannot ask."""
    return any([type(t) is Traced and cannot_branch(t) for t in tangents]) or all_finite(tangents)


@quiet
def tangents_decided(recording: TraceAtPoint, moves: list[Value], given: list[Value], in_doubt: bool) -> list[Value]:
    """The tangents with limits where they are not finite, or everywhere if any of them is in doubt."""
    from ...rules.singular.limits import decided
    from ...rules.singular.limits_sweep import SweepForward  # seldom needed, so not when the library is imported

    tangents, places = list(given), recording.places
    doubt = in_doubt and _is_in_doubt(recording)
    doubts: list[Value | None] = [np.logical_and(np.full(shape_of(t), True)[()], doubt) for t in tangents]
    known = [k for k, p in enumerate(places) if p is not None]
    ends = [(places[k], None) for k in known] + [(-1, t) for t in moves]
    asked = [tangents[k] for k in known], [doubts[k] for k in known]
    is_large = not is_certain(recording.values)
    found = decided(*asked, SweepForward, recording.trace, ends, recording.inputs, run, is_large=is_large)  # type: ignore[arg-type]
    for k, t in zip(known, found, strict=True):
        tangents[k] = t
    return [as_value(t, v) for t, v in zip(tangents, recording.values, strict=True)]


def _is_in_doubt(recording: TraceAtPoint) -> Value:
    """Whether the sweep back, which knows more of its zeros, finds any that met an infinite slope and may not be 0."""
    seeds = []
    for place, value in zip(recording.places, recording.values, strict=True):
        if place is not None:
            count = math.prod(shape_of(value))
            seeds.append((place, (1.0 + np.arange(count) * 0.6180339887498949 % 1.0).reshape(shape_of(value))[()]))
    _, doubts = pull_careful(recording.trace, seeds, len(recording.inputs))
    found = functools.reduce(np.logical_or, [np.any(d) for d in doubts if d is not None], False)
    return found if cannot_branch(found) else may_hold(found)  # a body cannot ask, but knows


def as_value(tangent: Value, value: Value) -> Value:
    """A tangent of the same kind as its value: a number for a number."""
    if isinstance(tangent, Traced):
        return of_kind(tangent, value)
    if type(value) is np.ndarray or isinstance(value, (Traced, np.ndarray)):
        return tangent
    if type(value) is float and type(tangent) is float:
        return tangent
    return float(tangent) if type(value) is float else np.asarray(tangent)[()]
