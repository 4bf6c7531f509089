"""Mathematical functions: handling complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.traced import Traced, is_array
from ....core.values import decidable, dtype_of, is_python, shape_of
from ....ops import complex as parts
from ...dispatch.arguments import as_value
from ...dispatch.registry import implements
from ...dispatch.views import arrayed, view_of


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """`np.angle`; of a real number it is piecewise constant."""
    z = as_value(z)
    found = np.arctan2(np.imag(z), np.real(z)) if dtype_of(z).kind == "c" else parts.angle_of_real(z)
    return found * (180 / np.pi) if deg else found


@implements(np.real, keeps_python=True)
def real(val: Any) -> Any:
    """`np.real`; a view."""
    val = as_value(val)
    if dtype_of(val).kind != "c":
        return val
    return view_of(val, parts.real, lambda base, new: np.astype(new, dtype_of(base)) + 1j * parts.imag(base))


@implements(np.imag, keeps_python=True)
def imag(val: Any) -> Any:
    """`np.imag`; a view."""
    val = as_value(val)
    if dtype_of(val).kind != "c":
        zeros = np.zeros(shape_of(val), dtype_of(val))
        zeros.flags.writeable = False
        return zeros if not isinstance(val, Traced) or is_array(val) else zeros.item() if is_python(val) else zeros[()]
    return view_of(val, parts.imag, lambda base, new: np.astype(parts.real(base), dtype_of(base)) + 1j * new)


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """`np.real_if_close`."""
    a = arrayed(a)
    if dtype_of(a).kind != "c":
        return a
    tol = tol * np.finfo(dtype_of(a)).eps if tol > 1 else tol
    return np.real(a) if np.all(np.abs(np.imag(decidable(a))) < tol) else a
