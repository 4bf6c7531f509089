"""What is on the stack of a frame at each instruction: how many values, and the iterators of loops among them."""

from __future__ import annotations

import functools
from types import CodeType

from .decode import Instruction, instructions, stack_effect
from .graph import successors
from .versions import ITERATOR

TESTS = {"TO_BOOL": 1, "UNARY_NOT": 1, "COMPARE_OP": 2}
"""Instructions that ask for a truth value besides jumps, and how many values they take from the stack."""
Loops = tuple[tuple[int, int], ...]
"""The `for` loops whose iterators are on the stack, outer ones first: the depth with the iterator, and the place."""


def tested(step: Instruction) -> int | None:
    """How many values an instruction takes from the stack that asks for a truth value; None for any other."""
    return 1 if step.name.startswith("POP_JUMP") else TESTS.get(step.name)


@functools.lru_cache(1024)
def depths_in(code: CodeType) -> dict[int, int]:
    """How many values are on the stack before each instruction, handlers of exceptions left out.

    Nothing, if two paths lead to one place with different stacks: then the effect of some instruction is not known.
    """
    return {place: depth for place, (depth, _) in _stacks(code).items()}


@functools.lru_cache(1024)
def _stacks(code: CodeType) -> dict[int, tuple[int, Loops]]:
    steps = instructions(code)
    number = {step.place: k for k, step in enumerate(steps)}
    found: dict[int, tuple[int, Loops]] = {steps[0].place: (0, ())}
    waiting = [steps[0].place]
    while waiting:
        place = waiting.pop()
        k = number[place]
        depth, loops = found[place]
        for there, jump in successors(code, k):
            deep = depth + stack_effect(steps[k], jump=jump)
            inside = loops if steps[k].name != "FOR_ITER" else (*loops, (depth, place))
            state = deep, tuple([loop for loop in inside if loop[0] <= deep and loop[1] != there])
            if there not in found:
                found[there] = state
                waiting.append(there)
            elif found[there] != state:
                return {}
    return found


def loops_around(code: CodeType, place: int, left: int) -> tuple[int, ...] | None:
    """The places at which the `for` loops around a place take the next item, the outer ones first.

    None unless their iterators are all that is on the stack then, of which so many values are left.
    """
    loops = _stacks(code)[place][1] if place in _stacks(code) else ()
    if left % ITERATOR or [depth for depth, _ in loops] != [*range(ITERATOR, left + 1, ITERATOR)]:
        return None
    return tuple([loop for _, loop in loops])


def loops_over(code: CodeType, place: int) -> list[int]:
    """The places of the `for` loops whose iterators are on the stack at a place."""
    return [loop for _, loop in _stacks(code)[place][1]]
