"""Lists of traced numbers as arguments of NumPy's functions: `np.dot([x, y], w)`, `np.linalg.norm([x, y])`.

For each function NumPy has a *dispatcher* in Python, which says among which arguments to look for arrays of other
kinds; it does not look inside lists. Here it gets code that does, while a function is traced. The function itself stays
the object that it is, so it does not matter how somebody came by it.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import warnings
from _thread import get_ident
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...host.patches.changes import MISSING, WholeFunction
from ..patching.tracing import THREADS
from .arguments import holds_traced

DISPATCHERS_PATCH = {
    "what": "the dispatchers of NumPy's functions, in Python: they look into lists too, while a function is traced",
    "when": "from then on",
    "why": "`np.dot([x, y], w)`: NumPy looks for arrays of other kinds among the arguments, but not in lists",
    "undone": "`ad.debug.unpatch()`",
}
POINTER = ctypes.sizeof(ctypes.c_void_p)
PLACE = object.__basicsize__ + POINTER
"""Where NumPy keeps three fields of such a function: its attributes, its dispatcher, what it does."""
DISPATCHED = type(np.sum)
"""The type of NumPy's functions that have a dispatcher."""


class Dispatcher:
    """What a dispatcher did before it was replaced, and what it does now."""

    __slots__ = ("are_no_lists", "kinds", "look", "plain", "threads", "tuple", "type")

    def __init__(self, plain: FunctionType) -> None:
        self.plain, self.look, self.threads = plain, look, THREADS
        self.type, self.tuple = type, tuple
        self.kinds, self.are_no_lists = functools.partial(map, type), NO_LISTS.issuperset


def look(relevant: Any) -> Any:
    """The relevant arguments, and a traced value out of their lists if there is one."""
    if type(relevant) is not tuple:
        relevant = tuple(relevant)
    for v in relevant:
        if type(v) not in NO_LISTS and is_list_of_traced(v):
            WITH_LISTS.add(get_ident())
            return (*relevant, first_traced(v))
    return relevant


WITH_LISTS: set[int] = set()
"""Threads in which a call of NumPy's has just been found to have traced values in lists."""
LISTS_MATTER = frozenset((np.block, np.trim_zeros))
"""The one takes lists and tuples for different things, the other gives a part of the list that it gets."""
NO_LISTS = frozenset((Traced, np.ndarray, type(None), float, int, bool, np.float64, type(np._NoValue)))


def is_list_of_traced(x: Any) -> bool:
    """Whether an argument is a list or tuple with traced values in it."""
    return not isinstance(x, Traced) and isinstance(x, (list, tuple)) and holds_traced(x)


def first_traced(values: Iterable[Any]) -> Any:
    """The first traced value in nested lists and tuples."""
    for v in values:
        if isinstance(v, Traced):
            return v
        found = first_traced(v) if isinstance(v, (list, tuple)) else None
        if found is not None:
            return found
    return None


def joined_arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments with arrays instead of lists of traced numbers, where the function takes arrays.

    For `np.dot` that is the list itself, for `np.concatenate` what the list holds: the dispatcher knows.
    """
    WITH_LISTS.discard(get_ident())
    dispatcher = dispatcher_of(function)
    if dispatcher is None or function in LISTS_MATTER:
        return args, kwargs
    from ..patching.constructors import array

    arrays = {id(v): array(v) for v in dispatcher(*args, **kwargs) if is_list_of_traced(v)}

    def put(v: Any) -> Any:
        if id(v) in arrays:
            return arrays[id(v)]
        if isinstance(v, Traced) or not isinstance(v, (list, tuple)):
            return v
        parts = [put(part) for part in v]
        return parts if isinstance(v, list) else tuple(parts)

    return put(args), {name: put(v) for name, v in kwargs.items()}


def dispatcher_of(function: Any) -> FunctionType | None:
    """The dispatcher of a NumPy function, or None if it cannot be found.

    It is kept between two fields of the function's object that can be asked for; that is how its place is known.
    """
    if DISPATCHED.__basicsize__ < PLACE + 3 * POINTER:
        return None
    before, found, after = (ctypes.c_void_p * 3).from_address(id(function) + PLACE)
    if before != id(function.__dict__) or after != id(function._implementation) or not found:
        return None
    dispatcher = ctypes.cast(found, ctypes.py_object).value
    return dispatcher if isinstance(dispatcher, FunctionType) else None


def look_into_lists(functions: Iterable[Any]) -> None:
    """Let the dispatchers of NumPy's functions look into lists."""
    for function in functions:
        dispatcher = dispatcher_of(function) if type(function) is DISPATCHED else None
        if dispatcher is not None and not any([isinstance(c, Dispatcher) for c in dispatcher.__code__.co_consts]):
            _replace_code(dispatcher)


def _replace_code(dispatcher: FunctionType) -> None:
    code, words = dispatcher.__code__, dispatcher.__kwdefaults__
    plain = FunctionType(code, dispatcher.__globals__, dispatcher.__name__, dispatcher.__defaults__)
    plain.__kwdefaults__ = words
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = dispatcher.__defaults__
    if not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        template = _template(code.co_argcount, names[code.co_argcount :])
        template = template.replace(co_varnames=(*names, *template.co_varnames[len(names) :]))
    else:
        template = _call_template()
        defaults = words = None
    constants = [Dispatcher(plain) if c == "dispatcher" else c for c in template.co_consts]
    new = template.replace(
        co_consts=tuple(constants), co_name=code.co_name, co_qualname=code.co_qualname, co_filename=code.co_filename
    )
    shown = vars(dispatcher).get("__wrapped__", MISSING)
    WholeFunction(DISPATCHERS_PATCH, dispatcher, "", (new, defaults, words, shown))


@functools.cache
def _template(count: int, words: tuple[str, ...]) -> CodeType:
    """The code of a dispatcher with a number of arguments, and others by keyword alone."""
    by_place = [f"a{k}" for k in range(count)]
    parameters = [*by_place, "*", *words] if words else by_place
    return _code(", ".join(parameters), ", ".join([*by_place, *[f"{word}={word}" for word in words]]))


@functools.cache
def _call_template() -> CodeType:
    return _code("*args, **kwargs", "*args, **kwargs")


def _code(parameters: str, arguments: str) -> CodeType:
    """The code of a dispatcher; the text in it makes room for its `Dispatcher`, as it has NumPy's global names."""
    call = f'"dispatcher".plain({arguments})'
    has_none = '"dispatcher".are_no_lists("dispatcher".kinds(relevant_))'
    looked = f'relevant_ if "dispatcher".type(relevant_ := {call}) is "dispatcher".tuple and {has_none}'
    body = f'({looked} else "dispatcher".look(relevant_)) if "dispatcher".threads else {call}'
    names = {"__name__": __name__}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # Python wonders at a text that is compared with `is`
        made: Any = eval(f"lambda {parameters}: {body}", names)  # noqa: S307  (put together above, from names alone)
    return made.__code__  # type: ignore[no-any-return]
