"""What of a recorded program a value and its gradient need, without what changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...core.entry.moves import READS, Same, is_same
from ...core.traced import Traced
from ...ir.program import GUARD, Step
from ...numpy.dispatch.opaque_calls import OpaqueCall
from ...ops.arithmetic import float_power, multiply, negative, power
from ...ops.reduction import any as any_of
from ...ops.shape import broadcast_to, reshape
from ..formula.expression import Symbol
from ..record.recorder import NAMED
from ..show.rows import TraceView

LOW = frozenset(("float16", "float32", "complex64", "longdouble", "clongdouble"))
"""Precisions for which it matters whether a number is Python's or NumPy's."""


class FlowStep(NamedTuple):
    """A step of the program with simplified arguments."""

    primitive: Any
    args: tuple[int, ...]
    params: dict[str, Any]
    outs: tuple[int, ...]


class Check(NamedTuple):
    """A decision that the recording relies on."""

    number: int
    expected: Any
    line: str
    """Where the function decides; empty for its derivative."""


class Flow:
    """The steps and checks, by their place in the program, that the results of a view depend on."""

    def __init__(self, view: TraceView) -> None:
        assert view.backward is not None
        self.view = view
        self.recorded, self.notebook = view.recorded, view.recorded.notebook
        self.program = self.notebook.program
        self.types = self.program.types
        self.constants: dict[int, Any] = dict(self.program.constants)
        for _, copy, number in self.notebook.arrays.values():
            self.constants[number] = copy  # as it was used: the user may have written to the array since
        self._made = {o: k for k, step in enumerate(self.program.steps) for o in step.outs}
        self._same: dict[int, int] = {}
        self.varying = self._varying()
        adjoints = {place: handle.node for place, handle in view.backward.adjoints.items()}
        places = [self._made[number] for number in adjoints.values()]
        self.back = min(places, default=len(self.program.steps))
        """Where the steps of the derivative begin."""
        self.symbols = self._symbols(adjoints)
        """What the named numbers of the program are."""
        outputs = [self._output(o) for o in self.recorded.outputs]
        gradients = [adjoints.get(k) for k in range(len(self.recorded.inputs))]
        last = max(places, default=self.recorded.steps - 1)
        checks, ragged = self._checks(last), self._ragged(last)
        wanted = [n for n in (*outputs, *gradients) if n is not None] + [c.number for c in checks.values()] + ragged
        self.nodes: dict[int, FlowStep] = {}
        raw = self._reached(wanted, {k: step.args for k, step in enumerate(self.program.steps)})
        computed = [o for k in raw for o in self.program.steps[k].outs]
        self.is_strict = any([self.types[n].dtype.name in LOW for n in (*computed, *self.program.inputs)])
        self._simplify(sorted(raw))
        self.outputs = [None if n is None else self.same(n) for n in outputs]
        """The numbers of the results; None for what does not come out of the program."""
        self.gradients = [None if n is None else self.same(n) for n in gradients]
        self.checks = {
            k: c._replace(number=self.same(c.number))
            for k, c in checks.items()
            if self.same(c.number) not in self.constants
        }
        self.ragged = {self.same(n) for n in ragged}
        """Results whose shape depends on values; they are computed for it, whoever uses what is in them."""
        ends = [n for n in (*self.outputs, *self.gradients) if n is not None] + [c.number for c in self.checks.values()]
        ends += self.ragged
        needed = self._reached(ends, {k: node.args for k, node in self.nodes.items()})
        self.nodes = {k: self.nodes[k] for k in sorted(needed)}
        own = [node for k, node in self.nodes.items() if k < self.recorded.steps]
        self.vertices = sorted({node.primitive.name for node in own if self._has_vertex(node)})
        """The function's operations whose derivative is infinite at the end of their domain."""
        self.uses = Counter(a for node in self.nodes.values() for a in node.args) + Counter(ends)
        """How often each number is read."""

    def same(self, number: int) -> int:
        """The number that a number is the same as."""
        return self._same.get(number, number)

    def maker(self, number: int) -> FlowStep | None:
        """The step that computes a number."""
        return self.nodes.get(self._made.get(number, -1))

    def _symbols(self, adjoints: dict[int, int]) -> dict[int, Symbol]:
        shown = dict.fromkeys([place for row in self.view.rows for place in row.outs])
        found: dict[int, Symbol] = {}
        for place in shown:
            found.setdefault(self.view.number(place), Symbol("value", place))
        return found | {number: Symbol("adjoint", place) for place, number in adjoints.items() if place in shown}

    def _output(self, x: Any) -> int | None:
        if not isinstance(x, Traced):
            return None
        inner = x.value if x.traced_by is self.recorded.trace else x
        return self.notebook.number_of(inner)[0] if isinstance(inner, Traced) else None

    def _checks(self, last: int) -> dict[int, Check]:
        """The decisions of the function, and those of the sweep back.

        Where a rule of the derivative asked whether a special case occurs anywhere, and it did, what it does then is
        right for every case: nothing has to be checked.
        """
        found = {}
        for k, step in enumerate(self.program.steps[: last + 1]):
            if step.primitive is not GUARD:
                continue
            expected = step.params["expected"]
            if k < self.recorded.steps:
                found[k] = Check(step.args[0], expected, step.line)
            elif k > self.back:
                asked = self.notebook.producers.get(step.args[0])
                if asked is None or asked.primitive is not any_of or not expected:
                    found[k] = Check(step.args[0], expected, "")
        return found

    def _ragged(self, last: int) -> list[int]:
        """Results of steps that find as many elements as there happen to be: all that follows is for so many.

        Nobody has to use them for that: their length is a plain number, which is in the program as a constant.
        """
        found = []
        for k, step in enumerate(self.program.steps[: last + 1]):
            if self.varying.isdisjoint(step.args) or self.recorded.steps <= k < self.back:
                continue
            if self._is_ragged(step):
                found.append(step.outs[0])
        return found

    def _is_ragged(self, step: Step) -> bool:
        if isinstance(step.primitive, OpaqueCall):  # any NumPy function
            return any(self.types[o].shape for o in step.outs)
        facts = step.primitive.facts
        if facts.addressed is not None and facts.addressed.does == READS:
            arrays = step.args[facts.addressed.first :]
            return any(self.types[a].dtype.kind == "b" and a in self.varying for a in arrays)
        return bool(facts.ragged)

    def _has_vertex(self, node: FlowStep) -> bool:
        if not getattr(getattr(node.primitive, "derivative", None), "vertex", False):
            return False
        if node.primitive not in (power, float_power):
            return not self.varying.isdisjoint(node.args)
        base, exponent = node.args
        if base in self.varying:
            return exponent in self.varying or not np.all(np.greater_equal(self.notebook.value(exponent), 1))
        return exponent in self.varying and not np.all(np.greater(self.notebook.value(base), 0))

    def _varying(self) -> set[int]:
        """The numbers that depend on the inputs."""
        found = set(self.program.inputs)
        for step in self.program.steps:
            if not found.isdisjoint(step.args):
                found.update(step.outs)
        return found

    def _reached(self, numbers: Iterable[int], args: dict[int, tuple[int, ...]]) -> set[int]:
        """The steps that numbers depend on."""
        found: set[int] = set()
        waiting = list(numbers)
        while waiting:
            k = self._made.get(waiting.pop())
            if k is not None and k not in found and k in args:
                found.add(k)
                waiting += args[k]
        return found

    def _simplify(self, order: list[int]) -> None:
        known: dict[Any, tuple[int, ...]] = {}
        for k in order:
            step = self.program.steps[k]
            args = tuple([self.same(a) for a in step.args])
            node = FlowStep(step.primitive, args, step.params, step.outs)
            if len(node.outs) == 1 and not step.primitive.multiple:
                node = self._lighter(node)
                target = self._alias(node, k)
                if target is not None:
                    self._same[node.outs[0]] = target
                    self._hand_on_name(node.outs[0], target)
                    continue
            key = self._key(node)
            if key in known and step.primitive is not NAMED:
                self._same.update(zip(node.outs, known[key], strict=True))
                continue
            known[key] = node.outs
            self.nodes[k] = node

    def _hand_on_name(self, out: int, target: int) -> None:
        """A value that only repeats one without a name gives it its own."""
        symbol = self.symbols.get(out)
        is_free = target in self._made and target not in self.symbols and target not in self.constants
        if symbol is not None and symbol.kind == "value" and is_free:
            self.symbols[target] = symbol

    def _key(self, node: FlowStep) -> Any:
        plain = not any(isinstance(p, np.ndarray) for p in node.params.values())
        return (node.primitive.name, node.args, repr(node.params)) if plain else object()

    def _lighter(self, node: FlowStep) -> FlowStep:
        """The same value by a simpler operation."""
        primitive, args = node.primitive, node.args
        if primitive is multiply:
            for one, other in (args, args[::-1]):
                if self._is(one, -1) and self._alike(other, node.outs[0]):
                    return FlowStep(negative, (other,), {}, node.outs)
        if primitive is reshape or primitive is broadcast_to:
            inner = self.maker(args[0])
            if inner is not None and inner.primitive is reshape and args[0] not in self.symbols:
                source = self.types[inner.args[0]].shape
                if primitive is reshape or source == ():
                    return node._replace(args=inner.args)
        return node

    def _alias(self, node: FlowStep, place: int) -> int | None:
        """The number that a step only repeats."""
        (out,), args = node.outs, node.args
        if node.primitive is NAMED:
            return self._unnamed(out, args[0], place)
        if (
            args
            and all(a in self.constants and self.types[a].shape == () for a in args)
            and self.types[out].shape == ()
        ):
            self.constants[out] = self.notebook.value(out)
            return out
        facts = node.primitive.facts
        if isinstance(facts.moves, Same) and not node.params and self.types[args[0]].dtype.kind in facts.moves.of:
            return args[0] if self._alike(args[0], out) or not self.is_strict else None
        if len(args) == 1 and self._alike(args[0], out) and self._stays(node):
            return args[0]
        return self._neutral(node)

    def _stays(self, node: FlowStep) -> bool:
        """Whether a step gives an operand of the same type as it is."""
        facts, t = node.primitive.facts, self.types[node.outs[0]]
        return facts.reduces is not None or is_same(facts.moves, t.shape, t.dtype.kind, node.params)

    def _neutral(self, node: FlowStep) -> int | None:
        """The operand that another one leaves as it is: a factor 1, a condition that always holds."""
        (out,), args, facts = node.outs, node.args, node.primitive.facts
        neutral = facts.neutral
        is_logical = type(neutral) is bool
        if neutral is None or (is_logical and self.types[out].dtype.kind != "b"):
            return None
        for other, one in (args, args[::-1]) if facts.commutative else (args,):
            same = other if self._is(one, neutral) else one if is_logical and self._is(one, not neutral) else None
            if same is not None and self._alike(same, out):
                return same
        return None

    def _unnamed(self, out: int, target: int, place: int) -> int | None:
        """An adjoint is what was computed for it, if that has no name yet; else it stays a step of its own."""
        symbol = self.symbols.get(out)
        is_free = (
            target not in self.symbols and target not in self.constants and self._made.get(target, -1) >= self.back
        )
        if symbol is None or is_free:
            if symbol is not None:
                self.symbols[target] = symbol
            return target
        return None

    def _is(self, number: int, value: float) -> bool:
        return number in self.constants and self.types[number].shape == () and bool(self.constants[number] == value)

    def _alike(self, one: int, other: int) -> bool:
        first, second = self.types[one], self.types[other]
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        return first.weak == second.weak or not self.is_strict
