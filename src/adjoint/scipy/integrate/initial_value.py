"""`solve_ivp`: SciPy's run on plain values, and the derivative of the steps it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import replaces
from ...transforms.callbacks.solver import Callbacks
from .calling import SCIPY, Given, SolverCall, as_tuple, bytes_of, with_room
from .replaying import replay_rule
from .running import class_of, fineness, run_with_notes, tableau_for
from .trajectory import Steps, Trajectory, event_time, slope_of, stepping


@replaces(
    SCIPY, "solve_ivp", calls_back=True,
    note="the steps that were taken; implicit methods: those of Radau IIA at the same times; times of events too",
)  # fmt: skip
def solve_ivp(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.solve_ivp`."""
    asked = SolverCall("solve_ivp", original, args, kwargs, "fun")
    if not asked.is_traced:
        return asked.plain()
    return with_room(
        asked,
        lambda least: _solved(PlainRun(asked, least)),
        "Give the times with  t_eval=;  events have to happen equally often.",
    )


class PlainRun:
    """SciPy's run with plain values."""

    def __init__(self, asked: SolverCall, least: int) -> None:
        self.asked, self.least = asked, least
        self._key: Any = None
        self._known: Any = None

    def __call__(self, given: Given, values: Sequence[Any], *, dense: bool) -> tuple[Any, Steps]:
        """The result and the steps."""
        given = self.asked.looked_at(given)

        def run(method: type) -> Any:
            return self.asked.run({**given, "method": method, "dense_output": dense})

        method = given.get("method", "RK45")
        if not isinstance(class_of(method), type):
            self.asked.run(given)  # raises
        padded = given.get("t_eval") is not None or dense
        found, steps = run_with_notes(method, run, least=self.least if padded else None)
        if dense:
            self._key, self._known = bytes_of(values), (found.sol, steps)
        return found, steps

    def dense(self, given: Given, values: Sequence[Any]) -> tuple[Any, Steps]:
        """The solution as a function of time: that of the last run, if it was for these values."""
        if self._key != bytes_of(values):
            self(given, values, dense=True)
        return self._known  # type: ignore[no-any-return]


def _solved(run: PlainRun) -> Any:
    asked, callbacks, given = run.asked, run.asked.callbacks, run.asked.given

    def solve(given: Given, values: Sequence[Any]) -> tuple[Any, ...]:
        found, steps = run(given, values, dense=bool(given.get("dense_output", False)))
        t, y = np.asarray(found.t, float), np.asarray(found.y)
        when, where = found.t_events or [], found.y_events or []
        numbers = (found.nfev, found.njev, found.nlu, found.status, bool(found.success))
        shapes = str([np.shape(x) for x in (t, y, *when, *where, *steps)])  # a program is for these alone
        return (t, y, list(when), list(where), tuple(steps), numbers, found.message, shapes)

    found = callbacks.solved(asked.name, solve, replay_rule(callbacks, _again))
    t, y, when, where, _, (nfev, njev, nlu, status, success), text, _ = found
    if given.get("events") is None:
        when = where = None
    return _result(
        t=t, y=y, sol=DenseSolution(callbacks, run, t) if given.get("dense_output") else None,
        t_events=when, y_events=where, nfev=nfev, njev=njev, nlu=nlu, status=status, message=text, success=success,
    )  # fmt: skip


def _result(**fields: Any) -> Any:
    """An object as SciPy returns it."""
    from scipy.integrate._ivp.ivp import OdeResult

    return OdeResult(**fields)


