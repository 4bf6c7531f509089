"""A run from its first epoch, or from where it was left, to its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad

from .fit import Fit, shown_examples
from .history import History
from .interrupts import TornError
from .saving import fingerprint, folder_of, load, name_of, packed, save, unpacked
from .session import Session
from .task import Arrays, Batch

FRAMES = 24
"""So many times the parameters are kept for pictures,"""
SMALL = 2**18
"""if they have fewer bytes than this."""


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
    callbacks: Sequence[Callable[[Fit], Any]] = ()
    checkpoint: str | os.PathLike[str] | None = None
    best: tuple[Arrays, Arrays] | None = None
    snapshots: dict[int, Arrays] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    """What has to be the same for a run to go on from a file."""

    def to_the_end(self, bar: Any) -> Fit:
        """Take the epochs that are left."""
        session = self.session
        self._keep_snapshot()
        if self.checkpoint is not None:
            folder_of(self.checkpoint)
            self.facts = self._facts()
            if Path(self.checkpoint).exists():
                self._resume(self.checkpoint)
        session.on_piece = lambda fraction, speed: bar.update(
            session.history.epochs + 1, fraction, speed=speed, **_shown(session.history.last)
        )
        try:
            while not session.stopped and session.history.epochs < self.epochs and not self._is_over():
                self._take_epoch(bar)
        except TornError:
            raise
        except KeyboardInterrupt:
            session.stopped = f"interrupted in epoch {session.history.epochs + 1}"
        return self.fit()

    def fit(self) -> Fit:
        """What there is so far."""
        session, state = self.session, self.session.state
        n = session.history.epochs
        parameters, statistics = self.best or (state.parameters, state.statistics)
        over = f"after {n} {'epoch' if n == 1 else 'epochs'}"
        if self._is_over():
            over += f": the {self.patience.watched.replace('_', ' ')} has not become smaller for {self.patience.epochs}"
        return Fit(
            session.task.rebuild(parameters, statistics),
            session.history,
            session.stopped or over,
            session.history.best(self.patience.watched) if self.best else n,
            session.steps_taken,
            state.optimizer,
            dict(self.snapshots),
            session.task,
            shown_examples(session.data),
        )

    def _is_over(self) -> bool:
        return self.session.history.epochs > 0 and self.patience.is_over(self.session.history)

    def _take_epoch(self, bar: Any) -> None:
        session = self.session
        session.take_epoch(session.history.epochs)
        if session.stopped:
            return
        if self.patience.is_best(session.history):
            self.best = (session.state.parameters, session.state.statistics)
        self._keep_snapshot()
        bar.update(session.history.epochs, speed=session.speed, **_shown(session.history.last))
        if self.checkpoint is not None:
            self._save(self.checkpoint)
        if self.callbacks:
            fit = self.fit()
            if any([callback(fit) is True for callback in self.callbacks]):
                session.stopped = f"by a callback after {session.history.epochs} epochs"

    def _keep_snapshot(self) -> None:
        epoch, parameters = self.session.history.epochs, self.session.state.parameters
        chosen = np.linspace(0, self.epochs, min(FRAMES, self.epochs + 1)).astype(int)
        if epoch in chosen and sum([a.nbytes for a in parameters.values()]) < SMALL:
            self.snapshots[epoch] = parameters

    def _facts(self) -> dict[str, Any]:
        """What has to be the same for a run to go on, before its first step."""
        session, schedule = self.session, self.session.schedule
        streamed = not isinstance(session.data, Batch)
        return {
            "parameters": {name: f"{a.dtype}{list(a.shape)}" for name, a in session.state.parameters.items()},
            "loss": name_of(session.task.loss),
            "regulariser": name_of(session.task.regulariser),
            "optimizer": repr(session.optimizer),
            "the start of the model": fingerprint((session.state.parameters, session.state.statistics)),
            "data": type(session.data).__name__ if streamed else fingerprint(tuple(session.data)),
            "batch_size": schedule.size,
            "seed": schedule.seed,
            "shuffle": schedule.shuffle,
            "drop_last": schedule.drop_last,
            "accumulate": schedule.accumulate,
        }

    def _save(self, path: str | os.PathLike[str]) -> None:
        session, state = self.session, self.session.state
        arrays = {
            **packed("parameters", state.parameters),
            **packed("statistics", state.statistics),
            **packed("optimizer", state.optimizer),
            **({} if self.best is None else packed("best", self.best)),
            **{f"history.{name}": a for name, a in session.history.saved().items()},
        }
        for epoch, parameters in self.snapshots.items():
            arrays |= packed(f"snapshot.{epoch}", parameters)
        facts = {"steps": session.steps_taken, "snapshots": list(self.snapshots), "run": self.facts}
        save(path, arrays, facts)

    def _resume(self, path: str | os.PathLike[str]) -> None:
        """Go on from a file, if it is one of this run."""
        arrays, facts = load(path)
        mine, its = self.facts, facts.get("run", {})
        different = [name for name in mine if mine[name] != its.get(name)]
        if different:
            name = different[0]
            raise ad.errors.InputError(
                ad.errors.message(
                    f"The checkpoint {os.fspath(path)!r} is of another run: {name} differs.",
                    got=f"{its.get(name)!r} in the file, {mine[name]!r} here",
                    fix="Call  ad.train  as then, or give  checkpoint=  another name.",
                )
            )
        session, state = self.session, self.session.state
        session.state = state._replace(
            parameters=unpacked("parameters", state.parameters, arrays),
            statistics=unpacked("statistics", state.statistics, arrays),
            optimizer=unpacked("optimizer", state.optimizer, arrays),
        )
        if "best.0" in arrays:
            self.best = unpacked("best", (state.parameters, state.statistics), arrays)
        saved = {name: arrays[f"history.{name}"] for name in ("names", "values", "norms")}
        session.history = History.loaded(session.history.names, saved)
        session.steps_taken = facts["steps"]
        self.snapshots = {k: unpacked(f"snapshot.{k}", state.parameters, arrays) for k in facts["snapshots"]}


def _shown(last: dict[str, float]) -> dict[str, float]:
    """What the progress bar shows of an epoch."""
    return {name: value for name, value in last.items() if name not in ("gradient_norm", "seconds")}
