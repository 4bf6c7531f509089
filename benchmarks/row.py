"""What is timed: one row of a table, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .trees import leaves, rebuilt

Function = Callable[..., Any]


def value_and_grad(library: Any, function: Function) -> Function:
    """What most rows ask for."""
    return library.value_and_grad(function)


@dataclass(frozen=True)
class Row:
    """A function written once, for any library with NumPy's names, and where it is differentiated."""

    title: str
    function: Callable[[Any], Function]
    """`function(library)` gives the function of one argument; `library.np` stands for `numpy`."""
    point: Callable[[], Any]
    """Makes that argument: a number, an array, or a container of arrays."""
    by_hand: Function | None = None
    """The same result in plain NumPy, the derivative worked out by a person."""
    derive: Callable[[Any, Function], Function] = value_and_grad
    """Turns the function into what is computed: `derive(library, function)`."""
    asked: dict[str, float] = field(default_factory=dict)
    """How many times faster than each of these contestants the row should be; below 1, how much slower it may be."""
    in_python: Function | None = None
    """The same in plain Python with `math`."""
    in_c: str | None = None
    """The name of the same function in native/."""
    captured: Callable[[], tuple[Any, ...]] | None = None
    """What that is given besides, in front of the argument: arrays that the others have captured."""
    without: dict[str, str] = field(default_factory=dict)
    """Contestants that do not take part, with the reason."""
    tolerance: float = 1e-7
    """How far results may differ, relative to the largest entry of each array."""
    compile_limit: float | None = None
    """Seconds the first call may take, if that is asked for by itself."""
    check: Callable[[Row, Any], float] | None = None
    """The error of the result by hand, estimated from differences; the default is for a value with its gradient."""

    def error_of(self, result: Any) -> float:
        """How far a result is from differences of the plain function: an independent value."""
        return (self.check or gradient_error)(self, result)


def gradient_error(row: Row, result: Any) -> float:
    """The slope along one direction, against the central difference of the function in NumPy, relative."""
    from .contestants import plain

    f, point = row.function(plain()), doubled(row.point())
    random = np.random.default_rng(7)
    direction = rebuilt(point, [random.normal(size=np.shape(leaf)) for leaf in leaves(point)])
    # five points and a long step: rounding of a long computation must not drown the slope
    h = 1e-3
    values = [f(moved(point, direction, k * h)) for k in (-2, -1, 1, 2)]
    slope = float(values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * h)
    pairs = list(zip(leaves(result)[1:], leaves(direction), strict=True))
    found = sum(float(np.sum(np.multiply(g, d))) for g, d in pairs)
    size = max(abs(slope), np.sqrt(sum(float(np.sum(np.square(g, dtype=float))) for g, _ in pairs)))
    return abs(found - slope) / size + abs(float(leaves(result)[0]) - float(f(point))) / max(abs(float(f(point))), 1.0)


def moved(point: Any, direction: Any, step: float) -> Any:
    """The point, a step further."""
    return rebuilt(point, [x + step * d for x, d in zip(leaves(point), leaves(direction), strict=True)])


def doubled(point: Any) -> Any:
    """The same point in double precision, where differences are worth something."""
    return rebuilt(point, [np.asarray(x, float) if np.ndim(x) else float(x) for x in leaves(point)])
