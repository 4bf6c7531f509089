"""All that decides a run, whoever takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint import optim

from ..labels import Array


@dataclass(frozen=True)
class Job:
    """All that decides a run."""

    model: Any
    loss: Callable[..., Any]
    X: Array
    y: Array
    weights: Array | None
    optimizer: str | optim.Optimizer
    rate: float
    alpha: float
    """The strength of half the squares of the weights, beside the mean loss."""
    unit: float
    """What the loss is multiplied by."""
    batch_size: int
    epochs: int
    shuffle: bool
    seed: int
    tol: float
    patience: int
    regularizer: Callable[..., Any] | None = None
    validation: tuple[Array, Array] | None = None
    score: Callable[..., Any] | None = None
    callbacks: Sequence[Callable[..., Any]] = ()
    state: Any = None
    """Of the optimiser, to go on with."""


@dataclass
class EpochWatch:
    """Which epoch is best, and whether nothing has become better for too long."""

    tol: float
    patience: int
    least: float = np.inf
    epochs: int = 0
    best_epoch: int = 0
    waited: int = 0

    def is_best(self, value: float) -> bool:
        """Whether the loss of one epoch more is the least so far."""
        self.epochs += 1
        self.waited = 0 if value < self.least - self.tol else self.waited + 1
        if not value < self.least:
            return False
        self.least, self.best_epoch = value, self.epochs
        return True

    @property
    def is_over(self) -> bool:
        """Whether to end."""
        return self.waited >= self.patience


def over(watched: str, epochs: int, patience: int) -> str:
    """Why a run has ended before its last epoch."""
    return f"after {epochs} epochs: the {watched.replace('_', ' ')} has not become smaller for {patience}"
