"""How a universal function with several results is entered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.entry.facts import Kernel
from ...core.primitive import Primitive
from ...rules.multi_output import Partials, Several
from ..declare import Interval, universal

COMPILED = Kernel("scipy")
"""SciPy's own C function, of doubles alone; its singles are rounded doubles."""


def several(ufunc: Any, partials: Partials, *, domain: Sequence[Interval] | None = None, **facts: Any) -> Primitive:
    """A smooth universal function with several results; a partial gives one slope for each of them."""
    return universal(ufunc, Several(partials), domain=domain, **facts)
