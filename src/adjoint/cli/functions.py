"""The functions, operators and constants an expression may use."""

from __future__ import annotations

import ast
import importlib.util
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Function:
    """A function of the table: what is called, with how many arguments, and whether it takes `axis=`."""

    apply: Callable[..., Any]
    arguments: int = 1
    axis: bool = False
    instead: str = ""
    """What to write for what another number of arguments usually means."""


def sigmoid(x: Any) -> Any:
    """The logistic function 1 / (1 + exp(-x)): SciPy's, one step of the trace, where SciPy is installed."""
    if importlib.util.find_spec("scipy") is None:
        return 0.5 + 0.5 * np.tanh(0.5 * x)
    from scipy.special import expit

    return expit(x)


def array(*elements: Any) -> Any:
    """The array of a list `[a, b, ...]`, of real numbers unless the elements are traced."""
    if len({np.shape(element) for element in elements}) > 1:
        raise ValueError("its elements have different shapes")
    made = np.array(list(elements))
    return made.astype(float) if made.dtype.kind in "iub" else made


ELEMENTWISE = [
    "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "cos", "cosh", "exp", "exp2",
    "expm1", "floor", "log", "log10", "log1p", "log2", "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan",
    "tanh",
]  # fmt: skip
"""Functions of one argument that have NumPy's name."""

OF_TWO = [
    "arctan2", "dot", "hypot", "logaddexp", "logical_and", "logical_or", "matmul", "maximum", "minimum", "outer",
    "power",
]  # fmt: skip
"""Functions of two arguments that have NumPy's name."""

REDUCTIONS = ["cumsum", "max", "mean", "min", "prod", "std", "sum", "var"]
"""Functions of one array, along an axis if one is given, that have NumPy's name."""

FUNCTIONS: dict[str, Function] = {
    **{name: Function(getattr(np, name)) for name in ELEMENTWISE},
    **{name: Function(getattr(np, name), 2) for name in OF_TWO},
    **{name: Function(getattr(np, name), axis=True) for name in REDUCTIONS},
    "max": Function(np.max, axis=True, instead="For the larger of two write  maximum(a, b)."),
    "min": Function(np.min, axis=True, instead="For the smaller of two write  minimum(a, b)."),
    "sum": Function(np.sum, axis=True, instead="For the sum of two write  a + b."),
    "log": Function(np.log, instead="For the logarithm to another base write  log(a) / log(b)."),
    "arctan": Function(np.arctan, instead="For the angle of a point write  arctan2(y, x)."),
    "norm": Function(np.linalg.norm, axis=True),
    "logical_not": Function(np.logical_not),
    "where": Function(np.where, 3),
    "clip": Function(np.clip, 3),
    "sigmoid": Function(sigmoid),
}
"""Every function an expression may call, by its name."""

ALIASES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "expit": "sigmoid", "ln": "log", "pow": "power", "sigma": "sigmoid",
    "\N{GREEK SMALL LETTER SIGMA}": "sigmoid",
}  # fmt: skip
"""Other names that people write."""

TRUTHS = {"logical_and", "logical_or", "logical_not"}
"""Functions whose result is a truth value, which has no derivative."""

CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf}
"""Names with a value of their own, unless a variable of that name is given."""

OPERATORS: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.Pow: ("**", operator.pow),
    ast.Mod: ("%", operator.mod),
    ast.MatMult: ("@", operator.matmul),
}
"""The operators between two values."""

COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}
"""The comparisons, for the condition of `where`."""


def table() -> list[tuple[str, str]]:
    """The rows of the help text: a kind of name, and the names of that kind."""
    others = ["where(condition, a, b)", "clip(x, low, high)"]
    return [
        ("one argument", ", ".join([*ELEMENTWISE, "logical_not", "sigmoid"])),
        ("two arguments", ", ".join(OF_TWO)),
        ("three", ", ".join(others)),
        ("arrays, axis=", ", ".join(sorted([*REDUCTIONS, "norm"]))),
        ("also known as", ", ".join(f"{alias}={name}" for alias, name in ALIASES.items() if alias.isascii())),
        ("constants", ", ".join(CONSTANTS)),
    ]
