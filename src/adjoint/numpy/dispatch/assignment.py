"""Reading and writing at indices, and in-place operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import AssignmentError, DerivativeDroppedError, message
from ...core.primitive import Primitive
from ...core.reverse import ReverseTrace
from ...core.traced import ARRAY, CONSTANTS, Traced, as_buffer, is_array, is_kept, kind_of, released, snapshot
from ...core.types import Params
from ...core.values import LARGE, concrete, describe, dtype_of, shape_of, spread, spreads
from ...ir.counts import Count
from ...ops import indexing
from ...ops.keys import HOLE, filled
from .arguments import as_value, given
from .conversions import decided, refuse_batch
from .foreign import refuse_subclasses
from .operators import OPERATORS
from .views import ViewHandle, arrayed, fresh_handle, read_only

SIMPLE = (int, slice, type(None), type(Ellipsis), np.integer)
NO_HANDLES = frozenset((int, type(None)))


def split_key(key: Any) -> tuple[tuple[Any, ...], list[Any], bool]:
    """A key as template and index arrays, and whether it is basic (so that reading gives a view)."""
    if type(key) is int:
        return (key,), [], True
    if type(key) is slice:
        return (_plain_slice(key),), [], True
    entries = key if type(key) is tuple else (key,)
    template: list[Any] = []
    arrays: list[Any] = []
    for entry in entries:
        if type(entry) is slice:
            template.append(_plain_slice(entry))
        elif isinstance(entry, SIMPLE) and not isinstance(entry, (bool, Traced)):
            template.append(entry)
        else:
            entry = bool(entry) if isinstance(entry, Count) and isinstance(entry, bool) else entry
            array = entry if isinstance(entry, Traced) else np.asarray(as_value(entry))
            array = array.astype(int) if array.dtype.kind == "f" and array.size == 0 else array
            if array.dtype.kind not in "iub":
                raise IndexError(
                    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
                    "arrays are valid indices"
                )
            template.append(HOLE)
            arrays.append(snapshot(array))
    return tuple(template), arrays, not arrays


def _plain_slice(s: slice) -> slice:
    if NO_HANDLES.issuperset((type(s.start), type(s.stop), type(s.step))):
        return s
    if isinstance(s.start, Traced) or isinstance(s.stop, Traced) or isinstance(s.step, Traced):
        return slice(*[None if p is None else p.__index__() for p in (s.start, s.stop, s.step)])
    return s


def getitem(self: Traced, key: Any) -> Any:
    """`x[key]`."""
    trace = self.traced_by
    if type(key) is int and type(trace) is ReverseTrace and type(self) is Traced and type(self.value) is ARRAY:
        found = _element(trace, self, key)
        if found is not None:
            return found
    if not trace.level and trace is not CONSTANTS:
        return released(self)[key]
    template, arrays, basic = split_key(key)
    if not basic:
        found = indexing.index(self, *arrays, template=template)
        if isinstance(found, Traced) and found.shape and all([_is_integer(a) for a in arrays]):
            return ViewHandle(self, _read, _write, found, (template, *arrays))
        return as_buffer(found) if trace is CONSTANTS else found
    found = trace.process(indexing.index, (self,), {"template": template})
    if isinstance(found, Traced) and (_has_axes(found) or Ellipsis in template):
        return ViewHandle(self, _read, _write, found, (template,))
    if type(found) is ARRAY:
        return ViewHandle(self, _read, _write, None, (template,))
    return found


def _element(trace: ReverseTrace, x: Traced, key: int) -> Traced | None:
    """One number of a vector, the short way; None if it is not that."""
    value: np.ndarray = x.value
    number = value[key]
    if type(number) is not np.float64 or value.size > LARGE:
        return None
    found = float(number)
    trace.has_numpys = True
    trace.append((indexing.index, (x.node,), (value,), found, _at(key)))
    return Traced(found, trace, len(trace) - 1)


@functools.cache
def _at(key: int) -> Params:
    """The parameters of reading at a number, found once, and not to be written to."""
    return {"template": (key,)}


def _has_axes(x: Traced) -> bool:
    value = x.value
    return value.ndim > x.traced_by.lead if type(value) is ARRAY else bool(x.shape)


def _is_integer(x: Any) -> bool:
    """Whether an index is a number, not an array without axes: it leads to a view, as a plain one does."""
    whole = concrete(x)
    return isinstance(whole, (int, np.integer)) and type(whole) is not bool


def _read(base: Any, template: tuple[Any, ...], *arrays: Any) -> Any:
    return indexing.index(base, *arrays, template=template)


def _write(base: Any, new: Any, template: tuple[Any, ...], *arrays: Any) -> Any:
    return indexing.assign(base, new, *arrays, template=template)


def setitem(self: Traced, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    value = snapshot(as_value(value))
    if type(value) is not ARRAY:
        refuse_subclasses((type(value),), self)
    template, arrays, _ = split_key(key)
    if is_kept(self) and not any([isinstance(v, Traced) for v in (value, *arrays)]):
        released(self)[key] = value
        return
    check_writable(self)
    check_cast(self, value)
    if (
        type(self) is Traced
        and self.traced_by is CONSTANTS
        and not any([isinstance(v, Traced) for v in (value, *arrays)])
    ):
        self.value[filled(template, arrays)] = value  # nobody else holds this array: what is kept is a copy
        return
    if _is_batch_of_masks(template, arrays) and len(shape_of(value)) <= len(self.shape) - len(arrays[0].shape):
        wide = np.reshape(arrays[0], arrays[0].shape + (1,) * (len(self.shape) - len(arrays[0].shape)))
        self.become(np.astype(np.where(wide, value, snapshot(self)), self.dtype))
        return
    self.become(indexing.assign(snapshot(self), value, *arrays, template=template))


def _is_batch_of_masks(template: tuple[Any, ...], arrays: list[Any]) -> bool:
    """Whether each example of a batch has its own mask: what is written has no common shape, but the whole has."""
    return template == (HOLE,) and isinstance(arrays[0], Traced) and arrays[0].dtype.kind == "b"


def check_target(target: Any, value: Any) -> None:
    """Refuse to store a value where it would lose its derivative, or where NumPy does not let it be stored."""
    if isinstance(target, Traced):
        check_writable(target)
    elif isinstance(value, Traced) and value.traced_by.level:
        raise DerivativeDroppedError(
            message(
                "A traced value cannot be stored into a plain array without losing its derivative.",
                got=f"{describe(value)} for a plain {describe(target)}",
                fix="Make the array with  like=, for example  np.empty(3, like=x).",
            )
        )


def check_writable(target: Any) -> None:
    """Refuse what NumPy refuses: numbers, and arrays that share elements among themselves or with a constant."""
    if not is_array(target):
        raise TypeError(f"{kind_of(target).__name__!r} object does not support item assignment")
    if not concrete(target).flags.writeable:
        read_only(target, target)


def check_cast(target: Any, value: Any) -> None:
    """Refuse to store a value that the dtype of the array cannot hold."""
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
    check_target(target, value)
    if not isinstance(target, Traced):
        target[...] = snapshot(value)
        return target
    shape, value = target.shape, snapshot(value)
    if shape_of(value) != shape:
        if not spreads(shape_of(value), shape):
            raise AssignmentError(
                message(
                    "non-broadcastable output operand: an in-place update cannot change the shape.",
                    got=f"{describe(value)} for {describe(target)}",
                    fix="Write  x = x + y  instead of  x += y.",
                )
            )
        value = spread(value, shape)
    if not np.can_cast(dtype_of(value), dtype_of(target), "same_kind"):
        raise AssignmentError(
            message(
                "An in-place update cannot change the dtype.",
                got=f"{describe(value)} for {describe(target)}",
                fix="Write  x = x + y  instead of  x += y.",
            )
        )
    if isinstance(value, Traced):
        value = np.astype(value, target.dtype) if dtype_of(value) != target.dtype else value
        target.become(arrayed(fresh_handle(value)))
    else:
        target.become(np.array(value, target.dtype))
    return target


def deliver(result: Any, out: Any) -> Any:
    """Give the result to `out=`, as NumPy does, or return it."""
    if isinstance(out, tuple):
        out = out[0]
    return store(out, result) if given(out) else result


def inplace(operator: str) -> Callable[[Traced, Any], Any]:
    """`x += y`: rebinds a number, updates an array that others may see."""
    plainly = OPERATORS[operator]

    def update(self: Traced, other: Any) -> Any:
        result = plainly(self, other)
        return store(self, result) if result is not NotImplemented and is_array(self) else result

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
    fix = "np.add.at  and  np.subtract.at  can take such ones; else use  np.where."
    for a in arrays:
        refuse_batch(a, f"an index of np.{ufunc.__name__}.at", fix)
    arrays = [decided(a) for a in arrays]  # which of them come twice determines the steps
    everywhere = np.arange(np.prod(shape_of(target), dtype=int)).reshape(shape_of(target))
    chosen = everywhere[filled(template, arrays)]
    places, turns = chosen.ravel(), _turns(chosen.ravel())
    values = [np.reshape(np.broadcast_to(o, chosen.shape), (-1,)) for o in operand]
    flat = np.reshape(base, (-1,))
    for turn in range(int(turns.max(initial=-1)) + 1):
        now = turns == turn
        there = places[now]
        changed = primitive(indexing.index(flat, there, template=(HOLE,)), *[v[now] for v in values])
        flat = indexing.assign(flat, changed, there, template=(HOLE,))
    return np.reshape(flat, shape_of(target))


def _turns(places: Any) -> Any:
    """For each place how often it has come before: places with the same number can be updated together."""
    order = np.argsort(places, kind="stable")
    ranked = places[order]
    turns = np.empty(len(places), int)
    turns[order] = np.arange(len(places)) - np.searchsorted(ranked, ranked)
    return turns


Traced.__getitem__ = getitem  # type: ignore[attr-defined]
Traced.__setitem__ = setitem  # type: ignore[attr-defined]
for _name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv", "matmul", "and", "or", "xor"):
    setattr(Traced, f"__i{_name}__", inplace(f"__{_name}__"))
