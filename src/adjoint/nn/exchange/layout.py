"""Where channels are: PyTorch has them behind the first axis, here they come last.

Kernels are turned once, when a model is taken over. What remains is a row that was flattened from an image: its numbers
come in another order, which the next layer's weights make up for. So the channels are followed from layer to layer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import checks


@dataclasses.dataclass
class ChannelLayout:
    """What passes between two layers: rows (axes 0), sequences (1) or images (2) with channels, and what a row was."""

    axes: int = 0
    channels: int | None = None

    def has_places(self, axes: int, channels: int) -> None:
        """Note that channels are on the axis behind the first of PyTorch's arrays."""
        self.axes, self.channels = axes, channels

    def flattened(self) -> None:
        """Note that images became rows, whose numbers are ordered by channels first in PyTorch."""
        if self.axes and self.channels is None:
            raise refuse(
                "Flatten",
                "nothing in front of it says how many channels there are, on which the order of its numbers depends",
                "Take over the layers behind it by themselves, and turn what they get.",
            )
        self.axes = 0

    def has_rows(self) -> None:
        """Note that there is nothing left of the order of an image."""
        self.axes, self.channels = 0, None

    def order(self, width: int) -> Any:
        """For each number of a row here, where it is in PyTorch's."""
        if self.axes or self.channels in (None, 1) or width % (self.channels or 1):
            return slice(None)
        return np.arange(width).reshape(self.channels, -1).T.ravel()

    def order_back(self, width: int) -> Any:
        """For each number of a row of PyTorch's, where it is here."""
        order = self.order(width)
        return order if isinstance(order, slice) else np.argsort(order)


AXES = {
    f"{kind}{axes}d": axes for kind in ("Conv", "ConvTranspose", "BatchNorm", "MaxPool", "AvgPool") for axes in (1, 2)
}
"""How many axes of places a layer takes, by the name of its class; BatchNorm1d takes rows, too."""


def layout_for(names: Iterable[str]) -> ChannelLayout:
    """What a model takes, by the names of its layers in turn: images, if the first that has to know takes images."""
    for name in names:
        if name in ("Flatten", "Embedding"):
            break
        if name in AXES and name != "BatchNorm1d":
            return ChannelLayout(AXES[name])
    return ChannelLayout()


def refuse(name: str, why: str, fix: str) -> Exception:
    """The error for a layer that the other library does not have in this form."""
    return checks.refuse(f"{name} cannot be taken over: {why}.", "", fix)


def rows_only(name: str, at: ChannelLayout) -> None:
    """Refuse layers of the last axis for images, whose last axis is another one in the other library."""
    if at.axes:
        raise refuse(
            name,
            "it works along the last axis, which is that of channels here and that of places in PyTorch",
            "Put a Flatten in front of it, or take over its parts one by one.",
        )
