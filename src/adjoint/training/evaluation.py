"""How good a model is on data: its loss and other measures, in the form in which it is used later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import optim

from .settling import settled
from .task import Arrays, Batch, Task

AT_ONCE = 8192
"""So many examples are evaluated at a time."""


def evaluation(
    task: Task, data: Batch, metrics: Mapping[str, Callable[..., Any]], *, with_loss: bool = True
) -> Callable[[Arrays, Arrays], dict[str, float]]:
    """The function from parameters and statistics to measures: the mean loss, and metrics of all outputs at once.

    Metrics get plain arrays, so they may be functions of any library.
    """
    given = (task, with_loss, bool(metrics))
    measured = optim.reused((measures_of, *given), lambda: measures_of(*given))
    n = len(ad.tree.leaves(data.inputs)[0])

    starts = range(0, n, AT_ONCE)
    sizes = [min(AT_ONCE, n - start) for start in starts]

    def evaluate(parameters: Arrays, statistics: Arrays) -> dict[str, float]:
        chunks = [_rows(data, start) for start in starts] if len(starts) > 1 else [data]
        found = [settled(measured, partial(measured, parameters, statistics, chunk)) for chunk in chunks]
        loss = {"validation_loss": float(np.average([value for value, _ in found], weights=sizes))} if with_loss else {}
        if not metrics:
            return loss
        outputs = ad.tree.map(lambda *parts: np.concatenate(parts), *[outputs for _, outputs in found])
        targets = ad.tree.map(task.converted, data.targets)
        return loss | {name: _number(name, metric(outputs, targets)) for name, metric in metrics.items()}

    return evaluate


def _number(name: str, value: Any) -> float:
    """What a metric gave; of an array its mean."""
    if np.asarray(value).dtype.kind not in "fiub":
        raise ad.errors.OutputError(
            ad.errors.message(
                f"The metric {name!r} has to give a number.",
                got=f"{type(value).__name__} {value!r}"[:80],
                fix="Return it.",
            )
        )
    return float(np.mean(value))


def _rows(data: Batch, start: int) -> Batch:
    """Some of the examples."""
    return Batch(*[ad.tree.map(lambda a: a[start : start + AT_ONCE], part) for part in data])


def measures_of(task: Task, with_loss: bool, with_outputs: bool) -> Any:
    """The jitted function from parameters, statistics and examples to the loss and the outputs, where wanted."""

    def measured(parameters: Arrays, statistics: Arrays, rows: Batch) -> tuple[Any, Any]:
        rows = Batch(*[ad.tree.map(task.converted, part) for part in rows])
        outputs = task.outputs(parameters, statistics, rows.inputs)
        return task.loss_of(outputs, rows) if with_loss else None, outputs if with_outputs else None

    return ad.jit(measured)
