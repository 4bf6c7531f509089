"""How good a model is on data: its loss and other measures, in the form in which it is used later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import optim

from .naming import named
from .settling import settled
from .task import Arrays, Batch, Task, dense, rows_in


def evaluation(
    task: Task, data: Batch, metrics: Mapping[str, Callable[..., Any]], size: int, *, with_loss: bool = True
) -> Callable[[Arrays, Arrays], dict[str, float]]:
    """The function from parameters and statistics to measures: the mean loss, and metrics of all outputs at once.

    No more than `size` examples are evaluated at a time: then it takes no more memory than a step, which keeps what
    the way back needs. Metrics get plain arrays, so they may be functions of any library.
    """
    measured = _measures(task, with_loss, bool(metrics))
    parts = parts_of(rows_in(data), size)
    sizes = [part.stop - part.start for part in parts]

    def evaluate(parameters: Arrays, statistics: Arrays) -> dict[str, float]:
        found = [settled(measured, partial(measured, parameters, statistics, _rows(data, part))) for part in parts]
        loss = {"validation_loss": float(np.average([value for value, _ in found], weights=sizes))} if with_loss else {}
        if not metrics:
            return loss
        outputs = _joined([outputs for _, outputs in found])
        targets = ad.tree.map(task.converted, data.targets)
        return loss | {name: _measured(name, metric, outputs, targets) for name, metric in metrics.items()}

    return evaluate


def predicted(task: Task, parameters: Arrays, statistics: Arrays, inputs: Any, size: int) -> Any:
    """The outputs for all inputs, no more than `size` at a time."""
    measured, data = _measures(task, with_loss=False, with_outputs=True), Batch(inputs, None)
    parts = parts_of(rows_in(data), size)
    found = [settled(measured, partial(measured, parameters, statistics, _rows(data, part))) for part in parts]
    return _joined([outputs for _, outputs in found])


def parts_of(n: int, size: int) -> list[slice]:
    """Rows in parts of at most `size`, of one length if one above half of it divides n: each length is compiled.

    >>> parts_of(7, 4)
    [slice(0, 4, None), slice(4, 7, None)]
    >>> parts_of(9, 4)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 9, None)]
    """
    length = next((k for k in range(min(size, n), size // 2, -1) if n % k == 0), size)
    return [slice(start, min(start + length, n)) for start in range(0, n, length)]


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else ad.tree.map(lambda *pieces: np.concatenate(pieces), *parts)


def _measured(name: str, metric: Callable[..., Any], outputs: Any, targets: Any) -> float:
    """What a metric gives; of an array its mean."""
    with named(f"the metric {name!r}", metric):
        value = metric(outputs, targets)
    if np.asarray(value).dtype.kind not in "fiub":
        raise ad.errors.OutputError(
            ad.errors.message(
                f"The metric {name!r} has to give a number.",
                got=f"{type(value).__name__} {value!r}"[:80],
                fix="Return it.",
            )
        )
    return float(np.mean(value))


def _rows(data: Batch, part: slice) -> Batch:
    """Some of the examples."""
    return Batch(*[ad.tree.map(lambda a: dense(a[part]), given) for given in data])


def _measures(task: Task, with_loss: bool, with_outputs: bool) -> Any:
    given = (task, with_loss, with_outputs)
    return optim.cached((measures_of, *given), lambda: measures_of(*given))


def measures_of(task: Task, with_loss: bool, with_outputs: bool) -> Any:
    """The jitted function from parameters, statistics and examples to the loss and the outputs, where wanted."""

    def measured(parameters: Arrays, statistics: Arrays, rows: Batch) -> tuple[Any, Any]:
        rows = Batch(*[ad.tree.map(task.converted, part) for part in rows])
        outputs = task.outputs(parameters, statistics, rows.inputs)
        return task.loss_of(outputs, rows) if with_loss else None, outputs if with_outputs else None

    measured.told_as = f"measuring {task.name}"  # type: ignore[attr-defined]
    return ad.jit(measured)
