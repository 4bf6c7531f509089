"""What is trained: a model, a loss and what is added to it, as one function of the parameters and a batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from adjoint import nn

Array = np.ndarray
Arrays = dict[str, Array]


class Batch(NamedTuple):
    """Some examples."""

    inputs: Any
    """Containers of arrays, one row for each example."""
    targets: Any
    """Likewise; None for a loss that needs none."""
    weights: Array | None = None
    """How much each example counts; None if all count alike."""


def rows_in(data: Batch) -> int:
    """How many examples there are."""
    return int(ad.tree.leaves(data.inputs)[0].shape[0])


@dataclass(frozen=True)
class Task:
    """The function that is made small: the loss of a batch, and a penalty on the parameters."""

    rebuild: Callable[..., Any]
    """From parameters and statistics to a model."""
    loss: Callable[..., Any]
    """`(outputs, targets) -> number`, or `(outputs, targets, sample_weight=...)`."""
    regularizer: Callable[[Mapping[str, Any]], Any] | None = None
    """`parameters -> number`, added to the loss."""
    clip_per_sample: float | None = None
    """The largest norm of the gradient of one example."""
    is_random: bool = False
    """Whether the model draws random numbers in training."""
    dtype: np.dtype[Any] | None = None
    """What real numbers of the data are converted to, batch by batch."""
    name: str = ""
    """What is trained with which loss, in words."""

    def outputs(self, parameters: Arrays, statistics: Arrays, inputs: Any) -> Any:
        """What the model gives as it is used later."""
        return self.rebuild(parameters, statistics)(inputs)

    def outputs_in_training(
        self, parameters: Arrays, statistics: Arrays, inputs: Any, key: Array | None
    ) -> tuple[Any, Arrays]:
        """What the model gives in training, and its statistics after."""
        found, model = nn.training(self.rebuild(parameters, statistics), inputs, key)
        return found, nn.statistics(model)

    def loss_of(self, outputs: Any, batch: Batch) -> Any:
        """The loss of some outputs."""
        if batch.weights is None:
            return self.loss(outputs, batch.targets)
        return self.loss(outputs, batch.targets, sample_weight=batch.weights)

    def objective(self, parameters: Arrays, statistics: Arrays, batch: Batch, key: Array | None) -> tuple[Any, Arrays]:
        """What is made small, and the statistics after."""
        outputs, statistics = self.outputs_in_training(parameters, statistics, batch.inputs, key)
        value = self.loss_of(outputs, batch)
        return value if self.regularizer is None else value + self.regularizer(parameters), statistics

    def gradient(
        self, parameters: Arrays, statistics: Arrays, batch: Batch, key: Array | None
    ) -> tuple[Any, Arrays, Arrays]:
        """The objective, its gradient, and the statistics after."""
        if self.clip_per_sample is not None:
            return self._clipped_gradient(parameters, statistics, batch, key)
        (value, statistics), gradient = ad.value_and_grad(self.objective, has_aux=True)(
            parameters, statistics, batch, key
        )
        return value, gradient, statistics

    def _clipped_gradient(
        self, parameters: Arrays, statistics: Arrays, batch: Batch, key: Array | None
    ) -> tuple[Any, Arrays, Arrays]:
        """The mean of the gradients of single examples, each scaled down to the norm that is allowed."""

        def one(example: Batch) -> tuple[Any, Arrays]:
            alone = Batch(*[ad.tree.map(lambda a: a[None], part) for part in example])._replace(weights=None)
            (value, _), gradient = ad.value_and_grad(self.objective, has_aux=True)(parameters, statistics, alone, key)
            squares = sum([np.sum(g * g) for g in gradient.values()])
            factor = np.minimum(1.0, self.clip_per_sample / np.sqrt(np.maximum(squares, np.finfo(squares.dtype).tiny)))
            return value, {name: g * factor.astype(g.dtype) for name, g in gradient.items()}

        values, gradients = ad.vmap(one)(batch)
        if batch.weights is None:
            share = np.full_like(values, 1.0 / len(values))
        else:
            share = batch.weights / np.sum(batch.weights)
        return share @ values, {name: np.tensordot(share, g, 1) for name, g in gradients.items()}, statistics

    def key_of_step(self, key: Array, step: Any) -> Array | None:
        """The key for the random numbers of one step; None if there are none."""
        return ad.random.fold_in(key, step) if self.is_random else None

    def rows(self, data: Batch, chosen: Any) -> Batch:
        """The examples with these numbers, their real numbers in the dtype of the model."""
        return Batch(*[ad.tree.map(lambda a: self.converted(dense(a[chosen])), part) for part in data])

    def converted(self, a: Any) -> Any:
        """An array in the dtype of the model, if it has real numbers."""
        return a if self.dtype is None or a.dtype.kind != "f" or a.dtype == self.dtype else a.astype(self.dtype)


def is_sparse(x: Any) -> bool:
    """Whether this is a sparse matrix of SciPy's, without a need to import it."""
    return hasattr(x, "tocsr") and hasattr(x, "toarray")


def has_sparse(data: Batch) -> bool:
    """Whether there are sparse matrices among the inputs."""
    return any([is_sparse(leaf) for leaf in ad.tree.leaves(data.inputs)])


def dense(rows: Any) -> Any:
    """Rows of a sparse matrix, filled up; others as they are."""
    return rows.toarray() if is_sparse(rows) else rows


def copies(arrays: Arrays) -> Arrays:
    """Arrays to try a model with, or to show: who writes to them does not write to those of the user or of the run."""
    return {name: a.copy() for name, a in arrays.items()}


def takes_weights(loss: Callable[..., Any]) -> bool:
    """Whether a loss has an argument for the weights of examples."""
    try:
        return "sample_weight" in inspect.signature(loss).parameters
    except (TypeError, ValueError):  # a builtin that does not say
        return False
