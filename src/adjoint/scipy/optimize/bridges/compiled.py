"""Functions of one vector with their derivatives, compiled, and kept for the next call with the same function."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.errors import ImpureError
from ....core.traced import LOCAL
from ....core.tree import flatten
from ....core.values import shape_of
from ....transforms.implicit.flat import TreeShape
from ....transforms.jit.decorator import jit

KEPT = 32
"""So many compiled functions are kept."""

_kept: OrderedDict[Any, Any] = OrderedDict()


class Unknowns:
    """Where a solver begins: a vector as SciPy has it, or any containers of numbers and arrays."""

    def __init__(self, x0: Any, name: str) -> None:
        self.is_vector = isinstance(x0, np.ndarray) or not _is_container(x0)
        self.shape = None if self.is_vector else TreeShape(x0, name)
        self.start = x0 if self.shape is None else self.shape.vector(x0)
        self.size = int(np.size(self.start))
        self.key = (
            None
            if self.shape is None
            else (tuple(self.shape.shapes), str(flatten(x0)[1](["*"] * len(self.shape.shapes))))
        )

    def tree(self, vector: Any) -> Any:
        """What the user's function takes."""
        return vector if self.shape is None else self.shape.tree(vector)

    def function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The user's function as one of a vector."""
        if self.is_vector:
            return f

        @functools.wraps(f)
        def of_vector(vector: Any, *args: Any, **kwargs: Any) -> Any:
            return f(self.tree(vector), *args, **kwargs)

        return of_vector

    def result(self, found: Any, *fields: str) -> Any:
        """SciPy's result with these fields in containers."""
        if self.shape is not None:
            for field in fields:
                if field in found and not isinstance(found[field], list) and shape_of(found[field]) == (self.size,):
                    found[field] = self.shape.tree(found[field])
        return found


def _is_container(x: Any) -> bool:
    """Whether it is no list of numbers, nor a list of such lists, of which SciPy makes an array."""
    if isinstance(x, (list, tuple)) and type(x) in (list, tuple):
        return any([_is_container(part) or np.ndim(part) for part in x])
    return not isinstance(x, (int, float, np.generic)) and np.asarray(x, object).shape == ()


def compiled(name: str, f: Callable[..., Any], unknowns: Unknowns, make: Callable[[Any], Any]) -> Callable[..., Any]:
    """`make(f)` as a function of the vector, compiled; as it is if the function cannot be recorded."""
    made = make(unknowns.function(f))
    if LOCAL.depth:  # inside a derivative the solver runs once: nothing pays
        return made  # type: ignore[no-any-return]
    key = (name, f, unknowns.key)
    try:
        jitted = _kept.pop(key, None) or jit(made)
        _kept[key] = jitted
    except TypeError:  # no hash
        jitted = jit(made)
    while len(_kept) > KEPT:
        _kept.popitem(last=False)

    def called(*args: Any) -> Any:
        nonlocal jitted
        try:
            return jitted(*args)
        except ImpureError:  # it counts, or prints: the plain function does the same, not as fast
            jitted = made
            return made(*args)

    return called
