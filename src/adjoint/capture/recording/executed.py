"""Which code ran while a function was recorded: what is only reachable says nothing about the result."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from ...host.forking import in_child
from ...host.frames.ownership import Owner, owner_of

PROFILE_PATCH = {
    "what": "the profiling hook of the thread, from Python 3.12 on a monitoring tool and its events, unless there is "
    "one already",
    "when": "while `jit` records",
    "why": "of code in packages, only what ran is watched",
    "undone": "when the function has been recorded",
}
Executed = dict[types.CodeType, dict[str, Any]]
"""Pieces of code that have run, and their global variables."""


def users_code(executed: Executed) -> list[types.CodeType]:
    """The user's own among the code that has run."""
    return [code for code, variables in executed.items() if owner_of(variables) is Owner.USER]


_stops: dict[int, Callable[[], None]] = {}
"""How tracking ends, by thread."""


class Tracking:
    """Note all Python code that this thread runs; `executed` is None if nothing can be said, as somebody else does so.

    From Python 3.12 on each piece of code is noted once and costs nothing from then on; before, a profiler's hook sees
    every call.
    """

    def __init__(self) -> None:
        self.executed: Executed | None = None
        self._thread = threading.get_ident()

    def __enter__(self) -> Tracking:
        if self._thread in _stops:  # of a recording that this one is part of
            return self
        if hasattr(sys, "monitoring"):
            self._monitor(sys.monitoring)
        elif sys.getprofile() is None:
            self._profile()
        return self

    def __exit__(self, *error: object) -> None:
        if self.executed is not None:
            _stops.pop(self._thread)()

    def _profile(self) -> None:
        found: Executed = {}

        def note(frame: types.FrameType, event: str, argument: object) -> None:
            if event == "call":
                found[frame.f_code] = frame.f_globals

        self.executed = found
        _stops[self._thread] = lambda: sys.setprofile(None)
        sys.setprofile(note)

    def _monitor(self, monitoring: Any) -> None:
        tool = _taken_tool(monitoring)
        if tool is None:
            return
        found: Executed = {}
        events = (monitoring.events.PY_START, monitoring.events.PY_RESUME)

        def note(code: types.CodeType, offset: int) -> Any:
            if threading.get_ident() != self._thread:
                return None
            found[code] = sys._getframe(1).f_globals
            return monitoring.DISABLE

        def stop() -> None:
            monitoring.set_events(tool, 0)
            for event in events:
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)

        for event in events:
            monitoring.register_callback(tool, event, note)
        monitoring.set_events(tool, events[0] | events[1])
        monitoring.restart_events()
        self.executed, _stops[self._thread] = found, stop


def _taken_tool(monitoring: Any) -> int | None:
    """The number of a tool that nobody else is, from now on ours; None if there is none left."""
    for tool in range(5, -1, -1):
        try:
            monitoring.use_tool_id(tool, "adjoint")
        except ValueError:  # a debugger, a profiler, another thread that records
            continue
        return tool
    return None


def _after_fork() -> None:
    """End, in the child, what threads of the parent were tracking; a profiler's hook has gone with its thread."""
    for thread in [t for t in _stops if t != threading.get_ident()]:
        stop = _stops.pop(thread)
        if hasattr(sys, "monitoring"):
            stop()


in_child(_after_fork)
