"""From a call to a program: run the function once on handles, and see that it did nothing a program cannot repeat."""

from __future__ import annotations

import contextlib
import enum
import functools
import os
import random
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import ImpureError, OutputError, message
from ..core.traced import Traced, snapshot
from ..core.tree import flatten
from .capture import CaptureTrace, ForeignValueError
from .chance import Chance, not_drawn_if_refused, put_back, seal
from .clone import Clones, looks_at_types
from .counts import LooksAtNumbersError, tells_handles_apart
from .effects import Performance, also_in_failure, noted
from .executed import Tracking
from .interpret import own
from .looking import look
from .program import KINDS, Program
from .reach import is_others
from .varying import (
    NONE,
    Counts,
    Numbers,
    Variable,
    asks_which,
    handle_of,
    is_pinned,
    kind_of,
    left_out,
    numbers_in,
    plain_of,
    still_read,
    without_truths,
)
from .watch import Watch

SETTLING = 3
"""Recordings until objects of packages that the function uses have to stay as they are."""
DYNAMIC = (float, complex, np.ndarray, np.generic)
"""Leaves whose values a program takes anew at each run; everything else is part of what was recorded."""

Run = Callable[[Any, Any, dict[str, Any]], Any]
"""How a function is called on handles."""


def is_dynamic(leaf: Any) -> bool:
    """Whether a leaf is a number or an array that a program can take."""
    if isinstance(leaf, Traced):
        return False
    if isinstance(leaf, np.ndarray):
        return type(leaf) is np.ndarray and leaf.dtype.kind in KINDS
    return isinstance(leaf, DYNAMIC) and not (isinstance(leaf, np.generic) and leaf.dtype.kind not in KINDS)


class Recording:
    """A program, what surrounds it, and how its outputs become the function's result."""

    __slots__ = (
        "counts", "effects", "forms", "is_for_once", "outputs", "pinned", "program", "restore", "variables", "watch",
    )  # fmt: skip

    def __init__(self, program: Program, watch: Watch, outputs: list[Any], restore: Any, effects: Performance) -> None:
        self.is_for_once = False
        """Whether it may not be run again: the function caught an error that no guard stands for."""
        self.program = program
        self.effects = effects
        self.watch = watch
        self.outputs = outputs
        """For each leaf of the result, `Computed` or `Fixed`."""
        self.restore = restore
        self.forms = [(c, _form(c)) for c in program.constants.values() if isinstance(c, np.ndarray)]
        """Arrays that are read at every run, and how they lay in memory."""
        self.counts: Counts = frozenset()
        """Leaves that are inputs although they are Python's integers or truth values."""
        self.pinned: Counts = frozenset()
        """Leaves that are inputs, but which the program relies on as they were: they chose a shape or a place."""

        self.variables: tuple[tuple[Variable, Any, bool], ...] = ()
        """Captured numbers that are read at every run, of which kind, and whether the program relies on them."""

    def captured_numbers(self) -> list[Any] | None:
        """The captured numbers as they are now, which are the last inputs; None if one is no longer of its kind."""
        found: list[Any] = []
        for variable, kind, _ in self.variables:
            value = variable.read()
            if kind_of(value) != kind:
                return None
            found += numbers_in(value)
        return found

    def is_valid(self) -> bool:
        """Whether everything the recording relies on is still as it was."""
        for array, form in self.forms:
            if _form(array) != form:  # resized, or given another shape or dtype in place
                return False
        return not self.watch.changed() and not self.watch.rewritten()

    def result(self, found: list[Any]) -> Any:
        """The function's result, from the program's outputs."""
        if self.effects:
            self.effects(found)
        return self.restore([o.of(found) for o in self.outputs])


def _form(array: np.ndarray) -> tuple[Any, ...]:
    return array.shape, array.dtype, array.strides


class Computed:
    """A leaf of the result that the program computes."""

    __slots__ = ("is_array", "place")

    def __init__(self, place: int, is_array: bool) -> None:
        self.place = place
        self.is_array = is_array
        """Whether it is an array without axes, which a program does not tell from a number."""

    def of(self, found: list[Any]) -> Any:
        """The leaf, given the program's outputs."""
        value = found[self.place]
        return np.asarray(value) if self.is_array else value


