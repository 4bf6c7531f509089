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


SCIPY = "docs/scipy-functions.md"


def answers(lines: list[str]) -> dict[str, str]:
    """The rows of the page of SciPy's functions, by topic and name."""
    found, topic = {}, ""
    for line in lines:
        if line.startswith("## "):
            topic = line
        elif line.startswith("| `"):
            found[f"{topic} {line.split(' | ')[0]}"] = line
    return found


def test_every_function_of_scipy_has_an_answer():
    """It differentiates, is constant or is refused; what other releases of SciPy have besides, has one too."""
    now, then = answers(PAGES[SCIPY].splitlines()), answers(committed(SCIPY))
    assert [name for name, row in now.items() if "**missing**" in row] == []
    assert {name: row for name, row in now.items() if name in then} == {n: r for n, r in then.items() if n in now}
    assert len(now.keys() & then.keys()) > 1_300


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"docs/ops.md", SCIPY}))
def test_generated_page_is_up_to_date(name):
    """Docstrings of exceptions and first sentences of files, word by word. If this fails, run `make docs`."""
    assert committed(name) == PAGES[name].splitlines()
