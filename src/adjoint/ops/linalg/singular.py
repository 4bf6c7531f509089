"""Singular values and vectors.

A = U diag(s) V^H. With P = U^H dA V, the antihermitian U^H dU and V^H dV have the sum (P + P^H)_ij / (s_j - s_i) and
the difference (P - P^H)_ij / (s_i + s_j): repeated values spoil the first only, so U V^H keeps its derivative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.entry.facts import Form
from ...core.series import Expansion, by_push
from ...core.values import Value, dtype_of, may_hold, shape_of, zeros_for
from ...rules.opaque import Opaque
from .. import costs
from ..declare import declare
from .decompositions import Tangents, extended, free_columns, inverse_gaps, is_told_apart, is_turned, turn_to_real
from .solving import adjoint, check_finite, diagonal_of, for_finite, swapped, transposed
from .spectra import alike, has_pairs, is_something, others, poisoned, poisoned_columns, split_values, steady, vanishing


def _linear(da: Value, u: Value, s: Value, vh: Value, same: Value, zero: Value) -> tuple[Value, Value, Value]:
    v = adjoint(vh)
    inner = adjoint(u) @ da @ v
    turned = adjoint(inner)
    both_zero = _both(zero)
    total = (inner + turned) * inverse_gaps(s, same)
    sums = np.where(both_zero, 1.0, s[..., None, :] + s[..., :, None])
    difference = (inner - turned) * np.where(both_zero, 0.0, 1.0 / sums)
    du = u @ (0.5 * (total + difference))
    dv = v @ (0.5 * (total - difference))
    inverse = np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, s))[..., None, :]
    rows, columns = shape_of(da)[-2:]
    if rows > columns:
        du = du + (da @ v - u @ inner) * inverse
    if columns > rows:
        dv = dv + (adjoint(da) @ u - v @ turned) * inverse
    if dtype_of(u).kind == "c":
        angle = turn_to_real(v, dv, 0) if rows >= columns else turn_to_real(u, du, 0)
        du, dv = du + u * (1j * angle[..., None, :]), dv + v * (1j * angle[..., None, :])
    ds = np.real(diagonal_of(inner)) * steady(s, zero)
    return du, ds, adjoint(dv)


def _whole(da: Value, u: Value, s: Value, vh: Value, same: Value, zero: Value) -> tuple[Value, Value, Value]:
    """The same with the columns that complete U and V to a basis."""
    k = shape_of(s)[-1]
    du, ds, dvh = _linear(da, u[..., :k], s, vh[..., :k, :], same, zero)
    return extended(du, u), ds, adjoint(extended(adjoint(dvh), adjoint(vh)))


def _jvp(tangents: Tangents, out: Any, args: Sequence[Value], params: dict) -> list[Value]:
    (u, s, vh), da = out, tangents[0]
    k = shape_of(s)[-1]
    if k == 0:
        return [zeros_for(part) for part in out]
    same, zero = _groups(da, s)
    du, ds, dvh = _whole(da, u, s, vh, same, zero)
    bad: Value = False
    if has_pairs(same) or may_hold(zero):
        thin, v = u[..., :k], adjoint(vh[..., :k, :])
        inner = adjoint(thin) @ da @ v
        nonzero = ~(zero[..., :, None] | zero[..., None, :])
        if has_pairs(same):
            moved = np.where(nonzero, 0.5 * (inner + adjoint(inner)), 0.0)
            ds = split_values(moved, same, descending=True) * steady(s, zero)
        bad = _is_ill_defined(da, thin, v, inner, same, zero)
    du = poisoned_columns(du, _all_columns(bad, zero, u, k))
    dv = poisoned_columns(swapped(dvh), _all_columns(bad, zero, swapped(vh), k))
    return [du, ds, swapped(dv)]


def _is_ill_defined(da: Value, u: Value, v: Value, inner: Value, same: Value, zero: Value) -> Value:
    """For each pair of singular vectors, whether it has no derivative along dA."""
    pairs = others(same) & is_something(inner + adjoint(inner), inner)
    columns = np.any(pairs | (_both(zero) & is_something(inner, inner)), axis=-2)
    for rest, change in ((da @ v - u @ inner, da), (adjoint(da) @ u - v @ adjoint(inner), adjoint(da))):
        columns = columns | (zero & np.any(is_something(rest, change), axis=-2))
    return columns


def _all_columns(bad: Value, zero: Value, basis: Value, k: int) -> Value:
    """The columns without a derivative, with those behind k, which complete the basis."""
    free = free_columns(basis, k)
    if bad is False or len(free) == k:
        return free if bad is False else bad
    rest = np.any(zero, axis=-1)[..., None] | free[k:]
    return np.concatenate([bad, rest], -1)


def _vjp(g: Any, out: Any, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
    (u, s, vh), (gu, gs, gvh) = out, g
    k = shape_of(s)[-1]
    if k == 0:
        return [zeros_for(args[0])]
    same, zero = _groups(args[0], s)
    found = transposed(lambda t: _whole(t, u, s, vh, same, zero), args[0], g)
    v = adjoint(vh)
    sides = [(gu, u), (None if gvh is None else np.conjugate(swapped(gvh)), v)]
    sides = [(c, x) for c, x in sides if c is not None]
    for c, x in sides:
        found = poisoned(found, is_turned(c, x, k))
    if has_pairs(same) or may_hold(zero):
        thin = [(c[..., :k], x[..., :k]) for c, x in sides]
        bad = is_told_apart(gs, [c for c, _ in thin], [x for _, x in thin], same & ~_both(zero))
        for c, _ in sides:
            bad = bad | (np.any(zero, axis=-1) & np.any(c[..., k:] != 0, axis=(-2, -1)))
        found = poisoned(found, bad | _is_lost(gs, thin, zero))
    return [found]


def _is_lost(gs: Value | None, sides: list[tuple[Value, Value]], zero: Value) -> Value:
    """For each matrix, whether something arrives at the vectors of zero singular values that has no derivative."""
    lost = np.zeros((), bool)
    for g, x in sides:
        inner = swapped(x) @ g
        outside = g - np.conjugate(x) @ inner
        lost = lost | np.any(_both(zero) & is_something(inner - adjoint(inner), g), axis=(-2, -1))
        lost = lost | np.any(zero[..., None, :] & is_something(outside, g), axis=(-2, -1))
    if len(sides) == 2:
        arrives = [np.any(is_something(g, g), axis=-2) for g, _ in sides]
        lost = lost | np.any(zero & arrives[0] & arrives[1], axis=-1)
    if sides and gs is not None:
        lost = lost | np.any(zero & (gs != 0), axis=-1)
    return lost


def _groups(a: Value, s: Value) -> tuple[Value, Value]:
    return alike(s), vanishing(s, rows=max(shape_of(a)[-2:]))


def _both(zero: Value) -> Value:
    return zero[..., :, None] & zero[..., None, :]


def _svd(a: Any, *, full_matrices: bool, of: str = "") -> tuple[Any, ...]:
    """As NumPy's, which refuses matrices that are not finite: all of them for the vectors, some for what else is asked.

    `of` is the name of the function of `np.linalg` that needs the values alone.
    """
    check_finite(np.where(_is_taken(a, getattr(np.linalg, of)), 0.0, a) if of else a)
    return for_finite(lambda x: np.linalg.svd(x, full_matrices), a)


def _is_taken(a: Any, function: Callable[[Any], Any]) -> Any:
    """For each element, whether it is nan or infinite and this NumPy's function gives a result nevertheless."""
    takes_nan, takes_infinity = (_takes(function, bad) for bad in (np.nan, np.inf))
    return np.isnan(a) & takes_nan | np.isinf(a) & takes_infinity


