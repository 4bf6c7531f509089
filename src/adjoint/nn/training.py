"""Running a model in training: the one way, with random keys going in and new statistics coming out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint as ad

from ..arguments import checked
from ..typing import Key
from . import checks
from .init import as_key
from .layer import described
from .walking import layers


@checked("model", "x")
def training(model: Any, x: Any, key: Key | None = None) -> tuple[Any, Any]:
    """What a model gives in training, with dropout and batch statistics, and the model with its new statistics.

    A layer that behaves differently in training has a method `training(x, key) -> (y, layer)`. Calling the model,
    `model(x)`, is always inference: no random numbers, statistics as they are.

    Parameters
    ----------
    model : layer
        Any callable tree of arrays.
    x : ndarray
        The inputs.
    key : int or array of two uint64, optional
        A seed, or a key of `ad.random`; only needed if the model draws random numbers (see `nn.is_stochastic`).

    Returns
    -------
    y : ndarray
        The outputs.
    model : layer
        The model with new statistics; the model itself if it has none.

    Raises
    ------
    InputError
        If a key is needed and missing, or if a layer without a method `training` has a layer inside that has one, which
        would never be called.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> model = nn.Sequential(nn.BatchNorm(2), nn.Dropout(0.5))
    >>> y, model = nn.training(model, np.array([[1.0, 2.0], [3.0, 4.0]]), key=0)
    >>> nn.statistics(model)["layers.0.mean"].round(3)
    array([0.2, 0.3])
    """
    if not callable(model):
        raise checks.refuse(
            "A model has to be callable: model(x).",
            described(model),
            "Write  nn.Function(predict, params)  for a function  predict(params, x)  and its arrays.",
        )
    method = getattr(model, "training", None)
    if method is None:
        _check_nothing_is_missed(model)
        return model(x), model
    if key is not None:
        key = as_key(key)
    elif is_stochastic(model):
        raise checks.refuse(
            "The model draws random numbers in training, so it needs a key.",
            "key=None",
            "Write  nn.training(model, x, key),  with another key for every step:  ad.random.fold_in(key, step).",
        )
    y, changed = method(x, key)
    return y, changed


@checked()
def is_stochastic(model: Any) -> bool:
    """Whether a model draws random numbers in training, so that `nn.training` needs a key.

    A layer with a method `training` does, unless it has an attribute `stochastic` that is False.

    Parameters
    ----------
    model : layer
        Any callable tree of arrays.

    Returns
    -------
    bool
        Whether a key is needed.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.is_stochastic(nn.MLP([2, 3, 1], key=0)), nn.is_stochastic(nn.MLP([2, 3, 1], dropout=0.5, key=0))
    (False, True)
    """
    return any([getattr(part, "stochastic", True) for _, part in _different(model)])


def split_among(parts: Sequence[Any], key: Key) -> list[Any]:
    """A key for each part that draws random numbers, None for the others; one alone gets the key itself."""
    drawing = [is_stochastic(part) for part in parts]
    if key is None or not any(drawing):
        return [None] * len(parts)
    keys = iter([key] if sum(drawing) == 1 else ad.random.split(key, sum(drawing)))
    return [next(keys) if draws else None for draws in drawing]


def _different(model: Any) -> list[tuple[str, Any]]:
    """The layers of a model that behave differently in training, not those that only pass on to layers inside."""
    return [
        (name, part)
        for name, part in layers(model)
        if hasattr(part, "training") and not getattr(part, "delegates", False)
    ]


def _check_nothing_is_missed(model: Any) -> None:
    missed = _different(model)
    if not missed:
        return
    name, part = missed[0]
    kind = type(model).__name__
    raise checks.refuse(
        f"{kind} has no method `training`, but {name} inside it has one, which would not be called.",
        repr(part),
        f"Give {kind} the method  training(self, x, key).  It calls  nn.training(layer, x, key)  for layers inside,\n"
        "and returns  y, dataclasses.replace(self, ...)  with the new layers.",
    )
