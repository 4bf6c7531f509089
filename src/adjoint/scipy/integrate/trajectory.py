"""A solution of a differential equation once more, through the steps that SciPy took: states, and states between them.

Explicit methods take the same steps. All others, whose steps need more than the state, are followed by an implicit
method of order 5 on the same times, each step of theirs in a few of its own. Between the steps, a state is found by a
step of the length that is left, so that it has the accuracy of the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.values import cast, dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...transforms.loops.loops import map as each
from ...transforms.loops.loops import scan
from ...transforms.ode.stepping import ahead, stages
from ...transforms.ode.tableaux import Tableau
from ...transforms.stop import stop_gradient
from .radau import TRACED, between, radau_step

Step = Callable[[Any, Any, Any, Any], Any]
"""`(y, t, h, near) -> y at t + h`, where `near` are guesses for the start and the stages."""


class Steps(NamedTuple):
    """What an integrator did: the times between its steps, states within each of them, and how many there were.

    There may be more of them, of no length, at the end. For explicit methods nobody asks for the states within.
    """

    times: Any
    near: Any
    count: Any


def slope_of(fun: Callable[..., Any], args: tuple[Any, ...], like: Any) -> Callable[[Any, Any], Any]:
    """The right-hand side as a function `(y, t)` with an array of the state's dtype as result."""

    def slope(y: Any, t: Any) -> Any:
        found = as_value(fun(t, y, *args))
        found = found if shape_of(found) == shape_of(y) else np.reshape(found + np.zeros_like(found), shape_of(y))
        return cast(found, np.result_type(dtype_of(like), dtype_of(found)))

    return slope


def stepping(slope: Callable[[Any, Any], Any], method: Tableau | None) -> Step:
    """A step of an explicit method, or of the implicit one."""

    def of_leaves(leaves: list[Any], t: Any) -> list[Any]:
        return [slope(leaves[0], t)]

    def step(y: Any, t: Any, h: Any, near: Any) -> Any:
        if method is None:
            return radau_step(slope, y, t, h, near[1:])
        return ahead([y], h, method.weights, stages(of_leaves, method, t, [y], of_leaves([y], t), h))[0]

    return step


class Trajectory:
    """The states of a solution, as functions of everything that moves it.

    `start` and `end` are the limits as the user gave them. All steps keep their length if the start moves; the last one
    ends at `end`, unless the solution ended before.
    """

    def __init__(self, step: Step, y: Any, steps: Steps, start: Any, end: Any | None) -> None:
        self.step, self.steps = step, steps
        times, near, count = steps
        is_end = np.arange(shape_of(times)[0]) >= count
        from_start = start - stop_gradient(start)
        from_end = from_start if end is None else end - stop_gradient(end)
        self.times = times + np.where(is_end, from_end, from_start)

        def one(y: Any, item: Any) -> tuple[Any, Any]:
            t, h, near = item
            new = step(y, t, h, near)
            return new, new

        _, found = scan(one, y, (self.times[:-1], self.times[1:] - self.times[:-1], near))
        self.states = np.concatenate([np.reshape(y, (1, -1)), found])

    def at(self, times: Any) -> Any:
        """The states at any times, in rows."""
        return each(lambda item: self._between(*item), (times, *self._before(times)))

    def moment(self, time: Any) -> Callable[[Any], Any]:
        """The state as a function of the time, near to this one."""
        before = [x[0] for x in self._before(np.reshape(time, (1,)))]
        return lambda t: self._between(t, *before)

    def _before(self, times: Any) -> tuple[Any, ...]:
        """Of the steps in which these times are: the state and the time at the start, guesses up to these times."""
        known, near, _ = self.steps
        way = np.where(known[-1] >= known[0], 1.0, -1.0)
        wanted = stop_gradient(times)
        k = np.clip(np.searchsorted(way * known, way * wanted) - 1, 0, shape_of(known)[0] - 2)
        length = known[k + 1] - known[k]
        share = (wanted - known[k]) / np.where(length == 0, 1.0, length)
        guesses = near[k] if shape_of(near)[1] == 1 else between(share, near[k])
        return self.states[k], self.times[k], guesses

    def _between(self, t: Any, y: Any, start: Any, near: Any) -> Any:
        return self.step(y, start, t - start, near)


def event_time(trajectory: Trajectory, event: Callable[[Any, Any], Any], time: Any) -> tuple[Any, Any]:
    """When an event happens, and the state then: by steps of Newton's from the time at which SciPy found it."""
    from ...transforms.jvp import jvp

    state = trajectory.moment(time)
    for _ in range(TRACED):
        value, slope = jvp(lambda t: np.reshape(event(t, state(t)), ()), (time,), (np.ones_like(time),))
        time = time - value / slope
    return time, state(time)
