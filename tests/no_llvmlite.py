"""A plugin for pytest that hides llvmlite: `python -m pytest -p tests.no_llvmlite tests/jit` has no compiler."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any


class _Hidden(MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError(f"No module named {name!r} (hidden by tests.no_llvmlite)", name=name)


sys.meta_path.insert(0, _Hidden())


def pytest_configure(config: Any) -> None:
    """The warning that speed is missing is expected."""
    config.addinivalue_line("filterwarnings", "ignore:ad.jit runs its programs with NumPy:RuntimeWarning")
