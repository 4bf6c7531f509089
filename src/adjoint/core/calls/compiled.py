"""Calls of compiled code (C, Cython, numba) that a traced value reaches: they are refused by their name, with the fix.

Compiled code takes plain memory only. What it says of a handle is said for its own authors ("a bytes-like object is
required", "No matching signature found"), so the call that raised is looked up and named instead.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from pathlib import PurePath
from types import (
    CodeType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from ...host.code.uses import is_shorter
from ...host.frames.ownership import LIBRARIES, OURS, package_of
from ...host.frames.variables import instruction_of, looked_up, variables_in
from ..errors import AdjointError, UnsupportedError, message
from ..traced import Traced
from .current_call import expression_at

if TYPE_CHECKING:
    import ast

FIX = (
    "Give it a derivative with  ad.custom_rule,  around the function that calls it;\n"
    "write  ad.value(x)  if no derivative is wanted."
)
BELOW = frozenset(("numba", "llvmlite"))
"""Packages that compile, and raise from Python code of their own."""
LONGEST = 8
"""Bytes of the code of a frame that Cython makes up for tracebacks: it raises, and does nothing else."""
HANDLES = ("'Traced'", "'ViewHandle'")
"""What compiled code calls a handle in its messages."""
KINDS = (TypeError, ValueError, AttributeError, BufferError)


def refusal_of_compiled(error: BaseException) -> AdjointError | None:
    """What to say instead of an error that compiled code has raised as it met a traced value; None if it did not."""
    trace, found, name = error.__traceback__, None, ""
    while trace is not None:
        if _is_made_up(trace.tb_frame.f_code):
            name = name or trace.tb_frame.f_code.co_name
        elif package_of(trace.tb_frame.f_globals) not in BELOW:
            found, name = trace, ""
        trace = trace.tb_next
    if found is None or package_of(found.tb_frame.f_globals) == OURS:
        return None
    is_below = found.tb_next is not None
    if not is_below and not isinstance(error, KINDS):
        return None
    is_met = any([kind in str(error) for kind in HANDLES])
    name = compiled_call(found.tb_frame, found.tb_lasti, is_met) or name
    if not name or not (is_met or any([_is_traced(x) for x in variables_in(found.tb_frame).values()])):
        return None
    return refused(name, found.tb_frame, found.tb_lineno)


def _is_made_up(code: CodeType) -> bool:
    """Whether a code is one that compiled code shows in tracebacks, and nobody runs."""
    return is_shorter(code, LONGEST) and not code.co_flags & inspect.CO_OPTIMIZED and not code.co_names


def refused(name: str, frame: FrameType, line: int) -> UnsupportedError:
    """The error that says so."""
    path = frame.f_code.co_filename
    at = f"{PurePath(path).name}:{line} in {frame.f_code.co_name}():  {linecache.getline(path, line).strip()}"
    return UnsupportedError(message(f"{name} is compiled code, which cannot take a traced value.", at=at, fix=FIX))


def _is_traced(x: Any) -> bool:
    return isinstance(x, Traced) and bool(x.traced_by.level)


def compiled_call(frame: FrameType, place: int | None = None, is_met: bool = False) -> str:
    """The name of the compiled function of a package that a frame is calling; empty if it does anything else.

    A method of one of Python's own types, called as a function, counts if it has complained of a handle.
    """
    import ast

    code, here = instruction_of(frame)
    node = expression_at(code, here if place is None else place)
    if not isinstance(node, ast.Call):
        return ""
    found = _resolved(node.func, frame)
    if found is None or not _is_compiled(found):
        return ""
    if is_met and isinstance(found, (WrapperDescriptorType, MethodDescriptorType)):
        return f"{found.__objclass__.__name__}.{found.__name__}"
    home = str(getattr(found, "__module__", None) or getattr(type(found), "__module__", ""))
    package = home.partition(".")[0]
    if package in LIBRARIES or package == OURS or package in sys.stdlib_module_names:
        return ""
    return f"{home}.{getattr(found, '__name__', None) or ast.unparse(node.func)}"


def _resolved(node: ast.expr, frame: FrameType) -> Any:
    """What an expression of names and attributes stands for, found without running code; None if it is not known."""
    import ast

    if isinstance(node, ast.Name):
        return looked_up(frame, node.id)
    if not isinstance(node, ast.Attribute):
        return None
    base = _resolved(node.value, frame)
    if isinstance(base, ModuleType):
        return vars(base).get(node.attr)
    return None if base is None else inspect.getattr_static(base, node.attr, None)


def _is_compiled(x: Any) -> bool:
    """Whether what is called is neither a Python function, nor a class or an object whose methods are."""
    if isinstance(x, (FunctionType, MethodType, staticmethod, classmethod, property)):
        return False
    if hasattr(type(x), "py_func") or hasattr(x, "py_func"):  # numba's
        return True
    kind = x if isinstance(x, type) else type(x)
    if isinstance(x, type):
        return not any([isinstance(vars(base).get("__init__"), FunctionType) for base in kind.__mro__])
    called = [vars(base).get("__call__") for base in kind.__mro__]
    return callable(x) and not any([isinstance(c, FunctionType) for c in called])
