"""From a trace of arrays to a trace of numbers: every operation is done again, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.entry.moves import ADDS, WRITES, Same
from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.values import concrete, shape_of
from ...ir.program import GUARD, Step
from ...ops.keys import filled
from .record import Recorded
from .recorder import BLANK, Note, Notebook, Recorder, is_elementwise

LARGEST = 5_000
"""More numbers than anybody wants to look at."""


@quiet
def unrolled(whole: Recorded) -> Recorded:
    """The same function as a trace of single numbers: a product of matrices becomes sums of products."""
    notebook, trace = Notebook(), Recorder(BLANK)
    program = whole.notebook.program
    values: dict[int, Any] = dict(program.constants)
    names: list[str] = []
    for number, x, name in zip(program.inputs, whole.inputs, whole.names, strict=True):
        _check_size(np.size(x), name)
        values[number] = _each(x, lambda element: trace.input(notebook.input(_python(element))))
        names += [name + index for index in _indices(shape_of(x))]
    notes, variables, moving = _notes(whole), _variables(whole), _moving(whole)
    for k, step in enumerate(program.steps[: whole.steps]):
        args = [values[a] for a in step.args]
        if step.primitive is GUARD:
            _guard(notebook, args[0], step, whole.notebook.words.get(k))
            continue
        trace.note = next((notes[o] for o in step.outs if o in notes), trace.note)
        moves = moving.get(step.outs[0]) or [False] * len(args)
        args = [a if m else _at_rest(a, trace) for a, m in zip(args, moves, strict=True)]
        start = len(notebook.program.steps)
        found = _taken(step, args, trace.note or BLANK)
        _say_where(notebook, start, trace.note or BLANK)
        if len(trace) > LARGEST:
            _check_size(len(trace), step.primitive.name)
        for o, x in zip(step.outs, found, strict=True):
            values[o] = x
            if not _is_same(x, whole.notebook.value(o)):
                raise _refused(step.primitive.name, trace.note or BLANK)
            if o in variables:
                _name_elements(trace, x, variables[o])
    outputs, result_names = [], []
    for o, name in zip(whole.outputs, whole.result_names, strict=True):
        x = values[whole.notebook.number_of(o.value)[0]] if whole.is_traced(o) else o
        outputs += list(np.ravel(x)) if type(x) is np.ndarray else [x]
        result_names += [name + index for index in _indices(shape_of(x) if type(x) is np.ndarray else ())]
    return Recorded(
        title=whole.title,
        notebook=notebook,
        trace=trace,
        arrays=[],
        inputs=[_python(e) for x in whole.inputs for e in np.ravel(x)],
        names=names,
        outputs=outputs,
        result_names=result_names,
        steps=len(notebook.program.steps),
        value=whole.value,
        is_whole=False,
        restore=whole.restore,
        rebuild=lambda found: whole.rebuild(_regrouped(whole.inputs, found)),
        moving=whole.moving,
    )


def _taken(step: Step, args: list[Any], note: Note) -> tuple[Any, ...]:
    """The results of a step, whose arguments are arrays of numbers or of handles."""
    primitive = step.primitive
    if not any(_has_handles(a) for a in args):
        out = primitive.evaluate(*args, **step.params)
        return tuple(out) if primitive.multiple else (out,)
    try:
        if is_elementwise(primitive) or (isinstance(primitive.facts.moves, Same) and not step.params):
            found = _broadcast(lambda *elements: primitive(*elements, **step.params), args)
            return _parted(found, len(step.outs)) if primitive.multiple else (found,)
        # NumPy would hand a bare handle to the library, whose result is no array of handles
        boxes = [_box(a) for a in args]
        out = _by_elements(primitive, step.params)(*boxes, **step.params)
    except Exception as error:
        raise _refused(primitive.name, note) from error
    if primitive.multiple or (isinstance(out, Traced) and np.shape(out)):
        raise _refused(primitive.name, note)
    return (out[()] if type(out) is np.ndarray and not out.ndim else out,)


def _by_elements(primitive: Any, params: dict[str, Any]) -> Callable[..., Any]:
    """What evaluates an operation on arrays of handles."""
    facts = primitive.facts
    if facts.by_elements is not None:
        return facts.by_elements  # type: ignore[no-any-return]
    if facts.reduces is not None and facts.reduces.combines in REDUCED:
        return partial(REDUCED[facts.reduces.combines], facts.reduces.combines)
    if isinstance(facts.moves, Same):
        return _cast
    if facts.addressed is not None and "template" in params and facts.addressed.does in (WRITES, ADDS):
        return _assign if facts.addressed.does == WRITES else _unindex
    return primitive.evaluate  # type: ignore[no-any-return]


def _assign(x: Any, v: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    out = np.array(x, object)
    key = filled(template, arrays)
    out[key] = v if type(out[key]) is np.ndarray else v[()]
    return out


def _unindex(g: Any, *arrays: Any, template: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    out = np.full(shape, 0.0, object)
    np.add.at(out, filled(template, arrays), g)
    return out


def _sum(add: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    """Truth values are counted, as NumPy does it for arrays but not for single ones."""
    counted = _each(x, lambda e: e.astype(int) if isinstance(e, Traced) and e.dtype == bool else e)
    return np.sum(counted, axis=axis, keepdims=keepdims)


def _cast(x: Any, *, dtype: Any) -> Any:
    return _each(x, lambda e: e.astype(dtype) if isinstance(e, Traced) else np.asarray(e).astype(dtype)[()])


def _picked(pick: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    """The largest or smallest elements, by comparing two at a time; at a tie of several that shares in another way."""
    found = _joined(pick, x, axis=axis, keepdims=keepdims)
    top = np.expand_dims(_box(found), axis) if np.ndim(found) and not keepdims else _box(found)
    ties = _broadcast(np.equal, [x, np.broadcast_to(top, np.shape(x))])
    for count in np.ravel(_box(_sum(np.add, ties, axis=axis, keepdims=keepdims))):
        if np.size(x) > 2 * np.size(found) and not count < 3:  # asked for each lane: a guard
            raise ValueError("a tie")
    return found


def _joined(join: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Elements two at a time, along one axis after the other."""
    for a in sorted([a % np.ndim(x) for a in axis], reverse=True):
        x = np.frompyfunc(join, 2, 1).reduce(x, axis=a, keepdims=keepdims)
    return x


