"""Which part of the source an instruction comes from."""

from __future__ import annotations

import functools
from types import CodeType

from .decode import Instruction

Span = tuple[int | None, int | None, int | None, int | None]
"""First and last line, first and last column; None for what is not known."""


@functools.lru_cache(1024)
def positions_of(code: CodeType) -> list[Span]:
    """For every two bytes of a code the part of the source they come from."""
    return list(code.co_positions())


def span_at(code: CodeType, place: int) -> Span:
    """The part of the source that the instruction at a place comes from."""
    positions = positions_of(code)
    return positions[place // 2] if 0 <= place // 2 < len(positions) else (None, None, None, None)


def start_of(code: CodeType, step: Instruction) -> tuple[int, int] | None:
    """The line and the column at which the source of an instruction begins."""
    line, _, column, _ = positions_of(code)[step.place // 2]
    return None if line is None or column is None else (line, column)


def line_of(code: CodeType, step: Instruction) -> int | None:
    """The line of the source that an instruction comes from."""
    return positions_of(code)[step.place // 2][0]
