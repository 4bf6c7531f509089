"""Plain arrays that a traced value is stored into: `v = 2 * y; v[0] = x`, `v = y.copy(); v += x`, whoever made them.

NumPy's arrays have no place for a traced value. But where variables of the functions under way are all that hold an
array, nobody can tell it from a handle with the same elements that these variables hold from then on. That nobody else
holds it is read from the number of references: it has to be what it is in a statement of the same form, run on an array
that is known to be alone (`_Asking`). Views hold their base, so an array that has any is not alone.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np

from ...core.traced import CONSTANTS, Traced
from ...host.frames.ownership import is_ours, owner_of, package_of
from ...host.frames.stores import CLAIMS, Storing, evaluated, store_of, updates
from ...host.frames.variables import HeldAt, held, hold, is_cell, is_parameter, names_holding, set_variables
from ..dispatch import lists
from .redirecting import OWNERS

CLAIMED_PATCH = {
    "what": "variables and attributes that hold a plain array, when a traced value is stored into it and nobody else "
    "holds it: they hold a handle then",
    "when": "while a function is traced",
    "why": "the memory of a plain array has no place for a traced value",
    "undone": "not at all: what the function has stored is there",
}
KINDS = "fciub"
AT_CODE = lists.aware(np.add).at.__code__  # type: ignore[attr-defined]
"""The code of our version of `np.add.at`, which stands between the user's frame and NumPy."""
TABLES = frozenset(("pandas", "polars", "xarray", "awkward", "dask", "pyarrow"))
"""Packages whose code puts arrays into something of its own, and takes them for what they look like."""
Holder = tuple[FrameType, str]
"""A variable of a frame."""


def stored(x: Traced, frame: FrameType) -> bool:
    """Whether a value that a frame stores into a plain array has been stored: into a handle, which takes its place."""
    store = store_of(frame) if _may_hold(frame) else None
    if store is None or not _is_whole(held(frame, store.place)):
        return False
    key = evaluated(frame, store.key)
    if key is NotImplemented or _is_in(x, key):
        return False
    alone = _alone(held(frame, store.place), key, x, store.place, is_cell(frame, store.place.variable))
    holders = _holders(frame, store.place, alone)
    if holders is None:
        return False
    handle = _copied(frame, store.place)
    handle[key] = x  # type: ignore[index]
    _hold(frame, store.place, holders, handle)
    return True


def updated(out: tuple[Any], frame: FrameType) -> Traced | None:
    """A handle for a plain array that a frame updates in place by a traced value; None if somebody else may hold it."""
    update = updates(frame) if _may_hold(frame) else None
    if type(update) is Storing:
        whole = held(frame, update.place)
        is_fresh = type(whole) is np.ndarray and out[0].base is (whole if whole.base is None else whole.base)
        return Traced(out[0].copy(), CONSTANTS, None) if is_fresh else None
    if type(update) is not HeldAt or held(frame, update) is not out[0] or not _is_whole(out[0]):
        return None
    holders = _holders(frame, update, _alone_in_update(is_cell(frame, update.variable)))
    if holders is None:
        return None
    handle = _copied(frame, update)
    _hold(frame, update, holders, handle)
    return handle


def updated_at(inputs: tuple[Any, ...], frame: FrameType) -> Traced | None:
    """A handle for the plain array that a frame gives to `ufunc.at`, which its variable holds from now on; or None."""
    is_direct = frame.f_code is not AT_CODE
    frame = frame if is_direct else frame.f_back  # type: ignore[assignment]
    names = names_holding(frame, inputs[0]) if _may_hold(frame) else []
    if not names or not _is_whole(inputs[0]):
        return None
    holders = _holders(frame, HeldAt(names[0]), _alone_in_at(is_direct, is_cell(frame, names[0])))
    if holders is None:
        return None
    handle = _copied(frame, HeldAt(names[0]))
    _hold(frame, HeldAt(names[0]), holders, handle)
    return handle


def _may_hold(frame: FrameType) -> bool:
    """Whether a frame's arrays may become handles: not those of tables and of libraries, which have their own rules."""
    return owner_of(frame.f_globals) in OWNERS and package_of(frame.f_globals) not in TABLES


def _is_whole(x: Any) -> bool:
    """Whether something is an array of numbers that owns its elements, and may be written to."""
    return type(x) is np.ndarray and x.base is None and x.flags.writeable and x.dtype.kind in KINDS


def _is_in(x: Any, key: Any) -> bool:
    """Whether it is the key, or a part of it, that is asked for its value."""
    return x is key or (isinstance(key, (tuple, list)) and any([_is_in(x, part) for part in key]))


def _copied(frame: FrameType, place: HeldAt) -> Traced:
    return Traced(held(frame, place).copy(order="K"), CONSTANTS, None)


def _hold(frame: FrameType, place: HeldAt, others: Sequence[Holder], handle: Traced) -> None:
    """Let a place, and these variables, hold a handle."""
    hold(frame, place, handle)
    for there, name in others:
        set_variables(there, {name: handle})


