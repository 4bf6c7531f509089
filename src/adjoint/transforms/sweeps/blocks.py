"""The blocks of a Jacobian: sweeps forward or back for all vectors of a basis at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.errors import InputError, NotDifferentiableError, message
from ...core.traced import Traced
from ...core.values import Value, decidable, describe, dtype_of, shape_of
from ..vjp import TraceAtPoint
from ..vmap import vmap
from .forward import push


def check_complex(recording: TraceAtPoint) -> None:
    """Refuse what is not a function from complex to complex numbers."""
    for kind, found in (("arguments", recording.inputs), ("results", recording.values)):
        for x in found:
            if dtype_of(x).kind != "c":
                raise InputError(
                    message(
                        f"holomorphic=True needs complex {kind}.",
                        got=describe(x),
                        fix="Pass  x.astype(complex),  or leave  holomorphic  out.",
                    )
                )


def prefers_columns(recording: TraceAtPoint) -> bool:
    """Whether there are fewer inputs than results."""
    return sum(map(_size, recording.inputs)) < sum(map(_size, recording.values))


def columns(recording: TraceAtPoint, chunk_size: int | None) -> list[list[Value]]:
    """blocks[i][j] = d out_i / d in_j, from tangents."""
    by_input = []
    for j, x in enumerate(recording.inputs):
        found = _pushed(recording, j, _basis(x), chunk_size)
        if dtype_of(x).kind == "c":
            found = _with_turned(found, _pushed(recording, j, 1j * _basis(x), chunk_size))
        by_input.append([_block(f, y, x) for f, y in zip(found, recording.values, strict=True)])
    return [[by_input[j][i] for j in range(len(recording.inputs))] for i in range(len(recording.values))]


def _pushed(recording: TraceAtPoint, j: int, basis: Value, chunk_size: int | None) -> Any:
    def column(t: Value) -> tuple[Value, ...]:
        return tuple(push(recording, [t if k == j else _zero(y) for k, y in enumerate(recording.inputs)]))

    return vmap(column, out_axes=-1, chunk_size=chunk_size)(basis)


def _with_turned(along: Any, turned: Any) -> list[Value]:
    """Put the derivatives along 1 and along i of a complex argument together."""
    found = []
    for d, e in zip(along, turned, strict=True):
        if dtype_of(d).kind != "c":
            found.append(d + 1j * e)  # of a real result: df/dx + i df/dy, as for grad
        elif np.allclose(decidable(e), 1j * decidable(d), rtol=1e-5, atol=1e-8):
            found.append(d)
        else:
            raise NotDifferentiableError(
                message(
                    "A complex result has a Jacobian with respect to a complex argument only if it is holomorphic.",
                    fix="Take the Jacobian of  np.real  and  np.imag  of the result one after the other.",
                )
            )
    return found


def rows(recording: TraceAtPoint, chunk_size: int | None) -> list[list[Value]]:
    """blocks[i][j] = d out_i / d in_j, from cotangents."""
    blocks = []
    for i, y in enumerate(recording.values):

        def row(g: Value, i: int = i) -> tuple[Value, ...]:
            return tuple(recording.pull([g if k == i else _zero(v) for k, v in enumerate(recording.values)]))

        found = vmap(row, chunk_size=chunk_size)(_basis(y))
        blocks.append([_block(_conjugated(f), y, x) for f, x in zip(found, recording.inputs, strict=True)])
    return blocks


def _conjugated(x: Value) -> Value:
    return np.conjugate(x) if dtype_of(x).kind == "c" else x


def _block(x: Value, out: Value, given: Value) -> Value:
    """One block of the Jacobian; the derivative of a number by a number is a number."""
    shape = shape_of(out) + shape_of(given)
    x = np.reshape(x, shape)
    if shape == () and type(given) is float and not isinstance(x, Traced):
        return float(x)
    return x


def _size(x: Value) -> int:
    return math.prod(shape_of(x))


def _basis(x: Value) -> Value:
    size = _size(x)
    return np.reshape(np.eye(size, dtype=dtype_of(x)), (size, *shape_of(x)))


def _zero(x: Value) -> Value:
    return np.zeros(shape_of(x), dtype_of(x))
