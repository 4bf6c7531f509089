"""Constants as NumPy source, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.bits import same_bits

SIGN, ATOM = 7, 9
"""How tightly `-2.0` and `2.0` hold together; see `source` for the others."""

SMALL = 100
"""Arrays of up to so many elements are written out."""

Written = tuple[str, int]
"""Text, and how tightly it holds together."""

USUAL = frozenset(("float64", "complex128", "int64", "bool"))
"""What Python's numbers become in NumPy."""


def parameter(value: Any) -> str:
    """A parameter as it is written."""
    if isinstance(value, tuple):
        return f"({', '.join(map(parameter, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(parameter, value))}]"
    if isinstance(value, (np.dtype, type)):
        return f"np.{np.dtype(value).name}"
    if isinstance(value, np.ndarray):
        return array_text(value) or repr(value.tolist())
    return repr(value.item()) if isinstance(value, np.generic) else repr(value)


def number_source(x: Any, *, strict: bool) -> Written:
    """A number; `strict` says that the precision of NumPy's numbers matters, as float32 is about."""
    plain = x.item() if isinstance(x, (np.generic, np.ndarray)) else x
    if isinstance(plain, complex):
        text = f"complex({_real(plain.real)}, {_real(plain.imag)})"
    elif isinstance(plain, float):
        text = _real(plain)
    else:
        text = repr(plain)
    if isinstance(x, (np.generic, np.ndarray)) and (strict or x.dtype.name not in USUAL):
        digits = (
            str(np.asarray(x)[()]) if x.dtype.kind == "f" and np.isfinite(x) else text
        )  # the fewest that say which one it is
        return f"np.{x.dtype.name}({digits})", ATOM
    return text, SIGN if text.startswith("-") else ATOM


def _real(x: float) -> str:
    return repr(x) if np.isfinite(x) else "np.nan" if x != x else "np.inf" if x > 0 else "-np.inf"


def array_text(x: np.ndarray) -> str:
    """An array that is quickly said, such as `np.zeros(3)`; empty for others."""
    shape = parameter(x.shape[0] if x.ndim == 1 else x.shape)
    kind = "" if x.dtype == np.float64 else f", {parameter(x.dtype)}"
    if x.dtype.kind not in "fiub":
        return ""
    if not x.size or not x.any():
        return f"np.zeros({shape}{kind})" if not np.signbit(x).any() else ""
    if (x == x.flat[0]).all():
        number = number_source(x.flat[0], strict=False)[0]
        return f"np.ones({shape}{kind})" if x.flat[0] == 1 else f"np.full({shape}, {number}{kind})"
    patterns: list[tuple[str, Any]] = []
    if x.ndim == 1 and x.dtype.kind == "i":
        patterns = [(f"np.arange({len(x)})", np.arange(len(x)))]
    if x.ndim == 2 and x.shape[0] == x.shape[1]:
        size = f"{len(x)}" + (f", dtype={kind[2:]}" if kind else "")
        patterns = [(f"np.eye({size})", np.eye(len(x))), (f"np.tri({size})", np.tri(len(x)))]
    for text, pattern in patterns:
        if same_bits(x, pattern.astype(x.dtype)):
            return text
    return ""


def literal_text(x: np.ndarray) -> str:
    """An array written out, to the last bit."""
    quick = array_text(x)
    if quick:
        return quick
    kind = "" if x.dtype.name in USUAL else f", {parameter(x.dtype)}"
    return f"np.array({_nested(x)}{kind})"


def _nested(x: np.ndarray) -> str:
    if x.ndim == 0:
        return str(x[()]) if x.dtype.kind == "f" and np.isfinite(x) else number_source(x[()].item(), strict=False)[0]
    return f"[{', '.join([_nested(np.asarray(part)) for part in x])}]"
