"""One run of a function on handles, written down; what it did that a program cannot repeat is an error."""

from __future__ import annotations

import contextlib
import enum
import functools
import random
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...core.errors import ImpureError, OutputError, message
from ...core.traced import Traced, snapshot
from ...core.tree import flatten, holder, ways
from ...host.frames.definition import home
from ...ir.capture import CaptureTrace, Tests
from ...ir.counts import LooksAtNumbersError, tells_handles_apart
from ...ir.effects import Effect, Performance, noted
from ...ir.passes import observe
from ..environment.audit import audited
from ..environment.captured_inputs import (
    Numbers,
    Variable,
    handle_of,
    is_pinned,
    kind_of,
    left_out,
    plain_of,
    still_read,
    undone,
)
from ..environment.clone import Clones, looks_at_types
from ..environment.copying import asks_which
from ..environment.deciding import decided_by
from ..environment.discover import look
from ..environment.randomness import RandomnessWatch, seal
from ..environment.watch import Watch
from ..environment.world import clock_in
from .executed import Tracking, users_code
from .recording import Computed, Fixed, Leaf, Recording, is_dynamic
from .state import StateInLoopsError, in_classes, keep_changes, keep_state

Run = Callable[[Any, Any, dict[str, Any]], Any]
"""How a function is called on handles."""
Rebuild = Callable[[Sequence[Any]], tuple[Any, dict[str, Any]]]
"""From leaves to positional and keyword arguments."""


class Lift(enum.IntEnum):
    """Which captured arrays are handles, so that the program reads them at every run; the others are compared."""

    NOTHING = 0
    VARIABLES = 1
    """Those of variables, defaults and containers."""
    ATTRIBUTES = 2
    """Attributes of the user's objects too: the function gets copies of these."""


class Request(NamedTuple):
    """A call that is to be recorded, and how."""

    run: Run
    fun: Any
    leaves: list[Any]
    """Of the arguments."""
    rebuild: Rebuild
    extra: tuple[object, ...]
    """What the recording relies on besides the function."""
    counts: Numbers
    """Python's numbers that are to be inputs."""
    exactly: bool
    """Whether the recording relies on what has been used alone; that takes longer to find out."""
    lift: Lift = Lift.ATTRIBUTES
    """Which of the arrays that the function captures are handles."""
    loops: Loops | None = None
    """Who looks for loops of Python's; without, their rounds are recorded one by one."""
    defers: bool = False
    """Whether large steps are not taken: then the results of this very call may be left to the program."""


class Loops(Tests, Protocol):
    """Who sees truth values that are tested, and makes loops of them."""

    has_started: bool
    """Whether something in the recording is a loop, or is to become one."""

    def begin(self) -> None:
        """Before a function is recorded, for the first time or once more."""

    def end(self) -> None:
        """After that, however it ended."""

    def failed(self) -> bool:
        """Whether the recording cannot be used, as something was no loop; it will not be taken for one again."""

    def alone(self) -> None:
        """Told that the recording will rely on what it uses alone: what others have found is not to be added."""


class Attempt(NamedTuple):
    """What one run gave."""

    recording: Recording
    values: list[Any] | None
    """Those of the program's outputs in this very call, if they have been computed."""
    drawn: str
    """A source of random numbers that was drawn from without an argument saying so."""
    changed_in_packages: str
    """An object of a package that changed meanwhile."""
    read: ImpureError | None
    """For a file that was read meanwhile, should it be read each time."""
    clock: str
    """What code mentions that gives something else each time."""
    is_exact: bool
    """Whether the recording relies on what has been used alone."""


class Stage(NamedTuple):
    """A function, ready to be run on handles."""

    capture: CaptureTrace
    request: Request
    fun: Any
    """The function, or its copy."""
    clones: Clones
    watch: Watch
    handles: list[Any]
    captured: dict[Variable, Any]
    """The handles of captured numbers."""
    others: Sequence[object]
    """The extra objects, or their copies."""
    may_ask: bool = False
    """Whether there are copies of objects, and code that would ask which one it has if it ran."""

    def arguments(self) -> tuple[Any, dict[str, Any]]:
        """What the function is called with: handles, and copies of static objects if there are some."""
        args, kwargs = self.request.rebuild(self.handles)
        copies = {id(x): made for x, made in zip(self.request.extra, self.others, strict=True) if made is not x}
        if not copies:
            return args, kwargs
        return tuple([copies.get(id(a), a) for a in args]), {k: copies.get(id(a), a) for k, a in kwargs.items()}


