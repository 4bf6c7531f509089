"""Solving, inverting, determinants, Cholesky: everything here takes any number of leading axes.

Tangents are written with NumPy's functions, so that each rule can itself be differentiated; transposes are plain,
without conjugation. What reads one triangle of a Hermitian matrix is differentiated for Hermitian perturbations: a
tangent is replaced by its Hermitian part, so gradients come out Hermitian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.entry.facts import EMBEDDED, Form
from ...core.forward import ForwardTrace
from ...core.reverse import ReverseTrace, pull
from ...core.series import Expansion, by_push
from ...core.traced import Traced
from ...core.values import Value, cannot_branch, decidable, dtype_of, may_hold, shape_of, zeros_for
from ...rules.opaque import Opaque
from ...rules.stacking import aligned, leading, one_by_one, padded
from .. import costs, series
from ..declare import CONSTANT, declare
from .expansions import det_by_rows, inv_by_cofactors


def swapped(x: Value) -> Value:
    """The transposed matrices."""
    return np.swapaxes(x, -1, -2)


def adjoint(x: Value) -> Value:
    """The conjugate transposed matrices."""
    return np.conjugate(swapped(x)) if dtype_of(x).kind == "c" else swapped(x)


def hermitian_part(x: Value) -> Value:
    """What a routine that reads one triangle sees of a perturbation."""
    return (x + adjoint(x)) * 0.5


def diagonal_of(x: Value) -> Value:
    """The diagonals of square matrices, as vectors."""
    places = np.arange(shape_of(x)[-1])
    return x[..., places, places]


def for_matrices(x: Value) -> Value:
    """One number for each matrix, in a form that multiplies the matrices."""
    return x[..., None, None] if shape_of(x) else x


def identity(x: Value) -> Any:
    """The identity of the size and precision of square matrices."""
    return np.eye(shape_of(x)[-1], dtype=dtype_of(x))


def transposed(linear: Callable[[Value], Sequence[Value]], x: Value, cotangents: Sequence[Value | None]) -> Value:
    """The cotangent of a linear function's argument, found by sweeping back through it; only the shape of x matters."""
    trace = ReverseTrace()
    t = trace.input(zeros_for(x))
    results = linear(t)
    seeds = [(r.node, g) for r, g in zip(results, cotangents, strict=True) if g is not None]
    return pull(trace, seeds, 1)[0]


# solve: a (..., n, n), b (..., n, k), leading axes broadcast.


def _solve_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    a, _ = args
    da, db = tangents
    moved = db if da is None else -(da @ out) if db is None else db - da @ out
    return solve(a, moved)


def _solve_vjp(g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value | None]:
    to_b = solve(swapped(args[0]), g)
    return [-(to_b @ swapped(out)) if needed[0] else None, to_b if needed[1] else None]


