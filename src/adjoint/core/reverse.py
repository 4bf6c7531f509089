"""The reverse walk: record every step with its values, then pull cotangents back from the last step to the first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from .primitive import Primitive
from .trace import new_level
from .traced import FLOAT64, Ended, Traced, snapshot
from .values import LARGE, NUMPYS, Value, fit, is_inexact, is_python, raw

Node = tuple[Any, Sequence[int | None], Sequence[Value], Value, dict[str, Any]]
"""(primitive, places of the arguments in the trace, their values, the result, parameters)."""


class ReverseTrace(list[Node]):
    """The evaluation trace: one node per step, in the order of execution, so walking back is counting down.

    Nodes name their arguments by place, so a long program is a flat list and nothing here recurses.
    """

    __slots__ = ("has_numpys", "is_numpy", "jumps", "kinds", "level")
    lead = 0
    is_capture = False

    def __init__(self) -> None:
        self.level = new_level()
        self.jumps: list[tuple[Primitive, Sequence[Value], dict[str, Any]]] = []
        """Steps whose results are constant in pieces, as signs are: they are no nodes, but near a point may jump."""
        self.is_numpy = False
        """Whether no input is a Python number. Then traced numbers, which are Python floats here because those are
        quicker, stand for NumPy's, which do not give way to the precision of an array."""
        self.has_numpys = False
        """Whether any number may be NumPy's; if not, every number is Python's."""
        self.kinds: dict[int, bool] = {}
        """Whether the number at a place is Python's, as far as it is known: see `is_python_at`."""

    def input(self, value: Value) -> Traced:
        """A fresh independent variable."""
        self.append((INPUT, (), (), value, NO_PARAMS))
        return Traced(value, self, len(self) - 1)

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Evaluate one walk further out, and record the step."""
        derivative = primitive.derivative
        first = args[0]
        if len(args) == 1 and type(first) is Traced and first.walk is self:
            value = first.value
            parents: list[int | None] = [first.node]
            values = [value]
            if type(value) in PLAIN:
                out = primitive.evaluate(value, **params)
            elif type(value) is Traced and value.walk.level:
                out = value.walk.process(primitive, (value,), params)
            else:
                out = primitive(value, **params)
        else:
            parents, values, outermost = self._peeled(args)
            out = primitive.evaluate(*values, **params) if outermost else primitive(*values, **params)
        if derivative.is_zero:
            if not primitive.multiple and is_inexact(raw(out)):
                self.jumps.append((primitive, values, params))
            return out
        if type(out) is FLOAT:
            out = float(out)
            self.has_numpys = True
        kept, kept_out = derivative.keep(primitive, parents, values, out)
        self.append((primitive, parents, kept, kept_out, params))
        place = len(self) - 1
        if not primitive.multiple:
            return Traced(out, self, place)
        return tuple([self._output(place, k, o) for k, o in enumerate(out)])

    def _peeled(self, args: tuple[Any, ...]) -> tuple[list[int | None], list[Value], bool]:
        """Places and values of the arguments of a step, and whether all values are plain."""
        parents: list[int | None] = []
        values: list[Value] = []
        outermost, has_number = True, False
        for a in args:
            node, kind = None, type(a)
            if kind is Traced or (kind not in PLAIN and isinstance(a, Traced)):
                a = a if kind is Traced else a.current()
                if a.walk is self:
                    node, a = a.node, a.value
                    has_number = has_number or type(a) is float
                else:
                    a = snapshot(a)
                outermost = outermost and (type(a) in PLAIN or not isinstance(a, Traced))
            parents.append(node)
            values.append(a)
        if has_number and len(values) > 1:
            values = with_precision(self, values, parents)
        return parents, values, outermost

    def end(self) -> None:
        """Forget the steps; from now on a handle of this walk is its value."""
        self.__class__ = EndedReverse
        self.clear()

    def handed_over(self) -> ReverseTrace:
        """The same steps in a walk that nobody has a handle of, to be walked back later; this one has ended."""
        kept = ReverseTrace()
        kept.extend(self)
        kept.jumps = self.jumps
        self.end()
        return kept

    def note_kinds(self, given: Sequence[Any]) -> None:
        """Say what the inputs were given as: NumPy's numbers are Python floats in here."""
        if len(given) == 1 and type(given[0]) in QUICK_KINDS:  # nothing else is met more often
            self.is_numpy = self.has_numpys = type(given[0]) is not float
            return
        kinds = set(map(type, given))
        self.is_numpy = float not in kinds and not any([issubclass(kind, Traced) for kind in kinds])
        self.has_numpys = kinds != PURE
        if FLOAT in kinds and not self.is_numpy:
            self.kinds.update({k: False for k, x in enumerate(given) if type(x) is FLOAT})

    def is_python_at(self, place: int) -> bool:
        """Whether a number is Python's: an input that was one, or what Python's operators made of such numbers.

        Asked for a comparison or a rounding, seldom enough to look it up in what was recorded.
        """
        if self.is_numpy or not self.has_numpys:
            return not self.is_numpy
        known, waiting = self.kinds, [place]
        while waiting:
            k = waiting[-1]
            primitive, parents, values, out, _ = self[k]
            if primitive is INPUT:
                known.setdefault(k, is_python(out))
            elif primitive is OUTPUT or not primitive.is_operator:
                known.setdefault(k, False)
            elif k not in known:
                unknown = [p for p in parents if p is not None and p not in known]
                if unknown:
                    waiting += unknown
                    continue
                known[k] = all([
                    is_python(v) if p is None else known[p] for p, v in zip(parents, values, strict=True)
                ])  # fmt: skip
            waiting.pop()
        return known[place]

    def _output(self, place: int, k: int, value: Value) -> Value:
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
        out = primitive.on_arrays(value) if type(value) is ARRAY else primitive.evaluate(value)
        return _recorded(self, primitive, (x.node,), (value,), out)


