"""When a function is no longer recorded: for calls of some kind, as too many paths lead through it, or at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import limits
from .keys import CallParts
from .path import Path, most, unused
from .show import FEWER_PATHS, FEWER_STATICS, say


class Excess(NamedTuple):
    """Why recording a function once more would not pay, and what to do about it."""

    what: str
    fix: str
    eager: str | None = None
    """Why calls of this kind run without jit; None if all calls do."""
    kept: Sequence[Path] | None = None
    """The paths that are worth keeping, if not all are."""


class Policy:
    """What one function runs without jit, and what has been seen that speaks for it."""

    __slots__ = ("_changes", "_fun", "_is_said", "_statics", "eager", "given_up")

    def __init__(self, fun: Any) -> None:
        self._fun = fun
        self.given_up = ""
        """Why all calls run without jit."""
        self.eager: dict[Any, str] = {}
        """The kinds of calls that do, and why."""
        self._changes: Counter[Any] = Counter()
        """How often something that the function captures has changed."""
        self._statics: set[Any] = set()
        """The static values that it has been recorded for."""
        self._is_said = False

    def reasons(self) -> list[str]:
        """Why calls run without jit."""
        return [*self.eager.values(), *([self.given_up] if self.given_up else [])]

    def recorded(self, call: CallParts) -> None:
        """Take note of a recording."""
        self._statics.add(call.statics)

    def run_eagerly(self, key: Any, why: str) -> None:
        """Run calls of this kind without jit; of the first kinds it is found out again, as keys hold static values."""
        self.eager[key] = why
        if len(self.eager) > limits.MAX_EAGER:
            del self.eager[next(iter(self.eager))]

    def warn(self, what: str, fix: str) -> None:
        """Say once what becomes of the function."""
        if not self._is_said:
            self._is_said = True
            say(self._fun, what, fix)

    def excess(self, call: CallParts, paths: tuple[Path, ...]) -> Excess | None:
        """Why recording once more would not pay; None if it may."""
        changes = {p.recording.watch.changed() or p.recording.watch.rewritten() for p in paths} - {""}
        for what in changes:
            self._changes[what, call.key] += 1
            if self._changes[what, call.key] > limits.MAX_CHANGES:
                return Excess(f"{what} changes between calls", "Pass it as an argument.")
        once = unused(paths)
        if once or len(paths) - len(changes) >= most(paths):
            return _too_many_paths(paths, once)
        if len(self._statics) >= limits.MAX_STATICS and call.statics not in self._statics:
            what = f"has been called with {limits.MAX_STATICS} different static values"
            return Excess(f"{what}, so it now runs without jit for others.", FEWER_STATICS, "static values")
        return None


def _too_many_paths(paths: tuple[Path, ...], once: Sequence[Path]) -> Excess:
    """What to say of so many paths, some of which were taken only once."""
    lines = Counter([p.line for p in once or paths if p.line]).most_common(1)
    line = lines[0][0] if lines else ""
    many = f"{len(paths)} different paths, {len(once)} of them only once" if once else f"{most(paths)} different paths"
    what = f"has taken {many}, so it now runs without jit where none of them fits.\n"
    kept = [p for p in paths if p.is_taken_again] if once else None
    return Excess(f"{what}  They differ in what is decided at {line}", FEWER_PATHS, line, kept)
