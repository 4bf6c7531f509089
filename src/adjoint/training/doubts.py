"""What runs, but is hardly meant: the loss of every output with every target, a softmax twice, a gradient of 0."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from adjoint import losses, optim

from .history import History
from .task import Batch, Task

FROM_TRAIN, FROM_TRY_OUT = 5, 6
"""How many calls the user's line is away."""
POINTS = 256
"""So many steps of a run are looked at for its rates;"""
NOTHING = 1e-3
"""what is below that share of the largest rate trains nothing to speak of."""


def doubt_first_batch(task: Task, outputs: Any, batch: Batch) -> None:
    """Warn of what the outputs and the loss of the first batch tell."""
    if not isinstance(outputs, np.ndarray) or not isinstance(batch.targets, np.ndarray):
        return
    if is_every_with_every(task, outputs, batch):
        fix = "y[:, None]" if outputs.ndim > batch.targets.ndim else "y[:, 0]"
        _warn(
            f"The loss seems to compare every output with every target: outputs have the shape {outputs.shape}, "
            f"targets {batch.targets.shape}, and NumPy broadcasts them. Write  {fix},  so that the shapes are equal.",
            FROM_TRY_OUT,
        )
    if are_probabilities(task.loss, outputs):
        _warn(
            "The outputs seem to be probabilities already, and the loss takes a softmax of them once more. "
            "Leave the softmax out of the model, and write  nn.softmax(model(x))  where probabilities are wanted.",
            FROM_TRY_OUT,
        )


def is_every_with_every(task: Task, outputs: Any, batch: Batch) -> bool:
    """Whether one of outputs and targets is a column and the other is not, and the loss does not see to it.

    Then both as columns and both without give the same loss, which is not the one of the two as they are.
    """
    if len(outputs) < 2 or {outputs.shape, batch.targets.shape} != {(len(outputs),), (len(outputs), 1)}:
        return False
    apart = outputs + np.linspace(0.0, 0.1, len(outputs)).reshape(outputs.shape)  # a last layer may begin with 0 alone
    try:
        return any([_seems_so(task, f, batch) for f in (outputs, apart.astype(outputs.dtype))])
    except Exception:  # the loss takes the shapes that it gets, and no others
        return False


def _seems_so(task: Task, outputs: Any, batch: Batch) -> bool:
    value = task.loss_of(outputs, batch)
    column = task.loss_of(outputs.reshape(-1, 1), batch._replace(targets=batch.targets.reshape(-1, 1)))
    flat = task.loss_of(outputs.reshape(-1), batch._replace(targets=batch.targets.reshape(-1)))
    return bool(np.ndim(column) == np.ndim(flat) == 0 and np.isclose(column, flat) and not np.isclose(value, column))


def are_probabilities(loss: Any, outputs: Any) -> bool:
    """Whether rows of outputs for a loss of logits are positive and sum to 1."""
    plain = loss.func if isinstance(loss, functools.partial) else loss
    if plain is not losses.cross_entropy or outputs.ndim < 2 or len(outputs) < 2:
        return False
    return bool(np.all(outputs >= 0) and np.allclose(np.sum(outputs, axis=-1), 1.0, rtol=0, atol=1e-5))


def doubt_rates(optimizer: optim.Optimizer, steps: int) -> None:
    """Warn of a schedule that has come to its end long before the run does, as then nothing is trained any more."""
    for rate in _schedules(optimizer.update):
        counts = np.unique(np.linspace(0, steps - 1, POINTS).astype(np.int64))
        rates = np.array([float(rate(count)) for count in counts])
        dead = np.abs(rates) <= NOTHING * np.max(np.abs(rates))
        last = counts[~dead][-1] if np.any(~dead) else 0
        if np.all(dead[counts > last]) and last < steps // 2:
            _warn(
                f"The rate is {rates[-1]:.3g} from about step {last + 2} on, but the run has {steps} steps: the "
                f"schedule ends before it. Write  steps={steps}  there.",
                FROM_TRAIN - 1,
            )


def _schedules(made: Any) -> list[Any]:
    """The schedules that an optimiser was made with; those of a chain are in the recipes of its parts."""
    recipe = getattr(made, "recipe", None)
    if recipe is None:
        return []
    given = [*recipe.args, *recipe.options.values()]
    given += [inner for x in given if isinstance(x, Mapping) for inner in x.values()]
    inner = [schedule for x in given if isinstance(x, optim.Optimizer) for schedule in _schedules(x.update)]
    return inner + [x for x in given if isinstance(x, types.FunctionType)]


def doubt_gradient(history: History) -> None:
    """Warn if nothing was trained, as the loss does not depend on the parameters."""
    if history.epochs and not np.any(history.gradient_norms) and np.any(history["loss"]):
        _warn(
            "The gradient was 0 in all steps, so nothing was trained: the loss does not depend on the parameters, or "
            "by comparisons, rounding or signs only, which have no slope.",
            FROM_TRAIN,
        )


def _warn(words: str, level: int) -> None:
    warnings.warn(words, RuntimeWarning, stacklevel=level)
