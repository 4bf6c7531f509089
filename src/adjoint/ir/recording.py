"""From a call to a program: run the function once on handles, and see that it did nothing a program cannot repeat."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import ImpureError, message
from ..core.traced import Traced, snapshot
from ..core.tree import flatten
from .capture import CaptureTrace
from .program import Program
from .watch import Watch

DYNAMIC = (float, complex, np.ndarray, np.generic)
"""Leaves whose values a program takes anew at each run; everything else is part of what was recorded."""


def is_dynamic(leaf: Any) -> bool:
    """Whether a leaf is a number or an array that a program can take."""
    if isinstance(leaf, np.ndarray):
        return type(leaf) is np.ndarray and leaf.dtype.kind in "fciub"
    return isinstance(leaf, DYNAMIC) and not (isinstance(leaf, np.generic) and leaf.dtype.kind not in "fciub")


class Recording:
    """A program, what surrounds it, and how its outputs become the function's result."""

    __slots__ = ("derived", "outputs", "program", "restore", "watch")

    def __init__(self, program: Program, watch: Watch, outputs: list[Any], restore: Any, derived: bool) -> None:
        self.program = program
        self.watch = watch
        self.outputs = outputs
        """For each leaf of the result: its place among the program's outputs, or `Fixed`."""
        self.restore = restore
        self.derived = derived
        """Whether the program has arrays that may have been computed from captured ones."""

    def is_valid(self) -> bool:
        """Whether everything the recording relies on is still as it was."""
        return not self.watch.changed() and not (self.derived and self.watch.rewritten())

    def result(self, found: list[Any]) -> Any:
        """The function's result, from the program's outputs."""
        return self.restore([o.value if isinstance(o, Fixed) else found[o] for o in self.outputs])


class Fixed:
    """A leaf of the result that is not computed: a string, None, an object."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def record(
    run: Callable[[Any, Any, dict[str, Any]], Any], fun: Any, leaves: list[Any], rebuild: Any, *extra: Any
) -> tuple[Recording, Any]:
    """Call `fun` on handles; the recording, and the result of this very call."""
    watch = Watch(fun, *extra)
    chance = _chance()
    capture = CaptureTrace()
    handles = [capture.input(x) if is_dynamic(x) else x for x in leaves]
    args, kwargs = rebuild(handles)
    result = run(fun, args, kwargs)
    _check_pure(watch, chance)
    _check_arguments(args, kwargs, handles, leaves)
    outputs, restore = flatten(result)
    program = capture.program
    places: list[Any] = []
    values: list[Any] = []
    for leaf in outputs:
        leaf = snapshot(leaf)
        if isinstance(leaf, Traced) or isinstance(leaf, (np.ndarray, *DYNAMIC)):
            number, value = capture.number_of(leaf)
            places.append(len(program.outputs))
            program.outputs.append(number)
            values.append(value)
        else:
            places.append(Fixed(leaf))
    capture.settle()
    watched = {id(a) for a, _ in watch.arrays}
    arrays = [c for c in program.constants.values() if isinstance(c, np.ndarray)]
    derived = bool(watched) and any(id(c) not in watched for c in arrays)
    if not derived:
        watch.arrays = []
    recording = Recording(program, watch, places, restore, derived)
    from .interpret import own

    return recording, recording.result(own(values, [*leaves, *program.constants.values()]))


def _chance() -> tuple[Any, ...]:
    """The states of the two hidden generators."""
    state = np.random.get_state(legacy=False)
    return state["state"]["key"].copy(), state["state"]["pos"], state.get("has_gauss"), random.getstate()


def _check_pure(watch: Watch, chance: tuple[Any, ...]) -> None:
    now = _chance()
    if not np.array_equal(chance[0], now[0]) or chance[1:] != now[1:]:
        raise ImpureError(
            message(
                "The function draws from a hidden random generator, so a recording would repeat the same numbers.",
                fix="Draw with  ad.random.normal(key, shape)  and give the key as an argument,\n"
                "or draw outside and pass the numbers.",
            )
        )
    what = watch.changed() or watch.rewritten()
    if what.endswith(("Generator", "RandomState")):
        raise ImpureError(
            message(
                f"The function draws from {what}, so a recording would repeat the same numbers.",
                fix="Draw with  ad.random.normal(key, shape)  and give the key as an argument,\n"
                "or draw outside and pass the numbers.",
            )
        )
    if what:
        raise ImpureError(
            message(
                f"The function changes {what}, which a recording would not repeat.",
                fix="Return the new value as a result instead; what is only counted or collected belongs outside.",
            )
        )


def _check_arguments(args: Any, kwargs: Any, handles: list[Any], leaves: list[Any]) -> None:
    after, _ = flatten((args, kwargs))
    same = len(after) == len(handles) and all(a is h for a, h in zip(after, handles, strict=True))
    for handle, leaf in zip(handles, leaves, strict=True):
        same = same and not (isinstance(handle, Traced) and handle.value is not leaf)
    if not same:
        raise ImpureError(
            message(
                "The function changes an argument in place, which a recording would not repeat.",
                fix="Work on a copy,  x = x.copy(),  and return it.",
            )
        )

