"""The table of attempts: after a run of the function, which plan is next, and why.

The rows are gone through in order, those that change least first. A row applies to what the run gave, a recording or an
error. It says how the function is run next, or which error the run amounts to, which the rows below it see; after the
last row the recording is kept, or the error raised.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ImpureError, OutputError, message
from ...host.frames.definition import home
from ...ir.capture import ForeignValueError
from ...ir.program import Program
from ..environment.captured_inputs import Variable
from ..environment.clone import copies_objects
from ..environment.discover import look
from .attempt import Attempt, ChangesCopyError, impure
from .plan import Lift, Purpose, Request, RunPlan
from .state import StateInLoopsError, keeps_state

MOST_RUNS_PER_CALL = 32
"""Runs of a function in order to record one call; of the functions that are tested none takes more than 12."""
MOST_RUNS_WITH_LOOPS = 16
"""Runs of a function in which loops may turn out to be none, before they are no longer looked for."""
SETTLING_RUNS = 3
"""Runs until objects of packages that the function uses have to stay as they are."""


class Outcome(NamedTuple):
    """What a run gave."""

    request: Request
    first: RunPlan
    """The plan of the first run."""
    plan: RunPlan
    """The plan of this one."""
    runs: int
    """How often the function has been run so far."""
    attempt: Attempt | None = None
    error: Exception | None = None
    """What it raised, unless one of the following explains that."""
    has_truth_as_index: bool = False
    """Whether a handle of a truth value was an index."""
    went_astray: bool = False
    """Whether it raised after a decision that was taken without its value."""

    @property
    def kept(self) -> Attempt:
        """The recording that will be used, if the run shows nothing against it."""
        assert self.attempt is not None
        return self.plan.compared or self.attempt

    def again(self, **changes: Any) -> RunPlan:
        """The plan with other inputs, arrays or purpose: all that is inside begins anew."""
        inside = {"loops": self.first.loops, "defers": self.first.defers, "plain_truths": False, "settling": 0}
        return self.plan._replace(**{**inside, **changes})

    def anew(self, **changes: Any) -> RunPlan:
        """The plan with other numbers as inputs: everything else begins anew."""
        return self.first._replace(fewer=self.plan.fewer, **changes)


class Row(NamedTuple):
    """One line of the table."""

    why: str
    """Why the function is run again, or what the run amounts to, in words."""
    when: Callable[[Outcome], bool]
    then: Callable[[Outcome], RunPlan | Exception | None]
    """How the function is run next, or what the run amounts to; None if nothing else is tried."""
    goes_on_drawing: bool = False
    """Whether random generators stay as the run has left them."""


class Next(NamedTuple):
    """What follows a run."""

    row: Row | None
    """Why the function is run again; None if that is all."""
    plan: RunPlan
    error: Exception | None = None
    """What is to be raised then."""


def following(outcome: Outcome) -> Next:
    """Look up what follows a run."""
    for row in ROWS:
        if not row.when(outcome):
            continue
        then = row.then(outcome)
        if isinstance(then, RunPlan):
            return Next(row, then)
        if then is None:
            break
        outcome = outcome._replace(attempt=None, error=then)
    return Next(None, outcome.plan, outcome.error)


def _was_no_loop(o: Outcome) -> bool:
    """Whether the run was for nothing, as something was no loop; whoever looks for loops learns from that."""
    loops = o.plan.loops
    return loops is not None and (o.error is None or loops.has_started) and loops.failed()


def _without_some_loops(o: Outcome) -> RunPlan:
    loops = o.plan.loops if o.runs < MOST_RUNS_WITH_LOOPS else None
    return o.again(loops=loops, settling=o.plan.settling)


def _has_changed_packages(o: Outcome) -> bool:
    return o.attempt is not None and (bool(o.attempt.changed_in_packages) or o.attempt.read is not None)


def _unsettled(o: Outcome) -> Exception:
    assert o.attempt is not None
    return o.attempt.read or impure(o.attempt.changed_in_packages, o.request.fun)


def _dislikes_copies(o: Outcome) -> bool:
    """Whether it raised, perhaps as it was given copies of its objects."""
    if o.error is None or o.plan.purpose is not Purpose.RECORD or o.plan.lift is not Lift.ATTRIBUTES:
        return False
    if isinstance(o.error, ImpureError) and not isinstance(o.error, ChangesCopyError):
        return False
    return copies_objects(o.request.fun, *o.request.extra)


def _dislikes_handles(o: Outcome) -> bool:
    """Whether it raised, perhaps as it needs the arrays that it captures as they are, for compiled code."""
    if o.error is None or o.plan.purpose is not Purpose.RECORD or o.plan.lift is Lift.NOTHING or o.plan.numbers:
        return False
    if isinstance(o.error, (ImpureError, OutputError)):
        return False
    return bool(look(o.request.fun, *o.request.extra).met_arrays)


def _relies_on_too_much(o: Outcome) -> bool:
    """Whether it relies on something that cannot be watched, and that perhaps is not used."""
    a = o.attempt
    is_first = a is not None and o.plan.purpose is Purpose.RECORD and not o.plan.exactly
    return is_first and not a.is_exact and bool(a.recording.watch.unwatchable)  # type: ignore[union-attr]


def _has_drawn(o: Outcome) -> bool:
    """Whether random numbers were drawn meanwhile; if it is asked once more, others than before."""
    if o.attempt is None or not o.attempt.drawn or o.plan.purpose is Purpose.LATER:
        return False
    return o.plan.compared is None or not _have_same_constants(o)


def _may_be_another_thread(o: Outcome) -> bool:
    return o.plan.compared is None and _has_drawn(o) and threading.active_count() > 1


def _draws(o: Outcome) -> Exception:
    return ImpureError(
        message(
            f"The function draws from {o.kept.drawn}, so a recording would repeat the same numbers.",
            got=home(o.request.fun),
            fix="Draw with  ad.random.normal(key, shape)  and pass the key as an argument,\n"
            "or draw outside and pass the numbers.",
        )
    )


def _mentions_a_clock(o: Outcome) -> bool:
    if o.attempt is None or o.plan.purpose is Purpose.LATER:
        return False
    return bool(o.kept.clock) and not o.kept.recording.watch.unwatchable


def _computes_with_time(o: Outcome) -> bool:
    """Whether the function computes with other numbers, or takes other steps, than the last time."""
    if o.attempt is None or o.plan.purpose is not Purpose.LATER:
        return False
    one, other = o.kept.recording.program, o.attempt.recording.program
    return not _have_same_constants(o) or len(one.steps) != len(other.steps)


def _refused_for_time(o: Outcome) -> Exception | None:
    """The error that is due; none for a function that only keeps the time, which runs without jit from now on."""
    kept = o.kept
    if keeps_state(kept.recording.effects):
        kept.recording.watch.unwatchable = f"it keeps what {kept.clock}() gives, which a recording would not repeat"
        return None
    return ImpureError(
        message(
            f"The function computes with {kept.clock}(), so a recording would repeat what it gave.",
            got=home(o.request.fun),
            fix="Call it outside, and pass what it gives.",
        )
    )


def _have_same_constants(o: Outcome) -> bool:
    """Whether two recordings of one call rely on the same numbers."""

    def facts(program: Program) -> list[Any]:
        return [c.tobytes() if isinstance(c, np.ndarray) else repr(c) for c in program.constants.values()]

    assert o.attempt is not None
    return facts(o.kept.recording.program) == facts(o.attempt.recording.program)


def _new_state(o: Outcome) -> list[Variable]:
    """The places of numbers and arrays that the function was refused for replacing, and which are no inputs yet."""
    if not isinstance(o.error, ImpureError):
        return []
    return [v for v in getattr(o.error, "places", ()) if v not in o.plan.numbers.variables]


def _with_state(o: Outcome) -> RunPlan:
    numbers = o.plan.numbers
    more = numbers._replace(variables=(*numbers.variables, *_new_state(o)))
    return o.anew(numbers=more, refusal=o.plan.refusal or o.error)


ROWS = (
    Row(
        "a truth value is an index: a list takes it for 0 or 1, an array for a mask",
        lambda o: o.has_truth_as_index,
        lambda o: o.plan._replace(plain_truths=True),
    ),
    Row(
        "it failed after a decision that was taken without its value",
        lambda o: o.went_astray,
        lambda o: o.plan._replace(defers=False),
    ),
    Row(
        "it keeps state, so that loops are not looked for",
        lambda o: o.plan.loops is not None and isinstance(o.error, StateInLoopsError),
        lambda o: o.again(loops=None, settling=o.plan.settling),
    ),
    Row("what was taken for a loop is none", _was_no_loop, _without_some_loops),
    Row(
        "it failed, perhaps because of a loop that was found",
        lambda o: o.plan.loops is not None and o.plan.loops.has_started and o.error is not None,
        lambda o: o.again(loops=None, settling=o.plan.settling),
    ),
    Row("it uses a value of another trace", lambda o: isinstance(o.error, ForeignValueError), lambda o: None),
    Row(
        "something changed in a package meanwhile, or a file was read",
        lambda o: _has_changed_packages(o) and o.plan.settling < SETTLING_RUNS - 1,
        lambda o: o.again(settling=o.plan.settling + 1),
    ),
    Row("something changes in a package each time", _has_changed_packages, _unsettled),
    Row(
        "it failed, perhaps because of copies of its objects",
        _dislikes_copies,
        lambda o: o.again(lift=Lift.VARIABLES),
    ),
    Row(
        "it failed, perhaps because of handles in place of arrays that it captures",
        _dislikes_handles,
        lambda o: o.again(lift=Lift.NOTHING),
    ),
    Row(
        "something cannot be watched that perhaps is not used",
        _relies_on_too_much,
        lambda o: o.again(purpose=Purpose.RELY_ON_USED, exactly=True),
    ),
    Row(
        "random numbers were drawn, perhaps by another thread",
        _may_be_another_thread,
        lambda o: o.again(purpose=Purpose.DRAW_AGAIN, exactly=o.first.exactly, compared=o.attempt),
        goes_on_drawing=True,
    ),
    Row("it draws random numbers", _has_drawn, _draws),
    Row(
        "its code mentions a clock",
        _mentions_a_clock,
        lambda o: o.again(purpose=Purpose.LATER, exactly=o.first.exactly, compared=o.kept),
    ),
    Row("it computes with what a clock gives", _computes_with_time, _refused_for_time),
    Row("it replaces numbers or arrays that it keeps: they are inputs", lambda o: bool(_new_state(o)), _with_state),
    Row(
        "nor can these be inputs",
        lambda o: o.error is not None and o.plan.refusal is not None,
        lambda o: o.plan.refusal,
    ),
    Row(
        "it failed, perhaps because of handles in place of Python's numbers",
        lambda o: o.error is not None and bool(o.plan.fewer),
        lambda o: o.anew(numbers=o.plan.fewer[0])._replace(fewer=o.plan.fewer[1:]),
    ),
)
"""What follows a run."""
