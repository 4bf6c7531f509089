"""Where code tests a truth value inside a loop, and what it has at that time: read from its instructions."""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
from bisect import bisect_left
from collections.abc import Mapping
from opcode import HAVE_ARGUMENT, hasjrel, opmap, stack_effect
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from .callsite import Step, instructions
from .whose import is_users_code

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

TESTS = {"TO_BOOL": 1, "UNARY_NOT": 1, "COMPARE_OP": 2}
"""Instructions that ask for a truth value besides jumps, and how many values they take from the stack."""
LAST = frozenset((
    "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS",
    "RERAISE",
))  # fmt: skip
"""Instructions after which the next one is not taken."""
SUSPENDING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
JUMPS = frozenset(hasjrel)
CACHE = bytes([opmap["CACHE"]])
TELLTALE = frozenset(("locals", "vars", "dir", "eval", "exec", "globals", "breakpoint", "_getframe", "currentframe"))
"""Names by which code may reach a variable that none of its instructions reads."""


class Test(NamedTuple):
    """A place where a truth value is tested in a loop."""

    loops: tuple[int, ...]
    """The places at which the loops around it take the next item, the outer ones first: their iterators are all that is
    on the stack, but for what is tested."""
    live: frozenset[str] | None
    """The variables that may be read after it, before they are set; None if nothing is known of that."""


def test_of(frame: FrameType) -> Test | None:
    """The test that a frame is at, in a loop.

    Its variables, and the iterators of the loops around it, decide alone how it goes on: no context of a `with` and no
    part of an expression is waiting on its stack.
    """
    code = frame.f_code
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, tests_in(code)
    return known[1].get(frame.f_lasti)


_known: dict[int, tuple[CodeType, dict[int, Test]]] = {}
"""By the address of a code, which is kept, so that no other one gets its address."""


def tests_in(code: CodeType) -> dict[int, Test]:
    """Such tests by their places."""
    if not code.co_flags & inspect.CO_OPTIMIZED or code.co_flags & SUSPENDING:
        return {}
    steps = instructions(code)
    targets = jumps_in(code, steps)
    back = [(target, place) for place, target in targets.items() if target <= place]
    depths = depths_in(steps, targets) if back else {}
    live: dict[int, set[str]] | None = None
    found = {}
    for step in steps:
        takes = 1 if step.name.startswith("POP_JUMP") else TESTS.get(step.name)
        if takes is None or step.place not in depths or not any([low <= step.place <= high for low, high in back]):
            continue
        loops = {
            depths[s.place]: s.place for s in steps if s.name == "FOR_ITER" and is_in(s.place, step.place, targets)
        }
        if sorted(loops) != list(range(1, depths[step.place] - takes + 1)):
            continue
        live = live_in(code, steps, targets) if live is None else live
        names = frozenset((*live[step.place], *code.co_cellvars, *code.co_freevars)) if live else None
        found[step.place] = Test(tuple([loops[depth] for depth in sorted(loops)]), names)
    return found


def is_in(loop: int, place: int, targets: dict[int, int]) -> bool:
    """Whether a place lies between the start of a `for` and where it goes on when nothing is left."""
    return loop < place < targets[loop]


def may_come_back(frame: FrameType, loop: FrameType, test: int, outcome: bool) -> bool:
    """Whether a loop would come back to its test, if that which a frame is at had the other outcome.

    A function that the loop calls returns to it, unless it raises.
    """
    if frame is not loop:
        return is_users_code(frame)
    return _comes_back(frame.f_code, frame.f_lasti, not outcome, test)


@functools.lru_cache(1024)
def _comes_back(code: CodeType, place: int, outcome: bool, test: int) -> bool:
    """Whether there is a way from a place with this outcome to a test, inside the innermost loop around both."""
    steps = instructions(code)
    targets = jumps_in(code, steps)
    at = next(k for k, step in enumerate(steps) if step.place == place)
    while steps[at].name in ("TO_BOOL", "COMPARE_OP", "NOT_TAKEN"):
        at += 1
    name = steps[at].name
    around = [(t, p) for p, t in targets.items() if t <= min(place, test) and max(place, test) <= p]
    if not name.startswith("POP_JUMP") or not name.endswith(("_TRUE", "_FALSE")) or not around:
        return False
    low, high = max(around, key=lambda pair: pair[0] - pair[1])
    jumps = name.endswith("_TRUE") == outcome
    number = {step.place: k for k, step in enumerate(steps)}
    waiting, seen = [targets[steps[at].place] if jumps else steps[at + 1].place], set()
    while waiting:
        there = waiting.pop()
        if there == test:
            return True
        if there in seen or not low <= there <= high:
            continue
        seen.add(there)
        k = number[there]
        waiting += [targets[there]] if there in targets else []
        waiting += [steps[k + 1].place] if steps[k].name not in LAST and k + 1 < len(steps) else []
    return False


