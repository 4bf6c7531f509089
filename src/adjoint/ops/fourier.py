"""Discrete Fourier transforms: linear maps whose matrices are symmetric, so each is its own transpose.

Lengths are those of the operand; `adjoint.numpy.functions.fourier` pads and cuts before it calls these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.entry.facts import Form
from ..core.entry.moves import Shape
from ..core.values import shape_of
from ..rules.linear import Linear
from . import costs
from .declare import declare


def _text(name: str) -> Callable[[Sequence[Shape], dict[str, Any]], str]:
    """The call along one axis, or along several."""

    def source(shapes: Sequence[Shape], params: dict[str, Any]) -> str:
        norm = "" if params["norm"] is None else ", norm={norm}"
        if len(params["axes"]) == 1:
            return f"np.fft.{name}({{0}}, axis={params['axes'][0]}{norm})"
        return f"np.fft.{name}n({{0}}, axes={{axes}}{norm})"

    return source


DUAL = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The scaling under which a transform and its inverse change places."""


def _doubled(n: int, axis: int) -> Any:
    """How often each of the n // 2 + 1 stored frequencies stands in the whole spectrum of a real signal."""
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    return weights.reshape((-1,) + (1,) * (-axis - 1))


def _real_transposed(g: Any, out: Any, x: Any, *, axis: int, norm: Any) -> Any:
    n = shape_of(x)[axis]
    return irfft(np.conjugate(g) / _cast(_doubled(n, axis), g), n=n, axis=axis, norm=DUAL[norm])


def _real_inverse_transposed(g: Any, out: Any, x: Any, *, n: int, axis: int, norm: Any) -> Any:
    spectrum = np.conjugate(rfft(g, axis=axis, norm=DUAL[norm]))
    return spectrum * _cast(_doubled(n, axis), g)


def _cast(weights: Any, g: Any) -> Any:
    """The weights in the precision of the cotangent."""
    return weights.astype(np.finfo(g.dtype).dtype)


fft = declare(
    "fft",
    lambda x, *, axes, norm: np.fft.fftn(x, axes=axes, norm=norm),
    Linear(lambda g, out, x, *, axes, norm: fft(g, axes=axes, norm=norm)),
    form=Form(source=_text("fft")),
    cost=costs.fourier,
)
ifft = declare(
    "ifft",
    lambda x, *, axes, norm: np.fft.ifftn(x, axes=axes, norm=norm),
    Linear(lambda g, out, x, *, axes, norm: ifft(g, axes=axes, norm=norm)),
    form=Form(source=_text("ifft")),
    cost=costs.fourier,
)
rfft = declare(
    "rfft",
    lambda x, *, axis, norm: np.fft.rfft(x, axis=axis, norm=norm),
    Linear(_real_transposed),
    form=Form(source="np.fft.rfft({0}, axis={axis}, norm={norm})"),
    cost=costs.fourier,
)
irfft = declare(
    "irfft",
    lambda x, *, n, axis, norm: np.fft.irfft(x, n, axis, norm),
    Linear(_real_inverse_transposed),
    note="the imaginary parts of the first and, for even n, the last frequency do not enter",
    form=Form(source="np.fft.irfft({0}, {n}, {axis}, {norm})"),
    cost=costs.fourier,
)
