"""Making arrays. NumPy gives no hook in `np.array([x, y])`, `np.sum([x, y])` or `np.zeros(3)`, so while a function is
being traced these names stand for versions that know traced values; for everything else they call NumPy's own.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.forking import held_at_fork, in_child
from ..core.traced import CONSTANTS, Traced
from ..core.values import dtype_of, plain, shape_of
from ..ir.capture import is_captured
from ..ops import shape
from . import replacements
from .agreement import asked, instead, is_asked
from .calls import calls
from .hosting import dispatched, is_users
from .registry import FUNCTIONS, ORIGINALS, implements
from .replacements import holds_traced
from .shapes import lengths_of, same_dtype
from .topics import implementation_of
from .views import own_copy

NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in (
        "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "zeros", "ones", "empty", "full",
        "eye", "identity", "sum", "prod", "mean", "max", "min", "std", "var", "median", "amax", "amin",
    )
}  # fmt: skip
"""NumPy's own versions."""


def array(object: Any, dtype: Any = None, *, copy: Any = True, ndmin: int = 0, **kwargs: Any) -> Any:
    """`np.array`, also for nested lists in which traced values stand."""
    x: Any
    if isinstance(object, Traced):
        x = same_dtype(object, dtype)
        if copy is False and x is not object:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        x = own_copy(x) if _is_always(copy) and x is object else x
        if is_captured(x) and not isinstance(plain(x), np.ndarray):
            x = shape.reshape(x, shape=())  # an array without axes, not a number
    elif isinstance(object, (list, tuple)) and holds_traced(object):
        x = same_dtype(joined(object), dtype)
    else:
        made = NUMPY["array"](object, dtype, copy=copy, ndmin=ndmin, **kwargs)
        return _users(made, sys._getframe(1), "array") if _is_always(copy) else made
    missing = ndmin - len(shape_of(x))
    return np.reshape(x, (1,) * missing + shape_of(x)) if missing > 0 else x


def joined(nested: Any) -> Any:
    """Nested lists and tuples, in which traced values stand, as one array."""
    parts = [joined(part) if isinstance(part, (list, tuple)) else part for part in nested]
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


def _converter(name: str) -> Callable[..., Any]:
    original = NUMPY[name]
    smallest = 1 if name in ("ascontiguousarray", "asfortranarray") else 0

    @functools.wraps(original, updated=())
    def convert(a: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, Traced) and a.walk is CONSTANTS and not _is_users(sys._getframe(1)):
            a = a.value
        if isinstance(a, Traced) or (isinstance(a, (list, tuple)) and holds_traced(a)):
            found = array(a, dtype, copy=None, ndmin=smallest)
            if kwargs.get("copy") is False and found is not a:
                raise ValueError("Unable to avoid copy while creating an array as requested.")
            return found if found is not a or not kwargs.get("copy") else own_copy(a)
        return original(a, dtype, *args, **kwargs)

    return convert


def _filler(name: str) -> Callable[..., Any]:
    original = NUMPY[name]

    @functools.wraps(original, updated=())
    def fill(*args: Any, **kwargs: Any) -> Any:
        return _users(original(*args, **kwargs), sys._getframe(1), name)

    return fill


def _taker(name: str) -> Callable[..., Any]:
    """`np.sum([x, y])`: NumPy looks for traced values among the arguments, but not inside lists."""
    original = NUMPY[name]

    @functools.wraps(original, updated=())
    def take(a: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, Traced):
            ours = FUNCTIONS.get(original) or implementation_of(original)
            if a.walk.is_capture and is_users(sys._getframe(1)):
                return dispatched(f"np.{name}", original, ours, (a, *args), kwargs)
            try:
                if kwargs and is_asked(original, (a, *args), kwargs) and is_users(sys._getframe(1)):
                    return asked(original, ours, (a, *args), kwargs)
                return ours(a, *args, **kwargs)  # as NumPy would
            except Exception as error:
                return instead(original, (a, *args), kwargs, error)
        if isinstance(a, (list, tuple)) and holds_traced(a):
            a = joined(a)
        return original(a, *args, **kwargs)

    return take


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **kwargs: Any) -> Any:
    """`np.full`, also with a traced value."""
    if not holds_traced([fill_value]):
        return _users(NUMPY["full"](shape, fill_value, dtype, order, **kwargs), sys._getframe(1), "full")
    value = array(fill_value)
    shape = lengths_of(shape)
    out = np.broadcast_to(value, shape)
    return own_copy(np.astype(out, dtype) if dtype is not None else out)


def _users(made: Any, frame: Any, name: str) -> Any:
    """A new array as the user's function sees it: a handle, so that traced values can be assigned to it later."""
    if type(made) is not np.ndarray or made.dtype.kind not in "fc" or depth() == 0 or not _is_users(frame):
        return made
    return Traced(made, CONSTANTS, None) if calls(frame.f_code, frame.f_lasti, name) else made


def _is_users(frame: Any) -> bool:
    """Whether the caller is the user's code: an installed package may hand the array to compiled code."""
    path = frame.f_code.co_filename
    return "site-packages" not in path and "dist-packages" not in path and not path.startswith(_PACKAGE)


_PACKAGE = __file__.rsplit("/", 2)[0]
_local = threading.local()
_lock = threading.Lock()
_tracing: set[int] = set()
"""The threads that are tracing a function."""
TAKERS = ("sum", "prod", "mean", "max", "min", "amax", "amin", "std", "var", "median")
"""Functions that are often given a list of numbers."""

FILLERS = ("zeros", "ones", "empty", "eye", "identity")
"""Arrays that are made to be filled; grids such as `np.arange` stay plain."""
TRACING: dict[str, Callable[..., Any]] = {
    "array": array,
    **{n: _converter(n) for n in ("asarray", "asanyarray", "ascontiguousarray", "asfortranarray")},
    **{n: _filler(n) for n in FILLERS},
    **{n: _taker(n) for n in TAKERS},
    "full": full,
}
ORIGINALS.update({ours: NUMPY[name] for name, ours in TRACING.items()})


def depth() -> int:
    """How many functions are being traced in this thread, one inside the other."""
    return getattr(_local, "depth", 0)


def enter(outside: int) -> None:
    """A function is about to be traced in this thread, inside `outside` others."""
    _local.depth = outside + 1
    if outside:
        return
    with _lock:
        _tracing.add(threading.get_ident())
        if len(_tracing) == 1:
            np.__dict__.update(TRACING)
            if "scipy" in sys.modules:
                replacements.install()


def leave(outside: int) -> None:
    """It is done; the last one gives NumPy its own functions back. Says what holds now, so it may be said again."""
    _local.depth = outside
    if outside:
        return
    with _lock:
        _tracing.discard(threading.get_ident())
        if not _tracing:
            np.__dict__.update(NUMPY)


def _after_fork() -> None:
    """Forget, in the child, threads of the parent that were tracing."""
    _tracing.intersection_update({threading.get_ident()})
    if not _tracing:
        np.__dict__.update(NUMPY)


held_at_fork(_lock)
in_child(_after_fork)


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
    FUNCTIONS[NUMPY[_name]] = TRACING[_name]


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
    return own_copy(a)
