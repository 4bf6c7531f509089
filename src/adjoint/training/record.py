"""What is recorded of a training run, to be plotted or put on a page."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import adjoint as ad

__all__ = ["Boundary", "Record"]

LOGIT = 4.0
"""A logit that far from 0 is a decision: a probability of 0.98."""

TINY = 1e-12


@dataclass(frozen=True)
class Boundary:
    """What a model of two inputs says over the plane, at each of the frames.

    Parameters
    ----------
    horizontal, vertical : tuple of float
        The least and the largest value of the first and of the second input.
    values : list of ndarray
        An array of shape (h, w) for each frame: element [i, j] is what the model says at
        `np.linspace(*horizontal, w)[j]`, `np.linspace(*vertical, h)[i]`, so row 0 is at the bottom of the picture.
        Integers are numbers of classes; floats are the one output of a model, or a probability.
    points : ndarray
        Inputs from the data, of shape (n, 2); a page shows some hundreds of them.
    labels : ndarray
        The label of each point, of shape (n,).
    level : float, optional
        For floats: where the decision changes. By default, for two labels, 0.5 if all values are between 0 and 1, else
        0; for more labels there is none, and the picture is one of a regression.

    Examples
    --------
    >>> from adjoint.training.record import Boundary
    >>> x = np.linspace(-1, 1, 5)
    >>> plane = [np.add.outer(x, k * x) for k in range(3)]
    >>> Boundary((-1.0, 1.0), (-1.0, 1.0), plane, np.array([[0.5, 0.5], [-0.5, 0.0]]), np.array([1, 0])).decides_at
    0.0
    """

    horizontal: tuple[float, float]
    vertical: tuple[float, float]
    values: list[np.ndarray]
    points: np.ndarray
    labels: np.ndarray
    level: float | None = None

    @property
    def is_classes(self) -> bool:
        """Whether the values are numbers of classes."""
        return all(np.issubdtype(np.asarray(v).dtype, np.integer) for v in self.values)

    @property
    def decides_at(self) -> float | None:
        """The value of the one output at which the decision changes, if there is such a value."""
        if self.is_classes or self.level is not None:
            return self.level
        if len(np.unique(self.labels)) > 2:
            return None
        is_probability = all(np.nanmin(v) >= 0.0 and np.nanmax(v) <= 1.0 for v in self.values if np.size(v))
        return 0.5 if is_probability else 0.0

    @property
    def shades(self) -> tuple[float, float]:
        """The value that has no colour, and how far from it a value has all the colour there is."""
        low, high = float(np.min(self.labels)), float(np.max(self.labels))
        level = self.decides_at
        centre = (low + high) / 2 if level is None else level
        is_between = level is None or low < level < high
        return centre, max(high - centre, centre - low, TINY) if is_between else LOGIT


@dataclass(frozen=True)
class Record:
    """What was seen of a training run, to be shown.

    Parameters
    ----------
    title : str
        What was trained.
    facts : dict of str to str
        What is good to know, as name and text: `{"parameters": "4,810", "stopped": "after 20 epochs"}`.
    curves : dict of str to ndarray
        Numbers by epoch: "loss", "validation_loss", "accuracy", ...; element k belongs to epoch k + 1. May have nan.
    gradient_norms : dict of str to ndarray
        The norm of the gradient by epoch, for each parameter array, such as "layers.0.weight".
    frames : list of int
        The epochs of the pictures below; 0 is before training.
    weights : dict of str to list of ndarray
        The arrays of parameters at each of the frames.
    boundary : Boundary, optional
        What the model says over the plane, if it has two inputs.

    Examples
    --------
    >>> from adjoint.training.record import Record
    >>> record = Record("line", {"parameters": "2"}, {"loss": np.array([0.5, 0.25])})
    >>> record.epochs
    2
    """

    title: str
    facts: dict[str, str] = field(default_factory=dict)
    curves: dict[str, np.ndarray] = field(default_factory=dict)
    gradient_norms: dict[str, np.ndarray] = field(default_factory=dict)
    frames: list[int] = field(default_factory=list)
    weights: dict[str, list[np.ndarray]] = field(default_factory=dict)
    boundary: Boundary | None = None

    def __post_init__(self) -> None:
        boundary = {"boundary": self.boundary.values} if self.boundary is not None else {}
        for name, pictures in {**self.weights, **boundary}.items():
            if len(pictures) != len(self.frames):
                raise ad.errors.InputError(
                    ad.errors.message(
                        f"A record needs a picture of {name} for each of its frames.",
                        got=f"{len(pictures)} pictures for {len(self.frames)} frames",
                        fix="Give as many arrays as there are epochs in frames.",
                    )
                )

    @property
    def epochs(self) -> int:
        """How many epochs there are numbers of."""
        return max([len(v) for v in (*self.curves.values(), *self.gradient_norms.values())], default=0)

    @property
    def quantities(self) -> dict[str, list[str]]:
        """The names of the curves, those of one quantity together, of training and of validation; the loss is first."""
        found: dict[str, list[str]] = {"loss": []}
        for name in sorted(self.curves, key=lambda name: name.startswith("validation_")):
            found.setdefault(name.removeprefix("validation_"), []).append(name)
        return {quantity: names for quantity, names in found.items() if names}

    @property
    def layer_norms(self) -> dict[str, np.ndarray]:
        """The norm of the gradient by epoch for each layer: of "layers.0.weight" and "layers.0.bias" together."""
        squares: dict[str, np.ndarray] = {}
        for name, norms in self.gradient_norms.items():
            layer, square = name.rpartition(".")[0] or name, np.asarray(norms, float)
            squares[layer] = np.hypot(squares[layer], square) if layer in squares else square
        return squares
