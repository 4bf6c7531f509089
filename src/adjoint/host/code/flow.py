"""How control goes through a code: where jumps lead, how deep the stack is, which variables are still read."""

from __future__ import annotations

import functools
import inspect
from types import CodeType

from .decode import Instruction, instructions, stack_effect
from .versions import ITERATOR

TESTS = {"TO_BOOL": 1, "UNARY_NOT": 1, "COMPARE_OP": 2}
"""Instructions that ask for a truth value besides jumps, and how many values they take from the stack."""
LAST = frozenset((
    "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS",
    "RERAISE",
))  # fmt: skip
"""Instructions after which the next one is not taken."""
SUSPENDING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
TELLTALE = frozenset(("locals", "vars", "dir", "eval", "exec", "globals", "breakpoint", "_getframe", "currentframe"))
"""Names by which code may reach a variable that none of its instructions reads."""


def is_plain(code: CodeType) -> bool:
    """Whether code is that of a function that runs from its start to its end."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_flags & SUSPENDING


@functools.lru_cache(1024)
def jumps_in(code: CodeType) -> dict[int, int]:
    """Where each jump leads, by its place."""
    return {step.place: step.value for step in instructions(code) if "JUMP" in step.name or step.name in ITERATING}


ITERATING = ("FOR_ITER", "SEND", "END_ASYNC_FOR")
"""Instructions that jump, and have another name."""


def ways_on(code: CodeType, k: int) -> list[tuple[int, bool]]:
    """Where control goes after an instruction, and whether it jumps there."""
    steps, target = instructions(code), jumps_in(code).get(instructions(code)[k].place)
    ways = [] if target is None else [(target, True)]
    if steps[k].name not in LAST and k + 1 < len(steps):
        ways.append((steps[k + 1].place, False))
    return ways


@functools.lru_cache(1024)
def depths_in(code: CodeType) -> dict[int, int]:
    """How many values are on the stack before each instruction, handlers of exceptions left out.

    Nothing, if two ways lead to one place with different stacks: then the effect of some instruction is not known.
    """
    steps = instructions(code)
    number = {step.place: k for k, step in enumerate(steps)}
    found = {steps[0].place: 0}
    waiting = [steps[0].place]
    while waiting:
        place = waiting.pop()
        k = number[place]
        for there, jump in ways_on(code, k):
            deep = found[place] + stack_effect(steps[k], jump=jump)
            if there not in found:
                found[there] = deep
                waiting.append(there)
            elif found[there] != deep:
                return {}
    return found


@functools.lru_cache(1024)
def live_in(code: CodeType) -> dict[int, set[str]]:
    """For each instruction the variables that may be read from there on before they are set; nothing if unknown.

    Where errors may be caught, there are ways that are not seen here.
    """
    if code.co_exceptiontable or TELLTALE.intersection(code.co_names):
        return {}
    steps = instructions(code)
    touched = [_touched(step) for step in steps]
    if None in touched:
        return {}
    found: dict[int, set[str]] = {step.place: set() for step in steps}
    changed = True
    while changed:
        changed = False
        for k in range(len(steps) - 1, -1, -1):
            read, written = touched[k] or ((), ())
            after: set[str] = set().union(*[found[there] for there, _ in ways_on(code, k)])
            before = (after - {*written}) | {*read}
            if before != found[steps[k].place]:
                found[steps[k].place], changed = before, True
    return found


def _touched(step: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The variables that an instruction reads, and those that it sets; None if that is not known."""
    if "_FAST" not in step.name:
        return (), ()
    if step.name in ("LOAD_FAST", "DELETE_FAST"):
        return (step.value,), ()
    return ((), (step.value,)) if step.name == "STORE_FAST" else None


def loops_around(code: CodeType, place: int, left: int) -> tuple[int, ...] | None:
    """The places at which the `for` loops around a place take the next item, the outer ones first.

    None unless their iterators are all that is on the stack then, of which so many values are left.
    """
    depths = depths_in(code)
    loops = {depths[loop]: loop for loop in loops_over(code, place) if loop in depths}
    if left % ITERATOR or sorted(loops) != list(range(ITERATOR, left + 1, ITERATOR)):
        return None
    return tuple([loops[depth] for depth in sorted(loops)])


def loops_over(code: CodeType, place: int) -> list[int]:
    """The places of the `for` loops around a place."""
    targets = jumps_in(code)
    return [s.place for s in instructions(code) if s.name == "FOR_ITER" and s.place < place < targets[s.place]]


def tested(step: Instruction) -> int | None:
    """How many values an instruction takes from the stack that asks for a truth value; None for any other."""
    return 1 if step.name.startswith("POP_JUMP") else TESTS.get(step.name)
