"""Reading, writing and adding at indices.

A key is split into a `template`, which is fixed, and the index arrays in it, which are arguments: inside vmap they may
differ between examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.entry import moves
from ..core.entry.facts import AN_ARRAY, EMBEDDED, NUMBER, Form
from ..core.entry.moves import Addressed
from ..core.errors import BatchError, message
from ..core.quick.accumulator import Accumulator
from ..core.reverse import Node
from ..core.traced import ARRAY, Traced
from ..core.values import LARGE, Value, describe, dtype_of, fit, shape_of
from ..rules.linear import Linear
from ..rules.residuals import Ghost
from ..rules.stacking import all_batched, one_by_one, padded, repeated
from . import costs
from .declare import CONSTANT, declare
from .keys import HOLE, addresses_of, along_axis, filled, region_of, seen


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


def _read_into(cotangents: list[Any], g: Any, node: Node) -> bool:
    """Add what was read to a sum that is there already, without a whole array for each element."""
    if type(g) is float and len(node[2]) == 1:
        return _read_one_into(cotangents, g, node)
    _, (place, *_), (x, *arrays), _, params = node
    if place is None or (type(x) is not Ghost and type(cotangents[place]) is not Accumulator):
        return False
    if any([isinstance(a, Traced) for a in (g, *arrays)]):
        return False
    g = g.total if type(g) is Accumulator else g
    whole = cotangents[place]
    if whole is None and type(x) is Ghost:
        whole = cotangents[place] = Accumulator(np.zeros(x.shape, x.dtype))
    if type(whole) is not Accumulator:
        return False
    key = filled(params["template"], arrays)
    if _is_unique(arrays):
        whole.total[key] += g
    else:
        _add_at(whole.total, key, g)
    return True


def _read_one_into(cotangents: list[Any], g: float, node: Node) -> bool:
    """`_read_into` for one number, whose array is as short as it likes."""
    place: Any = node[1][0]
    x, key, whole = node[2][0], node[4]["template"], cotangents[place]
    if type(whole) is Accumulator:
        whole.total[key] += g
    elif whole is None and (type(x) is ARRAY or type(x) is Ghost):
        total = np.zeros(x.shape, x.dtype)
        total[key] = g
        cotangents[place] = Accumulator(total)
    elif type(whole) is ARRAY:
        cotangents[place] = whole = Accumulator(whole.copy())
        whole.total[key] += g
    else:
        return False
    return True


def _write_into(cotangents: list[Any], g: Any, node: Node) -> bool:
    """Hand out the cotangent of what was written, and pass the rest of the same array on."""
    _, parents, (_, v, *arrays), _, params = node
    if arrays:
        return False
    kept, written = parents
    if type(g) is not Accumulator:
        if type(g) is not np.ndarray or g.size <= LARGE:
            return False
        g = Accumulator(g.copy())  # once, for all writes to the array
    key = params["template"]
    if written is not None:
        _add(cotangents, written, fit(np.array(g.total[key]), v))
    g.total[key] = 0.0
    if kept is not None:
        _add(cotangents, kept, g)
    return True


def _add(cotangents: list[Any], place: int, c: Any) -> None:
    had = cotangents[place]
    if had is None:
        cotangents[place] = c
    elif type(c) is Accumulator:
        cotangents[place] = c + (had.total if type(had) is Accumulator else had)
    else:
        cotangents[place] = had + c


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


def _not_read(k: int, x: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    """Where an element is left out by a mask, or a choice of places."""
    if k or not arrays:
        return None
    read = index(x, *arrays, template=template)
    return np.equal(unindex(np.ones(shape_of(read)), *arrays, template=template, shape=shape_of(x)), 0)


def _overwritten(k: int, x: Any, v: Any, *arrays: Any, template: tuple[Any, ...]) -> Any:
    """Where an element is overwritten."""
    return None if k else np.not_equal(assign(np.zeros(shape_of(x)), 1.0, *arrays, template=template), 0)


index = declare(
    "index",
    _index,
    Linear(
        lambda g, out, x, *arrays, template: unindex(g, *arrays, template=template, shape=shape_of(x)),
        structural=True,
        in_place=_read_into,
    ),
    stacking=_stack_index,
    fails_from=1,
    moves=moves.View(seen),
    addressed=Addressed(moves.READS, 1, addresses_of),
    leaves_out=_not_read,
    axisless=lambda template: AN_ARRAY if Ellipsis in template else NUMBER,
)
unindex = declare(
    "unindex",
    _unindex,
    Linear(lambda g, out, x, *arrays, template, shape: index(g, *arrays, template=template), structural=True),
    stacking=_stack_unindex,
    fails_from=1,
    moves=moves.Pad(region_of),
    addressed=Addressed(moves.ADDS, 1, addresses_of),
    note="adds at repeated indices",
    axisless=AN_ARRAY,
)
assign = declare(
    "assign",
    _assign,
    Linear(_erased, _read_back, structural=True, in_place=_write_into),
    stacking=_stack_assign,
    fails_from=2,
    moves=moves.Overwrite(region_of),
    addressed=Addressed(moves.WRITES, 2, addresses_of),
    leaves_out=_overwritten,
    note="of several writes to one place the last counts",
    axisless=AN_ARRAY,
)


last_writes = declare(
    "last_writes",
    _last_writes,
    CONSTANT,
    stacking=one_by_one,
    fails_from=0,
    addressed=Addressed(moves.MARKS, 0, addresses_of),
    cost=costs.nothing,
)


def _put_along(g: Value, places: Value, *, axis: int, length: int) -> Value:
    shape = list(np.shape(g))
    shape[axis] = length
    out = np.zeros(shape, dtype_of(g))
    grid = list(np.ogrid[tuple([slice(n) for n in np.shape(places)])])
    grid[axis] = places
    _add_at(out, tuple(grid), g)
    return out


def _not_taken(k: int, x: Any, places: Any, *, axis: int) -> Any:
    """Where an element is not taken."""
    ones = np.ones(shape_of(places))
    return None if k else np.equal(put_along(ones, places, axis=axis, length=shape_of(x)[axis]), 0)


take_along = declare(
    "take_along",
    lambda x, places, *, axis: np.take_along_axis(x, places, axis),
    Linear(
        lambda g, out, x, places, *, axis: put_along(g, places, axis=axis, length=shape_of(x)[axis]),
        structural=True,
    ),
    stacking=all_batched,
    fails_from=1,
    addressed=Addressed(moves.READS, 1, along_axis),
    leaves_out=_not_taken,
    form=Form(source="np.take_along_axis({0}, {1}, {axis})"),
)
put_along = declare(
    "put_along",
    _put_along,
    Linear(lambda g, out, x, places, *, axis, length: take_along(g, places, axis=axis), structural=True),
    stacking=all_batched,
    fails_from=1,
    addressed=Addressed(moves.ADDS, 1, along_axis),
    note="adds at repeated indices",
    form=Form(source=EMBEDDED),
)
