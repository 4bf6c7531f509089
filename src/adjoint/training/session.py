"""A run that is under way: its state, and how it takes an epoch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from adjoint import data as loading
from adjoint import optim

from ..optim.rates import is_watching, rates_of
from .averages.moving import started
from .averages.stochastic import added, renewed
from .history import History
from .interrupts import waiting
from .naming import named
from .schedule import Schedule
from .steps import Examples, State, step_of
from .task import Arrays, Batch, Task, rows_in
from .trouble import Trouble, told

OFTEN = 0.05
"""The progress bar hears of a run once in so many seconds."""


class Part(NamedTuple):
    """Steps of an epoch that belong together: their data, their examples, and how many examples each has."""

    data: Batch
    examples: list[Examples]
    sizes: list[int]

    def counting(self) -> Part:
        """Without batches whose examples all have the weight 0, which have no mean loss: they are no steps."""
        if self.data.weights is None and all([e.weights is None for e in self.examples]):
            return self
        taken = [e.counting(self.data.weights) for e in self.examples]
        kept = [(e, size) for e, size in zip(taken, self.sizes, strict=True) if len(e.chosen)]
        return self._replace(examples=[e for e, _ in kept], sizes=[size for _, size in kept])


@dataclass
class Taken:
    """Steps of an epoch that were taken."""

    losses: list[Any]
    """The loss at each of them."""
    sizes: list[int]
    """The number of examples of each."""
    squares: np.ndarray
    """For each parameter array, the sum of the squared norms of its gradients."""
    failed: Examples | None = None
    """The examples of the step whose loss or gradient was not finite, which was not taken."""
    ended: bool = False
    """Whether a callback has ended the run."""


@dataclass
class Session:
    """A run that is under way."""

    task: Task
    optimizer: Any
    data: Batch | Iterable[Any]
    schedule: Schedule
    pads: bool
    """Whether the last batch of an epoch is filled up with examples that do not count."""
    start: InitVar[State]
    history: History
    evaluate: Callable[[Arrays, Arrays], dict[str, float]] | None
    on_piece: Callable[[float, float], Any] = lambda fraction, speed: None
    """Called now and then with the fraction of the epoch that is done, and examples per second."""
    decay: float | None = None
    """That of weights averaged in each step, if they are."""
    mean_from: int | None = None
    """The epoch, counted from 1, from which on weights are averaged by epoch, if they are."""
    every: int = 0
    """Every how many steps there are numbers of a step; 0: never."""
    on_step: Callable[[dict[str, float]], bool] = lambda found: False
    """Called with these; true if the run is to end."""
    stopped: str = ""
    """Why it has to end, if it has to."""
    failed: bool = False
    """Whether it ended because of numbers that are not finite."""
    steps_taken: int = 0
    mean: tuple[Arrays, Arrays] | None = None
    """The weights averaged by epoch so far, and statistics that belong to them."""
    speed: float = 0.0
    """Examples per second in the last epoch."""
    step: Any = field(init=False)
    key: Any = field(init=False)
    leaves: tuple[Any, ...] = field(init=False)
    """The arrays of the state after the last step; nobody else keeps those of earlier steps."""
    structure: Any = field(init=False)

    def __post_init__(self, start: State) -> None:
        averages = () if self.decay is None else started(start.parameters, start.statistics)
        self.state = start._replace(averages=averages)
        given = (self.task, self.optimizer, self.structure, self.decay)
        self.step = optim.cached((step_of, *given), lambda: step_of(*given))
        self.key = ad.random.key(self.schedule.seed)

    @property
    def state(self) -> State:
        """Parameters, statistics and the optimiser's state after the last step."""
        found: State = ad.tree.unflatten(self.structure, self.leaves)
        return found

    @state.setter
    def state(self, state: State) -> None:
        leaves, self.structure = ad.tree.flatten(state)
        self.leaves = tuple([x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in leaves])

    @property
    def used(self) -> tuple[Arrays, Arrays]:
        """Parameters and statistics of the model as it is used: the averages, where there are some."""
        state = self.state
        return self.mean or state.averages or (state.parameters, state.statistics)

    def take_epoch(self, epoch: int) -> None:
        """All steps of one epoch, and what is to be known after it."""
        began, state = time.perf_counter(), self.state  # which is put together anew each time
        rates, dtype = rates_of(self.optimizer, state.optimizer), np.result_type(*state.parameters.values())
        del state  # steps write over its arrays if nobody else holds them
        taken = Taken([], [], np.zeros(len(self.history.names), dtype))
        for part in map(Part.counting, self._parts(epoch)):
            with _quiet(), waiting() as act:
                try:
                    self._take(part, taken, began, act, epoch)
                except IndexError:  # machine code does not say more, as of a label that is too large
                    self._tell_where(part)
                    raise
                if taken.failed is not None:
                    self._give_up(part.data, taken.failed, epoch)
                if taken.failed is not None or taken.ended:
                    return
        losses, sizes = taken.losses, taken.sizes
        if not sizes:
            raise ad.errors.InputError(
                ad.errors.message(
                    f"The data gave no batch in epoch {epoch + 1}.",
                    got=f"{type(self.data).__name__}, which gave nothing",
                    fix="Its iteration has to start anew in every epoch, as that of  data.batches(...)  does.",
                )
            )
        self.speed = sum(sizes) / max(time.perf_counter() - began, 1e-9)
        found = {"loss": float(np.average(losses, weights=sizes))}
        if self.mean_from is not None and epoch + 1 >= self.mean_from:
            self._add_to_mean(epoch)
        if self.evaluate is not None:
            found |= self.evaluate(*self.used)
        if is_watching(self.optimizer):
            self._observe(found.get("validation_loss", found["loss"]))
        found |= rates
        self.history.append(found, np.sqrt(taken.squares / len(losses)), time.perf_counter() - began)

    def _add_to_mean(self, epoch: int) -> None:
        """Count the weights after this epoch in, and go through its examples once more for their statistics."""
        state, start = self.state, self.mean_from or 1
        mean = added(None if self.mean is None else self.mean[0], state.parameters, epoch + 2 - start)
        statistics = state.statistics
        if statistics:
            key = self.task.key_of_step(self.key, self.steps_taken)
            with _quiet():
                statistics = renewed(self.task, mean, statistics, self._batches(epoch), key)
        self.mean = mean, statistics

    def _batches(self, epoch: int) -> Iterator[Batch]:
        """The batches of an epoch once more."""
        for part in map(Part.counting, self._parts(epoch)):
            for examples in part.examples:
                for chosen in examples.chosen:
                    yield self.task.rows(part.data, chosen)

    def _observe(self, value: float) -> None:
        """Tell the optimiser what was measured, for rates that go by it."""
        state = self.state
        told = optim.observe(self.optimizer, state.optimizer, value)
        if told is not state.optimizer:
            self.state = state._replace(optimizer=told)

    def _take(self, part: Part, taken: Taken, began: float, act: Callable[[], None], epoch: int) -> None:
        """The steps of a part of an epoch, until one of them is not finite, or a callback has seen enough.

        A step writes over the arrays of the last one: `leaves` is not kept beyond it, nor would that be overwritten.
        """
        step, (inputs, targets, weights), heard = self.step, part.data, began
        recordings, total = step.recordings, len(part.examples)
        for k, examples in enumerate(part.examples):
            number, rates = np.int64(self.steps_taken), None
            if self.every and (self.steps_taken + 1) % self.every == 0:
                rates = rates_of(self.optimizer, self.state.optimizer)
            given = (taken.squares, inputs, targets, weights, examples.chosen, examples.weights, self.key, number)
            leaves, loss, squares, whole, health = step(self.leaves, *given)
            while step.recordings != recordings and not self._is_over(leaves):
                recordings, leaves = step.recordings, ()  # what NumPy computed meanwhile may differ in the last bit
                leaves, loss, squares, whole, health = step(self.leaves, *given)
            if not math.isfinite(health):
                taken.failed = examples
                return
            self.leaves, taken.squares, leaves = leaves, squares, ()
            self.steps_taken += 1
            act()
            taken.losses.append(loss)
            if rates is not None and self._note(epoch, float(loss), math.sqrt(whole), rates):
                taken.ended = True
                return
            now = time.perf_counter()
            if now - heard > OFTEN:
                heard = now
                self.on_piece((k + 1) / total, (k + 1) * examples.chosen.size / (now - began))
        taken.sizes += part.sizes

    def _note(self, epoch: int, loss: float, norm: float, rates: dict[str, float]) -> bool:
        """Keep the numbers of a step; whether the run is to end there."""
        found = {"step": self.steps_taken, "epoch": epoch + 1, "loss": loss, "gradient_norm": norm, **rates}
        self.history.append_step(found)
        if self.on_step(found):
            self.stopped = f"by a callback in step {self.steps_taken} (epoch {epoch + 1})"
            return True
        return False

    def _is_over(self, leaves: tuple[Any, ...]) -> bool:
        """Whether these were written over those of the last step: then the step was not recorded here but elsewhere."""
        return any([new is old and isinstance(new, np.ndarray) for new, old in zip(leaves, self.leaves, strict=False)])

    def _tell_where(self, part: Part) -> None:
        """Raise what model and loss have to say as plain NumPy of the first batch that they do not take."""
        for chosen, _ in part.examples:
            batch = self.task.rows(part.data, chosen.ravel())
            state, key = self.state, self.task.key_of_step(self.key, self.steps_taken)
            outputs, _ = self.task.outputs_in_training(state.parameters, state.statistics, batch.inputs, key)
            with named("the loss", self.task.loss):
                self.task.loss_of(outputs, batch)

    def _give_up(self, data: Batch, examples: Examples, epoch: int) -> None:
        """Say what happened in a step that was not finite; the state is that before it."""
        chosen, weights = examples
        batch = self.task.rows(data, chosen.ravel())
        batch = batch if weights is None else batch._replace(weights=weights.ravel())
        key = self.task.key_of_step(self.key, self.steps_taken)
        self.failed = True
        self.stopped = told(Trouble(epoch, self.steps_taken, chosen.ravel()), self.task, self.state, batch, key)

    def _parts(self, epoch: int) -> Iterator[Part]:
        """The steps of an epoch."""
        if not isinstance(self.data, Batch):
            data: Any = self.data
            yield from _streamed(data.epoch(epoch) if isinstance(data, loading.Batches) else data)
            return
        size, n = self.schedule.examples, rows_in(self.data)
        order = self.schedule.of_epoch(n, epoch)
        whole, rest = divmod(n, size)
        shape = (self.schedule.accumulate, self.schedule.size)
        if self.pads:
            steps = self.schedule.steps(n)
            filled = np.concatenate([order, np.broadcast_to(order[:1], steps * size - n)])
            weights = (np.arange(steps * size) < n).astype(np.result_type(*self.state.parameters.values()))
            if self.data.weights is not None:
                weights = weights * self.task.converted(self.data.weights)[filled]
            pairs = zip(filled.reshape(steps, *shape), weights.reshape(steps, *shape), strict=True)
            yield Part(
                self.data._replace(weights=None),
                [Examples(*pair) for pair in pairs],
                [size] * whole + [rest] * (rest > 0),
            )
            return
        if whole:
            rows = order[: whole * size].reshape(whole, *shape)
            yield Part(self.data, [Examples(chosen) for chosen in rows], [size] * whole)
        if rest and not self.schedule.drop_last:
            yield Part(self.data, [Examples(order[whole * size :][None])], [rest])


def _quiet() -> np.errstate:
    """What is not finite is told once, with the step; errors that the user has asked for are raised."""
    ignored: dict[str, Any] = {kind: "ignore" for kind, what in np.geterr().items() if what == "warn"}
    return np.errstate(**ignored)


def _streamed(batches: Iterable[Any]) -> Iterator[Part]:
    """Batches as they come, each of them a step."""
    for batch in batches:
        if isinstance(batch, (tuple, list)) and len(batch) != 2:
            raise ad.errors.InputError(
                ad.errors.message(
                    "A batch is a pair of inputs and targets, or inputs alone.",
                    got=f"{len(batch)} parts",
                    fix="Give  (inputs, targets);  several inputs are a tuple or a dict themselves.",
                )
            )
        pair = batch if isinstance(batch, (tuple, list)) else (batch, None)
        inputs, targets = [loading.as_arrays(part, name) for part, name in zip(pair, "Xy", strict=True)]
        n = len(ad.tree.leaves(inputs)[0])
        yield Part(Batch(inputs, targets), [Examples(np.arange(n)[None])], [n])
