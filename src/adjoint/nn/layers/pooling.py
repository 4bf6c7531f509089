"""Pooling, channels last, and flattening."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...typing import Array
from .. import checks
from ..layer import described, layer, set_fields, static


class _Pool:
    """What all pooling layers do: combine the parts of x that are seen through each place of the window."""

    axes = 0
    window: tuple[int, ...]
    stride: tuple[int, ...]

    def __post_init__(self) -> None:
        name = type(self).__name__
        window = checks.pair(name, "window", self.window, self.axes)
        stride = window if self.stride is None else checks.pair(name, "stride", self.stride, self.axes)
        set_fields(self, window=window, stride=stride)

    def _pooled(self, x: Array, combine: Callable[[Any, Any], Any]) -> Any:
        shape = np.shape(x)
        if len(shape) <= self.axes or any([n < k for n, k in zip(shape[-self.axes - 1 :], self.window, strict=False)]):
            wanted = "length" if self.axes == 1 else "height, width"
            raise checks.refuse(
                f"{type(self).__name__} takes arrays of shape (..., {wanted}, channels), "
                f"at least {' x '.join(map(str, self.window))} large.",
                described(x),
            )
        for axis, (k, s) in enumerate(zip(self.window, self.stride, strict=True), -self.axes - 1):
            last = np.shape(x)[axis] - k
            behind = (slice(None),) * (-axis - 1)
            x = functools.reduce(combine, [x[..., slice(a, a + last + 1, s), *behind] for a in range(k)])
        return x


@layer
class MaxPool2d(_Pool):
    """The largest number of each window of an image of shape (..., height, width, c).

    Parameters
    ----------
    window : int or tuple of two int
        The size of a window.
    stride : int or tuple of two int, optional
        The step from one window to the next; by default its size. What does not fill a window at the end is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.MaxPool2d(2)(np.arange(16.0).reshape(4, 4, 1))[..., 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """

    window: Any = static()
    stride: Any = static(None)

    axes = 2

    def __call__(self, x: Array) -> Any:
        """The largest numbers."""
        return self._pooled(x, np.maximum)


@layer
class MaxPool1d(_Pool):
    """The largest number of each window of a sequence of shape (..., length, c).

    Parameters
    ----------
    window : int
        The size of a window.
    stride : int, optional
        The step from one window to the next; by default its size. What does not fill a window at the end is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.MaxPool1d(2)(np.arange(5.0)[:, None])[:, 0]
    array([1., 3.])
    """

    window: Any = static()
    stride: Any = static(None)

    axes = 1

    def __call__(self, x: Array) -> Any:
        """The largest numbers."""
        return self._pooled(x, np.maximum)


@layer
class AvgPool2d(_Pool):
    """The mean of each window of an image of shape (..., height, width, c).

    Parameters
    ----------
    window : int or tuple of two int
        The size of a window.
    stride : int or tuple of two int, optional
        The step from one window to the next; by default its size. What does not fill a window at the end is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.AvgPool2d(2)(np.arange(16.0).reshape(4, 4, 1))[..., 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """

    window: Any = static()
    stride: Any = static(None)

    axes = 2

    def __call__(self, x: Array) -> Any:
        """The means."""
        return self._pooled(x, np.add) * (1.0 / (self.window[0] * self.window[1]))


@layer
class AvgPool1d(_Pool):
    """The mean of each window of a sequence of shape (..., length, c).

    Parameters
    ----------
    window : int
        The size of a window.
    stride : int, optional
        The step from one window to the next; by default its size. What does not fill a window at the end is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.AvgPool1d(2)(np.arange(5.0)[:, None])[:, 0]
    array([0.5, 2.5])
    """

    window: Any = static()
    stride: Any = static(None)

    axes = 1

    def __call__(self, x: Array) -> Any:
        """The means."""
        return self._pooled(x, np.add) * (1.0 / self.window[0])


@layer
class Flatten:
    """All axes from `start` on as one: images (n, height, width, c) become rows (n, height width c).

    Parameters
    ----------
    start : int, default 1
        The first axis that is flattened; 0 for a single example, as inside `ad.vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> nn.Flatten()(np.zeros((5, 4, 4, 2))).shape
    (5, 32)
    """

    start: int = static(1)

    def __post_init__(self) -> None:
        checks.count("Flatten", "start", self.start, least=0)

    def __call__(self, x: Array) -> Any:
        """x in its new shape."""
        shape: Sequence[int] = np.shape(x)
        return x.reshape(*shape[: self.start], -1)
