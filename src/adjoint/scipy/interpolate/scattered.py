"""Interpolation of scattered data: radial basis functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import RBFInterpolator

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import runs_through
from ..options import refuse
from ..patched_methods import has_traced, method, plain


def _thin_plate(s: Any) -> Any:
    away = s != 0
    return np.where(away, 0.5 * s * np.log(np.where(away, s, 1.0)), 0.0)


KERNELS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda s: -np.sqrt(s),
    "thin_plate_spline": _thin_plate,
    "cubic": lambda s: s * np.sqrt(s),
    "quintic": lambda s: -(s * s) * np.sqrt(s),
    "multiquadric": lambda s: -np.sqrt(s + 1.0),
    "inverse_multiquadric": lambda s: 1.0 / np.sqrt(s + 1.0),
    "inverse_quadratic": lambda s: 1.0 / (s + 1.0),
    "gaussian": lambda s: np.exp(-s),
}
"""The kernels of SciPy's, as functions of the squared distance, of which most are smooth at 0."""


def squared_distances(x: Any, y: Any) -> Any:
    """Between each of the points x and each of the points y."""
    return np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def monomials(x: Any, powers: Any) -> Any:
    """Products of powers of the coordinates, a row for each point."""
    columns: list[Any] = [np.ones(shape_of(x)[0])] * 0
    for exponents in powers:
        term: Any = np.ones(shape_of(x)[0])
        for axis, exponent in enumerate(exponents):
            if exponent:
                term = term * x[:, axis] ** int(exponent)
        columns.append(term)
    return np.stack(columns, axis=1) if columns else np.zeros((shape_of(x)[0], 0))


def solved(y: Any, d: Any, smoothing: Any, kernel: str, epsilon: Any, powers: Any) -> tuple[Any, Any, Any]:
    """Shift and scale of the polynomial, and the coefficients."""
    low, high = np.min(y, axis=0), np.max(y, axis=0)
    shift, scale = (high + low) / 2, (high - low) / 2
    scale = np.where(scale == 0, 1.0, scale)
    n, r = shape_of(y)[0], len(powers)
    own = np.eye(n, dtype=bool)
    distances = np.where(own, 0.0, squared_distances(y * epsilon, y * epsilon))
    weights = np.where(own, KERNELS[kernel](np.zeros(1)), KERNELS[kernel](np.where(own, 1.0, distances)))
    weights = weights + np.eye(n) * smoothing
    poly = monomials((y - shift) / scale, powers)
    matrix = np.concatenate([
        np.concatenate([weights, poly], 1), np.concatenate([np.transpose(poly), np.zeros((r, r))], 1)
    ])  # fmt: skip
    return shift, scale, np.linalg.solve(matrix, np.concatenate([d, np.zeros((r, shape_of(d)[1]))]))


@method(RBFInterpolator, "__init__")
def construct(
    original: Any, self: Any, y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0,
    kernel: str = "thin_plate_spline", epsilon: Any = None, degree: Any = None,
) -> None:  # fmt: skip
    """`RBFInterpolator(y, d)`: SciPy checks the arguments, then the coefficients are found again."""
    original(self, plain(y), plain(d), neighbors, plain(smoothing), kernel, plain(epsilon), degree)
    if not has_traced(y, d, smoothing, epsilon):
        return
    refuse("interpolate.RBFInterpolator", neighbors is not None, "neighbors=")
    d = as_value(d)
    if dtype_of(d).kind == "c":
        refuse("interpolate.RBFInterpolator", True, "complex data")
    self.y = np.astype(as_value(y), np.float64)
    self.d = np.reshape(np.astype(d, np.float64), (shape_of(d)[0], -1))
    self.epsilon = self.epsilon if epsilon is None else epsilon
    self.smoothing = np.broadcast_to(as_value(smoothing), (shape_of(d)[0],))
    found = solved(self.y, self.d, self.smoothing, self.kernel, self.epsilon, np.asarray(self.powers))
    self._shift, self._scale, self._coeffs = found


@method(RBFInterpolator, "__call__")
def call(original: Any, self: Any, x: Any) -> Any:
    """`RBFInterpolator.__call__`."""
    coefficients = getattr(self, "_coeffs", None)
    if not has_traced(x, self.y, coefficients):
        return original(self, x)
    refuse("interpolate.RBFInterpolator", coefficients is None, "neighbors=")
    refuse("interpolate.RBFInterpolator", np.dtype(self.d_dtype).kind == "c", "complex data")
    if len(shape_of(as_value(x))) != 2 or shape_of(as_value(x))[1] != shape_of(self.y)[1]:
        return original(self, plain(x))  # SciPy's own error
    x = np.astype(as_value(x), np.float64)
    kernels = KERNELS[self.kernel](squared_distances(x * self.epsilon, self.y * self.epsilon))
    poly = monomials((x - self._shift) / self._scale, np.asarray(self.powers))
    found = np.concatenate([kernels, poly], 1) @ coefficients
    return np.reshape(found, (shape_of(x)[0], *self.d_shape))


runs_through("scipy.interpolate", "RBFInterpolator", note="in values, points and places; not with neighbors=")
