"""`nn.summary`: a table of a model's layers, with shapes, parameters and memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad

from ..arguments import checked
from ..notebooks import html_table, is_notebook
from .layers.repeat import Repeat
from .layers.sequential import Activation
from .parameters import parameters, statistics
from .walking import children, joined

HEADER = ["layer", "kind", "output", "parameters", "memory"]
TEXTS = (0, 1, 2)
"""Columns of words."""
UNITS = ("B", "kB", "MB", "GB", "TB")


class LayerRow(NamedTuple):
    """A layer: its name, class, what it returns, and its own parameters."""

    name: str
    kind: str
    shape: str
    size: int
    memory: int


@checked("x")
def summary(model: Callable[..., Any], x: Any = None) -> None:
    """Print a table of the layers of a model: names, shapes of the outputs, numbers of parameters, memory.

    A notebook shows it as a table of its own. The outputs are found without computing them, where that is possible. A
    layer counts the parameters that are not in layers inside it; arrays that are shared count once.

    Parameters
    ----------
    model : layer
        Any callable tree of arrays.
    x : ndarray, optional
        Inputs, for the shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.summary(nn.MLP([64, 32, 10], key=0), np.zeros((5, 64)))
    layer           kind         output    parameters   memory
    model           MLP          (5, 10)
    layers.0        Dense        (5, 32)        2,080  16.6 kB
    activations.0   relu         (5, 32)
    layers.1        Dense        (5, 10)          330   2.6 kB
    2,410 parameters, 19.3 kB; outputs of layers for these inputs: 3.0 kB
    """
    shapes: dict[str, Any] = {}
    if x is not None:
        watched = _watched(model, "", shapes)
        try:
            ad.eval_shape(watched, x)
        except ad.errors.InputError:  # shapes that depend on values have to be computed
            watched(x)
    table = SummaryTable(_cells(model, shapes), _total(model, shapes))
    if is_notebook():
        from IPython.display import display

        display(table)
    else:
        sys.stdout.write(f"{table}\n")


@dataclass(frozen=True, repr=False)
class SummaryTable:
    """The table of `nn.summary`: as text, and as HTML."""

    rows: list[list[str]]
    """The cells, line by line."""
    total: str
    """What stands below."""

    def __str__(self) -> str:
        lines = [HEADER, *self.rows]
        widths = [max([len(line[k]) for line in lines]) for k in range(len(HEADER))]
        texts = ["  ".join([_aligned(k, text, widths[k]) for k, text in enumerate(line)]).rstrip() for line in lines]
        return "\n".join([*texts, self.total])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(HEADER, self.rows, texts=TEXTS, foot=[self.total])


class LayerOutput:
    """Shape and size of what a layer returns; a leaf of a tree, as a tuple is not."""

    def __init__(self, value: Any) -> None:
        self.shape = tuple(np.shape(value))
        self.nbytes = math.prod(self.shape) * getattr(value, "dtype", np.dtype(float)).itemsize


class WatchedLayer:
    """A layer in disguise: it notes what the layer returns."""

    def __init__(self, inner: Any, name: str, shapes: dict[str, Any]) -> None:
        self._inner, self._name, self._shapes = inner, name, shapes

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the layer returns."""
        self._shapes[self._name] = None  # its row stands in front of those of layers inside
        found = self._inner(*args, **options)
        self._shapes[self._name] = ad.tree.map(LayerOutput, found)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _watched(node: Any, name: str, shapes: dict[str, Any]) -> Any:
    """The same tree, with every layer in disguise."""
    inner = children(node)
    if inner and not isinstance(node, Repeat):  # whose loop takes the arrays of its blocks, not the blocks
        level = ad.tree.structure(node).one_level()
        node = ad.tree.unflatten(level, [_watched(child, joined(name, key), shapes) for key, child in inner])
    return WatchedLayer(node, name, shapes) if callable(node) and inner is not None else node


def _cells(model: Any, shapes: dict[str, Any]) -> list[list[str]]:
    """The table, line by line."""
    rows = _rows(model, shapes)
    return [[r.name, r.kind, r.shape, f"{r.size:,}" if r.size else "", _size(r.memory)] for r in rows]


def _aligned(column: int, text: str, width: int) -> str:
    return text.ljust(width) if column in TEXTS else text.rjust(width)


def _rows(model: Any, shapes: dict[str, Any]) -> list[LayerRow]:
    """The layers in the order in which they are called; those that are not, below what they are in, or at the end."""
    found = dict(_layers(model, ""))
    order = list(shapes)
    for name in [name for name in found if name not in shapes]:
        above = _owner(name, {other: None for other in order if other != name} | {"": None})
        order.insert(order.index(above) + 1 if above else len(order), name)
    arrays = parameters(model)
    own = {name: [a for path, a in arrays.items() if _owner(path, found) == name] for name in found}
    return [
        LayerRow(
            name or "model",
            _kind(found[name]),
            _shape(shapes.get(name)),
            sum([a.size for a in own[name]]),
            _bytes(own[name]),
        )
        for name in order
    ]


def _layers(node: Any, name: str) -> list[tuple[str, Any]]:
    """The containers that can be called, from the outside in; the model itself counts, whatever it is."""
    inner = children(node)
    own = [(name, node)] if (callable(node) and inner is not None) or not name else []
    return own + [pair for key, child in inner or () for pair in _layers(child, joined(name, key))]


def _owner(path: str, found: dict[str, Any]) -> str:
    """The innermost layer that an array belongs to."""
    return max([name for name in found if not name or path.startswith(f"{name}.")], key=len)


def _kind(node: Any) -> str:
    if isinstance(node, Activation):
        return str(getattr(node.function, "__name__", "function"))
    return type(node).__name__


def _shape(found: Any) -> str:
    if found is None:
        return ""
    return ", ".join([str(part.shape) for part in ad.tree.leaves(found)])


def _total(model: Any, shapes: dict[str, Any]) -> str:
    arrays, rest = parameters(model), statistics(model)
    text = f"{sum([a.size for a in arrays.values()]):,} parameters, {_size(_bytes(arrays.values()))}"
    if rest:
        text += f"; {sum([a.size for a in rest.values()]):,} other numbers, {_size(_bytes(rest.values()))}"
    if shapes:
        inner = [name for name in shapes if not any([other.startswith(joined(name, "")) for other in shapes if other])]
        outputs = [part for name in inner for part in ad.tree.leaves(shapes[name])]
        text += f"; outputs of layers for these inputs: {_size(_bytes(outputs))}"
    return text


def _bytes(arrays: Any) -> int:
    return sum([a.nbytes for a in arrays])


def _size(count: float) -> str:
    """A number of bytes as people write it."""
    if not count:
        return ""
    power = 0
    while count >= 1000.0 and power < len(UNITS) - 1:
        count, power = count / 1000.0, power + 1
    return f"{count:.1f} {UNITS[power]}" if power else f"{count:.0f} B"
