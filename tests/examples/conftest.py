"""Examples are run as a user runs them, in a folder of their own."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys) -> Callable[..., list[str]]:
    """Run an example with these arguments in an empty folder: the lines that it prints."""

    def run(name: str, *arguments: str) -> list[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run


@pytest.fixture
def example() -> Callable[[str], dict]:
    """The names that an example defines, without running it."""
    return lambda name: runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name=name)
