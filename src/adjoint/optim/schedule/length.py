"""Schedules that are as long as the run: open until somebody knows how many steps that has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from ...arguments import ArgumentKind
from ..checks import foreign, refuse, whole

RUN = "run"
LOOKED_AT = ArgumentKind('a number of steps, or "run"', lambda x: not isinstance(x, (list, tuple, dict, set)))
Length = Annotated[int | str, LOOKED_AT]
"""How many steps: a number, or the word for as many as the run has."""
FEWEST = 2
"""Steps of the shortest run for which every schedule is made."""


def length(steps: Any, name: str, low: int = 1) -> int | str:
    """A checked length."""
    if isinstance(steps, str):
        if steps != RUN:
            refuse(
                f'{name} needs steps, an integer of at least {low} or "run".',
                got=f"steps = {steps!r}",
                fix='Write  steps="run"  for as many steps as the run has.',
            )
        return RUN
    return whole(steps, name, "steps", low)


def of_length(steps: int | str, make: Callable[[int], Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """What `make` gives for so many steps; a schedule that cannot be asked yet if that is not known."""
    if not isinstance(steps, str):
        return make(steps)

    def unknown(count: Any) -> Any:
        refuse(
            'A schedule with steps="run" is as long as the run, which is not known here.',
            got="a call outside a run of  ad.train  or  optim.minimize",
            fix="Write  steps=1000,  or  optim.for_steps(optimizer, 1000).",
        )

    unknown.is_open = True  # type: ignore[attr-defined]
    return unknown


def as_inner(schedule: Callable[[Any], Any], inner: Any) -> Callable[[Any], Any]:
    """A schedule that is open if the one inside is, and watches what that one watches."""
    for fact in ("is_open", "watches"):
        if hasattr(inner, fact):
            setattr(schedule, fact, getattr(inner, fact))
    return schedule


def closed(schedule: Any, steps: int, start: int = 0) -> Any:
    """A schedule for a run of so many steps, which starts at a count of `start`; the same if it is not open."""
    if not getattr(schedule, "is_open", False):
        return schedule
    recipe = schedule.recipe
    given = inspect.signature(recipe.make).bind(*recipe.args, **recipe.options).arguments
    own = given.get("steps", 0)
    left = max(FEWEST, steps - (0 if own == RUN else own))
    found = {name: left if isinstance(x, str) and x == RUN else closed(x, left) for name, x in given.items()}
    made = recipe.make(**found)
    return later(made, start=start) if start else made


@foreign
def later(schedule: Callable[[Any], Any], *, start: int) -> Callable[[Any], Any]:
    """A schedule that begins at a count of `start`."""
    return as_inner(lambda count: schedule(np.maximum(count - start, 0)), schedule)
