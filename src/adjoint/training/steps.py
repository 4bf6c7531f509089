"""One step: forward, back and update, as one jitted function."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from adjoint import optim

from .task import Array, Arrays, Batch, Task


class State(NamedTuple):
    """Everything that a step changes."""

    parameters: Arrays
    statistics: Arrays
    optimizer: Any


class Examples(NamedTuple):
    """The examples of one step, by their numbers, one row for each batch that is accumulated."""

    chosen: Array
    weights: Array | None = None
    """How much each counts; None if that is said by the data."""

    def counting(self, of_data: Array | None) -> Examples:
        """Those of the batches in which an example counts."""
        weights = self.weights if of_data is None or self.weights is not None else of_data[self.chosen]
        counts = np.ones(len(self.chosen), bool) if weights is None else np.any(weights, axis=1)
        if np.all(counts):
            return self
        return Examples(self.chosen[counts], None if self.weights is None else self.weights[counts])


def step_of(task: Task, optimizer: optim.Optimizer, structure: Any) -> Any:
    """The step, of the leaves of a state with this structure: one jitted function if the optimiser lets it be one.

    Arrays go in and come out as a flat tuple, which machine code takes apart by itself. With the new ones come the
    loss, the sums of squared norms of gradients so far, and a number that is finite if loss and gradient are; if not,
    no step is taken. The new arrays take the memory of the old ones where nobody else holds these.
    """
    if optim.needs_function(optimizer):
        return StepInParts(task, optimizer, structure)

    def step(
        leaves: tuple[Any, ...], squares: Array, inputs: Any, targets: Any, weights: Any,
        chosen: Array, own: Any, key: Array, number: Any,
    ) -> tuple[tuple[Any, ...], Any, Array, Any]:  # fmt: skip
        state = ad.tree.unflatten(structure, leaves)
        data, examples = Batch(inputs, targets, weights), Examples(chosen, own)
        value, slopes, statistics = _gradient(task, state, data, examples, task.key_of_step(key, number))
        added = _squares(slopes)
        health = value + np.sum(added)
        if not np.isfinite(health):
            return (), value, squares, health
        move, memory = optimizer.update(slopes, state.optimizer, state.parameters, value=value)
        del slopes  # which would take memory while the step is recorded
        new = State(optim.apply(state.parameters, move), statistics, memory)
        return tuple(ad.tree.leaves(new)), value, squares + added, health

    step.told_as = f"training of {task.name}"  # type: ignore[attr-defined]
    return ad.jit(step, donate_argnums=0)


class StepInParts:
    """A step of an optimiser that looks at the function and decides by what it sees: the loss alone is jitted."""

    def __init__(self, task: Task, optimizer: optim.Optimizer, structure: Any) -> None:
        self.task, self.optimizer, self.structure = task, optimizer, structure
        self.evaluated = ad.jit(
            lambda state, data, examples, key: _gradient(task, State(*state), Batch(*data), Examples(*examples), key)
        )
        self.objective = ad.jit(
            lambda parameters, statistics, data, examples, key: _objective(
                task, parameters, statistics, Batch(*data), Examples(*examples), key
            )
        )

    @property
    def recordings(self) -> int:
        """How often its parts were recorded."""
        return self.evaluated.recordings + self.objective.recordings

    def __call__(
        self, leaves: tuple[Any, ...], squares: Array, inputs: Any, targets: Any, weights: Any,
        chosen: Array, own: Any, key: Array, number: Any,
    ) -> tuple[tuple[Any, ...], Any, Array, Any]:  # fmt: skip
        """As the jitted step."""
        state = ad.tree.unflatten(self.structure, leaves)
        key_of_step = self.task.key_of_step(key, number)
        batch = ((inputs, targets, weights), (chosen, own), key_of_step)
        value, slopes, statistics = self.evaluated((state.parameters, state.statistics, None), *batch)
        move, memory = self.optimizer.update(
            slopes, state.optimizer, state.parameters, value=value,
            function=lambda parameters: self.objective(parameters, state.statistics, *batch),
        )  # fmt: skip
        new = State(optim.apply(state.parameters, move), statistics, memory)
        added = _squares(slopes)
        return tuple(ad.tree.leaves(new)), value, squares + added, value + np.sum(added)


def _squares(gradient: Arrays) -> Array:
    return np.stack([np.sum(g * g) for g in gradient.values()])


def _gradient(task: Task, state: State, data: Batch, examples: Examples, key: Any) -> tuple[Any, Arrays, Arrays]:
    """Loss and gradient, means over the batches of a step, and the statistics after."""
    batches = len(examples.chosen)
    if batches == 1:
        return task.gradient(state.parameters, state.statistics, _batch(task, data, examples, 0), key)
    statistics, found = state.statistics, []
    for k in range(batches):
        own = None if key is None else ad.random.fold_in(key, k)
        value, slopes, statistics = task.gradient(state.parameters, statistics, _batch(task, data, examples, k), own)
        found.append((value, slopes))
    value, slopes = ad.tree.map(lambda *parts: sum(parts) * (1.0 / batches), *found)
    return value, slopes, statistics


def _objective(task: Task, parameters: Arrays, statistics: Arrays, data: Batch, examples: Examples, key: Any) -> Any:
    """The loss alone."""
    batches = range(len(examples.chosen))
    values = [task.objective(parameters, statistics, _batch(task, data, examples, k), key)[0] for k in batches]
    return sum(values) * (1.0 / len(values))


def _batch(task: Task, data: Batch, examples: Examples, k: int) -> Batch:
    """The examples of one of the batches of a step."""
    batch = task.rows(data, examples.chosen[k])
    return batch if examples.weights is None else batch._replace(weights=examples.weights[k])
