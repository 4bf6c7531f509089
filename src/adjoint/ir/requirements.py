"""What holds for every step of a program, as a table: operands, parameters, types and shapes fit the operation."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.entry.moves import Indices, Overwrite, Pad, Pieces, Same, Shape, View
from ..core.primitive import Primitive
from .loops import LoopPrimitive
from .program import GUARD, Failure, Program, Step


class Requirement(NamedTuple):
    """Something that holds for every program, or for every step of one."""

    sentence: str
    broken: Callable[..., Iterable[object]]
    """What does not fit, of a program, or of a program and a step of it."""


def _results(program: Program, step: Step) -> Iterator[object]:
    if step.primitive is GUARD:
        if step.outs:
            yield "a guard has some"
    elif not step.primitive.multiple and len(step.outs) != 1:
        yield f"it has {len(step.outs)}"


class OperandRequirements(NamedTuple):
    """What an operation may be given: numbers of operands from and to, parameters it must have and may have."""

    fewest: int
    most: float
    required: frozenset[str]
    allowed: frozenset[str] | None


@functools.cache
def signature_of(primitive: Primitive) -> OperandRequirements | None:
    """Read off the function that evaluates an operation; None if that does not say."""
    if primitive.facts.ufunc is not None:
        return OperandRequirements(primitive.facts.ufunc.nin, primitive.facts.ufunc.nin, frozenset(), None)
    try:
        found = inspect.signature(primitive.evaluate).parameters.values()
    except (TypeError, ValueError):
        return None
    by_place = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = [p for p in found if p.kind is p.KEYWORD_ONLY]
    is_open = any([p.kind is p.VAR_POSITIONAL for p in found])
    return OperandRequirements(
        len([p for p in by_place if p.default is p.empty]),
        float("inf") if is_open else len(by_place),
        frozenset([p.name for p in by_name if p.default is p.empty]),
        None if any([p.kind is p.VAR_KEYWORD for p in found]) else frozenset([p.name for p in by_name]),
    )


def _operands(program: Program, step: Step) -> Iterator[object]:
    signature = signature_of(step.primitive) if isinstance(step.primitive, Primitive) else None
    if signature is not None and not signature.fewest <= len(step.args) <= signature.most:
        yield f"it has {len(step.args)}"


def _parameters(program: Program, step: Step) -> Iterator[object]:
    signature = signature_of(step.primitive) if isinstance(step.primitive, Primitive) else None
    if signature is None:
        return
    if missing := signature.required - step.params.keys():
        yield f"it lacks {', '.join(sorted(missing))}"
    if signature.allowed is not None and (unknown := step.params.keys() - signature.allowed):
        yield f"it has {', '.join(sorted(unknown))}"


def _guards(program: Program, step: Step) -> Iterator[object]:
    if step.primitive is not GUARD:
        return
    if step.params.keys() != {"expected"}:
        yield f"it has {', '.join(step.params)}"
    elif not isinstance(step.params["expected"], Failure):
        if len(step.args) != 1:
            yield f"it looks at {len(step.args)} values"
        elif np.shape(step.params["expected"]) != program.types[step.args[0]].shape:
            yield f"it awaits {step.params['expected']!r} of a {program.types[step.args[0]]}"


PYTHONS = {"f": float, "i": int, "b": bool, "c": complex}
"""Python's numbers, which take the precision of what they meet."""


def _ufunc(step: Step) -> np.ufunc | None:
    """The universal function of a step, if that works element by element."""
    ufunc: np.ufunc | None = step.primitive.facts.ufunc
    return ufunc if ufunc is not None and ufunc.signature is None else None


@functools.cache
def result_dtypes(ufunc: np.ufunc, operands: tuple[type | np.dtype, ...]) -> tuple[np.dtype, ...] | None:
    """The types that NumPy chooses; None if it does not say."""
    try:
        return tuple(ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))[ufunc.nin :])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _broadcast(program: Program, step: Step) -> Iterator[object]:
    ufunc = _ufunc(step)
    if ufunc is None:
        return
    shapes = [program.types[a].shape for a in step.args]
    # an array that holds one number only may have become that number: the others need not tell the shape then
    stand_in = any([a in program.constants and shape == () for a, shape in zip(step.args, shapes, strict=True)])
    for o in step.outs:
        want = program.types[o].shape
        if together([*shapes, *[want] * stand_in]) != want:
            yield f"operands of {shapes} give {program.types[o]}"


def together(shapes: list[Shape]) -> Shape | None:
    """The shape of arrays that are broadcast; None if they do not fit. NumPy's own function stops at 32 axes."""
    rank = max([len(shape) for shape in shapes], default=0)
    found = []
    for lengths in zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True):
        others = {n for n in lengths if n != 1}
        if len(others) > 1:
            return None
        found.append(others.pop() if others else 1)
    return tuple(found)


def _resolved(program: Program, step: Step) -> Iterator[object]:
    ufunc = _ufunc(step)
    if ufunc is None:
        return
    types = [program.types[a] for a in step.args]
    want = result_dtypes(ufunc, tuple([PYTHONS.get(t.dtype.kind, t.dtype) if t.weak else t.dtype for t in types]))
    have = tuple([program.types[o].dtype for o in step.outs])
    if want is not None and want != have:
        yield f"{', '.join(map(str, types))} give {', '.join(map(str, have))}"


