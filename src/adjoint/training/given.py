"""The data that a run is given: what is in memory as one batch, a part set aside, sparse rows filled up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import data as loading
from adjoint import optim

from .checks import check_classes, check_indexes, described, refused
from .schedule import Schedule
from .task import Batch, is_sparse, rows_in


def as_batch(data: Any, sample_weight: Any, class_weight: Any, name: str = "data") -> Any:
    """Arrays in memory as a batch of all examples; anything else stays what it is, and is iterated over."""
    if (
        isinstance(data, Iterable)
        and not isinstance(data, (tuple, list, dict, str, np.ndarray))
        and not _is_frame(data)
    ):
        for given, weight in (("sample_weight", sample_weight), ("class_weight", class_weight)):
            if weight is not None:
                raise refused(
                    f"{given} needs data in memory.", described(data), "Pass  (X, y),  or weight examples in the loss."
                )
        return data
    pairs = isinstance(data, list) and all([isinstance(part, tuple) for part in data])
    if not isinstance(data, (tuple, list)) or len(data) != 2 or pairs:
        raise refused(
            f"{name} is a pair of inputs and targets, or an iterable of such pairs.",
            described(data),
            _meant(data, pairs),
        )
    check_indexes({f"the inputs of {name}": data[0], f"the targets of {name}": data[1], "sample_weight": sample_weight})
    inputs, targets = [loading.as_arrays(part, name) for part, name in zip(data, "Xy", strict=True)]
    inputs = ad.tree.map(lambda part: part.tocsr() if is_sparse(part) else part, inputs)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    if class_weight is not None:
        check_classes(class_weight, targets)
        of_classes = loading.class_weights(targets) if isinstance(class_weight, str) else np.asarray(class_weight)
        weights = of_classes[targets] if weights is None else weights * of_classes[targets]
    return Batch(inputs, targets, weights)


def _is_frame(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "shape")


def _meant(data: Any, pairs: bool) -> str:
    """What to write in place of data that are no pair."""
    if pairs:
        return "For a list of batches write  data.batches(lambda: iter(batches), batch_size=32)."
    if callable(data):
        return "For a function that returns an iterator of batches write  data.batches(f, batch_size=32)."
    if _is_frame(data):
        return 'Write  (frame[["a", "b"]], frame["y"]).'
    return "Write  (X, y)."


def split_off(given: Any, validation: Any, seed: int) -> tuple[Any, Batch | None]:
    """The data to train with, and those to validate with."""
    if validation is None:
        return given, None
    if not isinstance(validation, (int, float)):
        held_out = as_batch(validation, None, None, "validation")
        if not isinstance(held_out, Batch):
            raise refused("validation needs data in memory.", described(validation), "Write  validation=(X, y).")
        return given, held_out
    if not isinstance(given, Batch) or not 0 < validation < 1:
        raise refused(
            "validation is a pair of inputs and targets, or the fraction of data in memory to set aside.",
            f"validation={validation!r}",
            "Write  validation=(X, y)  or  validation=0.2.",
        )
    rows = loading.order(rows_in(given), seed, 0)
    count = max(1, round(validation * len(rows)))
    return _taken(given, rows[count:]), _taken(given, rows[:count])


def filled(data: Batch, schedule: Schedule) -> Any:
    """Batches of sparse rows that are filled up one batch after the other, in the order of all others."""
    if data.weights is not None or schedule.accumulate > 1:
        raise refused(
            "Weights and accumulate= need arrays.",
            "a sparse matrix",
            "Leave them out, or pass  X.toarray()  if it fits into memory.",
        )
    return loading.batches(
        data.inputs, data.targets, schedule.size, schedule.shuffle, schedule.seed, schedule.drop_last, checked=False
    )


def _taken(data: Batch, rows: np.ndarray) -> Batch:
    return Batch(*[ad.tree.map(lambda a: a[rows], part) for part in data])


def for_run(optimizer: optim.Optimizer, state: Any, given: Any, schedule: Schedule, epochs: int) -> optim.Optimizer:
    """The optimiser for a run on these data, with schedules as long as the run where these are asked for."""
    if isinstance(given, Batch):
        n, plan = rows_in(given), schedule
    elif isinstance(given, loading.Batches) and given.n is not None:
        n, plan = given.n, Schedule(given.batch_size, given.seed, given.shuffle, given.drop_last)
    elif optim.for_steps(optimizer, 1) is optimizer:
        return optimizer
    else:
        raise refused(
            'A schedule with steps="run" needs data of which the length is known.',
            described(given),
            "Write the number of steps there.",
        )
    return optim.for_steps(optimizer, max(1, epochs * plan.steps(n)), state)
