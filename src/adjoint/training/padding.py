"""Whether the last batch of an epoch may be filled up with examples that do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from .schedule import Schedule
from .steps import State
from .task import Batch, Task, rows_in, takes_weights


def may_be_padded(task: Task, state: State, data: Batch, schedule: Schedule) -> bool:
    """Whether there is something to fill up, and whether what is filled in has no influence.

    A batch that is filled up runs on the machine code of all others. The loss has to take weights and to leave out
    what does not count, as one that divides by the number of examples does not, and the outputs for an example must not
    depend on the others, as they do by statistics of a batch. That is tried: other examples at the end of a batch must
    not change a bit of the outputs before them, nor the loss.
    """
    n = rows_in(data)
    rest = n % schedule.examples
    if not rest or schedule.drop_last or schedule.accumulate > 1 or n < 2 or not takes_weights(task.loss):
        return False
    batches = [_filled(schedule, rest, fill) for fill in (0, min(1, rest))]
    rows = [task.rows(data, chosen) for chosen in batches]
    first, second = [_outputs(task, state, schedule, batch) for batch in rows]
    alone = ad.tree.map(lambda a: a[:rest], first)
    if not all([np.array_equal(a, b[:rest]) for a, b in zip(*map(ad.tree.leaves, (alone, second)), strict=True)]):
        return False
    weights = (np.arange(schedule.size) < rest).astype(np.result_type(*state.parameters.values()))
    some = Batch(*[ad.tree.map(lambda a: a[:rest], part) for part in rows[0]])._replace(weights=weights[:rest])
    values = task.loss_of(alone, some), task.loss_of(first, rows[0]._replace(weights=weights))
    return bool(np.allclose(*values, rtol=1e-5))


def _filled(schedule: Schedule, rest: int, fill: int) -> np.ndarray:
    """The numbers of `rest` examples and of one more, which fills the batch up."""
    return np.where(np.arange(schedule.size) < rest, np.arange(schedule.size), fill)


def _outputs(task: Task, state: State, schedule: Schedule, batch: Batch) -> Any:
    """The outputs for a batch."""
    key = task.key_of_step(ad.random.key(schedule.seed), 0)
    return task.outputs_in_training(state.parameters, state.statistics, batch.inputs, key)[0]
