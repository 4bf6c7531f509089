"""Discrete Fourier transforms: lengths and axes are brought into form here, the transforms are primitives."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...ops import fourier as ops
from ...ops.shape import roll
from ..dispatch.arguments import as_value, axis_of, ndim_of
from ..dispatch.assignment import deliver
from ..dispatch.registry import implements
from ..dispatch.views import arrayed


def resized(a: Any, n: int, axis: int) -> Any:
    """Cut to the first n elements along an axis, or pad with zeros behind."""
    have = shape_of(a)[axis]
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if n < have:
        return a[(..., slice(0, n), *(slice(None),) * (-axis - 1))]
    if n > have:
        shape = list(shape_of(a))
        shape[axis] = n - have
        return np.concatenate([a, np.zeros(shape, dtype_of(a))], axis)
    return a


def _one_axis(transform: Any) -> Callable[..., Any]:
    def along(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        a = as_value(a)
        axis = axis_of(axis, ndim_of(a))
        a = resized(a, shape_of(a)[axis] if n is None else operator.index(n), axis)
        return deliver(transform(a, axes=(axis,), norm=norm), out)

    return along


implements(np.fft.fft)(_one_axis(ops.fft))


implements(np.fft.ifft)(_one_axis(ops.ifft))


@implements(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """`np.fft.rfft`."""
    a = as_value(a)
    axis = axis_of(axis, ndim_of(a))
    a = resized(a, shape_of(a)[axis] if n is None else operator.index(n), axis)
    return deliver(ops.rfft(a, axis=axis, norm=norm), out)


@implements(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """`np.fft.irfft`."""
    a = as_value(a)
    axis = axis_of(axis, ndim_of(a))
    n = 2 * (shape_of(a)[axis] - 1) if n is None else operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return deliver(ops.irfft(resized(a, n // 2 + 1, axis), n=n, axis=axis, norm=norm), out)


@implements(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """`np.fft.hfft`: the transform of a signal that is its own mirrored conjugate."""
    return deliver(irfft(np.conjugate(as_value(a)), n, axis, ops.DUAL[norm]), out)


@implements(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """`np.fft.ihfft`."""
    return deliver(np.conjugate(rfft(a, n, axis, ops.DUAL[norm])), out)


def _transformed(transform: Any, a: Any, lengths: list[int], axes: tuple[int, ...], norm: Any) -> Any:
    """The transform along several axes at once; along an axis that is named twice one after the other, last first."""
    if len(set(axes)) < len(axes):
        for n, axis in zip(reversed(lengths), reversed(axes), strict=True):
            a = transform(resized(a, n, axis), axes=(axis,), norm=norm)
        return a
    for n, axis in zip(lengths, axes, strict=True):
        a = resized(a, n, axis)
    return transform(a, axes=axes, norm=norm) if axes else a


def _many_axes(transform: Any, default: tuple[int, ...] | None) -> Callable[..., Any]:
    def over(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        a = arrayed(as_value(a))
        lengths, axes = _lengths(a, s, axes)
        return deliver(_transformed(transform, a, lengths, axes, norm), out)

    return over


implements(np.fft.fftn)(_many_axes(ops.fft, None))


implements(np.fft.ifftn)(_many_axes(ops.ifft, None))


implements(np.fft.fft2)(_many_axes(ops.fft, (-2, -1)))


implements(np.fft.ifft2)(_many_axes(ops.ifft, (-2, -1)))


def _real_to_complex(default: tuple[int, ...] | None) -> Callable[..., Any]:
    def over(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        a = as_value(a)
        lengths, axes = _lengths(a, s, axes)
        a = rfft(a, lengths[-1], axes[-1], norm)
        return deliver(_transformed(ops.fft, a, lengths[:-1], axes[:-1], norm), out)

    return over


def _complex_to_real(default: tuple[int, ...] | None) -> Callable[..., Any]:
    def over(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        a = as_value(a)
        lengths, axes = _lengths(a, s, axes, real_result=True)
        a = _transformed(ops.ifft, a, lengths[:-1], axes[:-1], norm)
        return deliver(irfft(a, lengths[-1], axes[-1], norm), out)

    return over


implements(np.fft.rfftn)(_real_to_complex(None))


implements(np.fft.rfft2)(_real_to_complex((-2, -1)))


implements(np.fft.irfftn)(_complex_to_real(None))


implements(np.fft.irfft2)(_complex_to_real((-2, -1)))


def _lengths(a: Any, s: Any, axes: Any, *, real_result: bool = False) -> tuple[list[int], tuple[int, ...]]:
    """The lengths of the transforms and their axes, as negative numbers; -1 in `s` means the whole axis."""
    shape = shape_of(a)
    if axes is None:
        axes = range(-len(shape), 0) if s is None else range(-len(s), 0)
    axes = tuple([axis_of(axis, len(shape)) for axis in axes])
    if s is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    lengths = [shape[axis] for axis in axes] if s is None else [operator.index(n) for n in s]
    whole = s is None
    lengths = [shape[axis] if n == -1 else n for n, axis in zip(lengths, axes, strict=True)]
    if real_result and lengths and whole:
        lengths[-1] = (shape[axes[-1]] - 1) * 2
    return lengths, axes


def _shifted(sign: int) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        shape = shape_of(x)
        if axes is None and not shape:
            raise ValueError("not enough values to unpack (expected 2, got 0)")
        chosen = range(len(shape)) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
        places = tuple([axis_of(axis, len(shape)) for axis in chosen])
        steps = tuple([sign * (shape[axis] // 2) for axis in places])
        return roll(x, shift=steps, axis=places)

    return shift


implements(np.fft.fftshift)(_shifted(1))


implements(np.fft.ifftshift)(_shifted(-1))
