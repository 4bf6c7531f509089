"""Layers one after another, and functions as layers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import adjoint as ad

from ...typing import Key, Tree
from .. import checks, named
from ..layer import layer, set_fields, static, text_of
from ..training import split_among, training


@layer
class Activation:
    """A function as a layer: what `nn.Sequential` makes of plain functions and of names.

    Parameters
    ----------
    function : str or callable
        A function of an array, or the name of one, as `nn.activation` takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.Activation("relu"), nn.Activation(np.tanh)(0.0)
    (Activation(relu), np.float64(0.0))
    """

    function: Callable[[Any], Any] = static()

    def __post_init__(self) -> None:
        set_fields(self, function=named.activation(self.function))

    def __call__(self, x: Tree) -> Any:
        """The function of x."""
        return self.function(x)

    def __repr__(self) -> str:
        return f"Activation({text_of(self.function)})"


@layer
class Sequential:
    """Layers one after another: the last of (... of the first of x).

    Parameters
    ----------
    *layers : layer, callable or str
        Layers, functions of an array, or names of activations.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> model = nn.Sequential(nn.Dense(4, 8, key=0), "relu", nn.Dense(8, 2, key=1), lambda x: 2.0 * x)
    >>> model(np.zeros((5, 4))).shape, list(nn.parameters(model))[:2], len(model)
    ((5, 2), ['layers.0.weight', 'layers.0.bias'], 4)
    """

    layers: tuple[Any, ...]

    delegates = True  # it behaves differently in training only if a layer inside does

    def __init__(self, *layers: Any) -> None:
        if len(layers) == 1 and isinstance(layers[0], (list, tuple)):
            layers = tuple(layers[0])
        set_fields(self, layers=tuple([as_layer(part) for part in layers]))

    def __call__(self, x: Tree) -> Any:
        """Apply the layers in turn."""
        for k, part in enumerate(self.layers):
            with inside(f"layers.{k}"):
                x = part(x)
        return x

    def training(self, x: Tree, key: Key) -> tuple[Any, Sequential]:
        """Apply the layers in turn as in training; the second result has their new statistics."""
        new = []
        for k, (part, own) in enumerate(zip(self.layers, split_among(self.layers, key), strict=True)):
            with inside(f"layers.{k}"):
                x, changed = training(part, x, own)
            new.append(changed)
        return x, dataclasses.replace(self, layers=tuple(new))

    def __getitem__(self, index: Any) -> Any:
        """A layer, or the layers of a slice as a model."""
        return Sequential(*self.layers[index]) if isinstance(index, slice) else self.layers[index]

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)


def as_layer(part: Any) -> Any:
    """A layer as it is; a function or a name as an activation."""
    if isinstance(part, type):
        raise checks.refuse(
            "A layer is an object, not a class.", f"the class {part.__name__}", f"Write  {part.__name__}(...)."
        )
    if isinstance(part, str) or (callable(part) and ad.tree.structure(part).is_leaf()):
        return Activation(part)
    if not callable(part):
        raise checks.refuse("A layer has to be callable: layer(x).", repr(part)[:80])
    return part


class inside:  # noqa: N801  (reads as a word of the sentence)
    """An error from inside a layer gets a note with the layer's name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, ad.errors.InputError):
            notes = getattr(error, "__notes__", [""])
            start, end = "  in ", " of the model"
            if notes[-1].startswith(start) and notes[-1].endswith(end):  # from a layer inside this one
                notes[-1] = f"{start}{self.name}.{notes[-1].removeprefix(start)}"
            else:
                error.add_note(f"{start}{self.name}{end}")
