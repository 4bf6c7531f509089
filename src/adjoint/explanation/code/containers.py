"""Containers in source: how they are written, how long lines are broken."""

from __future__ import annotations

import dataclasses
import io
import re
import tokenize
from typing import Any

WIDTH = 110
"""Lines are broken here, where they can be."""
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


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
    found, start = [], 0
    commas = _commas(line) if len(line) > WIDTH else []
    for k, cut in enumerate(commas):
        end = commas[k + 1] if k + 1 < len(commas) else len(line)
        if end - start + (len(indent) + 4 if start else 0) > WIDTH and line[cut:].strip(" )]}"):
            found.append(line[start:cut])
            start = cut
    found.append(line[start:])
    return [found[0], *[f"{indent}    {part.strip()}" for part in found[1:]]]


def _commas(line: str) -> list[int]:
    """Where a line may go on in the next: behind commas inside brackets, as Python itself reads it."""
    depth, found = 0, []
    for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
        if token.type == tokenize.OP:
            depth += (token.string in OPENING) - (token.string in CLOSING)
            if token.string == "," and depth:
                found.append(token.end[1] + len(line) - len(line.lstrip()))
    return found
