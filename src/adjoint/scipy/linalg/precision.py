"""Half precision: LAPACK has none, so SciPy computes with single precision."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import dtype_of
from ...numpy.patching.replacements import REPLACEMENTS

HALF = np.dtype(np.float16)
KEPT = frozenset((
    "norm", "block_diag", "toeplitz", "circulant", "hankel", "companion", "fiedler_companion", "leslie", "bandwidth",
    "convolution_matrix",
))  # fmt: skip
"""Functions that only move elements, or leave them to NumPy."""


def widen(module: str) -> None:
    """Let ours of a module meet single precision in the place of half precision."""
    answers = REPLACEMENTS[module]
    for name, answer in answers.items():
        if answer.ours is not None and not answer.calls_back and name not in KEPT:
            answers[name] = replace(answer, ours=_in_single(answer.ours))


def _in_single(ours: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(ours)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, rebuild = flatten((args, kwargs))
        if not any([isinstance(x, (Traced, np.ndarray)) and dtype_of(x) is HALF for x in leaves]):
            return ours(*args, **kwargs)
        single = [
            np.astype(x, np.float32) if isinstance(x, (Traced, np.ndarray)) and dtype_of(x) is HALF else x
            for x in leaves
        ]
        again, words = rebuild(single)
        return ours(*again, **words)

    return call
