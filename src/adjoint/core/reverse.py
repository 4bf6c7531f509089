"""The reverse trace: record every step with its values, then sweep back, from the last step to the first.

`process` is the way there and `pull` the way back; both leave all mathematics to the rules. Short-cuts for the steps
that are met most often stand in `quick/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .primitive import INPUT as INPUT
from .primitive import OUTPUT as OUTPUT
from .primitive import Primitive
from .quick.accumulator import Accumulator, accumulated
from .quick.number_kinds import is_python_at, with_precision
from .trace import ALIKE, NO_PARAMS, Trace, new_level
from .traced import ARRAY, Ended, Traced, snapshot
from .types import Numeric, Params, Places
from .values import LARGE, decidable, fit, is_inexact, shape_of

Node = tuple[Primitive, Places, Sequence[Any], Any, Params]
"""(primitive, places of the arguments in the trace, their values, the result, parameters)."""

Seeds = Sequence[tuple[int, Any]]
"""Cotangents to begin with, at places of a trace."""


class ReverseTrace(list[Node], Trace):
    """The evaluation trace: one node per step, in the order of execution, so sweeping back is counting down.

    Nodes name their arguments by place, so a long program is a flat list and nothing here recurses.
    """

    __slots__ = (
        "again", "answers", "asked", "has_numpys", "is_numpy", "is_settled", "jumps", "kinds",
        "level", "replaced",
    )  # fmt: skip

    def __init__(self) -> None:
        self.level = new_level()
        self.jumps: list[tuple[Primitive, Sequence[Any], Params]] = []
        """Steps whose results are constant in pieces, as signs are: they are no nodes, but near a point may jump."""
        self.asked = 0
        """What the user's function has asked of numbers: 1 how they compare, 2 if they are finite."""
        self.answers: list[Any] = []
        """What comparisons were told."""
        self.replaced: list[Any] = []
        """Steps that left out what was not (`singular/replaced.py`)."""
        self.again: Any = None
        """How to run the function again, if a value that it asked about was not finite (`rules/singular/paths.py`)."""
        self.is_settled = False
        """Whether those that did so rightly are no longer among them."""
        self.is_numpy = False
        """Whether no input is a Python number: then all stand for NumPy's (`quick/number_kinds.py`)."""
        self.has_numpys = False
        """Whether any number may be NumPy's; if not, every number is Python's."""
        self.kinds: dict[int, bool] = {}
        """Whether the number at a place is Python's, as far as it is known."""

    def input(self, value: Numeric) -> Traced:
        """A fresh independent variable."""
        self.append((INPUT, (), (), value, NO_PARAMS))
        return Traced(value, self, len(self) - 1)

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate one trace further out, and record the step."""
        first = args[0]
        if len(args) == 1 and type(first) is Traced and first.traced_by is self:
            parents: Places = (first.node,)
            values: Sequence[Any] = (first.value,)
            is_plain = type(first.value) in PLAIN
        else:
            parents, values, is_plain = self._peeled(args)
        if is_plain:
            out = primitive.evaluate(*values, **params) if params else primitive.evaluate(*values)
        else:
            out = primitive(*values, **params)
        rule = primitive.derivative
        if rule.is_zero:
            if not primitive.multiple and is_inexact(decidable(out)):
                self.jumps.append((primitive, values, params))
            if primitive.facts.asks:
                self.heard(primitive.facts.asks, out, parents, values)
            return out
        if type(out) is FLOAT:
            out = float(out)
            self.has_numpys = True
        kept, kept_out = rule.keep(primitive, parents, values, out)
        place = len(self)
        self.append((primitive, parents, kept, kept_out, params))
        if self.asked and primitive.facts.leaves_out is not None:
            from .singular.replaced import note

            note(self, primitive, parents, values, params)
        if not primitive.multiple:
            return Traced(out, self, place)
        return tuple([self._output(place, k, o) for k, o in enumerate(out)])

    def heard(self, asks: int, answer: Any, nodes: Sequence[Any], values: Sequence[Any]) -> None:
        """Remember that the user's function has asked, and what it was told."""
        from .singular.replaced import hear  # seldom needed, so not when the library is imported

        hear(self, asks, answer, nodes, values)

    def _peeled(self, args: tuple[Any, ...]) -> tuple[list[int | None], list[Any], bool]:
        """Places and values of the arguments of a step, and whether all values are plain."""
        parents: list[int | None] = []
        values: list[Any] = []
        is_plain, has_number = True, False
        for a in args:
            node, kind = None, type(a)
            if kind is Traced or (kind not in PLAIN and isinstance(a, Traced)):
                a = a if kind is Traced else a.current()
                if a.traced_by is self:
                    node, a = a.node, a.value
                    has_number = has_number or type(a) is float
                else:
                    a = snapshot(a)
                is_plain = is_plain and (type(a) in PLAIN or not isinstance(a, Traced))
            parents.append(node)
            values.append(a)
        if has_number and len(values) > 1:
            values = with_precision(self, values, parents)
        return parents, values, is_plain

    def _output(self, place: int, k: int, value: Any) -> Any:
        """One of several results, as a node of its own."""
        if not is_inexact(value):
            return value
        if type(value) is FLOAT:
            value = float(value)
            self.has_numpys = True
        self.append((OUTPUT, (place,), (), value, {"k": k}))
        return Traced(value, self, len(self) - 1)

    def unary(self, primitive: Primitive, x: Traced) -> Traced:
        """`process` for an elementwise function of one traced argument: the short way."""
        value = x.value
        if type(value) is ARRAY:
            out = primitive.on_arrays(value)
            if out.size > LARGE:
                return recorded(self, primitive, (x.node,), (value,), out)
        else:
            out = primitive.evaluate(value)
        self.append((primitive, (x.node,), (value,), out, ALIKE))
        return Traced(out, self, len(self) - 1)

    def is_python_at(self, node: int) -> bool | None:
        """Whether the number at a place is one of Python's."""
        if self.is_numpy or not self.has_numpys:
            return not self.is_numpy
        return is_python_at(self, node)

    def shorten(self, length: int) -> None:
        """Forget the last steps, of which nobody has a handle."""
        del self[length:]
        self.kinds = {place: kind for place, kind in self.kinds.items() if place < length}

    def end(self) -> None:
        """Forget the steps; from now on a handle of this trace is its value."""
        self.__class__ = EndedReverse  # type: ignore[assignment]
        self.clear()

    def handed_over(self) -> ReverseTrace:
        """The same steps in a trace that nobody has a handle of, to be swept later; this one has ended."""
        kept = ReverseTrace()
        kept.extend(self)
        kept.jumps, kept.asked, kept.replaced, kept.again = self.jumps, self.asked, self.replaced, self.again
        self.end()
        return kept


