"""Recurrent cells, and the layer that runs one over a sequence with `ad.scan`.

A cell has `start(shape, dtype)`, the state before the first step, and `cell(state, x) -> (state, output)`. The cells
here split this in two: `prepare(x)` is what does not depend on the state, so that `Recurrent` computes it for all steps
at once, and `step(state, prepared)` is the rest. A cell of your own needs `start` and the call only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, DTypeLike, Key, Tree
from .. import checks
from ..activations import sigmoid
from ..init import as_key, glorot_uniform, orthogonal
from ..layer import described, layer, set_fields, static


class _Cell:
    """What the cells have in common: three arrays for a number of gates, and a state of zeros at the start."""

    weight: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray

    def _make(self, inputs: int, width: int, gates: int, key: Key, dtype: DTypeLike) -> None:
        name, kind = type(self).__name__, checks.real(type(self).__name__, dtype)
        c, d = checks.count(name, "inputs", inputs), checks.count(name, "width", width)
        keys = ad.random.split(as_key(key), 2 * gates)
        set_fields(
            self,
            weight=np.concatenate([glorot_uniform(k, (c, d), kind) for k in keys[:gates]], axis=1),
            recurrent=np.concatenate([orthogonal(k, (d, d), kind) for k in keys[gates:]], axis=1),
            bias=np.zeros(gates * d, kind),
        )

    def start(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """The state before the first step, for a batch of this shape."""
        return np.zeros((*shape, self.recurrent.shape[0]), dtype)

    def prepare(self, x: Array) -> Any:
        """What each step needs of its input."""
        checks.last_axis(type(self).__name__, x, self.weight.shape[0])
        return x @ self.weight + self.bias

    def step(self, state: Tree, prepared: Array) -> tuple[Any, Any]:
        """The new state, and the output."""
        raise NotImplementedError

    def __call__(self, state: Tree, x: Array) -> tuple[Any, Any]:
        """The new state, and the output."""
        return self.step(state, self.prepare(x))


@layer
class RNNCell(_Cell):
    """h' = tanh(x W + h U + b), which is the state and the output: d (c + d + 1) parameters.

    Parameters
    ----------
    inputs : int
        The number of inputs c.
    width : int
        The length d of the state.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> cell = nn.RNNCell(3, 5, key=0)
    >>> state, output = cell(np.zeros(5), np.ones(3))
    >>> state.shape
    (5,)
    """

    weight: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray

    def __init__(self, inputs: int, width: int, *, key: Key, dtype: DTypeLike = np.float64) -> None:
        self._make(inputs, width, 1, key, dtype)

    def step(self, state: Tree, prepared: Array) -> tuple[Any, Any]:
        """The new state, twice."""
        h = np.tanh(prepared + state @ self.recurrent)
        return h, h


@layer
class GRUCell(_Cell):
    """The gated recurrent unit: h' = (1 - z) n + z h, which is the state and the output.

    r and z are sigmoids of x W + h U + b, and n = tanh(x W + b + r * (h U)), each with its own d columns of W, U and b,
    in the order r, z, n: 3 d (c + d + 1) parameters.

    Parameters
    ----------
    inputs : int
        The number of inputs c.
    width : int
        The length d of the state.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> state, output = nn.GRUCell(3, 5, key=0)(np.zeros(5), np.ones(3))
    >>> state.shape
    (5,)
    """

    weight: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray

    def __init__(self, inputs: int, width: int, *, key: Key, dtype: DTypeLike = np.float64) -> None:
        self._make(inputs, width, 3, key, dtype)

    def step(self, state: Tree, prepared: Array) -> tuple[Any, Any]:
        """The new state, twice."""
        d = self.recurrent.shape[0]
        own = state @ self.recurrent
        gates = sigmoid(prepared[..., : 2 * d] + own[..., : 2 * d])
        n = np.tanh(prepared[..., 2 * d :] + gates[..., :d] * own[..., 2 * d :])
        h = n + gates[..., d:] * (state - n)
        return h, h


@layer
class LSTMCell(_Cell):
    """Long short-term memory: c' = f c + i g and h' = o tanh(c'); the state is (h, c), the output h'.

    i, f and o are sigmoids and g is the tanh of x W + h U + b, each with its own d columns of W, U and b, in the order
    i, f, g, o: 4 d (c + d + 1) parameters. The bias of f starts at 1, so that a new cell remembers.

    Parameters
    ----------
    inputs : int
        The number of inputs c.
    width : int
        The length d of the state.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> (h, c), output = nn.LSTMCell(3, 5, key=0)((np.zeros(5), np.zeros(5)), np.ones(3))
    >>> h.shape, c.shape
    ((5,), (5,))
    """

    weight: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray

    def __init__(self, inputs: int, width: int, *, key: Key, dtype: DTypeLike = np.float64) -> None:
        self._make(inputs, width, 4, key, dtype)
        self.bias[width : 2 * width] = 1.0

    def start(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """The state before the first step, for a batch of this shape."""
        return (super().start(shape, dtype), super().start(shape, dtype))

    def step(self, state: Tree, prepared: Array) -> tuple[Any, Any]:
        """The new state, and the output."""
        h, c = state
        d = self.recurrent.shape[0]
        sums = prepared + h @ self.recurrent
        i, f, g, o = [sums[..., k * d : (k + 1) * d] for k in range(4)]
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h, c), h


@layer
class Recurrent:
    """A cell run over sequences x of shape (..., length, c): the outputs of all steps, or of the last one.

    Parameters
    ----------
    cell : RNNCell, GRUCell, LSTMCell or a cell of your own
        What takes each step: `cell(state, x) -> (state, output)`, with `cell.start(shape, dtype)`.
    last : bool, default False
        Whether only the output of the last step is returned.
    reverse : bool, default False
        Whether to run from the end to the start; outputs stay in their places.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> x = np.ones((8, 20, 3))
    >>> nn.Recurrent(nn.LSTMCell(3, 5, key=0))(x).shape, nn.Recurrent(nn.GRUCell(3, 5, key=0), last=True)(x).shape
    ((8, 20, 5), (8, 5))
    """

    cell: Any
    last: bool = static(False)
    reverse: bool = static(False)

    def __post_init__(self) -> None:
        if not callable(self.cell) or not hasattr(self.cell, "start"):
            raise checks.refuse(
                "Recurrent needs a cell: an object with  cell(state, x)  and  cell.start(shape, dtype).",
                described(self.cell),
                "Write  nn.Recurrent(nn.LSTMCell(inputs, width, key=0)).",
            )

    def __call__(self, x: Array) -> Any:
        """The outputs."""
        outputs, _ = self.run(x)
        return outputs

    def run(self, x: Array, state: Tree | None = None) -> tuple[Any, Any]:
        """The outputs, and the state after the last step, from a given state on.

        Parameters
        ----------
        x : ndarray of shape (..., length, c)
            The sequences.
        state : ndarray or any containers, optional
            The state before the first step; by default what `cell.start` gives.

        Returns
        -------
        outputs : ndarray
            As the call gives them.
        state : ndarray or any containers
            The state after the last step, from which the next part of the sequences can go on.

        Examples
        --------
        >>> import numpy as np
        >>> from adjoint import nn
        >>> layer = nn.Recurrent(nn.GRUCell(3, 5, key=0))
        >>> outputs, state = layer.run(np.ones((8, 20, 3)))
        >>> outputs, state = layer.run(np.ones((8, 10, 3)), state)
        >>> outputs.shape, state.shape
        ((8, 10, 5), (8, 5))
        """
        shape = np.shape(x)
        if len(shape) < 2 or shape[-2] == 0:
            raise checks.refuse("Recurrent takes arrays of shape (..., length, inputs), with a length.", described(x))
        if state is None:
            state = self.cell.start(shape[:-2], x.dtype)
        prepare = getattr(self.cell, "prepare", None)
        step = self.cell if prepare is None else self.cell.step
        steps = np.moveaxis(x if prepare is None else prepare(x), -2, 0)
        state, outputs = ad.scan(step, state, steps, reverse=self.reverse)
        if self.last:
            return outputs[0 if self.reverse else -1], state
        return np.moveaxis(outputs, 0, -2), state
