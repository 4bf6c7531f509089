"""Which variables of its module code reads, and of other modules of the user's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

from ...host.code.reach import codes_in
from ...host.code.uses import readings_in


def globals_read(
    code: CodeType, names: Mapping[str, Any], is_installed: Callable[[str], bool]
) -> Iterator[tuple[str, Any]]:
    """The variables of its module that code reads, and those of other modules of the user's, by the names it uses."""
    found: dict[str, Any] = {}
    for piece in codes_in(code):
        for names_read, is_import in readings_in(piece):
            first = names_read[0]
            if is_import:
                inside = _variables(sys.modules.get(first), is_installed)
                found |= {f"{first}.{each}": inside[each] for each in piece.co_names if each in inside}
            elif first in names:
                found |= _followed(first, names[first], names_read[1:], is_installed)
    yield from found.items()


def _followed(name: str, x: Any, attributes: tuple[str, ...], is_installed: Callable[[str], bool]) -> dict[str, Any]:
    """A variable and, through modules of the user's, what is read of it."""
    found = {name: x}
    for attribute in attributes:
        inside = _variables(x, is_installed)
        if attribute not in inside:
            break
        name, x = f"{name}.{attribute}", inside[attribute]
        found[name] = x
    return found


def _variables(module: Any, is_installed: Callable[[str], bool]) -> Mapping[str, Any]:
    """The variables of a module of the user's; of anything else none."""
    return vars(module) if isinstance(module, ModuleType) and not is_installed(module.__name__) else {}
