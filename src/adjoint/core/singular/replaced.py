"""Values that were replaced because they were not finite: the slope at such a point is a limit, or not known.

In `sin(t) * nan_to_num(w / t)` at t = 0, and in whatever else asks whether numbers are finite and then takes others for
those that are not, the number taken says nothing of the slope: a step away it would not be taken. So a trace whose
function has asked (`asks`, a fact) notes the steps that leave out what is not finite (`leaves_out`, another), and what
is finite a step away is in doubt, for good. What is not finite there either, as a measurement that is missing, was left
out rightly.

What the answer is used for cannot always be seen: a loop that skips a number, a count, a branch. So the question is
noted, if the answer was that a number is not finite, and where that is so at the point alone, all that the number
depends on is in doubt, until the function has been run again at points nearby (`rules/singular/paths.py`).

A comparison, as in `where(t == 0, 0, w / t)`, may mean the same. It does where what was left out is finite on both
sides; if it has an end there, as in `where(p > 0, p * log(p), 0)`, the side that was taken has a slope of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...host.frames.asking import is_users
from ..entry.moves import READS
from ..primitive import INPUT, OUTPUT, Primitive, unasked
from ..rule import UnknownValueError
from ..traced import Traced
from ..types import Mask, Params, Places
from ..values import concrete, dtype_of, is_inexact, may_hold, shape_of
from .structural_zeros import Cotangent

Recorded = Any
"""A reverse trace, which imports this file."""

COMPARES, ASKS = 1, 2
"""What a step may ask of numbers: how they compare, or whether they are finite."""


class Replaced(NamedTuple):
    """A step that left out elements of an argument that were not finite, or a value that was asked about."""

    place: int
    """Of the step in the trace, or of the value."""
    argument: int
    """Which one of the step; `QUESTION` for a value."""
    mask: Any
    """Which elements; of the result if it has them in their places, else of the argument."""
    asked: int
    """What had been asked."""

    @property
    def is_question(self) -> bool:
        """Whether the function was told that the value is not finite, whatever it has made of that."""
        return self.argument == QUESTION

    def source(self, trace: Recorded) -> int:
        """Where the value is that was not finite."""
        return self.place if self.is_question else trace[self.place][1][self.argument]  # type: ignore[no-any-return]


QUESTION = -1


def hear(trace: Recorded, asks: int, answer: Any, nodes: Sequence[Any], values: Sequence[Any]) -> None:
    """Remember that the user's function has asked, and what it was told."""
    if trace.asked < asks and is_users():
        trace.asked = asks
    if asks == COMPARES and trace.asked and not isinstance(answer, Traced):
        trace.answers.append(answer)
    for place, mask in not_finite(asks, nodes, values):
        if _may_be_singular(trace, place) and may_hold(mask):
            trace.replaced.append(Replaced(place, QUESTION, mask, ASKS))


def not_finite(asks: int, nodes: Sequence[Any], values: Sequence[Any]) -> list[tuple[Any, Mask]]:
    """The nodes that the user asks about, and where their values are not finite; `x != x` asks whether x is."""
    if asks == COMPARES and not (len(nodes) == 2 and nodes[0] is not None and nodes[0] is nodes[1]):
        return []
    asked = [(n, known(v)) for n, v in zip(nodes[:1], values, strict=False) if n is not None and is_inexact(v)]
    asked = [(n, v) for n, v in asked if not _is_finite_for_good(v)]
    return [(n, np.logical_not(np.isfinite(v))) for n, v in asked] if asked and is_users() else []


def tell(asks: int, answer: Any, *operands: Any) -> None:
    """Tell all traces of what Python's numbers were asked, which is no step."""
    is_one = len(operands) == 2 and operands[0] is operands[1]
    for x in operands[:1] if is_one else operands:
        while isinstance(x, Traced):
            times = 2 if is_one else 1
            x.traced_by.heard(asks, answer, (x.node,) * times, (x.value,) * times)
            x = x.value


def as_asked(primitive: Primitive) -> Primitive:
    """What the body of a loop has for a question: if a rule asks it, a primitive that tells nobody."""
    return primitive if is_users() else unasked(primitive)


def note(trace: Recorded, primitive: Primitive, parents: Places, values: Sequence[Any], params: Params) -> None:
    """Note the last step of a trace, if it left out what is not finite and may be so at a single point."""
    asked = trace.asked
    if not is_users() or (asked == COMPARES and not _goes_by(trace.answers, primitive, values)):
        return
    for k, mask in left_out(primitive, parents, values, params):
        parent: Any = parents[k]
        if _may_be_singular(trace, parent) and may_hold(mask):
            trace.replaced.append(Replaced(len(trace) - 1, k, mask, asked))


