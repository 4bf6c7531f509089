"""Cosine, sine and Hankel transforms: scaled here, transformed by primitives along one axis after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.fft import _fftlog_backend, _realtransforms_backend

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import axis_of
from ...numpy.functions.fft import resized
from ...numpy.patching.replacements import Answer, divert, runs_through
from ...ops.signal.cosines import DUAL, ONCE, cosine, sine, weights
from ..module_copies import twin

TRANSFORMS = {"dct": cosine, "dst": sine}


def _transformed(name: str, x: Any, kind: int, n: int | None, axis: int, norm: Any, orthogonal: Any) -> Any:
    """The transform along one axis, scaled; the inverse has the dual kind and norm by now."""
    x = resized(x, shape_of(x)[axis] if n is None else n, axis)
    length = shape_of(x)[axis]
    if name == "dct" and kind == 1 and length < 2:
        raise RuntimeError("zero-length FFT requested")
    orthogonal = norm == "ortho" if orthogonal is None or dtype_of(x).kind == "c" else orthogonal
    weighs = orthogonal and bool(ONCE[name][kind])
    if weighs and kind in (1, 3):
        x = x * weights(name, kind, x, axis, 2**0.5)
    found = TRANSFORMS[name](x, kind=kind, axis=axis)
    if weighs and kind in (1, 2):
        found = found * weights(name, kind, found, axis, 0.5**0.5)
    period = 2 * (length + {("dct", 1): -1, ("dst", 1): 1}.get((name, kind), 0))
    scale = {"backward": 1.0, "ortho": period**-0.5, "forward": 1.0 / period}[norm]
    return found if scale == 1.0 else found * scale


def _directed(name: str, kind: int, norm: Any) -> tuple[str, int, str]:
    """Which transform a function is, of which kind, with which norm; the inverse is the dual, scaled the other way."""
    if kind not in DUAL:
        raise ValueError("invalid type specified. must be one of (1, 2, 3, 4)")
    norm = "backward" if norm is None else norm
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')
    if not name.startswith("i"):
        return name[:3], kind, norm
    return name[1:4], DUAL[kind], {"backward": "forward", "forward": "backward"}.get(norm, norm)


def _one_axis(name: str) -> Callable[..., Any]:
    def ours(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x = np.asarray(x)
        n = None if n is None else operator.index(n)
        which, kind, norm = _directed(name, type, norm)
        return _transformed(which, x, kind, n, axis_of(axis, x.ndim), norm, orthogonalize)

    return ours


def _several_axes(name: str) -> Callable[..., Any]:
    def ours(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, *, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x = np.asarray(x)
        s = [s] if np.isscalar(s) else s
        if axes is None:
            axes = range(-x.ndim if s is None else -len(s), 0)
        axes = [axis_of(a, x.ndim) for a in ([axes] if np.isscalar(axes) else axes)]
        lengths = [None if n == -1 else operator.index(n) for n in (s or [-1] * len(axes))]
        if len(lengths) != len(axes):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        which, kind, norm = _directed(name, type, norm)
        for n, axis in zip(lengths, axes, strict=True):
            x = _transformed(which, x, kind, n, axis, norm, orthogonalize)
        return x

    return ours


OURS = {
    **{name: _one_axis(name) for name in ("dct", "idct", "dst", "idst")},
    **{name: _several_axes(name) for name in ("dctn", "idctn", "dstn", "idstn")},
}
for _name, _ours in OURS.items():
    divert(getattr(_realtransforms_backend, _name), Answer(ours=_ours), f"scipy.fft.{_name}")
runs_through("scipy.fft", *OURS)

_hankel = twin("scipy.fft._fftlog_backend")
for _name in ("fht", "ifht", "fhtoffset"):
    divert(getattr(_fftlog_backend, _name), Answer(ours=getattr(_hankel, _name)), f"scipy.fft.{_name}")
runs_through("scipy.fft", "fht", "ifht", "fhtoffset")
