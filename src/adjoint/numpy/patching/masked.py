"""Arithmetic of masked arrays with traced values: where nothing is masked, it is that of their data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import Traced
from ..dispatch.foreign import refuse_arithmetic, unmasked
from .replacements import Answer, divert


def _call(original: Callable[..., Any], self: Any, a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.ma.subtract(a, b)`, also on behalf of `a - b`; a quotient is masked where it would be infinite."""
    handle = next((x for x in (a, b) if isinstance(x, Traced)), None)
    if handle is None or not handle.traced_by.level:
        return original(self, a, b, *args, **kwargs)
    a, b = [x if isinstance(x, Traced) else unmasked(x, handle) for x in (a, b)]
    domain = getattr(self, "domain", None)
    if domain is not None and np.any(domain(a, b)):
        refuse_arithmetic(np.ma.MaskedArray, handle)
    return self.f(a, b, *args, **kwargs)


def teach() -> None:
    """Let the operations of `np.ma`, which has been imported, hand traced values to arrays."""
    core = sys.modules["numpy.ma.core"]
    for kind in (core._MaskedBinaryOperation, core._DomainedBinaryOperation):
        divert(vars(kind)["__call__"], Answer(ours=_call, calls_back=True), f"np.ma.{kind.__name__}")
