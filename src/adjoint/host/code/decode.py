"""The instructions of a code, each with what its argument stands for.

The standard library's `dis` says as much, but not in the same words for all versions, and much more slowly; who follows
what Python runs would notice it, too.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from opcode import EXTENDED_ARG, HAVE_ARGUMENT, hasconst, hasfree, hasjrel, haslocal, hasname, opmap, opname
from opcode import stack_effect as _stack_effect
from types import CodeType
from typing import TYPE_CHECKING, Any

from .versions import COMMON, PAIRS, SAME, SHIFTS, SILENT, SUBSCRIPT, VERSION, otherwise

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple


class Instruction(NamedTuple):
    """One thing that code does; what one instruction of the interpreter does in two steps is two of these."""

    place: int
    """Where it is in the code, as `f_lasti` counts; the second half of a pair is at an odd place."""
    name: str
    """Its name in `versions`, or that of the interpreter."""
    arg: int
    value: Any
    """What the argument stands for: a name, a constant, the place that a jump leads to; None if it is but a number."""
    calls: bool
    """Whether it loads what is then called, with a place for `self`."""
    number: int
    """The instruction of the interpreter."""


class Handler(NamedTuple):
    """A part of a code whose errors are handled: from one place to before another, and where control goes with them."""

    start: int
    end: int
    target: int


NAME, CONSTANT, VARIABLE, COMMON_CONSTANT, ITSELF, JUMP = range(1, 7)
"""What an argument may stand for."""


def _readings() -> list[int]:
    """What the argument of each instruction stands for; 0 for nothing."""
    found = [0] * 256
    kinds = {NAME: hasname, CONSTANT: hasconst, VARIABLE: [*haslocal, *hasfree], JUMP: hasjrel}
    for kind, numbers in kinds.items():
        for number in numbers:
            if number < 256:
                found[number] = kind
    for name, kind in (("LOAD_COMMON_CONSTANT", COMMON_CONSTANT), ("LOAD_SMALL_INT", ITSELF)):
        if name in opmap:
            found[opmap[name]] = kind
    return found


READINGS = _readings()
CACHE = opmap.get("CACHE", 0)
ATTRIBUTE_SAYS_SO = VERSION >= (3, 12)
"""Whether an odd argument of `LOAD_ATTR` means that the attribute is called; before, `LOAD_METHOD` did."""


def _refused(code: CodeType) -> tuple[Instruction, ...]:
    raise LookupError(f"the instructions of Python {VERSION} are not known")


@functools.lru_cache(4096)
@otherwise(_refused)
def instructions(code: CodeType) -> tuple[Instruction, ...]:
    """The instructions of a code, in their order."""
    text, high = code.co_code, 0
    variables = variables_of(code)
    found: list[Instruction] = []
    jumps: list[int] = []
    for place in range(0, len(text), 2):
        number = text[place]
        if number == EXTENDED_ARG:
            high = (text[place + 1] | high) << 8
            continue
        arg, high = text[place + 1] | high, 0
        name = opname[number]
        if name in SILENT:
            continue
        if name in PAIRS:
            for k, (half, index) in enumerate(zip(PAIRS[name], (arg >> 4, arg & 15), strict=True)):
                found.append(Instruction(place + k, half, index, variables[index], False, opmap[half]))
            continue
        reading = READINGS[number]
        if reading == JUMP:
            jumps.append(len(found))
        value = _value(code, variables, name, arg, reading)
        known = SAME.get(name, name) if name != "BINARY_OP" or arg != SUBSCRIPT else "BINARY_SUBSCR"
        found.append(Instruction(place, known, arg, value, _is_called(name, arg), number))
    places = [i.place for i in found]
    for k in jumps:
        target = _target(text, found[k])
        found[k] = found[k]._replace(value=places[bisect_left(places, target)])  # after what extends its argument
    return tuple(found)


def _value(code: CodeType, variables: tuple[str, ...], name: str, arg: int, reading: int) -> Any:
    if reading == NAME:
        return code.co_names[arg >> SHIFTS.get(name, 0)]
    if reading == CONSTANT:
        return code.co_consts[arg]
    if reading == VARIABLE:
        return variables[arg]
    if reading == COMMON_CONSTANT:
        return COMMON[arg]
    return arg if reading == ITSELF else None


def _is_called(name: str, arg: int) -> bool:
    if name == "LOAD_GLOBAL" or name == "LOAD_SUPER_ATTR" or (name == "LOAD_ATTR" and ATTRIBUTE_SAYS_SO):
        return arg & 1 == 1
    return name == "LOAD_METHOD"


def _target(text: bytes, step: Instruction) -> int:
    """Where a jump leads: counted from the end of its caches."""
    start = step.place + 2
    while start < len(text) and text[start] == CACHE:
        start += 2
    name = opname[step.number]
    is_back = "BACKWARD" in name or name == "END_ASYNC_FOR"
    return start - 2 * step.arg if is_back else start + 2 * step.arg


@functools.lru_cache(4096)
def handlers_in(code: CodeType) -> tuple[Handler, ...]:
    """The parts of a code that have a handler, innermost first."""
    if not code.co_exceptiontable:
        return ()
    numbers = _numbers_in(code.co_exceptiontable)
    rows = [numbers[k : k + 3] for k in range(0, len(numbers), 4)]  # the fourth is how deep the stack is then
    return tuple([Handler(2 * start, 2 * (start + length), 2 * target) for start, length, target in rows])


def _numbers_in(table: bytes) -> list[int]:
    """The numbers of a table of handlers: six bits in each byte, and one that says whether there are more."""
    found: list[int] = []
    number = 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            found.append(number)
            number = 0
    return found


def variables_of(code: CodeType) -> tuple[str, ...]:
    """The names of the variables of a function by number: arguments and locals, cells, those of functions around it."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return (*code.co_varnames, *cells, *code.co_freevars)


def index_at(code: CodeType, place: int) -> int:
    """The number of the instruction that a frame stands at; its place may be in the caches of one."""
    steps = instructions(code)
    k = bisect_left(steps, place + 1, key=lambda step: step.place) - 1
    while k > 0 and steps[k].place & 1:  # the second half of a pair
        k -= 1
    return k


def stack_effect(step: Instruction, *, jump: bool = False) -> int:
    """By how much an instruction makes the stack deeper."""
    return _stack_effect(step.number, step.arg if step.number >= HAVE_ARGUMENT else None, jump=jump)
