"""The rooms of the source tree: who may import whom, how large a file may be, and that docs name what exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "adjoint"
ORDER = [
    "host", "core", "ir", "capture", "rules", "ops", "compile", "numpy", "random", "rolling", "transforms", "scipy",
    "tools", "testing", "explanation", "diagnosis",
]  # fmt: skip
"""Each room may import itself and those before it."""

OUTSIDE = ["data", "nn", "losses", "optim", "training", "learn", "cli"]
"""Rooms that use the public names only, those of rooms before them included, as any other program does.

They are the standing proof that these suffice.
"""

LONGEST_FILE = 400
LONGEST_ROOM_README = 40
BUDGETS = {
    "capture": 4400, "cli": 2450, "compile": 15_900, "core": 5700, "data": 1100, "diagnosis": 900,
    "explanation": 7950, "host": 3550, "ir": 3050, "learn": 16_600, "losses": 2350, "nn": 5250, "numpy": 11_600,
    "ops": 7200, "optim": 4100, "random": 1500, "rolling": 1400, "rules": 3000, "scipy": 12_300, "testing": 500,
    "tools": 1000, "training": 4450, "transforms": 16_600,
}  # fmt: skip
"""Lines of each room, in steps of `BUDGET_STEP`: they fall. A feature that needs more raises that of its room."""
BUDGET_STEP = 50

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("numpy/patching/replacements.py", "scipy"): "SciPy's stand-ins are loaded by name once SciPy itself is imported",
    ("learn/export/models.py", "core"): "as of checkpoints, below",
    ("learn/files/models.py", "core"): "likewise",
    ("training/checkpoints/anatomy.py", "host"): "what decides what code does is read from code objects in one room",
    ("training/checkpoints/reading.py", "host"): "likewise",
    ("training/checkpoints/files.py", "core"): "every file is written in the same way, which is nobody's public name",
    ("training/page/writing.py", "core"): "likewise",
    ("learn/reporting/writing.py", "core"): "likewise",
}
"""(file, room it reaches up to): why it has to."""

MODULE = re.compile(r"adjoint(\.\w+)+")
FILES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted({f.parent for f in FILES} - {SOURCE})


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
    """As `ORDER` has it, also for imports inside functions."""
    room = file.relative_to(SOURCE).parts[0]
    outside = (
        {"", "arguments", "notebooks", "typing", *OUTSIDE[: OUTSIDE.index(room) + 1]} if room in OUTSIDE else set()
    )
    allowed = outside or set(ORDER[: ORDER.index(room) + 1])
    reasons = {up for (name, up), reason in EXCEPTIONS.items() if name == name_of(file) and reason}
    assert rooms_imported(file) - reasons <= allowed


READERS = {"dis", "opcode"}
"""Modules that read the instructions of Python code."""
INSIDES = {
    "co_code", "co_exceptiontable", "f_lasti", "f_locals", "PyFrame_LocalsToFast", "stack_effect", "get_instructions",
}  # fmt: skip
"""What frames and code objects tell of instructions and variables."""
DECODED = {"decode", "graph", "stack"}
"""Files of `host/code` that hand out instructions; the others answer questions."""


def insides_of_python(text: str) -> set[str]:
    """What a source reads of code objects and frames: modules, attributes, and names of these in texts."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names} & READERS
        elif isinstance(node, ast.ImportFrom):
            path, names = (node.module or "").split("."), {alias.name for alias in node.names}
            found |= ({path[0]} & READERS) if not node.level else set()
            found |= names & INSIDES
            if "host" in path and "code" in path:
                found |= ({path[-1]} | (names if path[-1] == "code" else set())) & DECODED
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & INSIDES
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {node.value} & INSIDES
    return found


@pytest.mark.parametrize("file", [f for f in FILES if f.relative_to(SOURCE).parts[0] != "host"], ids=name_of)
def test_only_host_looks_into_code_and_frames(file):
    """Everybody else asks `host/code` what code does, and `host/frames` what a frame holds."""
    assert insides_of_python(file.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import dis", {"dis"}),
        ("def f():\n    from opcode import opmap", {"opcode"}),
        ("from ..host.code.decode import instructions", {"decode"}),
        ("from ..host.code import graph", {"graph"}),
        ("from adjoint.host.code.versions import IS_KNOWN", set()),
        ("from .decode import label", set()),
        ("x = frame.f_locals['x']", {"f_locals"}),
        ("getattr(code, 'co_code')", {"co_code"}),
        ("frame.f_globals, code.co_names", set()),
    ],
)
def test_looks_inside_are_found(text, wanted):
    """Imports, wherever they stand, attributes, and their names as texts."""
    assert insides_of_python(text) == wanted


