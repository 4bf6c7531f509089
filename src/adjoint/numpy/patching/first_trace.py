"""Before a function is traced: the NumPy face is imported with the first one, so importing the library is cheap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...host.garbage import GcPaused


def _prepare_first(fun: Any) -> None:
    global prepare
    with GcPaused():  # what is imported stays
        from . import module_properties as naming

        prepare = naming.prepare
        prepare(fun)


prepare: Callable[[Any], None] = _prepare_first
"""Let the names that a function may use know traced values."""
