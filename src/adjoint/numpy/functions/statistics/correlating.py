"""Statistics: covariances and correlations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ....core.values import decidable, dtype_of, shape_of
from ...dispatch.arguments import as_value, given, ndim_of, same_dtype
from ...dispatch.registry import implements
from ..mathematical.miscellaneous import convolve


@implements(np.cov, unasked=True)
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """`np.cov`."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m, y = as_value(m), None if y is None else as_value(y)
    kinds = [dtype_of(v) for v in (m, y) if v is not None]
    dtype = np.dtype(dtype) if given(dtype) else np.result_type(*kinds, np.float64)
    if dtype.kind not in "fc":
        raise TypeError(f"Cannot cast ufunc 'subtract' output to {dtype!r} with casting rule 'same_kind'")
    x = same_dtype(_rows(m, turned=not rowvar and ndim_of(m) != 1), dtype)
    if shape_of(x)[0] == 0:
        return np.zeros((0, 0))
    if y is not None:
        turned = not rowvar and ndim_of(y) == 2 and shape_of(y)[0] != 1
        x = np.concatenate([x, same_dtype(_rows(y, turned=turned), dtype)], 0)
    weights = _weights(fweights, aweights)
    ddof = (0 if bias else 1) if ddof is None else ddof
    mean, total = np.average(x, 1, weights, returned=True)
    freedom: Any = shape_of(x)[1] - ddof if weights is None else _freedom(total[0], ddof, weights, aweights)
    if np.any(decidable(freedom) <= 0):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        freedom = 0.0
    gap = x - mean[:, None]
    scaled = gap if weights is None else gap * weights
    found = (gap @ np.conjugate(np.transpose(scaled))) * np.true_divide(1, freedom)
    return np.squeeze(same_dtype(found, dtype) if weights is None else found)


def _weights(fweights: Any, aweights: Any) -> Any:
    """How often an observation counts times how much; None if all are alike."""
    for weights in (fweights, aweights):
        if weights is not None and np.any(decidable(as_value(weights)) < 0):
            raise ValueError("weights cannot be negative")
    if fweights is not None and np.any(decidable(as_value(fweights)) != np.round(decidable(as_value(fweights)))):
        raise TypeError("fweights must be integer")
    weights = None if fweights is None else np.asarray(fweights, float)
    if aweights is None:
        return weights
    return as_value(aweights) if weights is None else weights * as_value(aweights)


def _freedom(total: Any, ddof: int, weights: Any, aweights: Any) -> Any:
    """The degrees of freedom of weighted observations."""
    if ddof == 0:
        return total
    if aweights is None:
        return total - ddof
    return total - ddof * np.sum(weights * as_value(aweights)) / total


def _rows(m: Any, *, turned: bool) -> Any:
    """The data with a variable in each row."""
    if ndim_of(m) > 2:
        raise ValueError("m has more than 2 dimensions")
    m = np.reshape(m, (1, -1)) if ndim_of(m) < 2 else m
    return np.transpose(m) if turned else m


@implements(np.corrcoef, unasked=True)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """`np.corrcoef`."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if ndim_of(c) == 0:
        return c / c
    n = shape_of(c)[0]
    spread = np.sqrt(np.real(np.reshape(c, (n * n,))[:: n + 1]))
    c = same_dtype(c / spread[:, None] / spread[None, :], dtype_of(c))
    if dtype_of(c).kind == "c":
        return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)
    return np.clip(c, -1, 1)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """`np.correlate`: the second operand is conjugated."""
    a, v = as_value(a), np.conjugate(as_value(v))
    if ndim_of(a) != 1 or ndim_of(v) != 1:
        raise ValueError("object of too small depth for desired array")
    if mode[0] == "s" and shape_of(a)[0] < shape_of(v)[0]:
        # NumPy exchanges the operands and turns the result around, which matters where the centre is between two
        return np.flip(convolve(v, np.flip(a), mode))
    return convolve(a, np.flip(v), mode)
