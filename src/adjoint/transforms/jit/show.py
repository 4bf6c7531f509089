"""What a jitted function has to say of itself: its programs, how often it recorded, and for how many lengths."""

from __future__ import annotations

import inspect
import platform
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.hints import warn_of_old_name
from ...core.tree import flatten, paths
from ...core.values import describe
from ...host.code import versions
from ...host.frames.ownership import is_library
from ...ir.program import Program, Step, guards_of
from . import limits
from .keys import CallParts


class KernelOutline(NamedTuple):
    """Steps of a program that are done together."""

    how: str
    """In `registers`, in one fused `loop`, in `loops` of their own, by `BLAS` or by `NumPy`."""
    shape: tuple[int, ...]
    """What a fused loop goes over."""
    steps: tuple[Step, ...]
    """In the words of the compiler, which writes some steps as several."""
    program: Program
    """What the numbers of the steps belong to."""


class Lowered:
    """One recording to be read: `print(f.lower(x))`."""

    def __init__(self, program: Program, optimized: Program, executable: Any) -> None:
        self.program = program
        """As it was recorded."""
        self.optimized = optimized
        """After the passes."""
        self._executable = executable

    @property
    def optimised(self) -> Program:
        """The old spelling."""
        warn_of_old_name("f.lower(x).optimised", "f.lower(x).optimized")
        return self.optimized

    @property
    def assembly(self) -> str | None:
        """The machine's instructions, of code that stays; None without llvmlite, or where NumPy takes every step."""
        made = getattr(self._executable, "assembly", None)
        return None if made is None else made()

    @property
    def kernels(self) -> list[KernelOutline]:
        """Which steps are done together, and how; NumPy does one at a time."""
        made = getattr(self._executable, "parts", None)
        if made is None:
            return [KernelOutline("NumPy", (), (step,), self.optimized) for step in self.optimized.steps]
        return [KernelOutline(how, shape, tuple(steps), program) for how, shape, steps, program in made()]

    def __str__(self) -> str:
        parts = ["# as recorded", str(self.program), "", "# after the passes", str(self.optimized)]
        hosted = self._executable.hosted
        parts += ["", f"# called by NumPy: {', '.join(hosted) if hosted else 'nothing'}"]
        assembly = self.assembly
        parts += ["", f"# machine code: {len(assembly.splitlines())} lines, see .assembly" if assembly else ""]
        return "\n".join(parts).rstrip()

    def __repr__(self) -> str:
        return f"<lowered: {len(self.program.steps)} steps, {len(self.optimized.steps)} after the passes>"


SELDOM = frozenset(("run again",))
"""What has no line of its own where there is nothing to say."""


