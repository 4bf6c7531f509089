"""Steps of a fixed length: so many between two times."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import Value
from ..loops.loops import scan
from .stepping import Slope, State, ahead, stages
from .tableaux import Tableau


def in_fixed_steps(
    slope: Slope, method: Tableau, y: State, times: Value, steps: int, every: int | None
) -> tuple[State, dict[str, Any]]:
    """The states at all times but the first, stacked."""

    def between(carry: tuple[Value, State], until: Value) -> tuple[tuple[Value, State], State]:
        start, y = carry
        h = (until - start) / steps

        def one(y: State, k: Value) -> tuple[State, None]:
            t = start + k * h
            return ahead(y, h, method.weights, stages(slope, method, t, y, slope(y, t), h)), None

        y, _ = scan(one, y, np.arange(steps, dtype=float), checkpoint_every=every)
        return (until, y), y

    _, found = scan(between, (times[0], y), times[1:])
    return found, {}
