"""A training run as a figure of Matplotlib: curves, norms of gradients, and the last decision boundary."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import adjoint as ad

from ..notebooks import is_notebook
from .record import Boundary, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure"]

TRAINING, VALIDATION = "#0b55ad", "#c2500a"
CLASSES = [
    TRAINING, VALIDATION, "#17794a", "#8b3fa8", "#9a6a00", "#0f7f8c", "#b5244f", "#565d6b", "#5a4fcf", "#6b4a2b",
]  # fmt: skip
MARKERS = "os^Dvp"
MOST_LABELS = 8
"""Of more layers only some are named in the legend."""

FEW = 4
"""The names of more layers stand beside the axes, where no line crosses them."""

SKEWED = 30.0
"""From this ratio of the largest to the least loss on, the scale is logarithmic."""


def figure(record: Record, axes: Any = None) -> Figure:
    """Draw the curves of a training run, the norms of its gradients and its last decision boundary.

    Parameters
    ----------
    record : Record
        What was seen of the run.
    axes : Axes or sequence of Axes, optional
        Where to draw, in this order: the loss, each of the metrics, the norms, the boundary; what there is no axes for
        is left out. By default a new figure has as many as are needed.

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
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from adjoint.training.record import Record
    >>> figure(Record("a line", curves={"loss": np.array([0.5, 0.25])})).axes[0].get_ylabel()
    'loss'
    """
    _require_matplotlib()
    drawings = _drawings(record)
    places = _new_axes(record.title, len(drawings)) if axes is None else _listed(axes)
    for draw, place in zip(drawings, places, strict=False):
        draw(place)
    found: Any = places[0].figure
    return found


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            ad.errors.message(
                "A plot of a training run needs Matplotlib, which is not installed.",
                fix="Install it with  pip install 'adjoint[viz]',  or write a page, which needs nothing.",
            )
        ) from error


def _listed(axes: Any) -> list[Any]:
    """One axes, an array of them as `pyplot.subplots` gives, or a list."""
    return list(np.asarray(axes, dtype=object).reshape(-1))


def _new_axes(title: str, count: int) -> list[Axes]:
    """A figure's axes, in rows of at most three. A notebook shows the figure it is given, and not pyplot's again."""
    columns = min(3, max(1, count))
    rows = -(-max(1, count) // columns)
    size = (5.0 * columns, 3.6 * rows)
    if is_notebook():
        from matplotlib.figure import Figure

        made = Figure(figsize=size, layout="constrained")
    else:
        from matplotlib import pyplot

        made = pyplot.figure(figsize=size, layout="constrained")
    if title:
        made.suptitle(title)
    return [made.add_subplot(rows, columns, k + 1) for k in range(max(1, count))]


def _drawings(record: Record) -> list[Callable[[Axes], None]]:
    """What there is to draw, each as a function of the axes."""
    found: list[Callable[[Axes], None]] = [
        partial(_draw_curves, record, quantity, names) for quantity, names in record.quantities.items()
    ]
    if record.gradient_norms:
        found.append(partial(_draw_norms, record))
    if record.boundary is not None and record.frames:
        found.append(partial(_draw_boundary, record.boundary, record.frames[-1]))
    return found


def _draw_curves(record: Record, quantity: str, names: list[str], place: Axes) -> None:
    """The curves of one quantity, of training and of validation."""
    for name in names:
        values = np.asarray(record.curves[name], float)
        color = VALIDATION if name.startswith("validation_") else TRAINING
        marker = "o" if len(values) == 1 else None
        place.plot(np.arange(1, len(values) + 1), values, color=color, marker=marker, label=name.replace("_", " "))
    _label(place, quantity.replace("_", " "))
    shown = np.concatenate([np.asarray(record.curves[name], float) for name in names])
    shown = shown[np.isfinite(shown)]
    if quantity == "loss" and shown.size and shown.min() > 0.0 and shown.max() > SKEWED * shown.min():
        place.set_yscale("log")
    place.legend(frameon=False)


def _draw_norms(record: Record, place: Axes) -> None:
    """A line for each layer, coloured by depth."""
    from matplotlib.colors import LinearSegmentedColormap

    depth = LinearSegmentedColormap.from_list("depth", [TRAINING, "#8b3fa8", VALIDATION])
    layers = record.layer_norms
    named = set(np.linspace(0, len(layers) - 1, min(len(layers), MOST_LABELS)).round().astype(int))
    for k, (name, norms) in enumerate(layers.items()):
        color = depth(k / max(1, len(layers) - 1))
        marker = "o" if len(norms) == 1 else None
        label = name if k in named else f"_{name}"  # a label that begins with _ is left out
        place.plot(np.arange(1, len(norms) + 1), norms, color=color, marker=marker, linewidth=1.2, label=label)
    _label(place, "norm of the gradient")
    if any(np.any(np.asarray(norms) > 0.0) for norms in layers.values()):
        place.set_yscale("log")
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(layers) > FEW else {}
    place.legend(frameon=False, fontsize="small", **beside)


def _label(place: Axes, quantity: str) -> None:
    from matplotlib.ticker import MaxNLocator

    place.set_xlabel("epoch")
    place.set_ylabel(quantity)
    place.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    place.grid(color="#d9dde4", linewidth=0.7)
    place.spines[["top", "right"]].set_visible(False)


def _draw_boundary(boundary: Boundary, epoch: int, place: Axes) -> None:
    """What the model says over the plane in the end, and the points."""
    if boundary.is_classes:
        _draw_classes(boundary, place)
    else:
        _draw_numbers(boundary, place)
    place.set_xlim(*boundary.horizontal)
    place.set_ylim(*boundary.vertical)
    place.set_title(f"epoch {epoch}" if epoch else "before training", fontsize="medium")


def _draw_classes(boundary: Boundary, place: Axes) -> None:
    """A pale colour for each class."""
    from matplotlib.colors import ListedColormap

    values = np.asarray(boundary.values[-1])
    classes = np.unique(np.concatenate([np.unique(boundary.labels), np.unique(values)]))
    colors = ListedColormap([CLASSES[k % len(CLASSES)] for k in range(max(2, len(classes)))])
    _draw_plane(boundary, np.searchsorted(classes, values), place, colors, (0, max(1, len(classes) - 1)), 0.3)
    _draw_points(boundary, classes, place)


def _draw_numbers(boundary: Boundary, place: Axes) -> None:
    """Two colours, for more and less than the middle, and a line where the decision changes."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("sides", [TRAINING, "#f6f7f9", VALIDATION])
    values, (centre, reach), level = np.asarray(boundary.values[-1]), boundary.shades, boundary.decides_at
    ends = (centre - reach, centre + reach)
    _draw_plane(boundary, values, place, colors, ends, 0.5)
    if level is None:
        x, y = np.asarray(boundary.points).T
        shown: dict[str, Any] = {
            "cmap": colors,
            "vmin": ends[0],
            "vmax": ends[1],
            "edgecolors": "#191c23",
            "linewidths": 0.5,
        }
        place.scatter(x, y, c=np.asarray(boundary.labels), s=12, **shown)
        return
    if np.nanmin(values) < level < np.nanmax(values):
        place.contour(*_grid(boundary), values, levels=[level], colors="#191c23", linewidths=1.2)
    _draw_points(boundary, np.unique(boundary.labels), place)


def _draw_plane(
    boundary: Boundary, values: np.ndarray, place: Axes, colors: Any, ends: tuple[float, float], alpha: float
) -> None:
    options: dict[str, Any] = {"shading": "nearest", "rasterized": True, "alpha": alpha}
    place.pcolormesh(*_grid(boundary), values, cmap=colors, vmin=ends[0], vmax=ends[1], **options)


def _grid(boundary: Boundary) -> tuple[np.ndarray, np.ndarray]:
    """Where the values are, from left to right and upwards."""
    rows, columns = np.shape(boundary.values[-1])
    return np.linspace(*boundary.horizontal, columns), np.linspace(*boundary.vertical, rows)


def _draw_points(boundary: Boundary, classes: np.ndarray, place: Axes) -> None:
    """The points, each class with its colour and form."""
    points, labels = np.asarray(boundary.points), np.asarray(boundary.labels)
    for k, label in enumerate(classes):
        x, y = points[labels == label].T
        style: dict[str, Any] = {"color": CLASSES[k % len(CLASSES)], "marker": MARKERS[k % len(MARKERS)]}
        place.scatter(x, y, s=22, edgecolors="white", linewidths=0.5, label=f"class {label}", **style)
    place.legend(fontsize="small")
