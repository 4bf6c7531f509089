"""Named tuples, made several times as quickly as by `typing`, which compiles every annotation: for `import adjoint`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


class _Making(type):
    """Makes a named tuple of the fields that the body of a class annotates; methods and docstring stay."""

    def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(meta, name, bases, body)
        fields = body.pop("__annotations__", {})
        defaults = [body.pop(field) for field in fields if field in body]
        made = namedtuple(name, fields, defaults=defaults, module=body.pop("__module__"))  # type: ignore[misc]
        made.__annotations__ = fields
        for key, value in body.items():
            setattr(made, key, value)
        return made


class NamedTuple(metaclass=_Making):
    """What `typing.NamedTuple` is; type checkers are shown that one."""