def attempted(capture: CaptureTrace, request: Request) -> Attempt:
    """Run a function on handles."""
    stage = _prepared(capture, request)
    watch, fun = stage.watch, stage.fun
    args, kwargs = stage.arguments()
    given, _ = flatten((args, kwargs))
    wants_tracking = request.exactly or watch.meets_packages or stage.may_ask or watch.unwatchable
    tracking = Tracking() if wants_tracking else None
    if tracking is not None and request.loops is not None:
        request.loops.alone()
    with RandomnessWatch() as chance, noted(capture, stage.clones.back()) as effects:
        with in_classes(stage.captured):
            try:
                with audited() as seen, tracking or contextlib.nullcontext():  # which sees the function's code alone
                    result = request.run(fun, args, kwargs)
            except Exception:
                keep_changes(watch)
                raise
            finally:
                has_state = keep_state(stage.captured, stage.clones)
        if has_state and request.loops is not None:
            _set_back(watch, fun)
            raise StateInLoopsError
        if seen.refused is not None:  # and the function went on
            raise seen.refused
        drawn = chance.drawn()
    if stage.may_ask and (tracking is None or tracking.executed is None or asks_which(users_code(tracking.executed))):
        _set_back(watch, fun)
        raise AsksWhichError
    drawn = drawn or watch.drawn_from()
    what = watch.changed_here() or watch.rewritten()
    if what:
        raise impure(what, fun, _set_back(watch, fun))
    what = stage.clones.changed()
    if what:
        raise impure(what, fun, stage.clones.replaced(), ChangesCopyError)
    changed_in_packages = watch.changed_in_packages()
    if tracking is not None or any([state.growing for state in watch.states]):  # caches may be fuller than before
        watch = _watched_again(stage, tracking)
    _check_arguments(stage, given, (args, kwargs))
    recording, values = _finished(stage, watch, result, effects)
    executed = tracking.executed if tracking is not None else None
    code = executed if executed is not None else {f.__code__: f.__globals__ for f in watch.functions()}
    clock = clock_in(code)
    decides = "" if watch.unwatchable else decided_by(code, watch.functions())
    if decides:
        watch.unwatchable = f"it decides by {decides}(), which a recording would not ask again"
        watch.fix = "Ask outside, and pass the answer."
    return Attempt(recording, values, drawn, changed_in_packages, seen.read, clock, executed is not None)


def _set_back(watch: Watch, fun: object) -> list[Variable]:
    """Before a function is recorded again: the numbers that it has replaced, refused if that is not all it did."""
    changed = undone(watch)
    what = watch.changed_here() or watch.rewritten()
    if what or (changed and watch.filled()):
        raise impure(what or "what it keeps, and fills a cache", fun)
    return [v for v, _ in changed]


def _prepared(capture: CaptureTrace, request: Request) -> Stage:
    """Make handles of arguments, of captured arrays and of captured numbers."""
    fun, leaves, extra, counts = request.fun, request.leaves, request.extra, request.counts
    watch = look(fun, *extra)
    asks = asks_which([f.__code__ for f in watch.functions()])
    if asks or tells_handles_apart(watch.functions()):
        capture.plain_truths = True  # as in  (x > 0) is True
    seal([x for x, _, _ in watch.generators] + [s.x for s in watch.states if isinstance(s.x, random.Random)])
    handles = [
        capture.count(x) if k in counts.leaves else capture.input(x) if is_dynamic(x) else x
        for k, x in enumerate(leaves)
    ]
    captured = {v: handle_of(capture, now) for v in counts.variables if kind_of(now := v.read()) is not None}
    attributes = request.lift is Lift.ATTRIBUTES and not looks_at_types(watch.functions())
    stage = Stage(capture, request, fun, Clones(capture, ()), watch, handles, captured, extra)
    copied, seen = _with_copies(stage, attributes=attributes)
    if attributes and any(map(seen.knows, copied.clones.copied_objects())):  # it would see both, object and copy
        attributes = False
        copied, seen = _with_copies(stage, attributes=False)
    if tells_handles_apart(seen.functions()):
        if counts.leaves or any([not isinstance(v.owner, type) for v in captured]):
            raise LooksAtNumbersError
        copied, seen = _with_copies(stage, attributes=attributes, calls=False)
    watch.keep_arrays(seen.met_arrays)  # those that the copy still sees as they are
    if captured:
        _check_numbers(copied, seen, asks)
    return copied._replace(may_ask=asks and bool(copied.clones.copied_objects()))


def _with_copies(stage: Stage, *, attributes: bool, calls: bool = True) -> tuple[Stage, Watch]:
    """Copies of the function and of static arguments in which captured arrays are handles, and what they reach."""
    fun, extra = stage.request.fun, stage.request.extra
    if not stage.request.lift:
        return stage, look(fun, *extra)
    variables = {v.place: h for v, h in stage.captured.items()} if calls else {}
    roots = (fun, *extra) if attributes or variables else (fun,)
    clones = Clones(stage.capture, roots, objects=attributes, calls=calls, variables=variables)
    others: Sequence[object] = extra
    handles = stage.handles
    if len(roots) > 1:
        given = {id(x) for x in stage.request.leaves}
        others = [clones.of(x) if attributes or id(x) in given else x for x in extra]
        handles = [h if isinstance(h, Traced) else clones.of(h) for h in stage.handles]
    made = stage._replace(fun=clones.of(fun), clones=clones, handles=handles, others=others)
    return made, look(made.fun, *others)


