"""The health of a gradient as a figure of Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .report import Health

MARKS = {"healthy": "o", "vanishing": "v", "zero": "v", "exploding": "^", "nan": "x", "inf": "x"}
MANY = 12
"""From so many blocks on they are numbered instead of named."""


def drawn(health: Health, axes: Any, label: str | None) -> Figure:
    """One point for each block, in the order of execution."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            message(
                "A plot of gradients needs Matplotlib, which is not installed.",
                fix="Install it with  pip install 'adjoint[viz]',  or print the table.",
            )
        ) from error
    if axes is None:
        axes = pyplot.figure(figsize=(7.0, 3.8), layout="constrained").add_subplot()
    places = np.arange(1, len(health.blocks) + 1)
    sizes = np.array([row.rms if np.isfinite(row.rms) and row.rms > 0.0 else np.nan for row in health.blocks])
    (line,) = axes.plot(places, sizes, linewidth=1.2, label=label)
    for kind, mark in MARKS.items():
        here = [k for k, row in enumerate(health.blocks) if row.verdict == kind]
        if here:
            axes.plot(places[here], sizes[here], mark, color=line.get_color(), markersize=5)
    axes.set_yscale("log")
    axes.set_ylabel("gradient, root mean square")
    if len(health.blocks) <= MANY:
        axes.set_xticks(places, [row.name for row in health.blocks], rotation=30, ha="right")
    else:
        axes.set_xlabel("block, from the inputs to the result")
    if label is not None:
        axes.legend(frameon=False)
    found: Any = axes.figure
    return found  # type: ignore[no-any-return]
