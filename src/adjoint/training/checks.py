"""What is wrong with the arguments of `ad.train`, said before anything is compiled."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import losses, optim

from .doubts import doubt_first_batch
from .naming import named
from .schedule import Schedule
from .task import Batch, Task, is_sparse, rows_in, takes_weights

PENALTIES = (losses.l1, losses.l2, losses.elastic, losses.gaussian_prior, losses.laplace_prior)
"""Functions that make penalties, and are none themselves."""


def refused(what: str, got: str, fix: str) -> Exception:
    """The error for an argument that cannot be used."""
    return ad.errors.InputError(ad.errors.message(what, got=got, fix=fix))


def check_numbers(**numbers: Any) -> None:
    """Counts have to be whole numbers above 0."""
    for name, number in numbers.items():
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
            meant = (
                "len(X)"
                if number is None
                else max(1, round(number))
                if isinstance(number, float) and math.isfinite(number)
                else 1
            )
            raise refused(
                f"{name} has to be a whole number, 1 or more.", f"{name}={number!r}", f"Write  {name}={meant}."
            )


def check_callables(model: Any, loss: Any, optimizer: Any, metrics: Any, regularizer: Any) -> None:
    """Models, losses, measures and penalties are functions, optimisers are those of `optim`."""
    if not callable(model):
        raise refused(
            "A model has to be callable: model(inputs) gives its outputs.",
            described(model),
            f"Write  def __call__(self, x)  in place of  forward  in {type(model).__name__}."
            if hasattr(model, "forward")
            else "For a function of a dict of arrays, write  nn.Function(predict, parameters).",
        )
    if not callable(loss):
        raise refused(
            "A loss is a function of outputs and targets.",
            described(loss),
            "Write  losses.cross_entropy,  or any NumPy function  lambda outputs, targets: ...",
        )
    if not isinstance(optimizer, optim.Optimizer):
        raise refused("An optimiser is made by a function of optim.", described(optimizer), "Write  optim.adam(1e-3).")
    if regularizer is not None and (not callable(regularizer) or regularizer in PENALTIES):
        raise refused(
            "A regulariser is a function of the parameters, which losses.l2(strength) and its like make.",
            described(regularizer),
            "Write  regularizer=losses.l2(1e-4).",
        )
    if not isinstance(metrics, Mapping) or not all([callable(m) for m in metrics.values()]):
        raise refused(
            "metrics are functions of outputs and targets, by name.",
            described(metrics),
            'Write  metrics={"accuracy": lambda outputs, y: np.mean(np.argmax(outputs, axis=1) == y)}.',
        )


def check_optimizer_state(own: Any, given: Any) -> None:
    """A state to go on with is of this optimiser and of a model of this shape."""
    shapes = [[np.shape(leaf) for leaf in ad.tree.leaves(state)] for state in (own, given)]
    if ad.tree.structure(own) != ad.tree.structure(given) or shapes[0] != shapes[1]:
        raise refused(
            "optimizer_state is not a state of this optimiser for this model.",
            described(given),
            "Pass  fit.optimizer_state  of a run with the same optimiser and a model of the same shape.",
        )


RESERVED = ("loss", "validation_loss", "gradient_norm", "seconds")
"""Names that the history has already."""


def check_options(clip_per_sample: Any, patience: Any, callbacks: Any, checkpoint: Any, metrics: Any) -> None:
    """Options that would be met only after a while, or not at all."""
    if clip_per_sample is not None and not (_is_number(clip_per_sample) and clip_per_sample > 0):
        raise refused(
            "clip_per_sample is the largest norm of the gradient of one example, a number above 0.",
            f"clip_per_sample={clip_per_sample!r}",
            "Write  clip_per_sample=1.0.",
        )
    if patience is not None:
        check_numbers(patience=patience)
    several = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    if not callable(callbacks) and not all([callable(f) for f in several]):
        raise refused(
            "callbacks are functions of the fit so far.",
            f"callbacks={callbacks!r}"[:80],
            "Write  callbacks=lambda fit: print(fit.history.last).",
        )
    if checkpoint is not None and not isinstance(checkpoint, (str, os.PathLike)):
        raise refused("checkpoint is the name of a file.", f"checkpoint={checkpoint!r}", 'Write  checkpoint="run.npz".')
    for name in metrics:
        if name in RESERVED:
            raise refused(
                "The history has a number of this name already.", f"metrics={{{name!r}: ...}}", "Choose another name."
            )


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)


def check_classes(weights: Any, targets: Any) -> None:
    """Weights of classes are "balanced", or one number for each class of whole numbers."""
    if isinstance(weights, str) and weights != "balanced":
        raise refused(
            'class_weight is "balanced", or has a weight for each class.',
            f"class_weight={weights!r}",
            'Write  class_weight="balanced".',
        )
    if isinstance(weights, Mapping):
        raise refused(
            "class_weight has a weight for each class, as an array.",
            f"class_weight={weights!r}"[:80],
            f"Write  class_weight={list(weights.values())!r},  in the order of the classes.",
        )
    if isinstance(weights, str):
        return
    if not isinstance(targets, np.ndarray) or targets.dtype.kind not in "iu":
        raise refused(
            "class_weight needs labels of classes, whole numbers from 0.",
            f"targets: {described(targets)}",
            "Use  sample_weight  for other targets.",
        )
    if np.ndim(weights) != 1 or (targets.size and len(weights) <= targets.max()):
        raise refused(
            "class_weight needs one weight for each class.",
            f"weights of shape {np.shape(weights)}, and the label {targets.max()}",
            "Classes are counted from 0.",
        )


def check_rows(data: Batch, name: str) -> None:
    """All arrays need the same number of rows, at least one, and numbers that are finite."""
    parts = {
        f"the inputs of {name}": data.inputs,
        f"the targets of {name}": data.targets,
        "sample_weight": data.weights,
    }
    arrays = [(words, leaf) for words, part in parts.items() for leaf in ad.tree.leaves(part)]
    for words, leaf in arrays:
        if not (isinstance(leaf, np.ndarray) or is_sparse(leaf)) or not leaf.ndim:
            raise refused(f"There have to be arrays in {words}.", described(leaf), "Pass  np.asarray(x).")
        if leaf.dtype.kind not in "fiub":
            fix = (
                "Take the real part, or pass real and imaginary parts as two columns."
                if leaf.dtype.kind == "c"
                else "Turn categories into numbers:  np.unique(y, return_inverse=True)[1],  or write  x.astype(float)."
            )
            raise refused(f"There have to be real numbers in {words}.", described(leaf), fix)
    n = arrays[0][1].shape[0]
    for words, leaf in arrays:
        if leaf.shape[0] != n:
            raise refused(
                "Inputs and targets need one row for each example.",
                f"{n} rows in {arrays[0][0]}, {leaf.shape[0]} in {words}",
                "Leave out what has no counterpart.",
            )
    if not n:
        raise refused(f"There are no examples in {name}.", described(arrays[0][1]), "Pass at least one row.")
    for words, array in arrays:
        leaf = array.data if is_sparse(array) else array
        if leaf.dtype.kind == "f" and not isinstance(leaf, np.memmap) and not np.all(np.isfinite(leaf)):
            place = tuple(map(int, np.argwhere(~np.isfinite(leaf))[0]))
            raise refused(
                f"There are numbers that are not finite in {words}.",
                f"{leaf[place]} at [{', '.join(map(str, place))}]",
                "Leave out these rows, or fill in what is missing.",
            )


def check_indexes(parts: Mapping[str, Any]) -> None:
    """Frames that name their rows have to name the same ones in the same order, as rows are taken by their place."""
    indexes = [(words, part.index) for words, part in parts.items() if hasattr(getattr(part, "index", None), "equals")]
    for words, index in indexes[1:]:
        first = indexes[0][1]
        if len(index) == len(first) and not index.equals(first):
            k = int(np.argmax(np.asarray(index) != np.asarray(first)))
            raise refused(
                "Rows of frames belong together by their index, but it differs.",
                f"row {k} is {first[k]} in {indexes[0][0]}, {index[k]} in {words}",
                "Align them:  y.loc[X.index],  or leave the index out:  y.to_numpy().",
            )


def check_schedule(schedule: Schedule, n: int) -> None:
    """There has to be a batch in an epoch."""
    if schedule.drop_last and n < schedule.examples:
        raise refused(
            "With drop_last=True there would be no batch in an epoch.",
            f"{n} examples, of which a step takes {schedule.examples}",
            f"Write  batch_size={n}  or less, or leave out  drop_last.",
        )


def check_stream(data: Any, epochs: int, accumulate: int) -> None:
    """Batches that come one by one are steps as they come, in every epoch anew."""
    if isinstance(data, Iterator) and epochs > 1:
        raise refused(
            "An iterator can be gone through once, so it gives one epoch.",
            f"{described(data)} and epochs={epochs}",
            "Pass what can be iterated over again, as  data.batches(lambda: read(path), batch_size=32).",
        )
    if accumulate > 1:
        raise refused(
            "accumulate needs data in memory.", f"accumulate={accumulate}", "Pass  (X, y),  or larger batches."
        )


def check_weights(loss: Callable[..., Any], weights: Any) -> None:
    """Weights of examples need a loss that takes them."""
    if weights is not None and not takes_weights(loss):
        raise refused(
            "sample_weight and class_weight need a loss with an argument sample_weight.",
            described(loss),
            "Use one of losses, or write  def loss(outputs, targets, sample_weight=None).",
        )
    if weights is not None and not np.any(weights):
        raise refused("No example counts.", "weights that are all 0", "Give some examples a weight above 0.")


def try_out(task: Task, state: Any, data: Batch, size: int, key: Any) -> None:
    """Run model and loss on the first examples, as plain NumPy: what does not fit is met here, with its own message."""
    n = rows_in(data)
    batch = task.rows(data, _spread(data.targets, n, min(n, max(size, 2))))
    outputs, _ = task.outputs_in_training(state.parameters, state.statistics, batch.inputs, task.key_of_step(key, 0))
    with named("the loss", task.loss):
        value = task.loss_of(outputs, batch)
    if np.shape(value) != () or np.asarray(value).dtype.kind not in "fiubc":
        raise ad.errors.OutputError(
            ad.errors.message(
                "The loss of a batch has to be one number.",
                got=described(value),
                fix="Return it." if value is None else 'Take the mean:  np.mean(...),  or  reduction="mean".',
            )
        )
    doubt_first_batch(task, outputs, batch)
    check_all_targets(task, state, data)


def _spread(targets: Any, n: int, count: int) -> np.ndarray:
    """Rows from everywhere, as the first ones may all have one label; among them the least and the largest target."""
    rows = np.linspace(0, n - 1, count).astype(np.int64)
    if type(targets) is np.ndarray and targets.size == n and count > 1:
        rows[0], rows[-1] = np.argmin(targets), np.argmax(targets)
    return rows


def check_all_targets(task: Task, state: Any, data: Batch) -> None:
    """Look at all targets, which machine code does not; those in files are met when they are read."""
    if any([isinstance(leaf, np.memmap) for leaf in ad.tree.leaves((data.inputs, data.targets))]):
        return
    try:
        inputs = ad.tree.map(
            lambda a: np.broadcast_to(np.zeros((), a.dtype), a.shape) if is_sparse(a) else a, data.inputs
        )
        every = ad.eval_shape(lambda inputs: task.outputs(state.parameters, state.statistics, inputs), inputs)
        losses.check_targets(task.loss, every, data.targets)
    except ad.errors.InputError as error:
        if not isinstance(error.__cause__, ad.errors.BatchError):  # that is: Python decides by values
            raise


def described(x: Any) -> str:
    """`float64[3,2]`, or the type of what is no array."""
    if isinstance(x, (np.ndarray, np.generic)):
        return f"{x.dtype}[{','.join(map(str, x.shape))}]"
    return f"{type(x).__name__} {x!r}"[:80]
