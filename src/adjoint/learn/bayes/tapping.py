"""Dense layers of a network, with what goes into each and how the outputs move with what comes out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import nn

from ..labels import Array


class Taps:
    """A network whose dense layers can be listened to; `layers` are the names of those that are."""

    def __init__(self, tree: Any, layers: Iterable[str] = ()) -> None:
        self.tree = tree
        self.found: dict[str, Any] = {}
        self._collect(tree, "")
        self.layers = {name: self.found[name] for name in layers}

    def last(self, X: Array) -> str:
        """The name of the dense layer that is called last."""
        seen: dict[str, Any] = {}
        self._tapped(self.tree, "", self.found, dict.fromkeys(self.found, 0.0), seen)(X)
        if not seen:
            raise ValueError("Laplace takes networks of dense layers (nn.Dense), and this one has none.")
        return list(seen)[-1]

    def check(self, name: str) -> None:
        """Refuse arrays that are not of a dense layer, and those that stand in several places."""
        layer, _, kind = name.rpartition(".")
        array = getattr(self.found.get(layer), kind, None)
        if array is None:
            raise ValueError(
                f"Laplace takes the weights of dense layers, and {name!r} is not of one: choose others by weights=, "
                "as weights='last'."
            )
        if sum(leaf is array for leaf in ad.tree.leaves(self.tree)) > 1:
            raise ValueError(f"Laplace takes weights that are used once, and {name!r} is shared between layers.")

    def pulled(self, X: Array) -> tuple[Array, dict[str, Array], dict[str, Array]]:
        """Outputs (n, k), inputs (n, a) of each layer, and slopes (n, k, b) of the outputs in what the layer gives."""
        count = len(X)
        zeros = {name: np.zeros((count, layer.weight.shape[1])) for name, layer in self.layers.items()}

        def run(shifts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            seen: dict[str, Any] = {}
            return self._tapped(self.tree, "", self.layers, shifts, seen)(X), seen

        outputs, pull, seen = ad.vjp(run, zeros, has_aux=True)
        if outputs.ndim != 2:
            raise ValueError(f"Laplace takes networks with outputs of shape (n, k), got {outputs.shape}.")
        slopes = {name: np.empty((count, outputs.shape[1], zero.shape[1])) for name, zero in zeros.items()}
        for k in range(outputs.shape[1]):
            one = np.zeros(outputs.shape)
            one[:, k] = 1.0  # rows do not touch each other: one sweep for all of them
            for name, slope in pull(one)[0].items():
                slopes[name][:, k] = slope
        return np.asarray(outputs, dtype=np.float64), seen, slopes

    def _collect(self, part: Any, path: str) -> None:
        if isinstance(part, nn.Dense):
            self.found[path] = part
        for name, inner in _inside(part).items():
            self._collect(inner, f"{path}.{name}" if path else str(name))

    def _tapped(self, part: Any, path: str, layers: dict[str, Any], shifts: Any, seen: dict[str, Any]) -> Any:
        """The network with taps in place of layers."""
        if path in layers:
            return _Tap(path, part, shifts, seen)
        inside = {
            name: self._tapped(inner, f"{path}.{name}" if path else str(name), layers, shifts, seen)
            for name, inner in _inside(part).items()
        }
        if not inside:
            return part
        if isinstance(part, dict):
            return inside
        return type(part)(inside.values()) if isinstance(part, (tuple, list)) else dataclasses.replace(part, **inside)


class _Tap:
    """A dense layer that notes what goes in, and whose result is shifted."""

    def __init__(self, name: str, layer: Any, shifts: Any, seen: dict[str, Any]) -> None:
        self.name, self.layer, self.shifts, self.seen = name, layer, shifts, seen

    def __call__(self, x: Any) -> Any:
        if self.name in self.seen or x.ndim != 2:
            raise ValueError(
                f"Laplace takes dense layers that are called once, with one row for each example; {self.name} is not."
            )
        self.seen[self.name] = x
        return self.layer(x) + self.shifts[self.name]


def _inside(part: Any) -> dict[Any, Any]:
    """The parts of a layer or a container by name; nothing for arrays, dense layers and all else."""
    if isinstance(part, dict):
        return part
    if isinstance(part, (tuple, list)):
        return dict(enumerate(part))
    if dataclasses.is_dataclass(part) and not isinstance(part, (type, nn.Dense)):
        return {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return {}
