"""What `health` found: rows for steps, blocks and parameters, their verdicts, as a table and as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .sweep import Bad

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Step:
    """One step of the function.

    Attributes
    ----------
    name : str
        The operation.
    line : str
        The user's line.
    block : str
        The blocks around it, "encoder/layer"; "" if there are none.
    value_norm : float
        The length of its result.
    gradient_norm : float
        The length of the gradient with respect to its result.
    """

    name: str
    line: str
    block: str
    value_norm: float
    gradient_norm: float


@dataclass(frozen=True)
class Row:
    """A block or a parameter.

    Attributes
    ----------
    name : str
        What the block or the parameter is called.
    value_norm : float
        The length of the parameter, or of what the block hands on.
    gradient_norm : float
        The length of the gradient with respect to it.
    rms : float
        The root of the mean square of the gradient, which does not depend on how many numbers there are.
    ratio : float
        `rms` over that of the last row, the one nearest to the result.
    verdict : str
        "healthy", "vanishing", "exploding", "zero", "nan" or "inf".
    """

    name: str
    value_norm: float
    gradient_norm: float
    rms: float
    ratio: float
    verdict: str


@dataclass(frozen=True)
class Health:
    """The health of a gradient, as `ad.debug.health` found it; prints as a table.

    Attributes
    ----------
    value : float
        What the function returned.
    gradient_norm : float
        The length of the whole gradient.
    steps : list of Step
        Every step that the gradient passes, in the order of execution.
    blocks : list of Row
        The blocks made with `ad.block`, in the order of execution; if there are none, the parameters.
    parameters : list of Row
        The leaves of the arguments, in the order in which they are first used.
    first_bad : record or None
        Where the first nan or infinity was made, as `ad.debug.find_nan` gives it.
    """

    value: float
    gradient_norm: float
    steps: list[Step]
    blocks: list[Row]
    parameters: list[Row]
    first_bad: Bad | None

    @property
    def vanishing(self) -> list[str]:
        """The names of the blocks whose gradient has vanished: it is zero, or far below that of the last block."""
        return [row.name for row in self.blocks if row.verdict in ("vanishing", "zero")]

    @property
    def exploding(self) -> list[str]:
        """The names of the blocks whose gradient has exploded: far above that of the last block, or not finite."""
        return [row.name for row in self.blocks if row.verdict in ("exploding", "inf", "nan")]

    @property
    def is_healthy(self) -> bool:
        """Whether everything is finite and no block has lost or blown up its gradient."""
        return self.first_bad is None and not self.vanishing and not self.exploding

    def __str__(self) -> str:
        """A table of the blocks, and what is wrong."""
        header = ("block", "value", "gradient", "rms", "ratio", "verdict")
        rows = [header, *[_cells(row) for row in self.blocks]]
        widths = [max([len(row[k]) for row in rows]) for k in range(len(header))]
        lines = [
            "  ".join(
                [c.ljust(w) if k in (0, 5) else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))]
            )
            for row in rows
        ]
        lines = [line.rstrip() for line in lines]
        for names, what in ((self.vanishing, "vanishing"), (self.exploding, "exploding")):
            if names:
                lines.append(f"{what}: {_listed(names)}")
        if self.first_bad is not None:
            lines.append(str(self.first_bad))
        return "\n".join(lines)

    def plot(self, axes: Any = None, label: str | None = None) -> Figure:
        """Draw the gradient of each block, as root of the mean square, on a logarithmic scale.

        Parameters
        ----------
        axes : Axes, optional
            Where to draw; by default a new figure is made.
        label : str, optional
            What the legend calls the line, to compare several.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. In a script `matplotlib.pyplot.show()` shows it.

        Raises
        ------
        ImportError
            If Matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib, numpy as np, adjoint as ad
        >>> matplotlib.use("agg")
        >>> found = ad.debug.health(lambda p: np.tanh(p["a"] * np.tanh(p["b"])))({"a": 2.0, "b": 0.5})
        >>> found.plot().axes[0].get_ylabel()
        'gradient, root mean square'
        """
        from .plot import drawn

        return drawn(self, axes, label)


def _cells(row: Row) -> tuple[str, ...]:
    numbers = [f"{x:.2e}" for x in (row.value_norm, row.gradient_norm, row.rms, row.ratio)]
    return (row.name, *numbers, row.verdict)


def _listed(names: list[str]) -> str:
    few = names if len(names) <= FEW else [*names[: FEW - 1], f"and {len(names) - FEW + 1} more"]
    return ", ".join(few)


FEW = 6
"""How many names are listed."""
