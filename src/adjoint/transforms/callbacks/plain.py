"""Code that runs as if nothing were traced, and what comes out of it all the same."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.trace import new_level
from ...core.traced import LOCAL, Traced, settled
from ...core.tree import flatten
from ...numpy.patching.tracing import enter, leave

PLAIN = frozenset((float, np.float64, np.ndarray))


@contextlib.contextmanager
def plainly() -> Iterator[None]:
    """Let code run as if nothing were traced in this thread."""
    outside = LOCAL.depth
    if not outside:
        yield
        return
    leave(0)
    try:
        yield
    finally:
        enter(0)
        LOCAL.depth = outside


def plain_function(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are looked at: a traced value that comes out was behind something unknown.

    Traces that begin later are the solver's own, which may differentiate the function.
    """
    start = new_level()

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        found = f(*args, **kwargs)
        if type(found) in PLAIN:
            return found
        leaves, rebuild = flatten(found)
        leaves = [settled(x) for x in leaves]
        if any([_is_of_outside(x, start) for x in leaves]):
            raise UnsupportedError(
                message(
                    f"The function given to {name} uses a traced value from where it cannot be followed.",
                    fix="Pass the value in  args=,  or let the function close over it.",
                )
            )
        return rebuild(leaves)

    return called


def _is_of_outside(x: Any, start: int) -> bool:
    while isinstance(x, Traced):
        if 0 < x.traced_by.level < start:
            return True
        x = x.value
    return False
