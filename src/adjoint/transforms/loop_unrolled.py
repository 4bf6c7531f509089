"""Loops of Python, for bodies that decide by values: right in every walk, but every step is one of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError, message
from ..core.tree import flatten
from ..core.values import Value

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


def _own(x: Value) -> Value:
    """The function may write to its carry, which is not the caller's."""
    return x.copy() if type(x) is np.ndarray else x
