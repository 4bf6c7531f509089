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
    "float_power": "power",
}  # fmt: skip

STAYING = ("positive", "stop_gradient", "conjugate", "real", "index", "item", "reshape", "broadcast_to", "sum")
"""What leaves a single number as it is."""

WRITTEN_OUT: dict[str, Callable[..., str]] = {
    **dict.fromkeys(STAYING, lambda x: x),
    "sech_squared": lambda x: f"(1/square(cosh({x})))",
    "deg2rad": lambda x: f"({x}*PI/180)",
    "rad2deg": lambda x: f"({x}*180/PI)",
}
"""What is not a call of a function under its own name."""

LOGICAL = {
    "add": "logical_or", "bitwise_or": "logical_or", "multiply": "logical_and", "bitwise_and": "logical_and",
    "bitwise_xor": "logical_xor", "invert": "logical_not",
}  # fmt: skip
"""What arithmetic means for truth values."""

WHOLE = frozenset((
    "add", "subtract", "multiply", "negative", "positive", "absolute", "square", "sign", "maximum", "minimum", "where",
    "astype", *STAYING,
))  # fmt: skip
"""What the page computes with whole numbers; others turn around at the ends of their range, or divide by 0."""


class NoScriptError(Exception):
    """Something that the page cannot compute; the argument says why, as in "the page cannot compute as ..."."""


def script(e: Expression, name: Callable[[Symbol], str]) -> str:
    """The expression as JavaScript; `name` says where a value is found."""
    if np.size(e.value) != 1 or np.iscomplexobj(e.value):
        raise NoScriptError(f"{e.head} is not a single real number")
    if e.head == SYMBOL:
        return name(e.params["symbol"])
    if e.head == CONSTANT:
        return _number(e.value)
    kind = dtype_of(e.value)
    if kind not in KINDS:
        raise NoScriptError(f"the program computes with {kind.name}")
    if kind == np.int64 and e.head not in WHOLE:
        raise NoScriptError(f"JavaScript has no {e.head} of whole numbers")
    text = _operation(e, [script(a, name) for a in e.args])
    return f"whole({text})" if kind == np.int64 and e.head not in STAYING else text


KINDS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool))


def _operation(e: Expression, args: list[str]) -> str:
    if e.head == "astype":
        return f"not_equal({args[0]},0)" if dtype_of(e.value).kind == "b" else args[0]
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
