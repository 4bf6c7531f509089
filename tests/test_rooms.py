"""The rooms of the source tree: who may import whom, and how large a file may be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "adjoint"
ORDER = [
    "core", "ir", "compile", "rules", "ops", "numpy", "scipy", "random", "rolling", "transforms", "tools",
    "testing", "explanation",
]  # fmt: skip
"""Each room may import itself and those before it."""

OUTSIDE = ["cli"]
"""Rooms that use the public names only, as any other program does: the standing proof that those suffice."""

LONGEST_FILE = 400
LONGEST_ROOM_README = 40

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("numpy/replacements.py", "scipy"): "SciPy's stand-ins are loaded by name once SciPy itself has been imported",
}
"""(file, room it reaches up to): why it has to."""

MODULE = re.compile(r"adjoint(\.\w+)+")
FILES = sorted(SOURCE.rglob("*.py"))


def name_of(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


def rooms_imported(file: Path) -> set[str]:
    """The rooms a file imports from, wherever in the file the import stands; a module's name as a string counts too."""
    package = ["adjoint", *file.relative_to(SOURCE).parent.parts]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            paths = [module] if len(module) > 1 else [[*module, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            paths = [node.value.split(".")]
        else:
            continue
        found |= {path[1] if len(path) > 1 else "" for path in paths if path and path[0] == "adjoint"}
    return found


@pytest.mark.parametrize("file", [f for f in FILES if f.parent != SOURCE], ids=name_of)
def test_imports_go_down(file):
    """core <- rules <- ops <- numpy <- scipy <- transforms <- explanation, also for imports inside functions."""
    room = file.relative_to(SOURCE).parts[0]
    allowed = {room, ""} if room in OUTSIDE else set(ORDER[: ORDER.index(room) + 1])
    reasons = {up for (name, up), reason in EXCEPTIONS.items() if name == name_of(file) and reason}
    assert rooms_imported(file) - reasons <= allowed


def test_exceptions_are_still_needed():
    """An exception that is no longer used is taken off the list."""
    for name, up in EXCEPTIONS:
        assert up in rooms_imported(SOURCE / name)


def test_every_room_is_in_the_order():
    """A new room has to be given its place."""
    assert {f.relative_to(SOURCE).parts[0] for f in FILES if f.parent != SOURCE} <= {*ORDER, *OUTSIDE}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_files_are_short(file):
    """A file is one topic on a few screens."""
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("room", [*ORDER, *OUTSIDE])
def test_every_room_has_a_short_readme(room):
    """What is in the room, and what is not."""
    readme = SOURCE / room / "README.md"
    assert 0 < len(readme.read_text(encoding="utf-8").splitlines()) <= LONGEST_ROOM_README


@pytest.mark.parametrize("room", [*ORDER, *OUTSIDE])
def test_room_readme_names_every_file(room):
    """The list of files in a room's README is complete; `make docs` writes it."""
    text = (SOURCE / room / "README.md").read_text(encoding="utf-8")
    for file in (SOURCE / room).glob("*.py"):
        assert file.name == "__init__.py" or f"`{file.name}`" in text, f"{file.name} is missing: run make docs"
