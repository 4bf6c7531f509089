"""Methods of SciPy's classes that are taken over while a function is traced.

Traced values may be among the arguments or inside the object, so ours is called with the original in front whenever
the thread traces, and says for itself whether there is anything to do.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from ..core.traced import CONSTANTS, Traced
from ..core.values import contents, decidable, shape_of
from ..numpy.dispatch.arguments import holds_traced
from ..numpy.patching.replacements import Answer, divert

OBJECTS_PATCH = {
    "what": "objects of SciPy (splines, interpolators, sparse matrices, results) that are made of traced values or "
    "get some: their attributes hold handles, and a sparse matrix that a traced value is stored into becomes one of a "
    "class of ours",
    "when": "while a function is traced",
    "why": "their constructors and methods would convert",
    "undone": "not at all: what the function has made or stored is there",
}
F = TypeVar("F", bound=Callable[..., Any])


def method(kind: type, *names: str) -> Callable[[F], F]:
    """Let the decorated function, which gets the original in front, stand for methods of a class."""

    def register(ours: F) -> F:
        for name in names:
            original = _defined(kind, name)
            divert(original, Answer(ours=ours, calls_back=True), f"scipy {kind.__name__}.{name}")
        return ours

    return register


def _defined(kind: type, name: str) -> FunctionType:
    """The function behind a method, where it is defined."""
    found = next(vars(base)[name] for base in kind.__mro__ if name in vars(base))
    return getattr(found, "__func__", found)  # type: ignore[no-any-return]


def has_traced(*values: Any) -> bool:
    """Whether a traced value is among these, or in lists, tuples or dicts among them."""
    return any([holds_traced(v.values()) if isinstance(v, dict) else holds_traced([v]) for v in values])


def plain(x: Any) -> Any:
    """An argument without traces: of a batch the first example."""
    if isinstance(x, Traced):
        return _first(contents(x), shape_of(x))
    if isinstance(x, (list, tuple)) and holds_traced(x):
        return type(x)([plain(v) for v in x])
    return x


def plainly(args: Any, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments without traces."""
    return [plain(a) for a in args], {k: plain(v) for k, v in kwargs.items()}


def _first(value: Any, shape: tuple[int, ...]) -> Any:
    """One example of what may be a batch, given the shape of an example."""
    value = np.asarray(value)
    return np.array(value[(0,) * (value.ndim - len(shape))])


def holds(condition: Any) -> bool:
    """Whether a condition holds of a whole array, in a batch for every example; a recording writes a guard down."""
    found = decidable(condition)
    if isinstance(found, Traced) and not found.traced_by.guards_allowed:
        return True
    return bool(np.all(found))


def at(x: Any, *index: Any) -> Any:
    """`x[index]`, also of a plain array at traced places, which would not know them."""
    if not isinstance(x, Traced):
        x = Traced(np.asarray(x), CONSTANTS, None)
    return x[index if len(index) > 1 else index[0]]