@functools.cache
def _takes(function: Callable[[Any], Any], bad: float) -> bool:
    """Releases differ: from 2.5 on, NumPy refuses infinite matrices, and takes any for their condition."""
    try:
        with np.errstate(all="ignore"):
            function(np.full((1, 1), bad))
    except np.linalg.LinAlgError:
        return False
    return True


def _series(step: Expansion) -> Callable[[int], Any]:
    """By the tangent; but a singular value that moves away from 0 has a kink there, and no series."""
    find, (u, s, vh) = by_push(step), step.out
    count = shape_of(s)[-1]
    torn: Value = False

    def found(k: int) -> Any:
        nonlocal torn
        du, ds, dvh = find(k)
        first = step.of(0, 1)
        if k == 1 and count and first is not None:
            same, zero = _groups(step.values[0], s)
            if may_hold(zero):
                thin, v = u[..., :count], adjoint(vh[..., :count, :])
                torn = zero & _is_ill_defined(first, thin, v, adjoint(thin) @ first @ v, same, zero)
        return [du, ds if torn is False or ds is None else np.where(torn, np.nan, ds), dvh]

    return found


svd = declare(
    "svd",
    _svd,
    Opaque(_jvp, _vjp),
    fails_from=0,
    series=_series,
    multiple=True,
    note="a singular value has slope 0 at 0, as abs; nan where a repeated value's vectors are used one by one",
    form=Form(source="np.linalg.svd({0}, {full_matrices})"),
    cost=costs.tall(lambda m, n: 4 * m**2 * n + 8 * m * n**2 + 9 * n**3),
)
