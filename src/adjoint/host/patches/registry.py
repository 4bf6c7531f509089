"""Every kind of change that the library makes outside itself, as the files that make it declare it.

A declaration is a dictionary of texts at the top of a file, whose name ends with `PATCH`: *what* is changed, *when*
(one of `DURATIONS`), *why*, and how it is *undone*. Being a literal, it costs nothing and is read without running the
file. The table in `docs/how-it-works.md` is made of these, and a test holds them against what the source does.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2]
ENDING = "PATCH"
DURATIONS = (
    "while a function is traced",
    "while `jit` records",
    "while a program runs",
    "while a step of training is done",
    "while a command reads a file",
    "from then on",
)
"""How long a change lasts, in the order of the table."""
LASTING = DURATIONS[-1]


class Declaration(NamedTuple):
    """A kind of change: the texts of a declaration, and the file that it stands in."""

    what: str
    when: str
    why: str
    undone: str
    where: str


def declarations() -> list[Declaration]:
    """All of them, the shortest first; those of one duration by the file they stand in."""
    files = sorted(SOURCE.rglob("*.py"))
    entries = [entry for file in files for entry in declared_in(file)]
    return sorted(entries, key=lambda entry: DURATIONS.index(entry.when))


def declared_in(file: Path) -> list[Declaration]:
    """What a file declares."""
    text = file.read_text(encoding="utf-8")
    if ENDING not in text:
        return []
    where = file.relative_to(SOURCE).as_posix()
    return [
        Declaration(**ast.literal_eval(node.value), where=where)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if node.targets[0].id.endswith(ENDING)
    ]
