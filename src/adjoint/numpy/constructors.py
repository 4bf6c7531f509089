"""Making arrays. NumPy gives no hook in `np.array([x, y])` or `np.zeros(3)`, so while a function is being traced these
names stand for versions that know traced values (see `naming`); for everything else they call NumPy's own.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.callsite import may_be_filled, passes_on
from ..core.reverse import ReverseTrace
from ..core.traced import CONSTANTS, LOCAL, Traced, owned
from ..core.values import dtype_of, plain, shape_of
from ..ir.capture import is_captured
from ..ops import shape
from .foreign import refuse_containers
from .python_numbers import numpys
from .registry import FUNCTIONS, implements
from .replacements import holds_traced
from .shapes import lengths_of, same_dtype
from .views import own_copy

GRIDS = (
    "arange", "linspace", "logspace", "geomspace", "tile", "repeat", "fromiter", "tri", "concatenate", "stack",
    "hstack", "vstack", "column_stack",
)  # fmt: skip
"""Arrays that are seldom written to: they stay plain, and quick, but in functions that store elements."""

FILLERS = (
    "zeros", "ones", "empty", "eye", "identity", "zeros_like", "ones_like", "empty_like", "full_like", "copy",
)  # fmt: skip
"""Arrays that are made to be filled."""

NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "full", *FILLERS, *GRIDS)
}
"""NumPy's own versions."""


def array(object: Any, dtype: Any = None, *, copy: Any = True, ndmin: int = 0, **kwargs: Any) -> Any:
    """`np.array`, also for nested lists in which traced values stand; plain values stay plain."""
    x: Any
    if isinstance(object, Traced):
        x = same_dtype(object, dtype)
        if copy is False and x is not object:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        x = own_copy(x) if _is_always(copy) and x is object else x
        if is_captured(x) and not isinstance(plain(x), np.ndarray):
            x = shape.reshape(x, shape=())  # an array without axes, not a number
        x = numpys(x)
    elif isinstance(object, (list, tuple)) and holds_traced(object):
        x = same_dtype(joined(object), dtype)
    else:
        return NUMPY["array"](object, dtype, copy=copy, ndmin=ndmin, **kwargs)
    missing = ndmin - len(shape_of(x))
    return np.reshape(x, (1,) * missing + shape_of(x)) if missing > 0 else x


def joined(nested: Any) -> Any:
    """Nested lists and tuples, in which traced values stand, as one array."""
    parts = [
        part if isinstance(part, Traced) or not isinstance(part, (list, tuple)) else joined(part) for part in nested
    ]
    if not any([isinstance(part, Traced) for part in parts]):
        return NUMPY["array"](parts)
    if len({shape_of(part) for part in parts}) != 1:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape: "
            f"its parts have the shapes {', '.join(sorted({str(shape_of(part)) for part in parts}))}."
        )
    return shape.stack(*parts, axis=-1 - len(shape_of(parts[0])))


def _is_always(copy: Any) -> bool:
    """Whether a copy is asked for in any case; NumPy's own `IF_NEEDED`, which SciPy passes, has no truth value."""
    return copy is not np._CopyMode.IF_NEEDED and bool(copy)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **kwargs: Any) -> Any:
    """`np.full`, also with a traced value."""
    if not holds_traced([fill_value]):
        return NUMPY["full"](shape, fill_value, dtype, order, **kwargs)
    value = array(fill_value)
    shape = lengths_of(shape)
    out = np.broadcast_to(value, shape)
    return numpys(own_copy(np.astype(out, dtype) if dtype is not None else out))


