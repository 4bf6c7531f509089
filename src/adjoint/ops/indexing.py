"""Reading, writing and adding at indices.

A key is split into a `template`, which is fixed, and the index arrays in it, which are arguments: inside vmap they may
differ between examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import BatchError, message
from ..core.reverse import is_writable
from ..core.traced import Traced
from ..core.values import Value, describe, dtype_of, fit, shape_of
from ..rules.linear import Linear
from ..rules.stacking import all_batched, one_by_one, padded, repeated
from .declare import CONSTANT, declare


class _Hole:
    """The place of an index array in a template."""

    def __repr__(self) -> str:
        return "<array>"


HOLE: Any = _Hole()


def filled(template: tuple[Any, ...], arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The key: the template with the arrays put back."""
    if not arrays:
        return template
    rest = iter(arrays)
    return tuple([next(rest) if entry is HOLE else entry for entry in template])


def _index(x: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    return (np.asarray(x) if type(x) is float else x)[filled(template, arrays)]


def _unindex(g: Any, *arrays: Any, template: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, dtype_of(g))
    key = filled(template, arrays)
    if _is_unique(arrays):
        out[key] = g
    else:
        _add_at(out, key, g)
    return out


MOST_AXES = 32
"""Arrays with more axes crash NumPy's `add.at`."""


def _add_at(out: Any, key: Any, g: Any) -> None:
    """`np.add.at`, for arrays of any number of axes."""
    if out.ndim > MOST_AXES:
        places = np.arange(out.size).reshape(out.shape)[key]
        lined = out.reshape(-1)
        np.add.at(lined, places.reshape(-1), np.broadcast_to(g, places.shape).reshape(-1))
        out[...] = lined.reshape(out.shape)  # which is itself, unless it was copied
    else:
        np.add.at(out, key, g)


def _is_unique(arrays: Sequence[Any]) -> bool:
    """Whether no element can be addressed twice: slices, numbers and a mask cannot."""
    return not arrays or (len(arrays) == 1 and arrays[0].dtype == bool)


def _assign(x: Any, v: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    out = np.array(x)
    out[filled(template, arrays)] = v
    return out


def _erased(g: Any, out: Any, x: Any, v: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    """What was overwritten contributes nothing."""
    return assign(g, 0.0, *arrays, template=template)


def _read_back(g: Any, out: Any, x: Any, v: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    """The cotangent at the written places; of several writes to one place only the last counts."""
    read = index(g, *arrays, template=template)
    if _is_unique(arrays):
        return read
    return np.where(last_writes(*arrays, template=template, shape=shape_of(g)), read, 0.0)


def _read_into(cotangents: list[Any], parents: Sequence[Any], g: Any, args: Sequence[Any], params: dict) -> bool:
    """Add what was read to a cotangent that is there already, without a whole array for each element."""
    if parents[0] is None:
        return False
    whole: Any = cotangents[parents[0]]
    if not is_writable(whole) or any([isinstance(a, Traced) for a in (g, *args[1:])]):
        return False
    key = filled(params["template"], args[1:])
    if _is_unique(args[1:]):
        whole[key] += g
    else:
        _add_at(whole, key, g)
    return True


def _write_into(cotangents: list[Any], parents: Sequence[Any], g: Any, args: Sequence[Any], params: dict) -> bool:
    """Hand out the cotangent of what was written, and pass the rest of the same array on."""
    if len(args) > 2 or not is_writable(g):
        return False
    key = params["template"]
    if parents[1] is not None:
        _add(cotangents, parents[1], fit(np.array(g[key]), args[1]))
    g[key] = 0.0
    if parents[0] is not None:
        _add(cotangents, parents[0], g)
    return True


def _add(cotangents: list[Any], place: int, c: Any) -> None:
    had = cotangents[place]
    cotangents[place] = c if had is None else had + c


def _last_writes(*arrays: Any, template: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Which of several writes stays, as a mask of what is written."""
    key = filled(template, arrays)
    board = np.zeros(shape, dtype=int)
    read = board[key].shape
    numbers = np.arange(np.prod(read, dtype=int)).reshape(read)
    board[key] = numbers
    return board[key] == numbers


def _stack_key(template: tuple[Any, ...]) -> tuple[Any, ...]:
    return (slice(None), *template)


def _is_scattered(template: tuple[Any, ...]) -> bool:
    """Whether index arrays and numbers stand apart, so that NumPy moves their axes to the front."""
    if HOLE not in template:
        return False
    advanced = [i for i, entry in enumerate(template) if entry is HOLE or isinstance(entry, (int, np.integer))]
    return advanced[-1] - advanced[0] + 1 != len(advanced)


def _stack_index(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    if any(b and dtype_of(v).kind == "b" for v, b in zip(values[1:], batched[1:], strict=True)):
        raise BatchError(
            message(
                "A mask that differs between the examples of a batch selects a different number of elements in each.",
                got=describe(next(v for v, b in zip(values[1:], batched[1:], strict=True) if b)),
                fix="Use  np.where(mask, x, 0.0),  or the keyword  where=mask  of  np.sum  and others.",
            )
        )
    if any(batched[1:]) or _is_scattered(params["template"]):
        return one_by_one(primitive, values, batched, params, size)
    return primitive(*values, **{**params, "template": _stack_key(params["template"])})


def _stack_unindex(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    if any(batched[1:]) or _is_scattered(params["template"]):
        return one_by_one(primitive, values, batched, params, size)
    return primitive(*values, template=_stack_key(params["template"]), shape=(size, *params["shape"]))


def _stack_assign(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    if any(batched[2:]) or _is_scattered(params["template"]):
        return one_by_one(primitive, values, batched, params, size)
    x, v, *arrays = values
    x = x if batched[0] else repeated(x, size)
    key = _stack_key(params["template"])
    if batched[1]:
        rank = len(shape_of(index(x, *arrays, template=key))) - 1
        extra = len(shape_of(v)) - 1 - rank  # NumPy lets a value have more axes than its place, if they have length 1
        v = np.reshape(v, (size, *shape_of(v)[1 + extra :])) if extra > 0 else padded(v, rank)
    return primitive(x, v, *arrays, template=key)


index = declare(
    "index",
    _index,
    Linear(
        lambda g, out, x, *arrays, template: unindex(g, *arrays, template=template, shape=shape_of(x)),
        structural=True,
        pull_into=_read_into,
    ),
    stacking=_stack_index,
    fails_from=1,
)
unindex = declare(
    "unindex",
    _unindex,
    Linear(lambda g, out, x, *arrays, template, shape: index(g, *arrays, template=template), structural=True),
    stacking=_stack_unindex,
    fails_from=1,
    note="adds at repeated indices",
)
assign = declare(
    "assign",
    _assign,
    Linear(_erased, _read_back, structural=True, pull_into=_write_into),
    stacking=_stack_assign,
    fails_from=2,
    note="of several writes to one place the last counts",
)


last_writes = declare("last_writes", _last_writes, CONSTANT, stacking=one_by_one, fails_from=0)


def _put_along(g: Value, places: Value, *, axis: int, length: int) -> Value:
    shape = list(np.shape(g))
    shape[axis] = length
    out = np.zeros(shape, dtype_of(g))
    grid = list(np.ogrid[tuple([slice(n) for n in np.shape(places)])])
    grid[axis] = places
    _add_at(out, tuple(grid), g)
    return out


take_along = declare(
    "take_along",
    lambda x, places, *, axis: np.take_along_axis(x, places, axis),
    Linear(
        lambda g, out, x, places, *, axis: put_along(g, places, axis=axis, length=shape_of(x)[axis]),
        structural=True,
    ),
    stacking=all_batched,
    fails_from=1,
)
put_along = declare(
    "put_along",
    _put_along,
    Linear(lambda g, out, x, places, *, axis, length: take_along(g, places, axis=axis), structural=True),
    stacking=all_batched,
    fails_from=1,
    note="adds at repeated indices",
)