def _goes_by(answers: Sequence[Any], primitive: Primitive, values: Sequence[Any]) -> bool:
    """Whether what a step leaves out is what a comparison told; in a program that cannot be seen."""
    if has_no_place(primitive):
        return False
    masks = [v for v in map(stripped, values) if dtype_of(v).kind == "b"]
    return any([isinstance(m, Traced) or any([_is_same(m, answer) for answer in answers]) for m in masks])


def _is_same(mask: Any, answer: Any) -> bool:
    if np.shape(mask) != np.shape(answer) and np.shape(answer) != ():
        return False
    differs = np.not_equal(mask, answer)
    return not np.any(differs) or bool(np.all(differs))


def has_no_place(primitive: Primitive) -> bool:
    """Whether a step reads some elements, so that its result has no place for those that it leaves out."""
    addressed = primitive.facts.addressed
    return addressed is not None and addressed.does == READS


def left_out(primitive: Primitive, moving: Sequence[Any], values: Sequence[Any], params: Params) -> list[Any]:
    """For the arguments of a step that move, the elements that are not finite and left out."""
    found = []
    given = [known(v) for v in values]
    for k, (moves, value) in enumerate(zip(moving, given, strict=True)):
        if moves is None or not is_inexact(value) or _is_finite_for_good(value):
            continue
        gone = primitive.facts.leaves_out(k, *given, **params)  # type: ignore[misc]
        if gone is not None:
            found.append((k, np.logical_and(np.logical_not(np.isfinite(value)), gone)))
    return found


def known(x: Any) -> Any:
    """A value without the derivatives further out, plain in an explanation, which is of this point alone."""
    x = stripped(x)
    return x if not isinstance(x, Traced) or getattr(x.traced_by, "is_checked", True) else concrete(x)


def _is_finite_for_good(x: Any) -> bool:
    """Whether all numbers are finite, and stay so, which those of a program do not."""
    return not isinstance(x, Traced) and bool(np.all(np.isfinite(x)))


MOST = 256
"""How many steps are looked at for one that may have no finite result."""


def _may_be_singular(trace: Recorded, place: int) -> bool:
    """Whether any step before is known to have an end to its domain, or not known to have none."""
    waiting, seen = [place], {place}
    while waiting:
        primitive, parents, *_ = trace[waiting.pop()]
        if primitive is not INPUT and primitive is not OUTPUT and _has_an_end(primitive):
            return True
        new = {p for p in parents if p is not None} - seen
        seen |= new
        waiting += new
        if len(seen) > MOST:
            return True
    return False


def _has_an_end(primitive: Any) -> bool:
    if primitive.facts.moves is not None or type(primitive.derivative).__name__ in ENDLESS:
        return False
    return primitive.domain is None or any([math.isfinite(end) for interval in primitive.domain for end in interval])


ENDLESS = ("Linear", "Multilinear", "Selecting", "Reducing")
"""Rules of steps that give finite numbers for finite ones, or too large ones all around."""


def isolated(
    trace: Recorded, along: Sequence[Any] = (), again: Callable[[list[Any]], Recorded] | None = None
) -> list[Replaced]:
    """Those replaced whose elements are finite a step away, on one side at least; from now on the trace has no others.

    A step goes `along` a direction, or any. Values that nobody has kept are looked for by running the function
    `again`, if that can be done: where it is told the same of as many numbers, those are missing there too.
    """
    if not trace.replaced or trace.is_settled:
        return trace.replaced
    inputs = [stripped(out) for primitive, _, _, out, _ in trace if primitive is INPUT]
    places = [found.source(trace) for found in trace.replaced]
    sides = [_at(trace, moved, places) for moved in _beside(inputs, along)]
    lost = any(
        [found.is_question and v is None for side in sides for found, v in zip(trace.replaced, side, strict=True)]
    )
    stays = lost and again is not None and _is_told_the_same(trace, inputs, along, again)
    kept = []
    for found, ahead, behind in zip(trace.replaced, *sides, strict=True):
        if stays and found.is_question and (ahead is None or behind is None):
            continue
        mask, joined = found.mask, np.logical_or if found.asked == ASKS else np.logical_and
        if ahead is not None and behind is not None:
            mask = np.logical_and(mask, joined(np.isfinite(ahead), np.isfinite(behind)))
        if may_hold(mask):
            kept.append(found._replace(mask=mask))
    trace.replaced[:] = kept
    trace.is_settled = True
    return kept