def module_of(file: Path) -> str:
    parts = ["adjoint", *file.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(f): f for f in FILES}


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def modules_imported(name: str) -> set[str]:
    """The modules of the library a module imports, wherever the import stands.

    Imports for type checkers do not count, nor do the exceptions from the order of rooms.
    """
    file = MODULES[name]
    package = name.split(".")[: None if file.name == "__init__.py" else -1]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    conditions = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    for_checkers = {id(n) for condition in conditions for n in ast.walk(condition)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in for_checkers:
            continue
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            inner = {f"{module}.{alias.name}" for alias in node.names}
            found |= {m if m in MODULES else module for m in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            found.add(node.value)
    return {m for m in found & set(MODULES) - {name} if (name_of(file), room_of(m)) not in EXCEPTIONS}


def knots(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan)."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(m: str) -> None:
        number[m] = lowest[m] = len(number)
        stack.append(m)
        for other in sorted(graph[m]):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[m] = min(lowest[m], lowest[other])
        if lowest[m] == number[m]:
            place = stack.index(m)
            if len(stack) > place + 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for m in sorted(graph):
        if m not in number:
            visit(m)
    return found


def test_no_modules_import_each_other():
    """There is an order in which the modules can be read, imports inside functions and names in texts included."""
    found = knots({m: modules_imported(m) for m in MODULES})
    assert found == []


def test_knots_are_found():
    """Two modules that import each other, and three in a circle."""
    graph = {"a": {"b"}, "b": {"a"}, "c": {"a", "d"}, "d": {"e"}, "e": {"c"}, "f": {"a", "c"}}
    assert knots(graph) == [["a", "b"], ["c", "d", "e"]]


HOMONYMS = {
    "Accumulator": "of cotangents; of a loop of machine code",
    "Constant": "a rule; an operand of an instruction; an argument that a call has to repeat",
    "Function": "of machine code; `nn.Function`",
    "Instruction": "of machine code; of Python code",
    "Kernel": "a fact of an entry; a function of machine code for a program",
    "Part": "a program of a loop; a piece of a step of machine code; a share of a batch",
    "Progress": "of `optim.minimize`; of `ad.train`",
    "Result": "of `optim.minimize`; of a call of machine code",
    "Row": "of a table of steps; of a report on a gradient",
    "Rule": "how a step is differentiated; `optim.stop.Rule`",
    "State": "of what is watched; of a training run",
    "Step": "of a program; of a report on a gradient",
}
"""Names that two classes have: what they are."""


def test_classes_have_names_of_their_own():
    """One name, one thing: a class is called as no other one, but for those that nobody takes for each other."""
    found: dict[str, set[str]] = {}
    for file in FILES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, set()).add(name_of(file))
    assert {name: places for name, places in found.items() if len(places) > 1}.keys() == HOMONYMS.keys()


HANDS_ON = {
    "optim/reuse.py": "a room that uses public names only, and there is none for what a function closes over",
    "training/checkpoints/anatomy.py": "likewise; it names slots in what is written to files",
}
"""Files outside `host` that look into cells or slots themselves: why."""


def looked_into(file: Path) -> list[int]:
    """The lines that read or set what a cell holds, or read the slots of a class; not those that declare slots."""
    names = ("cell_contents", "__slots__")
    return [
        node.lineno
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.Constant) and node.value in names)
    ]


@pytest.mark.parametrize("file", [f for f in FILES if not name_of(f).startswith("host/")], ids=name_of)
def test_only_host_looks_into_cells_and_slots(file):
    """What an object holds says `host/objects/parts.py`."""
    assert bool(looked_into(file)) == (name_of(file) in HANDS_ON)


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


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_folders_say_what_is_in_them(folder):
    """In the docstring."""
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("room", [*ORDER, *OUTSIDE])
def test_rooms_keep_to_their_budgets(room):
    """A room has no more lines than it may, and a budget that has become too large is lowered."""
    lines = sum(len(f.read_text(encoding="utf-8").splitlines()) for f in (SOURCE / room).rglob("*.py"))
    assert BUDGETS[room] - 4 * BUDGET_STEP < lines <= BUDGETS[room]


@pytest.mark.parametrize("room", [*ORDER, *OUTSIDE])
def test_every_room_has_a_short_readme(room):
    """What is in the room, and what is not."""
    readme = SOURCE / room / "README.md"
    assert 0 < len(readme.read_text(encoding="utf-8").splitlines()) <= LONGEST_ROOM_README


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_readme_names_every_file(folder):
    """The list of files in a folder's README is complete; `make docs` writes it."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    for file in folder.glob("*.py"):
        assert file.name == "__init__.py" or f"`{file.name}`" in text, f"{file.name} is missing: run make docs"


NAMED = re.compile(r"`((?:[\w.]+/)*\w+\.py)`")
GUIDES = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "how-it-works.md", ROOT / "docs" / "glossary.md"]


@pytest.mark.parametrize("page", [*[f / "README.md" for f in FOLDERS], *GUIDES], ids=lambda p: str(p.relative_to(ROOT)))
def test_files_that_are_named_exist(page):
    """As seen from the README's own folder, from `src/adjoint` or from the top: nobody is sent to what has moved."""
    names = NAMED.findall(page.read_text(encoding="utf-8"))
    seen_from = [page.parent, SOURCE, ROOT]
    assert [name for name in names if not any((place / name).is_file() for place in seen_from)] == []


def test_the_guide_has_the_order_of_rooms():
    """What `CONTRIBUTING.md` says of imports is what holds."""
    assert f"`{' <- '.join(ORDER)}`" in GUIDES[0].read_text(encoding="utf-8")


def test_every_test_says_what_it_tests():
    """In its docstring."""
    silent = [
        f"{file.name}: {node.name}"
        for file in Path(__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert not silent
