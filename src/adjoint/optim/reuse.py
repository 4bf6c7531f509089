"""Compiled functions that serve again: for functions that do the same, nothing is compiled twice."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import adjoint as ad

T = TypeVar("T")
KEPT: deque[tuple[tuple[Any, ...], Any]] = deque(maxlen=32)
"""What was made lately: of what, and what came out."""

VALUES = (int, float, complex, str, bytes, bool, type(None), np.dtype, np.generic)
TREE_STRUCTURE = type(ad.tree.structure(()))
OWN = ad.__name__


def cached(ingredients: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What `make` gives, or what it gave for ingredients that cannot be told apart from these, now or later.

    Parameters
    ----------
    ingredients : tuple
        Everything that the result depends on: functions, optimisers, structures of trees, settings.
    make : callable
        A function without arguments that makes the result.

    Returns
    -------
    object
        The result, of which the last 32 are kept.

    Examples
    --------
    >>> import adjoint as ad
    >>> from adjoint import optim
    >>> def compiled(f):
    ...     return optim.cached((f,), lambda: ad.jit(f))
    >>> compiled(lambda x: 2.0 * x) is compiled(lambda x: 2.0 * x)  # two functions
    False
    >>> double = [lambda x: 2.0 * x for _ in range(2)]  # the same one, made twice
    >>> compiled(double[0]) is compiled(double[1])
    True
    """
    for its, found in tuple(KEPT):  # others may add to it meanwhile
        if alike(its, ingredients, set()):
            return found  # type: ignore[no-any-return]
    made = make()
    KEPT.appendleft((ingredients, made))
    return made


def alike(a: Any, b: Any, compared: set[tuple[int, int]]) -> bool:
    """Whether two things do the same, and will: functions of the same code, made of the same parts.

    What can change is alike only if it is the same: arrays, objects, variables that a function of somebody else's has
    in common with others. The library's own functions do not change theirs.
    """
    if a is b or (id(a), id(b)) in compared:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, VALUES):
        return repr(a) == repr(b)  # which tells 0.0 from -0.0
    compared.add((id(a), id(b)))
    if isinstance(a, TREE_STRUCTURE):
        return bool(a == b)
    one, other = _parts(a), _parts(b)
    if one is None or other is None or len(one) != len(other):
        return False
    return all(alike(x, y, compared) for x, y in zip(one, other, strict=True))  # up to the first difference


def _parts(x: Any) -> list[Any] | None:
    """What something is made of; None for what is only like itself."""
    if isinstance(x, types.FunctionType):
        return _parts_of_function(x)
    if isinstance(x, types.MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, functools.partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, dict):
        return [*x.keys(), *x.values()]
    if isinstance(x, (tuple, list)):
        return list(x)
    if isinstance(x, frozenset):
        return sorted(x, key=repr)
    if dataclasses.is_dataclass(x) and not isinstance(x, type) and _is_frozen(x):
        return [getattr(x, field.name) for field in dataclasses.fields(x)]
    return None


def _is_frozen(x: Any) -> bool:
    """Whether the fields of an object of a dataclass stay what they are."""
    return bool(type(x).__dataclass_params__.frozen)


def _parts_of_function(f: types.FunctionType) -> list[Any]:
    """The code of a function and what it reads besides its arguments: of others', the variables themselves."""
    known = [f.__code__, id(f.__globals__)]
    if str(f.__module__).partition(".")[0] == OWN:
        cells = [cell.cell_contents for cell in f.__closure__ or ()]
        return [*known, f.__defaults__, f.__kwdefaults__, f.__dict__, *cells]
    return [*known, *[_itself(part) for part in (f.__defaults__, f.__kwdefaults__, f.__dict__ or None)], f.__closure__]


def _itself(x: Any) -> Any:
    """What may be written to, by its identity; a tuple of values as it is."""
    return x if x is None or (type(x) is tuple and all([isinstance(part, VALUES) for part in x])) else id(x)
