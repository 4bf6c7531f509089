"""The law of dtypes: a function gives NumPy's dtypes and numbers for every kind of argument, in every mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.testing.check import random_like

KINDS = ("?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "F")
"""Truth values, all integers, half and single precision; complex numbers of single precision."""


def cast(args: tuple[Any, ...], kind: str, scale: float = 1.0) -> tuple[Any, ...]:
    """The arguments in another dtype; integers that are large enough to leave the smallest ones."""
    leaves, rebuild = flatten(args)
    return rebuild([_cast(np.asarray(x), np.dtype(kind), scale) for x in leaves])


def _cast(x: np.ndarray, dtype: np.dtype, scale: float) -> Any:
    if x.dtype.kind not in "fc":
        return x
    x = x * scale
    if dtype.kind in "bui":
        x = np.real(x)
        x = x > 0 if dtype.kind == "b" else np.abs(np.rint(x * 37)) % 113 * (1 if dtype.kind == "u" else np.sign(x))
    elif dtype.kind == "f":
        x = np.real(x)
    return x.astype(dtype)[()]


def plain(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What NumPy gives, or None where it refuses the arguments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return function(*args)
    except Exception:  # whatever NumPy has to say
        return None


def by_vmap(function: Callable[..., Any], args: tuple[Any, ...], kind: str) -> None:
    """A batch is the stack of NumPy's results."""
    examples = [cast(args, kind), cast(args, kind, -1.3), cast(args, kind, 0.7)]
    found = [plain(function, e) for e in examples]
    if any([f is None for f in found]) or len({str([(x.shape, x.dtype) for x in _arrays(f)]) for f in found}) > 1:
        return  # what differs between examples is no batch
    wanted = [np.stack(parts) for parts in zip(*map(_arrays, found), strict=True)]
    stacked = flatten(examples[0])[1]([np.stack(x) for x in zip(*[flatten(e)[0] for e in examples], strict=True)])
    same(ad.vmap(function)(*stacked), wanted, kind)


def by_jit(function: Callable[..., Any], args: tuple[Any, ...], kind: str) -> None:
    """So is a program, at other numbers than those it was recorded with too."""
    jitted = ad.jit(function)
    for scale in (1.0, -1.3):
        given = cast(args, kind, scale)
        wanted = plain(function, given)
        if wanted is None:
            return
        same(jitted(*given), _arrays(wanted), kind)


def by_jit_of_vmap(function: Callable[..., Any], args: tuple[Any, ...], kind: str) -> None:
    """And a program of a batch."""
    by_vmap(lambda *xs: ad.jit(function)(*xs), args, kind)


def by_derivative(function: Callable[..., Any], args: tuple[Any, ...], kind: str) -> None:
    """Values inside derivatives are NumPy's, and tangents have the dtype of their values."""
    given = cast(args, kind)
    wanted = plain(function, given)
    if wanted is None:
        return
    if np.dtype(kind).kind in "bui":  # made of what is differentiated
        moving = [np.asarray(x, float)[()] for x in flatten(given)[0]]
        rebuild = flatten(given)[1]

        def inside(*xs: Any) -> Any:
            return function(*rebuild([np.astype(x, g.dtype) for x, g in zip(xs, flatten(given)[0], strict=True)]))

        same(ad.vjp(inside, *moving)[0], _arrays(wanted), kind)
        return
    value, tangent = ad.jvp(function, given, random_like(given, np.random.default_rng(0)))
    same(value, _arrays(wanted), kind)
    for v, t in zip(_arrays(wanted), _arrays(tangent), strict=True):
        assert v.dtype.kind not in "fc" or t.dtype == v.dtype, f"tangent of {t.dtype} for {v.dtype}"
    value, pullback = ad.vjp(function, *given)
    same(value, _arrays(wanted), kind)
    for x, g in zip(flatten(given)[0], _arrays(pullback(random_like(wanted, np.random.default_rng(0)))), strict=True):
        assert g.dtype == x.dtype, f"gradient of {g.dtype} for {x.dtype}"


MODES = {"vmap": by_vmap, "jit": by_jit, "vmap of jit": by_jit_of_vmap, "derivative": by_derivative}


def same(got: Any, wanted: list[np.ndarray], kind: str) -> None:
    """The dtypes, the shapes, and the numbers: of integers exactly."""
    for a, b in zip(_arrays(got), wanted, strict=True):
        assert a.dtype == b.dtype, f"dtype {a.dtype} instead of {b.dtype}"
        assert a.shape == b.shape, f"shape {a.shape} instead of {b.shape}"
        if b.dtype.kind in "fc":
            near = max(64 * float(np.finfo(b.dtype if kind not in "efF" else kind).eps), 1e-9)
            size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
            np.testing.assert_allclose(a, b, rtol=near, atol=near * float(size))
        else:
            np.testing.assert_array_equal(a, b)


def _arrays(tree: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in flatten(tree)[0]]
