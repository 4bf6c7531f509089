"""Errors that a user's function raises inside a solver, where the function around it is run again: raised once for all.

A program that meets such an error is given up, and the function itself is run to raise it where it is due, or to catch
it. What raised once need not raise again: so the error is kept, and raised at the same step in place of the solver.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...host.frames.in_progress import is_raised_by_hand
from ...ir.effects import capture_under_way

CLOSE = 1e-6
"""Numbers of machine code and of NumPy, of one step and the same values."""


class _Raised(NamedTuple):
    name: str
    values: tuple[Any, ...]
    error: Exception


class _Local(threading.local):
    raised: _Raised | None = None
    depth = 0


_local = _Local()


class RaisedOnce:
    """`with RAISED_ONCE:` around one call of a jitted function: what was raised in it is forgotten at its end."""

    def __enter__(self) -> None:
        _local.depth += 1

    def __exit__(self, *error: object) -> None:
        _local.depth -= 1
        if not _local.depth:
            _local.raised = None


RAISED_ONCE = RaisedOnce()


def is_pending() -> bool:
    """Whether an error waits for the function to be run again."""
    return _local.raised is not None


@contextlib.contextmanager
def meeting(name: str, values: Sequence[Any]) -> Iterator[None]:
    """Around the run of a solver on plain values: what it raised before it raises again, what it raises is kept."""
    known = _local.raised
    if known is not None and known.name == name and _are_close(known.values, values):
        raise known.error
    try:
        yield
    except Exception as error:
        # of other errors, handles and copies of a recording may be the cause
        if _local.depth and (capture_under_way() is None or is_raised_by_hand(error)):
            _local.raised = _Raised(name, tuple(values), error)
        raise


def _are_close(before: Sequence[Any], now: Sequence[Any]) -> bool:
    """Whether two runs were given the same values; captured arrays are among them where they are handles."""
    few, many = sorted([before, now], key=len)
    return all([any([_is_close(a, b) for b in many]) for a in few])


def _is_close(a: Any, b: Any) -> bool:
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=CLOSE, atol=CLOSE, equal_nan=True)
