"""Where code tests a truth value inside a loop, with nothing else under way: read from its instructions."""

from __future__ import annotations

import inspect
from bisect import bisect_left
from opcode import HAVE_ARGUMENT, hasjrel, opmap, stack_effect
from types import CodeType, FrameType

from .callsite import Step, instructions

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


def tests_in_loop(frame: FrameType) -> bool:
    """Whether a frame tests a truth value in a loop, and all it has besides its variables is what is tested.

    Then the variables alone decide how it goes on: no iterator of a `for`, no context of a `with` and no part of an
    expression is waiting on its stack.
    """
    code = frame.f_code
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, tests_in(code)
    return frame.f_lasti in known[1]


_known: dict[int, tuple[CodeType, frozenset[int]]] = {}
"""By the address of a code, which is kept, so that no other one gets its address."""


def tests_in(code: CodeType) -> frozenset[int]:
    """The places of such tests."""
    if not code.co_flags & inspect.CO_OPTIMIZED or code.co_flags & SUSPENDING:
        return frozenset()
    steps = instructions(code)
    targets = jumps_in(code, steps)
    back = [(target, place) for place, target in targets.items() if target <= place]
    depths = depths_in(steps, targets) if back else {}
    found = []
    for step in steps:
        takes = 1 if step.name.startswith("POP_JUMP") else TESTS.get(step.name)
        if takes is not None and depths.get(step.place) == takes:
            found += [step.place] if any([low <= step.place <= high for low, high in back]) else []
    return frozenset(found)


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
