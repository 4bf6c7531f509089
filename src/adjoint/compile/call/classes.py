"""Classes as machine code sees them: where objects keep attributes, and when an object is nothing more than these.

An object of a class that finds attributes as `object` does is read without running Python code: from the places of its
slots, from the values that CPython keeps without a dict, or else by name. What is asked of a class here holds until the
class is changed, which an entry sees by the class's version.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...capture.environment.generated import generated
from ...host.code.reach import version_of
from .objects import keeps_values, peek, values_address, values_layout
from .signature import ClassIs, Condition, Holds

BY_NAME, IN_SLOTS, IN_VALUES = range(3)
"""Where objects of a class keep their attributes."""


class Places(NamedTuple):
    """Where attributes are: `way` says from where `offsets` are counted; a negative one is for those that have none."""

    way: int
    offsets: tuple[int, ...]


def readable(kind: Any, names: Sequence[str]) -> tuple[str | None, ...] | None:
    """The names under which attributes of an object can be asked for without running Python code, if they can be read.

    None stands for a name under which the class has something that binds itself to the object, and for all names if it
    has a `__getattr__`: such an attribute can be read from its place, but if it is not there, Python code would run.
    """
    if not _finds_as_object_does(kind) or not all([_is_plain(kind, name) for name in names]):
        return None
    if _has(kind, "__getattr__"):
        return (None,) * len(names)
    return tuple([None if _binds(_of_class(kind, name)) else name for name in names])


def _finds_as_object_does(kind: Any) -> bool:
    """Whether an attribute is looked for as in any object, `__getattr__` being asked where there is none.

    CPython has a function of its own for classes with `__getattr__`, so the method is looked for among the bases.
    """
    return not any(["__getattribute__" in vars(base) for base in kind.__mro__ if base is not object])


def is_settable(kind: Any, names: Sequence[str]) -> bool:
    """Whether an object can be made by `object.__new__`, and be given these attributes by `object.__setattr__`."""
    return kind.__new__ is object.__new__ and all([_is_plain(kind, name) for name in names])


def is_plainly_made(kind: Any, names: Sequence[str]) -> bool:
    """Whether calling a dataclass with all of these does nothing but give a new object these attributes."""
    import dataclasses

    if type(kind).__call__ is not type.__call__ or not is_settable(kind, names):
        return False
    fields = dataclasses.fields(kind)
    frozen = kind.__dataclass_params__.frozen
    return (
        [f.name for f in fields] == list(names)
        and all([f.init for f in fields])
        and (frozen or kind.__setattr__ is object.__setattr__)
        and "__init__" in generated(kind)
    )


def guard(kind: type, check: Callable[[], bool]) -> Condition:
    """The condition that a class has not been changed, or that what matters still holds."""
    version = version_of(kind)
    return ClassIs(kind, version, check) if version else Holds(check)


def places_of(kind: type, names: Sequence[str]) -> Places:
    """Where objects of a class that is readable keep these attributes."""
    if _has(kind, "__del__"):  # which would see the object that is tried out
        return Places(BY_NAME, (-1,) * len(names))
    slots = [_slot(kind, name) for name in names]
    if any([slot >= 0 for slot in slots]):
        return Places(IN_SLOTS, tuple(slots))
    if values_layout() and keeps_values(kind):
        return Places(IN_VALUES, tuple(_in_values(kind, names)))
    return Places(BY_NAME, (-1,) * len(names))


def _in_values(kind: type, names: Sequence[str]) -> list[int]:
    """The offset of each attribute: the same for all objects of a class, so one of them is filled and looked at."""
    try:
        probe: Any = object.__new__(kind)
    except TypeError:
        return [-1] * len(names)
    marks = [object() for _ in names]
    for name, mark in zip(names, marks, strict=True):
        object.__setattr__(probe, name, mark)
    at = values_address(probe)
    if not at:
        return [-1] * len(names)
    held = {peek(at + 8 * i): 8 * i for i in range(len(names))}
    return [held.get(id(mark), -1) for mark in marks]


def _slot(kind: type, name: str) -> int:
    """The offset of an attribute that has a slot: looked for in an object that has nothing else."""
    if not isinstance(_of_class(kind, name), types.MemberDescriptorType):
        return -1
    try:
        probe: Any = object.__new__(kind)
    except TypeError:
        return -1
    mark = object()
    object.__setattr__(probe, name, mark)
    places = range(object.__basicsize__, kind.__basicsize__, 8)
    return next((at for at in places if peek(id(probe) + at) == id(mark)), -1)


def _has(kind: type, name: str) -> bool:
    return any([name in vars(base) for base in kind.__mro__])


def _of_class(kind: type, name: str) -> Any:
    """What a class has under a name, as it stands there."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _binds(x: object) -> bool:
    """Whether something of a class's runs code when it is asked for through an object; functions become methods."""
    return hasattr(type(x), "__get__") and not isinstance(x, (types.FunctionType, types.MemberDescriptorType))


def _is_plain(kind: type, name: str) -> bool:
    """Whether an attribute is in its object's dict or slot, whatever the class has under its name."""
    found = _of_class(kind, name)
    if isinstance(found, types.MemberDescriptorType):
        return found.__objclass__ in kind.__mro__
    return not hasattr(type(found), "__set__") and not hasattr(type(found), "__delete__")
