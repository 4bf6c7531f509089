"""Every function that can be differentiated, called by its plain name: one list for derivatives, jit and explain."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.numpy import functions
from adjoint.ops import special
from adjoint.ops.declare import UFUNCS, WholeNumbers
from adjoint.rules.selecting import Selecting
from adjoint.testing import Case

from . import fourier, linalg, mathematics, moving, scipy_linalg, scipy_special, statistics

SPECIAL = ("ties", "zeros", "nan", "infinity", "half", "flipped")
"""Points at which programs are run besides ordinary ones."""


UNDEFINED = ("riccati_jn", "riccati_yn")
"""Of these SciPy gives, at infinity, what happens to be in memory."""


@dataclass(frozen=True)
class Entry:
    """A function at a point, with what the tests that run all of them have to know.

    `special` is the special point that it is also run at, `special_first` whether its program is recorded there.
    `differs_at` are special points where a program may give other numbers than NumPy.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    differs_at: tuple[str, ...] = ()

    @property
    def special(self) -> str:
        """One of `SPECIAL`, always the same for a name."""
        return SPECIAL[self._chance // 2 % len(SPECIAL)]

    @property
    def special_first(self) -> bool:
        """Whether the special point comes before the others."""
        return self._chance % 2 == 0

    @property
    def _chance(self) -> int:
        return zlib.crc32(self.name.encode())


def every_entry() -> list[Entry]:
    """All of them; functions whose results differ in shape between examples are in tests of their own."""
    tables = [
        moving.EVERY_LAW, mathematics.TABLE, statistics.TABLE, linalg.CASES, fourier.cases(), scipy_linalg.CASES,
        scipy_special.CASES,
    ]  # fmt: skip
    listed = [entry_of(case) for table in tables for case in table]
    return [*universal_functions(), *[e for e in listed if e.name not in statistics.RAGGED and e.name not in UNDEFINED]]


def entry_of(case: Case | tuple) -> Entry:
    """A case, or (name, function, *arguments), as an entry."""
    if isinstance(case, Case):
        return Entry(case.name, case.function, case.args)
    name, function, *args = case
    return Entry(name, function, tuple(args), ("infinity",) if name in mathematics.SUMMED_FIRST else ())


def universal_functions(reshaped: Callable[[np.ndarray], Any] = lambda x: x) -> Iterator[Entry]:
    """Every NumPy and SciPy universal function with a slope, at a point of its domain."""
    functions.load()
    special.load()
    for ufunc, primitive in UFUNCS.items():
        derivative = primitive.derivative
        if derivative.is_zero or ufunc.signature is not None:
            continue
        if isinstance(derivative, Selecting):
            rules = derivative.weights
        else:
            rules = getattr(derivative, "partials", [True] * ufunc.nin)
        domain = primitive.domain or [(-1.0, 1.0)] * ufunc.nin
        args = [reshaped(_inside(interval)) for interval in domain]
        moving = [k for k, r in enumerate(rules) if r is not None and not isinstance(domain[k], WholeNumbers)]
        if primitive.name == "ldexp":
            args[1] = reshaped(np.array([1, 2]))

        def function(*moved: Any, ufunc: Any = ufunc, args: list = args, moving: list[int] = moving) -> Any:
            full = list(args)
            for k, x in zip(moving, moved, strict=True):
                full[k] = x
            return ufunc(*full)

        if moving:
            yield Entry(f"ufunc {ufunc.__name__}", function, tuple(args[k] for k in moving))


def _inside(interval: tuple[float, float]) -> np.ndarray:
    low, high = interval
    if isinstance(interval, WholeNumbers):
        return np.array([int(low), int(low)])
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * np.array([0.4, 0.6])
    return np.array([0.6, 0.9]) + (low if np.isfinite(low) else 0.0)