def _stack_solve(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
    """One matrix with a batch of right-hand sides: more columns, one factorisation."""
    a, b = values
    if batched[0] or len(shape_of(a)) != 2:
        return aligned(primitive, values, batched, params, size)
    shape = shape_of(b)
    columns = np.moveaxis(b, -2, 0)
    found = primitive(a, np.reshape(columns, (shape[-2], math.prod(shape[:-2]) * shape[-1])), **params)
    return np.moveaxis(np.reshape(found, (shape[-2], *shape[:-2], shape[-1])), 0, -2)


solve = declare(
    "solve",
    np.linalg.solve,
    Opaque(_solve_jvp, _solve_vjp),
    stacking=_stack_solve,
    fails_from=0,
    form=Form(source="np.linalg.solve({0}, {1})"),
    series=series.solution,
    cost=costs.solution,
)


def _inverse_vjp(g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
    turned = swapped(out)
    return [-(turned @ g @ turned)]


inv = declare(
    "inv",
    np.linalg.inv,
    Opaque(lambda tangents, out, args, params: -(out @ tangents[0] @ out), _inverse_vjp),
    fails_from=0,
    form=Form(source="np.linalg.inv({0})"),
    cost=costs.cubic(2),
    by_elements=inv_by_cofactors,
)


# Determinants. d det(A) = sum(cofactors(A) * dA), where cofactors(A) = det(A) inv(A)^T if A is far from singular.


def cofactors_of(a: Value, det_a: Value) -> Value:
    """The cofactor matrices, by the inverse where that is accurate, else by a route that needs none."""
    inverse = None if cannot_branch(a) else _accurate_inverse(decidable(a), decidable(det_a))
    if inverse is None:
        return cofactors(a)
    return for_matrices(det_a) * swapped(inv(a) if isinstance(a, Traced) else inverse)


def _accurate_inverse(a: Any, det_a: Any) -> Any:
    """The inverses, or None if one of the matrices is so near to a singular one that half of the digits are lost.

    None too where a determinant is out of range, so that its product with the inverse would be.
    """
    range_of = np.finfo(a.dtype)
    if not np.all((np.abs(det_a) < range_of.max) & (np.abs(det_a) > range_of.tiny)):
        return None
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return None
    size = np.linalg.norm(a, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
    return inverse if np.all(size < range_of.eps**-0.5) else None


def for_finite(decomposed: Callable[[Any], Sequence[Any]], a: Any) -> tuple[Any, ...]:
    """What a routine of LAPACK finds for finite matrices, and nan for the others, at which some of them never end."""
    finite = np.all(np.isfinite(a), axis=(-2, -1))
    if np.all(finite):
        return tuple(decomposed(a))
    found = decomposed(np.where(finite[..., None, None], a, np.eye(*np.shape(a)[-2:], dtype=a.dtype)))
    bad = np.broadcast_to(np.where(finite, 0.0, np.nan), finite.shape)
    return tuple([x + bad[(..., *[None] * (x.ndim - bad.ndim))].astype(x.dtype) for x in found])


def _cofactors(a: Any) -> Any:
    """By singular values: products of all but one of them, so that nothing is divided."""
    u, s, vh = for_finite(np.linalg.svd, a)
    before = np.cumprod(np.concatenate([np.ones_like(s[..., :1]), s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([np.ones_like(s[..., :1]), s[..., :0:-1]], -1), -1)[..., ::-1]
    turn = np.linalg.det(u) * np.linalg.det(vh)
    turn = np.round(turn) if turn.dtype.kind == "f" else turn / np.abs(turn)
    return np.conjugate((u * (before * after)[..., None, :]) @ vh) * turn[..., None, None]


def _minors(a: Value) -> Value:
    """The cofactors as determinants of the matrices that are left without row i and column j: a polynomial."""
    n = shape_of(a)[-1]
    if n == 1:
        return a * 0.0 + 1.0
    rest = np.array([[k for k in range(n) if k != i] for i in range(n)])
    parts = a[..., rest[:, None, :, None], rest[None, :, None, :]]
    places = np.arange(n)
    signs = np.where((places[:, None] + places) % 2, -1.0, 1.0).astype(dtype_of(a))
    return det(parts) * signs


def _cofactors_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    trace = ForwardTrace()
    moved = _minors(Traced(args[0], trace, tangents[0]))
    return moved.node


cofactors = declare(
    "cofactors",
    _cofactors,
    Opaque(_cofactors_jvp),
    fails_from=0,
    form=Form(source=EMBEDDED),
    cost=costs.tall(lambda m, n: 4 * m**2 * n + 8 * m * n**2 + 13 * n**3),
)
det = declare(
    "det",
    np.linalg.det,
    Opaque(
        lambda tangents, out, args, params: np.sum(cofactors_of(args[0], out) * tangents[0], axis=(-2, -1)),
        lambda g, out, args, params, needed: [cofactors_of(args[0], out) * for_matrices(g)],
    ),
    note="right at singular matrices too: the gradient is the matrix of cofactors",
    form=Form(source="np.linalg.det({0})"),
    cost=costs.cubic(2 / 3),
    by_elements=det_by_rows,
)


def _slogdet_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> list[Value | None]:
    sign, logabsdet = out
    trace = np.sum(swapped(_inverse_or_nan(args[0], logabsdet)) * tangents[0], axis=(-2, -1))
    if dtype_of(sign).kind != "c":
        return [trace * 0.0, trace]
    return [sign * (trace - np.real(trace)), np.real(trace)]


def _inverse_or_nan(a: Value, logabsdet: Value) -> Value:
    """The inverse, and nan for the singular matrices, where log|det| has no derivative."""
    if not may_hold(np.isinf(logabsdet)):
        return inv(a)
    return inv(a * np.where(np.isinf(logabsdet), np.nan, 1.0).astype(dtype_of(logabsdet))[..., None, None])


slogdet = declare(
    "slogdet",
    lambda a: tuple(np.linalg.slogdet(a)),
    Opaque(_slogdet_jvp),
    multiple=True,
    form=Form(source="np.linalg.slogdet({0})"),
    cost=costs.cubic(2 / 3),
)


def _cholesky_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    """dL = L Phi(L^-1 dA L^-H), where Phi takes the lower triangle and half of the diagonal."""
    inner = solve(out, adjoint(solve(out, hermitian_part(tangents[0]))))
    return out @ (adjoint(inner) * _half(out))


def _cholesky_vjp(g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
    turned = adjoint(out)
    inner = solve(turned, (turned @ np.conjugate(g)) * _half(out))
    return [np.conjugate(hermitian_part(solve(turned, adjoint(inner))))]


def _half(x: Value) -> Any:
    n = shape_of(x)[-1]
    return (np.tri(n) - 0.5 * np.eye(n)).astype(dtype_of(x))


cholesky = declare(
    "cholesky",
    np.linalg.cholesky,
    Opaque(_cholesky_jvp, _cholesky_vjp),
    fails_from=0,
    note="for Hermitian perturbations: gradients are Hermitian",
    form=Form(source="np.linalg.cholesky({all}{named})"),
    cost=costs.cubic(1 / 3),
)


def _pinv_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    """Golub and Pereyra: the rank does not change along the perturbation."""
    a, da = args[0], tangents[0]
    if params["hermitian"]:
        da = hermitian_part(da)
    turned, moved = adjoint(out), adjoint(da)
    outside = moved - chained(moved, a, out)
    inside = moved - chained(out, a, moved)
    return chained(out, turned, outside) - chained(out, da, out) + chained(inside, turned, out)


def chained(x: Value, y: Value, z: Value) -> Value:
    """x @ y @ z in the order that costs less: of a long and thin matrix the square of its length is never made."""
    (m, k), (n, r) = shape_of(x)[-2:], shape_of(z)[-2:]
    return (x @ y) @ z if m * k * n + m * n * r <= k * n * r + m * k * r else x @ (y @ z)


def check_finite(a: Any, where: str = "") -> None:
    """Raise what NumPy raises, or tries to find for ever, if a matrix has no singular values."""
    if not np.all(np.isfinite(a)):
        raise np.linalg.LinAlgError("SVD did not converge" + where)


def _pinv(a: Any, cutoff: Any, *, hermitian: bool) -> Any:
    if not hermitian:
        check_finite(a)
    return np.linalg.pinv(a, cutoff, hermitian)


def _pinv_series(step: Expansion) -> Callable[[int], Any]:
    """By the tangent; where the rank changes nearby there is no series, from the order on in which A B A is not A."""
    find, value, inverse = by_push(step), step.values[0], step.out
    low = np.trace(inverse @ value, axis1=-2, axis2=-1) < min(shape_of(value)[-2:]) - 0.5
    if not may_hold(low):
        return find
    given, products, torn = [value], [value @ inverse], np.zeros(shape_of(low), bool)

    def found(k: int) -> Any:
        nonlocal torn
        c, moved = find(k), step.of(0, k)
        c = zeros_for(step.out) if c is None else c
        given.append(zeros_for(value) if moved is None else moved)
        known = [step.results[0].at(i) for i in range(k)]
        inverses = [zeros_for(step.out) if b is None else b for b in known] + [c]
        products.append(sum([given[i] @ inverses[k - i] for i in range(1, k + 1)], given[0] @ c))
        again = sum([products[i] @ given[k - i] for i in range(1, k + 1)], products[0] @ given[k])
        size = sum([np.max(np.abs(a), axis=(-2, -1)) for a in given])
        error = np.max(np.abs(again - given[k]), axis=(-2, -1))
        torn = torn | (low & (error > np.sqrt(np.finfo(dtype_of(value)).eps) * size))
        return np.where(torn[..., None, None], np.nan, c)

    return found


pinv = declare(
    "pinv",
    _pinv,
    Opaque(lambda tangents, out, args, params: _pinv_jvp(tangents[:1], out, args, params)),
    stacking=lambda primitive, values, batched, params, size: aligned_pair(primitive, values, batched, params, size),
    note="for perturbations that keep the rank",
    fails_from=0,
    series=_pinv_series,
    form=Form(source="np.linalg.pinv({0}, {1}, {hermitian})"),
    cost=costs.tall(lambda m, n: 6 * m**2 * n + 8 * m * n**2 + 9 * n**3),
)


def aligned_pair(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
    """A matrix and one number for each matrix."""
    a, cutoff = values
    cutoff = padded(cutoff, len(shape_of(a)) - batched[0] - 2) if batched[1] else cutoff
    a = a if batched[0] else padded(np.broadcast_to(a, (size, *shape_of(a))), len(shape_of(a)))
    return primitive(a, cutoff, **params)


matrix_rank = declare(
    "matrix_rank",
    lambda a, *, tol, hermitian, rtol: np.linalg.matrix_rank(a, tol, hermitian, rtol=rtol),
    CONSTANT,
    stacking=leading,
    note="piecewise constant: the derivative is 0",
    fails_from=0,
    form=Form(source="np.linalg.matrix_rank({0}, {tol}, {hermitian}, rtol={rtol})"),
    cost=costs.tall(lambda m, n: 4 * m * n**2 - 4 / 3 * n**3),
)


def _least_squares_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    """Of x = A^+ b for a matrix of full rank: the derivative of the pseudoinverse, applied to b."""
    (a, b), (da, db) = args, tangents
    inverse = pinv(a, cutoff_of(a, params["rcond"]), hermitian=False)
    moved = db if da is None else -(da @ out) if db is None else db - da @ out
    dx = inverse @ moved
    if da is None:
        return dx
    turned, back = adjoint(inverse), adjoint(da)
    inside = back @ (turned @ out)
    return dx + inverse @ (turned @ (back @ (b - a @ out))) + inside - inverse @ (a @ inside)


def cutoff_of(a: Value, rcond: Any) -> Any:
    """Below which part of the largest one a singular value counts as zero."""
    return np.finfo(dtype_of(a)).eps * max(shape_of(a)[-2:]) if rcond is None else rcond


def _least_squares(a: Any, b: Any, *, rcond: Any) -> Any:
    check_finite(a, " in Linear Least Squares")
    return np.linalg.lstsq(a, b, rcond)[0]


least_squares = declare(
    "least_squares",
    _least_squares,
    Opaque(_least_squares_jvp),
    stacking=one_by_one,
    note="the solution of np.linalg.lstsq",
    fails_from=0,
    form=Form(source="np.linalg.lstsq({0}, {1}, {rcond})[0]"),
    cost=costs.tall(lambda m, n: 4 * m * n**2 + 8 * n**3),
)
