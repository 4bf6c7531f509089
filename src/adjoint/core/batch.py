"""The batch walk: one axis in front of every value, which the user's function does not see."""

from __future__ import annotations

from typing import Any

from .primitive import Primitive
from .trace import new_level, peel
from .traced import Ended, Traced


class BatchTrace:
    """Values carry `size` examples in a leading axis; what is the same for all examples carries none."""

    __slots__ = ("level", "size")
    lead = 1
    is_capture = False

    def __init__(self, size: int) -> None:
        self.level = new_level()
        self.size = size

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Evaluate for the whole batch, as the primitive's stacking law says."""
        batched = [isinstance(a, Traced) and a.walk is self for a in args]
        values = [peel(self, a) for a in args]
        out = primitive.stacking(primitive, values, batched, params, self.size)
        if primitive.multiple:
            return tuple([Traced(o, self, None) for o in out])
        return Traced(out, self, None)

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process`, under the name the operators use."""
        return self.process(primitive, (x,), {})

    def end(self) -> None:
        """From now on a handle of this walk is its value: the array of the whole batch."""
        self.__class__ = EndedBatch


class EndedBatch(Ended, BatchTrace):
    """A batch that has been evaluated."""

    __slots__ = ()