REDUCED: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _sum, np.logical_and: _joined, np.logical_or: _joined, np.maximum: _picked, np.minimum: _picked,
}  # fmt: skip
"""Reductions whose NumPy code does not take arrays of handles, by what they combine with."""


def _refused(name: str, note: Note) -> UnsupportedError:
    where = "" if note.place is None else f"{note.place}:  {note.place.source}"
    return UnsupportedError(
        message(
            f"{name} cannot be written out number by number.",
            got=where,
            fix='Leave  level="scalar"  out: then it is one step.',
        )
    )


def _check_size(count: int, what: str) -> None:
    if count > LARGEST:
        raise UnsupportedError(
            message(
                f"Written out number by number, the trace would have more than {LARGEST:,} steps.",
                got=f"{count:,} at {what}",
                fix='Leave  level="scalar"  out, or explain the function at a smaller size.',
            )
        )


def _python(x: Any) -> Any:
    """A Python number for double precision, which is quicker and prints well; others keep their precision."""
    return (
        x.item()
        if isinstance(x, (np.float64, np.complex128)) or (type(x) is np.ndarray and x.dtype.itemsize == 8)
        else x
    )


def _is_same(x: Any, wanted: Any) -> bool:
    """Whether the elements have come out as the array's, but for rounding."""
    found = np.array([concrete(e) for e in np.ravel(_box(x))])
    wanted = np.ravel(wanted)
    scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0) if wanted.dtype.kind in "fc" else 0
    tolerance = 1e-5 if wanted.dtype.name in ("float32", "float16", "complex64") else 1e-10
    return bool(np.allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def _parted(found: Any, count: int) -> tuple[Any, ...]:
    """An array of tuples as a tuple of arrays."""
    return tuple([_each(found, itemgetter(k)) for k in range(count)])


def _each(x: Any, function: Callable[[Any], Any]) -> Any:
    if type(x) is not np.ndarray or not x.ndim:
        return function(x[()] if type(x) is np.ndarray else x)
    out = np.empty(shape_of(x), object)
    for index in np.ndindex(out.shape):
        out[index] = function(x[index])
    return out


def _broadcast(function: Callable[..., Any], args: list[Any]) -> Any:
    """Apply a function of numbers to the elements of arrays that are broadcast to a common shape."""
    boxes = [_box(a) for a in args]
    shape = np.broadcast_shapes(*[b.shape for b in boxes])
    _check_size(math.prod(shape), "an array")
    if shape == ():
        return function(*[b[()] for b in boxes])
    spread = [np.broadcast_to(b, shape) for b in boxes]
    out = np.empty(shape, object)
    for index in np.ndindex(shape):
        out[index] = function(*[s[index] for s in spread])
    return out


def _box(x: Any) -> np.ndarray:
    if type(x) is np.ndarray:
        return x
    box = np.empty((), object)
    box[()] = x
    return box


def _has_handles(x: Any) -> bool:
    return isinstance(x, Traced) or (type(x) is np.ndarray and x.dtype == object)


def _guard(notebook: Notebook, x: Any, step: Step, word: str | None) -> None:
    """The decisions of the function hold for its numbers."""
    for element in np.ravel(x) if type(x) is np.ndarray else [x]:
        handle = element.value if isinstance(element, Traced) and element.traced_by is not notebook else element
        if isinstance(handle, Traced):
            count = len(notebook.program.steps)
            notebook.decided(handle, step.line)
            notebook.words |= dict.fromkeys(range(count, len(notebook.program.steps)), word)


def _notes(whole: Recorded) -> dict[int, Note]:
    """The note of each number of the program that is a place of the trace."""
    found = {}
    for (_, _, _, out, _), note in zip(whole.trace, whole.trace.notes, strict=True):
        if isinstance(out, Traced):
            found[out.node] = note
    return found


def _moving(whole: Recorded) -> dict[int, list[bool]]:
    """For each number of the program that the derivative passes, which arguments of its step it goes on to."""
    found: dict[int, list[bool]] = {}
    for _, parents, _, out, _ in whole.trace[len(whole.inputs) :]:
        for o in out if isinstance(out, tuple) else (out,):
            if isinstance(o, Traced):
                found.setdefault(o.node, [p is not None for p in parents])
    return found


def _at_rest(x: Any, trace: Recorder) -> Any:
    """The value without its derivative, as `ad.value` gives it."""
    if not _has_handles(x):
        return x
    return _each(x, lambda e: e.value if isinstance(e, Traced) and e.traced_by is trace else e)


def _say_where(notebook: Notebook, start: int, note: Note) -> None:
    """Decisions that were taken while writing out a step are those of its line."""
    steps, place = notebook.program.steps, note.place
    line = "" if place is None else f"{place} in {place.function}():  {place.source}"
    for k in range(start, len(steps)):
        if steps[k].primitive is GUARD:
            steps[k] = steps[k]._replace(line=line)


def _variables(whole: Recorded) -> dict[int, str]:
    found = {}
    for place, name in whole.trace.variables.items():
        out = whole.trace[place][3]
        if isinstance(out, Traced) and place >= len(whole.inputs):
            found[out.node] = name
    return found


def _name_elements(trace: Recorder, x: Any, name: str) -> None:
    elements = np.ravel(x) if type(x) is np.ndarray else [x]
    for element, index in zip(elements, _indices(shape_of(x) if type(x) is np.ndarray else ()), strict=True):
        if isinstance(element, Traced) and element.traced_by is trace:
            trace.variables.setdefault(element.node, name + index)


def _indices(shape: tuple[int, ...]) -> list[str]:
    return ["".join(f"[{','.join(map(str, index))}]" if index else "") for index in np.ndindex(shape)]


def _regrouped(inputs: list[Any], found: list[Any]) -> list[Any]:
    rest = iter(found)
    parts = []
    for x in inputs:
        if shape_of(x) == ():
            parts.append(next(rest))
        else:
            numbers = [next(rest) for _ in range(np.size(x))]
            parts.append(np.array([concrete(n) for n in numbers], dtype=x.dtype).reshape(x.shape))
    return parts
