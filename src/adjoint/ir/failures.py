"""Steps that raise: as much a decision of the program as a branch is, and guarded like one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from .program import GUARD, Program, Step


class Failure(NamedTuple):
    """What a guard expects where a step raised and the function caught it: the same step raises the same again."""

    primitive: Any
    params: dict[str, Any]
    kind: type[Exception]
    text: str
    """What the error said, without its numbers: they tell which index was too large."""

    def recurs(self, args: Sequence[Any]) -> bool:
        """Whether the step raises for these arguments what it raised when it was recorded."""
        try:
            self.primitive.evaluate(*args, **self.params)
        except Exception as error:
            return type(error) is self.kind and wording(error) == self.text
        return False

    def __repr__(self) -> str:
        return f"{self.kind.__name__} of {self.primitive.name}"


def wording(error: Exception) -> str:
    """What an error says, without numbers."""
    return re.sub(r"[0-9]+", "0", str(error))


INTEGERS = ("power",)
"""Steps that raise for integers alone."""


def may_fail(program: Program, step: Step) -> bool:
    """Whether a step may raise, or give a result of another length, for other values of the same types."""
    if step.primitive is GUARD:
        return True
    start = getattr(step.primitive, "fails_from", None)
    if step.primitive.name in INTEGERS:
        return all([program.types[a].dtype.kind not in "fc" for a in step.args])
    if start is not None:
        return any([a not in program.constants or _is_open(program, a) for a in step.args[start:]])
    inner = [q for p in step.params.values() for q in (p if isinstance(p, tuple) else (p,)) if isinstance(q, Program)]
    return any([may_fail(q, s) for q in inner for s in q.steps])


def _is_open(program: Program, number: int) -> bool:
    """Whether a constant may hold other numbers at another run."""
    return program.types[number].shape != () and number not in program.frozen