def _is_told_the_same(
    trace: Recorded, inputs: Sequence[Any], along: Sequence[Any], again: Callable[[list[Any]], Recorded]
) -> bool:
    """Whether the function is told of the same numbers a step away, to both sides, that they are not finite."""
    told = [found.mask for found in trace.replaced if found.is_question]
    if any([isinstance(x, Traced) for x in (*inputs, *told)]):
        return False
    try:
        paths = [
            again([float(m) if type(x) is float else m for m, x in zip(moved, inputs, strict=True)])
            for moved in _beside(inputs, along)
        ]
    except UnknownValueError:
        return False
    others = [[found.mask for found in path.replaced if found.is_question] for path in paths]
    return all([len(masks) == len(told) and all(map(np.array_equal, masks, told)) for masks in others])


def sides_of(trace: Recorded, inputs: Sequence[Any], along: Sequence[Any], found: Sequence[Replaced]) -> list[Any]:
    """The inputs on both sides; None for one where not all that was not finite is."""
    sides = []
    places = [step.source(trace) for step in found if step.is_question]
    for moved in _beside(inputs, along):
        values = _at(trace, moved, places)
        is_finite = [
            v is not None and np.all(np.isfinite(v) | ~m)
            for v, m in zip(values, [s.mask for s in found if s.is_question], strict=True)
        ]
        sides.append(moved if all(is_finite) else None)
    return sides


def _beside(inputs: Sequence[Any], along: Sequence[Any]) -> list[list[Any]]:
    """The inputs a step away, to both sides."""
    steps = [_step(x, k) * along[k] if along else _step(x, k) for k, x in enumerate(inputs)]
    return [[x + sign * s for x, s in zip(inputs, steps, strict=True)] for sign in (1.0, -1.0)]


def _step(x: Any, number: int) -> Any:
    """A small step, in a direction of which no two elements have the same."""
    shape = shape_of(x)
    parts = (np.arange(math.prod(shape)) + 7.3 * number) * 0.6180339887498949 % 1.0
    size = np.abs(x)
    return AWAY * (1.0 + parts).reshape(shape)[()] * np.where(np.equal(size, 0) | ~np.isfinite(size), 1.0, size)


AWAY = 2.0**-24


def _at(trace: Recorded, inputs: Sequence[Any], places: Sequence[Any]) -> list[Any]:
    """Values of a trace at other inputs; None where they cannot be told, as nobody has kept what they need."""
    needed, waiting = set(places), list(places)
    while waiting:
        new = {p for p in trace[waiting.pop()][1] if p is not None} - needed
        needed |= new
        waiting += new
    results: list[Any] = [None] * len(trace)
    for place in sorted(needed):
        primitive, parents, args, _, params = trace[place]
        if primitive is INPUT:
            results[place] = inputs[place]
        elif primitive is OUTPUT:
            whole = results[parents[0]]  # type: ignore[index]
            results[place] = None if whole is None else whole[params["k"]]
        else:
            given = [stripped(a) if p is None else results[p] for p, a in zip(parents, args, strict=False)]
            results[place] = _taken(primitive, given, params)
    return [results[p] for p in places]


def _taken(primitive: Any, given: list[Any], params: Params) -> Any:
    if any([a is None or (hasattr(a, "shape") and not hasattr(a, "__array__")) for a in given]):
        return None
    try:
        return primitive(*given, **params)
    except (ArithmeticError, np.linalg.LinAlgError):
        return None


def doubts_at(trace: Recorded, along: Sequence[Any] = ()) -> dict[int, list[Replaced]]:
    """By place, the steps that left out what must not be."""
    found: dict[int, list[Replaced]] = {}
    for replaced in isolated(trace, along):
        found.setdefault(replaced.place, []).append(replaced)
    return found


def in_doubt(replaced: Replaced, node: Sequence[Any], g: Cotangent | None) -> Cotangent:
    """The cotangent of what was left out of a step, given that of its result: nothing but a doubt, for good.

    That of a value that was asked about is the same, whatever depends on it.
    """
    value, mask = node[3] if replaced.is_question else node[2][replaced.argument], replaced.mask
    if g is not None and g.support is not None:
        arrives: Mask = g.support if shape_of(g.support) == shape_of(mask) else np.any(g.support)
        mask = np.logical_and(mask, arrives)
    return Cotangent(np.zeros(shape_of(mask)), None, mask, mask, mask).fitted(value)


def stripped(x: Any) -> Any:
    """A value without the derivatives further out: plain, of a batch, or of a program."""
    if not isinstance(x, Traced) or x.traced_by.is_capture:
        return x
    inner = stripped(x.value)
    return Traced(inner, x.traced_by, x.node) if x.traced_by.lead else inner
