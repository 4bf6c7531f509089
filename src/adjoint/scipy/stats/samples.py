"""Statistics of samples in a batch: SciPy's code runs for all examples at once, or for one after the other.

SciPy's wrapper for `axis`, `nan_policy` and `keepdims` leaves arrays alone whose values it cannot ask for. What is left
is right for samples in one axis, without nans, that are not too few; with all others, and where SciPy's code decides
on values, each example is a call of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import BatchError
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import is_inexact, may_hold, shape_of
from ...numpy.patching.replacements import REPLACEMENTS, Answer
from ..batches import in_examples, is_batched

WRAPPED = ("axis", "nan_policy", "keepdims")
FEW = 8
"""Of fewer numbers some statistics are not defined, which the wrapper knows."""


def runs_in_batches(module: str, *names: str, note: str = "") -> None:
    """Say that the own code of these functions takes traced values; in a batch for one example after the other."""
    for name in names:
        ours = functools.partial(sampled, f"{module}.{name}")
        REPLACEMENTS.setdefault(module, {})[name] = Answer(ours=ours, calls_back=True, in_parts=True, note=note)


def sampled(name: str, original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call that may be in a batch."""
    leaves, _ = flatten((args, kwargs))
    if not any([is_batched(x) for x in leaves]):
        return original(*args, **kwargs)
    if not _is_wrapped(original) or (not any([w in kwargs for w in WRAPPED]) and all([_is_usual(x) for x in leaves])):
        try:
            return original(*args, **kwargs)
        except (BatchError, NotImplementedError):
            pass
    return in_examples(name, original, args, kwargs)


def _is_wrapped(function: Any) -> bool:
    return "_no_deco" in inspect.signature(function, follow_wrapped=False).parameters


def _is_usual(x: Any) -> bool:
    """Whether an argument is a sample in one axis that is long enough and has no nans, or no sample at all."""
    if not isinstance(x, (Traced, np.ndarray)):
        return True
    shape = shape_of(x)
    if len(shape) > 1 or (shape and shape[0] < FEW):
        return False
    return not (is_inexact(x) and may_hold(np.isnan(x)))
