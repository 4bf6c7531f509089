"""What code does with names and objects: which variables it sets, what it compares, stores, imports, line by line."""

from __future__ import annotations

import functools
import itertools
import sys
from bisect import bisect_right
from types import CodeType
from typing import TYPE_CHECKING, Any

from .decode import Instruction, instructions
from .reach import codes_in
from .versions import otherwise

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

READS = frozenset(("LOAD_ATTR", "LOAD_SUPER_ATTR"))
GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
DECIDES = ("COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT", "POP_JUMP", "JUMP_IF")
"""How the names of instructions begin that make or follow a truth value."""
WRITTEN = (
    "co_code", "co_names", "co_varnames", "co_freevars", "co_consts", "co_argcount", "co_kwonlyargcount",
)  # fmt: skip
"""What decides what code does, with the values of its defaults and closure."""


def does_the_same(a: CodeType, b: CodeType) -> bool:
    """Whether two codes were written alike, whatever they are called and wherever they come from."""
    return all([getattr(a, part) == getattr(b, part) for part in WRITTEN])


def has_same_instructions(a: CodeType, b: CodeType) -> bool:
    """Whether two codes take the same steps, with whatever names and constants."""
    return a.co_code == b.co_code


def is_shorter(code: CodeType, length: int) -> bool:
    """Whether code has at most so many bytes."""
    return len(code.co_code) <= length


def has_handler(code: CodeType) -> bool:
    """Whether code, or that of a function written inside it, has a place to go to with an error."""
    return any([bool(c.co_exceptiontable) for c in codes_in(code)])


@functools.lru_cache(4096)
@otherwise(lambda code: True)
def compares_objects(code: CodeType) -> bool:
    """Whether code asks if two objects are one, other than None and classes."""
    return any([not _is_none_or_class(before) for before in _compared(code)])


def _is_none_or_class(step: Instruction | None) -> bool:
    """Whether an instruction gives what no copy is made of: None, the class of an object."""
    if step is None:
        return False
    is_none = step.value is None and step.name == "LOAD_CONST"
    return is_none or (step.value == "__class__" and step.name == "LOAD_ATTR")


@functools.lru_cache(4096)
@otherwise(lambda code: True)
def compares_with_number(code: CodeType) -> bool:
    """Whether code asks if something is a number itself: `n is True`."""
    return any([before is not None and type(before.value) in (bool, int) for before in _compared(code)])


def _compared(code: CodeType) -> list[Instruction | None]:
    """The instructions before each `is`."""
    steps = instructions(code)
    return [steps[k - 1] if k else None for k, step in enumerate(steps) if step.name == "IS_OP"]


@functools.lru_cache(1024)
@otherwise(lambda code: frozenset(code.co_names))
def globals_set(code: CodeType) -> frozenset[str]:
    """The global variables that code sets."""
    return frozenset([s.value for s in instructions(code) if s.name == "STORE_GLOBAL"])


@functools.lru_cache(1024)
@otherwise(lambda code: (frozenset(code.co_names), frozenset()))
def attributes_used(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that code reads, and those that it sets."""
    steps = instructions(code)
    read = [str(s.value) for s in steps if s.name in READS]
    return frozenset(read), frozenset([str(s.value) for s in steps if s.name == "STORE_ATTR"])


@otherwise(lambda code: True)
def stores_entries(code: CodeType) -> bool:
    """Whether code stores entries of something: `table[key] = value`."""
    return any([step.name == "STORE_SUBSCR" for step in instructions(code)])


@otherwise(lambda code: {})
def modules_imported(code: CodeType) -> dict[str, Any]:
    """The modules that code imports, by the names that it gives them."""
    pairs = itertools.pairwise(instructions(code))
    return {
        b.value: sys.modules.get(a.value)
        for a, b in pairs
        if a.name == "IMPORT_NAME" and b.name.startswith("STORE_") and type(b.value) is str
    }


class SourceLine(NamedTuple):
    """What the instructions of one line of the source do."""

    mentioned: frozenset[str]
    """All names, attributes among them, and texts."""
    loaded: tuple[str, ...]
    stored: tuple[str, ...]
    decides: bool
    """Whether a truth value is made or followed."""


@functools.lru_cache(4096)
@otherwise(lambda code: [SourceLine(frozenset(code.co_names), code.co_names, code.co_varnames, decides=True)])
def lines_of(code: CodeType) -> list[SourceLine]:
    """What code does, line by line."""
    starts, numbers = zip(*[(start, number) for start, _, number in code.co_lines()], strict=True)
    found: dict[Any, list[Instruction]] = {}
    for step in instructions(code):
        found.setdefault(numbers[bisect_right(starts, step.place) - 1], []).append(step)
    return [_line(steps) for steps in found.values()]


def _line(steps: list[Instruction]) -> SourceLine:
    named = [step for step in steps if type(step.value) is str]
    return SourceLine(
        frozenset([step.value for step in named]),
        tuple([step.value for step in named if step.name.startswith("LOAD_")]),
        tuple([step.value for step in named if step.name.startswith("STORE_")]),
        any([step.name.startswith(DECIDES) for step in steps]),
    )


class Reading(NamedTuple):
    """A global that code reads, with the attributes that it reads of it in turn; or a module that it imports."""

    names: tuple[str, ...]
    is_import: bool = False


def _all_readings(code: CodeType) -> list[Reading]:
    """Every name, and every attribute of every name."""
    names = code.co_names
    pairs = [Reading((a, b)) for a in names for b in names]
    return [*[Reading((name,)) for name in names], *pairs, *[Reading((name,), is_import=True) for name in names]]


@otherwise(_all_readings)
def readings_in(code: CodeType) -> list[Reading]:
    """The globals that code reads and the modules that it imports, in the order in which they stand there."""
    found: list[Reading] = []
    is_open = False  # whether the instruction before has read a global, or an attribute of one
    for step in instructions(code):
        if step.name == "PUSH_NULL":
            continue
        if step.name in GLOBALS:
            found.append(Reading((step.value,)))
        elif step.name == "LOAD_ATTR" and is_open:
            found[-1] = Reading((*found[-1].names, step.value))
        elif step.name == "IMPORT_NAME":
            found.append(Reading((step.value,), is_import=True))
        is_open = step.name in GLOBALS or (step.name == "LOAD_ATTR" and is_open)
    return found
