"""`Trace`: what sees the steps of a function. A level for each, so that the innermost one is always known."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .primitive import Primitive
    from .traced import Traced
    from .types import Params

new_level = itertools.count(1).__next__
"""A number above that of every trace under way: an inner trace starts after the outer one.

This is all that traces share, so threads, generators and exceptions have nothing to disturb.
"""


class Trace(ABC):
    """Decides what happens at a step of which an argument is its own. The defaults are those of most traces."""

    __slots__ = ()
    level: int
    lead: int = 0
    """How many leading axes of a value the user does not see: 1 inside vmap, else 0."""
    is_capture: bool = False
    """Whether it writes a program down, so that decisions on its values have to be guarded."""
    guards_allowed: bool = True
    """Whether decisions may be taken on its values: not in the body of a loop that is being captured."""
    loops: Any = None
    """Who is asked about truth values that are tested, as the test of a loop may be (see `CaptureTrace`)."""

    @abstractmethod
    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Apply a primitive to arguments of which at least one belongs to this trace."""

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process` for an elementwise function of one argument of this trace."""
        return self.process(primitive, (x,), NO_PARAMS)

    @abstractmethod
    def end(self) -> None:
        """Let go of what was recorded: from now on a handle of this trace is its value (see `Ended`)."""

    def is_python_at(self, node: Any) -> bool | None:
        """Whether the number of a handle with this node is one of Python's; None if its value tells."""
        return None

    def heard(self, asks: int, answer: Any, nodes: Sequence[Any], values: Sequence[Any]) -> None:
        """The user's function has compared a value, or asked whether it is finite (`singular/replaced.py`)."""
        return

    def decided(self, x: Traced, why: str = "", likely: bool | None = None) -> Any:
        """The plain value of one of its handles, on which what follows relies."""
        raise AssertionError("only a trace that writes a program down has decisions to write")


NO_PARAMS: Params = {}
ALIKE: Params = {}
"""No parameters either, of a step of each element on small arrays: arguments that move have the shape of its result."""
