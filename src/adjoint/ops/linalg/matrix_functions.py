"""The exponential of a square matrix, and triangular solves: SciPy evaluates them.

f([[A, E], [0, A]]) = [[f(A), L], [0, f(A)]], where L is the derivative of f at A along E. So the derivative of the
exponential is the exponential of a matrix of twice the size, to every order; the transpose of E -> L(A, E) is
E -> L(A^T, E). Functions with a cut (square root, logarithm) are differentiated otherwise: see `matrix_equations.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...capture.environment.randomness import SettingAside
from ...core.entry.algebra import Shape
from ...core.entry.facts import EMBEDDED, Form
from ...core.primitive import Primitive
from ...core.values import Value, decidable, dtype_of, shape_of
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from .. import costs, series
from ..declare import declare
from .solving import swapped


def _along(a: Value, e: Value) -> Value:
    """The derivative of the exponential at a along e."""
    n = shape_of(a)[-1]
    scale = _scale(decidable(a), decidable(e))
    e = np.broadcast_to(e * scale, (*np.broadcast_shapes(shape_of(a)[:-2], shape_of(e)[:-2]), n, n))
    a = np.broadcast_to(a, shape_of(e))
    zeros = np.zeros(shape_of(e), dtype_of(e))
    block = np.concatenate([np.concatenate([a, e], -1), np.concatenate([zeros, a], -1)], -2)
    return expm(block)[..., :n, n:] / scale


def _scale(a: Any, e: Any) -> Any:
    """What brings a direction to the size of the matrix, so that it does not spoil the scaling of the function."""
    size, length = (np.max(np.abs(x), initial=0.0) for x in (a, e))
    usable = (length > 0.0) & (length < np.inf) & (size < np.inf)
    return np.where(usable, np.where(size == 0.0, 1.0, size) / np.where(usable, length, 1.0), 1.0)


def each_matrix(name: str) -> Callable[[Any], Any]:
    """SciPy's own function, for every matrix of a stack."""

    def evaluate(a: Any) -> Any:
        import scipy.linalg

        function = getattr(scipy.linalg, name)
        with SettingAside():  # norms are estimated with random vectors
            if a.ndim == 2:
                return _precise(function(a), a)
            parts = [function(part) for part in a.reshape(-1, *a.shape[-2:])]
        return _precise(np.stack(parts).reshape(a.shape), a) if parts else a

    return evaluate


def _precise(result: Any, a: Any) -> Any:
    """In the precision of the argument; complex where the function had to become so."""
    kind = np.complex64 if result.dtype.kind == "c" and a.dtype.kind != "c" else a.dtype
    return result.astype(np.result_type(kind, a.dtype), copy=False)


def matrix_function(
    name: str, along: Callable[[Value, Value], Value], *, by_result: bool = False, note: str = "", **facts: Any
) -> Primitive:
    """SciPy's function of a square matrix, given its derivative along a direction.

    The matrix that `along` takes is the argument, or the result if it is known `by_result`.
    """

    def push(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        return along(out if by_result else args[0], tangents[0])

    def pull(g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
        return [along(swapped(out if by_result else args[0]), g)]

    def source(shapes: Sequence[Shape], params: dict) -> str:
        return f"scipy.linalg.{name}({{0}})" if len(shapes[0]) == 2 else f"_of_each(scipy.linalg.{name}, {{0}})"

    return declare(
        name, each_matrix(name), Opaque(push, pull), fails_from=0, note=note, form=Form(source=source), **facts
    )


expm = matrix_function(
    "expm",
    _along,
    cost=costs.cubic(2 * 6 + 8 / 3),
    series=series.of_blocks,
)


# A triangular system: only one triangle of a is read, and without its diagonal if `unit`.


def _triangular_solve(a: Any, b: Any, *, lower: bool, unit: bool) -> Any:
    import scipy.linalg

    if a.ndim == b.ndim == 2:
        return scipy.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, lead + a.shape[-2:]), np.broadcast_to(b, lead + b.shape[-2:])
    out = np.empty(b.shape, np.result_type(a, b))
    for place in np.ndindex(*lead):
        out[place] = scipy.linalg.solve_triangular(a[place], b[place], lower=lower, unit_diagonal=unit)
    return out


def _read(a: Value, lower: bool, unit: bool) -> Value:
    n = shape_of(a)[-1]
    mask = np.tri(n, n, -1 if unit else 0, dtype=bool)
    return np.where(mask if lower else mask.T, a, 0.0)


def _triangular_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    da, db = tangents
    moved = db
    if da is not None:
        pushed = _read(da, **params) @ out
        moved = -pushed if db is None else db - pushed
    return triangular_solve(args[0], moved, **params)


def _triangular_vjp(
    g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
) -> list[Value | None]:
    to_b = triangular_solve(swapped(args[0]), g, lower=not params["lower"], unit=params["unit"])
    return [-_read(to_b @ swapped(out), **params) if needed[0] else None, to_b if needed[1] else None]


triangular_solve = declare(
    "triangular_solve",
    _triangular_solve,
    Opaque(_triangular_jvp, _triangular_vjp),
    stacking=aligned,
    fails_from=0,
    form=Form(source=EMBEDDED),
    series=lambda step: series.solving(step, lambda a, x: _read(a, **step.params) @ x),
)
