"""What the versions of Python write differently into code objects: the only place that asks which one this is.

`decode` says the rest in the same words for all of them, those of the table below.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from opcode import opmap
from types import ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

VERSION = sys.version_info[:2]
FIRST, LAST = (3, 11), (3, 15)
"""The oldest and the newest version whose instructions are known."""
IS_KNOWN = sys.implementation.name == "cpython" and FIRST <= VERSION <= LAST


def otherwise(answer: Callable[..., Any]) -> Callable[[F], F]:
    """Let a question that instructions answer be answered by this in a Python whose instructions are not known."""
    return lambda question: question if IS_KNOWN else answer  # type: ignore[return-value]


SAME = {
    "LOAD_CLASSDEREF": "LOAD_DEREF",
    "LOAD_COMMON_CONSTANT": "LOAD_CONST",
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FROM_DICT_OR_DEREF": "LOAD_DEREF",
    "LOAD_METHOD": "LOAD_ATTR",
    "LOAD_SMALL_INT": "LOAD_CONST",
    **{
        f"POP_JUMP_{way}_IF_{case}": f"POP_JUMP_IF_{case}"
        for way in ("FORWARD", "BACKWARD")
        for case in ("TRUE", "FALSE", "NONE", "NOT_NONE")
    },
}
"""Instructions that do the same, for whom it is enough to know what they do: by the name of one of them."""

PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
"""Instructions that do what two others do, one after the other."""

SILENT = frozenset(("CACHE", "NOT_TAKEN"))
"""What is no instruction, or one for tools that follow what runs."""

SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1 if VERSION >= (3, 12) else 0, "LOAD_SUPER_ATTR": 2}
"""By how many bits the number of a name is shifted in the argument of an instruction."""
if VERSION >= (3, 15):
    SHIFTS["IMPORT_NAME"] = 2

COMMON: tuple[Any, ...] = (AssertionError, NotImplementedError, tuple, all, any)
"""The constants that instructions have by number, from Python 3.14 on; more of them from 3.15 on."""
if VERSION >= (3, 15):
    COMMON = (*COMMON, list, set, None, "", True, False, -1)

SUBSCRIPT = 26
"""The argument by which, from Python 3.14 on, the instruction for operators means `x[i]`."""
IN_PLACE = range(13, 26)
"""The arguments of that instruction which update in place."""
REMAINDERS = (6, 19)
"""Those of `%` and `%=`."""

NULL_IS_LAST = VERSION >= (3, 13)
"""Whether the place for `self` comes after what is called, not before it."""
_reading = (lambda: print).__code__.co_code.partition(bytes([opmap["LOAD_GLOBAL"]]))[2][1:] if IS_KNOWN else b""
CACHES_OF_GLOBAL = (len(_reading) - len(_reading.lstrip(b"\0"))) // 2
"""How many places for what the interpreter remembers follow the instruction that reads a global name."""
CALL_TAKES_ARGUMENTS = VERSION >= (3, 12)
"""Whether `CALL` is said to take the arguments from the stack; before, `PRECALL` is said to have done so."""
ITERATOR = 2 if VERSION >= (3, 15) else 1
"""How many values a `for` keeps on the stack: its iterator, and a place for the number of the item."""
SAYS_DOCSTRINGS = VERSION >= (3, 13)
"""Whether a flag says that code has a docstring."""
VARIABLES_ARE_A_COPY = VERSION < (3, 13)
"""Whether the variables that a frame shows are a copy, which has to be written back."""
TESTS_LOOPS_ONCE = VERSION >= (3, 14)
"""Whether a `while` has one test for all its iterations; before, the first one has a test of its own."""
BORROWS = VERSION >= (3, 14)
"""Whether a call borrows the references of the caller's variables, so that nobody counts those."""


def _reads_modules_directly() -> bool:
    """By trying it: some releases of a version do and others do not. A few rounds, as it learns what it reads."""
    trial = ModuleType("trial")
    trial.name = False  # type: ignore[attr-defined]
    trial.__class__ = type("Tracing", (ModuleType,), {"name": property(lambda module: True)})  # type: ignore[assignment]
    return not all([trial.name for _ in range(64)])  # type: ignore[attr-defined]


READS_MODULES_DIRECTLY = _reads_modules_directly()
"""Whether the interpreter reads names of modules past the properties of their class, if that looks up as usual."""
