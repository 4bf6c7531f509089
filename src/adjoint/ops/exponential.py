"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.entry.facts import EMBEDDED, Form, Kernel
from ..core.values import may_hold
from ..rules.elementwise import Elementwise
from ..rules.stacking import aligned
from . import series
from .declare import POSITIVE, REAL, declare, elementwise, where

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)

exp = elementwise(np.exp, partials=[lambda out: out], scalar=math.exp)
exp2 = elementwise(np.exp2, partials=[lambda out: out * LOG_2], scalar=math.exp2, form=Form(sympy="2**x"))
expm1 = elementwise(np.expm1, partials=[lambda x: _exp(x)], scalar=math.expm1, form=Form(sympy="exp(x) - 1"))
log = elementwise(np.log, partials=[lambda x: 1.0 / x], scalar=math.log, domain=[POSITIVE], series=series.logarithm)
log2 = elementwise(
    np.log2, partials=[lambda x: 1.0 / LOG_2 / x], scalar=math.log2, domain=[POSITIVE], form=Form(sympy="log(x)/log(2)")
)
log10 = elementwise(
    np.log10,
    partials=[lambda x: 1.0 / LOG_10 / x],
    scalar=math.log10,
    domain=[POSITIVE],
    form=Form(sympy="log(x)/log(10)"),
)
log1p = elementwise(
    np.log1p,
    partials=[lambda x: 1.0 / (1.0 + x)],
    scalar=math.log1p,
    domain=[(-1.0, math.inf)],
    form=Form(sympy="log(1 + x)"),
)
_exp = exp.evaluate


def _logistic(x: Any) -> Any:
    """1 / (1 + exp(-x)) without overflow on either side."""
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small, 1.0) / (1.0 + small)


logistic = declare(
    "logistic",
    _logistic,
    Elementwise([lambda x: logistic(x) * logistic(-x)]),
    stacking=aligned,
    domain=(REAL,),
    kernel=Kernel("logistic", types=np.exp),
    series=series.logistic,
    form=Form(text="σ sigmoid", source=EMBEDDED, javascript="sigmoid", sympy="1/(1 + exp(-x))"),
)


def _lead(x: Any, y: Any) -> Any:
    """x - y, and 0 where both are the same infinity."""
    same = np.isinf(x) & (x == y)
    return where(same, 0.0, x - where(same, 0.0, y)) if may_hold(same) else x - y


# the share of each operand in the sum of exponentials; exp(x - out) would lose the digits of a large out
logaddexp = elementwise(
    np.logaddexp,
    partials=[lambda x, y: logistic(_lead(x, y)), lambda x, y: logistic(_lead(y, x))],
    kernel=Kernel("logaddexp"),
    form=Form(sympy="log(exp(x) + exp(y))"),
)
logaddexp2 = elementwise(
    np.logaddexp2,
    partials=[lambda x, y: logistic(_lead(x, y) * LOG_2), lambda x, y: logistic(_lead(y, x) * LOG_2)],
    kernel=Kernel("logaddexp2"),
    form=Form(sympy="log(2**x + 2**y)/log(2)"),
)
