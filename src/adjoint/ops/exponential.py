"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .declare import POSITIVE, elementwise, where

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)

exp = elementwise(np.exp, partials=[lambda out: out], scalar=math.exp)
exp2 = elementwise(np.exp2, partials=[lambda out: out * LOG_2], scalar=math.exp2)
expm1 = elementwise(np.expm1, partials=[lambda out: out + 1.0], scalar=math.expm1)
log = elementwise(np.log, partials=[lambda x: 1.0 / x], scalar=math.log, domain=[POSITIVE])
log2 = elementwise(np.log2, partials=[lambda x: 1.0 / (x * LOG_2)], scalar=math.log2, domain=[POSITIVE])
log10 = elementwise(np.log10, partials=[lambda x: 1.0 / (x * LOG_10)], scalar=math.log10, domain=[POSITIVE])
log1p = elementwise(np.log1p, partials=[lambda x: 1.0 / (1.0 + x)], scalar=math.log1p, domain=[(-1.0, math.inf)])


def _share(x: Any, out: Any) -> Any:
    """exp(x - out): what one operand contributes to the logarithm of a sum (out may be infinite)."""
    return np.exp(where(x == out, 0.0, x - where(x == out, 0.0, out)))


logaddexp = elementwise(np.logaddexp, partials=[lambda out, x: _share(x, out), lambda out, y: _share(y, out)])
logaddexp2 = elementwise(
    np.logaddexp2,
    partials=[lambda out, x: _share(x * LOG_2, out * LOG_2), lambda out, y: _share(y * LOG_2, out * LOG_2)],
)
