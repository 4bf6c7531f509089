"""Rooms know no operation by name: what they want to know of one is a fact of its entry."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import adjoint as ad
from adjoint.ops import CATALOGUE

pytest.importorskip("scipy")
pytest.importorskip("llvmlite")
SOURCE = Path(__file__).parent.parent.parent / "src" / "adjoint"
for module in pkgutil.walk_packages(ad.__path__, "adjoint."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
NAMES = frozenset(CATALOGUE)
FEW = 3
"""So many names of operations in one list are a table."""

TABLES = {
    "host/frames/asking.py": "functions of Python's that compare values themselves, for the words of a decision",
    "numpy/dispatch/conversions.py": "functions of math and cmath that have another name in NumPy, for a message",
    "numpy/dispatch/methods.py": "methods and attributes of NumPy's arrays",
    "numpy/numbers/counting.py": "methods and attributes of Python's integers",
}
"""Files with a list of such names: why."""

WORDS = {
    ("compile/code/loop_body.py", "add"): "an instruction",
    ("core/calls/float_warnings.py", "log"): "a word of np.errstate",
    ("diagnosis/report.py", "vanishing"): "what may be wrong with a gradient",
    ("losses/reduction.py", "sum"): "what becomes of the losses of a batch",
    ("numpy/functions/indexing/picking.py", "clip"): "a mode of np.take",
    ("transforms/implicit/interface.py", "argmin"): "what `ad.implicit` solves for",
}
"""Comparisons with a word that is also the name of an operation: what it is."""


def outside() -> list[tuple[str, ast.Module]]:
    """The files of all rooms but that of the catalogue, as trees; estimators know no operation."""
    files = [(f.relative_to(SOURCE).as_posix(), f) for f in sorted(SOURCE.rglob("*.py"))]
    left_out = ("ops/", "learn/")
    return [(name, ast.parse(f.read_text(encoding="utf-8"))) for name, f in files if not name.startswith(left_out)]


def without_exports(tree: ast.Module) -> ast.Module:
    """A file without `__all__`: the public names of a room."""
    tree.body = [s for s in tree.body if not (isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "__all__")]
    return tree


def names_in(nodes: list[ast.expr | None]) -> list[str]:
    """The names of operations among constants."""
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value in NAMES]


def test_no_tables_of_operations():
    """A list, set or dict with names of operations needs a reason; and every reason is needed."""
    found = set()
    for name, tree in outside():
        for node in ast.walk(without_exports(tree)):
            parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            if len(names_in(parts)) >= FEW:
                found.add(name)
    assert found == set(TABLES)


def test_no_operation_is_asked_for_its_name():
    """Comparing a name, as in `primitive.name == "sum"`, is what a fact or the primitive itself is for."""
    found = set()
    for name, tree in outside():
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                sides += [e for side in sides for e in getattr(side, "elts", [])]
                found |= {(name, word) for word in names_in(sides)}
    assert found == set(WORDS)
