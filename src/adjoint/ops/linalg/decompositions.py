"""Eigenvalues and QR. Every rule gives the derivative of what LAPACK returns, its choice of phases included.

LAPACK makes complex eigenvectors unique by making certain elements real: of `eigh` the first row (the last with
UPLO="U"), of `svd` the first elements of the shorter side's vectors, of `eig` the largest element of each vector, of
`qr` the diagonal of R. Signs and repeated values remain: see `spectra`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.entry.facts import Form
from ...core.values import Value, dtype_of, shape_of
from ...rules.opaque import Opaque
from .. import costs
from ..declare import CONSTANT, declare
from .solving import adjoint, diagonal_of, for_finite, hermitian_part, solve, swapped, transposed
from .spectra import (
    alike,
    has_pairs,
    is_something,
    others,
    poisoned,
    poisoned_columns,
    split_values,
    unequal_in_groups,
)

Tangents = Sequence[Value | None]


def inverse_gaps(w: Value, same: Value) -> Value:
    """1 / (w_j - w_i), and 0 for pairs that are the same."""
    return np.where(same, 0.0, 1.0 / np.where(same, 1.0, w[..., None, :] - w[..., :, None]))


def turn_to_real(x: Value, dx: Value, row: int) -> Value:
    """The angles that keep a row of x real along dx; 0 where the element is 0."""
    element = np.real(x[..., row, :])
    gone = np.abs(element) <= 64.0 * np.finfo(dtype_of(element)).eps
    return np.where(gone, 0.0, -np.imag(dx[..., row, :]) / np.where(gone, 1.0, element))


# eigh: dw = diag(M), dV = V (M / gaps), M = V^H dA V.


def _eigh_linear(da: Value, w: Value, v: Value, same: Value, uplo: str) -> tuple[Value, Value]:
    moved = adjoint(v) @ hermitian_part(da) @ v
    dv = v @ (inverse_gaps(w, same) * moved)
    if dtype_of(v).kind == "c":
        dv = dv + v * (1j * turn_to_real(v, dv, 0 if uplo == "L" else -1)[..., None, :])
    return np.real(diagonal_of(moved)), dv


def _eigh_jvp(tangents: Tangents, out: Any, args: Sequence[Value], params: dict) -> list[Value]:
    (w, v), da = out, tangents[0]
    same = alike(w)
    dw, dv = _eigh_linear(da, w, v, same, params["UPLO"])
    if has_pairs(same):
        moved = adjoint(v) @ hermitian_part(da) @ v
        dw = split_values(moved, same)
        dv = poisoned_columns(dv, np.any(others(same) & is_something(moved, moved), axis=-2))
    return [dw, dv]


def _eigh_vjp(g: Any, out: Any, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
    (w, v), (gw, gv) = out, g
    same = alike(w)
    found = transposed(lambda t: _eigh_linear(t, w, v, same, params["UPLO"]), args[0], g)
    return [poisoned(found, is_told_apart(gw, [gv], [v], same)) if has_pairs(same) else found]


def is_told_apart(
    gw: Value | None, vector_cotangents: Tangents, vectors: Sequence[Value], same: Value, *, orthogonal: bool = True
) -> Value:
    """For each matrix, whether the derivative depends on how LAPACK turned the vectors of a repeated value.

    Values alone: all of a group need the same cotangent. Orthogonal vectors alone: turning a group must change nothing.
    Both: their interplay (as in V f(w) V^T) is lost where the values are equal, so nothing may arrive at the group.
    """
    pairs = others(same)
    used = [swapped(v) @ g for g, v in zip(vector_cotangents, vectors, strict=True) if g is not None]
    if not used:
        return unequal_in_groups(gw, same)
    if gw is None and orthogonal:
        turned = sum([x - adjoint(x) for x in used])
        scale = sum([np.abs(x) for x in used])
        return np.any(pairs & is_something(turned, scale), axis=(-2, -1))
    bad = np.any(pairs & (False if gw is None else (gw != 0)[..., None]), axis=(-2, -1))
    for x in used:
        bad = bad | np.any(pairs & is_something(x, x), axis=(-2, -1))
    return bad


def _eigh(a: Any, *, UPLO: str, vectors: bool = True) -> tuple[Any, ...]:
    """As NumPy's, but nan for a matrix that is not finite, of which LAPACK makes values and vectors up.

    Whether it raises for one depends on the routine, which is another one where nobody asks for the vectors.
    """
    if np.all(np.isfinite(a)):
        return tuple(np.linalg.eigh(a, UPLO))
    _ = np.linalg.eigh(a, UPLO) if vectors else np.linalg.eigvalsh(a, UPLO)
    return for_finite(lambda x: np.linalg.eigh(x, UPLO), a)


eigh = declare(
    "eigh",
    _eigh,
    Opaque(_eigh_jvp, _eigh_vjp),
    fails_from=0,
    multiple=True,
    note="for Hermitian perturbations; nan where a repeated eigenvalue's vectors are used one by one",
    form=Form(source="np.linalg.eigh({0}, {UPLO})"),
    cost=costs.cubic(9),
)


# eig: dw = diag(M), dV = V (M / gaps) and what keeps the length 1 and the largest element real, M = V^-1 dA V.


def _eig_linear(da: Value, w: Value, v: Value, same: Value) -> tuple[Value, Value]:
    moved = solve(v, da @ v)
    dv = v @ (inverse_gaps(w, same) * moved)
    dv = dv - v * np.real(np.sum(np.conjugate(v) * dv, axis=-2, keepdims=True))
    if dtype_of(v).kind == "c":
        largest = np.argmax(np.abs(v), axis=-2)[..., None, :]
        element, change = (np.take_along_axis(x, largest, -2) for x in (v, dv))
        dv = dv - v * (1j * np.imag(change) / np.real(element))
    return diagonal_of(moved), dv


def _eig_jvp(tangents: Tangents, out: Any, args: Sequence[Value], params: dict) -> list[Value]:
    (w, v), da = out, tangents[0]
    v = _independent(v)
    same = alike(w)
    dw, dv = _eig_linear(da, w, v, same)
    if has_pairs(same):
        moved = solve(v, da @ v)
        dw = split_values(moved, same, hermitian=False)
        dv = poisoned_columns(dv, np.any(others(same) & is_something(moved, moved), axis=-2))
    return [dw, dv]


def _eig_vjp(g: Any, out: Any, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
    (w, v), (gw, gv) = out, g
    v = _independent(v)
    same = alike(w)
    found = transposed(lambda t: _eig_linear(t, w, v, same), args[0], g)
    bad = is_told_apart(gw, [gv], [v], same, orthogonal=False) if has_pairs(same) else False
    return [found if bad is False else poisoned(found, bad)]


def _independent(v: Value) -> Value:
    """The eigenvectors; nan if they do not span the space, up to rounding: the matrix is defective."""
    if 0 in shape_of(v):
        return v
    limit = 1e-6 / np.finfo(dtype_of(v)).eps
    return poisoned(v, ~(condition(v) < limit))


condition = declare(
    "condition",
    np.linalg.cond,
    CONSTANT,
    fails_from=0,
    form=Form(source="np.linalg.cond({0})"),
)
eig = declare(
    "eig",
    lambda a: tuple(np.linalg.eig(a)),
    Opaque(_eig_jvp, _eig_vjp),
    fails_from=0,
    multiple=True,
    note="nan for defective matrices, and where a repeated eigenvalue's vectors are used one by one",
    form=Form(source="np.linalg.eig({0})"),
    cost=costs.cubic(25),
)


# qr: with C = Q^H dA R^-1, Q^H dQ is antihermitian and dR R^-1 upper triangular with a real diagonal; they add to C.


def _qr_linear(da: Value, q: Value, r: Value) -> list[Value]:
    k = min(shape_of(da)[-2:])
    thin, square, real = q[..., :k], _regular(r[..., :k, :k]), np.finfo(dtype_of(r)).dtype
    scaled = swapped(solve(swapped(square), swapped(da[..., :k])))
    inner = adjoint(thin) @ scaled
    strict = inner * np.tri(k, k, -1, dtype=real)
    turn = strict - adjoint(strict)
    if dtype_of(q).kind == "c":
        turn = turn + 1j * np.imag(inner) * np.eye(k, dtype=real)
    dq = thin @ (turn - inner) + scaled
    dr = (np.tri(k, dtype=real).T * (inner - turn)) @ square
    if shape_of(r)[-1] > k:
        dr = np.concatenate([dr, adjoint(thin) @ da[..., k:] - turn @ r[..., :k, k:]], -1)
    if shape_of(r)[-2] > k:
        rest = np.zeros((*shape_of(r)[:-2], shape_of(r)[-2] - k, shape_of(r)[-1]), dtype_of(r))
        dr = np.concatenate([dr, rest], -2)
    return [extended(dq, q), dr]


def _qr_jvp(tangents: Tangents, out: Any, args: Sequence[Value], params: dict) -> list[Value]:
    (q, r), da = out, tangents[0]
    dq, dr = _qr_linear(da, q, r)
    return [poisoned_columns(dq, free_columns(q, min(shape_of(da)[-2:]))), dr]


def _qr_vjp(g: Any, out: Any, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
    (q, r), (gq, _) = out, g
    found = transposed(lambda t: _qr_linear(t, q, r), args[0], g)
    return [found if gq is None else poisoned(found, is_turned(gq, q, min(shape_of(args[0])[-2:])))]


def _regular(r: Value) -> Value:
    """R, or nan where a diagonal element is zero up to rounding: the columns are dependent, Q is not determined."""
    size = np.abs(diagonal_of(r))
    n = shape_of(r)[-1]
    if n == 0:
        return r
    limit = 4.0 * n * np.finfo(dtype_of(r)).eps * np.max(size, axis=-1, keepdims=True)
    gone = np.any(size <= limit, axis=-1)
    return poisoned(r, gone)


qr = declare(
    "qr",
    lambda a, *, mode: tuple(np.linalg.qr(a, mode)),
    Opaque(_qr_jvp, _qr_vjp),
    multiple=True,
    note="nan where the columns are linearly dependent",
    form=Form(source="np.linalg.qr({0}, {mode})"),
    cost=costs.tall(lambda m, n: 4 * m * n**2 - 4 / 3 * n**3),
)


# Orthonormal columns, and others that complete them to a basis: these may be turned among themselves.


def extended(dq: Value, q: Value) -> Value:
    """The tangent of a whole basis, given that of its first columns: the others only turn out of their way."""
    k = shape_of(dq)[-1]
    if shape_of(q)[-1] == k:
        return dq
    return np.concatenate([dq, -(q[..., :k] @ (adjoint(dq) @ q[..., k:]))], -1)


def free_columns(q: Value, k: int) -> Any:
    """The columns that are determined only up to a turn: those behind k, but for one real column."""
    columns = np.arange(shape_of(q)[-1])
    many = len(columns) - k > 1 or dtype_of(q).kind == "c"
    return (columns >= k) & many


def is_turned(g: Value, q: Value, k: int) -> Value:
    """For each matrix, whether a result changes if the columns behind k are turned among themselves."""
    rest = g[..., k:]
    inner = swapped(q[..., k:]) @ rest
    if 0 in shape_of(inner)[-2:]:
        return np.zeros(shape_of(g)[:-2], bool)
    return np.any(is_something(inner - adjoint(inner), rest), axis=(-2, -1))
