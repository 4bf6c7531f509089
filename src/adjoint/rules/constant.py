"""`Constant`: piecewise constant or not a number at all (floor, argmax, comparisons), so nothing flows through it."""

from __future__ import annotations

from typing import Any, NoReturn, final

from ..core.rule import Rule


@final
class Constant(Rule[Any]):
    """The derivative is zero wherever there is one, so no trace asks for it."""

    __slots__ = ()
    is_zero = True

    def push(self, *_: Any) -> NoReturn:
        """Never asked for."""
        raise AssertionError("nothing flows through a constant")

    def pull(self, *_: Any) -> NoReturn:
        """Never asked for."""
        raise AssertionError("nothing flows through a constant")
