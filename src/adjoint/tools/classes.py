"""Classes of your own as containers: `ad.tree.register`, and `ad.tree.static` for fields of dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, field
from typing import Any

from ..core import classes as _classes
from ..core.errors import InputError, message
from ..core.values import describe


def register(
    kind: type | None = None,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
    unflatten: Callable[[Any, Sequence[Any]], Any] | None = None,
    *,
    fields: Sequence[str] = (),
) -> Any:
    """Make a class of your own a container: its objects are taken apart and put together like dicts and lists.

    Dataclasses need no registration. Either name the attributes that are inner trees (all others are settings, which
    stay as they are and have to be equal for two objects to have the same structure), also as a decorator, or give the
    two functions.

    Parameters
    ----------
    kind : type, optional
        The class. Without it, the result is a decorator.
    flatten : callable, optional
        `object -> (parts, settings)`, where settings can be hashed.
    unflatten : callable, optional
        `(settings, parts) -> object`.
    fields : sequence of str, optional
        The attributes that are parts. Objects are put together without calling `__init__`.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> @ad.tree.register(fields=("scale",))
    ... class Gain:
    ...     def __init__(self, scale, name):
    ...         self.scale, self.name = scale, name
    >>> g = ad.grad(lambda gain: np.sum(gain.scale**2))(Gain(np.array([1.0, 2.0]), "left"))
    >>> g.scale, g.name
    (array([2., 4.]), 'left')
    """
    if kind is None:
        return lambda kind: register(kind, flatten, unflatten, fields=fields)
    if not isinstance(kind, type):
        raise InputError(message("register needs a class.", got=describe(kind), fix="Write  ad.tree.register(Class)."))
    if (flatten is None) != (unflatten is None) or (flatten is None) == (not fields):
        raise InputError(
            message(
                "register needs either the names of the fields, or flatten and unflatten together.",
                fix='Write  ad.tree.register(Class, fields=("weight", "bias")).',
            )
        )
    if flatten is None or unflatten is None:
        flatten, unflatten = _classes.by_fields(kind, tuple(fields))
    _classes.register(kind, flatten, unflatten)
    return kind


def static(default: Any = MISSING, *, default_factory: Any = MISSING) -> Any:
    """A field of a dataclass that is part of the structure, never a leaf: a size, a rate that is not learnt, a choice.

    No derivative is taken with respect to it, `jit` makes a recording for each value, and two trees have the same
    structure only if it is equal in both. Strings, bytes, truth values and functions are so in any field. It is
    `dataclasses.field(metadata={"static": True})`, which has the same effect.

    Parameters
    ----------
    default : any, optional
        The value where none is given.
    default_factory : callable, optional
        What makes the value where none is given.

    Returns
    -------
    dataclasses.Field
        What to write behind the annotation of the field. Its values have to be hashable; arrays are refused when the
        object is taken apart.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np, adjoint as ad
    >>> @dataclass
    ... class Power:
    ...     scale: float
    ...     exponent: int = ad.tree.static(2)
    ...     def __call__(self, x):
    ...         return self.scale * x**self.exponent
    >>> ad.grad(lambda power: power(3.0))(Power(0.5))
    Power(scale=9.0, exponent=2)
    """
    return field(default=default, default_factory=default_factory, metadata={"static": True})
