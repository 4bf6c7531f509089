"""Mathematical functions: rounding, and others of one array that are no universal functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops import transcendental
from ...dispatch.arguments import as_value, axis_of, ndim_of
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from ...dispatch.views import arrayed


@implements(np.round, np.around)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`np.round`: piecewise constant."""
    return deliver(transcendental.round_to(as_value(a), decimals=decimals), out)


@implements(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    """`np.fix`: piecewise constant."""
    return deliver(np.trunc(x), out)


@implements(np.sinc)
def sinc(x: Any) -> Any:
    """`np.sinc`."""
    return transcendental.sinc(x, order=0)


@implements(np.i0)
def i0(x: Any) -> Any:
    """`np.i0`."""
    return arrayed(transcendental.i0(x, order=0))


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    """`np.unwrap`: slope 1, as only multiples of the period are added."""
    return transcendental.unwrap(p, discont=discont, axis=axis_of(axis, ndim_of(p)), period=period)
