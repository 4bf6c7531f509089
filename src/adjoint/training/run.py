"""A run from its first epoch, or from where it was left, to its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad

from .checkpoints.files import folder_of
from .checkpoints.state import Saved, read, write
from .fit import Fit, TrainingStep, shown_examples
from .history import History
from .interrupts import TornError
from .naming import named
from .session import Session
from .task import Arrays, copies

FRAMES = 24
"""So many times the parameters are kept for pictures,"""
SMALL = 2**18
"""if they have fewer bytes than this."""
UNSHOWN = ("gradient_norm", "rate", "seconds")
"""Numbers of an epoch that the progress bar has no room for."""


@dataclass(frozen=True)
class Patience:
    """When to end because nothing becomes better."""

    epochs: int | None
    """So many epochs without a smaller value; None: never."""
    watched: str
    """The name of the value."""

    def is_best(self, history: History) -> bool:
        """Whether the last epoch is better than all before it."""
        return self.epochs is not None and history.best(self.watched) == history.epochs

    def is_over(self, history: History) -> bool:
        """Whether there has been no better epoch for too long."""
        return self.epochs is not None and history.epochs - history.best(self.watched) >= self.epochs


@dataclass
class Run:
    """What goes on around the epochs."""

    session: Session
    epochs: int
    patience: Patience
    callbacks: Sequence[Callable[[Fit[Any]], Any]] = ()
    step_callbacks: Sequence[Callable[[TrainingStep], Any]] = ()
    checkpoint: str | os.PathLike[str] | None = None
    best: tuple[Arrays, Arrays] | None = None
    snapshots: dict[int, Arrays] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    """What has to be the same for a run to go on from a file."""

    def to_the_end(self, bar: Any) -> Fit[Any]:
        """Take the epochs that are left."""
        session = self.session
        self._keep_snapshot()
        if self.checkpoint is not None:
            folder_of(self.checkpoint)
            if Path(self.checkpoint).exists():
                self._resume(self.checkpoint)
        session.on_piece = lambda fraction, speed: bar.update(
            session.history.epochs + 1, fraction, speed=speed, **_shown(session.history.last)
        )
        session.on_step = self._step_taken
        try:
            while not session.stopped and session.history.epochs < self.epochs and not self._is_over():
                self._take_epoch(bar)
        except TornError:
            raise
        except KeyboardInterrupt:
            session.stopped = f"interrupted in epoch {session.history.epochs + 1}"
        return self.fit()

    def fit(self, *, copied: bool = False) -> Fit[Any]:
        """What there is so far."""
        session, state = self.session, self.session.state
        n, last = session.history.epochs, (state.parameters, state.statistics)
        used = self.best or session.used
        models = [
            session.task.rebuild(*[copies(part) if copied else part for part in arrays])
            for arrays in ([used, last] if used[0] is not last[0] else [last])
        ]
        over = _after(n)
        if self._is_over():
            over += f": the {self.patience.watched.replace('_', ' ')} has not become smaller for {self.patience.epochs}"
        return Fit(
            models[0],
            session.history,
            session.stopped or over,
            session.history.best(self.patience.watched) if self.best else n,
            session.steps_taken,
            ad.tree.map(_own, state.optimizer) if copied else state.optimizer,
            dict(self.snapshots),
            session.task,
            shown_examples(session.data),
            session.schedule.size,
            models[-1],
        )

    def _is_over(self) -> bool:
        return self.session.history.epochs > 0 and self.patience.is_over(self.session.history)

    def _take_epoch(self, bar: Any) -> None:
        session = self.session
        session.take_epoch(session.history.epochs)
        if session.stopped:
            return
        if self.patience.is_best(session.history):
            self.best = session.used
        self._keep_snapshot()
        bar.update(session.history.epochs, speed=session.speed, **_shown(session.history.last))
        if self.checkpoint is not None:
            self._save(self.checkpoint)
        if any([self._called(k) for k in range(len(self.callbacks))]):
            session.stopped = f"by a callback {_after(session.history.epochs)}"

    def _called(self, k: int) -> bool:
        """Whether a callback wants the run to end; what it writes to the arrays that it gets, it writes to copies."""
        with named(f"callbacks[{k}]", self.callbacks[k]):
            return bool(self.callbacks[k](self.fit(copied=True)))

    def _step_taken(self, found: dict[str, float]) -> bool:
        """Whether a callback wants the run to end after a step."""
        step = TrainingStep.of(found, partial(self.fit, copied=True))
        ended = False
        for k, callback in enumerate(self.step_callbacks):
            with named(f"step_callbacks[{k}]", callback):
                ended |= bool(callback(step))
        return ended

    def _keep_snapshot(self) -> None:
        epoch, parameters = self.session.history.epochs, self.session.used[0]
        chosen = np.linspace(0, self.epochs, min(FRAMES, self.epochs + 1)).astype(int)
        if epoch in chosen and sum([a.nbytes for a in parameters.values()]) < SMALL:
            self.snapshots[epoch] = copies(parameters)

    def _saved(self) -> Saved:
        """What there is so far, for a file."""
        session = self.session
        return Saved(session.state, self.best, session.history, self.snapshots, session.steps_taken, session.mean)

    def _save(self, path: str | os.PathLike[str]) -> None:
        """Write the state; where that fails, as on a full disk, the run ends with what there is."""
        try:
            write(path, self._saved(), self.facts)
        except OSError as error:
            self.session.failed = True
            after = f"after epoch {self.session.history.epochs}"
            self.session.stopped = f"the checkpoint {os.fspath(path)!r} could not be written {after}: {error}"

    def _resume(self, path: str | os.PathLike[str]) -> None:
        """Go on from a file, if it is one of this run."""
        session = self.session
        session.state, self.best, session.history, self.snapshots, session.steps_taken, session.mean = read(
            path, self._saved(), self.patience.watched, self.facts
        )


def _after(epochs: int) -> str:
    return f"after {epochs} {'epoch' if epochs == 1 else 'epochs'}"


def _own(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _shown(last: dict[str, float]) -> dict[str, float]:
    """What the progress bar shows of an epoch."""
    return {name: value for name, value in last.items() if name not in UNSHOWN and not name.startswith("rate[")}
