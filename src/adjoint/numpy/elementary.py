"""Functions of one array that are no universal functions: sinc, i0, angle, rounding, unwrapping."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import dtype_of, raw
from ..ops import transcendental
from ..ops.declare import CONSTANT, declare
from .registry import as_value, axis_of, deliver, implements, ndim_of

_round = declare("round_to", lambda x, *, decimals: np.round(x, decimals), CONSTANT, note="piecewise constant")


@implements(np.round, np.around)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`np.round`: piecewise constant."""
    return deliver(_round(as_value(a), decimals=decimals), out)


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
    return transcendental.i0(x, order=0)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    """`np.unwrap`: slope 1, as only multiples of the period are added."""
    return transcendental.unwrap(p, discont=discont, axis=axis_of(axis, ndim_of(p)), period=period)


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """`np.angle`; of a real number it is piecewise constant."""
    z = as_value(z)
    found = np.arctan2(np.imag(z), np.real(z)) if dtype_of(z).kind == "c" else angle_of_real(z)
    return found * (180 / np.pi) if deg else found


angle_of_real = declare("angle_of_real", lambda x: np.angle(x), CONSTANT, note="piecewise constant: 0 or pi")


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """`np.real_if_close`."""
    if dtype_of(a).kind != "c":
        return a
    tol = tol * np.finfo(dtype_of(a)).eps if tol > 1 else tol
    return np.real(a) if np.all(np.abs(np.imag(raw(a))) < tol) else a
