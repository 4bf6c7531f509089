"""SciPy's integrators on plain values, with a note of the steps they took."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...transforms.ode.tableaux import Tableau, tableau_of
from .radau import NODES
from .trajectory import Steps

EXPLICIT = ("RK23", "RK45", "DOP853")
SMALLER = {"Radau": 2, "BDF": 2}
"""In how many steps those of an implicit method are followed; LSODA's may be of a higher order, and so longer."""
SMALLEST = 4


def class_of(method: Any) -> Any:
    """The class of a method, by its name or itself."""
    from scipy import integrate

    return getattr(integrate, method) if isinstance(method, str) and hasattr(integrate, method) else method


def tableau_for(method: Any) -> Tableau | None:
    """The numbers of an explicit method; None for all others."""
    found = class_of(method)
    if not all([hasattr(found, name) for name in ("A", "B", "C", "n_stages")]):
        return None
    return tableau_of(found.C[: found.n_stages], found.A[: found.n_stages], found.B)


@functools.cache
def recorded(method: type) -> type:
    """The same method, which writes its steps down. It is equal to its own class, as `solve_ivp` asks which it is."""
    count, is_explicit = fineness(method), tableau_for(method) is not None

    class Equal(type(method)):  # type: ignore[misc]
        def __eq__(cls, other: object) -> bool:
            return other is cls or other is method

        def __hash__(cls) -> int:
            return hash(method)

    class Recorded(method, metaclass=Equal):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.notes = NOTES.of_this_run
            self.notes[:] = [StepNote(self.t, np.array(self.y)[None, None])]

        def step(self) -> Any:
            message = super().step()
            if self.status != "failed":
                self.notes.append(StepNote(self.t, self.guesses()))
            return message

        def guesses(self) -> np.ndarray:
            """The states at the stages of the steps by which this one is followed: (steps, stages and start, n)."""
            if is_explicit:
                return np.array(self.y)[None, None]
            shares = (np.arange(count)[:, None] + np.append(0.0, NODES)) / count
            found = self.dense_output()((self.t_old + shares * (self.t - self.t_old)).reshape(-1))
            return np.moveaxis(found.reshape(-1, *shares.shape), 0, -1)

    return Recorded


class StepNote(NamedTuple):
    """A step: the time at its end, and states within it."""

    t: float
    guesses: np.ndarray


class Notes(threading.local):
    """What is written down in a thread."""

    of_this_run: list[StepNote] = []  # noqa: RUF012  (each run has its own)


NOTES = Notes()


def run_with_notes(method: Any, run: Callable[[type], Any], *, least: int | None) -> tuple[Any, Steps]:
    """What a run with the method gives, and its steps; filled up to a power of two, if `least` says how many."""
    notes: list[StepNote] = []
    before, NOTES.of_this_run = NOTES.of_this_run, notes
    try:
        found = run(recorded(class_of(method)))
    finally:
        NOTES.of_this_run = before
    return found, _steps(method, notes, least)


def _steps(method: Any, notes: list[StepNote], least: int | None) -> Steps:
    """The steps, in smaller ones for methods that are followed by another."""
    many = notes if len(notes) > 1 else notes * 2  # it failed at once
    ends = np.array([note.t for note in many], float)
    shares = np.arange(fineness(method)) / fineness(method)
    times = np.append((ends[:-1, None] + shares * np.diff(ends)[:, None]).reshape(-1), ends[-1])
    near = np.concatenate([note.guesses for note in many[1:]])
    if len(near) < len(times) - 1:
        near = np.repeat(near, len(times) - 1, axis=0)
    count = len(times) - 1
    if least is not None:
        more = max(least, 2 ** int(np.ceil(np.log2(count)))) - count
        times, near = np.pad(times, (0, more), "edge"), np.pad(near, ((0, more), (0, 0), (0, 0)), "edge")
    return Steps(times, near, count)


def fineness(method: Any) -> int:
    """How many steps stand for one of the method's."""
    return 1 if tableau_for(method) is not None else SMALLER.get(class_of(method).__name__, SMALLEST)