class EndedReverse(Ended, ReverseTrace):  # type: ignore[misc]
    """A reverse trace that has ended: it is empty."""

    __slots__ = ()


def recorded(trace: ReverseTrace, primitive: Primitive, parents: Places, values: Sequence[Any], out: Any) -> Traced:
    """The handle of a new step without parameters on large arrays, of which only what the sweep back needs is kept."""
    kept, kept_out = primitive.derivative.keep(primitive, parents, values, out)
    place = len(trace)
    trace.append((primitive, parents, kept, kept_out, NO_PARAMS))
    return Traced(out, trace, place)


def pull(trace: ReverseTrace, seeds: Seeds, count: int) -> list[Any]:  # noqa: C901 - calls cost more than steps do
    """Pull cotangents, given at some places of the trace, back to its first places; None means a structural zero."""
    steps: list[Node] = trace[:]  # without its class, so that Python finds the items in a short way
    cotangents: list[Any] = [None] * len(steps)
    last = -1
    for place, seed in seeds:
        if type(seed) is ARRAY and seed.shape != shape_of(steps[place][3]):
            seed = fit(seed, steps[place][3])
        had = cotangents[place]
        cotangents[place] = seed if had is None else had + seed
        last = place if place > last else last
    for place in range(last, -1, -1):
        g = cotangents[place]
        if g is None:
            continue
        primitive, parents, args, out, params = node = steps[place]
        if primitive is INPUT:
            continue
        cotangents[place] = None
        if primitive is OUTPUT:
            _slots_of(trace, cotangents, parents[0])[params["k"]] = g.total if type(g) is Accumulator else g
            continue
        rule = primitive.derivative
        if params and rule.in_place is not None and rule.in_place(cotangents, g, node):
            continue
        if type(g) is Accumulator:
            g = g.total
        if params is ALIKE and len(parents) == 1:  # nothing is met more often
            value = args[0]
            c = rule.pull(primitive, g, out, args, params, ONE)[0]
            if c is None:
                continue
            kind = type(c)
            if kind is not type(value) or (kind is not float and (kind is not ARRAY or c.dtype is not value.dtype)):
                c = fit(c, value)
            parent: Any = parents[0]
            had = cotangents[parent]
            cotangents[parent] = c if had is None else had + c
            continue
        if len(parents) < 3:  # a list for any number takes longer
            needed: Any = ONE if len(parents) == 1 else (parents[0] is not None, parents[1] is not None)
        else:
            needed = [p is not None for p in parents]
        k = -1
        for c in rule.pull(primitive, g, out, args, params, needed):  # arguments without a rule come last
            k += 1
            if c is None or (parent := parents[k]) is None:
                continue
            fitted, value, kind = c, args[k], type(c)
            if kind is not type(value) or (
                kind is not float
                and (
                    kind is not ARRAY or c.dtype is not value.dtype or (params is not ALIKE and c.shape != value.shape)
                )
            ):
                fitted = fit(c, value)
            had = cotangents[parent]
            if had is None:
                cotangents[parent] = fitted
            elif type(fitted) is ARRAY and fitted.size > LARGE:
                cotangents[parent] = accumulated(had, fitted, is_new=rule.makes_new and fitted is c)
            else:
                cotangents[parent] = had + fitted
    found = cotangents[:count]
    if Accumulator in map(type, found):
        found = [g.total if type(g) is Accumulator else g for g in found]
    return found


def _slots_of(trace: ReverseTrace, cotangents: list[Any], place: Any) -> list[Any]:
    """The cotangents of a step with several results, of which one has arrived."""
    if cotangents[place] is None:
        cotangents[place] = [None] * len(trace[place][3])
    return cotangents[place]  # type: ignore[no-any-return]


ONE = (True,)
FLOAT = np.float64
PLAIN = frozenset((float, ARRAY))


def taken_again(trace: Sequence[Node], inputs: Sequence[Any], take: Callable[[Node, list[Any]], Any]) -> list[Any]:
    """The results of all nodes, from other inputs; `take` takes a step, given its node and its arguments as of now."""
    results: list[Any] = []
    for place, node in enumerate(trace):
        primitive, parents, args, _, params = node
        if primitive is INPUT:
            results.append(inputs[place])
        elif primitive is OUTPUT:
            results.append(results[parents[0]][params["k"]])  # type: ignore[index]
        else:
            given = [a if p is None else results[p] for p, a in zip(parents, args, strict=False)]
            results.append(take(node, given))
    return results
