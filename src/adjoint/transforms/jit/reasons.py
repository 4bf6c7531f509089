"""Why a jitted function is recorded once more: what is not as it was, in the words of whoever wrote the function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...capture.recording.recording import Recording
from ...core.errors import user_line
from ...core.values import describe
from ...ir.fold import guards_in
from ...ir.program import Failure, Step, short
from .keys import CallParts, StaticKey
from .path import Path
from .show import kind_in_words, named


class Cause(NamedTuple):
    """Why a recording was made."""

    text: str
    line: str = ""
    """Of the decision that came out differently, if it was one."""


def reason(
    fun: Any, call: CallParts, known: Mapping[Any, Sequence[Path]], changed: Sequence[str], recording: Recording
) -> Cause:
    """What is not as it was in recordings that are known.

    `changed` says, for each recording of such arguments, what it relied on that has changed since.
    """
    paths, keys = known[call.key], [key for key, paths in known.items() if paths]
    if not keys:
        return Cause(f"the first call, at {user_line()}")
    if not paths:
        return Cause(f"{_other_arguments(fun, call, keys)}, at {user_line()}")
    fitting = [path for path, what in zip(paths, changed, strict=True) if not what]
    if not fitting or (
        len(fitting) < len(paths) and not any(_decisions([p.recording for p in fitting], recording)[1:])
    ):
        return Cause(f"{next(filter(None, changed))} has changed, at {user_line()}")
    return _decided([path.recording for path in fitting], recording)


def _other_arguments(fun: Any, call: CallParts, keys: list[Any]) -> str:
    """In what the arguments of a call differ from those of the recordings that are nearest."""
    alike = [key for key in keys if key[0] == call.key[0] and len(key[1]) == len(call.key[1])]
    if not alike:
        return "other containers, or another number of arguments"
    nearest = min(alike, key=lambda key: sum([a != b for a, b in zip(key[1], call.key[1], strict=True)]))
    has_objects = any([name is None for name, _ in call.key[2:]])  # they would be made anew, of nothing, to be named
    found = [
        f"{f'leaf {k}' if has_objects else named(fun, call, k)} is {_kind(new)}, recorded {_kind(old)}"
        for k, (old, new) in enumerate(zip(nearest[1], call.key[1], strict=True))
        if old != new
    ]
    settings = dict(nearest[2:])
    for name, value in call.key[2:]:
        if name not in settings or settings[name] != value:
            what = f"argument {name}" if isinstance(name, int) else name or "a setting among the arguments"
            is_named = type(value) is StaticKey and name is not None
            found.append(f"{what} is {describe(value.value)}" if is_named else f"{what} is another")
    return "; ".join(found[:MOST]) or "other settings"


MOST = 3
"""Differences that are named."""


def _kind(kind: Any) -> str:
    return "another number, and an input from now on" if kind in (int, bool) else kind_in_words(kind)


def _decided(others: Sequence[Recording], recording: Recording) -> Cause:
    """The first decision that came out differently than in the recording which is nearest."""
    nearest, old, new = _decisions(others, recording)
    if old is not None and new is not None and old.line == new.line:
        return Cause(f"{new.line}  is {_word(new)}, recorded {_word(old)}", new.line)
    loops = [line for line in recording.loops if line not in nearest.loops]
    if old is not None and loops:
        return Cause(f"{loops[0]}  ends after another number of iterations: one loop from now on", loops[0])
    if old is not None:
        return Cause(f"{old.line}  is not {_word(old)}, as recorded", old.line)
    if new is not None:
        return Cause(f"{new.line}  is {_word(new)}, and was not asked", new.line)
    return Cause(f"a step raises, or its result has another shape, at {user_line()}")


def _decisions(others: Sequence[Recording], recording: Recording) -> tuple[Recording, Step | None, Step | None]:
    """The recording that is nearest, and the first decisions in which the two differ; None where there is none."""
    mine = guards_in(recording.program.steps)
    found: list[tuple[int, Recording, list[Step]]] = []
    for other in others:
        its = guards_in(other.program.steps)
        pairs = zip(its, mine, strict=False)
        k = next((k for k, (a, b) in enumerate(pairs) if a.line != b.line or not _same(a, b)), min(len(its), len(mine)))
        found.append((k, other, its))
    k, nearest, its = max(found, key=lambda row: row[0])
    return nearest, its[k] if k < len(its) else None, mine[k] if k < len(mine) else None


def _same(one: Step, other: Step) -> bool:
    a, b = one.params["expected"], other.params["expected"]
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and repr(a) == repr(b)


def _word(guard: Step) -> str:
    expected = guard.params["expected"]
    if isinstance(expected, Failure):
        return f"{expected.kind.__name__} raised"
    return short(expected.item() if isinstance(expected, np.generic) else expected)


def change_of(path: Path) -> str:
    """What a path relied on that is no longer as it was; nothing if all is."""
    watch = path.recording.watch
    if path.recording.is_valid():
        return ""
    return watch.changed() or watch.rewritten() or "an array that the function captures"
