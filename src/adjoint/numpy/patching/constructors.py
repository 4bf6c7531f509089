"""Making arrays. NumPy gives no hook in `np.array([x, y])` or `np.zeros(3)`, so while a function is being traced these
names stand for versions that know traced values (see `naming`); for everything else they call NumPy's own.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ...core.reverse import ReverseTrace
from ...core.traced import CONSTANTS, LOCAL, Traced, as_buffer
from ...core.types import Params
from ...core.values import LARGE, dtype_of, shape_of
from ...host.frames.callsite import may_be_filled, passes_on
from ...ops import shape
from ..dispatch.arguments import holds_traced, joined, lengths_of, same_dtype
from ..dispatch.foreign import refuse_containers, refuse_masked
from ..dispatch.views import Flat, arrayed, fresh_handle
from . import patched_names as names

NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in (*names.CONVERTERS, *names.FILLERS, *names.GRIDS)
}
"""NumPy's own versions."""


def array(object: Any, dtype: Any = None, *, copy: Any = True, ndmin: int = 0, **kwargs: Any) -> Any:
    """`np.array`, also for nested lists in which traced values stand; plain values stay plain."""
    x: Any
    object = _revealed(object)
    if isinstance(object, Traced):
        x = same_dtype(object, dtype)
        if copy is False and x is not object:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        x = arrayed(fresh_handle(x) if _is_always(copy) and x is object else x)
    elif isinstance(object, (list, tuple)) and holds_traced(object):
        x = same_dtype(joined(object), dtype)
    else:
        return NUMPY["array"](object, dtype, copy=copy, ndmin=ndmin, **kwargs)
    missing = ndmin - len(shape_of(x))
    return np.reshape(x, (1,) * missing + shape_of(x)) if missing > 0 else x


def _revealed(x: Any) -> Any:
    """The handle in what wraps one: `x.flat`, and objects whose `__array__` gives it, which NumPy would refuse."""
    kind = type(x)
    if kind is np.ndarray or isinstance(x, Traced) or kind.__module__ == "builtins":
        return x
    if kind is Flat:
        return x[:]
    if type(getattr(kind, "__array__", None)) is not FunctionType:
        return x
    found = x.__array__()
    return found if isinstance(found, Traced) else x


def _is_always(copy: Any) -> bool:
    """Whether a copy is asked for in any case; NumPy's own `IF_NEEDED`, which SciPy passes, has no truth value."""
    return copy is not np._CopyMode.IF_NEEDED and bool(copy)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **kwargs: Any) -> Any:
    """`np.full`, also with a traced value."""
    if not holds_traced([fill_value]):
        return NUMPY["full"](shape, fill_value, dtype, order, **kwargs)
    out = np.broadcast_to(array(fill_value), lengths_of(shape))
    return fresh_handle(np.astype(out, dtype) if dtype is not None else out)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    """`np.full_like`."""
    target = dtype_of(a) if dtype is None else dtype
    made = full(shape_of(a) if shape is None else shape, fill_value, target)
    return made if isinstance(made, Traced) else Traced(made, CONSTANTS, None)


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """`np.fromiter`, also of traced numbers."""
    items = list(iter if count < 0 else itertools.islice(iter, count))
    if not holds_traced(items):
        return NUMPY["fromiter"](items, dtype, count)
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return array(items, dtype)


