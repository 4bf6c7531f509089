"""Convolutions, channels last: x of shape (n, length, c) or (n, height, width, c).

A convolution is a sum of matrix products, one for each row of the kernel: the shifts along the last axis of the image
are laid side by side as channels, so each product sums over k c numbers. Under `ad.jit` that is faster than one product
for each place of the kernel, and takes less memory than one product for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Array, DTypeLike, Key
from .. import checks
from ..init import Initializer, as_key, initializer
from ..layer import described, layer, set_fields, static

Padding = str | int | Sequence[int]


@layer
class Conv2d:
    """A convolution of images: y[i, j] = sum over a, b of x[s i + a, s j + b] W[a, b] + bias, with W of (k, k, c, c').

    It has c'(k k c + 1) parameters. As everywhere in machine learning, the kernel is not flipped.

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
        The step s from one place to the next.
    padding : {"same", "valid"}, int or tuple of two int, default "same"
        Zeros around the image: as many as keep its size with stride 1, none, or this many on each side.
    dilation : int or tuple of two int, default 1
        The step between the places that the kernel looks at: it spans dilation (k - 1) + 1 of them.
    groups : int, default 1
        Into how many parts the channels are divided, each of which has a kernel of its own and sees nothing of the
        others; it divides c and c'. With `groups=inputs` each channel is convolved by itself (depthwise).
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
    >>> layer = nn.Conv2d(1, 16, 3, key=0)
    >>> layer(np.zeros((32, 8, 8, 1))).shape, nn.Conv2d(1, 16, 3, stride=2, padding=0, key=0)(np.zeros((8, 8, 1))).shape
    ((32, 8, 8, 16), (3, 3, 16))
    """

    weight: np.ndarray
    bias: np.ndarray | None
    stride: tuple[int, ...] = static()
    padding: tuple[tuple[int, int], ...] = static()
    dilation: tuple[int, ...] = static((1,))
    groups: int = static(1)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int | Sequence[int],
        *,
        key: Key,
        stride: int | Sequence[int] = 1,
        padding: Padding = "same",
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        init: str | Initializer = "he_normal",
        dtype: DTypeLike = np.float64,
    ) -> None:
        set_fields(self, groups=groups)
        _spread(
            self, padding, make(self, 2, (inputs, outputs), kernel, key, stride, bias, init, dtype, groups), dilation
        )

    def __call__(self, x: Array) -> Any:
        """Convolve images of shape (..., height, width, c)."""
        return _convolved("Conv2d", self, x)


@layer
class Conv1d:
    """A convolution of sequences: y[i] = sum over a of x[s i + a] W[a] + bias, with W of shape (k, c, c').

    It has c'(k c + 1) parameters.

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
        The step s from one place to the next.
    padding : {"same", "valid"} or int, default "same"
        Zeros around the sequence: as many as keep its length with stride 1, none, or this many on each side.
    dilation : int, default 1
        The step between the places that the kernel looks at: it spans dilation (k - 1) + 1 of them.
    groups : int, default 1
        Into how many parts the channels are divided, each of which has a kernel of its own and sees nothing of the
        others; it divides c and c'. With `groups=inputs` each channel is convolved by itself (depthwise).
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
    >>> nn.Conv1d(2, 4, 3, key=0)(np.zeros((10, 50, 2))).shape
    (10, 50, 4)
    """

    weight: np.ndarray
    bias: np.ndarray | None
    stride: tuple[int, ...] = static()
    padding: tuple[tuple[int, int], ...] = static()
    dilation: tuple[int, ...] = static((1,))
    groups: int = static(1)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int | Sequence[int],
        *,
        key: Key,
        stride: int | Sequence[int] = 1,
        padding: Padding = "same",
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        init: str | Initializer = "he_normal",
        dtype: DTypeLike = np.float64,
    ) -> None:
        set_fields(self, groups=groups)
        _spread(
            self, padding, make(self, 1, (inputs, outputs), kernel, key, stride, bias, init, dtype, groups), dilation
        )

    def __call__(self, x: Array) -> Any:
        """Convolve sequences of shape (..., length, c)."""
        return _convolved("Conv1d", self, x)


def make(
    made: Any,
    axes: int,
    channels: tuple[int, int],
    kernel: Any,
    key: Key,
    stride: Any,
    bias: bool,
    init: Any,
    dtype: DTypeLike,
    groups: Any = 1,
) -> tuple[int, ...]:
    """Set the weights and steps of a convolution with this many axes; the size of its kernel."""
    name, kind = type(made).__name__, checks.real(type(made).__name__, dtype)
    size = checks.pair(name, "kernel", kernel, axes)
    inputs, outputs = checks.count(name, "inputs", channels[0]), checks.count(name, "outputs", channels[1])
    parts = checks.count(name, "groups", groups)
    if inputs % parts or outputs % parts:
        raise checks.refuse(
            f"{name}: groups has to divide inputs and outputs.", f"groups={parts}, inputs={inputs}, outputs={outputs}"
        )
    set_fields(
        made,
        weight=initializer(init)(as_key(key), (*size, inputs // parts, outputs), kind),
        bias=np.zeros(outputs, kind) if bias else None,
        stride=checks.pair(name, "stride", stride, axes),
    )
    return size


def _spread(made: Any, padding: Any, size: tuple[int, ...], dilation: Any) -> None:
    """Set how far apart a kernel looks, and the zeros around what it looks at."""
    name = type(made).__name__
    apart = checks.pair(name, "dilation", dilation, len(size))
    set_fields(made, dilation=apart, padding=sides(name, padding, spans(size, apart)))


def spans(size: Sequence[int], dilation: Sequence[int]) -> tuple[int, ...]:
    """How many places a kernel reaches over, along each axis."""
    return tuple([d * (k - 1) + 1 for k, d in zip(size, dilation, strict=True)])


def sides(name: str, padding: Any, size: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """How many zeros come before and after each axis."""
    if padding == "valid":
        return ((0, 0),) * len(size)
    if padding == "same":
        return tuple([((k - 1) // 2, k // 2) for k in size])
    if isinstance(padding, str):
        raise checks.refuse(f"{name}: padding has to be 'same', 'valid' or a number.", f"padding={padding!r}")
    return tuple([(p, p) for p in checks.pair(name, "padding", padding, len(size), least=0)])


def _convolved(name: str, own: Any, x: Array) -> Any:
    axes = len(own.stride)
    size, inputs = spans(own.weight.shape[:axes], own.dilation), own.weight.shape[-2] * own.groups
    check_shape(name, x, inputs, size, own.padding)
    y = convolve(pad(x, own.padding), own.weight, own.stride, own.dilation, own.groups)
    return y if own.bias is None else y + own.bias


def check_shape(name: str, x: Array, inputs: int, size: Sequence[int], padding: Sequence[tuple[int, int]]) -> None:
    """Refuse arrays that have other channels, or are smaller than the kernel."""
    axes, shape = len(size), np.shape(x)
    room = [n + sum(zeros) for n, zeros in zip(shape[-axes - 1 : -1], padding, strict=False)]
    if len(shape) <= axes or shape[-1] != inputs or any([n < k for n, k in zip(room, size, strict=True)]):
        wanted = ", ".join(["length"] if axes == 1 else ["height", "width"])
        least = " x ".join([str(max(k - sum(zeros), 1)) for k, zeros in zip(size, padding, strict=True)])
        raise checks.refuse(
            f"{name} takes arrays of shape (..., {wanted}, {inputs}), at least {least} large.",
            described(x),
            "Channels come last:  np.moveaxis(x, 1, -1)  if they are on axis 1; a grey image has one:  x[..., None].",
        )


def pad(x: Array, zeros: Sequence[tuple[int, int]]) -> Any:
    """x with zeros around the axes in front of the last."""
    if not any(map(any, zeros)):
        return x
    return np.pad(x, [(0, 0)] * (np.ndim(x) - len(zeros) - 1) + [*zeros, (0, 0)])


def convolve(x: Array, weight: Array, stride: Sequence[int], dilation: Sequence[int], groups: int = 1) -> Any:
    """The sums of products of a kernel with all parts of x that it fits on, `stride` apart."""
    size = weight.shape[:-2]
    lengths = [
        (n - span) // s + 1
        for n, span, s in zip(np.shape(x)[-len(size) - 1 : -1], spans(size, dilation), stride, strict=True)
    ]
    parts = [
        [slice(a * d, a * d + (n - 1) * s + 1, s) for a in range(k)]
        for k, n, s, d in zip(size, lengths, stride, dilation, strict=True)
    ]
    if groups == 1:
        return _by_rows(x, weight, parts)
    if weight.shape[-2] == 1:
        return _channel_by_channel(x, weight, parts, groups)
    inputs, outputs = weight.shape[-2], weight.shape[-1] // groups
    return np.concatenate(
        [
            _by_rows(x[..., g * inputs : (g + 1) * inputs], weight[..., g * outputs : (g + 1) * outputs], parts)
            for g in range(groups)
        ],
        axis=-1,
    )


def _by_rows(x: Array, weight: Array, parts: list[list[slice]]) -> Any:
    """One product for each row of the kernel, whose places are laid side by side."""
    *size, inputs, outputs = weight.shape
    *rows, across = parts
    beside = x[..., across[0], :] if size[-1] == 1 else np.concatenate([x[..., part, :] for part in across], axis=-1)
    kernel = weight.reshape(*size[:-1], size[-1] * inputs, outputs)
    total = None
    for place, part in zip(np.ndindex(*size[:-1]), itertools.product(*rows), strict=True):
        seen: Any = (..., *part, slice(None), slice(None))
        product = beside[seen] @ kernel[place]
        total = product if total is None else total + product
    return total


def _channel_by_channel(x: Array, weight: Array, parts: list[list[slice]], channels: int) -> Any:
    """Each channel by itself: a product for each element, as there is nothing to sum over but the kernel."""
    *size, _, outputs = weight.shape
    several = outputs // channels
    own = x if several == 1 else np.repeat(x, several, axis=-1)
    total = None
    for place, part in zip(np.ndindex(*size), itertools.product(*parts), strict=True):
        seen: Any = (..., *part, slice(None))
        product = own[seen] * weight[place][0]
        total = product if total is None else total + product
    return total
