"""Whether there is a compiler here."""

from __future__ import annotations

import functools


@functools.cache
def can_compile() -> bool:
    """Whether programs can become machine code here: with llvmlite, on an interpreter whose calls it knows."""
    try:
        from ..compile.call.objects import is_available
    except ImportError:
        return False
    return is_available()
