"""The methods and attributes of ndarray on traced values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import raw, shape_of
from ..ops.shape import astype as astype_primitive
from .assignment import View, getitem, store
from .constructors import snapshot_array


def _function(function: Any) -> Callable[..., Any]:
    """A method that is the NumPy function with the array as first argument."""

    def method(self: Traced, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = f"As `np.{function.__name__}`."
    return method


def _view_of(self: Traced, read: Callable[[Any], Any], write: Callable[[Any, Any], Any]) -> Any:
    """A view where NumPy makes a view, else the value."""
    found = read(self)
    mine, its = raw(self), raw(found)
    if isinstance(mine, np.ndarray) and isinstance(its, np.ndarray) and np.may_share_memory(mine, its):
        return View(self, read, write, found if isinstance(found, Traced) else None)
    return found


def reshape(self: Traced, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    """`x.reshape(2, -1)`; a view, as in NumPy."""
    wanted = shape[0] if len(shape) == 1 else shape
    return _view_of(
        self,
        lambda base: np.reshape(base, wanted, order),
        lambda base, new: np.reshape(new, shape_of(base), order),
    )


def transpose(self: Traced, *axes: Any) -> Any:
    """`x.transpose()`, `x.transpose(1, 0)`; a view."""
    wanted = axes[0] if len(axes) == 1 else (axes or None)
    back = None if wanted is None else tuple(np.argsort([a % len(self.shape) for a in wanted]))
    return _view_of(self, lambda base: np.transpose(base, wanted), lambda base, new: np.transpose(new, back))


def swapaxes(self: Traced, first: int, second: int) -> Any:
    """`x.swapaxes(0, 1)`; a view."""
    return _view_of(
        self, lambda base: np.swapaxes(base, first, second), lambda base, new: np.swapaxes(new, first, second)
    )


def squeeze(self: Traced, axis: Any = None) -> Any:
    """`x.squeeze()`; a view."""
    return _view_of(self, lambda base: np.squeeze(base, axis), lambda base, new: np.reshape(new, shape_of(base)))


def ravel(self: Traced, order: str = "C") -> Any:
    """`x.ravel()`; a view if NumPy would give one."""
    return reshape(self, -1, order=order)


def astype(self: Traced, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    """`x.astype(np.float32)`; integers and booleans are constants."""
    dtype = np.dtype(dtype)
    if dtype == self.dtype:
        return snapshot_array(self)
    if dtype.kind in "fc":
        source = np.real(self) if self.dtype.kind == "c" and dtype.kind == "f" else self
        return astype_primitive(source, dtype=dtype)
    return _constant_astype(self, dtype)


def _constant_astype(x: Any, dtype: Any) -> Any:
    if not isinstance(x, Traced):
        return np.asarray(x).astype(dtype)
    if x.walk.lead:
        return Traced(_constant_astype(x.value, dtype), x.walk, None)
    return _constant_astype(x.value, dtype)


def fill(self: Traced, value: Any) -> None:
    """`x.fill(v)`."""
    self[...] = value  # type: ignore[index]


def sort(self: Traced, axis: int = -1, kind: Any = None, order: Any = None, **kwargs: Any) -> None:
    """`x.sort()`, in place."""
    store(self, np.sort(snapshot_array(self), axis))


def put(self: Traced, indices: Any, values: Any, mode: str = "raise") -> None:
    """`x.put(i, v)`, in place."""
    np.put(self, indices, values, mode)


def item(self: Traced, *args: Any) -> Any:
    """`x.item()`: still traced, so nothing is lost."""
    if not args:
        return np.reshape(self, ())
    return getitem(np.reshape(self, (-1,)), args[0]) if len(args) == 1 else getitem(self, args)


def tolist(self: Traced) -> Any:
    """`x.tolist()`: nested lists of traced numbers."""
    return self if self.shape == () else [tolist(part) if isinstance(part, Traced) else part for part in iterate(self)]


def iterate(self: Traced) -> Iterator[Any]:
    """`for row in x`."""
    if self.shape == ():
        raise TypeError("iteration over a 0-d array")
    return iter([getitem(self, i) for i in range(self.shape[0])])


def length(self: Traced) -> int:
    """`len(x)`."""
    if self.shape == ():
        raise TypeError("len() of unsized object")
    return self.shape[0]


def contains(self: Traced, value: Any) -> bool:
    """`v in x`."""
    return bool(np.any(self == value))


class Flat:
    """`x.flat`: the elements in order, for reading, writing and iterating."""

    __slots__ = ("base",)

    def __init__(self, base: Traced) -> None:
        self.base = base

    def _line(self) -> Any:
        return np.reshape(self.base, (-1,))

    def __getitem__(self, key: Any) -> Any:
        return self._line()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        line = snapshot_array(self._line())
        line[key] = value  # type: ignore[index]
        store(self.base, np.reshape(line, self.base.shape))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._line())

    def __len__(self) -> int:
        return int(np.prod(self.base.shape))


def _set_part(part: str) -> Callable[[Traced, Any], None]:
    def write(self: Traced, value: Any) -> None:
        other = 1j * np.imag(self) if part == "real" else np.real(self)
        store(self, value + other if part == "real" else other + 1j * value)

    return write


METHODS: dict[str, Any] = {
    **{
        name: _function(getattr(np, name))
        for name in (
            "sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "argsort", "any", "all", "cumsum",
            "cumprod", "clip", "round", "dot", "trace", "diagonal", "repeat", "take", "compress", "searchsorted",
            "nonzero", "choose", "argpartition", "ptp",
        )
    },
    "__iter__": iterate,
    "__len__": length,
    "__contains__": contains,
    "__copy__": lambda self: snapshot_array(self),
    "__deepcopy__": lambda self, memo: snapshot_array(self),
    "astype": astype,
    "conj": lambda self: np.conjugate(self),
    "conjugate": lambda self: np.conjugate(self),
    "copy": lambda self, order="C": snapshot_array(self),
    "fill": fill,
    "flatten": lambda self, order="C": snapshot_array(np.reshape(self, (-1,), order)),
    "item": item,
    "put": put,
    "ravel": ravel,
    "reshape": reshape,
    "sort": sort,
    "squeeze": squeeze,
    "swapaxes": swapaxes,
    "tolist": tolist,
    "transpose": transpose,
    "T": property(lambda self: transpose(self)),
    "mT": property(lambda self: swapaxes(self, -1, -2)),
    "ndim": property(lambda self: len(self.shape)),
    "size": property(lambda self: int(np.prod(self.shape))),
    "itemsize": property(lambda self: self.dtype.itemsize),
    "nbytes": property(lambda self: self.size * self.dtype.itemsize),
    "flat": property(Flat, lambda self, value: fill_flat(self, value)),
    "real": property(lambda self: np.real(self), _set_part("real")),
    "imag": property(lambda self: np.imag(self), _set_part("imag")),
}


def fill_flat(self: Traced, value: Any) -> None:
    """`x.flat = v`."""
    store(self, np.reshape(np.resize(value, self.size), self.shape))


for _name, _method in METHODS.items():
    setattr(Traced, _name, _method)

