"""The functions, operators and constants an expression may use."""

from __future__ import annotations

import ast
import importlib.util
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad


@dataclass(frozen=True)
class OfferedFunction:
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


def _universal(result: str, nin: int) -> list[str]:
    """NumPy's universal functions of so many real numbers, by what they give: numbers (d) or truth values (?)."""
    return sorted(
        name
        for name, f in vars(np).items()
        if isinstance(f, np.ufunc)
        and name == f.__name__
        and f.signature is None
        and f"{'d' * nin}->{result}" in f.types
    )


ELEMENTWISE = _universal("d", 1)
"""Functions of one argument."""

OF_TWO = sorted([*_universal("d", 2), "dot", "matmul", "outer"])
"""Functions of two arguments."""

TRUTHS = [*_universal("?", 1), *_universal("?", 2)]
"""Functions whose result is a truth value, which has no derivative."""

REDUCTIONS = [f.__name__ for f in (np.cumsum, np.max, np.mean, np.min, np.prod, np.std, np.sum, np.var)]
"""Functions of one array, along an axis if one is given, that have NumPy's name."""

INSTEAD = {
    np.max: "For the larger of two write  maximum(a, b).",
    np.min: "For the smaller of two write  minimum(a, b).",
    np.sum: "For the sum of two write  a + b.",
    np.log: "For the logarithm to another base write  log(a) / log(b).",
    np.arctan: "For the angle of a point write  arctan2(y, x).",
}
"""What to write for what another number of arguments usually means."""


def _numpys(name: str, arguments: int = 1, *, axis: bool = False) -> OfferedFunction:
    apply = getattr(np, name)
    return OfferedFunction(apply, arguments, axis, INSTEAD.get(apply, ""))


FUNCTIONS: dict[str, OfferedFunction] = {
    **{name: _numpys(name) for name in ELEMENTWISE},
    **{name: _numpys(name, 2) for name in OF_TWO},
    **{name: _numpys(name, getattr(np, name).nin) for name in TRUTHS},
    **{name: _numpys(name, axis=True) for name in REDUCTIONS},
    "norm": OfferedFunction(np.linalg.norm, axis=True),
    "where": OfferedFunction(np.where, 3),
    "clip": OfferedFunction(np.clip, 3),
    "sigmoid": OfferedFunction(sigmoid),
}
"""The functions of the help, by their names."""


def function_named(name: str) -> OfferedFunction | None:
    """The function of a name: of the help, or another operation that the library knows for each element."""
    if name in FUNCTIONS or name in ALIASES:
        return FUNCTIONS[ALIASES.get(name, name)]
    operation = getattr(ad.numpy, name, None)
    count = getattr(operation, "nin", None)
    return None if operation is None or count is None else OfferedFunction(operation, count)


ALIASES = {
    **{
        name: f.__name__
        for name, f in vars(np).items()
        if isinstance(f, np.ufunc) and f.__name__ in ELEMENTWISE + OF_TWO
    },
    "expit": "sigmoid",
    "ln": "log",
    "sigma": "sigmoid",
    "\N{GREEK SMALL LETTER SIGMA}": "sigmoid",
}
"""Other names that people write, and those that NumPy has."""
ALIASES = {alias: name for alias, name in ALIASES.items() if alias != name}

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
        ("one argument", ", ".join([*ELEMENTWISE, "sigmoid"])),
        ("two arguments", ", ".join(OF_TWO)),
        ("three", ", ".join(others)),
        ("conditions", ", ".join(TRUTHS)),
        ("arrays, axis=", ", ".join(sorted([*REDUCTIONS, "norm"]))),
        ("also known as", ", ".join(f"{alias}={name}" for alias, name in ALIASES.items() if alias.isascii())),
        ("constants", ", ".join(CONSTANTS)),
    ]
