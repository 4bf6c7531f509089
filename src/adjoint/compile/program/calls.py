"""Steps that are calls of inner loops of NumPy's universal functions: Fourier transforms."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...ir.program import Step, Type
from ...ops.fourier import fft, ifft, irfft, rfft
from ..runtime.ufuncs import inner_loop
from .factors import Routine
from .pairs import NoPairsError, Pairs, real_of

CALL: Any = Routine("call")
"""The result of a universal function: `ufunc` with the loop of `types`; `axes` says along which axes of each operand
and of the result it works, as for NumPy. Complex numbers are packed."""

FUNCTIONS: dict[Primitive, tuple[str, str]] = {
    fft: ("fft", "fft"),
    ifft: ("ifft", "ifft"),
    rfft: ("rfft_n_even", "rfft_n_odd"),
    irfft: ("irfft", "irfft"),
}
"""What NumPy calls the universal functions of transforms of even and of odd lengths."""


def fourier(p: Pairs, step: Step) -> None:
    """A transform, along one axis after the other, the last one first."""
    params, (x,), (out,) = step.params, step.args, step.outs
    t, result = p.old.types[x], p.old.types[out]
    floats = real_of(result.dtype)
    if 0 in t.shape:
        raise NoPairsError
    now = None
    for axis in reversed(params["axes"] if "axes" in params else (params["axis"],)):
        at = axis % len(result.shape)
        length = params["n"] if step.primitive is irfft else t.shape[at]
        factor = _factor(params["norm"], length, floats, is_forward=step.primitive in (fft, rfft))
        ufunc, types = _loop(step.primitive, length, (t.dtype if now is None else result.dtype, factor, result.dtype))
        takes, scale, gives = [np.dtype(c) for c in types.replace("->", "")]
        given = p.as_operand(x, takes) if now is None else p.cast(now, real_of(takes))
        shape = result.shape if gives.kind == "f" else (*result.shape, 2)
        args, axes = (given, p.number(scale.type(factor))), ((at,), (), (at,))
        now = p.add(CALL, args, Type(real_of(gives), shape, False), ufunc=ufunc, types=types, axes=axes)
        now = p.cast(now, floats)
    if now is None:
        raise NoPairsError
    p.define_packed(out, now)


def _loop(primitive: Primitive, length: int, given: tuple[np.dtype, Any, np.dtype]) -> tuple[np.ufunc, str]:
    """The universal function of a transform, and the loop that NumPy chooses for these types."""
    try:
        functions = importlib.import_module("numpy.fft._pocketfft_umath")
    except ImportError:  # it has been elsewhere, and may be again
        raise NoPairsError from None
    ufunc = getattr(functions, FUNCTIONS[primitive][length % 2], None)
    if not isinstance(ufunc, np.ufunc) or ufunc.signature is None:
        raise NoPairsError
    takes, factor, gives = given
    found = ufunc.resolve_dtypes((takes, int if type(factor) is int else factor.dtype, gives))
    first, second, third = [d.char for d in found]
    types = f"{first}{second}->{third}"
    if inner_loop(ufunc, types) is None:
        raise NoPairsError
    return ufunc, types


def _factor(norm: str | None, length: int, floats: np.dtype, *, is_forward: bool) -> Any:
    """What a transform is multiplied by, as NumPy has it."""
    way = norm or "backward"
    if not is_forward:
        way = {"backward": "forward", "forward": "backward"}.get(way, way)
    if way == "backward":
        return 1
    if way == "ortho":
        return np.reciprocal(np.sqrt(length, dtype=floats))
    return np.reciprocal(length, dtype=floats)
