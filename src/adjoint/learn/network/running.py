"""Runs with scikit-learn's rules of stopping: by NumPy alone where a network is plain, else by `ad.train`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import adjoint as ad
from adjoint import losses, nn, optim

from ..labels import Array
from .choices import penalised, resumed, shared
from .jobs import EpochWatch, Job, over
from .uncompiled import UncompiledRun, suits


def run(job: Job) -> ad.Fit:
    """The fit of a job."""
    return UncompiledRun(job).to_the_end() if suits(job) else compiled(job)


def chosen_by(job: Job, kept: Array, held_out: Array, *, refit: bool) -> ad.Fit:
    """The fit to some rows of the epoch that is best on others; then, if wanted, to all rows for as many epochs."""
    part = replace(
        job, X=job.X[kept], y=job.y[kept], weights=None if job.weights is None else job.weights[kept],
        validation=(job.X[held_out], job.y[held_out]),
    )  # fmt: skip
    fit = run(part)
    if not refit or not fit.best_epoch:
        return fit
    again = run(replace(job, epochs=fit.best_epoch, patience=fit.best_epoch + 1, callbacks=()))
    return replace(fit, model=again.model, optimizer_state=again.optimizer_state, steps=again.steps)


def compiled(job: Job) -> ad.Fit:
    """The fit of a job by `ad.train`."""
    watch = EpochWatch(job.tol, job.patience)
    watched = "loss" if job.validation is None else "validation_loss"
    best: list[ad.Fit] = []

    def look(fit: ad.Fit) -> bool:
        if watch.is_best(fit.history.last[watched]) and job.validation is not None:
            best[:] = [fit]
        return watch.is_over

    options: dict[str, Any] = {"regularizer": job.regularizer}
    if needs_function(job.optimizer):
        optimizer = optim.lbfgs() if isinstance(job.optimizer, str) else job.optimizer
        if job.alpha:
            options["regularizer"] = _both(job.regularizer, losses.l2(0.5 * job.alpha, only=penalised(job.model)))
    else:
        optimizer = shared(job.optimizer, job.model)
        options["optimizer_state"] = resumed(optimizer, job)
    fit = ad.train(
        job.model, job.loss, (job.X, job.y), optimizer, epochs=job.epochs, batch_size=min(job.batch_size, len(job.X)),
        seed=job.seed, shuffle=job.shuffle, validation=job.validation, sample_weight=job.weights,
        drop_last=_is_single(job),
        metrics={"score": job.score} if job.score is not None and job.validation is not None else {},
        callbacks=[*job.callbacks, look], progress=False, **options,
    )  # fmt: skip
    if watch.is_over:
        fit = replace(fit, stopped=over(watched, fit.history.epochs, job.patience))
    return replace(fit, model=best[0].model, best_epoch=watch.best_epoch) if best else fit


def needs_function(optimizer: str | optim.Optimizer) -> bool:
    """Whether an optimiser evaluates the loss at other places, as line searches do."""
    return optimizer == "lbfgs" if isinstance(optimizer, str) else optim.needs_function(optimizer)


def _both(one: Callable[..., Any] | None, other: Callable[..., Any]) -> Callable[..., Any]:
    if one is None:
        return other
    first = one
    return lambda parameters: first(parameters) + other(parameters)


def _is_single(job: Job) -> bool:
    """Whether the last batch would have one row, of which batch normalisation has no variance."""
    n, size = len(job.X), job.batch_size
    return n > size and n % size == 1 and any([name.endswith("variance") for name in nn.statistics(job.model)])
