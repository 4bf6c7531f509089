"""The mean of the weights that the last epochs ended with, and batch statistics that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import optim

from ..settling import settled
from ..task import Arrays, Batch, Task, copies

CLOSE = 1e-4
"""How well a rule for statistics has to be one of running means."""


def added(mean: Arrays | None, parameters: Arrays, count: int) -> Arrays:
    """The mean of `count` weights, of which these are the last."""
    if mean is None:
        return copies(parameters)
    return {name: mean[name] + (a - mean[name]) / count for name, a in parameters.items()}


def renewed(task: Task, parameters: Arrays, statistics: Arrays, batches: Iterable[Batch], key: Any) -> Arrays:
    """The statistics of a model with these parameters: means over the batches, in which each counts alike.

    A layer moves its running statistics s by (1 - m) s + m b, where b is that of the batch: from s = 0 and s = 1
    follow m and b. Statistics with another rule are taken through all batches by that rule.
    """
    after = optim.cached((after_of, task), lambda: after_of(task))
    total: dict[str, Any] = dict.fromkeys(statistics, 0.0)
    running, count, plain = dict(statistics), 0, set(statistics)
    for batch in batches:
        ends = [_filled(statistics, 0.0), _filled(statistics, 1.0), running]
        low, high, now = settled(after, _call(after, parameters, ends, batch, key))
        for name in sorted(plain):
            slope = high[name] - low[name]
            expected = low[name] + slope * running[name]
            if now[name].dtype.kind != "f" or not np.allclose(expected, now[name], CLOSE, CLOSE) or np.any(slope == 1):
                plain.discard(name)
            else:
                total[name] = total[name] + low[name] / (1.0 - slope)
        running, count = now, count + 1
    means = {name: (total[name] / count).astype(statistics[name].dtype) for name in plain} if count else {}
    return {name: means.get(name, running[name]) for name in statistics}


def _filled(statistics: Arrays, value: float) -> Arrays:
    return {name: np.full_like(a, value) if a.dtype.kind == "f" else a for name, a in statistics.items()}


def _call(after: Any, *given: Any) -> Callable[[], Any]:
    return lambda: after(*given)


def after_of(task: Task) -> Any:
    """The jitted function from several statistics to those after a batch."""

    def after(parameters: Arrays, starts: list[Arrays], batch: Batch, key: Any) -> list[Arrays]:
        return [task.outputs_in_training(parameters, start, batch.inputs, key)[1] for start in starts]

    after.told_as = f"renewing statistics of {task.name}"  # type: ignore[attr-defined]
    return ad.jit(after)