class EndedReverse(Ended, ReverseTrace):
    """A reverse walk that has ended: an empty trace."""

    __slots__ = ()


def _recorded(trace: ReverseTrace, primitive: Primitive, parents: Any, values: Any, out: Value) -> Traced:
    """The handle of a new step; of large arrays only what the walk back needs is kept."""
    kept, kept_out = values, out
    if type(out) is ARRAY and out.size > LARGE:
        kept, kept_out = primitive.derivative.keep(primitive, parents, values, out)
    place = len(trace)
    trace.append((primitive, parents, kept, kept_out, NO_PARAMS))
    return Traced(out, trace, place)


def binary_operators(
    primitive: Primitive, prepared: Callable[[Any, Any], Any], captured: Callable[[Any, Any, Any], Any]
) -> tuple[Operator, Operator]:
    """`x op y` for a traced x, and its reflection: `process`, the short way where the other operand is nothing unusual.

    `prepared` turns an unusual operand into one that the primitive takes, or says `NotImplemented`; `captured` has the
    last word on a result that belongs to a captured program.
    """
    evaluate = primitive.evaluate

    def forward(self: Any, other: Any) -> Any:
        if type(self) is not Traced:
            self = self.current()
        walk, kind = self.walk, type(other)
        if type(walk) is not ReverseTrace or kind not in QUICK or (kind is Traced and other.walk is not walk):
            usual = kind is float or (kind is Traced and other.walk is walk)
            if usual and walk.is_capture and type(self.value) in QUICK_KINDS:
                found = walk.process(primitive, (self, other), NO_PARAMS)
                return captured(found, self, other) if type(self.value) is float else found
            other = prepared(other, self)
            if other is NotImplemented:
                return other
            found = primitive(self, other)
            return captured(found, self, other) if walk.is_capture else found
        if kind is ARRAY:
            return walk.process(primitive, (self, other), NO_PARAMS)
        x, y, node = self.value, other, None
        if kind is Traced:
            node, y = other.node, other.value
            if type(x) is not type(y):
                x, y = with_precision(walk, [x, y], (self.node, node))
        out = evaluate(x, y)
        return _recorded(walk, primitive, (self.node, node), (x, y), out)

    def reflected(self: Any, other: Any) -> Any:
        if type(self) is not Traced:
            self = self.current()
        walk = self.walk
        if type(walk) is not ReverseTrace or type(other) not in NUMBERS:
            if walk.is_capture and type(self.value) in QUICK_KINDS and type(other) is float:
                found = walk.process(primitive, (other, self), NO_PARAMS)
                return captured(found, self, other) if type(self.value) is float else found
            other = prepared(other, self)
            if other is NotImplemented:
                return other
            found = primitive(other, self)
            return captured(found, self, other) if walk.is_capture else found
        y = self.value
        out = evaluate(other, y)
        return _recorded(walk, primitive, (None, self.node), (other, y), out)

    return forward, reflected


