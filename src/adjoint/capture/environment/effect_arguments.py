"""Names that code reads only to hand them to a call that is made for its effect: `ad.debug.callback(seen.append, x)`.

What is in `seen` says nothing about the result then, so that a recording relies on which list it is, and not on its
items. In doubt a name counts as read.
"""

from __future__ import annotations

import types
from collections.abc import Container
from typing import Any, TypeVar

from ...host.code.handing import cells_in, handings_in, names_besides

F = TypeVar("F")

_takers: list[Any] = []
"""Functions that call their first argument for its effect, after a run."""


def takes_an_effect(function: F) -> F:
    """Decorate a function that calls its first argument for its effect."""
    _takers.append(function)
    return function


def handed_in(code: types.CodeType, variables: dict[str, Any]) -> frozenset[str]:
    """The names of globals, closure variables and attributes that code reads for such calls alone."""
    handings = handings_in(code)
    if not handings:
        return frozenset()
    taken = [handing for handing in handings if any([_found(variables, handing.callee) is t for t in _takers])]
    return frozenset({handing.name for handing in taken}) - names_besides(code, taken)


def read_cells(code: types.CodeType, variables: dict[str, Any], run: Container[Any]) -> set[str]:
    """The closure variables whose content code reads, or that of functions written inside it that have run."""
    made, read = cells_in(code)
    read -= handed_in(code, variables)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType) and inner in run:
            read |= read_cells(inner, variables, run) & made
    return {name for name in code.co_freevars if name in read}


def _found(variables: dict[str, Any], path: tuple[str, ...]) -> Any:
    """What a path of names leads to, through modules alone."""
    x = variables.get(path[0])
    for name in path[1:]:
        if not isinstance(x, types.ModuleType):
            return None
        x = vars(x).get(name)
    return x
