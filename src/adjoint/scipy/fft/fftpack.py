"""SciPy's older Fourier transforms: the same ones with other scales and another order of what they give."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fftpack

from ...core.errors import UnsupportedError, message
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import axis_of, holds_traced
from ...numpy.functions.fft import resized
from ...numpy.patching.replacements import constant, replaces, runs_through
from .fourier import OURS as FOURIER
from .real import OURS as REAL

PLACE = "scipy.fftpack"
DUAL = {1: 1, 2: 3, 3: 2, 4: 4}
"""Kinds of cosine and sine transforms, and those of their inverses, which are not scaled."""
OPERATORS = (
    "diff", "tilbert", "itilbert", "hilbert", "ihilbert", "cs_diff", "sc_diff", "ss_diff", "cc_diff", "shift",
)  # fmt: skip


def _one_axis(name: str) -> Callable[..., Any]:
    transform = FOURIER[name]

    def ours(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
        return transform(x, n, axis)

    return ours


def _several_axes(name: str) -> Callable[..., Any]:
    transform = FOURIER[name]

    def ours(x: Any, shape: Any = None, axes: Any = None, overwrite_x: bool = False) -> Any:
        return transform(x, shape, axes)

    return ours


for _name in ("fft", "ifft"):
    replaces(PLACE, _name)(_one_axis(_name))
for _name in ("fftn", "ifftn"):
    replaces(PLACE, _name)(_several_axes(_name))
runs_through(PLACE, "fft2", "ifft2", "fftshift", "ifftshift")


@replaces(PLACE, "rfft")
def rfft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
    """`scipy.fftpack.rfft`: real and imaginary parts side by side, without those that are always 0."""
    x = _real(x)
    lines = np.moveaxis(resized(x, shape_of(x)[axis] if n is None else n, axis_of(axis, x.ndim)), axis, -1)
    length = shape_of(lines)[-1]
    half = np.fft.rfft(lines)
    parts = np.reshape(np.stack([np.real(half), np.imag(half)], -1), (*shape_of(half)[:-1], -1))
    return np.moveaxis(np.concatenate([parts[..., :1], parts[..., 2 : length + 1]], -1), -1, axis)


@replaces(PLACE, "irfft")
def irfft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
    """`scipy.fftpack.irfft`: of what `rfft` gives."""
    x = _real(x)
    lines = np.moveaxis(resized(x, shape_of(x)[axis] if n is None else n, axis_of(axis, x.ndim)), axis, -1)
    length = shape_of(lines)[-1]
    nothing = np.zeros((*shape_of(lines)[:-1], 1), dtype_of(lines))
    whole = [lines[..., :1], nothing, lines[..., 1:], *([] if length % 2 else [nothing])]
    parts = np.reshape(np.concatenate(whole, -1), (*shape_of(lines)[:-1], length // 2 + 1, 2))
    return np.moveaxis(np.fft.irfft(parts[..., 0] + 1j * parts[..., 1], length), -1, axis)


def _real(x: Any) -> Any:
    x = np.asarray(x)
    if dtype_of(x).kind == "c":
        raise TypeError("x must be a real sequence")
    return x


def _of_kind(name: str) -> Callable[..., Any]:
    """A cosine or sine transform; the inverse is the dual one, as it stands."""
    transform, inverse = REAL[name.removeprefix("i")], name.startswith("i")

    def ours(x: Any, type: int = 2, size: Any = None, where: Any = None, norm: Any = None, **options: Any) -> Any:
        return transform(x, DUAL[type] if inverse else type, size, where, norm)

    def along_one(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False
    ) -> Any:
        return ours(x, type, n, axis, norm)

    def along_several(
        x: Any, type: int = 2, shape: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False
    ) -> Any:
        return ours(x, type, shape, axes, norm)

    return along_several if name.endswith("n") else along_one


for _name in REAL:
    replaces(PLACE, _name)(_of_kind(_name))


def _convolving(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """An operator on periodic sequences: what it makes of an impulse says it all."""

    @functools.wraps(original)
    def ours(x: Any, *args: Any, **kwargs: Any) -> Any:
        if holds_traced([*args, *kwargs.values()]):
            raise UnsupportedError(
                message(
                    f"{PLACE}.{name} is differentiated with respect to its sequence alone.",
                    fix="Multiply the transform  np.fft.fft(x)  by the factors yourself.",
                )
            )
        x = np.asarray(x)
        impulse = np.zeros(shape_of(x))
        impulse[0] = 1.0
        found = np.fft.ifft(np.fft.fft(x) * np.fft.fft(original(impulse, *args, **kwargs)))
        return found if dtype_of(x).kind == "c" else np.real(found)

    return ours


for _name in OPERATORS:
    replaces(PLACE, _name, note="of the sequence")(_convolving(_name, getattr(scipy.fftpack, _name)))
runs_through(PLACE, "fftfreq", "rfftfreq")
constant(PLACE, "next_fast_len", note="whole numbers")
