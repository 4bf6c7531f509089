"""What code says, as a text that is the same whatever file and line it stands in."""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Any

from .versions import SAYS_DOCSTRINGS

HAS_DOCSTRING = 0x4000000
"""The flag of code with a docstring, where there is one; else the first constant is one or None."""


def code_label(code: CodeType) -> str:
    """All that decides what code does, as a text; code compiled twice from the same source has the same."""
    constants = code.co_consts[1:] if _has_docstring(code) else code.co_consts
    return repr(
        (
            code.co_code, [_constant(x) for x in constants], code.co_names, code.co_varnames, code.co_freevars,
            code.co_cellvars, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
            code.co_exceptiontable,
        )
    )  # fmt: skip


def _has_docstring(code: CodeType) -> bool:
    if SAYS_DOCSTRINGS:
        return bool(code.co_flags & HAS_DOCSTRING)
    is_function = bool(code.co_flags & inspect.CO_NEWLOCALS)
    return is_function and bool(code.co_consts) and isinstance(code.co_consts[0], str)


def _constant(x: Any) -> str:
    """A constant, with its type: 1 is not True, nor 1.0."""
    if isinstance(x, CodeType):
        return code_label(x)
    if isinstance(x, (tuple, frozenset)):
        parts = [_constant(part) for part in x]
        return f"{type(x).__name__}{sorted(parts) if isinstance(x, frozenset) else parts}"
    return f"{type(x).__name__} {x!r}"
