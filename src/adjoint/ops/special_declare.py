"""How a universal function with several results is entered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.primitive import Primitive
from ..rules.several import Partials, Several
from ..rules.stacking import aligned
from .declare import REAL, UFUNCS, Interval, declare


def several(ufunc: Any, partials: Partials, *, domain: Sequence[Interval] | None = None, note: str = "") -> Primitive:
    """A smooth universal function with several results; a partial gives one slope for each of them."""
    UFUNCS[ufunc] = primitive = declare(
        ufunc.__name__,
        ufunc,
        Several(partials),
        stacking=aligned,
        domain=tuple(domain or [REAL] * ufunc.nin),
        multiple=True,
        note=note,
    )
    return primitive
