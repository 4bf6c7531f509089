"""The types that traces and rules speak of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .traced import Traced

Numeric = float | complex | np.ndarray | Traced
"""What a step computes with: a number, an array, or a handle of a trace further out."""

Values = Sequence[Numeric]
"""The arguments of a step."""

Mask = bool | np.bool | np.ndarray | Traced
"""Truth values: one for everything, or one for each element."""

Result = Numeric | Sequence[Numeric]
"""What a step gives: one value, or several."""

Params = dict[str, Any]
"""The parameters of a step: what is not differentiated, such as an axis."""

Places = Sequence[int | None]
"""For each argument of a step its place in the trace; None for a constant."""
