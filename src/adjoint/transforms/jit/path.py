"""One way through a jitted function: how it is recorded, and what runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.recording.record import record
from ...ir.recording.recording import Given, Recording, is_dynamic
from ...ir.recording.waiting import look
from ...ir.surroundings.varying import Variable
from ...numpy.patching.naming import prepare
from ...rolling.passes import smaller
from ..recording import run
from .keys import CallParts, StaticKey
from .native import executable


class Path:
    """One recording and what runs it."""

    __slots__ = ("entry", "executable", "program", "recording")

    def __init__(self, recording: Recording, call: CallParts, given: Given | None = None) -> None:
        self.recording = recording
        look(len(recording.program.steps))
        self.program = smaller(recording.program)
        inputs = [*call.inputs, *(recording.captured_numbers() or ())]
        self.executable, self.entry = executable(self.program, inputs, recording, call if given else None, given)


def recorded(
    fun: Any, call: CallParts, variables: Sequence[Variable] = (), *, exactly: bool = False
) -> tuple[Recording, Any]:
    """The recording of a call, and its result."""
    from ...numpy.numbers import python_calls as python_calls  # not before something is recorded

    prepare(fun)  # before anything is remembered of what surrounds it
    inputs: dict[str, Any] = {"counts": call.counts, "variables": variables}
    return record(run, fun, call.leaves, call.rebuild, *_watched(call), **inputs, exactly=exactly)


def _watched(call: CallParts) -> list[Any]:
    """The arguments that a recording relies on as they are."""
    declared = [value.value for _, value in call.key[2:] if isinstance(value, StaticKey)]
    return [*[x for x in call.leaves if not is_dynamic(x)], *declared]
