"""What code says, whatever file and line it stands in, and which variables of its module it reads."""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

HAS_DOCSTRING = 0x4000000
"""The flag of code with a docstring, from Python 3.13 on; before, the first constant is one or None."""


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
    if sys.version_info >= (3, 13):
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


def globals_read(
    code: CodeType, names: Mapping[str, Any], is_installed: Callable[[str], bool]
) -> Iterator[tuple[str, Any]]:
    """The variables of its module that code reads, and those of other modules of the user's, by the names it uses."""
    found: dict[str, Any] = {}
    for piece in _with_nested(code):
        last = ""  # what the instruction before has read, if it may be a module
        for instruction in dis.get_instructions(piece):
            kind, name = instruction.opname, instruction.argval
            if kind in ("EXTENDED_ARG", "PUSH_NULL"):
                continue
            if kind in ("LOAD_GLOBAL", "LOAD_NAME") and name in names:
                last = name
                found[last] = names[name]
            elif kind in ("LOAD_ATTR", "LOAD_METHOD") and name in _variables(found.get(last), is_installed):
                found[f"{last}.{name}"] = vars(found[last])[name]
                last = f"{last}.{name}"
            else:
                last = ""
            if kind == "IMPORT_NAME":
                inside = _variables(sys.modules.get(name), is_installed)
                found |= {f"{name}.{each}": inside[each] for each in piece.co_names if each in inside}
    yield from found.items()


def _variables(module: Any, is_installed: Callable[[str], bool]) -> Mapping[str, Any]:
    """The variables of a module of the user's; of anything else none."""
    return vars(module) if isinstance(module, ModuleType) and not is_installed(module.__name__) else {}


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from _with_nested(x)
