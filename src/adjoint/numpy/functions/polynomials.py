"""Polynomials with their coefficients from the highest power down, as NumPy's old functions take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import BatchError, message
from ...core.values import decidable, dtype_of, shape_of
from ..dispatch.arguments import as_value, ndim_of, same_dtype
from ..dispatch.registry import implements
from ..dispatch.views import arrayed
from .places import as_array


def _line(p: Any) -> Any:
    p = as_value(p)
    return p if ndim_of(p) else np.reshape(p, (1,))


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`, by Horner's rule."""
    p, x = as_value(p), as_array(x)
    if ndim_of(p) == 0:
        raise TypeError("iteration over a 0-d array")
    total: Any = np.zeros(shape_of(x), dtype_of(x))[()]
    for k in range(shape_of(p)[0]):
        total = total * x + p[k]
    return total


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """`np.poly`: the coefficients of the polynomial with these roots, or of a matrix's characteristic polynomial."""
    roots = _line(seq_of_zeros)
    if ndim_of(roots) == 2 and shape_of(roots)[0] == shape_of(roots)[1] > 0:
        roots = np.linalg.eigvals(roots)
    elif ndim_of(roots) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    roots = roots if dtype_of(roots).char in "fdgFDG" else np.astype(roots, float)  # as `np.mintypecode` has it
    found: Any = np.ones(1, dtype_of(roots))
    for k in range(shape_of(roots)[0]):
        found = np.convolve(found, np.stack([np.ones((), dtype_of(roots)), -roots[k]]))
    plain = decidable(roots)
    if dtype_of(found).kind == "c" and np.all(np.sort(plain) == np.sort(plain.conjugate())):
        return np.real(found)
    return found


def _padded(p: Any, length: int) -> Any:
    missing = length - shape_of(p)[0]
    return np.concatenate([np.zeros(missing, dtype_of(p)), p]) if missing else p


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """`np.polyadd`."""
    a1, a2 = _line(a1), _line(a2)
    length = max(shape_of(a1)[0], shape_of(a2)[0])
    return _padded(a1, length) + _padded(a2, length)


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """`np.polysub`."""
    a1, a2 = _line(a1), _line(a2)
    length = max(shape_of(a1)[0], shape_of(a2)[0])
    return _padded(a1, length) - _padded(a2, length)


@implements(np.polymul, whole=True)
def polymul(a1: Any, a2: Any) -> Any:
    """`np.polymul`."""
    return np.convolve(_without_zeros(_line(a1)), _without_zeros(_line(a2)))


def _without_zeros(p: Any) -> Any:
    """Without the leading coefficients that are zero; the zero polynomial has one of them."""
    nonzero = _examples(p) != 0 if 0 not in shape_of(p) else np.zeros((1, 1), bool)
    return p[_common(np.argmax(nonzero, -1)) :] if np.any(nonzero) else np.zeros(1, dtype_of(p))


def _flat(p: Any) -> Any:
    """Coefficients in one row; what NumPy does with others follows from its own steps."""
    if ndim_of(p) == 0:
        raise TypeError("len() of unsized object")
    if ndim_of(p) > 1:
        raise ValueError("a polynomial has its coefficients in one row")
    return p


@implements(np.polydiv, whole=True)
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """`np.polydiv`: quotient and remainder."""
    u, v = _flat(_line(u)) + 0.0, _flat(_line(v)) + 0.0
    wide = np.result_type(dtype_of(u), dtype_of(v))
    u = same_dtype(u, wide)
    steps = max(shape_of(u)[0] - shape_of(v)[0] + 1, 1)
    width = shape_of(v)[0]
    if shape_of(u)[0] < width:
        return np.zeros(1, wide), _trimmed(u)
    rest, quotient, scale = u, [], 1.0 / v[0]
    for k in range(steps):
        factor = scale * rest[k]
        quotient.append(factor)
        taken = np.concatenate([rest[:k], rest[k : k + width] - factor * v, rest[k + width :]])
        rest = taken
    return np.stack(quotient), _trimmed(rest)


def _trimmed(rest: Any) -> Any:
    """Without the leading coefficients that are zero up to rounding."""
    significant = ~np.isclose(_examples(rest), 0, rtol=1e-14)
    significant[:, -1] = True
    return rest[_common(np.argmax(significant, -1)) :]


