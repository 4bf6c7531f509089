"""What `minimize` returns: the point, the way to it, and why it ends there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array
from .checks import refuse

ELSEWHERE = {"fun": "value", "success": "converged", "message": "stopped", "nit": "steps", "jac": "gradient_norm"}
"""What SciPy calls the same."""


@dataclass(frozen=True)
class Result:
    """The point that was found, the way to it, and why it ends there.

    Parameters
    ----------
    x : any containers of arrays
        The point, in the containers of the start.
    value : float
        The function's value there.
    gradient_norm : float
        The Euclidean norm of the gradient there.
    steps : int
        How many steps were taken.
    stopped : str
        Why it stopped, as a sentence.
    converged : bool
        Whether a stopping rule was met: not if the steps ran out, the values ceased to be finite or no step was found.
    values : ndarray
        The value at the start and after each step.
    path : ndarray or list or None
        The start and the point after each step: an array with a first axis for them if the start is an array or a
        number, else a list of trees. None if they were too large to keep.
    optimizer : str
        The optimiser's name.
    function : callable
        The function, for `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> print(optim.minimize(lambda w: np.sum((w - 1.0) ** 2), np.zeros(2), optim.newton()))
    newton: value 0 after 1 step
      x              [1. 1.]
      gradient norm  0
      stopped        The norm of the gradient is 0, below 1e-06.
    """

    x: Any
    value: float
    gradient_norm: float
    steps: int
    stopped: str
    converged: bool
    values: Any = field(repr=False)
    path: Any = field(repr=False)
    optimizer: str = field(repr=False)
    function: Any = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        meant = f": use  .{ELSEWHERE[name]}" if name in ELSEWHERE else ""
        raise AttributeError(f"'Result' object has no attribute {name!r}{meant}")

    def __str__(self) -> str:
        with np.printoptions(precision=6, suppress=True, threshold=20, edgeitems=4):
            short = ad.tree.map(lambda p: p if np.ndim(p) else float(f"{p:.6g}"), self.x)
            point = str(short).replace("\n", "\n" + 17 * " ")
        return "\n".join(
            [
                f"{self.optimizer}: value {self.value:.6g} after {self.steps} step{'s' * (self.steps != 1)}",
                f"  x              {point}",
                f"  gradient norm  {self.gradient_norm:.2g}",
                f"  stopped        {self.stopped}",
            ]
        )

    def plot(self, ax: Any = None, *, levels: int = 25, box: tuple[float, float, float, float] | None = None) -> Any:
        """Draw the path over contours of the function, for two parameters; for others the values by step.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; without it, a new figure.
        levels : int, optional
            How many contours.
        box : tuple, optional
            (left, right, bottom, top) of the picture; without it, the path's surroundings.

        Returns
        -------
        matplotlib axes
            The drawing.

        Raises
        ------
        InputError
            If the path of two parameters was not kept.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from adjoint import optim
        >>> found = optim.minimize(lambda w: np.sum(w**2), np.array([1.0, 2.0]), optim.sgd(0.1))
        >>> found.plot().get_title()  # doctest: +SKIP
        'sgd, 69 steps'
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("Result.plot needs matplotlib:  pip install 'adjoint[viz]'") from None
        ax = plt.subplots(figsize=(5, 4), layout="constrained")[1] if ax is None else ax
        ax.set_title(f"{self.optimizer}, {self.steps} steps")
        if np.shape(self.x) != (2,):
            return _draw_values(self.values, ax)
        if self.path is None:
            refuse("The path was not kept.", got="path=False", fix="Write  optim.minimize(..., path=True).")
        return _draw_path(self.function, self.path, ax, levels, box)


def _draw_values(values: Array, ax: Any) -> Any:
    above = values - np.min(values)
    ax.semilogy(np.arange(len(values)), np.where(above > 0, above, np.nan))
    ax.set(xlabel="step", ylabel="value above the smallest")
    return ax


def _draw_path(function: Any, path: Array, ax: Any, levels: int, box: Any) -> Any:
    """Contours at levels that grow by a factor, and the points on top of them."""
    if box is None:
        low, high = path.min(axis=0), path.max(axis=0)
        margin = 0.15 * np.maximum(high - low, 0.2 * max((high - low).max(), 1e-3))
        (left, bottom), (right, top) = low - margin, high + margin
    else:
        left, right, bottom, top = box
    first, second = np.linspace(left, right, 81), np.linspace(bottom, top, 81)
    with np.errstate(all="ignore"):
        heights = np.array([[function(np.array([a, b])) for a in first] for b in second])
    finite = heights[np.isfinite(heights)]
    lowest = finite.min()
    span = max(finite.max() - lowest, 1e-12)
    at = lowest + span * np.geomspace(3e-4, 0.9, levels)
    ax.contour(first, second, heights, levels=np.unique(at), colors="#a0a0a0", linewidths=0.6)
    ax.plot(path[:, 0], path[:, 1], "-", color="#c0392b", linewidth=1.0, zorder=3)
    some = path[:: max(1, len(path) // 60)]
    ax.plot(some[:, 0], some[:, 1], "o", color="#c0392b", markersize=2.5, zorder=3)
    ax.plot(*path[0], "s", color="black", markersize=5, zorder=4)
    ax.plot(*path[-1], "*", color="#1f618d", markersize=11, zorder=4)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    return ax
