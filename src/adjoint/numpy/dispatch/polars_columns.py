"""Columns of polars beside traced values: `series * x`, which polars would try to convert, is an array."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from ...core.traced import Traced
from ..patching.replacements import Answer, divert
from .foreign import foreign

NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne")


def _version(name: str) -> Callable[..., Any]:
    work = getattr(operator, name)

    def chosen(original: Callable[..., Any], self: Any, other: Any) -> Any:
        if not isinstance(other, Traced):
            return original(self, other)
        return work(foreign(self, other), other)

    return chosen


def teach() -> None:
    """Let the operators of polars, which has been imported, hand traced values to arrays."""
    polars = sys.modules["polars"]
    for kind in (polars.Series, polars.DataFrame):
        for name in NAMES:
            method = vars(kind).get(f"__{name}__")
            if callable(method):
                divert(method, Answer(ours=_version(name), calls_back=True), f"polars.{kind.__name__}")
