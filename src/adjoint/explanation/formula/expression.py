"""What a number of a notebook's program stands for, as an expression of the values that have a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...core.entry.facts import Facts
from ...core.entry.moves import Same, View, is_same
from ...core.primitive import Marker, Primitive
from ...core.values import dtype_of, shape_of
from ...ir.fold import fold
from ...ir.formulas import formula_of
from ...ir.program import Step, type_of
from ...ops.arithmetic import divide, multiply, negative, power
from ...ops.selection import where
from ..record.recorder import NAMED, Notebook

SYMBOL, CONSTANT, RESULT = Marker("symbol"), Marker("constant"), Marker("result")
Found = TypeVar("Found")


class Expression(NamedTuple):
    """An operation on expressions, or a leaf: `head` is the primitive, or SYMBOL, CONSTANT or RESULT."""

    head: Primitive | Marker
    args: tuple[Expression, ...]
    params: dict[str, Any]
    value: Any
    """Its value in this very evaluation."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return shape_of(self.value)

    def is_constant(self, *numbers: float) -> bool:
        """Whether it is a constant; if numbers are given, one of those."""
        if self.head != CONSTANT:
            return False
        return not numbers or (self.shape == () and any(self.value == n for n in numbers))


class Symbol(NamedTuple):
    """A value that has a name: of a row, its adjoint or its tangent."""

    kind: str
    """`value`, `adjoint` or `tangent`."""
    place: int
    """Where in the trace."""


Symbols = Mapping[int, Symbol]


def constant(value: Any) -> Expression:
    """A number or array that is what it is."""
    return Expression(CONSTANT, (), {}, value)


def expression_of(
    notebook: Notebook, number: int, symbols: Symbols, *, but: Collection[int] = frozenset()
) -> Expression:
    """The expression of a number, down to the symbols; those of the numbers in `but` are looked through.

    Only what is exactly the same is made simpler: a product with 1, a power of 1, a shape that stays, and what does not
    depend on any symbol.
    """
    found: dict[int, Expression] = {}
    waiting = [number]
    while waiting:  # a loop and no recursion: a row may be a long sum
        n = waiting[-1]
        if n in found:
            waiting.pop()
            continue
        symbol = symbols.get(n)
        step = notebook.producers.get(n)
        if symbol is not None and n not in but:
            found[n] = Expression(SYMBOL, (), {"symbol": symbol}, notebook.value(n))
        elif step is None:
            found[n] = constant(notebook.value(n))
        else:
            missing = [a for a in step.args if a not in found]
            if missing:
                waiting += missing
                continue
            args = tuple([found[a] for a in step.args])
            value = notebook.value(n)
            if step.primitive is NAMED:
                found[n] = args[0]
            elif len(step.outs) > 1 or step.primitive.multiple:
                call = Expression(step.primitive, args, step.params, tuple([notebook.value(o) for o in step.outs]))
                found[n] = Expression(RESULT, (call,), {"k": step.outs.index(n)}, value)
            else:
                found[n] = shortened(Expression(step.primitive, args, step.params, value))
    return found[number]


def shortened(e: Expression) -> Expression:
    """The same value with less to read."""
    head, args = e.head, e.args
    if isinstance(e.value, (tuple, list)):  # a step with several results, of which others read one
        return e
    if args and all(a.head == CONSTANT for a in args) and (e.shape == () or np.size(e.value) <= 16):
        return constant(e.value)
    if head is multiply:
        for one, other in (args, args[::-1]):
            if one.is_constant(1) and _is_like(other, e):
                return other
            if one.is_constant(-1) and _is_like(other, e):
                return Expression(negative, (other,), {}, e.value)
    elif head in (divide, power) and args[1].is_constant(1) and _is_like(args[0], e):
        return args[0]
    elif head is negative and args[0].head is negative:
        return args[0].args[0]
    elif head is where and len(args) == 3 and args[0].is_constant() and args[0].shape == ():
        chosen = args[1] if args[0].value else args[2]
        return chosen if _is_like(chosen, e) else e
    elif len(args) == 1 and _stays(e):
        return args[0]
    return e


def _stays(e: Expression) -> bool:
    """Whether the operand, of the same shape and dtype, is the result: the transpose of a vector, a sum of one."""
    facts = e.head.facts
    if (facts.reduces is None and facts.moves is None) or not _is_like(e.args[0], e):
        return False
    return facts.reduces is not None or is_same(facts.moves, e.shape, dtype_of(e.value).kind, e.params)


def is_unmoved(facts: Facts) -> bool:
    """Whether an operation leaves a single number as it is."""
    return isinstance(facts.moves, (Same, View))


def in_full(e: Expression) -> Expression | None:
    """An operation in terms of those of its formula; None if it has none."""
    program = None
    if not isinstance(e.head, Marker):
        program = formula_of(e.head, [type_of(a.value) for a in e.args], e.params)
    if program is None:
        return None
    return fold(program, _Shortened(), e.args)[0]


class _Shortened:
    """Expressions with their values."""

    def constant(self, number: int, value: Any) -> Expression:
        return constant(value)

    def step(self, step: Step, args: list[Expression]) -> list[Expression]:
        value = step.primitive.evaluate(*[a.value for a in args], **step.params)
        return [shortened(Expression(step.primitive, tuple(args), step.params, value))]


def decided(e: Expression) -> Expression:
    """For reading alone: choices that fell out the same for every element are taken as they fell.

    Rules ask whether a point is singular; where it is not, nobody wants to read the question.
    """
    return _of_each(e, _decided)


def _decided(e: Expression, args: tuple[Expression, ...]) -> Expression:
    if e.head is where and len(args) == 3:
        condition = np.asarray(args[0].value)
        if condition.all() or not condition.any():
            chosen = args[1] if condition.all() else args[2]
            if chosen.shape == e.shape or chosen.head == CONSTANT:
                return chosen
    for one, other in (args, args[::-1]) if e.head is multiply else ():
        if one.is_constant(1) and other.shape == e.shape:
            return other
    return shortened(Expression(e.head, args, e.params, e.value)) if e.args else e


def _of_each(e: Expression, make: Callable[[Expression, tuple[Found, ...]], Found]) -> Found:
    """What is made of an expression and of what was made of its arguments; of each once, however often it is used."""
    found: dict[int, Found] = {}
    waiting = [e]
    while waiting:
        part = waiting[-1]
        missing = [a for a in part.args if id(a) not in found]
        waiting += missing
        if missing:
            continue
        waiting.pop()
        if id(part) not in found:
            found[id(part)] = make(part, tuple([found[id(a)] for a in part.args]))
    return found[id(e)]


def _is_like(one: Expression, other: Expression) -> bool:
    return one.shape == other.shape and dtype_of(one.value) == dtype_of(other.value)


def symbols_in(e: Expression) -> Iterator[Symbol]:
    """The symbols of an expression from left to right; what is used more than once is looked at once."""
    waiting, seen = [e], set()
    while waiting:
        e = waiting.pop()
        if id(e) in seen:
            continue
        seen.add(id(e))
        if e.head == SYMBOL:
            yield e.params["symbol"]
        waiting += reversed(e.args)


def size(e: Expression) -> int:
    """How much there is to read."""
    return _of_each(e, lambda _, sizes: 1 + sum(sizes))
