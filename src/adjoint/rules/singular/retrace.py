"""The steps of a trace taken again: at other inputs, with numbers of a wider range, inside jitted functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.primitive import Primitive
from ...core.reverse import INPUT, OUTPUT, Node, ReverseTrace, taken_again
from ...core.rule import UnknownValueError
from ...core.singular.near import is_ghost
from ...core.singular.replaced import doubts_at, has_no_place, isolated
from ...core.traced import Traced, is_of
from ...core.types import Numeric, Params, Values
from ...core.values import dtype_of, is_inexact
from ..reducing import Reducing
from ..selecting import Selecting
from .paths import RecordedPath, inputs_of, moved_path, nearby_path, questions, recorded

Run = Callable[[Any, Any, Params], Any]
"""How a user function is run on traced values."""


def wide(x: Numeric) -> Any:
    """A value as a number of a wider range: 1e4932 instead of 1e308, where the machine has such numbers."""
    if not is_inexact(x):
        return x
    return np.asarray(x, np.clongdouble if dtype_of(x).kind == "c" else np.longdouble)[()]


def takes_wide(trace: ReverseTrace) -> bool:
    """Whether all steps are known to take such numbers: LAPACK does not."""
    steps = [primitive for primitive, *_ in trace if primitive is not INPUT and primitive is not OUTPUT]
    return all([primitive.derivative.takes_wide for primitive in steps])


def taken(trace: ReverseTrace, inputs: Sequence[Any]) -> list[Any]:
    """The results of all steps, from inputs that may be handles of another sweep."""

    def take(node: Node, moved: list[Any]) -> Any:
        primitive, _, args, out, params = node
        if any([is_ghost(a) for a in moved]):
            raise UnknownValueError
        found = _step(primitive, moved, params)
        if isinstance(primitive.derivative, (Selecting, Reducing)) and primitive.derivative.is_at_point:
            _pick_as_before(primitive, moved, found, args, out, params)
        return found

    return taken_again(trace, inputs, take)


def _pick_as_before(primitive: Primitive, moved: Values, found: object, args: Values, out: Any, params: Params) -> None:
    """Let a step that picks elements hand derivatives to those picked at the point, as ties break nearby."""
    if not isinstance(found, Traced):
        return
    if isinstance(found.traced_by, ReverseTrace):
        _, parents, *_ = found.traced_by[found.node]
        found.traced_by[found.node] = (primitive, parents, args, out, params)
    else:
        tangents = [m.node if is_of(m, found.traced_by) else None for m in moved]
        found.node = primitive.derivative.push(primitive, tangents, out, args, params)


def _step(primitive: Primitive, args: Values, params: Params) -> Any:
    """A step, with numbers of the usual range if it takes no others."""
    try:
        return primitive(*args, **params)
    except TypeError:
        return primitive(*[_narrow(a) for a in args], **params)


def _narrow(x: Any) -> Any:
    kind = getattr(x, "dtype", None)
    usual = {np.dtype(np.longdouble): np.float64, np.dtype(np.clongdouble): np.complex128}.get(kind)  # type: ignore[arg-type]
    return x if usual is None else x.astype(usual)


def expanded(trace: ReverseTrace, places: Sequence[int], run: Run, along: Sequence[Any] | None = ()) -> Expanded:
    """The trace with the steps inside of jitted functions and loops.

    What was replaced as it was not finite is itself again, if it is finite a step `along` a direction, or any; for None
    it stays replaced. If the function was told of numbers that are finite there, and takes other steps, those are it.
    """
    inside = _inlined(RecordedPath(trace, list(places), [trace[p][3] for p in places]), run)
    was_asked = bool(questions(inside.trace))
    if along is None:
        return Expanded(inside)
    if not isolated(inside.trace, along, lambda moved: _run_again(trace, places, run, moved).trace):
        return Expanded(inside, inside if was_asked else None)
    asked = questions(inside.trace)
    found: RecordedPath | None = None
    try:
        is_all = len(asked) == len(inside.trace.replaced)
        found = inside if is_all else moved_path(_unreplaced(inside.trace, along), inside)
    except UnknownValueError:  # what was left out has no place in the result: the steps nearby are to be seen
        if not asked:
            raise
    if asked:
        nearby = nearby_path(found, inside.trace, lambda moved: _run_again(trace, places, run, moved), along)
        if nearby is not None:
            return Expanded(nearby)
        inside.trace.replaced[:] = [step for step in inside.trace.replaced if not step.is_question]
    assert found is not None
    return Expanded(found, inside if asked else None)


class Expanded(NamedTuple):
    """Steps, and what was recorded if the function was told of a number that is not finite, but nothing hangs on it."""

    path: RecordedPath
    recorded: RecordedPath | None = None


def _inlined(path: RecordedPath, run: Run) -> RecordedPath:
    """A path with the steps inside of jitted functions and loops."""
    while any([_inside(node[0]) is not None for node in path.trace]):
        path = moved_path(_once_more(path.trace, run, inputs_of(path.trace)), path)
    return path


def _run_again(trace: ReverseTrace, places: Sequence[int], run: Run, moved: list[Any]) -> RecordedPath:
    """The path of a function a step away: of the user's, or of the jitted ones among its steps."""
    if trace.again is not None:
        path = recorded(moved, trace.again.call)
        chosen = [trace.again.places.index(p) for p in places]
        return _inlined(
            RecordedPath(path.trace, [path.places[k] for k in chosen], [path.results[k] for k in chosen]), run
        )
    if not any([_inside(node[0]) is not None for node in trace]):
        raise UnknownValueError
    path = RecordedPath(trace, list(places), [trace[p][3] for p in places])
    return _inlined(moved_path(_once_more(trace, run, moved), path), run)


def _unreplaced(trace: ReverseTrace, along: Sequence[Any]) -> list[Any]:
    """The steps with what was left out because it was not finite, as it is not left out at points nearby."""
    found = ReverseTrace()
    found.jumps = list(trace.jumps)
    found.asked = max([step.asked for step in trace.replaced if not step.is_question])
    left_out = {id(trace[place]): steps for place, steps in doubts_at(trace, along).items()}

    def take(node: Node, args: list[Any]) -> Any:
        out = node[0](*args, **node[4])
        for step in left_out.get(id(node), ()):
            if step.is_question:
                continue
            if has_no_place(node[0]):
                raise UnknownValueError
            out = np.where(step.mask, args[step.argument], out)
        return out

    return taken_again(trace, [found.input(x) for x in inputs_of(trace)], take)


def _once_more(trace: ReverseTrace, run: Run, at: Sequence[Any]) -> list[Any]:
    found = ReverseTrace()
    found.jumps = list(trace.jumps)

    def take(node: Node, args: list[Any]) -> Any:
        inside = _inside(node[0])
        return node[0](*args, **node[4]) if inside is None else run(inside, args, node[4])

    results = taken_again(trace, [found.input(x) for x in at], take)
    moved = [(step, results[step.place]) for step in trace.replaced]
    found.replaced += [step._replace(place=r.node) for step, r in moved if is_of(r, found)]
    return results


def _inside(primitive: Primitive) -> Callable[..., Any] | None:
    """The function that a step stands for, if it is one of the user's."""
    if primitive is INPUT or primitive is OUTPUT:
        return None
    return primitive.evaluate if primitive.inline else primitive.derivative.flat
