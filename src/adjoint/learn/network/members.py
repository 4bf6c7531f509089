"""Several networks of one shape as one model, whose arrays have an axis more: trained in one program by `ad.vmap`."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

import adjoint as ad
from adjoint import nn
from adjoint.training import History

from .estimator import Network
from .running import needs_function


@nn.layer
class Members:
    """Networks side by side, of outputs (n, members, ...)."""

    inner: Any

    delegates = True  # it behaves differently in training only if a layer inside does
    is_stacked = True

    def __call__(self, x: Any) -> Any:
        """The outputs of each of them."""
        return ad.vmap(lambda member: member(x), out_axes=1)(self.inner)

    def training(self, x: Any, key: Any) -> tuple[Any, Members]:
        """Likewise as in training, each with random numbers of its own."""
        if key is None:
            y, inner = ad.vmap(lambda member: nn.training(member, x, None), out_axes=(1, 0))(self.inner)
        else:
            keys = ad.random.split(key, len(ad.tree.leaves(self.inner)[0]))
            y, inner = ad.vmap(lambda member, own: nn.training(member, x, own), out_axes=(1, 0))(self.inner, keys)
        return y, replace(self, inner=inner)  # type: ignore[type-var]


def stacked(models: Sequence[Any]) -> Members:
    """Networks as one."""
    return Members(inner=ad.tree.map(lambda *arrays: np.stack(arrays), *models))


def member(tree: Any, k: int) -> Any:
    """One of several, of anything whose arrays have an axis for them; what is one number is for all."""
    return ad.tree.map(lambda a: np.array(a[k]) if np.ndim(a) else a, tree)


def mean_loss(outputs: Any, targets: Any, *, loss: Callable[..., Any], sample_weight: Any = None) -> Any:
    """The mean of the losses of the members."""
    if sample_weight is None:
        return np.mean(ad.vmap(lambda own: loss(own, targets), in_axes=1)(outputs))
    return np.mean(ad.vmap(lambda own: loss(own, targets, sample_weight=sample_weight), in_axes=1)(outputs))


def can_be_stacked(estimator: Any) -> bool:
    """Whether members can be trained at once: networks with an optimiser that goes by the gradient alone."""
    return isinstance(estimator, Network) and not needs_function(estimator.optimizer)


def trained_together(estimator: Network, X: Any, y: Any, sample_weight: Any, seeds: Sequence[int]) -> list[Network]:
    """Networks that differ in their first weights, trained on the same batches in one program."""
    lead: Any = clone(estimator)
    lead._validate_params()
    rows, targets, weights = lead._given(X, y, sample_weight, reset=True, names_classes=True)
    lead._forget()
    members = [copy.copy(lead).set_params(random_state=seed) for seed in seeds]
    rngs = [check_random_state(seed) for seed in seeds]
    split = lead._split(targets, rngs[0]) if lead.early_stopping else None
    jobs = [m._job(rows, targets, weights, rng, epochs=m.max_iter) for m, rng in zip(members, rngs, strict=True)]
    count, one, score = len(members), jobs[0], jobs[0].score
    whole = replace(
        one,
        model=stacked([job.model for job in jobs]),
        loss=functools.partial(mean_loss, loss=one.loss),
        unit=one.unit * count,
        score=lambda outputs, y: float(np.mean([score(outputs[:, k], y) for k in range(count)])),
    )
    fit = lead._run(whole, split)
    history = History.loaded([_own(name) for name in fit.history.names], fit.history.saved(), "loss")
    for k, each in enumerate(members):
        *settings, unit, moments = fit.optimizer_state
        state = (*settings, unit / count, _renamed(member(moments, k)))
        each._take(ad.Fit(member(fit.model.inner, k), history, fit.stopped, fit.best_epoch, fit.steps, state))
    return members


def _own(name: str) -> str:
    """The name of an array in a member, of its name among all."""
    return name.removeprefix("inner.")


def _renamed(tree: Any) -> Any:
    """Containers with the names of arrays as they are in a member."""
    if isinstance(tree, dict):
        return {_own(name): _renamed(part) for name, part in tree.items()}
    return type(tree)([_renamed(part) for part in tree]) if type(tree) in (tuple, list) else tree