class Fixed:
    """A leaf of the result that is not computed: a string, None, an array of text."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def of(self, found: list[Any]) -> Any:
        """The leaf; the caller may write to it."""
        return self._value.copy() if isinstance(self._value, (np.ndarray, set)) else self._value


@also_in_failure
@not_drawn_if_refused
def record(
    run: Run,
    fun: Any,
    leaves: list[Any],
    rebuild: Any,
    *extra: Any,
    counts: Counts = frozenset(),
    variables: Sequence[Variable] = (),
    exactly: bool = False,
) -> tuple[Recording, Any]:
    """Call `fun` on handles; the recording, and the result of this very call.

    `counts` are the places of leaves that are to be inputs although they are Python's integers or truth values, and
    `variables` captured numbers that are to be inputs. A function that does not take their handles gets the numbers.
    The recording relies on everything that can be reached, or `exactly` on what has been used; that takes longer to
    find out.
    """
    for inputs in dict.fromkeys([Numbers(counts, tuple(variables)), Numbers(counts)]):
        try:
            return _checked(run, fun, leaves, rebuild, extra, inputs, exactly)
        except ForeignValueError:
            raise
        except Exception:  # with the numbers themselves, it raises what is due
            if not inputs:
                raise
            put_back()
    return _checked(run, fun, leaves, rebuild, extra, NONE, exactly)


def _checked(
    run: Run, fun: Any, leaves: list[Any], rebuild: Any, extra: Any, counts: Numbers, exactly: bool
) -> tuple[Recording, Any]:
    lift = not looks_at_types(fun)
    try:
        recording, values, drawn = _settled(run, fun, leaves, rebuild, extra, lift=lift, counts=counts, exactly=exactly)
    except (ForeignValueError, ImpureError, OutputError):
        raise
    except Exception:  # it may need the arrays that it captures as they are, for compiled code
        if counts or not lift or not look(fun, *extra).arrays:
            raise
        lift = False
        put_back()
        recording, values, drawn = _settled(run, fun, leaves, rebuild, extra, lift=lift, counts=counts, exactly=exactly)
    if not exactly and recording.watch.unwatchable:  # perhaps something that is not used
        put_back()
        recording, values, drawn = _settled(run, fun, leaves, rebuild, extra, lift=lift, counts=counts, exactly=True)
    if drawn and threading.active_count() > 1:  # by another thread, unless the numbers differ the next time as well
        again, _, drawn_again = _settled(run, fun, leaves, rebuild, extra, lift=lift, counts=counts, exactly=exactly)
        drawn = "" if not drawn_again or _same_constants(recording.program, again.program) else drawn
    if drawn:
        raise ImpureError(
            message(
                f"The function draws from {drawn}, so a recording would repeat the same numbers.",
                got=home(fun),
                fix="Draw with  ad.random.normal(key, shape)  and pass the key as an argument,\n"
                "or draw outside and pass the numbers.",
            )
        )
    return recording, recording.result(own(values, [*leaves, *recording.program.constants.values()]))


def _settled(run: Run, *call: Any, **how: Any) -> tuple[Recording, list[Any], str]:
    """A recording during which objects of packages were as they are: those that fill their caches have done so."""
    for _ in range(SETTLING):
        recording, values, drawn, stirred = _recorded(run, *call, **how)
        if not stirred:
            return recording, values, drawn
        put_back()
    raise _impure(stirred, call[0])


def _recorded(
    run: Run, fun: Any, leaves: list[Any], rebuild: Any, extra: Any, *, counts: Numbers, **how: Any
) -> tuple[Recording, list[Any], str, str]:
    capture = CaptureTrace()
    try:
        found = _written(capture, run, fun, leaves, rebuild, extra, counts=counts, **how)
        if not capture.has_truth_as_index:
            return found
    except Exception:
        if not capture.has_truth_as_index:
            raise
    finally:
        capture.end()
    put_back()
    capture, counts = CaptureTrace(plain_truths=True), without_truths(counts, leaves)
    try:
        return _written(capture, run, fun, leaves, rebuild, extra, counts=counts, **how)
    finally:
        capture.end()


def _written(
    capture: CaptureTrace,
    run: Run,
    fun: Any,
    leaves: list[Any],
    rebuild: Any,
    extra: Any,
    *,
    lift: bool,
    counts: Numbers,
    exactly: bool,
) -> tuple[Recording, list[Any], str, str]:
    watch = look(fun, *extra, with_arrays=False)
    if tells_handles_apart(watch.functions()) or asks_which(watch.functions()):
        capture.plain_truths = True  # as in  (x > 0) is True
    seal([x for x, _, _ in watch.generators] + [s.x for s in watch.states if isinstance(s.x, random.Random)])
    handles = [
        capture.count(x) if k in counts.leaves else capture.input(x) if is_dynamic(x) else x
        for k, x in enumerate(leaves)
    ]
    captured = {v: handle_of(capture, now) for v in counts.variables if kind_of(now := v.read()) is not None}
    clones = Clones(capture, calls=True, variables={v.place: h for v, h in captured.items()})
    original, fun = fun, clones.of(fun) if lift else fun
    others = extra
    if captured:
        others = [clones.of(x) if any([x is leaf for leaf in leaves]) else x for x in extra]
        handles = [h if isinstance(h, Traced) else clones.of(h) for h in handles]
    seen = look(fun, *others)
    if tells_handles_apart(seen.functions()):
        if counts:
            raise LooksAtNumbersError
        clones = Clones(capture)
        fun = clones.of(original) if lift else original
        seen = look(fun, *others)
    watch.arrays = seen.arrays  # those that the copy still sees as they are
    if captured:
        objects = clones.copied_objects()
        if not lift or still_read(seen, captured) or any(map(seen.knows, objects)):
            raise LooksAtNumbersError
        if objects and asks_which(watch.functions()):
            raise LooksAtNumbersError
        left_out(watch, captured)
    args, kwargs = rebuild(handles)
    given, _ = flatten((args, kwargs))
    tracking = Tracking() if exactly or watch.meets_packages else None
    with Chance() as chance, noted(capture, clones.back()) as effects:
        with tracking or contextlib.nullcontext():
            result = run(fun, args, kwargs)
        drawn = chance.drawn()
    drawn = drawn or watch.drawn_from()
    _check_pure(watch, clones, fun)
    stirred = watch.changed_in_packages()
    if tracking is not None or any([state.growing for state in watch.states]):  # caches may be fuller than before
        executed = tracking.executed if tracking else None
        watch = look(original, *extra, with_arrays=False, executed=clones.originals(executed))
        watch.arrays = look(fun, *others, executed=executed).arrays
        left_out(watch, captured)
    _check_arguments(fun, given, flatten((args, kwargs))[0], handles, leaves)
    outputs, restore = flatten(result)
    places: list[Any] = []
    values: list[Any] = []
    for leaf in outputs:
        leaf = snapshot(leaf)
        if isinstance(leaf, Traced) or is_dynamic(leaf):
            number, value = capture.number_of(leaf)
            places.append(Computed(len(capture.program.outputs), type(value) is np.ndarray and value.ndim == 0))
            capture.program.outputs.append(number)
            values.append(value)
        else:
            places.append(_fixed(leaf, watch, leaves))
    capture.settle()
    values += [v for effect in effects for v in effect.values]
    recording = Recording(capture.program, watch, places, restore, Performance(capture.program, effects))
    recording.counts = counts.leaves
    recording.pinned = frozenset([k for k in counts.leaves if handles[k].node in capture.pinned])
    recording.variables = tuple([(v, kind_of(plain_of(h)), is_pinned(capture, h)) for v, h in captured.items()])
    recording.is_for_once = capture.unguarded
    return recording, values, drawn, stirred


ANYTHING = (str, bytes, bool, int, type(None), enum.Enum, type, np.dtype, np.generic, np.ndarray, slice, range)


def _fixed(leaf: Any, watch: Watch, leaves: list[Any]) -> Fixed:
    """A leaf that a recording may give back each time; refused if it may hold what was computed."""
    if isinstance(leaf, ANYTHING) or watch.knows(leaf) or any(leaf is given for given in leaves):
        return Fixed(leaf)
    if isinstance(leaf, (set, frozenset)) and all(isinstance(x, ANYTHING) and not isinstance(x, Traced) for x in leaf):
        return Fixed(leaf)
    if isinstance(leaf, (types.BuiltinFunctionType, np.ufunc, types.ModuleType)):
        return Fixed(leaf)
    fix = "Return numbers, arrays, or containers of them: tuples, lists, dicts, dataclasses."
    if isinstance(leaf, (types.FunctionType, types.MethodType, functools.partial)):
        fix = "Return the arrays that it needs, and make it outside."
    elif hasattr(leaf, "__next__") or hasattr(leaf, "cr_await"):
        fix = "Run it inside the function, as in  return list(result)."
    raise OutputError(
        message("jit cannot return an object that was made by the function.", got=type(leaf).__name__, fix=fix)
    )


def _same_constants(one: Program, other: Program) -> bool:
    """Whether two recordings of one call rely on the same numbers."""

    def facts(program: Program) -> list[Any]:
        return [c.tobytes() if isinstance(c, np.ndarray) else repr(c) for c in program.constants.values()]

    return facts(one) == facts(other)


def home(fun: Any) -> str:
    """The function and where it is written, for messages that cannot name the line."""
    seen: list[Any] = []  # functions may hold each other
    while fun not in seen:
        inner = next((c.cell_contents for c in getattr(fun, "__closure__", None) or () if _is_function(c)), None)
        if inner is None or not is_others(fun):
            break
        seen.append(fun)
        fun = inner
    code = getattr(getattr(fun, "__func__", fun), "__code__", None)
    name = getattr(fun, "__qualname__", type(fun).__name__)
    return name if code is None else f"{name}, from {code.co_filename.rpartition(os.sep)[2]}:{code.co_firstlineno} on"


def _is_function(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:
        return False


def _check_pure(watch: Watch, clones: Clones, fun: Any) -> None:
    what = watch.changed_here() or watch.rewritten() or clones.changed()
    if what:
        raise _impure(what, fun)


def _impure(what: str, fun: Any) -> ImpureError:
    return ImpureError(
        message(
            f"The function changes {what}, which a recording would not repeat.",
            got=home(fun),
            fix="Return the new value as a result instead; what is only counted or collected belongs outside.",
        )
    )


def _check_arguments(fun: Any, before: list[Any], after: list[Any], handles: list[Any], leaves: list[Any]) -> None:
    same = len(after) == len(before) and all(a is b for a, b in zip(after, before, strict=True))
    for handle, leaf in zip(handles, leaves, strict=True):
        same = same and not (isinstance(handle, Traced) and handle.value is not leaf)
    if not same:
        raise ImpureError(
            message(
                "The function changes an argument in place, which a recording would not repeat.",
                got=home(fun),
                fix="Work on a copy,  x = x.copy(),  and return it.",
            )
        )