def _moved(program: Program, step: Step) -> Iterator[object]:
    moves, addressed = step.primitive.facts.moves, step.primitive.facts.addressed
    if moves is None or (addressed is not None and len(step.args) > addressed.first):
        return
    have, want = [program.types[a].shape for a in step.args], program.types[step.outs[0]].shape
    match moves:
        case Same():
            fits = have[0] == want
        case View():
            fits = _reads(moves, have[0], want, step.params)
        case Pad():
            region = moves.region(want, **step.params)
            fits = region is None or _lies_inside(region.places, region.shape, want)
        case Overwrite():
            region = moves.region(want, **step.params)
            fits = have[0] == want and (region is None or _lies_inside(region.places, region.shape, want))
        case Pieces():
            parts = list(moves.parts(have, **step.params))
            inside = [_lies_inside(p.target, p.shape, want) for p in parts]
            fits = all(inside) and sum([math.prod(p.shape) for p in parts]) == math.prod(want)
    if not fits:
        yield f"{', '.join([str(program.types[a]) for a in step.args])} become {program.types[step.outs[0]]}"


def _named(program: Program, step: Step) -> Iterator[object]:
    if isinstance(step.primitive.facts.moves, (View, Pad)) and "shape" in step.params:
        out = program.types[step.outs[0]]
        if out.shape != tuple(step.params["shape"]):
            yield f"{step.params['shape']} becomes {out}"


def _reads(moves: View, have: Shape, want: Shape, params: dict[str, Any]) -> bool:
    reads = moves.reads(have, want, **params)
    if reads is None:
        return not moves.in_order or math.prod(have) == math.prod(want)
    return _lies_inside(reads, want, have)


def _lies_inside(places: Indices, part: Shape, whole: Shape) -> bool:
    """Whether every element of a part has a place in the whole array."""
    if len(places) != len(whole):
        return False
    for place, n in zip(places, whole, strict=True):
        count = 1 if place.axis is None else part[place.axis] if place.axis < len(part) else n + 1
        ends = (place.shift, place.scale * (count - 1) + place.shift)
        if count > 0 and not 0 <= min(ends) <= max(ends) < n:
            return False
    return True


def _reduced(program: Program, step: Step) -> Iterator[object]:
    if step.primitive.facts.reduces is None:
        return
    have, out = program.types[step.args[0]].shape, program.types[step.outs[0]]
    axes = {a % len(have) for a in step.params["axis"]} if have else set()
    kept = step.params["keepdims"]
    want = tuple([1 if a in axes else n for a, n in enumerate(have) if kept or a not in axes])
    if out.shape != want:
        yield f"{have} becomes {out}"


def _contracted(program: Program, step: Step) -> Iterator[object]:
    if step.primitive.facts.contracts is None:
        return
    shapes = [program.types[n].shape for n in (*step.args, *step.outs)]
    lengths: dict[Hashable, int] = {}
    for labels, shape in zip(step.primitive.facts.contracts(*shapes[:2], **step.params), shapes, strict=True):
        if len(labels) != len(shape):
            yield f"{shape} has axes {labels}"
            return
        for label, n in zip(labels, shape, strict=True):
            if lengths.setdefault(label, n) == 1:
                lengths[label] = n
            elif n not in (1, lengths[label]):
                yield f"{shape} has another length of {label}"


def _looped(program: Program, step: Step) -> Iterator[object]:
    if not isinstance(step.primitive, LoopPrimitive):
        return
    record = step.primitive.operands
    given = record.cut([program.types[a] for a in step.args], step.params["sizes"])
    given = given.map(lambda t: t.shape, stacked=lambda t: t.shape[1:])
    for part in record.parts:
        bodies = step.params[part.param]
        for body in bodies if isinstance(bodies, tuple) else (bodies,):
            shapes = [body.types[n].shape for n in body.inputs]
            if shapes != given.inputs(part):
                yield f"{part.param} takes {shapes} and gets {given.inputs(part)}"
            carried = list(getattr(given, part.carries)) if part.carries else []
            handed = [body.types[o].shape for o in body.outputs][: len(carried)]
            if handed != carried:
                yield f"{part.param} is given {carried} and hands on {handed}"


STEPS = (
    Requirement("a step has one result, unless its operation has several", _results),
    Requirement("an operation has as many operands as it takes", _operands),
    Requirement("an operation has the parameters it takes", _parameters),
    Requirement("a guard says what it awaits of one value", _guards),
    Requirement("a universal function has the shape of its operands together", _broadcast),
    Requirement("a universal function gives what NumPy gives for these types", _resolved),
    Requirement("what moves elements has a place for each of them", _moved),
    Requirement("what moves elements gives the shape that it names", _named),
    Requirement("a reduction keeps the axes that it does not reduce", _reduced),
    Requirement("axes with the same label are of one length", _contracted),
    Requirement("the programs of a loop take what it is given", _looped),
)