def _converter(name: str) -> Callable[..., Any]:
    original = NUMPY[name]
    smallest = 1 if name in ("ascontiguousarray", "asfortranarray") else 0

    def convert(a: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(a, Traced) and not (isinstance(a, (list, tuple)) and holds_traced(a)):
            return original(a, dtype, *args, **kwargs)
        found = array(a, dtype, copy=None, ndmin=smallest)
        if kwargs.get("copy") is False and found is not a:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return found if found is not a or not kwargs.get("copy") else own_copy(a)

    return functools.wraps(original, updated=())(convert)


def _without_buffers(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A conversion for code that may hand the array to compiled code: buffers of constants become plain."""

    @functools.wraps(convert, updated=())
    def to_plain(a: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, Traced) and a.walk.level:
            refuse_containers(sys._getframe(1), a)
        return convert(a.value if isinstance(a, Traced) and a.walk is CONSTANTS else a, *args, **kwargs)

    return to_plain


class Maker(functools.partial):  # type: ignore[type-arg]
    """A function of NumPy's that gives handles while this thread traces; to everybody else it is NumPy's own."""

    def __new__(cls, name: str, make: Callable[..., Any]) -> Maker:
        """The version of NumPy's `name` that `make` is."""
        self = super().__new__(cls, make)
        functools.update_wrapper(self, NUMPY[name], updated=())  # type: ignore[arg-type]
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
        return owned(found) if LOCAL.depth else found

    return made


def _grid(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **kwargs: Any) -> Any:
        found = make(*args, **kwargs)
        return owned(found) if LOCAL.depth and may_be_filled(sys._getframe(1)) else found

    passes_on(made.__code__)
    return made


def _array(object: Any, dtype: Any = None, *, copy: Any = True, **kwargs: Any) -> Any:
    found = array(object, dtype, copy=copy, **kwargs)
    return owned(found) if LOCAL.depth and _is_always(copy) else found


def _new(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A conversion in the user's code: what is no array yet becomes a new one, as with `np.array`."""
    is_as_it_is = convert.__name__ in ("asarray", "asanyarray")

    def made(a: Any, *args: Any, **kwargs: Any) -> Any:
        if type(a) is Traced and type(a.walk) is ReverseTrace and is_as_it_is and not args and not kwargs:
            return a if type(a.value) is np.ndarray else numpys(a)
        found = convert(a, *args, **kwargs)
        if isinstance(a, Traced) or not isinstance(a, (list, tuple, float, int)):
            return found
        return owned(found) if LOCAL.depth else found

    return made


def _full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.full_like`, which asks its first argument only whether it is traced."""
    return (full_like if holds_traced([fill_value]) else NUMPY["full_like"])(a, fill_value, *args, **kwargs)


_CONVERSIONS = {n: _converter(n) for n in ("asarray", "asanyarray", "ascontiguousarray", "asfortranarray")}
CONVERTERS: dict[str, Callable[..., Any]] = {
    "array": array,
    "full": full,
    **{n: _without_buffers(convert) for n, convert in _CONVERSIONS.items()},
}
"""For code whose arrays have to be plain."""

MAKERS: dict[str, Maker] = {
    "array": Maker("array", _array),
    "full": Maker("full", _handles(full)),
    **{n: Maker(n, _new(convert)) for n, convert in _CONVERSIONS.items()},
    **{n: Maker(n, _handles(NUMPY[n])) for n in FILLERS},
    **{n: Maker(n, _grid(NUMPY[n])) for n in GRIDS},
    "full_like": Maker("full_like", _handles(_full_like)),
}
"""For the user's code, whose new arrays are handles, so that traced values can be assigned to them later."""


def _buffer(shape: Any, dtype: Any, fill: float | None) -> Traced:
    made = NUMPY["empty"](shape, dtype) if fill is None else NUMPY["full"](shape, fill, dtype)
    return Traced(made, CONSTANTS, None)


def _like(fill: float | None) -> Callable[..., Any]:
    def make(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **kwargs: Any) -> Any:
        return _buffer(shape_of(a) if shape is None else shape, dtype_of(a) if dtype is None else dtype, fill)

    return make


def _made(fill: float | None) -> Callable[..., Any]:
    def make(shape: Any, dtype: Any = None, order: str = "C", **kwargs: Any) -> Any:
        return _buffer(shape, dtype, fill)

    return make


for _function, _like_function, _fill in (
    (NUMPY["zeros"], np.zeros_like, 0.0),
    (NUMPY["ones"], np.ones_like, 1.0),
    (NUMPY["empty"], np.empty_like, None),
):
    FUNCTIONS[_function] = _made(_fill)
    FUNCTIONS[_like_function] = _like(_fill)
FUNCTIONS[NUMPY["full"]] = full
for _name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"):
    FUNCTIONS[NUMPY[_name]] = CONVERTERS[_name]


@implements(np.full_like)
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    """`np.full_like`."""
    target = dtype_of(a) if dtype is None else dtype
    made = full(shape_of(a) if shape is None else shape, fill_value, target)
    return made if isinstance(made, Traced) else Traced(made, CONSTANTS, None)


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """`np.copy`."""
    return array(a) if shape_of(a) == () else own_copy(a)