def _check_numbers(stage: Stage, seen: Watch, asks: bool) -> None:
    """Refuse captured numbers as inputs where the function would still see the numbers themselves."""
    objects = stage.clones.copied_objects()
    if not stage.request.lift or still_read(seen, stage.captured) or any(map(seen.knows, objects)):
        raise LooksAtNumbersError
    if objects and asks:
        raise LooksAtNumbersError
    left_out(stage.watch, stage.captured)


def _watched_again(stage: Stage, tracking: Tracking | None) -> Watch:
    """What the recording relies on, as it is after the run, and as far as it was used."""
    executed = tracking.executed if tracking else None
    originals = stage.clones.originals(executed)
    watch = look(stage.request.fun, *stage.request.extra, executed=originals)
    watch.keep_arrays(look(stage.fun, *stage.others, executed=executed).met_arrays, stage.watch)
    left_out(watch, stage.captured)
    return watch


def _finished(stage: Stage, watch: Watch, result: object, effects: list[Effect]) -> tuple[Recording, list[Any] | None]:
    """The recording, and the values of the program's outputs; None if there is one that nobody has computed."""
    capture, counts = stage.capture, stage.request.counts
    outputs, restore = flatten(result)
    places: list[Leaf] = []
    values: list[Any] = []
    for leaf in outputs:
        leaf = snapshot(leaf)
        if isinstance(leaf, Traced) or is_dynamic(leaf):
            number, value = capture.number_of(leaf)
            places.append(Computed(len(capture.program.outputs), type(value) is np.ndarray and value.ndim == 0))
            capture.program.outputs.append(number)
            values.append(value)
        else:
            places.append(_fixed(leaf, watch, stage.request.leaves))
    capture.settle()
    observe("recording", capture.program)
    values += [v for effect in effects for v in effect.values]
    recording = Recording(capture.program, watch, places, restore, Performance(capture.program, effects))
    recording.counts = counts.leaves
    recording.pinned = frozenset([k for k in counts.leaves if stage.handles[k].node in capture.pinned])
    recording.variables = tuple([
        (v, kind_of(plain_of(h)), is_pinned(capture, h)) for v, h in stage.captured.items()
    ])  # fmt: skip
    recording.is_for_once = capture.unguarded
    deferred = capture.deferred
    if deferred is not None and (deferred.guessed or any(map(deferred.is_waiting, capture.program.outputs))):
        return recording, None
    return recording, [capture.computed(n, v) for n, v in zip(capture.program.outputs, values, strict=True)]


ANYTHING = (str, bytes, bool, int, type(None), enum.Enum, type, np.dtype, np.generic, np.ndarray, slice, range)


def _fixed(leaf: object, watch: Watch, leaves: Sequence[object]) -> Fixed:
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


class AsksWhichError(Exception):
    """The function may have asked whether a copy, made for the recording, is the object itself."""


class ChangesCopyError(ImpureError):
    """What was changed is a copy, made for the recording: the object itself is as it was."""


def impure(
    what: str, fun: object, places: Sequence[Variable] = (), kind: type[ImpureError] = ImpureError
) -> ImpureError:
    """The error for a function that changes something; these places hold another number or array than before."""
    error = kind(
        message(
            f"The function changes {what}, which a recording would not repeat.",
            got=home(fun),
            fix="Return the new value as a result instead; what is only counted or collected belongs outside.",
        )
    )
    error.places = tuple(places)  # type: ignore[attr-defined]
    return error


def _check_arguments(stage: Stage, before: Sequence[object], given: tuple[Any, dict[str, Any]]) -> None:
    """Refuse a function that has changed what it was given: the leaves were these before."""
    after = flatten(given)[0]
    same = len(after) == len(before) and all(a is b for a, b in zip(after, before, strict=True))
    for handle, leaf in zip(stage.handles, stage.request.leaves, strict=True):
        same = same and not (isinstance(handle, Traced) and handle.value is not leaf)
    if not same:
        raise ImpureError(
            message(
                "The function changes an argument in place, which a recording would not repeat.",
                got=home(stage.fun),
                fix=f"Work on a copy,  {_copied(before, after, given)},  and return it.",
            )
        )


def _copied(before: Sequence[object], after: Sequence[object], given: tuple[Any, dict[str, Any]]) -> str:
    """How to copy what has been changed: an object, if one of its fields holds another value now, or an array."""
    others = [k for k, (a, b) in enumerate(zip(after, before, strict=False)) if a is not b]
    if others and len(after) == len(before):
        way = ways(given)[others[0]]
        kind = type(holder(given, way))
        if hasattr(kind, "__dataclass_fields__"):
            return f"p = dataclasses.replace(p, {way[-1]}=...)"
        if not hasattr(kind, "copy"):
            return "p = copy.copy(p)"
    return "x = x.copy()"
