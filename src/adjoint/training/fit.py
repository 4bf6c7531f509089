"""What a training run gives back: the model, its history, and pictures of both."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

import adjoint as ad
from adjoint import nn
from adjoint.data import as_arrays

from .evaluation import predicted
from .history import History
from .record import Boundary, Record
from .task import Arrays, Batch, Task

if TYPE_CHECKING:
    from .page import TrainingPage

M = TypeVar("M")
GRID = 60
"""The boundary between classes is shown on a grid of so many places each way."""
POINTS = 400
"""So many examples are shown in it."""
ROWS = 10
"""So many of the last epochs are in the table that a notebook shows."""

INSTEAD = {
    "predict_proba": "nn.softmax(fit.model(X))",
    "evaluate": "losses.empirical_risk(fit.model, loss, X, y)",
    "score": "losses.empirical_risk(fit.model, loss, X, y)",
    "best_model": "fit.model, which is the best one where patience= was given",
    "averaged": "fit.model, which is the averaged one where ema= or swa= was given",
    "ema_model": "fit.model, which is the averaged one where ema= was given",
    "losses": 'fit.history["loss"]',
    "loss": 'fit.history["loss"]',
    "parameters": "nn.parameters(fit.model)",
    "params": "nn.parameters(fit.model)",
    "weights": "nn.parameters(fit.model)",
    "state": "fit.optimizer_state",
    "save": "np.savez(path, **nn.parameters(fit.model), **nn.statistics(fit.model)), or checkpoint= of ad.train",
}
"""What people look for in a fit, to where it is."""


def lost(outputs: Any, targets: Any) -> Any:
    """In the place of the loss of a fit that was read from a file."""
    raise NotImplementedError("the loss of a fit is not kept in a file")


@dataclass(frozen=True)
class TrainingStep:
    """A step that was taken, as `step_callbacks` of `ad.train` get it.

    Parameters
    ----------
    step, epoch : int
        Their numbers, counted from 1.
    loss, gradient_norm : float
        Of the step's batch, before the step was taken.
    rates : dict of str to float
        The rate that it was taken with, `{"rate": 0.001}`; of groups of parameters one for each.
    fit : callable
        `step.fit()` is the `Fit` so far, with copies of the arrays.
    """

    step: int
    epoch: int
    loss: float
    gradient_norm: float
    rates: Mapping[str, float]
    fit: Callable[[], Fit[Any]] = field(repr=False)

    @classmethod
    def of(cls, found: Mapping[str, float], fit: Callable[[], Fit[Any]]) -> TrainingStep:
        """From the numbers of a step by name."""
        numbers = (int(found["step"]), int(found["epoch"]), found["loss"], found["gradient_norm"])
        return cls(*numbers, {name: x for name, x in found.items() if name.startswith("rate")}, fit)

    @property
    def rate(self) -> float:
        """The rate that it was taken with; of groups that of the first, nan if the optimiser has none."""
        return next(iter(self.rates.values()), float("nan"))


@dataclass(frozen=True, repr=False)
class Fit(Generic[M]):
    """A trained model and how it came about; made by `ad.train`.

    Parameters
    ----------
    model : callable
        The trained model: the best one where there was early stopping, else the last; with averaged weights where
        `ema=` or `swa=` averaged them.
    history : History
        Arrays by name, one number for each epoch: `history["loss"]`, `history["validation_loss"]`.
    stopped : str
        Why the run ended.
    best_epoch : int
        The epoch, counted from 1, whose weights the model has.
    steps : int
        How many updates were made.
    optimizer_state : any containers
        The state of the optimiser after the last step.
    snapshots : dict of int to dict of ndarray
        Parameters of small models at some epochs, for pictures; epoch 0 is before training.
    task : Task, optional
        What was trained.
    examples : Batch, optional
        Some of the data, where they can be shown.
    batch_size : int
        Examples in a batch.
    last_model : callable, optional
        The model after the last step, to which `optimizer_state` belongs: neither averaged nor the best one.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import nn, losses, optim
    >>> x = np.linspace(0.0, 1.0, 20)[:, None]
    >>> fit = ad.train(nn.Dense(1, 1, key=0), losses.squared, (x, 2.0 * x + 1.0), optim.sgd(0.5), epochs=100)
    >>> fit.model.weight.round(2), fit.model.bias.round(2), fit.stopped
    (array([[2.]]), array([1.]), 'after 100 epochs')
    """

    model: M
    history: History
    stopped: str
    best_epoch: int
    steps: int
    optimizer_state: Any
    snapshots: Mapping[int, Arrays] = field(default_factory=dict)
    task: Task | None = None
    examples: Batch | None = None
    batch_size: int = 32
    last_model: M = None  # type: ignore[assignment]  # that is: the model

    def __post_init__(self) -> None:
        if self.last_model is None:
            self.__dict__["last_model"] = self.model

    def predict(self, X: Any) -> Any:
        """The outputs of the model for many inputs, by machine code, in batches as large as those of the training.

        Parameters
        ----------
        X : array, containers of arrays, or frame
            The inputs, one row for each example.

        Returns
        -------
        ndarray or containers of arrays
            The outputs, one row for each example.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> from adjoint import nn, losses, optim
        >>> x = np.linspace(0.0, 1.0, 20)[:, None]
        >>> fit = ad.train(nn.Dense(1, 1, key=0), losses.squared, (x, 2.0 * x + 1.0), optim.sgd(0.5), epochs=100)
        >>> fit.predict(np.array([[0.0], [0.5]])).round(2)
        array([[1.],
               [2.]])
        """
        assert self.task is not None  # every fit of `ad.train` has one, as has one that was read from a file
        parameters = nn.parameters(self.model)
        trained = {name: parameters[name] for name in self.history.names}
        return predicted(self.task, trained, nn.statistics(self.model), as_arrays(X), self.batch_size)

    def __getattr__(self, name: str) -> Any:
        meant = f": use  {INSTEAD[name]}" if name in INSTEAD else ""
        raise AttributeError(f"'Fit' object has no attribute {name!r}{meant}")

    def __getstate__(self) -> dict[str, Any]:
        """All but the task, which holds functions that cannot be written to a file."""
        return {**self.__dict__, "task": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """With a task that gives outputs, for pictures."""
        self.__dict__.update(state)
        parameters = nn.parameters(self.model)
        frozen = [name for name in parameters if name not in self.history.names]
        dtypes = {parameters[name].dtype for name in self.history.names}
        task = Task(nn.partition(self.model, frozen)[1], lost, dtype=dtypes.pop() if len(dtypes) == 1 else None)
        self.__dict__["task"] = task

    def __repr__(self) -> str:
        last = ", ".join([f"{name} {value:.4g}" for name, value in self.history.last.items() if name != "seconds"])
        counts = {"epoch": self.history.epochs, "step": self.steps}
        how_long = ", ".join([f"{count} {name}{'s' if count != 1 else ''}" for name, count in counts.items()])
        return f"<fit of {type(self.model).__name__}: {how_long}; {last}; {self.stopped}>"

    def _repr_html_(self) -> str:
        """For notebooks: a table of epochs, of many the last ones and the best, and how the run ended."""
        from ..notebooks import html_table

        history = self.history
        first, best = max(0, history.epochs - ROWS), min(self.best_epoch, history.epochs)
        epochs = sorted(
            {*range(first, history.epochs), *([0] if history.epochs else []), *([best - 1] if best else [])}
        )
        cells = [[f"{k + 1:,}", *[f"{history[name][k]:.4g}" for name in history]] for k in epochs]
        size = sum([a.size for a in nn.parameters(self.model).values()])
        facts = f"{size:,} parameters, {history.epochs:,} epochs, {self.steps:,} steps; {self.stopped}"
        weights = [f"weights of epoch {best:,}"] if best != history.epochs else []
        header = ["epoch", *[name.replace("_", " ") for name in history]]
        return html_table(header, cells, texts=(), title=type(self.model).__name__, foot=[facts, *weights])

    def plot(self, axes: Any = None) -> Any:
        """Learning curves and gradient norms, with matplotlib.

        Parameters
        ----------
        axes : matplotlib axes, optional
            Where to draw the curves alone; a new figure if left out.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from .plot import figure

        return figure(self.record(), axes)

    @overload
    def page(self) -> TrainingPage: ...

    @overload
    def page(self, path: str | os.PathLike[str]) -> Path: ...

    def page(self, path: str | os.PathLike[str] | None = None) -> Path | TrainingPage:
        """Write a page that needs nothing but a browser: curves, gradient norms, weights, for two inputs the boundary.

        Parameters
        ----------
        path : str or path, optional
            The file to write. Without it nothing is written, and a notebook shows the page inline.

        Returns
        -------
        pathlib.Path or TrainingPage
            The file; or the page, which `save(path)` writes and `show()` opens in a browser.
        """
        from .page import TrainingPage, write

        return TrainingPage(self.record()) if path is None else write(self.record(), path)

    def record(self) -> Record:
        """What `plot` and `page` show.

        Returns
        -------
        Record
            Facts, curves, norms and pictures as arrays.
        """
        frames = sorted(self.snapshots)
        first = self.snapshots[frames[0]] if frames else {}
        matrices = [name for name, a in first.items() if a.ndim == 2]
        parameters = nn.parameters(self.model)
        curves = {name: values for name, values in self.history.items() if name not in ("seconds", "gradient_norm")}
        curves = {name: x for name, x in curves.items() if not name.startswith("rate") or np.ptp(x) > 0.0}
        norms = self.history.gradient_norms
        return Record(
            title=type(self.model).__name__,
            facts={
                "parameters": f"{sum([a.size for a in parameters.values()]):,}",
                "epochs": f"{self.history.epochs:,}",
                "steps": f"{self.steps:,}",
                "seconds": f"{np.sum(self.history['seconds']):.2f}" if self.history.epochs else "0",
                **({"weights of epoch": f"{self.best_epoch:,}"} if self.best_epoch != self.history.epochs else {}),
                "stopped": self.stopped,
            },
            curves=curves,
            gradient_norms={name: norms[:, k] for k, name in enumerate(self.history.names)},
            frames=frames,
            weights={name: [self.snapshots[f][name] for f in frames] for name in matrices},
            boundary=self._boundary(frames),
        )

    def _boundary(self, frames: list[int]) -> Boundary | None:
        """What the model says over the plane, if its inputs are points of one."""
        if self.examples is None or self.task is None or not frames:
            return None
        points = np.asarray(self.examples.inputs)
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.08 * np.maximum(high - low, 1e-9)
        low, high = low - margin, high + margin
        x, y = np.meshgrid(np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
        grid = self.task.converted(np.stack([x.ravel(), y.ravel()], axis=1))
        statistics = nn.statistics(self.model)
        values = []
        for frame in frames:
            outputs = np.asarray(self.task.outputs(self.snapshots[frame], statistics, grid))
            if outputs.ndim == 2 and outputs.shape[1] > 1:
                values.append(np.argmax(outputs, axis=1).reshape(GRID, GRID))
            else:
                values.append(outputs.reshape(GRID, GRID))
        labels = np.asarray(self.examples.targets)
        labels = np.argmax(labels, axis=1) if labels.ndim == 2 and labels.shape[1] > 1 else labels.reshape(len(labels))
        return Boundary((low[0], high[0]), (low[1], high[1]), values, points, labels)


def shown_examples(data: Any) -> Batch | None:
    """Some of the examples, if they are points of a plane with one target each."""
    if (
        not isinstance(data, Batch)
        or not isinstance(data.inputs, np.ndarray)
        or not isinstance(data.targets, np.ndarray)
    ):
        return None
    if data.inputs.ndim != 2 or data.inputs.shape[1] != 2 or len(ad.tree.leaves(data.targets)) != 1:
        return None
    chosen = np.linspace(0, len(data.inputs) - 1, min(POINTS, len(data.inputs))).astype(int)
    return Batch(np.array(data.inputs[chosen]), np.array(data.targets[chosen]))
