"""Which word of the user's code asks for a truth value: found by the columns of the instruction, not by its line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, NamedTuple

from ...host.code.positions import span_at
from ...host.frames.variables import instruction_of

Span = tuple[int, int, int, int]
"""First line and column, last line and column."""

WORDS: dict[type, str] = {ast.If: "if", ast.IfExp: "if", ast.While: "while", ast.Assert: "assert"}
CALLS = frozenset(("any", "all", "next"))
"""Functions that ask for truth values themselves."""
ANY = " if"
"""The word of what asks inside an expression, unless that is part of a test."""


class Asking(NamedTuple):
    """A place of a source that asks for a truth value."""

    span: Span
    word: str
    whole: bool
    """Whether it is the statement or expression that asks; else it is the test, wherever in it the question comes."""


def word_at(frame: FrameType) -> str | None:
    """`if`, `while` or `assert`: what a frame asks for where it stands.

    Empty if a value is asked for something else, as by `max`; None if the source does not say.
    """
    line, last_line, column, last_column = span_at(*instruction_of(frame))
    lines = tuple(linecache.getlines(frame.f_code.co_filename))
    if line is None or last_line is None or column is None or last_column is None or not lines:
        return None
    here = (line, column, last_line, last_column)
    places = _asking(lines)
    if places is None:
        return None
    exact = [place.word for place in places if place.whole and place.span == here]
    tests = [place for place in places if not place.whole and _contains(place.span, here)]
    innermost = max(tests, key=lambda place: (place.word != ANY, place.span[:2]), default=None)
    return exact[0] if exact else "" if innermost is None else innermost.word.strip()


def _contains(span: Span, here: Span) -> bool:
    return span[:2] <= here[:2] and here[2:] <= span[2:]


@lru_cache(maxsize=64)
def _asking(lines: tuple[str, ...]) -> list[Asking] | None:
    """The places of a source that ask; None if it cannot be read."""
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):  # what a notebook writes beside Python, or no Python at all
        return None
    return [found for node in ast.walk(tree) for found in _asked_by(node)]


def _asked_by(node: ast.AST) -> Iterator[Asking]:
    if type(node) in WORDS:
        word = WORDS[type(node)]
        yield Asking(_span(node), word, whole=True)
        yield Asking(_span(node.test), word, whole=False)  # type: ignore[attr-defined]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        yield Asking(_span(node), "if", whole=True)
        yield from [Asking(_span(test), "if", whole=False) for part in node.generators for test in part.ifs]
    elif isinstance(node, ast.match_case) and node.guard is not None:
        yield Asking(_span(node.guard), "if", whole=False)
    elif _asks_inside(node):
        yield Asking(_span(node), ANY, whole=False)


def _asks_inside(node: ast.AST) -> bool:
    """Whether an expression asks for truth values to compute with them: `a and b`, `not a`, `any(...)`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in CALLS
    return isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _span(node: Any) -> Span:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
