"""What a formula is called with when it is declared, to see whether it decides on values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np


class TruthAskedError(Exception):
    """A value was asked for its truth."""


class Probe(np.lib.mixins.NDArrayOperatorsMixin):
    """A value of which nothing is known: operators and NumPy's functions give another one, and it has no truth."""

    def __array_ufunc__(self, *_: Any, **__: Any) -> Probe:
        return Probe()

    def __array_function__(self, *_: Any, **__: Any) -> Probe:
        return Probe()

    def __bool__(self) -> NoReturn:
        raise TruthAskedError


def decides(formula: Callable[..., Any], arity: int) -> bool:
    """Whether a formula asks its arguments, or what it computes of them, for their truth."""
    try:
        formula(*[Probe() for _ in range(arity)])
    except TruthAskedError:
        return True
    except Exception:  # it asks for more than a probe can tell, as for a shape: what it is called with later can
        return False
    return False
