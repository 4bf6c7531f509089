"""Which routines of LAPACK there are, for both precisions, and how they count."""

from __future__ import annotations

import functools

from .blas import blas

NAMES = ("getrf", "getrs", "getri", "potrf", "trsm")
"""Elimination, substitution and inverse, Cholesky's factor, triangular systems."""


@functools.cache
def whole_numbers() -> str | None:
    """The name of the dtype of the routines' integers, pivots among them; None if one of the routines is missing."""
    found = [blas(f"{precision}{name}") for precision in "sd" for name in NAMES]
    kinds = {None if f is None else f[1] for f in found}
    kind = kinds.pop()
    return None if kinds or kind is None else f"int{8 * kind.bytes}"
