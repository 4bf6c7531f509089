"""The generated pages are those that the source gives now."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
script = runpy.run_path(str(ROOT / "scripts" / "generate_docs.py"))
PAGES = script["pages"]()
FUNCTION = re.compile(r"\| `(np|scipy)\.(?:(\w+)\.)?(\w+)` \|")


def committed(name: str) -> list[str]:
    return (ROOT / name).read_text(encoding="utf-8").splitlines()


def exists(row: str) -> bool:
    """Whether the installed NumPy or SciPy has the function of this row; older releases lack a few."""
    match = FUNCTION.match(row)
    if match is None:
        return True
    package, topic, name = match.groups()
    module = script["MODULES"][".".join(filter(None, ["numpy" if package == "np" else package, topic]))]
    return hasattr(module, name)


def test_table_of_operations_is_up_to_date():
    """Every primitive and function has its row. If this fails, run `make docs` and look at what changed."""
    rows = [row for row in committed("docs/ops.md") if row.startswith("| `") and exists(row)]
    assert rows == [row for row in PAGES["docs/ops.md"].splitlines() if row.startswith("| `")]


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"docs/ops.md"}))
def test_generated_page_is_up_to_date(name):
    """Docstrings of exceptions and first sentences of files, word by word. If this fails, run `make docs`."""
    assert committed(name) == PAGES[name].splitlines()