def _references(frame: FrameType, place: HeldAt) -> int:
    """How often what a place holds is referred to, while its frame is inside a statement."""
    return sys.getrefcount(held(frame, place))


def _holders(frame: FrameType, place: HeldAt, alone: int) -> list[Holder] | None:
    """The other variables that hold what a place does; None if there is anything else that may.

    `alone` is the number of references if there are none.
    """
    others = _others(frame, place)
    if not others:
        return [] if _references(frame, place) == alone else None
    cells = {name for there, name in [(frame, place.variable), *others] if is_cell(there, name)}
    shared = sum([is_cell(there, name) for there, name in others]) - len(cells) + is_cell(frame, place.variable)
    variables = others if place.attributes else [(frame, place.variable), *others]
    borrowed = sum([is_parameter(*variable) for variable in variables]) if _borrows() else 0
    # with fewer parameters that borrow there may be somebody else for each, so that nothing is known
    expected = alone + (len(others) - borrowed) * _each_variable() - max(shared, 0)
    return others if _references(frame, place) == expected else None


def _others(frame: FrameType, place: HeldAt) -> list[Holder]:
    """The other variables of the functions under way that hold what a place does."""
    array, found = held(frame, place), []
    here: FrameType | None = frame
    while here is not None and not is_ours(here):
        mine = place.variable if here is frame and not place.attributes else None
        found += [(here, name) for name in names_holding(here, array) if name != mine]
        here = here.f_back
    return found


class _Asking(Traced):
    """A value that asks for the number of references when it is stored into an array, as a handle is asked for it."""

    __slots__ = ("found", "place")

    def __init__(self, like: Traced, place: HeldAt) -> None:
        super().__init__(like.value, like.traced_by, like.node)
        self.place = place

    def __float__(self) -> float:
        self.found = _references(sys._getframe(1), self.place)
        return 0.0

    def __complex__(self) -> complex:
        self.found = _references(sys._getframe(1), self.place)
        return 0j

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.found = _references(sys._getframe(1), self.place)
        return np.zeros(self.shape, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        frame: Any = sys._getframe(1)
        self.found = _references(frame.f_back if frame.f_code is AT_CODE else frame, self.place)
        return 0.0


ALONE = HeldAt("array")


def _alone(array: Any, key: Any, x: Traced, place: HeldAt, is_cell: bool) -> int:
    """How often an array like this one is referred to in such a statement, if one place is all that holds it."""
    asking = _Asking(x, HeldAt("holder", ("array",)) if place.attributes else ALONE)
    (_store_behind if place.attributes else _store_shared if is_cell else _store_alone)(array, key, asking)
    return asking.found


def _store_alone(like: Any, key: Any, value: Any) -> None:
    array = np.zeros_like(like)
    array[key] = value


def _store_shared(like: Any, key: Any, value: Any) -> Any:
    array = np.zeros_like(like)
    array[key] = value
    return lambda: array


def _store_behind(like: Any, key: Any, value: Any) -> None:
    holder = SimpleNamespace(array=np.zeros_like(like))
    holder.array[key] = value


@functools.cache
def _alone_in_update(is_cell: bool = False) -> int:
    """The same of an array that is updated by an operator."""
    asking = _Asking(Traced(0.0, CONSTANTS, None), ALONE)
    (_update_shared if is_cell else _update_alone)(asking)
    return asking.found


def _update_alone(value: Any) -> None:
    array: Any = np.zeros(1)
    array += value


def _update_shared(value: Any) -> Any:
    array: Any = np.zeros(1)
    array += value
    return lambda: array


@functools.cache
def _borrows() -> bool:
    """Whether a parameter counts no reference of its own, as from Python 3.14 on where a variable is handed down."""
    asking = _Asking(Traced(0.0, CONSTANTS, None), ALONE)
    given: Any = np.zeros(1)
    _update_given(given, asking)
    return asking.found == _alone_in_update()


def _update_given(array: Any, value: Any) -> None:
    array += value


@functools.cache
def _each_variable() -> int:
    """By how many references more a second variable is told."""
    asking = _Asking(Traced(0.0, CONSTANTS, None), ALONE)
    _update_with_another(asking)
    return asking.found - _alone_in_update()


def _update_with_another(value: Any) -> Any:
    array: Any = np.zeros(1)
    another = array
    array += value
    return another


@functools.cache
def _alone_in_at(is_direct: bool, is_cell: bool) -> int:
    """The same of an array that is given to `ufunc.at`, by itself or through our version of it."""
    asking = _Asking(Traced(0.0, CONSTANTS, None), ALONE)
    update = _update_at_shared if is_cell else _update_at_alone
    update(np.add.at if is_direct else lists.aware(np.add).at, asking)  # type: ignore[attr-defined]
    return asking.found


def _update_at_alone(at: Any, value: Any) -> None:
    array = np.zeros(1)
    at(array, value, 1)


def _update_at_shared(at: Any, value: Any) -> Any:
    array = np.zeros(1)
    at(array, value, 1)
    return lambda: array


CLAIMS.stored, CLAIMS.updated, CLAIMS.updated_at = stored, updated, updated_at
