"""A function as it is recorded: a copy in which the arrays it captures are handles.

What a function does with a captured array (a closure's, a global's, a default's, an attribute's) then becomes part of
the program, where the array is read anew at every run. The user's own functions, objects, cells and modules are not
touched.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...host.code.reach import codes_in, is_users_function, names_of, owner_of_class
from ...host.frames.ownership import Owner
from ...ir.capture import CaptureTrace
from ...ir.program import KINDS
from ...ir.restore import Restore
from ..recording.executed import Executed
from .captured_inputs import CONTENT, Variable, kind_of, numbers_in
from .copying import attributes_of, behind, can_be_copied, copied, is_container
from .object_state import MISSING, dict_of, same
from .redirect_calls import has_versions, redirected

WARNED = "__warningregistry__"
"""Where Python notes which warnings a module has given: nobody computes with it."""


class Clones:
    """The copies made for one recording, of what is behind these roots."""

    def __init__(
        self,
        capture: CaptureTrace,
        roots: Sequence[object],
        *,
        objects: bool = False,
        calls: bool = False,
        variables: dict[tuple[int, Any], Any] | None = None,
    ) -> None:
        self.capture = capture
        self.calls = calls
        """Whether calls of `float` and the like go to versions that take handles."""
        self.variables = variables or {}
        """Handles of captured numbers and arrays that are inputs, by their places."""
        self._owners = frozenset([owner for owner, _ in self.variables])
        self._behind = behind(roots, self._is_wanted, objects=objects)
        """What has to be copied; objects for arrays among their attributes only if asked."""
        if self._owners:
            self._behind.update(behind(roots, self._is_owner, objects=True))
        self._objects: list[tuple[Any, dict[str, Any]]] = []
        self._dicts: list[tuple[Any, dict[str, Any]]] = []
        self._made: dict[int, tuple[Any, Any]] = {}
        self._inputs = [(h, h.value) for handle in self.variables.values() for h in numbers_in(handle)]
        self._handles: list[tuple[Traced, np.ndarray]] = []
        self._cells: list[tuple[types.CellType, Any, str]] = []
        self._containers: list[tuple[Any, list[Any]]] = []
        self._globals: dict[int, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {}

    def of(self, x: Any) -> Any:
        """What stands for an object in the recording: itself, if no captured array is behind it."""
        known = self._made.get(id(x))
        if known is not None:
            return known[1]
        kind = type(x)
        if kind is np.ndarray and x.dtype.kind in KINDS:
            return self._kept(x, self._handle(x))
        if kind is types.FunctionType:
            return self._function(x)
        if kind is types.MethodType:
            return self._kept(x, types.MethodType(self.of(x.__func__), self.of(x.__self__)))
        if kind is functools.partial:
            words = {k: self._held(x.keywords, k, v) for k, v in x.keywords.items()}
            made = functools.partial(self.of(x.func), *map(self.of, x.args), **words)
            vars(made).update({k: self._held(vars(x), k, v) for k, v in vars(x).items()})
            self._dicts.append((made, dict(vars(made))))
            return self._kept(x, made)
        if id(x) in self._behind:
            return self._container(x) if is_container(x) else self._object(x) if can_be_copied(x) else x
        return x

    def place_of(self, variable: Variable) -> Variable | None:
        """Where the copies keep what a variable of the user's holds; None if it was not copied."""
        owner = variable.owner
        for x, made in self._made.values():
            if x is owner:
                return Variable(made, variable.key)
            if dict_of(x) is owner is not None:
                return Variable(dict_of(made), variable.key)
            if type(x) is types.FunctionType and type(owner) is types.CellType and x is not made:
                for old, new in zip(x.__closure__ or (), made.__closure__ or (), strict=True):
                    if old is owner:
                        return Variable(new)
        overlay = self._globals.get(id(owner))
        return None if overlay is None else Variable(overlay[1], variable.key)

    def copied_objects(self) -> list[Any]:
        """The objects that copies were made of."""
        copies = {id(made) for made, _ in self._objects}
        return [x for x, made in self._made.values() if id(made) in copies]

    def _is_wanted(self, x: Any) -> bool:
        """Whether something is an array, or a function that calls what has a version for handles."""
        if type(x) is np.ndarray:
            return True
        return (
            self.calls
            and type(x) is types.FunctionType
            and is_users_function(x)
            and has_versions(x, self.capture.loops is not None)
        )

    def _is_owner(self, x: Any) -> bool:
        is_function = type(x) is types.FunctionType
        return id(x) in self._owners or (is_function and bool({id(x.__globals__), id(x.__dict__)} & self._owners))

    def changed(self) -> str:
        """What the recorded function has changed besides its result, in words; empty if nothing."""
        for handle, array in [*self._handles, *self._inputs]:
            if handle.value is not array:  # written to
                return f"a captured array of shape {np.shape(array)}"
        for cell, was, name in self._cells:
            if cell.cell_contents is not was:
                return f"the captured variable {name!r}"
        for container, was in self._containers:
            now = list(container.items()) if isinstance(container, dict) else list(container)
            flat = [x for pair in now for x in pair] if isinstance(container, dict) else now
            if len(flat) != len(was) or any([a is not b for a, b in zip(flat, was, strict=True)]):
                return f"a captured {type(container).__name__}"
        attributes = [(x, attributes_of(x), held) for x, held in self._objects]
        for x, now, held in [*attributes, *[(x, vars(x), held) for x, held in self._dicts]]:
            if name := _changed_name(now, held):
                return f"the attribute {name!r} of a {type(x).__name__}"
        for _, overlay, start in self._globals.values():
            for name in (overlay.keys() | start.keys()) - {WARNED}:
                now, was = overlay.get(name, self), start.get(name, self)
                if now is not was and not _is_version(now, was):
                    return f"the global variable {name!r}"
        return ""

    def replaced(self) -> list[Variable]:
        """The variables of the user's whose copies hold another number or array than they did."""
        originals = {id(made): x for x, made in self._made.values()}
        places: list[tuple[Any, Any]] = []
        for made, held in self._objects:
            x, now = originals[id(made)], attributes_of(made)
            own = dict_of(x) or {}
            places += [(own if name in own else x, name) for name in held if not same(now.get(name), held[name])]
        for made, held in self._dicts:
            places += [(vars(originals[id(made)]), k) for k in held if not same(vars(made).get(k), held[k])]
        for f, made in self._made.values():
            if type(f) is types.FunctionType and f is not made:
                pairs = zip(f.__closure__ or (), made.__closure__ or (), strict=True)
                cells = {id(new): old for old, new in pairs}
                places += [
                    (cells[id(c)], CONTENT)
                    for c, was, _ in self._cells
                    if id(c) in cells and c.cell_contents is not was
                ]
        for module, overlay, start in self._globals.values():
            places += [(module, name) for name in start if overlay.get(name, self) is not start[name]]
        for container, _ in self._containers:
            x = originals[id(container)]
            places += [(x, key) for key in (x if isinstance(x, dict) else range(len(x)))]
        found = [Variable(owner, key) for owner, key in places]
        return [v for v in found if kind_of(v.read()) is not None]

    def originals(self, executed: Executed | None) -> Executed | None:
        """Code that has run, with the user's own code and global variables instead of copies of them."""
        if executed is None:
            return None
        codes = {
            made: code for f, g in self._made.values() if type(f) is types.FunctionType for made, code in _pairs(g, f)
        }
        modules = {id(overlay): module for module, overlay, _ in self._globals.values()}
        return {codes.get(code, code): modules.get(id(variables), variables) for code, variables in executed.items()}

    def back(self) -> Restore:
        """The way back from the copies."""
        handles = [(array, handle) for handle, array in self._handles]
        modules = [(module, overlay) for module, overlay, _ in self._globals.values()]
        return Restore([*self._made.values(), *handles], modules)

    def _kept(self, x: object, made: object) -> Any:
        self._made[id(x)] = (x, made)  # x itself is kept too, so that its number is not given to another object
        return made

    def _handle(self, x: np.ndarray) -> Traced:
        handle = self.capture.captured(x)
        self._handles.append((handle, x))
        return handle

    def _held(self, owner: object, key: object, value: object) -> Any:
        """What stands for the content of a variable."""
        handle = self.variables.get((id(owner), key)) if self._owners else None
        return self.of(value) if handle is None else handle

    def _set(self, owner: object, key: object, value: object) -> Any:
        """What stands for an attribute of a function: what is no input is as it was."""
        return self.variables.get((id(owner), key), value)

    def _object(self, x: object) -> Any:
        held = copied(x, self._held, lambda made: self._kept(x, made))
        made = self._made[id(x)][1]
        self._objects.append((made, held))
        return made

    def _container(self, x: Any) -> Any:
        if type(x) is dict:
            made: Any = {k: self._held(x, k, v) for k, v in x.items()}
            self._containers.append((made, [part for pair in made.items() for part in pair]))
        else:
            items = [self._held(x, k, v) for k, v in enumerate(x)]
            made = items if type(x) is list else tuple.__new__(type(x), items)
            if type(x) is list:
                self._containers.append((made, list(made)))
        return self._kept(x, made)

    def _function(self, f: types.FunctionType) -> Any:
        """A copy with cells and globals of its own; functions may refer to each other in circles.

        A function that no array is behind stays itself, so that who compares functions finds them the same.
        """
        if id(f) not in self._behind:
            return self._kept(f, f)
        cells = tuple([types.CellType() for _ in f.__closure__ or ()])
        names = set() if not is_users_function(f) else names_of(f.__code__)
        overlay = self._overlay(f.__globals__) if names or id(f.__globals__) in self._owners else f.__globals__
        code, needed = redirected(f) if self.calls and names else (f.__code__, {})
        for name, version in needed.items():
            overlay[name] = self._globals[id(f.__globals__)][2][name] = version
        made = types.FunctionType(code, overlay, f.__name__, None, cells or None)
        self._kept(f, made)
        made.__defaults__ = None if f.__defaults__ is None else tuple(map(self.of, f.__defaults__))
        words = f.__kwdefaults__
        made.__kwdefaults__ = None if words is None else {k: self._held(words, k, v) for k, v in words.items()}
        made.__qualname__, made.__module__, made.__doc__ = f.__qualname__, f.__module__, f.__doc__
        made.__dict__.update({key: self._set(f.__dict__, key, value) for key, value in f.__dict__.items()})
        self._dicts.append((made, dict(made.__dict__)))
        for name, new, old in zip(f.__code__.co_freevars, cells, f.__closure__ or (), strict=True):
            try:
                content = old.cell_contents
            except ValueError:  # not filled yet
                continue
            new.cell_contents = self._held(old, CONTENT, content)
            self._cells.append((new, new.cell_contents, name))
        for name in names:
            if name in f.__globals__:
                new_value = self._held(f.__globals__, name, f.__globals__[name])
                overlay[name] = self._globals[id(f.__globals__)][2][name] = new_value
        return made

    def _overlay(self, module: dict[str, Any]) -> dict[str, Any]:
        known = self._globals.get(id(module))
        if known is None:
            known = self._globals[id(module)] = (module, dict(module), dict(module))
            for (owner, name), handle in self.variables.items():  # also those that are found by text
                if owner == id(module):
                    known[1][name] = known[2][name] = handle
        return known[1]


