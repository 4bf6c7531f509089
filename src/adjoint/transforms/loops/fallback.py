"""Loops of Python, for bodies that decide by values: right in every trace, but every step is one of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...capture.environment.captured_inputs import undone
from ...capture.environment.discover import look
from ...core.errors import AdjointError, UnsupportedError, message
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import Value, cannot_branch
from ...ir.capture import GuardRefusedError

Restore = Callable[[list[Any]], Any]


def scan_unrolled(
    f: Any, carry: list[Value], restore: Restore, items: list[Value], restore_items: Restore, length: int, reverse: bool
) -> tuple[Any, Any]:
    """`scan` as a Python loop."""
    if length == 0:
        raise UnsupportedError(
            message(
                "A scan of no steps has results of unknown shape if its function branches on values.",
                fix="Use  np.where  or  ad.cond  in the function.",
            )
        )
    state = restore([_own(c) for c in carry])
    rows: list[list[Any]] = []
    stack: Restore = list
    for i in range(length - 1, -1, -1) if reverse else range(length):
        state, y = f(state, restore_items([x[i] for x in items]))
        leaves, stack = flatten(y)
        rows.append(leaves)
    rows = rows[::-1] if reverse else rows
    return state, stack([np.stack(parts) for parts in zip(*rows, strict=True)])


def while_unrolled(cond: Any, body: Any, carry: list[Value], restore: Restore) -> Any:
    """`while_loop` as a Python loop."""
    state = restore([_own(c) for c in carry])
    while cond(state):
        state = body(state)
    return state


def takes_no_step(cond: Any, carry: list[Value], restore: Restore) -> bool:
    """Whether a `while_loop` ends where it starts, so that what its body would raise does not matter."""
    try:
        return not cond(restore([_own(c) for c in carry]))
    except AdjointError:  # examples of a batch may differ in that
        return False


def _own(x: Value) -> Value:
    """The function may write to its carry, which is not the caller's."""
    return x.copy() if type(x) is np.ndarray else x


@contextlib.contextmanager
def keeping_nothing(*functions: Any, calls: bool) -> Iterator[None]:
    """While functions are captured: left to Python, with everything set back, if they keep a value somewhere.

    Where it matters how often and whether they are called, that is any number or array that they replace there.
    """
    watch = look(*functions)
    try:
        yield
    except Exception:
        undone(watch)  # whoever catches it may call them again
        raise
    changed = undone(watch)
    if any([calls or _is_over(now) for _, now in changed]):
        raise GuardRefusedError
    for variable, now in changed:
        variable.write(now)


def _is_over(x: Any) -> bool:
    """Whether it is a handle of a body that has been captured."""
    while isinstance(x, Traced):
        if not x.traced_by.level:
            return True
        x = x.value
    return False


def is_for_python(error: Exception, *decided: Any) -> bool:
    """Whether to take every step by Python, which may branch on the values it decides by, and catch what is raised.

    Refusals of the library stay; any other error may be one that the function itself wants to catch.
    """
    if isinstance(error, GuardRefusedError):
        return not isinstance(error, AdjointError)
    return not isinstance(error, AdjointError) and not any([cannot_branch(x) or is_batch(x) for x in decided])


def is_batch(x: Any) -> bool:
    """Whether a value stands for many."""
    while isinstance(x, Traced):
        if x.traced_by.lead:
            return True
        x = x.value
    return False