def _converter(name: str) -> Callable[..., Any]:
    original = NUMPY[name]
    smallest = 1 if name in ("ascontiguousarray", "asfortranarray") else 0

    def convert(a: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        a = _revealed(a)
        if not isinstance(a, Traced) and not (isinstance(a, (list, tuple)) and holds_traced(a)):
            return original(a, dtype, *args, **kwargs)
        found = array(a, dtype, copy=None, ndmin=smallest)
        if kwargs.get("copy") is False and found is not a:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return found if found is not a or not kwargs.get("copy") else fresh_handle(a)

    return functools.wraps(original, updated=())(convert)


def _without_buffers(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A conversion for code that may hand the array to compiled code: buffers of constants become plain."""

    @functools.wraps(convert, updated=())
    def to_plain(a: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, Traced) and a.traced_by.level:
            refuse_containers(sys._getframe(1), a)
        return convert(a.value if isinstance(a, Traced) and a.traced_by is CONSTANTS else a, *args, **kwargs)

    return to_plain


def _for_libraries(object: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.array` for code of libraries; masked arrays put the array into something of their own."""
    if isinstance(object, Traced) and object.traced_by.level:
        refuse_masked(sys._getframe(1), object)
    return array(object, *args, **kwargs)


class Maker(functools.partial):  # type: ignore[type-arg]
    """A function of NumPy's that gives handles while this thread traces; to everybody else it is NumPy's own."""

    def __new__(cls, name: Any, make: Callable[..., Any]) -> Maker:
        """The version of NumPy's `name` that `make` is, or of a function of another module."""
        self = super().__new__(cls, make)
        functools.update_wrapper(self, NUMPY[name] if isinstance(name, str) else name, updated=())  # type: ignore[arg-type]
        return self

    @property
    def original(self) -> Any:
        """NumPy's own function."""
        return self.__wrapped__  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        return self is other or self.original is other

    def __hash__(self) -> int:
        return hash(self.original)

    def __repr__(self) -> str:
        return repr(self.original)

    def __reduce__(self) -> Any:
        import copy  # seldom needed, so not when the library is imported

        return copy.copy, (self.original,)  # which is the function itself, also where this library is not at hand


def _handles(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **kwargs: Any) -> Any:
        found = make(*args, **kwargs)
        return as_buffer(found) if LOCAL.depth else found

    return made


def _grid(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **kwargs: Any) -> Any:
        found = make(*args, **kwargs)
        is_wanted = LOCAL.depth and (LOCAL.lifted is not None or may_be_filled(sys._getframe(1)))
        return as_buffer(found) if is_wanted else found

    passes_on(made.__code__)
    return made


def _array(object: Any, dtype: Any = None, *, copy: Any = True, **kwargs: Any) -> Any:
    if type(object) is list and dtype is None and copy is True and not kwargs:
        numbers = _of_numbers(object)
        if numbers is not None:
            return numbers
    found = array(object, dtype, copy=copy, **kwargs)
    return as_buffer(found) if LOCAL.depth and _is_always(copy) else found


def _of_numbers(entries: list[Any]) -> Traced | None:
    """`np.array([a, b])` of numbers of one reverse trace and plain ones, the short way; None if it is not that."""
    trace: Any = None
    parents: list[int | None] = []
    values: list[float] = []
    for x in entries:
        node = None
        if type(x) is Traced:
            if x.traced_by is not trace:
                if trace is not None:
                    return None
                trace = x.traced_by
            node, x = x.node, x.value
        if type(x) is not float:
            return None
        parents.append(node)
        values.append(x)
    if type(trace) is not ReverseTrace or len(values) > LARGE:
        return None
    out = NUMPY["array"](values)
    trace.append((shape.stack, parents, values, out, ALONG_FIRST))
    return Traced(out, trace, len(trace) - 1)


ALONG_FIRST: Params = {"axis": -1}
"""The parameters of a stack of numbers."""


def _new(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A conversion in the user's code: what is no array yet becomes a new one, as with `np.array`."""
    is_as_it_is = convert.__name__ in ("asarray", "asanyarray")

    def made(a: Any, *args: Any, **kwargs: Any) -> Any:
        if type(a) is Traced and type(a.traced_by) is ReverseTrace and is_as_it_is and not args and not kwargs:
            return a if type(a.value) is np.ndarray else arrayed(a)
        found = convert(a, *args, **kwargs)
        if isinstance(a, Traced) or not isinstance(a, (list, tuple, float, int)):
            return found
        return as_buffer(found) if LOCAL.depth else found

    return made


def _full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.full_like`, which asks its first argument only whether it is traced."""
    return (full_like if holds_traced([fill_value]) else NUMPY["full_like"])(a, fill_value, *args, **kwargs)


_CONVERSIONS = {n: _converter(n) for n in names.CONVERTERS[1:]}
CONVERTERS: dict[str, Callable[..., Any]] = {
    "array": _for_libraries,
    "full": full,
    **{n: _without_buffers(convert) for n, convert in _CONVERSIONS.items()},
}
"""For code whose arrays have to be plain."""

MAKERS: dict[str, Maker] = {
    "array": Maker("array", _array),
    **{n: Maker(n, _new(convert)) for n, convert in _CONVERSIONS.items()},
    **{n: Maker(n, _handles(NUMPY[n])) for n in names.FILLERS},
    **{n: Maker(n, _grid(NUMPY[n])) for n in names.GRIDS},
    "fromiter": Maker("fromiter", _grid(fromiter)),
    "full": Maker("full", _handles(full)),
    "full_like": Maker("full_like", _handles(_full_like)),
}
"""For the user's code, whose new arrays are handles, so that traced values can be assigned to them later."""
