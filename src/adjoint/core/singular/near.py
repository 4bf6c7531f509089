"""The trace along a tiny step: every value is taken together with how far it moves, to leading order.

Where slopes are 0 and infinite at a point, their product is decided by how fast they become so. This trace knows: the
`value` of a handle is the value at the point, its `node` the move to a point 2**-240 away, as a number of its own. So
1 + move and 0 + move are told apart from 1 and 0, a slope is a large number instead of an infinity, and 0 * inf is the
product of a small number and a large one. Where a value has no limit, or moves by more than a little, it is all move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..primitive import Primitive
from ..reverse import INPUT, Node, ReverseTrace, Seeds, pull, taken_again
from ..rule import UnknownValueError
from ..trace import Trace, new_level
from ..traced import Traced, is_of, peel
from ..types import Numeric, Params
from ..values import ieee, is_inexact


class NearTrace(Trace):
    """Along a tiny step: how a step's result moves is known to its rule (`near`)."""

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = new_level()

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate one trace further out, and find how the result moves."""
        moves = [a.node if is_of(a, self) else None for a in args]
        values = tuple([ieee(peel(self, a)) for a in args])
        if primitive.derivative.is_zero:
            return primitive(*[v if m is None else v + m for v, m in zip(values, moves, strict=True)], **params)
        out = primitive(*values, **params)
        if all(m is None for m in moves):
            return out
        return self.handles(primitive, primitive.derivative.near(primitive, moves, out, values, params))

    def handles(self, primitive: Primitive, found: tuple[Any, Any]) -> Any:
        """The handles of a step's results, given where they are and how they move."""
        if not primitive.multiple:
            return Traced(found[0], self, found[1])
        return tuple([v if m is None or not is_inexact(v) else Traced(v, self, m) for v, m in zip(*found, strict=True)])

    def end(self) -> None:
        """It has nothing to end: no function of the user's gets a handle of it."""

    def whole(self, x: Numeric) -> Any:
        """A value together with its move."""
        return x.value + x.node if isinstance(x, Traced) and x.traced_by is self else x


def moved_trace(near: NearTrace, trace: ReverseTrace, moves: Sequence[Numeric]) -> tuple[ReverseTrace, list[Any]]:
    """The trace with values that move, if the inputs do so, and the results of all steps, taken again."""
    changed: dict[int, Node] = {}

    def take(node: Node, args: list[Any]) -> Any:
        primitive, parents, _, _, params = node
        if any([is_ghost(a) for a in args]):
            raise UnknownValueError
        found = near.process(primitive, tuple(args), params)
        if not primitive.derivative.is_at_point:
            changed[id(node)] = (primitive, parents, tuple(args), found, params)
        return found

    inputs = [Traced(ieee(out), near, moves[k]) for k, (p, _, _, out, _) in enumerate(trace) if p is INPUT]
    results = taken_again(trace, inputs, take)
    moved = ReverseTrace()
    moved.extend([changed.get(id(node), node) for node in trace])
    return moved, results


def is_ghost(x: object) -> bool:
    """Whether only the shape of a value is known."""
    return not hasattr(x, "__array__") and hasattr(x, "shape") and not isinstance(x, Traced)


def pull_near(trace: ReverseTrace, seeds: Seeds, moves: Sequence[Numeric]) -> list[Any]:
    """The cotangents of the inputs a step away from the point where the trace was recorded."""
    near = NearTrace()
    moved, _ = moved_trace(near, trace, moves)
    return [None if g is None else near.whole(g) for g in pull(moved, seeds, len(moves))]


def push_near(trace: ReverseTrace, places: Sequence[int], moves: Sequence[Numeric]) -> list[Any]:
    """How values of the trace move if its inputs do so; None for those that do not."""
    near = NearTrace()
    _, results = moved_trace(near, trace, moves)
    found = [results[p] for p in places]
    return [f.node if is_of(f, near) else None for f in found]
