"""The README's Python runs, and its links and commands exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

ROOT = Path(__file__).parent.parent.parent
PAGES = (
    "how-it-works", "explain", "tools", "nn", "losses", "data", "optim", "training", "taylor", "sparse", "curvature",
    "health", "ode", "scipy", "learn", "jit",
)  # fmt: skip
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *[ROOT / "docs" / f"{page}.md" for page in PAGES]]
FILES += sorted([*(ROOT / "docs" / "scipy").glob("*.md"), *(ROOT / "docs" / "learn").glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")


def blocks(file: Path) -> list[str]:
    return BLOCK.findall(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_python_blocks_run(file):
    """Blocks with prompts give the output shown, blocks without run; later blocks see the names of earlier ones."""
    names = {"np": np, "ad": ad}
    for block in blocks(file):
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, file.name, str(file), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
            assert runner.failures == 0
        else:
            exec(compile(block, str(file), "exec"), names)


@pytest.mark.parametrize(
    "file", [*FILES, *ROOT.glob("src/adjoint/*/README.md")], ids=lambda f: str(f.relative_to(ROOT))
)
def test_links_lead_somewhere(file):
    """Every relative link is a file or folder."""
    for target in LINK.findall(file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), target


def test_quoted_source_is_the_source():
    """The blocks marked `py` in CONTRIBUTING.md are lines of the library."""
    source = "\n".join([f.read_text(encoding="utf-8") for f in sorted((ROOT / "src").rglob("*.py"))])
    for quoted in QUOTED.findall(FILES[1].read_text(encoding="utf-8")):
        for line in quoted.strip().splitlines():
            assert line in source


def test_commands_exist():
    """What the README tells to type is a target of the Makefile."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for file in FILES:
        assert set(re.findall(r"^    make (\w+)\b", file.read_text(encoding="utf-8"), re.MULTILINE)) <= targets


def test_first_example_is_right():
    """The gradient of the first example agrees with the formula."""
    names: dict = {}
    exec(blocks(FILES[0])[0], names)
    x, f = names["x"], names["f"]
    c = x**2 + np.exp(x**2)
    np.testing.assert_allclose(ad.grad(f)(x), (0.5 / np.sqrt(c) - np.sin(c)) * (1 + np.exp(x**2)) * 2 * x)
