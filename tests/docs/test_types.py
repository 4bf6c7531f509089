"""A type checker understands what the transformations return: the parameters are those of the user's function."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "users_script.py"
SOURCE = Path(__file__).parent.parent.parent / "src"
REPORT = re.compile(r"^[^:]+:(\d+): (error|note): (.*)$")
EXPECTED = re.compile(r"# (reveals|refuses): (.*)$")


@pytest.mark.slow
def test_users_script(tmp_path):
    """Each line of the script is accepted, or revealed or refused as its comment says, and nothing else is reported."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    ran = subprocess.run(
        [*command, str(SCRIPT)], capture_output=True, text=True, env={"MYPYPATH": str(SOURCE)}, check=False
    )
    said: dict[int, list[tuple[str, str]]] = {}
    for found in filter(None, map(REPORT.match, ran.stdout.splitlines())):
        said.setdefault(int(found[1]), []).append((found[2], found[3]))
    assert said, ran.stdout + ran.stderr
    for number, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines(), 1):
        texts = [text for kind, text in said.get(number, []) if kind == "error" or "Revealed type" in text]
        expected = EXPECTED.search(line)
        if expected is None:
            assert texts == [], f"line {number}: {line}"
            continue
        assert len(texts) == 1, f"line {number}: {line}"
        wanted = expected[2].strip()
        is_right = texts[0] == f'Revealed type is "{wanted}"' if expected[1] == "reveals" else wanted in texts[0]
        assert is_right, f"line {number}: {texts[0]} instead of {wanted}"