def loop_over_call(frame: FrameType) -> int | None:
    """The place of the `for` that takes its items from what a frame is calling; None if it does something else."""
    steps = instructions(frame.f_code)
    at = max([k for k, step in enumerate(steps) if step.place <= frame.f_lasti])  # it may be in the caches
    names = [step.name for step in steps[at : at + 3]]
    if names != ["CALL", "GET_ITER", "FOR_ITER"] or steps[at + 1].place in jumps_in(frame.f_code, steps).values():
        return None  # or of something else at other times, as in  for k in xs if xs else range(3)
    return steps[at + 2].place


def jumps_in(code: CodeType, steps: list[Step]) -> dict[int, int]:
    """Where each jump leads: counted from the end of its caches."""
    places = [step.place for step in steps]
    found = {}
    for step in steps:
        if opmap[step.name] in JUMPS:
            start = step.place + 2
            while code.co_code[start : start + 1] == CACHE:
                start += 2
            target = start - 2 * step.arg if "BACKWARD" in step.name else start + 2 * step.arg
            found[step.place] = places[bisect_left(places, target)]  # after what extends its argument
    return found


def depths_in(steps: list[Step], targets: dict[int, int]) -> dict[int, int]:
    """How many values are on the stack before each instruction, handlers of exceptions left out.

    Nothing, if two ways lead to one place with different stacks: then the effect of some instruction is not known.
    """
    number = {step.place: k for k, step in enumerate(steps)}
    found = {steps[0].place: 0}
    waiting = [steps[0].place]
    while waiting:
        place = waiting.pop()
        k = number[place]
        step, depth = steps[k], found[place]
        ways = [(targets[place], depth + _effect(step, jump=True))] if place in targets else []
        if step.name not in LAST and k + 1 < len(steps):
            ways.append((steps[k + 1].place, depth + _effect(step, jump=False)))
        for there, deep in ways:
            if there not in found:
                found[there] = deep
                waiting.append(there)
            elif found[there] != deep:
                return {}
    return found


def _effect(step: Step, *, jump: bool) -> int:
    """By how much an instruction makes the stack deeper."""
    number = opmap[step.name]
    return stack_effect(number, step.arg if number >= HAVE_ARGUMENT else None, jump=jump)


def live_in(code: CodeType, steps: list[Step], targets: dict[int, int]) -> dict[int, set[str]]:
    """For each instruction the variables that may be read from there on before they are set; nothing if unknown.

    Where errors may be caught, there are ways that are not seen here.
    """
    if code.co_exceptiontable or TELLTALE.intersection(code.co_names):
        return {}
    touched = [_touched(code, step) for step in steps]
    if None in touched:
        return {}
    found: dict[int, set[str]] = {step.place: set() for step in steps}
    changed = True
    while changed:
        changed = False
        for k in range(len(steps) - 1, -1, -1):
            step, (read, written) = steps[k], touched[k] or ((), ())
            after = set(found[targets[step.place]]) if step.place in targets else set()
            if step.name not in LAST and k + 1 < len(steps):
                after |= found[steps[k + 1].place]
            before = (after - {*written}) | {*read}
            if before != found[step.place]:
                found[step.place], changed = before, True
    return found


def _touched(code: CodeType, step: Step) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The variables that an instruction reads, and those that it sets; None if that is not known."""
    if "_FAST" not in step.name or step.name.startswith("LOAD_FAST_BORROW"):
        return ((), ()) if "_FAST" not in step.name else None
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    names = (*code.co_varnames, *cells, *code.co_freevars)  # from Python 3.13 on, cells are loaded like variables
    if step.name in ("LOAD_FAST", "LOAD_FAST_CHECK", "DELETE_FAST"):
        return (names[step.arg],), ()
    if step.name == "STORE_FAST":
        return (), (names[step.arg],)
    if step.name == "LOAD_FAST_LOAD_FAST":
        return (names[step.arg >> 4], names[step.arg & 15]), ()
    if step.name == "STORE_FAST_STORE_FAST":
        return (), (names[step.arg >> 4], names[step.arg & 15])
    if step.name == "STORE_FAST_LOAD_FAST":
        first, second = names[step.arg >> 4], names[step.arg & 15]
        return (() if first == second else (second,)), (first,)
    return None


def set_variables(frame: FrameType, values: Mapping[str, Any]) -> None:
    """Let variables of a frame that is under way hold these."""
    variables: Any = frame.f_locals
    variables.update(values)
    if sys.version_info < (3, 13):  # before, these were a copy
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
