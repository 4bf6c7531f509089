"""The traced values behind functions and containers: in arguments, closures, defaults, attributes, globals by name."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...host.code.reach import owner_of_class
from ...host.frames.ownership import Owner
from ...host.objects.parts import (
    ARGUMENT,
    ATTRIBUTE,
    CONTENT,
    DEFAULT,
    FUNCTION,
    GLOBAL,
    MISSING,
    SELF,
    SLOT,
    WORD,
    Edges,
)
from ...host.objects.walk import Reached

OPAQUE = (type, types.ModuleType, types.BuiltinFunctionType, str, bytes, int, float, complex, np.generic, np.ndarray)
"""What holds nothing, or nothing that is one call's own."""


ATOMS = frozenset((int, float, complex, bool, str, type(None)))
"""Types that hold nothing, so that long lists of numbers cost little."""
CALLABLES = frozenset((types.FunctionType, types.MethodType, functools.partial))
OF_CALLABLES = Edges(CONTENT, FUNCTION, SELF, ARGUMENT, DEFAULT, WORD, GLOBAL)
OF_OBJECTS = Edges(ATTRIBUTE, SLOT)


class Reach:
    """Everything that some objects hold, in any depth: the traced values among it, and the objects they are behind."""

    def __init__(self, root: object) -> None:
        reached = Reached([root], held_by)
        self.objects = reached.objects
        """By their numbers, so that none of them is given to another object meanwhile."""
        self.handles: list[Traced] = [x for x in self.objects.values() if isinstance(x, Traced)]
        self.above = set(reached.above(map(id, self.handles)))
        """The numbers of the objects that a traced value is behind."""


def held_by(x: Any) -> list[Any]:
    """What an object holds that may be a traced value, or have one behind it."""
    kind = type(x)
    if isinstance(x, Traced) or issubclass(kind, OPAQUE):
        return []
    if kind in CALLABLES:
        held = OF_CALLABLES.held(x)
    elif issubclass(kind, dict):
        return [part for part in dict.values(x) if type(part) not in ATOMS]
    elif issubclass(kind, (list, tuple)):
        return [part for part in x if type(part) not in ATOMS]
    elif owner_of_class(kind) is not Owner.OURS or hasattr(x, "fun"):
        held = OF_OBJECTS.held(x)
    else:
        return []
    return [part for part in held if part is not None and part is not MISSING]
