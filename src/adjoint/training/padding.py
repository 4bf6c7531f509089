"""Whether the last batch of an epoch may be filled up with examples that do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from .schedule import Schedule
from .steps import State
from .task import Batch, Task, takes_weights


def may_be_padded(task: Task, state: State, data: Batch, schedule: Schedule) -> bool:
    """Whether there is something to fill up, and whether what is filled in has no influence.

    A batch that is filled up runs on the machine code of all others. The loss has to take weights, to leave out what
    does not count, and the outputs for an example must not depend on the others, as they do by statistics of a batch.
    That is tried: other examples at the end of a batch must not change a bit of the outputs before them.
    """
    n = len(ad.tree.leaves(data.inputs)[0])
    rest = n % schedule.examples
    if not rest or schedule.drop_last or schedule.accumulate > 1 or n < 2 or not takes_weights(task.loss):
        return False
    first, second = [_outputs(task, state, data, schedule, rest, fill) for fill in (0, min(1, rest))]
    return all([np.array_equal(a[:rest], b[:rest]) for a, b in zip(first, second, strict=True)])


def _outputs(task: Task, state: State, data: Batch, schedule: Schedule, rest: int, fill: int) -> list[Any]:
    """The outputs for a batch of `rest` examples that is filled up with one more."""
    chosen = np.where(np.arange(schedule.size) < rest, np.arange(schedule.size), fill)
    key = ad.random.key(schedule.seed)
    inputs = task.rows(data, chosen).inputs
    found, _ = task.outputs_in_training(state.parameters, state.statistics, inputs, task.key_of_step(key, 0))
    return [np.asarray(leaf) for leaf in ad.tree.leaves(found)]
