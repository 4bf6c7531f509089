"""What a jitted function has to say of itself: its programs, and how often it recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..ir.program import Program, Step, guards_of


class Kernel(NamedTuple):
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
    """One recording for eyes: `print(f.lower(x))`."""

    def __init__(self, program: Program, optimised: Program, executable: Any) -> None:
        self.program = program
        """As it was recorded."""
        self.optimised = optimised
        """After the passes."""
        self._executable = executable

    @property
    def assembly(self) -> str | None:
        """The machine's instructions; None without llvmlite, or where NumPy takes every step."""
        made = getattr(self._executable, "assembly", None)
        return None if made is None else made()

    @property
    def kernels(self) -> list[Kernel]:
        """Which steps are done together, and how; NumPy does one at a time."""
        made = getattr(self._executable, "parts", None)
        if made is None:
            return [Kernel("NumPy", (), (step,), self.optimised) for step in self.optimised.steps]
        return [Kernel(how, shape, tuple(steps), program) for how, shape, steps, program in made()]

    def __str__(self) -> str:
        parts = ["# as recorded", str(self.program), "", "# after the passes", str(self.optimised)]
        hosted = self._executable.hosted
        parts += ["", f"# called by NumPy: {', '.join(hosted) if hosted else 'nothing'}"]
        assembly = self.assembly
        parts += ["", f"# machine code: {len(assembly.splitlines())} lines, see .assembly" if assembly else ""]
        return "\n".join(parts).rstrip()

    def __repr__(self) -> str:
        return f"<lowered: {len(self.program.steps)} steps, {len(self.optimised.steps)} after the passes>"


class Stats(dict[str, Any]):
    """What `f.stats()` returns: a dict that prints as a few lines."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        lines = []
        for name, value in self.items():
            first, *more = _lines(value)
            lines += [f"{name:<{width}}  {first}", *[f"{'':<{width}}  {line}" for line in more]]
        return "\n".join(lines)


def _lines(value: Any) -> list[str]:
    """One line for each different item, with how often it occurs."""
    if not isinstance(value, (list, tuple)):
        return [str(value)]
    flat = [item for part in value for item in (part if isinstance(part, list) else [part])]
    counts = Counter(map(str, flat))
    return [f"{line}  (x {n})" if n > 1 else line for line, n in counts.items()] or ["-"]


def stats_of(recordings: int, groups: Sequence[Sequence[Any]], eager: Sequence[str]) -> Stats:
    """How often a function was recorded, which paths exist, and what runs without machine code."""
    paths = [p for group in groups for p in group]
    return Stats({
        "recordings": recordings,
        "signatures": len(groups),
        "paths": len(paths),
        "guards": [[line for s in p.program.steps for line in guards_of(s)] for p in paths],
        "called by NumPy": sorted({name for p in paths for name in p.executable.hosted}),
        "eager": sorted(set(eager)),
    })  # fmt: skip
