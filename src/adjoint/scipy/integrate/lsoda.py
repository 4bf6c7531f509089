"""`odeint`: ODEPACK's run on plain values; its steps are not known, so SciPy's class LSODA gives those to follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import replaces
from .calling import SCIPY, Given, SolverCall, as_tuple, with_room
from .replaying import replay_rule
from .running import run_with_notes
from .trajectory import Steps, Trajectory, slope_of, stepping


@replaces(SCIPY, "odeint", calls_back=True, note="those of Radau IIA at the times of LSODA's steps")
def odeint(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.odeint`."""
    asked = SolverCall("odeint", original, args, kwargs, "func")
    if not asked.is_traced:
        return asked.plain()

    def solve(least: int, given: Given, values: Sequence[Any]) -> tuple[Any, ...]:
        found = asked.run(asked.looked_at(given))
        states, *facts = found if given.get("full_output") else (found,)
        t = np.asarray(given["t"], float)

        def run(method: Any) -> None:
            tolerances = {k: 1.49012e-8 if given.get(k) is None else given[k] for k in ("rtol", "atol")}
            solver = method(_time_first(given), t[0], np.atleast_1d(given["y0"]), t[-1], **tolerances)
            while solver.status == "running":
                solver.step()

        _, steps = run_with_notes("LSODA", run, least=least)
        return (states, tuple(steps), facts, str(np.shape(steps.times)))

    def again(found: Sequence[Any], given: Given, values: Sequence[Any]) -> list[Any]:
        y, t = np.atleast_1d(as_value(given["y0"])), as_value(given["t"]) * 1.0
        y = y if dtype_of(y).kind in "fc" else np.asarray(y, float)
        step = stepping(slope_of(_time_first(given), (), y), None)
        states = Trajectory(step, y, Steps(*found[1:4]), t[0], None).at(t)
        return [np.reshape(states, shape_of(found[0])), *[None] * (len(found) - 1)]

    def solved(least: int) -> Any:
        return asked.callbacks.solved(asked.name, partial(solve, least), replay_rule(asked.callbacks, again))

    states, _, facts, _ = with_room(asked, solved, "Call it for one example after the other.")
    return (states, *facts) if facts else states


def _time_first(given: Given) -> Callable[..., Any]:
    """The right-hand side as `(t, y)`, with its further arguments."""
    func, more = given["func"], as_tuple(given.get("args", ()))

    def fun(t: Any, y: Any) -> Any:
        return func(t, y, *more) if given.get("tfirst") else func(y, t, *more)

    return fun
