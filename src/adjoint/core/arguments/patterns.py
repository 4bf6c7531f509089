"""Patterns of names of arrays: which of them an option is about."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

Patterns = str | tuple[str, ...] | list[str]
MATRICES = "matrices"
"""The one word that is no pattern: arrays of two axes or more, which leaves out biases and what norms are scaled by."""


def fitting(patterns: Patterns, names: Sequence[str], leaves: Sequence[Any]) -> tuple[list[bool], str | None]:
    """Which of the leaves fit one of the patterns, and the first pattern that fits none of them.

    >>> fitting("*weight", ["layer.weight", "layer.bias"], [np.ones((2, 2)), np.ones(2)])
    ([True, False], None)
    >>> fitting(["matrices", "b"], ["layer.weight", "layer.bias"], [np.ones((2, 2)), np.ones(2)])
    ([True, False], 'b')
    """
    several = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    rows = [[_fits(pattern, *pair) for pair in zip(names, leaves, strict=True)] for pattern in several]
    missing = next((pattern for pattern, row in zip(several, rows, strict=True) if not any(row)), None)
    return [any(column) for column in zip(*rows, strict=True)], missing


def _fits(pattern: str, name: str, leaf: Any) -> bool:
    return np.ndim(leaf) > 1 if pattern == MATRICES else fnmatchcase(name, pattern)
