"""The Jacobian of a model of many examples: one example at a time where the model treats them so, which is tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.tree import flatten
from ...core.values import Value, dtype_of, may_hold, shape_of
from ...ir.effects import silenced
from ..vmap import vmap
from .linearized import Linearized

WORTH = 4
"""How many times fewer products it has to take, one example at a time."""
CLOSE = 1e3
"""In units of rounding, how far apart what is found one example at a time and for all together may be."""


def jacobian_of_examples(outputs: Callable[..., Any], params: Any, inputs: Sequence[Any], at: Linearized) -> Any:
    """That of `outputs(params, *inputs)`, of which `at` is the recording: a row for each number of the outputs.

    A model that treats each example by itself needs as many products as one example has outputs. Whether it does is not
    known, so this is tried: its outputs, and the product with a random vector, have to be those of all together.
    """
    found = _one_at_a_time(outputs, params, inputs, at)
    return at.jacobian() if found is None else found


def _one_at_a_time(outputs: Callable[..., Any], params: Any, inputs: Sequence[Any], at: Linearized) -> Any:
    (value,) = at.recording.values
    count, each = shape_of(value)[0], math.prod(shape_of(value)[1:])
    leaves, rebuild = flatten(tuple(inputs))
    split = [k for k, x in enumerate(leaves) if shape_of(x)[:1] == (count,)]
    if not split or count < 2 or min(at.size, count * each) <= WORTH * each:
        return None

    def of_one(*parts: Any) -> tuple[Value, Value]:
        own = list(leaves)
        for k, part in zip(split, parts, strict=True):
            own[k] = np.reshape(part, (1, *shape_of(part)))
        alone = Linearized(lambda p: outputs(p, *rebuild(own)), params, at.transform)
        return np.reshape(alone.recording.values[0], (each,)), alone.jacobian()

    try:
        with silenced():
            values, rows = vmap(of_one)(*[leaves[k] for k in split])
    except Exception:  # whatever it says of a batch of one: all examples together have been evaluated before
        return None
    random = np.random.default_rng(0)
    vector = random.uniform(0.5, 1.5, at.size).astype(dtype_of(rows))
    (moved,) = at.pushed_flat(vector)
    differ = _differ(np.reshape(values, shape_of(value)), value)
    differ = differ | _differ(np.reshape(np.matmul(rows, vector), shape_of(value)), moved)
    return None if may_hold(differ) else np.reshape(rows, (count * each, at.size))


def _differ(found: Value, wanted: Value) -> Any:
    """Whether anything differs by more than rounding, or is not finite."""
    size = np.max(np.abs(wanted), initial=0.0)
    return np.any(~(np.abs(found - wanted) <= CLOSE * np.finfo(dtype_of(wanted)).eps * size))
