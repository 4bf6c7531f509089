"""A run of a plain network without a compiler: the same epochs, history and rules of stopping as `ad.train`'s."""

from __future__ import annotations

import functools
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjoint import data, losses, nn
from adjoint.training import Fit, History

from ..labels import Array
from .choices import in_scales, resumed, shared
from .jobs import EpochWatch, Job, over
from .units import Units
from .written_out import ACTIVATIONS, Plain, cross_entropy, squared

LOSSES: dict[Any, Any] = {losses.cross_entropy: cross_entropy, losses.squared: squared}
FRAMES = 24
"""So many times the weights are kept for pictures,"""
SMALL = 2**18
"""if they have fewer bytes than this."""
MOST_STEPS = 10_000
"""For more steps than this a compiler is worth waiting for."""


def suits(job: Job) -> bool:
    """Whether a job is one of these: dense layers, one activation, a plain loss, Adam."""
    network, _ = _taken_apart(job.model)
    if (
        job.optimizer != "adam"
        or _taken_from(job.loss)[0] not in LOSSES
        or job.regularizer is not None
        or network is None
    ):
        return False
    used = {getattr(a, "function", None) for a in network.activations}
    kinds = {a.dtype for layer in network.layers for a in (layer.weight, layer.bias) if a is not None}
    return (
        len(used) <= 1
        and used <= ACTIVATIONS.keys()
        and not network.norms
        and network.dropout is None
        and all([layer.bias is not None for layer in network.layers])
        and kinds == {job.X.dtype}
        and job.epochs * -(-len(job.X) // job.batch_size) <= MOST_STEPS
    )


def _taken_apart(model: Any) -> tuple[nn.MLP | None, Units | None]:
    if isinstance(model, nn.Sequential) and len(model.layers) == 2 and isinstance(model.layers[1], Units):
        return _taken_apart(model.layers[0])[0], model.layers[1]
    return (model if isinstance(model, nn.MLP) else None), None


def _taken_from(loss: Any) -> tuple[Any, tuple[float, ...] | None]:
    """A loss, and the scales of outputs that it is in, if any."""
    if isinstance(loss, functools.partial) and loss.func is in_scales:
        return loss.keywords["loss"], loss.keywords["scales"]
    return loss, None


@dataclass
class UncompiledRun:
    """A run that is under way."""

    job: Job
    stopped: str = ""
    best: Array | None = None
    steps: int = 0
    snapshots: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        network, self.units = _taken_apart(self.job.model)
        assert network is not None  # as `suits` has found
        self.plain = Plain(network, min(self.job.batch_size, len(self.job.X)))
        loss, scales = _taken_from(self.job.loss)
        self.loss, self.scales = LOSSES[loss], None if scales is None else np.asarray(scales, self.plain.theta.dtype)
        self.names = list(nn.parameters(self.job.model))
        self.history = History(self.names)
        self.watch = EpochWatch(self.job.tol, self.job.patience)
        own = resumed(shared("adam", self.job.model), self.job)[3]
        self.plain.count = int(own["count"])
        for vector, arrays in ((self.plain.mean, own["mean"]), (self.plain.square, own["square"])):
            np.concatenate([arrays[name].ravel() for name in self.names], out=vector)

    def to_the_end(self) -> Fit:
        """All epochs, or as many as it takes."""
        frames = {*np.linspace(0, self.job.epochs, min(FRAMES, self.job.epochs + 1)).astype(int).tolist()}
        frames = frames if self.plain.theta.nbytes < SMALL else set()
        try:
            with np.errstate(all="ignore"):
                while not self.stopped and self.history.epochs < self.job.epochs:
                    if self.history.epochs in frames:
                        self.snapshots[self.history.epochs] = self._named(self.plain.theta)
                    self._take_epoch()
        except KeyboardInterrupt:
            self.stopped = f"interrupted in epoch {self.history.epochs + 1}"
        return self.fit()

    def fit(self) -> Fit:
        """What there is so far."""
        n, job = self.history.epochs, self.job
        theta = self.plain.theta if self.best is None else self.best
        own = self.plain
        moments = {"count": np.int64(own.count), "mean": self._named(own.mean), "square": self._named(own.square)}
        state = (*(own.theta.dtype.type(x) for x in (job.rate, job.alpha, job.unit)), moments)
        return Fit(
            nn.replace(job.model, self._named(theta)), self.history,
            self.stopped or f"after {n} {'epoch' if n == 1 else 'epochs'}",
            n if self.best is None else self.watch.best_epoch, self.steps, state, dict(self.snapshots),
        )  # fmt: skip

    def _named(self, vector: Array) -> dict[str, Array]:
        return {name: part.copy() for name, part in zip(self.names, self.plain.parts(vector), strict=True)}

    def _take_epoch(self) -> None:
        job, plain, began = self.job, self.plain, time.perf_counter()
        n, size = len(job.X), job.batch_size
        order = data.order(n, job.seed, self.history.epochs) if job.shuffle else np.arange(n)
        total, squares = 0.0, np.zeros(len(self.names))
        for start in range(0, n, size):
            rows = order[start : start + size]
            X, y = job.X[rows], job.y[rows]
            share = np.full(len(rows), 1.0 / len(rows), X.dtype) if job.weights is None else _shares(job.weights[rows])
            values = plain.forward(X)
            value = self._value(values[-1], y, share)
            plain.backward(X, values, values[-1])
            added = [float(np.vdot(part, part)) for part in plain.slopes]
            if not np.isfinite(value + sum(added)):
                self._give_up(rows)
                return
            plain.step(job.rate, job.alpha, job.unit)
            self.steps += 1
            total += value * len(rows)
            squares += added
        found = {"loss": total / n, **self._validated()}
        self.history.append(found, np.sqrt(squares / -(-n // size)), time.perf_counter() - began)
        self._judge(found)

    def _value(self, z: Array, y: Array, share: Array) -> float:
        """The loss; what the last layer gave is overwritten by the slopes by it."""
        if self.units is not None:
            z *= self.units.scale
            z += self.units.shift
        value = self._loss(z, y, share)
        if self.units is not None:
            z *= self.units.scale
        return value

    def _loss(self, z: Array, y: Array, share: Array) -> float:
        """The loss of outputs, which are overwritten by the slopes by them."""
        if self.scales is None:
            return float(self.loss(z, y, share))
        z /= self.scales
        value = float(self.loss(z, y / self.scales, share))
        z /= self.scales
        return value

    def _validated(self) -> dict[str, float]:
        if self.job.validation is None:
            return {}
        X, y = self.job.validation
        z = self.plain.forward(X)[-1]
        outputs = z if self.units is None else self.units(z)
        found = {} if self.job.score is None else {"score": float(self.job.score(outputs, y))}
        share = np.full(len(X), 1.0 / len(X), X.dtype)
        return {"validation_loss": self._loss(outputs, y, share), **found}

    def _judge(self, found: dict[str, float]) -> None:
        """Keep the best epoch, and end where nothing becomes better."""
        job, n = self.job, self.history.epochs
        watched = "loss" if job.validation is None else "validation_loss"
        if self.watch.is_best(found[watched]) and job.validation is not None:
            self.best = self.plain.theta.copy()
        if self.watch.is_over:
            self.stopped = over(watched, n, job.patience)
        elif job.callbacks:
            fit = self.fit()
            if any([callback(fit) is True for callback in job.callbacks]):
                self.stopped = f"by a callback after {n} epochs"

    def _give_up(self, rows: Array) -> None:
        where = (
            f"in step {self.steps + 1} (epoch {self.history.epochs + 1}, examples {', '.join(map(str, rows[:8]))}, ...)"
        )
        self.stopped = f"the loss or its gradient was not finite {where}; the weights before that step are kept"
        warnings.warn(f"Training ended early: {self.stopped}.", RuntimeWarning, stacklevel=2)


def _shares(weights: Array) -> Array:
    return weights / np.sum(weights)