def _examples(p: Any) -> Any:
    """The plain coefficients, one row for each example inside vmap."""
    return np.reshape(decidable(p), (-1, shape_of(p)[-1]))


def _common(places: Any) -> int:
    """The one place that all examples have."""
    if np.any(places != places[0]):
        raise BatchError(
            message(
                "The number of coefficients that are zero differs between the examples inside vmap.",
                fix="Give polynomials of the same degree, or loop over the examples.",
            )
        )
    return int(places[0])


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """`np.polyder`."""
    m, p = int(m), as_array(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = _flat(p) if m or not ndim_of(p) else p
    for _ in range(m):
        p = p[:-1] * np.arange(shape_of(p)[0] - 1, 0, -1)
    return p


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """`np.polyint`, with integration constants `k`."""
    m, p = int(m), as_array(p)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else _line(k)
    if shape_of(constants)[0] == 1 and m > 1:
        constants = constants[0] * np.ones(m)
    if shape_of(constants)[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    p = _flat(p) if m else arrayed(p)
    for i in range(m):
        p = np.concatenate([p / np.arange(shape_of(p)[0], 0, -1), constants[i : i + 1]])
    return p


@implements(np.polyfit, whole=True, unasked=True)
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """`np.polyfit`, by least squares with scaled columns."""
    x, y, order = as_value(x) + 0.0, as_value(y) + 0.0, int(deg) + 1
    if order < 1:
        raise ValueError("expected deg >= 0")
    if 0 in shape_of(x):
        raise TypeError("expected non-empty vector for x")
    rcond = shape_of(x)[0] * np.finfo(dtype_of(x)).eps if rcond is None else rcond
    wide = np.promote_types(dtype_of(x), int)
    x = x if dtype_of(x) == wide else np.astype(x, wide)
    if ndim_of(x) != 1 or shape_of(x)[0] != shape_of(y)[0]:
        raise TypeError("expected x and y to have same length")
    columns = [x**k for k in range(order - 1, 0, -1)]
    left = np.stack([*columns, x * 0.0 + 1.0], -1)
    right = y
    if w is not None:
        w = as_value(w) + 0.0
        if ndim_of(w) != 1 or shape_of(w)[0] != shape_of(y)[0]:
            raise TypeError("expected w and y to have the same length")
        left, right = left * w[:, None], (right * w[:, None] if ndim_of(y) == 2 else right * w)
    scale = np.sqrt(np.sum(left * left, 0))
    found, residuals, rank, singular = np.linalg.lstsq(left / scale, right, rcond)
    found = np.transpose(np.transpose(found) / scale)
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    scaled = left / scale
    base = np.linalg.inv(np.transpose(scaled) @ scaled) / (scale[:, None] * scale)
    if isinstance(cov, str) and cov == "unscaled":
        return found, base
    if shape_of(x)[0] <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    gap = right - left @ found
    factor = np.sum(gap * gap, 0) / (shape_of(x)[0] - order)
    return found, (base * factor if ndim_of(y) == 1 else base[:, :, None] * factor)


@implements(np.roots)
def roots(p: Any) -> Any:
    """`np.roots`: eigenvalues of the companion matrix."""
    p = _line(p)
    if ndim_of(p) != 1:
        raise ValueError("Input must be a rank-1 array.")
    p = p if dtype_of(p).kind in "fc" else np.astype(p, float)
    nonzero = _examples(p) != 0
    if not np.any(nonzero):
        return np.array([])
    leading, trailing = _common(np.argmax(nonzero, -1)), _common(np.argmax(nonzero[:, ::-1], -1))
    p = p[leading : shape_of(p)[0] - trailing]
    n = shape_of(p)[0] - 1
    if n < 1:
        return np.zeros(trailing)
    below = np.eye(n, dtype=dtype_of(p))[: n - 1]
    companion = np.concatenate([np.reshape(-p[1:] / p[0], (1, n)), below], 0)
    found = np.linalg.eigvals(companion)
    if dtype_of(found).kind == "c" and dtype_of(p).kind == "f" and not np.any(decidable(np.imag(found))):
        found = np.real(found)  # which NumPy's eigvals did by itself before 2.5
    return np.concatenate([found, np.zeros(trailing, dtype_of(found))]) if trailing else found
