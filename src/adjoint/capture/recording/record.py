"""From a call to a program: run the function on handles, again in another way if that does not do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ImpureError, OutputError, message
from ...core.values import unshared
from ...host.frames.definition import home
from ...ir.capture import CaptureTrace, ForeignValueError
from ...ir.effects import also_in_failure
from ...ir.program import Program
from ..environment.captured_inputs import NONE, Counts, Numbers, Variable, without_truths
from ..environment.clone import copies_objects, looks_at_types
from ..environment.copying import functions_behind
from ..environment.discover import look
from ..environment.randomness import not_drawn_if_refused, put_back
from .attempt import Attempt, ChangesCopyError, Lift, Loops, Rebuild, Request, Run, attempted, impure
from .recording import NOT_YET, Recording
from .state import StateInLoopsError, keeps_state

SETTLING = 3
"""Recordings until objects of packages that the function uses have to stay as they are."""


@also_in_failure
@not_drawn_if_refused
def record(
    run: Run,
    fun: object,
    leaves: list[Any],
    rebuild: Rebuild,
    *extra: object,
    counts: Counts = frozenset(),
    variables: Sequence[Variable] = (),
    exactly: bool = False,
    loops: Loops | None = None,
    defers: bool = False,
) -> tuple[Recording, Any]:
    """Call `fun` on handles; the recording, and the result of this very call: `NOT_YET` if it `defers` large steps.

    `counts` are the places of leaves that are to be inputs although they are Python's integers or truth values, and
    `variables` captured numbers that are to be inputs. A function that does not take their handles gets the numbers.
    The recording relies on everything that can be reached, or `exactly` on what has been used; that takes longer to
    find out.
    """
    request = Request(run, fun, leaves, rebuild, extra, NONE, exactly, loops=loops, defers=defers)
    for numbers in dict.fromkeys([Numbers(counts, tuple(variables)), Numbers(counts)]):
        try:
            return _with_state(request._replace(counts=numbers))
        except ForeignValueError:
            raise
        except Exception:  # with the numbers themselves, it raises what is due
            if not numbers:
                raise
            put_back()
    return _with_state(request)


def _with_state(request: Request) -> tuple[Recording, Any]:
    """A recording in which numbers and arrays that the function replaces in its surroundings are inputs and outputs."""
    first: ImpureError | None = None
    while True:
        try:
            return _checked(request)
        except ForeignValueError:
            raise
        except Exception as error:
            known = request.counts.variables
            new = [v for v in getattr(error, "places", ()) if v not in known]
            if not isinstance(error, ImpureError) or not new:
                raise error if first is None else first from None
            first = first or error
        put_back()
        request = request._replace(counts=request.counts._replace(variables=(*known, *new)))


def _checked(request: Request) -> tuple[Recording, Any]:
    if looks_at_types(functions_behind(request.fun)):
        request = request._replace(lift=Lift.NOTHING)
    request, found = _lifted(request)
    if (
        not request.exactly and not found.is_exact and found.recording.watch.unwatchable
    ):  # perhaps something that is not used
        put_back()
        found = _settled(request._replace(exactly=True))
    drawn, recording = found.drawn, found.recording
    if drawn and threading.active_count() > 1:  # by another thread, unless the numbers differ the next time as well
        again = _settled(request)
        drawn = "" if not again.drawn or _same_constants(recording.program, again.recording.program) else drawn
    if drawn:
        raise ImpureError(
            message(
                f"The function draws from {drawn}, so a recording would repeat the same numbers.",
                got=home(request.fun),
                fix="Draw with  ad.random.normal(key, shape)  and pass the key as an argument,\n"
                "or draw outside and pass the numbers.",
            )
        )
    _check_clock(request, found)
    if found.values is None:
        return recording, NOT_YET
    return recording, recording.result(unshared(found.values, [*request.leaves, *recording.program.constants.values()]))


def _check_clock(request: Request, found: Attempt) -> None:
    """Record once more where code mentions a clock: if what it computes with is another number, it is refused."""
    if not found.clock or found.recording.watch.unwatchable:
        return
    put_back()
    one, other = found.recording.program, _settled(request).recording.program
    if _same_constants(one, other) and len(one.steps) == len(other.steps):
        return
    if keeps_state(found.recording.effects):
        found.recording.watch.unwatchable = f"it keeps what {found.clock}() gives, which a recording would not repeat"
    else:
        raise ImpureError(
            message(
                f"The function computes with {found.clock}(), so a recording would repeat what it gave.",
                got=home(request.fun),
                fix="Call it outside, and pass what it gives.",
            )
        )


def _lifted(request: Request) -> tuple[Request, Attempt]:
    """A recording in which as many captured arrays are handles as the function takes, and how it was made."""
    while True:
        try:
            return request, _settled(request)
        except ForeignValueError:
            raise
        except Exception as error:  # it may need the arrays that it captures as they are, for compiled code
            less = _with_fewer(request, error)
            if less is request.lift:
                raise
        request = request._replace(lift=less)
        put_back()


def _with_fewer(request: Request, error: Exception) -> Lift:
    """Which arrays may be handles for a function that raised with those of the request; the same if that is due."""
    is_of_copies = isinstance(error, ChangesCopyError) or not isinstance(error, ImpureError)
    if request.lift is Lift.ATTRIBUTES and is_of_copies and copies_objects(request.fun, *request.extra):
        return Lift.VARIABLES
    if request.counts or isinstance(error, (ImpureError, OutputError)):
        return request.lift
    return Lift.NOTHING if look(request.fun, *request.extra).met_arrays else request.lift


def _settled(request: Request) -> Attempt:
    """A recording during which objects of packages were as they are: those that fill their caches have done so."""
    for _ in range(SETTLING):
        found = _recorded(request)
        if not found.changed_in_packages and found.read is None:
            return found
        put_back()
    raise found.read or impure(found.changed_in_packages, request.fun)


def _recorded(request: Request) -> Attempt:
    """A recording with loops of Python's as loops, where these are to be found and the function does not mind."""
    loops, tries = request.loops, request.loops is not None
    while loops is not None and tries:
        loops.begin()
        try:
            found = _with_truths(request)
            if not loops.failed():
                return found
        except StateInLoopsError:
            tries = False
        except Exception:
            if not loops.has_started:
                raise
            tries = loops.failed()  # else a loop that was found may be why
        finally:
            loops.end()
        put_back()
    return _with_truths(request._replace(loops=None))


def _with_truths(request: Request) -> Attempt:
    """A recording in which truth values are handles, if none of them was an index."""
    capture = CaptureTrace(defers=request.defers and request.loops is None)  # whoever looks for loops wants values
    capture.loops = request.loops
    try:
        found = attempted(capture, request)
        if not capture.has_truth_as_index:
            return found
    except Exception:
        guessed = capture.deferred is not None and capture.deferred.guessed
        if not capture.has_truth_as_index and not guessed:
            raise
        if guessed:  # perhaps it went the wrong way
            request = request._replace(defers=False)
    finally:
        capture.end()
    put_back()
    if not capture.has_truth_as_index:
        return _with_truths(request)
    capture = CaptureTrace(plain_truths=True)
    try:
        return attempted(capture, request._replace(counts=without_truths(request.counts, request.leaves)))
    finally:
        capture.end()


def _same_constants(one: Program, other: Program) -> bool:
    """Whether two recordings of one call rely on the same numbers."""

    def facts(program: Program) -> list[Any]:
        return [c.tobytes() if isinstance(c, np.ndarray) else repr(c) for c in program.constants.values()]

    return facts(one) == facts(other)
