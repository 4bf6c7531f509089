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
_usual: Callable[[Any], None] = _prepare_first


def put_back() -> int:
    """Undo what has been changed outside the library for good, until the next function is traced; how many changes."""
    global prepare, _usual
    from ...host.patches import undo  # not needed before

    if prepare is not _prepare_again:
        _usual, prepare = prepare, _prepare_again
    return undo.put_back()


def _prepare_again(fun: Any) -> None:
    global prepare
    from ...host.patches.undo import make_again

    prepare = _usual
    make_again()
    prepare(fun)
