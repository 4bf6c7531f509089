"""What a function uses besides its arguments, as it was: a recording relies on all of it.

Before each run a `Watch` says whether everything is still as it was, and after a recording what the function itself has
changed. What belongs there is found in `looking.py`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...host.code.reach import is_users_function, version_of
from ...ir.bits import Copy
from .object_state import MISSING, Reader, alike, getattr_static, same, still_has

QUICK: list[Callable[[Watch], Callable[[], bool]]] = []
"""What looks at everything faster than Python does, if there is such: a compiler enters it."""


class State(NamedTuple):
    """What an object held, as its reader says."""

    x: Any
    reader: Reader
    was: tuple[Any, ...]
    name: str
    loose: bool
    """Whether it belongs to an object of a package, which may keep caches."""
    growing: bool = False
    """Whether more of it is no change."""


class Watch:
    """The surroundings of a function, as they were when they were looked at.

    Each entry ends with words for it; where there is a truth value behind them, it says whether the entry belongs to an
    object of a package, whose caches may fill while it is used.
    """

    def __init__(self) -> None:
        self.cells: list[tuple[Any, Any, str]] = []
        """Closure cells and their content."""
        self.entries: list[tuple[Mapping[Any, Any], Any, Any, str, bool]] = []
        """Dicts of variables or attributes, keys and values; `MISSING` where there must be none."""
        self.attributes: list[tuple[Any, str, Any, str]] = []
        """Objects, names and what Python keeps there: the code of a function, the dict of an object."""
        self.places: list[tuple[Any, Any, Any, str, bool]] = []
        """Objects, descriptors of attributes that have a place of their own, and values."""
        self.kinds: list[tuple[Any, type]] = []
        """Objects and their classes."""
        self.classes: list[tuple[type, int, tuple[type, ...], list[tuple[Mapping[Any, Any], str, Any, str]]]] = []
        """Classes, the version Python gives them until they are changed, their bases, and what they held."""
        self.states: list[State] = []
        self.met_arrays: list[tuple[np.ndarray, str]] = []
        self.arrays: list[tuple[np.ndarray, Copy, str]] = []
        """Those that have to hold what they held."""
        self.generators: list[tuple[Any, str, str]] = []
        """Random generators and their states."""
        self.reads_state = False
        """Whether the state of a generator may be read without drawing from it: then it counts between calls too."""
        self.unwatchable = ""
        """What cannot be watched, in words; empty if everything can."""
        self.fix = "Pass what it needs as arguments."
        self.meets_packages = False
        """Whether code of installed packages can be reached, which is looked at only where it has run."""
        self.seen: dict[int, Any] = {}
        self._quick: Callable[[], bool] | None = None

    def keep_arrays(self, arrays: list[tuple[np.ndarray, str]], known: Watch | None = None) -> None:
        """From now on these arrays have to hold what they hold; `known` watches some of them already."""
        copies = {id(x): copy for x, copy, _ in known.arrays} if known else {}
        self.arrays = [(x, copies.get(id(x)) or Copy(x), name) for x, name in arrays]

    def is_as_it_was(self) -> bool:
        """Whether nothing has changed, of what is watched now: nothing may be added from then on."""
        if self._quick is None:
            self._quick = QUICK[0](self) if QUICK else lambda: not self.changed() and not self.rewritten()
        return self._quick()

    def changed(self) -> str:
        """What is no longer as it was before a call, in words; empty if everything is."""
        return self.changed_here() or self.changed_in_packages() or (self.drawn_from() if self.reads_state else "")

    def changed_here(self) -> str:
        """What of the user's own is no longer as it was."""
        for cell, was, name in self.cells:
            if not same(content_of(cell), was):
                return f"the captured variable {name!r}"
        for x, attribute, value, name in self.attributes:
            if not same(getattr_static(x, attribute), value):  # texts may be made anew, as names of compiled classes
                return name
        for x, kind in self.kinds:
            if type(x) is not kind:
                return f"the class of a {kind.__name__}"
        for kind, version, bases, held in self.classes:
            if version == 0 or version_of(kind) != version:
                what = changed_in_class(kind, bases, held)
                if what:
                    return what
        return self._changed(loose=False)

    def changed_in_packages(self) -> str:
        """What of objects of packages is no longer as it was: they may have been written to, or have filled a cache."""
        return self._changed(loose=True)

    def _changed(self, *, loose: bool) -> str:
        for owner, key, was, name, belongs in self.entries:
            if belongs is loose and not same(owner.get(key, MISSING), was):
                return name
        for x, place, was, name, belongs in self.places:
            if belongs is loose and not same(placed(place, x), was):
                return name
        for state in self.states:
            if state.loose is loose and not holds_what_it_held(state):
                return f"the captured {type(state.x).__name__}{state.name}"
        return ""

    def drawn_from(self) -> str:
        """Which random generator is no longer in the state it was in; empty if all are."""
        for generator, state, name in self.generators:
            if state_of(generator) != state:
                return f"the captured {type(generator).__name__}{name}"
        return ""

    def rewritten(self) -> str:
        """Which captured array holds other numbers than before; empty if none does."""
        for x, copy, name in self.arrays:
            if not copy.is_like(x):
                return f"the captured array{name} of shape {x.shape}"
        return ""

    def filled(self) -> bool:
        """Whether a cache has more in it than it had, so that a function may not do again what it did."""
        return any([state.growing and not alike(state.reader(state.x), state.was) for state in self.states])

    def functions(self) -> list[types.FunctionType]:
        """The user's own functions among the surroundings."""
        found = [x for x in self.seen.values() if type(x) is types.FunctionType]
        return [f for f in found if is_users_function(f)]

    def knows(self, x: object) -> bool:
        """Whether an object is part of the surroundings."""
        return self.seen.get(id(x)) is x


def holds_what_it_held(state: State) -> bool:
    """Whether an object is read as it was."""
    try:
        now = state.reader(state.x)
    except Exception:  # whatever an object raises that can no longer be read
        return False
    return alike(now, state.was) or (state.growing and still_has(state.x, state.was))


def changed_in_class(kind: type, bases: tuple[type, ...], held: list[Any]) -> str:
    """What of a class is no longer as it was, given that it has been changed; empty if that was something else."""
    if kind.__bases__ is not bases:
        return f"the bases of {kind.__name__}"
    return next((name for owner, key, was, name in held if owner.get(key, MISSING) is not was), "")


def content_of(cell: Any) -> Any:
    """What a closure cell holds."""
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return MISSING


def placed(place: Any, x: Any) -> Any:
    """What an object has in a place of its own."""
    try:
        return place.__get__(x)
    except AttributeError:  # not set
        return MISSING


def state_of(generator: Any) -> str:
    """The state of a random generator, as text."""
    if isinstance(generator, np.random.RandomState):
        return repr(generator.get_state())
    return repr(getattr(generator, "bit_generator", generator).state)