class Stats(dict[str, Any]):
    """What `f.stats()` returns: a dict that prints as a few lines."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        lines = []
        for name, value in self.items():
            if name in SELDOM and not value:
                continue
            first, *more = _lines(value)
            lines += [f"{name:<{width}}  {first}", *[f"{'':<{width}}  {line}" for line in more]]
        return "\n".join(lines)


def _lines(value: Any) -> list[str]:
    """One line for each different item, with how often it occurs."""
    if not isinstance(value, (list, tuple)):
        return [str(value)]
    flat = [item for part in value for item in (part if isinstance(part, list) else [part])]
    counts = Counter(map(str, flat))
    lines = [f"{line}  (x {n})" if n > 1 else line for line, n in counts.items()] or ["-"]
    return (
        lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], f"... and {len(lines) - MOST_LINES + 1} more"]
    )


FEWER_PATHS = """Use  ad.while_loop, ad.scan  or  ad.cond  for a loop or branch that depends on values, or  np.where,
  also instead of  x[mask];  NumPy's functions instead of math's, which take one number at a time."""
FEWER_STATICS = "Strings, objects and integers that choose a shape are static: pass what varies as numbers or arrays."
"""What to do about functions that run without jit for some calls."""
MOST_LINES = 20
"""Different items of one entry that are printed."""


class RecordingHistory:
    """How often one function was recorded, and why."""

    __slots__ = ("dropped", "lengths", "reasons", "recordings")

    def __init__(self) -> None:
        self.recordings = 0
        self.reasons: list[str] = []
        """Of the last ones."""
        self.dropped = 0
        """Recordings that had to make room for others."""
        self.lengths = Lengths()

    def note(self, reason: str) -> None:
        """Take note of a recording."""
        self.recordings += 1
        self.reasons = [*self.reasons[1 - limits.MOST_REASONS :], reason]


def stats_of(history: RecordingHistory, groups: Mapping[Any, Sequence[Any]], eager: Sequence[str]) -> Stats:
    """How often a function was recorded and why, which paths exist, and what runs without machine code."""
    paths = [p for group in groups.values() for p in group]
    loops = dict.fromkeys([line for p in paths for line in p.recording.loops])
    return Stats({
        "recordings": history.recordings,
        "reasons": list(history.reasons),
        "run again": [why for p in paths for why in p.recording.attempts[1:]],
        "dropped": history.dropped,
        "settled": [f"one loop: {line}" for line in loops] + [f"without jit: {why}" for why in sorted(set(eager))],
        "signatures": len(groups),
        "differ in": _differences(list(groups)),
        "paths": len(paths),
        "guards": [[line for s in p.program.steps for line in guards_of(s)] for p in paths],
        "branches": [p.recording.branches for p in paths],
        "called by NumPy": sorted({name for p in paths for name in p.executable.hosted}),
        "eager": sorted(set(eager)),
    })  # fmt: skip


def _differences(keys: list[Any]) -> list[str]:
    """In what the keys of signatures differ: kinds of leaves, if these are as many, containers, static values."""
    found = []
    if len({len(key[1]) for key in keys}) == 1:
        leaf = "argument" if keys[0][0] == len(keys[0][1]) else "leaf"
        for k, kinds in enumerate(zip(*[key[1] for key in keys], strict=True)):
            words = list(dict.fromkeys([kind_in_words(kind) for kind in kinds]))
            if len(words) > 1:
                more = " / ..." if len(words) > SHOWN else ""
                found.append(f"{leaf} {k}: {' / '.join(words[:SHOWN])}{more}")
    if len({key[0] for key in keys}) > 1:
        found.append("containers")
    if len({key[2:] for key in keys}) > 1:
        found.append("static values and settings")
    return found


SHOWN = 4
"""Different kinds of one argument that are named."""


def kind_in_words(kind: Any) -> str:
    """What a key says of a leaf."""
    if type(kind) is tuple:
        text = f"{kind[0].name}[{','.join(map(str, kind[1]))}]"
        return text if len(kind) == 2 else f"{text} with strides {kind[2]}"
    if isinstance(kind, type):
        return f"{kind.__name__}[] scalar" if issubclass(kind, np.generic) else f"python {kind.__name__}"
    return describe(kind.value)


MANY = 8
"""Recordings for calls that differ in lengths alone, after which the hint is given."""


class Lengths:
    """The shapes that one function has been recorded for: with ever other ones, a hint is due."""

    def __init__(self) -> None:
        self._met: dict[Any, set[tuple[tuple[int, ...], ...]]] = {}
        self.is_said = False

    def note(self, fun: Any, call: CallParts) -> tuple[str, str] | None:
        """Take note of a recording; what is to be said of it and what to do about it, once, if there are many alike."""
        if self.is_said:
            return None
        arrays = [k for k, kind in enumerate(call.key[1]) if type(kind) is tuple]
        rest = tuple([len(kind[1]) if type(kind) is tuple else kind for kind in call.key[1]])
        met = self._met.setdefault((call.key[0], rest, *call.key[2:]), set())
        met.add(tuple([call.key[1][k][1] for k in arrays]))
        if len(met) < MANY:
            return None
        self.is_said = True
        varying = [
            f"axis {axis} of {named(fun, call, k)}"
            for i, k in enumerate(arrays)
            for axis in range(rest[k])
            if len({shapes[i][axis] for shapes in met}) > 1
        ]
        more = " and others" if len(varying) > 2 else ""
        return (
            f"has been recorded for {MANY} lengths of {', '.join(varying[:2])}{more}: each needs its own recording.",
            "Pad to a few lengths, for example with  np.pad  and a mask, or pass batches of one size.",
        )


def named(fun: Any, call: CallParts, leaf: int) -> str:
    """The argument that a leaf belongs to, and where in it."""
    marks: list[Any] = [_Mark() for _ in call.leaves]
    args, kwargs = call.rebuild(marks)
    try:
        names = list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):  # a builtin that does not say
        names = []
    given = [(names[i] if i < len(names) else f"argument {i}", a) for i, a in enumerate(args)]
    for name, part in [*given, *kwargs.items()]:
        inside = [k for k, x in enumerate(flatten(part)[0]) if x is marks[leaf]]
        if inside:
            return f"{name}{paths((part,))[inside[0]]}"
    return f"argument {leaf}"


class _Mark:
    """Stands for a leaf."""


def say(fun: Any, what: str, fix: str) -> None:
    """Warn of a jitted function, at the line of the user's that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and is_library(frame):
        level, frame = level + 1, frame.f_back
    name = getattr(fun, "__name__", type(fun).__name__)
    warnings.warn(f"{name!r} {what}\n  {fix}", RuntimeWarning, stacklevel=level)


def say_if_unknown(fun: Any) -> None:
    """Warn once of a Python whose instructions nobody has looked at: jit does not guess what they do."""
    global _is_said
    if versions.IS_KNOWN or _is_said:
        return
    _is_said = True
    first, last = [".".join(map(str, v)) for v in (versions.FIRST, versions.LAST)]
    this = f"{platform.python_implementation()} {'.'.join(map(str, versions.VERSION))}"
    say(
        fun,
        f"runs without jit, as do all functions: this is {this}, whose instructions are not known.",
        f"Use CPython {first} to {last}, or a newer release of adjoint. Results are the same.",
    )


_is_said = False