class DenseSolution:
    """What `dense_output=True` gives: the solution as a function of time, differentiable in everything."""

    def __init__(self, callbacks: Callbacks, run: PlainRun, t: Any) -> None:
        self._callbacks, self._run = callbacks, run
        self.ts = t
        self.t_min, self.t_max = np.minimum(t[0], t[-1]), np.maximum(t[0], t[-1])

    def __call__(self, t: Any) -> Any:
        """The states at one time, or in columns at several."""
        given, values = self._callbacks.parts(self._callbacks.values)
        callbacks = Callbacks(given, values, as_value(t))

        def solve(given: Given, values: Sequence[Any], t: Any) -> tuple[Any, ...]:
            sol, steps = self._run.dense(given, values)
            return sol(t), tuple(steps), str([np.shape(x) for x in steps])

        def again(found: Sequence[Any], given: Given, values: Sequence[Any], t: Any) -> list[Any]:
            trajectory = trajectory_of(given, Steps(*found[1:4]), None)
            moved = trajectory.at(np.reshape(t, (-1,)))
            return [np.reshape(np.transpose(moved), shape_of(found[0])), None, None, None]

        if not callbacks.is_traced:
            return solve(*callbacks.parts(callbacks.values))[0]
        return callbacks.solved(f"{SCIPY}.OdeSolution", solve, replay_rule(callbacks, again))[0]


def trajectory_of(given: Given, steps: Steps, status: Any) -> Trajectory:
    """The solution once more, with the values that are traced."""
    y = as_value(given["y0"])
    y = y if dtype_of(y).kind in "fc" else np.asarray(y, float)
    slope = slope_of(given["fun"], as_tuple(given.get("args")), y)
    start, end = given["t_span"]
    step = stepping(slope, tableau_for(given.get("method", "RK45")))
    start, end = np.asarray(start) * 1.0, np.asarray(end) * 1.0
    # a solution that an event has ended, or that failed, does not know of the end
    ended = None if status is None else np.where(np.equal(status, 0), end, start)
    return Trajectory(step, y, steps, start, ended)


def _again(found: Sequence[Any], given: Given, values: Sequence[Any]) -> list[Any]:
    """The results of the run with the derivatives they have."""
    events = given.get("events")
    events = [] if events is None else [events] if callable(events) else list(events)
    t = found[0]
    when, where = found[2 : 2 + len(events)], found[2 + len(events) : 2 + 2 * len(events)]
    steps = Steps(*found[2 + 2 * len(events) : 5 + 2 * len(events)])
    status = found[5 + 2 * len(events) + 3]
    trajectory = trajectory_of(given, steps, status)
    args = as_tuple(given.get("args"))
    met = [_met(trajectory, event, args, times) for event, times in zip(events, when, strict=True)]
    if given.get("t_eval") is not None:
        count = shape_of(t)[0]
        moved = as_value(given["t_eval"])[:count] * 1.0
        states = trajectory.at(moved) if count else None
    else:
        moved, states = _at_steps(trajectory, fineness(given.get("method", "RK45")), t, met, when, status)
    rest = len(found) - 2 - 2 * len(events)
    return [
        moved,
        None if states is None else np.transpose(states),
        *[None if m is None else m[0] for m in met],
        *[None if m is None else np.reshape(m[1], shape_of(w)) for m, w in zip(met, where, strict=True)],
        *[None] * rest,
    ]


def _at_steps(trajectory: Trajectory, stride: int, t: Any, met: Sequence[Any], when: Sequence[Any], status: Any) -> Any:
    """Times and states between the steps; the last one is that of the event which ended the solution, if one did."""
    count = shape_of(t)[0]
    times, states = trajectory.times[::stride][:count], trajectory.states[::stride][:count]
    for m, w in zip(met, when, strict=True):
        if m is not None:
            ended = np.equal(status, 1) & np.equal(w[-1], t[-1])
            times = np.concatenate([times[:-1], np.where(ended, m[0][-1], times[-1])[None]])
            states = np.concatenate([states[:-1], np.where(ended, m[1][-1], states[-1])[None]])
    return times, states


def _met(trajectory: Trajectory, event: Callable[..., Any], args: tuple[Any, ...], times: Any) -> Any:
    """The times of an event and the states then, or None if it did not happen."""
    if not shape_of(times)[0]:
        return None
    found = [event_time(trajectory, lambda t, y: event(t, y, *args), times[k]) for k in range(shape_of(times)[0])]
    return np.stack([t for t, _ in found]), np.stack([y for _, y in found])
