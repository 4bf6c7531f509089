"""The polynomial through given points, in barycentric form, with derivatives in the values, the nodes and the places.

The derivative of the polynomial is the polynomial through its own slopes at the nodes, which a matrix gives; so nothing
is special about places that are nodes, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.values import Value, shape_of
from ..rules.opaque import Opaque
from ..rules.stacking import one_by_one


def weights_of(x: Value) -> Value:
    """The barycentric weights of nodes, scaled by the size of their interval."""
    n = shape_of(x)[0]
    scale = 4.0 / (np.max(x) - np.min(x)) if n > 1 else 1.0
    apart = scale * (x[:, None] - x) + np.eye(n)
    return 1.0 / np.prod(apart, axis=1)


def slopes_of(x: Value) -> Value:
    """The matrix that takes values at the nodes to the slopes of the polynomial there."""
    n = shape_of(x)[0]
    w, one = weights_of(x), np.eye(n)
    off = w / w[:, None] / (x[:, None] - x + one) * (1.0 - one)
    return off - one * np.sum(off, axis=1)[:, None]


def _evaluated(t: Any, x: Any, y: Any) -> Any:
    apart = t[:, None] - x
    here = apart == 0
    share = weights_of(x) / np.where(here, 1.0, apart)
    found = (share @ y) / np.sum(share, axis=1)[:, None]
    rows, nodes = np.nonzero(here)
    found[rows] = y[nodes]
    return found


def _jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict[str, Any]) -> Value:
    t, x, y = args
    dt, dx, dy = tangents
    slopes: Any = None if dt is None and dx is None else slopes_of(x) @ y
    total: Any = 0.0
    if dt is not None:
        total = barycentric(t, x, slopes) * dt[:, None]
    change = dy
    if dx is not None:
        moved = -slopes * dx[:, None]
        change = moved if dy is None else dy + moved
    return total if change is None else total + barycentric(t, x, change)


def _vjp(
    g: Value, out: Value, args: Sequence[Value], params: dict[str, Any], needed: Sequence[bool]
) -> list[Value | None]:
    t, x, y = args
    shares = barycentric(t, x, np.eye(shape_of(x)[0]))
    to_y = np.transpose(shares) @ g
    found: list[Value | None] = [None, None, to_y if needed[2] else None]
    if needed[0] or needed[1]:
        slopes = slopes_of(x) @ y
        found[0] = np.sum(g * (shares @ slopes), axis=1) if needed[0] else None
        found[1] = -np.sum(to_y * slopes, axis=1) if needed[1] else None
    return found


barycentric = Primitive("barycentric", _evaluated, derivative=Opaque(_jvp, _vjp), stacking=one_by_one)
"""Columns of polynomials through the points (x, y) at places t."""