def _changed_name(now: dict[str, Any], held: dict[str, Any]) -> str:
    """The first attribute that is not what it was; empty if all are."""
    names = sorted(now.keys() | held.keys())
    return next((name for name in names if not same(now.get(name, MISSING), held.get(name, MISSING))), "")


def _is_version(now: object, was: object) -> bool:
    """Whether this library has put its version of a function of NumPy in the place of the function."""
    is_ours = isinstance(now, functools.partial) and owner_of_class(type(now)) is Owner.OURS
    return is_ours and getattr(now, "__wrapped__", None) is was


def _pairs(copy: Any, f: Any) -> list[tuple[types.CodeType, types.CodeType]]:
    """The code of a copy with that of the original, and so for the functions written inside."""
    return list(zip(codes_in(copy.__code__), codes_in(f.__code__), strict=True))


def looks_at_types(functions: Iterable[types.FunctionType]) -> bool:
    """Whether one of these functions mentions the type of arrays: a handle is not one of them."""
    return any([is_users_function(f) and "ndarray" in names_of(f.__code__) for f in functions])


def copies_objects(*roots: object) -> bool:
    """Whether objects would be copied, as arrays are among their attributes."""
    found = behind(roots, lambda x: type(x) is np.ndarray, objects=True)
    return any([type(x) is not np.ndarray and can_be_copied(x) for x in found.values()])
