"""Calls that do not show that something was recorded meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
TRIES = 8


def settled(function: Any, call: Callable[[], T]) -> T:
    """`call()`, again if the jitted function was recorded meanwhile: what NumPy computed then may differ in a last bit.

    So the numbers of a run do not depend on what has been compiled before it.
    """
    for _ in range(TRIES):
        before = function.recordings
        found = call()
        if function.recordings == before:
            break
    return found
