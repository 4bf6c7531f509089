"""From a call to a program: run the function on handles, again by another plan if that does not do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import ImpureError, message
from ...core.values import unshared
from ...host.frames.definition import home
from ...ir.assumptions import Assumed
from ...ir.capture import CaptureTrace
from ...ir.effects import also_in_failure
from ..environment.captured_inputs import NONE, Counts, Numbers, Variable, without_truths
from ..environment.clone import looks_at_types
from ..environment.copying import functions_behind
from ..environment.randomness import not_drawn_if_refused, put_back
from .attempt import Attempt, attempted
from .attempts import MOST_RUNS_PER_CALL, Outcome, following
from .plan import Lift, Loops, Rebuild, Request, Run, RunPlan
from .recording import NOT_YET, Recording

FIRST = "the call"
"""Why a function is run for the first time."""


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
    before: Sequence[str] = (),
) -> tuple[Recording, Any]:
    """Call `fun` on handles; the recording, and the result of this very call: `NOT_YET` if it `defers` large steps.

    `counts` are the places of leaves that are to be inputs although they are Python's integers or truth values, and
    `variables` captured numbers that are to be inputs. A function that does not take their handles gets the numbers.
    The recording relies on everything that can be reached, or `exactly` on what has been used; that takes longer to
    find out. `before` says why the function was run for this call already, and last why it is now: all of these count
    towards how often it may be.
    """
    request = Request(run, fun, leaves, rebuild, extra)
    numbers, *fewer = dict.fromkeys([Numbers(counts, tuple(variables)), Numbers(counts), NONE])
    lift = Lift.NOTHING if looks_at_types(functions_behind(fun)) else Lift.ATTRIBUTES
    first = plan = RunPlan(numbers, exactly, loops, defers, lift, fewer=tuple(fewer))
    whys = [*before] or [FIRST]
    while True:
        outcome = _ran(request, first, plan, len(whys))
        row, plan, error = following(outcome)
        if row is None:
            break
        if len(whys) >= MOST_RUNS_PER_CALL:
            error = _too_often(fun, [*whys, row.why])
            error.__cause__ = plan.refusal
            break
        del outcome  # an error keeps all frames of the run
        if not row.goes_on_drawing:
            put_back()
        whys.append(row.why)
    if error is None:
        return _result(request, outcome.kept, whys)
    try:
        raise error
    finally:
        del error, outcome, plan


def _ran(request: Request, first: RunPlan, plan: RunPlan, runs: int) -> Outcome:
    """Run the function once."""
    outcome = Outcome(request, first, plan, runs)
    capture = CaptureTrace(
        plain_truths=plan.plain_truths,
        defers=plan.defers and plan.loops is None and not plan.plain_truths,  # whoever looks for loops wants values
    )
    if plan.plain_truths:
        plan = plan._replace(numbers=without_truths(plan.numbers, request.leaves))
    elif plan.loops is not None:
        capture.loops = plan.loops
        plan.loops.begin()
    try:
        attempt = attempted(capture, request, plan)
        return outcome._replace(attempt=attempt, has_truth_as_index=_is_index(capture, plan))
    except Exception as error:
        is_index, is_unseen = _is_index(capture, plan), capture.assumptions.are_unseen
        outcome = outcome._replace(has_truth_as_index=is_index, went_astray=is_unseen)
        return outcome if is_index or is_unseen else outcome._replace(error=error)  # no variable here: no cycle
    finally:
        capture.end()
        if plan.loops is not None:
            plan.loops.end()


def _is_index(capture: CaptureTrace, plan: RunPlan) -> bool:
    return not plan.plain_truths and capture.assumptions.has(Assumed.PLACE)


def _result(request: Request, kept: Attempt, whys: Sequence[str]) -> tuple[Recording, Any]:
    recording = kept.recording
    recording.attempts = tuple(whys)
    if kept.values is None:
        return recording, NOT_YET
    return recording, recording.result(unshared(kept.values, [*request.leaves, *recording.program.constants.values()]))


def _too_often(fun: object, whys: Sequence[str]) -> ImpureError:
    """The error for a function that is never the same twice."""
    return ImpureError(
        message(
            f"The function was run {MOST_RUNS_PER_CALL} times in order to be recorded, and never as it has to be.",
            got=home(fun),
            fix=f"The last time, {whys[-1]};\nthe time before, {whys[-2]}.\n"
            "Call it without jit, or let jit have a part of it that is the same each time.",
        )
    )
