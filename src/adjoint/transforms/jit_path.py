"""One way through a jitted function: how it is recorded, and what runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.recording import Recording, is_dynamic, record
from ..ir.varying import Variable
from ..ir.waiting import look
from ..numpy.naming import prepare
from ..rolling.passes import smaller
from .jit_keys import Call, Static
from .jit_native import executable
from .recording import run


class Path:
    """One recording and what runs it."""

    __slots__ = ("entry", "executable", "program", "recording")

    def __init__(
        self, recording: Recording, call: Call, given: tuple[Any, dict[str, Any], frozenset[Any]] | None = None
    ) -> None:
        self.recording = recording
        look(len(recording.program.steps))
        self.program = smaller(recording.program)
        inputs = [*call.inputs, *(recording.captured_numbers() or ())]
        self.executable, self.entry = executable(self.program, inputs, recording, call if given else None, given)


def recorded(
    fun: Any, call: Call, variables: Sequence[Variable] = (), *, exactly: bool = False
) -> tuple[Recording, Any]:
    """The recording of a call, and its result."""
    from ..numpy import python_calls as python_calls  # not before something is recorded

    prepare(fun)  # before anything is remembered of what surrounds it
    inputs: dict[str, Any] = {"counts": call.counts, "variables": variables}
    return record(run, fun, call.leaves, call.rebuild, *_watched(call), **inputs, exactly=exactly)


def _watched(call: Call) -> list[Any]:
    """The arguments that a recording relies on as they are."""
    declared = [value.value for _, value in call.key[2:] if isinstance(value, Static)]
    return [*[x for x in call.leaves if not is_dynamic(x)], *declared]
