"""Which objects can be copied for a recording, and what is behind them."""

from __future__ import annotations

import abc
import dataclasses
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...host.code.reach import is_users_function, names_of, owner_of_class
from ...host.code.uses import compares_objects, has_same_instructions
from ...host.frames.ownership import Owner
from .object_state import MISSING, dict_of, is_among, is_compiled, places_of
from .watch import placed

TELLING = ("__getattribute__", "__del__")
"""Methods that may tell a copy from the object, if a class has its own."""


def can_be_copied(x: object) -> bool:
    """Whether a copy of an object of the user's own class cannot be told from it, but by asking which one it is."""
    kind = type(x)
    if kind is types.SimpleNamespace:
        return True
    if type(kind) not in (type, abc.ABCMeta) or owner_of_class(kind) is not Owner.USER or is_compiled(kind):
        return False
    return all([getattr(kind, name, None) is getattr(object, name, None) for name in TELLING])


def copied(x: Any, held: Callable[[object, str, Any], Any], keep: Callable[[Any], None]) -> dict[str, Any]:
    """Make a copy of such an object, and give it to `keep` while it is empty: attributes may refer to it.

    What stands for each attribute says `held`, given where it is kept. They are returned, as the copy has them.
    """
    made: Any = types.SimpleNamespace() if type(x) is types.SimpleNamespace else object.__new__(type(x))
    keep(made)
    own, new = dict_of(x), dict_of(made)
    if own is not None and new is not None:
        new.update({name: held(own, name, value) for name, value in own.items()})
    for name, place in places_of(type(x)):
        value = placed(place, x)
        if value is not MISSING:
            place.__set__(made, held(x, name, value))
    return attributes_of(made)


def attributes_of(x: object) -> dict[str, Any]:
    """The attributes of an object, in its dict and in places of their own."""
    slots = {name: placed(place, x) for name, place in places_of(type(x))}
    return {**(dict_of(x) or {}), **{name: value for name, value in slots.items() if value is not MISSING}}


def is_named(kind: object) -> bool:
    """Whether a class is a named tuple's, as `collections.namedtuple` makes it."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make")


def is_container(x: object) -> bool:
    """Whether an object is a list, tuple, named tuple or dict and nothing more."""
    kind: Any = type(x)
    if is_among(kind, (list, tuple, dict)):
        return True
    return is_named(kind) and kind.__iter__ is tuple.__iter__ and not dict_of(x)


def asks_which(codes: Iterable[types.CodeType]) -> bool:
    """Whether code asks if two objects are one, other than None and classes."""
    return any(map(_asks_which, codes))


@functools.lru_cache(4096)
def _asks_which(code: types.CodeType) -> bool:
    if _is_dataclasses_eq(code):
        return False
    return compares_objects(code) or any([_asks_which(c) for c in code.co_consts if isinstance(c, types.CodeType)])


def _is_dataclasses_eq(code: types.CodeType) -> bool:
    """Whether code is the `__eq__` that `dataclasses` writes: it asks whether both are one, but only to be quick."""
    if code.co_name != "__eq__" or code.co_filename != "<string>":
        return False
    fields = [name for name in code.co_names if name not in ("__class__", "NotImplemented")]
    like: Any = dataclasses.make_dataclass("Like", fields)
    return has_same_instructions(like.__eq__.__code__, code)


def behind(roots: Iterable[object], is_wanted: Callable[[Any], bool], *, objects: bool) -> dict[int, Any]:
    """Everything from which something wanted is reached, by numbers; through objects with attributes only if asked."""
    met: dict[int, Any] = {}
    holders: dict[int, list[int]] = {}
    stack, rising = list(roots), []
    while stack:
        x = stack.pop()
        if id(x) in met:
            continue
        met[id(x)] = x
        if is_wanted(x):
            rising.append(id(x))
        for part in _parts(x, objects):
            holders.setdefault(id(part), []).append(id(x))
            stack.append(part)
    found = {number: met[number] for number in rising}
    while rising:
        for number in holders.get(rising.pop(), ()):
            if number not in found:
                found[number] = met[number]
                rising.append(number)
    return found


def _parts(x: Any, objects: bool) -> list[Any]:
    """What an object that can be copied holds, with the cells and dicts that hold it."""
    kind = type(x)
    if kind is types.FunctionType:
        return [*(x.__closure__ or ()), x.__kwdefaults__, *parts_of(x)]
    if kind is types.CellType:
        return [_content(x)]
    if kind is types.MethodType:
        return [x.__func__, x.__self__]
    if kind is functools.partial:
        return [x.keywords, vars(x), *parts_of(x)]
    if is_container(x):
        return parts_of(x)
    if not objects or not can_be_copied(x):
        return []
    return [dict_of(x), *attributes_of(x).values()]


def parts_of(x: Any) -> list[Any]:
    """What a function, a partial or a container holds."""
    if type(x) is types.FunctionType:
        cells = [_content(cell) for cell in x.__closure__ or ()]
        names = set() if not is_users_function(x) else names_of(x.__code__)
        used = [x.__globals__[name] for name in names if name in x.__globals__]
        return [*cells, *used, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if type(x) is types.MethodType:
        return [x.__func__]
    if type(x) is functools.partial:
        return [x.func, *x.args, *x.keywords.values()]
    if type(x) is dict:
        return list(x.values())
    return list(x) if is_container(x) else []


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def functions_behind(root: object) -> Iterator[types.FunctionType]:
    """A function, and those that it uses itself or through containers."""
    stack, seen = [root], set()
    while stack:
        x: Any = stack.pop()
        if id(x) not in seen:
            seen.add(id(x))
            stack += parts_of(x)
            if type(x) is types.FunctionType:
                yield x
