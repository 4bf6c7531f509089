"""SciPy's modules that a function imports itself, while it is traced: they are taught as soon as they are complete."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ...core.traced import LOCAL

FINDER_PATCH = {
    "what": "`sys.meta_path`: a finder stands first, which finds what the others find",
    "when": "from then on",
    "why": "SciPy's modules that a function imports while it is traced have to know traced values",
    "undone": "`ad.debug.unpatch()`",
}
LOADER_PATCH = {
    "what": "the method `exec_module` of the loader of a module of SciPy that a traced function imports",
    "when": "while a function is traced",
    "why": "it is called when the module is imported, so that its end is known",
    "undone": "when the module has been imported",
}


class Imports(threading.local):
    """How many of SciPy's modules are being imported by a thread, one by the other."""

    depth = 0


class Finder:
    """A finder of modules that finds what the others find, and calls back when SciPy's outermost one is complete."""

    def __init__(self, teach: Callable[[ModuleType], None]) -> None:
        self.teach, self.imports = teach, Imports()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """What the import system asks for; nothing if no function is being traced."""
        if not LOCAL.depth or not (name == "scipy" or name.startswith("scipy.")):
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    self._follow(spec.loader)
                return spec
        return None

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def followed(module: ModuleType) -> None:
            from ...capture.environment.randomness import Unwatched  # brings numpy.random, which SciPy imports as well

            self.imports.depth += 1
            try:
                with Unwatched():
                    execute(module)
            finally:
                self.imports.depth -= 1
                if vars(loader).get("exec_module") is followed:
                    del loader.exec_module
            if not self.imports.depth:  # others may be half done, and import each other
                self.teach(module)

        loader.exec_module = followed
