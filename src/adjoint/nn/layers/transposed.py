"""Transposed convolutions, which make images and sequences larger: the transpose of what `Conv1d` and `Conv2d` do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Array, DTypeLike, Key
from .. import checks
from ..init import Initializer
from ..layer import layer, set_fields, static
from .convolution import Padding, check_shape, convolve, make, sides


@layer
class ConvTranspose2d:
    """A transposed convolution of images: each x[i, j] adds x[i, j] W[a, b] to y[s i + a, s j + b]; then the bias.

    With W of shape (k, k, c, c') it has c'(k k c + 1) parameters. The result has s (n - 1) + k places along an axis of
    n, less what the padding takes away.

    Parameters
    ----------
    inputs : int
        The number of channels c, the length of the last axis of x.
    outputs : int
        The number of channels c' of the result.
    kernel : int or tuple of two int
        The size of the kernel.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    stride : int or tuple of two int, default 1
        The step s, by which the image grows.
    padding : {"same", "valid"}, int or tuple of two int, default "same"
        How much is cut off around the result: so much that it is s times as large as x, nothing, or this many places on
        each side, as in PyTorch.
    bias : bool, default True
        Whether there is a bias; it starts at 0.
    init : str or callable, default "he_normal"
        The first weights: a name in `nn.init`, or a function `(key, shape, dtype)`.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.ConvTranspose2d(16, 8, 4, stride=2, key=0)(np.zeros((32, 7, 7, 16))).shape
    (32, 14, 14, 8)
    """

    weight: np.ndarray
    bias: np.ndarray | None
    stride: tuple[int, ...] = static()
    padding: tuple[tuple[int, int], ...] = static()

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int | Sequence[int],
        *,
        key: Key,
        stride: int | Sequence[int] = 1,
        padding: Padding = "same",
        bias: bool = True,
        init: str | Initializer = "he_normal",
        dtype: DTypeLike = np.float64,
    ) -> None:
        _cut(self, padding, make(self, 2, (inputs, outputs), kernel, key, stride, bias, init, dtype))

    def __call__(self, x: Array) -> Any:
        """Spread images of shape (..., height, width, c)."""
        return _spread_out("ConvTranspose2d", self, x)


@layer
class ConvTranspose1d:
    """A transposed convolution of sequences: each x[i] adds x[i] W[a] to y[s i + a]; then the bias.

    With W of shape (k, c, c') it has c'(k c + 1) parameters. The result has s (n - 1) + k places for a length of n,
    less what the padding takes away.

    Parameters
    ----------
    inputs : int
        The number of channels c, the length of the last axis of x.
    outputs : int
        The number of channels c' of the result.
    kernel : int
        The size of the kernel.
    key : int or array of two uint64
        A seed, or a key of `ad.random`, for the first weights.
    stride : int, default 1
        The step s, by which the sequence grows.
    padding : {"same", "valid"} or int, default "same"
        How much is cut off around the result: so much that it is s times as long as x, nothing, or this many places on
        each side, as in PyTorch.
    bias : bool, default True
        Whether there is a bias; it starts at 0.
    init : str or callable, default "he_normal"
        The first weights: a name in `nn.init`, or a function `(key, shape, dtype)`.
    dtype : dtype, default float64
        float64 or float32.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.ConvTranspose1d(2, 4, 3, stride=2, padding="valid", key=0)(np.zeros((10, 25, 2))).shape
    (10, 51, 4)
    """

    weight: np.ndarray
    bias: np.ndarray | None
    stride: tuple[int, ...] = static()
    padding: tuple[tuple[int, int], ...] = static()

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int | Sequence[int],
        *,
        key: Key,
        stride: int | Sequence[int] = 1,
        padding: Padding = "same",
        bias: bool = True,
        init: str | Initializer = "he_normal",
        dtype: DTypeLike = np.float64,
    ) -> None:
        _cut(self, padding, make(self, 1, (inputs, outputs), kernel, key, stride, bias, init, dtype))

    def __call__(self, x: Array) -> Any:
        """Spread sequences of shape (..., length, c)."""
        return _spread_out("ConvTranspose1d", self, x)


def _cut(made: Any, padding: Any, size: tuple[int, ...]) -> None:
    """Set what is cut off before and after each axis; negative where zeros are added, for steps beyond the kernel."""
    if padding == "same":
        surplus = [k - s for k, s in zip(size, made.stride, strict=True)]
        set_fields(made, padding=tuple([(max(n, 0) // 2, n - max(n, 0) // 2) for n in surplus]))
        return
    cut = sides(type(made).__name__, padding, size)
    if any([before >= k for (before, _), k in zip(cut, size, strict=True)]):
        raise checks.refuse(
            f"{type(made).__name__}: padding has to be smaller than the kernel.", f"padding={padding!r}, kernel={size}"
        )
    set_fields(made, padding=cut)


def _spread_out(name: str, own: Any, x: Array) -> Any:
    """Zeros between the numbers of x, then an ordinary convolution with the kernel turned round."""
    axes = len(own.stride)
    size = own.weight.shape[:axes]
    check_shape(name, x, own.weight.shape[-2], (1,) * axes, ((0, 0),) * axes)
    for axis, (step, k, (before, after)) in enumerate(zip(own.stride, size, own.padding, strict=True)):
        x = _apart(x, axis - axes - 1, step, k - 1 - before, k - 1 - after)
    turned = own.weight[tuple([slice(None, None, -1)] * axes)]
    y = convolve(x, turned, (1,) * axes, (1,) * axes)
    return y if own.bias is None else y + own.bias


def _apart(x: Array, axis: int, step: int, before: int, after: int) -> Any:
    """x with step - 1 zeros between its numbers along an axis, which counts from the end, and zeros around them."""
    place = np.ndim(x) + axis
    if step > 1:
        shape = np.shape(x)
        spaced = np.pad(np.expand_dims(x, place + 1), _around(len(shape) + 1, place + 1, 0, step - 1))
        spaced = spaced.reshape(*shape[:place], shape[place] * step, *shape[place + 1 :])
        x = spaced[(slice(None),) * place + (slice(0, (shape[place] - 1) * step + 1),)]
    return np.pad(x, _around(np.ndim(x), place, before, after))


def _around(axes: int, place: int, before: int, after: int) -> list[tuple[int, int]]:
    """The widths of `np.pad`, for one axis."""
    return [(before, after) if axis == place else (0, 0) for axis in range(axes)]
