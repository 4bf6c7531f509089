"""Functions that were told of a number that is not finite: run again at points nearby, where it may be.

What a function does with the answer cannot be seen from its steps: a loop skips the number, a count leaves it out, a
branch goes another way. If the number is finite a step away, the function is run there, and its steps are compared with
those taken at the point. Where they give the same values and slopes, nothing hangs on the answer. Where they do not,
the steps nearby are those that count: the slope is their limit, if the function's value is the limit of its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.quick.number_kinds import note_kinds
from ...core.reverse import INPUT, Node, ReverseTrace, pull, taken_again
from ...core.rule import UnknownValueError
from ...core.singular.near import is_ghost
from ...core.singular.replaced import ASKS, Replaced, isolated, sides_of
from ...core.traced import is_of
from ...core.values import is_inexact, shape_of


class RecordedPath(NamedTuple):
    """Steps that a function takes, and where its results are among them; None for those that do not move."""

    trace: ReverseTrace
    places: list[int | None]
    results: list[Any]
    """The values of the results where the steps were recorded."""


Record = Callable[[list[Any]], RecordedPath]
"""The path of a function at other inputs."""


def questions(trace: ReverseTrace) -> list[Replaced]:
    """The values that the function was told are not finite."""
    return [found for found in trace.replaced if found.is_question]


def inputs_of(trace: ReverseTrace) -> list[Any]:
    """The values of the inputs."""
    return [out for primitive, _, _, out, _ in trace if primitive is INPUT]


def moved_path(results: Sequence[Any], path: RecordedPath) -> RecordedPath:
    """A path whose steps were taken once more in another trace, with these results of all of them."""
    trace: ReverseTrace = results[0].traced_by
    return path_of(trace, [r if p is None else results[p] for p, r in zip(path.places, path.results, strict=True)])


def nearby_path(
    here: RecordedPath | None, asked: ReverseTrace, record: Record, along: Sequence[Any]
) -> RecordedPath | None:
    """The path of a function at points nearby, with values of the point, if it is not the one taken `here`.

    `asked` is the trace with the questions, and `here` the same without anything replaced, if it can be told.
    """
    inputs = inputs_of(asked)
    points = [moved for moved in sides_of(asked, inputs, along, isolated(asked, along)) if moved is not None]
    beside = [record([_of_kind(m, x) for m, x in zip(moved, inputs, strict=True)]) for moved in points]
    if not beside:
        raise UnknownValueError
    if here is not None and all([_is_same(here, there) for there in beside]):
        return None
    if not all([_is_same(path, there) for path in beside for there in beside if path is not there]):
        raise UnknownValueError
    return _taken_at(beside[0], inputs)


def _of_kind(moved: Any, x: Any) -> Any:
    return float(moved) if type(x) is float else moved


def recorded(inputs: Sequence[Any], call: Callable[[list[Any]], Sequence[Any]]) -> RecordedPath:
    """The path of a call at some inputs."""
    trace = ReverseTrace()
    note_kinds(trace, inputs)
    return path_of(trace, call([trace.input(x) for x in inputs]))


def path_of(trace: ReverseTrace, found: Sequence[Any]) -> RecordedPath:
    """The steps of a trace that lead to some of its handles, or to constants."""
    mine = [is_of(f, trace) for f in found]
    places = [f.node if m else None for f, m in zip(found, mine, strict=True)]
    return RecordedPath(trace, places, [f.value if m else f for f, m in zip(found, mine, strict=True)])


def _taken_at(path: RecordedPath, inputs: Sequence[Any]) -> RecordedPath:
    """The steps of a path with other inputs."""
    trace = ReverseTrace()
    trace.jumps, trace.asked = list(path.trace.jumps), ASKS

    def take(node: Node, args: list[Any]) -> Any:
        if any([is_ghost(a) for a in args]):
            raise UnknownValueError
        return node[0](*args, **node[4])

    results = taken_again(path.trace, [trace.input(x) for x in inputs], take)
    trace.replaced.clear()
    return moved_path(results, path)


def _is_same(path: RecordedPath, there: RecordedPath) -> bool:
    """Whether the steps of one path give the values and slopes of another where that was recorded."""
    inputs = inputs_of(there.trace)
    ours = _taken_at(path, inputs)
    return all([
        shape_of(a) == shape_of(b) and np.allclose(a, b, rtol=SAME, atol=0.0, equal_nan=True)
        for x, y in ((ours.results, there.results), (_slopes(ours, inputs), _slopes(there, inputs)))
        for a, b in zip(x, y, strict=True)
    ])  # fmt: skip


def _slopes(path: RecordedPath, inputs: Sequence[Any]) -> list[Any]:
    """The cotangents of the inputs, from all results at once."""
    found = pull(path.trace, spread_seeds(path), len(inputs))
    return [np.zeros(shape_of(x)) if g is None else g for g, x in zip(found, inputs, strict=True)]


def spread_seeds(path: RecordedPath) -> list[tuple[int, Any]]:
    """Cotangents of all results, of which no two are the same."""
    seeds = []
    for k, (place, out) in enumerate(zip(path.places, path.results, strict=True)):
        if place is not None and is_inexact(out):
            parts = (np.arange(math.prod(shape_of(out))) + 7.3 * k) * 0.6180339887498949 % 1.0
            seeds.append((place, (1.0 + parts).reshape(shape_of(out))[()]))
    return seeds


SAME = 1e-9
"""What the results of the same steps may differ by, as a part of them."""
