"""Which code ran while a function was recorded: what is only reachable says nothing about the result."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any

Executed = dict[types.CodeType, dict[str, Any]]
"""Pieces of code that have run, and their global variables."""

NAME = "adjoint"


class Tracking:
    """Note all Python code that this thread runs; `executed` is None if nothing can be said, as somebody else does so.

    From Python 3.12 on each piece of code is noted once and costs nothing from then on; before, a profiler's hook sees
    every call.
    """

    def __init__(self) -> None:
        self.executed: Executed | None = None
        self._stop: Any = None

    def __enter__(self) -> Tracking:
        if hasattr(sys, "monitoring"):
            self._monitor()
        elif sys.getprofile() is None:
            self._profile()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._stop is not None:
            self._stop()

    def _profile(self) -> None:
        found: Executed = {}

        def note(frame: types.FrameType, event: str, argument: Any) -> None:
            if event == "call":
                found[frame.f_code] = frame.f_globals

        self.executed = found
        self._stop = lambda: sys.setprofile(None)
        sys.setprofile(note)

    def _monitor(self) -> None:
        monitoring = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        tool = next((t for t in range(5, -1, -1) if monitoring.get_tool(t) is None), None)
        if tool is None:
            return
        found: Executed = {}
        thread = threading.get_ident()

        def note(code: types.CodeType, offset: int) -> Any:
            if threading.get_ident() != thread:
                return None
            found[code] = sys._getframe(1).f_globals
            return monitoring.DISABLE

        def stop() -> None:
            monitoring.set_events(tool, 0)
            for event in events:
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)

        monitoring.use_tool_id(tool, NAME)
        events = (monitoring.events.PY_START, monitoring.events.PY_RESUME)
        for event in events:
            monitoring.register_callback(tool, event, note)
        monitoring.set_events(tool, events[0] | events[1])
        monitoring.restart_events()
        self.executed, self._stop = found, stop
