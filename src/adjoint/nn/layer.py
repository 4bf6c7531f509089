"""What a layer is: a frozen dataclass of arrays with a call; `layer` adds a constructor of sizes and a short repr."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, dataclass_transform

import numpy as np

import adjoint as ad

from ..arguments import checked
from . import hints

T = TypeVar("T", bound=type)
ONE_LINE = 100
"""A repr that is longer is written on several lines."""


def static(default: Any = dataclasses.MISSING) -> Any:
    """A field that is part of the structure, never a leaf."""
    return dataclasses.field(default=default, metadata={"static": True})


def statistic(default: Any = dataclasses.MISSING) -> Any:
    """A field of a layer whose arrays are not trained: running statistics, counts, fixed tables.

    Parameters
    ----------
    default : object, optional
        The default value of the field.

    Returns
    -------
    dataclasses.Field
        The field, with a mark that `nn.parameters` and `nn.statistics` read.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from adjoint import nn
    >>> @dataclass(frozen=True)
    ... class Centre:
    ...     mean: np.ndarray = nn.statistic()
    ...     def __call__(self, x):
    ...         return x - self.mean
    >>> nn.parameters(Centre(np.zeros(3))), nn.statistics(Centre(np.zeros(3)))
    ({}, {'mean': array([0., 0., 0.])})
    """
    return dataclasses.field(default=default, metadata={"trained": False})


@dataclass_transform(frozen_default=True, field_specifiers=(static, statistic, dataclasses.field))
@checked()
def layer(kind: T) -> T:
    """Make a class a layer: a frozen dataclass whose `__init__` may take sizes instead of the fields.

    A layer needs nothing but `@dataclass(frozen=True)`. With this decorator instead, an `__init__` written in the class
    takes what is convenient and sets the fields with `nn.set_fields`; the layer can still be made from its fields by
    name, as `dataclasses.replace` does; layers are equal if they are the same object, and their repr shows shapes.

    Parameters
    ----------
    kind : type
        The class, with annotated fields.

    Returns
    -------
    type
        The class itself, as a frozen dataclass.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> @nn.layer
    ... class Scale:
    ...     gain: np.ndarray
    ...     def __init__(self, width):
    ...         nn.set_fields(self, gain=np.ones(width))
    ...     def __call__(self, x):
    ...         return x * self.gain
    >>> Scale(3), Scale(gain=np.full(2, 5.0))(np.ones(2))
    (Scale(gain=float64[3]), array([5., 5.]))
    """
    own = "__init__" in kind.__dict__
    if "__repr__" not in kind.__dict__:
        kind.__repr__ = outline  # type: ignore[assignment]
    made: Any = dataclasses.dataclass(frozen=True, eq=False, repr=False)(kind)
    names = frozenset([f.name for f in dataclasses.fields(made)])
    made.__init__ = _checked(made.__name__, made.__init__, names if own else None)
    if not hasattr(made, "__getattr__"):
        made.__getattr__ = hints.method
    made._made_of_fields = True  # containers of `ad.tree` are put together without `__init__`
    return made


def _checked(kind: str, init: Callable[..., None], names: frozenset[str] | None) -> Callable[..., None]:
    """A constructor that also takes the fields of these names, and says what is wrong with options."""
    known = dict(inspect.signature(init).parameters)
    if init.__module__.startswith("adjoint."):  # hints of others promise nothing
        init = checked(*known)(init)

    @functools.wraps(init)
    def constructed(self: Any, *args: Any, **options: Any) -> None:
        if not args and options.keys() == names:
            _set(self, options)
            return
        hints.check_options(kind, options, known)
        try:
            init(self, *args, **options)
        except dataclasses.FrozenInstanceError as error:
            raise ad.errors.InputError(
                ad.errors.message(
                    f"A layer does not change, so {kind} cannot set its fields one by one.",
                    got=str(error),
                    fix="Write  nn.set_fields(self, weight=..., bias=...)  in  __init__.",
                )
            ) from error

    return constructed


def set_fields(made: Any, **fields: Any) -> None:
    """Set the fields of a new layer: for the `__init__` of classes under `nn.layer`, whose objects do not change later.

    Parameters
    ----------
    made : object
        The layer that is being made.
    **fields : object
        The values of its fields.

    Raises
    ------
    InputError
        If the class has no field of such a name.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> @nn.layer
    ... class Shift:
    ...     by: np.ndarray
    ...     def __init__(self, width):
    ...         nn.set_fields(self, by=np.zeros(width))
    >>> Shift(2)
    Shift(by=float64[2])
    """
    known = [f.name for f in dataclasses.fields(made)]
    for name in fields:
        if name not in known:
            raise ad.errors.InputError(
                ad.errors.message(
                    f"{type(made).__name__} has no field {name!r}, so what is in it would not be part of the model.",
                    got=f"the fields {', '.join(known) or 'none'}",
                    fix=f"Write  {name}: np.ndarray  (or any type) in the class.",
                )
            )
    _set(made, fields)


def _set(made: Any, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        object.__setattr__(made, name, value)


def outline(made: Any) -> str:
    """The repr of a layer: its fields, with shapes in place of arrays."""
    shown = [(f.name, getattr(made, f.name)) for f in dataclasses.fields(made)]
    parts = [f"{name}={text_of(value)}" for name, value in shown if not _is_empty(value)]
    name = type(made).__name__
    return _laid_out(f"{name}(", parts, ")")


def text_of(value: Any) -> str:
    """A field's value in a repr."""
    if isinstance(value, np.ndarray):
        return described(value)
    if isinstance(value, (tuple, list)):
        return _laid_out("(", [text_of(v) for v in value], ",)" if len(value) == 1 else ")")
    if isinstance(value, dict):
        return _laid_out("{", [f"{k!r}: {text_of(v)}" for k, v in value.items()], "}")
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return repr(value)


def described(value: Any) -> str:
    """Type and shape of an array, as in the library's messages: `float64[3,4]`."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype}[{','.join(map(str, np.shape(value)))}]"
    return repr(value) if len(repr(value)) < 60 else type(value).__name__


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (tuple, list, dict)) and not value)


def _laid_out(start: str, parts: list[str], end: str) -> str:
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= ONE_LINE and "\n" not in line:
        return line
    inner = ",\n".join(parts).replace("\n", "\n  ")
    return f"{start}\n  {inner},\n{end[-1]}"
