"""Before a function is traced: the NumPy face is imported with the first one, so importing the library is cheap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.garbage import Patient


def _prepare_first(fun: Any) -> None:
    global prepare
    with Patient():  # what is imported stays
        from . import naming

        prepare = naming.prepare
        prepare(fun)


prepare: Callable[[Any], None] = _prepare_first
"""Let the names that a function may use know traced values."""
