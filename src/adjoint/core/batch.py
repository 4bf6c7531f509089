"""The batch trace: one axis in front of every value, which the user's function does not see."""

from __future__ import annotations

from typing import Any

from .entry.facts import AN_ARRAY, AS_FIRST, NUMBER
from .primitive import Primitive
from .trace import Trace, new_level
from .traced import AXISLESS, Ended, Traced, is_array, is_of, peel
from .types import Params


class BatchTrace(Trace):
    """Values carry `size` examples in a leading axis; what is the same for all examples carries none."""

    __slots__ = ("level", "size")
    lead = 1

    def __init__(self, size: int) -> None:
        self.level = new_level()
        self.size = size

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate for the whole batch, as the primitive's stacking law says."""
        batched = [is_of(a, self) for a in args]
        values = [peel(self, a) for a in args]
        out = primitive.stacking(primitive, values, batched, params, self.size)
        if primitive.multiple:
            return tuple([Traced(o, self, None) for o in out])
        axisless = primitive.facts.axisless
        return Traced(out, self, None if axisless is NUMBER else _node(axisless, args[0], params))

    def end(self) -> None:
        """From now on a handle of this trace is its value: the array of the whole batch."""
        self.__class__ = EndedBatch  # type: ignore[assignment]


def _node(axisless: Any, first: Any, params: Params) -> Any:
    """What is kept with a result: whether an example without axes is an array."""
    if callable(axisless):
        axisless = axisless(**params)
    is_an_array = axisless is AN_ARRAY or (axisless is AS_FIRST and isinstance(first, Traced) and is_array(first))
    return AXISLESS if is_an_array else None


class EndedBatch(Ended, BatchTrace):  # type: ignore[misc]
    """A batch that has been evaluated."""

    __slots__ = ()
