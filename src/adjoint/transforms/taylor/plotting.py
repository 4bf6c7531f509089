"""A picture of a function and its successive Taylor polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import InputError, message
from ...core.tree import flatten
from ...core.values import describe, shape_of

if TYPE_CHECKING:
    from .series import TaylorSeries

POINTS = 401


def plot(series: TaylorSeries, s: Any, ax: Any) -> Any:
    """Draw them over s, or over x if the point is a number that moves by s itself."""
    leaves, _ = flatten(series.coefficients[0])
    if len(leaves) != 1 or shape_of(leaves[0]) != () or np.iscomplexobj(leaves[0]):
        raise InputError(
            message(
                "A picture of a Taylor series needs a function whose result is one real number.",
                got=describe(leaves[0]) if len(leaves) == 1 else f"{len(leaves)} leaves",
                fix="Take one number of the result:  ad.taylor(lambda x: f(x)[0], x0, order, direction).plot()",
            )
        )
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("TaylorSeries.plot needs matplotlib:  pip install 'adjoint[viz]'") from None
    if ax is None:
        _, ax = plt.subplots()
    reach = min(1.0, series.radius) if np.isfinite(series.radius) else 1.0
    s = np.linspace(-reach, reach, POINTS) if s is None else np.asarray(s, float)
    is_shifted = isinstance(series.x0, (float, np.floating)) and series.direction == 1
    x = s + series.x0 if is_shifted else s
    true = np.array([_value(series, at) for at in s])
    for k in range(series.order + 1):
        shade = 0.15 + 0.85 * k / max(series.order, 1)
        ax.plot(x, np.broadcast_to(series.up_to(k, s), s.shape), color="tab:blue", alpha=shade, label=f"order {k}")
    ax.plot(x, true, color="black", linewidth=1.5, label="the function")
    ax.plot([x[0] - s[0]], [float(leaves[0])], "o", color="black")
    room = 0.5 * (np.nanmax(true) - np.nanmin(true)) + 1e-12
    ax.set_ylim(np.nanmin(true) - room, np.nanmax(true) + room)
    ax.set_xlabel("x" if is_shifted else "s")
    ax.legend(fontsize="small")
    return ax


def _value(series: TaylorSeries, s: float) -> float:
    """The function itself, a way along the direction."""
    leaves, rebuild = flatten(series.x0)
    moves, _ = flatten(series.direction)
    return float(flatten(series.fun(rebuild([x + s * d for x, d in zip(leaves, moves, strict=True)])))[0][0])
