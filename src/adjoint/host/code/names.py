"""The names that code mentions, with those of the functions written inside it."""

from __future__ import annotations

from collections.abc import Container
from types import CodeType
from typing import Any


def codes_in(code: CodeType, run: Container[Any] | None = None) -> list[CodeType]:
    """A piece of code and those written inside it; only those that have run, if that is known."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType) and (run is None or c in run)]
    return [code, *[part for c in inner for part in codes_in(c, run)]]


def names_of(code: CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names of globals and attributes that a function mentions, with those of the functions inside it."""
    return {name for c in codes_in(code, run) for name in c.co_names}