def comparison(python: Callable[[Any, Any], Any], general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`x < y` for a traced x, the short way for one number beside a plain one: Python's truth value, or NumPy's."""

    def compare(self: Any, other: Any) -> Any:
        if type(self) is Traced and type(other) in NUMBERS:
            walk, x = self.walk, self.value
            if type(x) is float and type(walk) is ReverseTrace:
                found = python(x, other)
                return found if walk.is_python_at(self.node) else np.bool(found)
        return general(self, other)

    return compare


def with_precision(trace: ReverseTrace, values: list[Value], parents: Sequence[int | None]) -> list[Value]:
    """The values with traced numbers as NumPy's, where they are, if they meet an array of lower precision."""
    for v in values:
        if type(v) is not float and getattr(v, "dtype", FLOAT64) is not FLOAT64 and v.dtype in LOW:
            break
    else:
        return values
    return [
        FLOAT(v) if type(v) is float and p is not None and not trace.is_python_at(p) else v
        for v, p in zip(values, parents, strict=True)
    ]


LOW = frozenset(map(np.dtype, ("float16", "float32", "complex64")))
NUMBERS = frozenset((float, int, bool))
FLOAT = np.float64
ARRAY = np.ndarray
Operator = Callable[[Any, Any], Any]
PURE = frozenset((float,))
QUICK_KINDS = NUMPYS | PURE
PLAIN = frozenset((float, np.ndarray))
QUICK = frozenset((Traced, float, int, bool, np.ndarray))
NO_PARAMS: dict[str, Any] = {}


class _Marker:
    """Stands where a primitive stands in a node that is not a step: an input, or one of several results."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


INPUT: Any = _Marker("input")
OUTPUT: Any = _Marker("output")


def pull(trace: ReverseTrace, seeds: list[tuple[int, Value]], count: int) -> list[Value | None]:
    """Pull cotangents, given at some places of the trace, back to its first places; None means a structural zero."""
    cotangents: list[Any] = [None] * len(trace)
    last = -1
    for place, seed in seeds:
        had = cotangents[place]
        cotangents[place] = seed if had is None else had + seed
        last = place if place > last else last
    for place in range(last, -1, -1):
        g = cotangents[place]
        if g is None:
            continue
        primitive, parents, args, out, params = trace[place]
        if primitive is INPUT:
            continue
        cotangents[place] = None
        if primitive is OUTPUT:
            slots = cotangents[parents[0]]  # type: ignore[index]
            if slots is None:
                slots = cotangents[parents[0]] = [None] * len(trace[parents[0]][3])  # type: ignore[index]
            slots[params["k"]] = g
            continue
        derivative = primitive.derivative
        if params and derivative.pull_into is not None and derivative.pull_into(cotangents, parents, g, args, params):
            continue
        rules = derivative.vjps
        together = rules is None  # one rule for all arguments, which gives their cotangents
        if together:
            rules = derivative.pull(primitive, g, out, args, params, [p is not None for p in parents])
        for parent, rule, value in zip(parents, rules, args):  # noqa: B905  (arguments without a rule come last)
            if parent is None:
                continue
            if together:
                c = rule
                if c is None:
                    continue
            elif params:
                c = rule(g, out, *args, **params)
            else:
                c = rule(g, out, *args)
            if type(c) is ARRAY:
                if type(value) is not ARRAY or c.shape != value.shape or c.dtype is not value.dtype:
                    c = fit(c, value)
            elif type(c) is not float or type(value) is not float:
                c = fit(c, value)
            had = cotangents[parent]
            if had is None:
                cotangents[parent] = c
            elif (
                type(had) is ARRAY and had.size > LARGE and type(c) is ARRAY
                and getrefcount(had) == OWN and had.base is None
            ):  # fmt: skip
                np.add(had, c, out=had)  # nobody else sees this array: no new memory for the sum
            else:
                cotangents[parent] = had + c
    return cotangents[:count]


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


OWN, PASSED = (3, 4) if sys.version_info < (3, 14) else (0, 0)
"""References to an array that only `pull` knows (its list, its variable, the argument of getrefcount), and to one that
it passed on. From 3.14 on Python does not count what stands on its stack, so there nothing is updated in place."""


def is_writable(cotangent: Value) -> bool:
    """Whether a large cotangent may be written to: nobody sees it but `pull`, a variable of the caller and this one."""
    return (
        type(cotangent) is ARRAY
        and cotangent.size > LARGE
        and getrefcount(cotangent) == PASSED
        and cotangent.base is None
    )
