"""Handles that share their elements with another one, as NumPy's views do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.batch import BatchTrace, EndedBatch
from ...core.errors import AssignmentError, message
from ...core.traced import CONSTANTS, Traced, as_buffer, is_array, is_kept, is_python, released, settled, snapshot
from ...core.values import concrete, describe
from ...ops.shape import astype, reshape

Read = Callable[..., Any]
Write = Callable[..., Any]


class ViewHandle(Traced):
    """A handle that shares its elements with another, as a NumPy view does.

    It reads its base again, `read(base, *key)`, when the base has been updated, and an update of the view is an update
    of the base, `write(base, new, *key)`.
    """

    __slots__ = ("_handle", "_node", "_seen", "base", "key", "read", "root", "write")

    def __init__(self, base: Any, read: Read, write: Write, handle: Any = None, key: tuple[Any, ...] = ()) -> None:
        self.base = base
        self.root = root = base.root if type(base) is ViewHandle else base
        self.read = read
        self.write = write
        self.key = key
        self._handle = handle
        self._seen = None if handle is None else root.value
        self._node = None if handle is None else root.node

    def current(self) -> Traced:
        """The elements as they are now."""
        root = self.root
        if root.value is not self._seen or root.node is not self._node:  # as `_is_stale` says
            self._read_again()
        return self._handle  # type: ignore[return-value]

    value = property(lambda self: self.current().value)  # type: ignore[assignment]
    traced_by = property(lambda self: self.current().traced_by)  # type: ignore[assignment]
    node = property(lambda self: self.current().node)  # type: ignore[assignment]

    def become(self, other: Any) -> None:
        """Write through to the base, and so on to the array that owns the elements."""
        if self.base is self._handle or isinstance(self.traced_by, EndedBatch):
            alone = Traced(None, CONSTANTS, None)
            alone.become(snapshot(other))
            self._be_alone(alone)
            return
        new, target = snapshot(other), self
        while type(target) is ViewHandle:
            new, target = snapshot(target.write(snapshot(target.base), new, *target.key)), target.base  # type: ignore[assignment]
        target.become(new)

    def take_shape(self, shape: tuple[int, ...]) -> None:
        """Show the same elements in another shape from now on; nobody may be a view of this one."""
        before, read, write = self.shape, self.read, self.write
        self.read = lambda base, *key: reshape(read(base, *key), shape=shape)
        self.write = lambda base, new, *key: write(base, reshape(new, shape=before), *key)
        self._handle = self._seen = None

    def release(self) -> Any:
        """The elements, once the trace has ended: of the array that the base has of its own from then on."""
        if is_kept(self.root):
            released(self.root)
        return settled(self.current())

    def _be_alone(self, handle: Traced) -> None:
        """Share elements with nobody: that the base of a batch has one axis more than it shows, its trace knows."""
        self.base = self.root = self._handle = handle
        self._seen, self._node = handle.value, handle.node

    def _is_stale(self) -> bool:
        return self.root.value is not self._seen or self.root.node is not self._node

    def _read_again(self) -> None:
        """Read from the nearest base that is up to date; a loop, as views of views may be thousands deep."""
        trace, handle = self.root.traced_by, self._handle
        again = BatchTrace(trace.size) if isinstance(trace, EndedBatch) else None
        if again is None and handle is not None and isinstance(handle.traced_by, EndedBatch):
            self._be_alone(handle)
            return
        stale: list[ViewHandle] = []
        base: Any = self
        while type(base) is ViewHandle and base._is_stale():
            stale.append(base)
            base = base.base
        plain_trace = trace if is_kept(self.root) else CONSTANTS
        for view in reversed(stale):
            base = snapshot(view.base) if again is None else Traced(view.base.value, again, None)
            found = view.read(base, *view.key)
            view._handle = found if isinstance(found, Traced) else Traced(found, plain_trace, None)
            view._seen, view._node = self.root.value, self.root.node
        if again is not None:
            again.end()


def view_of(base: Any, read: Read, write: Write) -> Any:
    """`read(base)`, which shares its elements with the base wherever NumPy's result does."""
    found = read(base)
    if not isinstance(base, Traced) or found is base:
        return found
    mine, its = concrete(base), concrete(found)
    if type(mine) is np.ndarray and type(its) is np.ndarray and np.may_share_memory(mine, its):
        return ViewHandle(base, read, write, found if isinstance(found, Traced) else None)
    return as_buffer(found) if base.traced_by is CONSTANTS else found


def fresh_handle(x: Any) -> Any:
    """A handle of its own, which later updates of the old one do not reach and which may be written to."""
    if not isinstance(x, Traced):
        return as_buffer(np.array(x))
    found = snapshot(x)
    if not isinstance(found, Traced):
        return Traced(np.array(found), CONSTANTS, None)
    whole = concrete(found)
    if isinstance(whole, np.ndarray) and not whole.flags.writeable:
        return astype(found, dtype=found.dtype)
    return found


def arrayed(x: Any) -> Any:
    """A number as an array without axes, which can be written to; arrays as they are."""
    return x if not isinstance(x, Traced) or is_array(x) else reshape(x, shape=())


def as_method(x: Any) -> Any:
    """What a function of NumPy's calls its method on: numbers of NumPy's have it too, Python's become arrays."""
    return arrayed(x) if isinstance(x, Traced) and is_python(x) else x


def read_only(base: Any, new: Any) -> Any:
    """The `write` of views that NumPy does not let anybody write to."""
    raise AssignmentError(
        message(
            "assignment destination is read-only: NumPy shares its elements and does not let them be changed.",
            got=describe(new),
            fix="Assign to a copy:  y = y.copy().",
        )
    )


class Flat:
    """`x.flat`: the elements in order, an iterator that is also read, written and compared as a line."""

    __slots__ = ("base", "index")

    def __init__(self, base: Traced) -> None:
        self.base, self.index = base, 0

    def __getitem__(self, key: Any) -> Any:
        return fresh_handle(np.reshape(self.base, (-1,))[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        numbers = np.arange(self.base.size)[key]
        if np.ndim(numbers):
            np.put(self.base, numbers, value)
        else:
            np.put(self.base, [numbers], np.reshape(value, (1,)))

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> Any:
        if self.index >= len(self):
            self.index = 0  # as NumPy's, which begins again
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def __len__(self) -> int:
        return math.prod(self.base.shape)

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices of the next element."""
        inner = [math.prod(self.base.shape[k + 1 :]) for k in range(len(self.base.shape))]
        whole = [self.index // n for n in inner]
        return tuple([w if k == 0 else w % self.base.shape[k] for k, w in enumerate(whole)])

    def copy(self) -> Any:
        """All elements, as an array."""
        return self[:]

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_lines(args), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_lines(args), **dict(zip(kwargs, _lines(kwargs.values()), strict=True)))

    def __lt__(self, other: Any) -> Any:
        return self[:] < other

    def __le__(self, other: Any) -> Any:
        return self[:] <= other

    def __gt__(self, other: Any) -> Any:
        return self[:] > other

    def __ge__(self, other: Any) -> Any:
        return self[:] >= other

    def __eq__(self, other: object) -> Any:
        return self[:] == other

    def __ne__(self, other: object) -> Any:
        return self[:] != other

    __hash__ = None  # type: ignore[assignment]  # as NumPy's


def _lines(args: Iterable[Any]) -> list[Any]:
    return [a[:] if isinstance(a, Flat) else a for a in args]
