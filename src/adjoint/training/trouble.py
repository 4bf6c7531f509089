"""What to say when the loss or its gradient is no longer a number: where it began, and what helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad

from .steps import State
from .task import Batch, Task


@dataclass(frozen=True)
class Trouble:
    """The step whose loss or gradient is not finite."""

    epoch: int
    """Counted from 0."""
    step: int
    """Counted from 0, over the whole run."""
    examples: np.ndarray
    """The numbers of its examples."""


def told(trouble: Trouble, task: Task, state: State, batch: Batch, key: Any) -> str:
    """A sentence that names the step, the batch and the layer; the weights in `state` are those before it."""
    examples = ", ".join(map(str, trouble.examples[:8])) + (", ..." if len(trouble.examples) > 8 else "")
    where = f"in step {trouble.step + 1} (epoch {trouble.epoch + 1}, examples {examples})"
    return f"{_what(task, state, batch, key)} {where}; the weights before that step are kept"


def _what(task: Task, state: State, batch: Batch, key: Any) -> str:
    layer = _first_bad_layer(task.rebuild(state.parameters, state.statistics), batch.inputs)
    if layer:
        return f"the output of {layer} was not finite"
    value, gradient, _ = task.gradient(state.parameters, state.statistics, batch, key)
    if not np.isfinite(value):
        return f"the loss was {float(value)}"
    bad = [name for name, g in gradient.items() if not np.all(np.isfinite(g))]
    if bad:
        return f"the gradient of {bad[-1]} was not finite"
    largest = max(gradient, key=lambda name: float(np.max(np.abs(gradient[name]), initial=0.0)))
    return f"the gradient of {largest} was too large for its dtype to square"


def _first_bad_layer(model: Any, inputs: Any) -> str:
    """Of a model made of layers: the first one that turned numbers into something else."""
    layers = getattr(model, "layers", None)
    if not isinstance(layers, (tuple, list)):
        return ""
    for k, layer in enumerate(layers):
        try:
            inputs = layer(inputs)
        except Exception:  # layers of another kind, which are not taken one after the other
            return ""
        if not all([np.all(np.isfinite(leaf)) for leaf in ad.tree.leaves(inputs)]):
            return f"layers.{k} ({type(layer).__name__})"
    return ""
