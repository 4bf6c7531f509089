"""What `dataclasses` and `namedtuple` write: methods that do what the fields say, so nothing in them is watched."""

from __future__ import annotations

import collections
import functools
import types
from typing import Any

from ...host.code.uses import does_the_same

_OF_DATACLASSES = frozenset(("__dataclass_fields__", "__dataclass_params__"))
_OF_NAMED_TUPLES = frozenset(("_fields", "_field_defaults", "__orig_bases__"))
"""What such a class says of itself: made with the class, and never changed."""
_METHODS = (
    "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__",
)  # fmt: skip


def generated(kind: Any) -> frozenset[str]:
    """What of a class's own is as `dataclasses` writes it for its fields, or as `namedtuple` does."""
    own = vars(kind)
    if "_fields" in own and kind.__bases__ == (tuple,):
        return _OF_NAMED_TUPLES.union([name for name, value in own.items() if _is_of_named_tuple(kind, value)])
    if "__dataclass_fields__" not in own or "__dataclass_params__" not in own:
        return frozenset()
    import dataclasses

    params = own["__dataclass_params__"]
    forms = tuple([
        (f.name, f.init, f.repr, f.hash, f.compare, f.kw_only,
         f.default is not dataclasses.MISSING, f.default_factory is not dataclasses.MISSING)
        for f in dataclasses.fields(kind)
    ])  # fmt: skip
    return _OF_DATACLASSES.union([
        name for name, code in _written(forms, params.frozen, params.eq, params.order).items()
        if (own_code := _inner(own.get(name))) and does_the_same(own_code, code)
    ])  # fmt: skip


def _is_of_named_tuple(kind: type, value: Any) -> bool:
    function = getattr(value, "__func__", value)  # of a class method
    if type(function) is not types.FunctionType:
        return type(value) is _GETTER
    return function.__code__ in _NAMED_TUPLES or function.__module__ == f"namedtuple_{kind.__name__}"


_GETTER = type(vars(collections.namedtuple("_Like", "field"))["field"])
_NAMED_TUPLES = frozenset([c for c in collections.namedtuple.__code__.co_consts if isinstance(c, types.CodeType)])
"""The code of the methods that all named tuples share."""


def defaults_of(kind: Any) -> list[Any]:
    """What the fields of such a class are where nothing is given, and what makes it."""
    import dataclasses

    if "__dataclass_fields__" not in vars(kind):
        return list(vars(kind)["_field_defaults"].values())
    found = [x for f in dataclasses.fields(kind) for x in (f.default, f.default_factory)]
    return [x for x in found if x is not dataclasses.MISSING]


@functools.lru_cache(1024)
def _written(forms: Any, frozen: bool, eq: bool, order: bool) -> dict[str, types.CodeType]:
    """The code of the methods that are written for such fields."""
    import dataclasses

    fields: list[Any] = []
    for name, init, shown, hashed, compared, by_name, default, factory in forms:
        options: dict[str, Any] = {"init": init, "repr": shown, "hash": hashed, "compare": compared, "kw_only": by_name}
        options |= {"default": None} if default else {"default_factory": list} if factory else {}
        fields.append((name, object, dataclasses.field(**options)))
    like = dataclasses.make_dataclass(
        "Like", fields, frozen=frozen, eq=eq, order=order, unsafe_hash=not eq or not frozen
    )
    found = {name: _inner(vars(like).get(name)) for name in _METHODS}
    return {name: code for name, code in found.items() if code is not None}


def _inner(function: Any) -> types.CodeType | None:
    """The code of a function; of `__repr__`, what is inside the wrapper that stops circles."""
    if type(function) is not types.FunctionType:
        return None
    inner = getattr(function, "__wrapped__", None) if function.__name__ == "__repr__" else None
    return inner.__code__ if type(inner) is types.FunctionType else function.__code__
