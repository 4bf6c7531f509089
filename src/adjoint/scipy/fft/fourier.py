"""Discrete Fourier transforms: SciPy's functions end in those of its backend, which hand traced values to NumPy's.

The functions themselves are objects of a dispatcher that looks for a backend; whoever imported one by name has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.fft import _basic_backend

from ...core.values import dtype_of
from ...numpy.patching.replacements import Answer, constant, divert, runs_through
from ...ops.fourier import DUAL

ONE_AXIS = tuple([f"{inverse}{kind}fft" for kind in ("", "r", "h") for inverse in ("", "i")])
SEVERAL = tuple([name + "n" for name in ONE_AXIS])
TWO = tuple([name + "2" for name in ONE_AXIS])


def _prepared(x: Any, plan: Any, *, real: bool = False) -> Any:
    """The operand as SciPy takes it: at least of single precision, and real if the transform is."""
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by scipy.fft functions")
    x = np.asarray(x)
    if real and dtype_of(x).kind == "c":
        raise TypeError("x must be a real sequence")
    return np.astype(x, np.float32) if dtype_of(x) == np.float16 else x


def _along_one(name: str) -> Callable[..., Any]:
    transform, real = getattr(np.fft, name), name.startswith(("r", "ih"))

    def ours(
        x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        return transform(_prepared(x, plan, real=real), n, axis, norm)

    return ours


def _along_several(name: str, default: Any) -> Callable[..., Any]:
    mirrored = name.removeprefix("i").startswith("h")
    real, gives_real = name.startswith(("rfft", "ihfft")), name.startswith(("irfft", "hfft"))
    transform = getattr(np.fft, {"hfftn": "irfftn", "ihfftn": "rfftn"}.get(name, name))

    def ours(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        x = _prepared(x, plan, real=real)
        if axes is not None:
            axes = [axes] if np.isscalar(axes) else list(axes)
            if len({a % x.ndim for a in axes}) < len(axes):
                raise ValueError("all axes must be unique")
        if s is not None:
            s = [s] if np.isscalar(s) else list(s)
            axes = list(range(x.ndim - len(s), x.ndim)) if axes is None else axes
        if s is None and gives_real:  # of one frequency along the last axis SciPy makes one sample
            axes = list(range(x.ndim)) if axes is None else axes
            s = [*[x.shape[a] for a in axes[:-1]], max(2 * (x.shape[axes[-1]] - 1), 1)] if axes else None
        if not mirrored:
            return transform(x, s, axes, norm)
        if name.startswith("i"):
            return np.conjugate(transform(x, s, axes, DUAL[norm]))
        return transform(np.conjugate(x), s, axes, DUAL[norm])

    return ours


OURS = {
    **{name: _along_one(name) for name in ONE_AXIS},
    **{name: _along_several(name, None) for name in SEVERAL},
    **{name: _along_several(name[:-1] + "n", (-2, -1)) for name in TWO},
}
for _name, _ours in OURS.items():
    divert(getattr(_basic_backend, _name), Answer(ours=_ours), f"scipy.fft.{_name}")

runs_through("scipy.fft", *OURS)
runs_through("scipy.fft", "fftshift", "ifftshift", "fftfreq", "rfftfreq")
constant("scipy.fft", "next_fast_len", "prev_fast_len", note="lengths are whole numbers")
constant(
    "scipy.fft", "set_workers", "get_workers", "set_backend", "skip_backend", "set_global_backend", "register_backend",
    note="a setting, which meets no numbers",
)  # fmt: skip
