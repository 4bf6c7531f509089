"""One way through a jitted function: how it is recorded, and what runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...capture.environment.captured_inputs import Variable
from ...capture.recording.record import record
from ...capture.recording.recording import NOT_YET, Given, Recording, is_dynamic
from ...host.code.versions import TESTS_LOOPS_ONCE
from ...ir.fold import every_step, has_kind
from ...ir.loops import LoopPrimitive
from ...ir.program import Program
from ...ir.progress_line import look
from ...numpy.patching import first_trace
from ...rolling.passes import smaller
from ..calling import run
from ..control.branches import Branches, PythonBranches
from .keys import CallParts, StaticKey
from .native import called_once, executable

MAX_PATHS = 32
"""Recordings for arguments of one kind, which differ by the branches taken; any other branch runs eagerly."""
MAX_SHORT_PATHS = 128
"""The same for programs that have `MAX_STEPS` steps at most, all together: they are quickly compiled and told apart."""
MAX_STEPS = 10_000
LATER = 2 if TESTS_LOOPS_ONCE else 1
"""Where a `while` has one test for all its iterations, loops are found after more paths."""
MAX_UNUSED = ((8 * LATER, 2_000 * LATER), (5 * LATER, 5_000 * LATER))
"""Paths that no call has taken a second time, and steps recorded for them: with more, the next path is not likely to be
taken again either, as where a loop ends on rounding noise."""
AT_ONCE = 2
"""Paths that calls go straight to from the start; to later ones they do once these have been taken again."""
RECORDING_BYTES, STEP_BYTES = 10_000, 2_000
"""What a recording takes in memory besides its machine code, and each of its steps, about."""
SEVERAL = 2
"""Paths from which on loops and branches of Python's are looked for: what is always the same is faster one by one."""


class Path:
    """One recording and what runs it."""

    __slots__ = (
        "__weakref__", "bytes", "entry", "executable", "is_taken_again", "is_used", "line", "program", "recording",
        "size",
    )  # fmt: skip

    def __init__(self, recording: Recording, call: CallParts, given: Given | None = None) -> None:
        self.recording = recording
        self.is_taken_again = False
        """Whether a call has taken it again; later calls go straight to its machine code."""
        self.line = ""
        """The decision that made it another path."""
        look(len(recording.program.steps))
        self.program = smaller(recording.program)
        self.size = _size(self.program)
        """Steps to compile, bodies of loops included."""
        inputs = [*call.inputs, *(recording.captured_numbers() or ())]
        self.executable, self.entry = executable(self.program, inputs, recording, call if given else None, given)
        self.bytes = RECORDING_BYTES + STEP_BYTES * self.size + getattr(self.executable, "bytes", 0)
        """What it takes in memory, about."""
        self.is_used = False
        """Whether Python has run it since somebody asked."""

    def was_used(self) -> bool:
        """Whether it has answered a call since this was last asked."""
        used, self.is_used = self.is_used, False
        return (self.entry is not None and self.entry.was_used()) or used

    def result(self, args: Any, kwargs: dict[str, Any], call: CallParts) -> Any:
        """What this very call gives, before there are any others; `NOT_YET` if a guard does not hold."""
        if self.entry is not None:
            return called_once(self.entry, args, kwargs, NOT_YET)
        found = self.outputs(call)
        return NOT_YET if found is None else self.recording.result(found)

    def outputs(self, call: CallParts) -> list[Any] | None:
        """What the program gives; None if a guard does not hold, or a step raises, perhaps of a wrong branch.

        The function itself, called next, raises it where it is due.
        """
        captured = self.recording.captured_numbers()
        if captured is None:
            return None
        try:
            found: list[Any] | None = self.executable.run([*call.inputs, *captured])
        except Exception:
            return None
        self.is_used |= found is not None
        return found


def most(paths: Sequence[Path]) -> int:
    """How many paths there may be."""
    return MAX_SHORT_PATHS if sum([path.size for path in paths]) <= MAX_STEPS else MAX_PATHS


def unused(paths: Sequence[Path]) -> list[Path]:
    """The paths that have been taken once, if there are so many that others would be as well."""
    found = [path for path in paths if not path.is_taken_again]
    steps = sum([len(path.recording.program.steps) for path in found])
    return found if any([len(found) >= most and steps > many for most, many in MAX_UNUSED]) else []


def branches_of(known: dict[Any, Branches], call: CallParts, paths: Sequence[Path], *, anew: bool) -> Branches | None:
    """What is known of branches, if there are so many paths that the next one should be one for many.

    It is found out anew if something has changed that recordings relied on.
    """
    if anew:
        known.pop(call.key, None)
    return known.setdefault(call.key, Branches()) if len(paths) >= SEVERAL else None


def _size(program: Program) -> int:
    return sum([1 for _ in every_step(program.steps)])


def recorded(
    fun: Any,
    call: CallParts,
    variables: Sequence[Variable] = (),
    *,
    exactly: bool = False,
    branches: Branches | None = None,
    defers: bool = False,
    before: Sequence[str] = (),
) -> tuple[Recording, Any]:
    """The recording of a call, and its result.

    Given what other recordings have found of its branches, those of which both sides are known are steps in it, and so
    are loops of Python's that values end. If it `defers`, the result may be `NOT_YET`: it is left to the program.
    `before` says why the function was run for this call already, and last why it is now.
    """
    from ...numpy.numbers import python_calls as python_calls  # not before something is recorded

    first_trace.prepare(fun)  # before anything is remembered of what surrounds it
    loops = PythonBranches(branches) if branches is not None else None
    inputs: dict[str, Any] = {"counts": call.counts, "variables": variables, "loops": loops, "exactly": exactly}
    inputs |= {"defers": defers, "before": before}
    caller = run if loops is None else loops.run
    recording, result = record(caller, fun, call.leaves, call.rebuild, *_watched(call), **inputs)
    if loops is not None:
        recording.branches = loops.lines
        if has_kind(recording.program.steps, LoopPrimitive):
            recording.loops = loops.loop_lines
    return recording, result


def _watched(call: CallParts) -> list[Any]:
    """The arguments that a recording relies on as they are."""
    declared = [value.value for _, value in call.key[2:] if isinstance(value, StaticKey)]
    return [*[x for x in call.leaves if not is_dynamic(x)], *declared]
