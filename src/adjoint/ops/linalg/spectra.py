"""Repeated eigenvalues and singular values: where derivatives are still defined, and where they are not.

Eigenvectors of a repeated eigenvalue may be turned among themselves. A result that does not depend on the turn has a
derivative, any other has none. The rules of `decompositions` leave such pairs out of their sums; the functions here
find the cases where something was left out that is not zero, and make the derivative nan: never a wrong number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.entry.facts import EMBEDDED, Form
from ...core.values import Value, cannot_branch, decidable, dtype_of, may_hold, shape_of
from ...rules.elementwise import Elementwise
from ...rules.stacking import aligned
from .. import series
from ..declare import CONSTANT, POSITIVE, REAL, WholeNumbers, declare

SLACK = 64.0
"""How many rounding errors, for each row, count as nothing."""


def _alike(w: Any) -> Any:
    """Which values are the same up to rounding, as (..., n, n); every value is like itself."""
    n = w.shape[-1]
    near = np.abs(w[..., :, None] - w[..., None, :]) <= _rounding(w, n)[..., None, None]
    near |= np.eye(n, dtype=bool)
    return near if np.count_nonzero(near) == near.size // max(n, 1) else _connected(near)


def _connected(links: Any) -> Any:
    """Which places hang together by links, directly or by way of others; every place with itself."""
    links = links | np.eye(links.shape[-1], dtype=bool)
    for _ in range(links.shape[-1].bit_length()):
        links = (links.astype(np.float32) @ links.astype(np.float32)) > 0
    return links


def _rounding(w: Any, n: int) -> Any:
    return SLACK * n * np.finfo(w.dtype).eps * np.max(np.abs(w), axis=-1, initial=0.0)


def _vanishing(s: Any, *, rows: int) -> Any:
    """Which singular values are zero up to rounding."""
    return s <= _rounding(s, rows)[..., None]


alike = declare(
    "alike",
    _alike,
    CONSTANT,
    form=Form(source=EMBEDDED),
)
connected = declare(
    "connected",
    _connected,
    CONSTANT,
    form=Form(source=EMBEDDED),
)
vanishing = declare(
    "vanishing",
    _vanishing,
    CONSTANT,
    form=Form(source=EMBEDDED),
)
steady = declare(
    "steady",
    lambda s, zero: np.where(np.equal(zero, 1), 0.0, np.ones(np.shape(s))).astype(dtype_of(s)),
    Elementwise([lambda y: np.where(np.equal(y, 1), np.nan, 0.0), None]),
    stacking=aligned,
    domain=(POSITIVE, WholeNumbers((0, 0))),
    note="the slope of a singular value: 1, and by convention 0 where it is zero; that has no slope itself, so nan",
    series=series.kinked_where(lambda x, y: np.equal(y, 1), moves=0),
    form=Form(source="np.where(np.equal({1}, 1), 0.0, np.ones_like({0}))"),
)


def has_pairs(same: Value) -> bool:
    """Whether any value is repeated at all; this is what the common case pays."""
    plain = decidable(same)
    return cannot_branch(plain) or bool(np.count_nonzero(plain) > plain.size // max(plain.shape[-1], 1))


def others(same: Value) -> Value:
    """The pairs of different places."""
    return same & ~np.eye(shape_of(same)[-1], dtype=bool)


def is_something(x: Value, scale: Value, axes: tuple[int, ...] = (-2, -1)) -> Value:
    """Where x is more than rounding, compared with the largest element of `scale`."""
    size = np.max(np.abs(scale), axis=axes, keepdims=True)
    n = shape_of(x)[-1]
    return ~(np.abs(x) <= SLACK * n * np.finfo(dtype_of(x)).eps * size)


def unequal_in_groups(g: Value, same: Value) -> Value:
    """For each matrix, whether a group of repeated values gets unequal cotangents: it is told apart from its twin."""
    differ = is_something(g[..., :, None] - g[..., None, :], g[..., None])
    return np.any(same & differ, axis=(-2, -1))


def poisoned(x: Value, bad: Value) -> Value:
    """x, and nan in every element of the matrices that are bad; a product, so that derivatives are nan too."""
    return x * _nan_or_one(bad, x)[..., None, None] if may_hold(bad) else x


def poisoned_columns(x: Value, bad: Value) -> Value:
    """x, and nan in the columns that are bad."""
    return x * _nan_or_one(bad, x)[..., None, :] if may_hold(bad) else x


def _nan_or_one(bad: Value, x: Value) -> Value:
    return np.where(bad, np.nan, 1.0).astype(np.finfo(dtype_of(x)).dtype)


def split_values(moved: Value, same: Value, *, hermitian: bool = True, descending: bool = False) -> Value:
    """How values move under a perturbation, given in their eigenvectors' basis.

    Repeated ones that the perturbation mixes move as the eigenvalues of its block, in order; others as its diagonal.
    The blocks are pushed apart by multiples of a number larger than any of their eigenvalues, and pulled back after.
    """
    blocks = connected(same & is_something(moved, moved))
    moved = np.where(blocks, -moved if descending else moved, 0.0)
    largest = np.max(np.sum(np.abs(moved), axis=-1), axis=-1)
    apart = 2.5 * largest[..., None] * np.argmax(blocks, axis=-1)
    shifted = moved + apart[..., None] * np.eye(shape_of(moved)[-1], dtype=dtype_of(largest))
    finite: Value = np.all(np.isfinite(shifted), axis=(-2, -1), keepdims=True)
    shifted = np.where(finite, shifted, 0.0)  # LAPACK refuses them, or never ends
    if hermitian:
        found: Value = np.linalg.eigvalsh(shifted)
    else:
        found = np.linalg.eigvals(shifted)
        found = np.take_along_axis(found, np.argsort(np.real(found), axis=-1), -1)
    found = np.take_along_axis(found, np.argsort(np.argsort(apart, axis=-1), axis=-1), -1) - apart
    found = poisoned(found[..., None], ~finite[..., 0, 0])[..., 0]
    return -found if descending else found


def _leaders(s: Any, *, largest: bool) -> Any:
    """The largest or smallest values, each with an equal share; those that differ by rounding only are the same."""
    best = np.max(s, axis=-1, keepdims=True) if largest else np.min(s, axis=-1, keepdims=True)
    hit = np.abs(s - best) <= _rounding(s, s.shape[-1])[..., None]
    return hit.astype(s.dtype) / np.count_nonzero(hit, axis=-1, keepdims=True).astype(s.dtype)


leaders = declare(
    "leaders",
    _leaders,
    CONSTANT,
    form=Form(source=EMBEDDED),
)

endless = declare(
    "endless",
    lambda x, y: np.where(y, np.inf, x).astype(dtype_of(x))[()],
    Elementwise([lambda x, y: np.where(y, np.nan, 1.0), None]),
    stacking=aligned,
    domain=(REAL, WholeNumbers((0, 0))),
    note="infinite where the second argument says so, without a derivative there",
    form=Form(source="np.where({1}, np.inf, {0})"),
)
