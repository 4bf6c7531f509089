"""Where a function is written, for messages that cannot name the line."""

from __future__ import annotations

import os
import types
from typing import Any

from ..code.reach import is_users_function


def home(fun: Any) -> str:
    """The function and where it is written, for messages that cannot name the line."""
    told = getattr(fun, "told_as", None)
    if told is not None:
        return str(told)
    seen: list[Any] = []  # functions may hold each other
    while fun not in seen:
        inner = next((c.cell_contents for c in getattr(fun, "__closure__", None) or () if _is_function(c)), None)
        if inner is None or is_users_function(fun):
            break
        seen.append(fun)
        fun = inner
    code = getattr(getattr(fun, "__func__", fun), "__code__", None)
    name = getattr(fun, "__qualname__", type(fun).__name__)
    return name if code is None else f"{name}, from {code.co_filename.rpartition(os.sep)[2]}:{code.co_firstlineno} on"


def _is_function(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:
        return False
