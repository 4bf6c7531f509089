"""Sylvester's equation a x + x b = q, and what is differentiated by it: the square root and logarithm of a matrix.

The square root X of A has the derivative E -> x with X x + x X = E. The logarithm is that of a root near 1, times a
power of 2, and there an integral, which a few points give to the last digit: log(1 + X) is that of X / (1 + t X) over t
from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.entry.facts import EMBEDDED, Form
from ...core.values import Value, decidable, dtype_of, shape_of
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from .. import costs, series
from ..declare import declare
from .matrix_functions import matrix_function
from .solving import swapped


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    """The solution; nan where there is none, for which LAPACK gives that of a neighbour."""
    import scipy.linalg

    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2])
    kind = np.result_type(a, b, q)  # SciPy takes a real matrix beside a complex one for what it is not
    a, b, q = (np.broadcast_to(x, lead + x.shape[-2:]).astype(kind) for x in (a, b, q))
    out = np.full(q.shape, np.nan, kind)
    loss = np.sqrt(np.finfo(kind).eps)
    for place in np.ndindex(*lead):
        one, other, wanted = a[place], b[place], q[place]
        if all(np.all(np.isfinite(x)) for x in (one, other, wanted)):
            x = scipy.linalg.solve_sylvester(one, other, wanted)
            size = np.abs(one).max(initial=0.0) + np.abs(other).max(initial=0.0)
            error = np.abs(one @ x + x @ other - wanted).max(initial=0.0)
            asked, large = np.abs(wanted).max(initial=0.0), size * np.abs(x).max(initial=0.0)
            is_singular = 10.0 * loss * loss * large > asked  # so large is what LAPACK gives for one over 0
            if not is_singular and error <= loss * (asked + loss * large):
                out[place] = x
    return out


def _sylvester_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    a, b, _ = args
    da, db, dq = tangents
    moved = dq
    for part in (None if da is None else da @ out, None if db is None else out @ db):
        if part is not None:
            moved = -part if moved is None else moved - part
    return sylvester(a, b, moved)


def _sylvester_vjp(
    g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
) -> list[Value | None]:
    y = sylvester(swapped(args[0]), swapped(args[1]), g)
    turned = swapped(out)
    return [-(y @ turned) if needed[0] else None, -(turned @ y) if needed[1] else None, y]


sylvester = declare(
    "sylvester",
    _sylvester,
    Opaque(_sylvester_jvp, _sylvester_vjp),
    stacking=aligned,
    fails_from=0,
    form=Form(source=EMBEDDED),
    series=series.of_two_sides,
)


def _root_along(root: Value, e: Value) -> Value:
    """The derivative of the square root along e."""
    return sylvester(root, root, e)


sqrtm = matrix_function(
    "sqrtm",
    _root_along,
    by_result=True,
    note="the principal square root",
    cost=costs.cubic(28 + 1 / 3),
    series=lambda step: series.matrix_root(step, sylvester),
)

NEAR, MOST_ROOTS = 0.25, 64
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Gauss's points for (-1, 1); with X of size 1/4 what they leave out is below the last digit."""


def _logarithm_along(a: Value, e: Value) -> Value:
    """The derivative of the logarithm along e."""
    one = np.eye(shape_of(a)[-1], dtype=dtype_of(a))
    roots = 0
    while roots < MOST_ROOTS and bool(np.max(np.abs(decidable(a - one)), initial=0.0) * len(one) > NEAR):
        a = sqrtm(a)
        e = _root_along(a, e)
        roots += 1
    rest = a - one
    total: Any = 0.0
    for point, weight in zip(0.5 * (POINTS + 1.0), 0.5 * WEIGHTS, strict=True):
        inverse = np.linalg.inv(one + point * rest)
        total = total + weight * (inverse @ e @ inverse)
    return total * 2.0**roots


logm = matrix_function(
    "logm",
    _logarithm_along,
    note="the principal logarithm",
    cost=costs.cubic(25),
)
