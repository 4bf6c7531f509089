"""Reading and writing at indices, views, and in-place operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import AssignmentError, DerivativeDroppedError, message
from ..core.primitive import Primitive
from ..core.traced import CONSTANTS, Traced, snapshot
from ..core.values import describe, dtype_of, raw, shape_of
from ..ops import indexing
from ..ops.indexing import HOLE
from .operators import OPERATORS
from .registry import as_value

SIMPLE = (int, slice, type(None), type(Ellipsis), np.integer)


class View(Traced):
    """A handle that shares its elements with another, as a NumPy view does.

    It reads its base again when the base has been updated, and an update of the view is an update of the base.
    """

    __slots__ = ("_handle", "_seen", "base", "read", "write")

    def __init__(
        self, base: Traced, read: Callable[[Any], Any], write: Callable[[Any, Any], Any], handle: Traced | None = None
    ) -> None:
        self.base = base
        self.read = read
        self.write = write
        self._handle = handle
        self._seen = base.value if handle is not None else None

    def current(self) -> Traced:
        """The elements as they are now."""
        seen = self.base.value
        if seen is not self._seen:
            found = self.read(snapshot(self.base))
            self._handle = found if isinstance(found, Traced) else Traced(found, CONSTANTS, None)
            self._seen = seen
        return self._handle  # type: ignore[return-value]

    value = property(lambda self: self.current().value)  # type: ignore[assignment]
    walk = property(lambda self: self.current().walk)  # type: ignore[assignment]
    node = property(lambda self: self.current().node)  # type: ignore[assignment]

    def become(self, other: Any) -> None:
        """Write through to the base."""
        self.base.become(self.write(snapshot(self.base), other))


def split_key(key: Any) -> tuple[tuple[Any, ...], list[Any], bool]:
    """A key as template and index arrays, and whether it is basic (so that reading gives a view)."""
    entries = key if type(key) is tuple else (key,)
    template, arrays = [], []
    for entry in entries:
        if type(entry) is slice:
            template.append(_plain_slice(entry))
        elif isinstance(entry, SIMPLE) and type(entry) is not bool:
            template.append(entry)
        else:
            array = entry if isinstance(entry, Traced) else np.asarray(entry)
            array = array.astype(int) if array.dtype.kind == "f" and array.size == 0 else array
            if array.dtype.kind not in "iub":
                raise IndexError("only integers, slices, ellipsis, None and integer or boolean arrays are valid indices")
            template.append(HOLE)
            arrays.append(array)
    return tuple(template), arrays, not arrays


def _plain_slice(s: slice) -> slice:
    if isinstance(s.start, Traced) or isinstance(s.stop, Traced):
        return slice(*[None if p is None else p.__index__() for p in (s.start, s.stop, s.step)])
    return s


def getitem(self: Traced, key: Any) -> Any:
    """`x[key]`."""
    template, arrays, basic = split_key(key)
    found = indexing.index(self, *arrays, template=template)
    if basic and isinstance(found, Traced) and found.shape:
        return View(self, lambda base: indexing.index(base, template=template), _writer(template), found)
    if basic and not isinstance(found, Traced) and isinstance(found, np.ndarray):
        return View(self, lambda base: indexing.index(base, template=template), _writer(template))
    return found


def _writer(template: tuple[Any, ...]) -> Callable[[Any, Any], Any]:
    return lambda base, new: indexing.assign(base, new, template=template)


def setitem(self: Traced, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    value = as_value(value)
    if self.walk is CONSTANTS and not isinstance(value, Traced):
        self.value[key] = value  # nothing recorded holds this array: constants are copied when they are kept
        return
    template, arrays, _ = split_key(key)
    if not isinstance(raw(self), np.ndarray) and not self.walk.lead:
        raise TypeError("a number does not support item assignment")
    _check_cast(self, value)
    self.become(indexing.assign(snapshot(self), snapshot(value), *arrays, template=template))


def _check_cast(target: Any, value: Any) -> None:
    want, have = dtype_of(target), dtype_of(value)
    if have.kind == "c" and want.kind != "c":
        raise AssignmentError(
            message(
                "A complex value cannot be stored into a real array without losing its imaginary part.",
                got=f"{describe(value)} for {describe(target)}",
                fix="Make the array complex, or store  np.real(value).",
            )
        )
    if want.kind in "iub" and have.kind == "f" and isinstance(value, Traced):
        raise AssignmentError(
            message(
                "Storing into an integer array would round the value and lose its derivative.",
                got=f"{describe(value)} for {describe(target)}",
                fix="Make the array with dtype=float.",
            )
        )


def store(target: Any, value: Any) -> Any:
    """Replace all elements of `target` and return it: what `out=` and the in-place operators do."""
    if not isinstance(target, Traced):
        if isinstance(value, Traced):
            raise DerivativeDroppedError(
                message(
                    "A traced value cannot be stored into a plain array without losing its derivative.",
                    got=f"{describe(value)} for a plain {describe(target)}",
                    fix="Make the array with  like=, for example  np.empty(3, like=x).",
                )
            )
        target[...] = value
        return target
    shape = target.shape
    if shape_of(value) != shape:
        if len(shape_of(value)) > len(shape) or np.broadcast_shapes(shape_of(value), shape) != shape:
            raise AssignmentError(
                message(
                    "non-broadcastable output operand: an in-place update cannot change the shape.",
                    got=f"{describe(value)} for {describe(target)}",
                    fix="Write  x = x + y  instead of  x += y.",
                )
            )
        value = np.broadcast_to(value, shape)
    if not np.can_cast(dtype_of(value), dtype_of(target), "same_kind"):
        raise AssignmentError(
            message(
                "An in-place update cannot change the dtype.",
                got=f"{describe(value)} for {describe(target)}",
                fix="Write  x = x + y  instead of  x += y.",
            )
        )
    if dtype_of(value) != target.dtype:
        value = value.astype(target.dtype)
    target.become(value if isinstance(value, Traced) else np.array(value))
    return target


def inplace(operator: str) -> Callable[[Traced, Any], Any]:
    """`x += y`: rebinds a number, updates an array that others may see."""
    plain = OPERATORS[operator]

    def update(self: Traced, other: Any) -> Any:
        result = plain(self, other)
        if result is NotImplemented or self.shape == () or not isinstance(raw(self), np.ndarray):
            return result
        return store(self, result)

    return update


def update_at(primitive: Primitive, ufunc: Any, target: Traced, key: Any, *operand: Any) -> Any:
    """The array after `ufunc.at(target, key, operand)`."""
    template, arrays, _ = split_key(key)
    base = snapshot(target)
    if ufunc in (np.add, np.subtract):
        read = indexing.index(base, *arrays, template=template)
        value = np.broadcast_to(operand[0], shape_of(read)) * np.ones((), dtype_of(target))
        change = indexing.unindex(value, *arrays, template=template, shape=shape_of(target))
        return base + change if ufunc is np.add else base - change
    places = np.arange(np.prod(shape_of(target), dtype=int)).reshape(shape_of(target))
    flat_places = places[indexing.filled(template, arrays)].ravel()
    flat = np.reshape(base, (-1,))
    values = [np.broadcast_to(o, np.shape(places[indexing.filled(template, arrays)])).reshape(-1) for o in operand]
    for i, place in enumerate(flat_places):
        flat = indexing.assign(flat, primitive(flat[int(place)], *[v[i] for v in values]), template=(int(place),))
    return np.reshape(flat, shape_of(target))


Traced.__getitem__ = getitem  # type: ignore[attr-defined]
Traced.__setitem__ = setitem  # type: ignore[attr-defined]
for _name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv", "matmul"):
    setattr(Traced, f"__i{_name}__", inplace(f"__{_name}__"))
