"""Whether a step is one of the user's function, or of a rule at work inside a derivative further out."""

from __future__ import annotations

import sys
from typing import Any

OURS = __name__.partition(".")[0]
REPLAYS = f"{OURS}.ir.interpret"
"""Takes the steps of programs again, which stand for a function of the user's and for the rules inside it."""
RULES = tuple(
    [
        f"{OURS}.{room}."
        for room in ("rules", "core.singular", "transforms.sweeps", "transforms.loops", "transforms.control")
    ]
)
"""Where rules are at work; a function of the user's that these call stands before them."""


def is_users() -> bool:
    """Whether the step under way is one of the user's function."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == REPLAYS and frame.f_code.co_name == "step":
            return _goes_by_the_user(frame.f_locals["self"].program, frame.f_locals["step"])
        if not name.startswith(OURS):
            return True
        if name.startswith(RULES) and name != HERE:
            return False
        frame = frame.f_back
    return True


HERE = f"{OURS}.core.singular.replaced"
"""Asks on behalf of a trace."""


def is_asking(asks: int) -> bool:
    """Whether a step compares values, or asks if they are finite, on behalf of the user."""
    return asks > 0 and is_users()


PASSING = frozenset((
    "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "invert",
))  # fmt: skip
"""Operations that make one truth value of others."""


def _goes_by_the_user(program: Any, step: Any) -> bool:
    """Whether a step of a program asks for the user (else the program has a primitive that does not ask), or obeys."""
    if step.primitive.facts.leaves_out is None:
        return True
    makers = {o: s for s in program.steps for o in s.outs}
    waiting = [a for a in step.args if program.types[a].dtype.kind in "biu"]
    seen: set[int] = set()
    while waiting:
        number = waiting.pop()
        made = makers.get(number)
        if made is None or number in seen:
            continue
        seen.add(number)
        if made.primitive.facts.asks:
            return True
        facts = made.primitive.facts
        if made.primitive.name in PASSING or facts.moves is not None or facts.reduces is not None:
            waiting += made.args
    return False
