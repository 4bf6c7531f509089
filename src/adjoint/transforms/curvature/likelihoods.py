"""What `fisher` has to know of each likelihood: its information with respect to the outputs, and its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import InputError, message
from ...core.traced import Traced
from ...core.values import describe, dtype_of, shape_of
from ..grad import grad
from ..vmap import vmap

LIKELIHOODS = {"gaussian": "gaussian", "bernoulli": "bernoulli", "categorical": "categorical", "softmax": "categorical"}
"""By the names that may be given."""


class Likelihood(NamedTuple):
    """One of the known ones, or a function of the user's for one example."""

    name: str | Callable[..., Any]
    variance: float

    def times(self, outputs: Any, u: Any) -> Any:
        """L u."""
        if self.name == "gaussian":
            return u * (1.0 / self.variance)
        if self.name == "bernoulli":
            p = _sigmoid(outputs)
            return p * (1.0 - p) * u
        p = _softmax(outputs)
        return p * (u - np.sum(p * u, axis=-1, keepdims=True))

    def factor(self, outputs: Any, jacobian: Any) -> Any:
        """A with A'A = J' L J, for J with the axes of the outputs and one more."""
        if self.name == "gaussian":
            return jacobian * (1.0 / self.variance) ** 0.5
        if self.name == "bernoulli":
            p = _sigmoid(outputs)
            return np.sqrt(p * (1.0 - p))[..., None] * jacobian
        p = _softmax(outputs)[..., None]
        return np.sqrt(p) * (jacobian - np.sum(p * jacobian, axis=-2, keepdims=True))


def of_examples(outputs: Any, kind: Likelihood) -> Any:
    """Outputs with an axis of examples: a number is that of one example, and so is a vector of logits of categories."""
    needed = 2 if kind.name == "categorical" else 1
    shape = getattr(outputs, "shape", None)
    if shape is None or len(shape) >= needed:
        return outputs if shape is not None or not isinstance(outputs, float) else np.reshape(outputs, (1,))
    return np.reshape(outputs, (1, *shape) if len(shape) == needed - 1 else (1,) * needed)


def scores(kind: Likelihood, outputs: Any, targets: Any) -> Any:
    """The gradient of the negative log-likelihood with respect to the outputs, for each example."""
    if callable(kind.name):
        return vmap(grad(kind.name))(outputs, targets)
    if kind.name == "categorical":
        p = _softmax(outputs)
        if len(shape_of(targets)) == len(p.shape) - 1 and dtype_of(targets).kind in "iu":
            targets = _one_hot(targets, p)
        return p - _fitting(targets, outputs)
    if kind.name == "bernoulli":
        return _sigmoid(outputs) - _fitting(targets, outputs)
    return (outputs - _fitting(targets, outputs)) * (1.0 / kind.variance)


def _one_hot(labels: Any, p: Any) -> Any:
    """A row for each label: 1 for its category, 0 for the others. No category of all is refused, or nan if traced."""
    count = p.shape[-1]
    if not isinstance(labels, Traced):
        labels = np.asarray(labels)
        outside = labels[(labels < 0) | (labels >= count)]
        if outside.size:
            raise InputError(
                message(
                    f"Labels of {count} categories are whole numbers from 0 to {count - 1}.",
                    got=f"a label {outside.flat[0]}",
                    fix="Number the categories from 0 on, or give the model more outputs.",
                )
            )
    same = np.equal(labels[..., None], np.arange(count))
    return np.where(np.any(same, axis=-1, keepdims=True), same, np.nan).astype(dtype_of(p))


def _fitting(targets: Any, outputs: Any) -> Any:
    if shape_of(targets) != shape_of(outputs):
        raise InputError(
            message(
                "The targets do not have the shape of the outputs.",
                got=f"targets {describe(targets)} for outputs {describe(outputs)}",
                fix="Give one target for each output; of categories, integer labels or rows of probabilities.",
            )
        )
    return np.asarray(targets, dtype_of(outputs)) if dtype_of(targets).kind != "f" else targets


def _sigmoid(z: Any) -> Any:
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def _softmax(z: Any) -> Any:
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
