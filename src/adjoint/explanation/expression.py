"""What a number of a notebook's program stands for, as an expression of the values that have a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.values import dtype_of, shape_of
from .notebook import NAMED, Notebook

SYMBOL, CONSTANT, RESULT = "symbol", "constant", "result"
Found = TypeVar("Found")


class Expression(NamedTuple):
    """An operation on expressions, or a leaf: `head` is the name of the primitive, or SYMBOL, CONSTANT or RESULT."""

    head: str
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
                call = Expression(step.primitive.name, args, step.params, tuple([notebook.value(o) for o in step.outs]))
                found[n] = Expression(RESULT, (call,), {"k": step.outs.index(n)}, value)
            else:
                found[n] = simplified(Expression(step.primitive.name, args, step.params, value))
    return found[number]


SAME_SHAPE = frozenset(("astype", "broadcast_to", "index", "item", "reshape", "sum"))
"""Operations that do nothing if shape and dtype stay: the elements of a number, the transpose of a vector."""


def simplified(e: Expression) -> Expression:
    """The same value with less to read."""
    head, args = e.head, e.args
    if isinstance(e.value, (tuple, list)):  # a step with several results, of which others read one
        return e
    if args and all(a.head == CONSTANT for a in args) and (e.shape == () or np.size(e.value) <= 16):
        return constant(e.value)
    if head == "multiply":
        for one, other in (args, args[::-1]):
            if one.is_constant(1) and _is_like(other, e):
                return other
            if one.is_constant(-1) and _is_like(other, e):
                return Expression("negative", (other,), {}, e.value)
    elif head in ("divide", "power") and args[1].is_constant(1) and _is_like(args[0], e):
        return args[0]
    elif head == "negative" and args[0].head == "negative":
        return args[0].args[0]
    elif head == "where" and len(args) == 3 and args[0].is_constant() and args[0].shape == ():
        chosen = args[1] if args[0].value else args[2]
        return chosen if _is_like(chosen, e) else e
    elif head in SAME_SHAPE and len(args) == 1 and _is_like(args[0], e) and (head != "index" or e.shape == ()):
        return args[0]
    return e


def decided(e: Expression) -> Expression:
    """For reading alone: choices that fell out the same for every element are taken as they fell.

    Rules ask whether a point is singular; where it is not, nobody wants to read the question.
    """
    return _of_each(e, _decided)


def _decided(e: Expression, args: tuple[Expression, ...]) -> Expression:
    if e.head == "where" and len(args) == 3:
        condition = np.asarray(args[0].value)
        if condition.all() or not condition.any():
            chosen = args[1] if condition.all() else args[2]
            if chosen.shape == e.shape or chosen.head == CONSTANT:
                return chosen
    for one, other in (args, args[::-1]) if e.head == "multiply" else ():
        if one.is_constant(1) and other.shape == e.shape:
            return other
    return simplified(Expression(e.head, args, e.params, e.value)) if e.args else e


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
