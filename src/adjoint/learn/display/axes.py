"""Where a picture is drawn; matplotlib is imported here, when it is needed."""

from __future__ import annotations

from typing import Any


def axes_for(ax: Any, caller: str) -> tuple[Any, Any]:
    """The axes that are given, or new ones; and their figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{caller} needs matplotlib:  pip install 'adjoint[learn]'") from None
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax, ax.figure
