"""The arguments of a call in source: what is read from them, and what has to be as it was."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.tree import ways
from ..record.record import parameters_of, way_through
from .literals import SMALL, number_source

LITERALS = (int, str, bytes, range, slice, bool, type(None), type(...))
"""Types whose values are written as Python shows them."""


class CalledWith(NamedTuple):
    """What a function was called with."""

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def roots(self) -> list[tuple[str, Any]]:
        """The arguments, each with the name of its parameter."""
        return [*zip(parameters_of(self.fun, len(self.args)), self.args, strict=True), *self.kwargs.items()]

    def leaf_names(self) -> list[str]:
        """What the leaves of `(args, kwargs)` are called, in their order."""
        roots = [name for name, _ in self.roots()]
        names = []
        for part, key, *way in ways((self.args, self.kwargs)):
            root, value = (roots[key], self.args[key]) if part == 0 else (key, self.kwargs[key])
            names.append(root + way_through(value, tuple(way)))
        return names


def parts_of(value: Any, access: str = "") -> Iterator[tuple[str, Any]]:
    """An argument and everything in it, from the outside in, each with the way that source takes to it."""
    yield access, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from parts_of(inner, f"{access}[{_key(key)}]")
    elif is_named_tuple(value):
        for name, inner in zip(value._fields, value, strict=True):
            yield from parts_of(inner, f"{access}.{name}")
    elif isinstance(value, (list, tuple, deque)):
        for k, inner in enumerate(value):
            yield from parts_of(inner, f"{access}[{k}]")
    elif is_record(value):
        for field in [f for f in dataclasses.fields(value) if f.init]:  # the others follow from these
            yield from parts_of(getattr(value, field.name), f"{access}.{field.name}")


def is_named_tuple(value: Any) -> bool:
    """Whether a tuple has names for its places."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_record(value: Any) -> bool:
    """Whether a value is a dataclass's, and not such a class itself."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _key(key: Any) -> str:
    parts = key if type(key) is tuple else (key,)
    if not all(type(p) in (*LITERALS, float) for p in parts):
        raise UnsupportedError(
            message(
                "A dict with such keys cannot be written as NumPy source.",
                got=f"the key {key!r}",
                fix="Use text or whole numbers as keys.",
            )
        )
    return repr(key)


def otherwise(text: str, value: Any, array: Callable[[np.ndarray], str]) -> tuple[str, str] | None:
    """The condition that something is not what it was, and what it was; None if that cannot be asked.

    Containers are asked for their length or keys, as a function may go through all that is in them.
    """
    kind = type(value)
    if isinstance(value, dict):
        keys = f"[{', '.join(map(_key, value))}]"
        return f"list({text}) != {keys}", f"{text} with the keys {keys} in this order"
    if isinstance(value, (list, tuple, deque)) and not is_named_tuple(value):
        return f"len({text}) != {len(value)}", f"{text} of length {len(value)}"
    if value is None or value is ... or kind is bool:
        return f"{text} is not {value}", f"{text} = {value}"
    if kind in LITERALS:
        return f"{text} != {value!r}", f"{text} = {value!r}"
    if kind is np.ndarray and value.dtype.kind in "fciub":
        same_nan = ", equal_nan=True" if np.isnan(value).any() else ""
        return f"not np.array_equal({text}, {array(value)}{same_nan})", f"another {text}"
    if kind is np.ndarray and value.dtype.kind in "US" and value.size <= SMALL:
        return f"not np.array_equal({text}, np.array({value.tolist()!r}))", f"another {text}"
    if isinstance(value, (float, complex, np.number, np.bool)):
        number = number_source(value, strict=False)[0]
        if np.isnan(value):
            return f"not np.array_equal({text}, {number}, equal_nan=True)", f"{text} = {number}"
        return f"{text} != {number}", f"{text} = {number}"
    return None
