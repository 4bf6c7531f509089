"""Containers in source: how they are written, how long lines are broken."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

WIDTH = 110
"""Lines are broken here, where they can be."""


class Leaf:
    """The text of a result, in the containers that the user has it in."""

    def __init__(self, text: str) -> None:
        self.text = text


def last_key(path: str) -> str:
    """The key at the end of a way through containers, if it can be the name of a variable."""
    found = re.search(r"(?:\['([A-Za-z]\w*)'\]|\.([A-Za-z]\w*))$", path)
    return (found.group(1) or found.group(2)) if found else ""


def shown(part: Any) -> str:
    """Containers as they are written; a dataclass as a dict of its fields."""
    if isinstance(part, Leaf):
        return part.text
    if dataclasses.is_dataclass(part):
        part = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    if isinstance(part, dict):
        return f"{{{', '.join([f'{key!r}: {shown(inner)}' for key, inner in part.items()])}}}"
    if isinstance(part, tuple):
        return f"({', '.join(map(shown, part))}{',' * (len(part) == 1)})"
    if isinstance(part, list):
        return f"[{', '.join(map(shown, part))}]"
    return repr(part) if isinstance(part, (str, bytes, bool, int, float)) else "None"  # settings of a dataclass stay


def wrapped(line: str) -> list[str]:
    """A line, broken after commas inside brackets if it is too long."""
    indent = line[: len(line) - len(line.lstrip())]
    found = [line]
    while len(found[-1]) > WIDTH:
        last = found[-1]
        cut = _last_comma(last, WIDTH)
        if cut is None:
            break
        found[-1:] = [last[:cut], f"{indent}    {last[cut:].lstrip()}"]
    return found


def _last_comma(line: str, limit: int) -> int | None:
    """Where to break: behind the last comma before the limit, outside of text."""
    quote, found = "", None
    for k, c in enumerate(line[:limit]):
        if quote:
            quote = "" if c == quote and line[k - 1] != "\\" else quote
        elif c in "'\"":
            quote = c
        elif c == "," and k > 8 and line[k + 1 : k + 2] == " ":
            found = k + 1
    return found if found and line[found:].strip() else None
