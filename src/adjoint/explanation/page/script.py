"""Expressions of single numbers as JavaScript, for the page that computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.values import dtype_of
from ..expression import CONSTANT, SYMBOL, Expression, Symbol
from .writing import FUNCTIONS

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">", "greater_equal": ">=", "less": "<",
    "less_equal": "<=",
}  # fmt: skip

RENAMED = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "absolute": "abs", "fabs": "abs", "expit": "sigmoid", "logistic": "sigmoid", "psi": "digamma",
}  # fmt: skip

WRITTEN_OUT: dict[str, Callable[..., str]] = {
    "positive": lambda x: x,
    "stop_gradient": lambda x: x,
    "conjugate": lambda x: x,
    "real": lambda x: x,
    "sech_squared": lambda x: f"(1/square(cosh({x})))",
    "deg2rad": lambda x: f"({x}*PI/180)",
    "rad2deg": lambda x: f"({x}*180/PI)",
    "index": lambda x: x,
    "item": lambda x: x,
    "reshape": lambda x: x,
    "broadcast_to": lambda x: x,
    "sum": lambda x: x,
    "where": lambda c, x, y: f"where({c},{x},{y})",
}
"""What is not a call of a function under its own name. Of single numbers, shapes are nothing to care for."""


LOGICAL = {
    "add": "logical_or", "bitwise_or": "logical_or", "multiply": "logical_and", "bitwise_and": "logical_and",
    "bitwise_xor": "logical_xor", "invert": "logical_not",
}  # fmt: skip
"""What arithmetic means for truth values."""


class NoScriptError(Exception):
    """Something that the page cannot compute; the argument says why, as in "the page cannot compute as ..."."""


def script(e: Expression, name: Callable[[Symbol], str]) -> str:
    """The expression as JavaScript; `name` says where a value is found."""
    if e.head == SYMBOL:
        return name(e.params["symbol"])
    if np.size(e.value) != 1 or np.iscomplexobj(e.value):
        raise NoScriptError(f"{e.head} is not a single real number")
    if e.head == CONSTANT:
        return _number(e.value)
    args = [script(a, name) for a in e.args]
    if e.head == "astype":
        return _cast(args[0], e)
    if e.head in LOGICAL and all(dtype_of(a.value).kind == "b" for a in e.args):
        return f"{LOGICAL[e.head]}({','.join(args)})"
    if e.head in INFIX and len(args) == 2:
        return f"({args[0]}{INFIX[e.head]}{args[1]})"
    if e.head == "negative":
        return f"(-{args[0]})"
    if e.head in WRITTEN_OUT:
        return WRITTEN_OUT[e.head](*args)
    function = RENAMED.get(e.head, e.head)
    if function not in FUNCTIONS or e.params:
        raise NoScriptError(f"JavaScript has no {e.head}")
    return f"{function}({','.join(args)})"


def _cast(x: str, e: Expression) -> str:
    kind = dtype_of(e.value)
    if kind.kind == "b":
        return f"not_equal({x},0)"
    if kind.kind in "iu":
        return f"trunc({x})"
    if kind != np.float64:
        raise NoScriptError(f"it computes with {kind.name}")
    return f"(1*{x})"


def _number(x: Any) -> str:
    x = np.ravel(x)[0]
    if isinstance(x, (bool, np.bool)):
        return "true" if x else "false"
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "Infinity" if x > 0 else "(-Infinity)"
    text = repr(int(x)) if float(x).is_integer() and abs(x) < 2**53 and math.copysign(1.0, x) > 0 else repr(float(x))
    return f"({text})" if text.startswith("-") else text
