"""Losses and optimisers by name, and an optimiser whose settings are numbers of its state.

Machine code is made once for a loss, an optimiser and the structure of a model. Rates and penalties are numbers in the
state of the optimiser, so that the points of a grid share it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim

from ..labels import Array
from .jobs import Job

OPTIMIZERS: dict[str, Callable[..., optim.Optimizer]] = {
    "adam": optim.adam,
    "adamw": optim.adamw,
    "adagrad": optim.adagrad,
    "lion": optim.lion,
    "rmsprop": optim.rmsprop,
    "sgd": functools.partial(optim.sgd, momentum=0.9, nesterov=True),
}


def shared(optimizer: str | optim.Optimizer, model: Any) -> optim.Optimizer:
    """The optimiser whose settings are in its state, with a rate of 1 if it is given by name."""
    inner = OPTIMIZERS[optimizer](1.0) if isinstance(optimizer, str) else optimizer
    return _adjustable(inner, penalised(model))


def penalised(model: Any) -> tuple[str, ...]:
    """The arrays that `alpha` keeps small: matrices, not biases."""
    return tuple([name for name, a in nn.parameters(model).items() if a.ndim >= 2 + _members(model)])


def _members(model: Any) -> int:
    return int(getattr(model, "is_stacked", False))


def _adjustable(inner: optim.Optimizer, penalised: tuple[str, ...]) -> optim.Optimizer:
    def init(params: Any) -> Any:
        kind = np.result_type(*params.values()).type
        return kind(1.0), kind(0.0), kind(1.0), inner.init(params)

    def update(gradient: Any, state: Any, params: Any = None, **context: Any) -> tuple[Any, Any]:
        rate, alpha, unit, own = state
        pulled = {
            name: g * unit + alpha * params[name] if name in penalised else g * unit for name, g in gradient.items()
        }
        step, own = inner.update(pulled, own, params, **context)
        return {name: rate * s for name, s in step.items()}, (rate, alpha, unit, own)

    return optim.Optimizer(init, update)


def resumed(optimizer: optim.Optimizer, job: Job) -> Any:
    """The state of an adjustable optimiser with the settings of a job: that of an earlier run, or a new one."""
    new = optimizer.init(nn.parameters(job.model))
    old = new if job.state is None or not _is_alike(new, job.state) else job.state
    rate = job.rate if isinstance(job.optimizer, str) else 1.0
    return (*(type(new[0])(x) for x in (rate, job.alpha, job.unit)), old[3])


def _is_alike(new: Any, old: Any) -> bool:
    """Whether a state is one of the same optimiser and model."""
    if ad.tree.structure(new) != ad.tree.structure(old):
        return False
    return [np.shape(x) for x in ad.tree.leaves(new)] == [np.shape(x) for x in ad.tree.leaves(old)]


def pinball(outputs: Any, targets: Any, *, levels: tuple[float, ...], sample_weight: Any = None) -> Any:
    """The mean pinball loss of quantiles of shape (n, outputs, levels)."""
    share = np.asarray(levels, dtype=outputs.dtype)
    above = targets[..., None] - outputs
    rows = np.mean(np.maximum(share * above, (share - 1.0) * above), axis=(1, 2))
    if sample_weight is None:
        return np.mean(rows)
    return np.sum(rows * sample_weight) / np.sum(sample_weight)


CLASSIFICATION: dict[str, Callable[..., Any]] = {"cross_entropy": losses.cross_entropy, "focal": losses.focal}
REGRESSION: dict[str, Callable[..., Any]] = {
    "squared": losses.squared,
    "absolute": losses.absolute,
    "huber": losses.huber,
    "poisson": losses.poisson,
}


def in_scales(
    outputs: Any, targets: Any, *, loss: Callable[..., Any], scales: tuple[float, ...], sample_weight: Any = None
) -> Any:
    """A loss of several outputs in units of their standard deviations, so that none is lost beside larger ones."""
    scale = np.asarray(scales, dtype=outputs.dtype)
    given = outputs / scale.reshape(-1, *[1] * (outputs.ndim - 2)), targets / scale
    return loss(*given) if sample_weight is None else loss(*given, sample_weight=sample_weight)


def unit_of(loss: Callable[..., Any], middle: Array, targets: Array, weights: Array | None) -> float:
    """One over the loss of the mean of the targets: what makes steps the same in all units."""
    value = float(loss(middle, targets) if weights is None else loss(middle, targets, sample_weight=weights))
    return 1.0 / value if value > 0.0 and np.isfinite(1.0 / value) else 1.0
