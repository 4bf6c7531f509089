"""`ad.train`: a model, a loss, data and an optimiser."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import data as loading
from adjoint import nn, optim

from ..arguments import Count, Seed, Size, checked
from .checkpoints.facts import run_facts
from .checks import (
    check_all_targets,
    check_callables,
    check_classes,
    check_indexes,
    check_numbers,
    check_optimizer_state,
    check_options,
    check_rows,
    check_schedule,
    check_stream,
    check_weights,
    described,
    refused,
    try_out,
)
from .doubts import doubt_gradient, doubt_rates
from .evaluation import evaluation
from .fit import Fit
from .history import History
from .naming import called
from .padding import may_be_padded
from .progress import progress as shown_progress
from .run import Patience, Run
from .schedule import Schedule
from .session import Session
from .steps import State
from .task import Batch, Task, copies, has_sparse, is_sparse, rows_in


@checked(
    "model",
    "loss",
    "data",
    "optimizer",
    "metrics",
    "regularizer",
    "freeze",
    "callbacks",
    "checkpoint",
    "optimizer_state",
    "class_weight",
    "clip_per_sample",
    "patience",
    lr="optim.adam(1e-3): the rate belongs to the optimiser",
    learning_rate="optim.adam(1e-3): the rate belongs to the optimiser",
    num_epochs="epochs=",
    n_epochs="epochs=",
    max_epochs="epochs=",
    steps="epochs=",
    validation_data="validation=",
    validation_split="validation=0.2",
    val="validation=",
    val_data="validation=",
    verbose="progress=False",
    early_stopping="patience=",
    random_state="seed=",
    key="seed=",
    callback="callbacks=",
    clip="optim.chain(optim.clip_by_norm(1.0), optim.adam(1e-3))",
    max_norm="optim.chain(optim.clip_by_norm(1.0), optim.adam(1e-3))",
    weight_decay="optim.adamw(1e-3, weight_decay=), or regularizer=losses.l2(strength)",
    regulariser="regularizer=",
    l2="regularizer=losses.l2(strength)",
    device="nothing: all is computed on this machine",
)
def train(
    model: Any,
    loss: Callable[..., Any],
    data: Any,
    optimizer: optim.Optimizer,
    *,
    epochs: Size = 10,
    batch_size: Count = 32,
    seed: Seed = 0,
    validation: Any = None,
    metrics: Mapping[str, Callable[..., Any]] = {},
    regularizer: Callable[[Mapping[str, Any]], Any] | None = None,
    freeze: str | Iterable[str] = (),
    sample_weight: Any = None,
    class_weight: Any = None,
    shuffle: bool = True,
    drop_last: bool = False,
    accumulate: Count = 1,
    clip_per_sample: float | None = None,
    patience: int | None = None,
    callbacks: Callable[[Fit], Any] | Sequence[Callable[[Fit], Any]] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    optimizer_state: Any = None,
    progress: bool | None = None,
) -> Fit:
    """Train a model: make the mean of a loss over data small by steps on batches.

    A step is one function of machine code, and writes over the state before it. Given the same arguments, the numbers
    are the same in every run, whether it is interrupted and resumed or not.

    Parameters
    ----------
    model : callable
        A layer of `nn`, a frozen dataclass of your own with `__call__`, or `nn.Function(predict, parameters)`.
    loss : callable
        `loss(outputs, targets) -> number`: one of `losses`, or any NumPy function.
    data : tuple, frame, or iterable of batches
        Inputs and targets `(X, y)`: arrays, memory maps, frames, or containers of arrays with one row for each example.
        Or an iterable that gives such pairs, batch by batch, one epoch each time it is iterated over.
    optimizer : Optimizer
        For example `optim.adam(1e-3)`.
    epochs : int, default 10
        How often all examples are gone through.
    batch_size : int, default 32
        Examples in a batch; the last one of an epoch may have fewer.
    seed : int, default 0
        Decides the order of the examples and the random numbers of the model.
    validation : tuple or float, optional
        Data `(X, y)` on which loss and metrics are measured after each epoch, or the fraction of the data to set aside.
    metrics : dict of str to callable, optional
        `metric(outputs, targets) -> number`, measured on the validation data, or without it on the training data.
    regularizer : callable, optional
        `regularizer(parameters) -> number`, added to the loss: `losses.l2(1e-4)`.
    freeze : str or iterable of str, optional
        Patterns of names of arrays that stay as they are: `"layers.0.*"`.
    sample_weight : ndarray, optional
        How much each example counts, for losses that take `sample_weight`.
    class_weight : "balanced" or array, optional
        How much the examples of each class count; `"balanced"`: inversely to how frequent it is.
    shuffle : bool, default True
        Whether the examples come in a new order in each epoch.
    drop_last : bool, default False
        Whether to leave out the examples at the end of an epoch that do not fill a batch.
    accumulate : int, default 1
        How many batches make one step; their gradients are averaged.
    clip_per_sample : float, optional
        The largest norm of the gradient of a single example.
    patience : int, optional
        End when the validation loss (without validation data, the loss) has not become smaller for so many epochs, and
        return the model of the best epoch.
    callbacks : callable or sequence of callable, optional
        Called after each epoch with the `Fit` so far; one that returns something true ends the run.
    checkpoint : str or path, optional
        A file that is written after each epoch. If it exists, the run goes on from there.
    optimizer_state : any containers, optional
        The state to start with, as `fit.optimizer_state` of an earlier run has it: moments and step numbers go on.
    progress : bool, optional
        Whether to show how far the run has come: a bar on a terminal, a few lines elsewhere. By default it is shown
        if the run takes longer than half a second.

    Returns
    -------
    Fit
        `fit.model`, `fit.history["loss"]`, `fit.stopped`, `fit.plot()`, `fit.page("training.html")`.

    Raises
    ------
    InputError
        If an argument cannot be used; the message names it.

    Warns
    -----
    RuntimeWarning
        If the loss or its gradient was not finite: the run ends with the weights before that step.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import nn, losses, optim
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> y = np.array([0, 1, 1, 0])  # exclusive or
    >>> model = nn.MLP([2, 16, 2], activation="tanh", key=0)
    >>> fit = ad.train(model, losses.cross_entropy, (X, y), optim.adam(0.05), epochs=200, batch_size=4)
    >>> np.argmax(fit.model(X), axis=1)
    array([0, 1, 1, 0])
    >>> bool(fit.history["loss"][-1] < 0.01), fit.stopped
    (True, 'after 200 epochs')
    """
    check_callables(model, loss, optimizer, metrics, regularizer)
    check_numbers(epochs=epochs, batch_size=batch_size, accumulate=accumulate)
    check_options(clip_per_sample, patience, callbacks, checkpoint, metrics)
    given, held_out = _split(_as_batch(data, sample_weight, class_weight), validation, seed)
    task, state = _task(model, loss, optimizer, regularizer, freeze, clip_per_sample)
    if optimizer_state is not None:
        check_optimizer_state(state.optimizer, optimizer_state)
        state = state._replace(optimizer=optimizer_state)
    schedule = Schedule(batch_size, seed, shuffle, drop_last, accumulate)
    tried = state._replace(**{name: copies(getattr(state, name)) for name in ("parameters", "statistics")})
    if isinstance(given, Batch):
        check_rows(given, "data")
        check_weights(loss, given.weights)
        try_out(task, tried, given, batch_size, ad.random.key(seed))
        n = rows_in(given)
        check_schedule(schedule, n)
        doubt_rates(optimizer, epochs * schedule.steps(n))
    else:
        check_stream(given, epochs, accumulate)
    if held_out is not None:
        check_rows(held_out, "validation")
        check_all_targets(task, tried, held_out)
    facts = {} if checkpoint is None else run_facts(
        model=model, loss=loss, regularizer=regularizer, optimizer=optimizer, data=given, validation=held_out,
        metrics=dict(metrics), freeze=[name for name in nn.parameters(model) if name not in state.parameters],
        batch_size=batch_size, seed=seed, shuffle=shuffle, drop_last=drop_last, accumulate=accumulate,
        clip_per_sample=clip_per_sample, patience=patience,
        **({} if optimizer_state is None else {"optimizer_state": optimizer_state}),
    )  # fmt: skip
    evaluate = _evaluation(task, given, held_out, metrics, batch_size)
    if isinstance(given, Batch) and has_sparse(given):
        given = _filled(given, schedule)
    session = Session(
        task,
        optimizer,
        given,
        schedule,
        pads=isinstance(given, Batch) and may_be_padded(task, tried, given, schedule),
        start=state,
        history=History(list(state.parameters)),
        evaluate=evaluate,
    )
    del state, tried  # which would keep their arrays for the whole run
    run = Run(
        session,
        epochs,
        Patience(patience, "loss" if held_out is None else "validation_loss"),
        [callbacks] if callable(callbacks) else list(callbacks),
        checkpoint,
        facts=facts,
    )
    with shown_progress(epochs, enabled=progress) as bar:
        fit = run.to_the_end(bar)
    if session.failed:
        warnings.warn(f"Training ended early: {session.stopped}.", RuntimeWarning, stacklevel=3)
    doubt_gradient(fit.history)
    return fit


def _task(
    model: Any, loss: Any, optimizer: optim.Optimizer, regularizer: Any, freeze: Any, clip_per_sample: float | None
) -> tuple[Task, State]:
    """What is trained, and the state it starts from."""
    statistics = nn.statistics(model)
    blank = nn.replace(model, {name: _blank(a.shape, a.dtype) for name, a in statistics.items()})
    parameters, rebuild = nn.partition(blank, freeze)
    if not parameters:
        raise refused(
            "The model has nothing to train: no array of real numbers that is not frozen.",
            described(model),
            "Give it arrays of floats, and freeze fewer of them.",
        )
    dtypes = {a.dtype for a in parameters.values()}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    words = called(loss).partition(",")[0]  # without its line: losses that differ in it alone share machine code
    name = f"{type(model).__name__} with {words}"
    task = Task(rebuild, loss, regularizer, clip_per_sample, nn.is_stochastic(model), dtype, name)
    return task, State(parameters, statistics, optimizer.init(parameters))


@functools.lru_cache
def _blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """The same array each time, in the place of statistics: models that differ in these alone share machine code."""
    return np.zeros(shape, dtype)


def _as_batch(data: Any, sample_weight: Any, class_weight: Any, name: str = "data") -> Any:
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


def _split(given: Any, validation: Any, seed: int) -> tuple[Any, Batch | None]:
    """The data to train with, and those to validate with."""
    if validation is None:
        return given, None
    if not isinstance(validation, (int, float)):
        held_out = _as_batch(validation, None, None, "validation")
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


def _filled(data: Batch, schedule: Schedule) -> Any:
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


def _evaluation(
    task: Task, given: Any, held_out: Batch | None, metrics: Mapping[str, Callable[..., Any]], size: int
) -> Any:
    """What is measured after each epoch; None if nothing is."""
    if held_out is not None:
        return evaluation(task, held_out, metrics, size)
    if metrics and not isinstance(given, Batch):
        raise refused("metrics need data in memory.", described(given), "Pass  validation=(X, y).")
    return evaluation(task, given, metrics, size, with_loss=False) if metrics else None
