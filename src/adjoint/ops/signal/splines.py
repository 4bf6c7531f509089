"""The coefficients of the splines that pass through samples: a linear map along one axis, that SciPy evaluates.

The samples are B c, where B has the values of the B-spline at whole numbers. With elements mirrored about the half
sample before the first, or repeated periodically, B is symmetric. Mirrored about the first sample, the first and the
last coefficient count once and the others twice: B is symmetric but for these weights D, so its inverse has the
transpose D B^-1 D^-1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.entry.facts import Facts, Form
from ...core.primitive import Primitive
from ...core.values import shape_of
from ...rules.linear import Linear
from ...rules.stacking import leading

SYMMETRIC = ("reflect", "nearest", "grid-mirror", "grid-wrap")
"""Modes for which the map is its own transpose; SciPy takes all others for `mirror`."""

SHORT = 64
"""Below this length SciPy's map is not symmetric to the last digit, as its start leaves out what comes back from the
other end: there the transpose is that of the matrix."""


def _evaluate(x: Any, *, degree: int, axis: int, mode: str) -> Any:
    import scipy.ndimage

    kind = np.complex128 if x.dtype.kind == "c" else np.float64
    return scipy.ndimage.spline_filter1d(x.astype(kind), degree, axis, kind, mode)


def _transposed(g: Any, out: Any, x: Any, *, degree: int, axis: int, mode: str) -> Any:
    n = shape_of(x)[axis]
    if n < SHORT:
        matrix = _evaluate(np.eye(n), degree=degree, axis=0, mode=mode)
        return np.moveaxis(np.moveaxis(g, axis, -1) @ matrix, -1, axis)
    if mode in SYMMETRIC:
        return coefficients(g, degree=degree, axis=axis, mode=mode)
    weights = np.ones(n)
    weights[[0, -1]] = 0.5
    weights = weights.reshape((-1,) + (1,) * (-axis - 1))
    return weights * coefficients(g / weights, degree=degree, axis=axis, mode=mode)


coefficients = Primitive(
    "spline_coefficients",
    _evaluate,
    derivative=Linear(_transposed),
    stacking=leading,
    facts=Facts(form=Form(source="scipy.ndimage.spline_filter1d({0}, {degree}, {axis}, mode={mode})")),
)
"""Along one axis, which is a negative number; always of double precision, as SciPy has them."""
