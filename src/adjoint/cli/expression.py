"""Expressions: read, checked against what is allowed, and kept as a list of steps; nothing is ever handed to Python.

Equal parts are one step, so `sqrt(x**2 + exp(x**2)) + cos(x**2 + exp(x**2))` has six steps, as in the textbook.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from .errors import CommandError, sentences, suggestion
from .functions import ALIASES, COMPARISONS, CONSTANTS, FUNCTIONS, OPERATORS, TRUTHS, array, function_named
from .reading import read
from .refusals import refusal

LARGEST_EXACT = 2**53
"""Up to here a whole number stays one, so that x**2 is shown as x**2; above, it is the nearest float."""

AN_INDEX = "an index is a whole number or a slice such as 1:3"


@dataclass(frozen=True)
class Operation:
    """One operation: what is applied to which earlier steps, and the column it is written at."""

    name: str
    apply: Callable[..., Any]
    operands: tuple[int, ...]
    column: int


@dataclass(frozen=True)
class VariableStep:
    """A step that is a variable's value."""

    name: str
    column: int


@dataclass(frozen=True)
class NumberStep:
    """A step that is a number."""

    value: float
    column: int


@dataclass(frozen=True)
class ParsedExpression:
    """An expression as steps; the last one is its result."""

    text: str
    steps: tuple[Operation | VariableStep | NumberStep, ...]

    @property
    def variables(self) -> list[str]:
        """The names of the variables, in the order they occur."""
        return [step.name for step in self.steps if isinstance(step, VariableStep)]


def parse(text: str, given: Collection[str] = (), *, tuples: bool = False) -> ParsedExpression:
    """The expression that a text stands for.

    Parameters
    ----------
    text : str
        What the user wrote.
    given : collection of str, optional
        The names of the variables it may use.
    tuples : bool, optional
        Whether `1, 2, 3` without brackets is an array.

    Raises
    ------
    CommandError
        If it is not an expression or uses what is not allowed; the error points at the character.

    Examples
    --------
    >>> [step.name for step in parse("x**2 + exp(x**2)", ["x"]).steps if isinstance(step, Operation)]
    ['**', 'exp', '+']
    """
    text = text.strip()
    tree = read(text)
    if tuples and isinstance(tree, ast.Tuple):
        tree = ast.copy_location(ast.List(tree.elts, ast.Load()), tree)
    return _Builder(text, given).expression(tree)


@dataclass(frozen=True)
class _Shape:
    """What a node of the syntax tree is: which operation on which other nodes, and what makes it equal to another."""

    key: Hashable
    name: str
    apply: Callable[..., Any]
    operands: tuple[ast.expr, ...]
    column: int


class _Builder:
    """Turns one syntax tree into steps."""

    def __init__(self, text: str, given: Collection[str]) -> None:
        self.text, self.given = text, given
        self.bytes = text.encode()
        self.steps: list[Operation | VariableStep | NumberStep] = []
        self.known: dict[Hashable, int] = {}

    def expression(self, root: ast.expr) -> ParsedExpression:
        """The steps of a tree, operands before what uses them; a loop, because long sums are deep trees."""
        pending: list[ast.expr | _Shape] = [root]
        results: list[int] = []
        while pending:
            item = pending.pop()
            if isinstance(item, _Shape):
                count = len(item.operands)
                operands = tuple(results[len(results) - count :])
                del results[len(results) - count :]
                step = Operation(item.name, item.apply, operands, item.column)
                results.append(self.add((item.key, operands), step))
            elif (leaf := self.leaf(item)) is not None:
                key = (leaf.name,) if isinstance(leaf, VariableStep) else (type(leaf.value), repr(leaf.value))
                results.append(self.add(key, leaf))
            else:
                form = self.form(item)
                pending += [form, *reversed(form.operands)]
        self.check_result(root)
        return ParsedExpression(self.text, tuple(self.steps))

    def add(self, key: Hashable, step: Operation | VariableStep | NumberStep) -> int:
        """The place of a step: a new one, or that of the equal one that is there."""
        if key not in self.known:
            self.known[key] = len(self.steps)
            self.steps.append(step)
        return self.known[key]

    def leaf(self, node: ast.expr) -> VariableStep | NumberStep | None:
        """A name or a number; a minus sign before a number belongs to it, so that x**-1 has a whole exponent."""
        column = self.column(node.col_offset)
        if isinstance(node, ast.Name):
            return self.named(node.id, column)
        if isinstance(node, ast.Constant):
            return NumberStep(self.number(node), column)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return NumberStep(-self.number(node.operand), column)
        return None

    def named(self, name: str, column: int) -> VariableStep | NumberStep:
        """A variable, or a constant that no variable hides."""
        if name in self.given:
            return VariableStep(name, column)
        if name in CONSTANTS:
            return NumberStep(CONSTANTS[name], column)
        if function_named(name) is not None:
            self.fail(f"{name} is a function", column, f"Write  {name}(...).")
        close = suggestion(name, [*self.given, *CONSTANTS])
        given = f"given: {', '.join(self.given)}." if self.given else "given: no variables."
        hint = sentences(given, f"Write  {name}=...  after the expression.", close)
        raise self.failure(f"unknown name '{name}'", column, hint)

    def number(self, node: ast.Constant) -> float:
        """The value of a literal."""
        value, column = node.value, self.column(node.col_offset)
        if isinstance(value, complex):
            self.fail("an expression has no complex numbers", column)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"'{self.source(node)}' is not a number", column)
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if np.isinf(number):
            self.fail("the number is too large", column, "The largest is about 1.8e308; infinity is  inf.")
        return value if isinstance(value, int) and value <= LARGEST_EXACT else number

    def form(self, node: ast.expr) -> _Shape:
        """The operation a node stands for, if it is allowed."""
        column = self.column(node.col_offset)
        match node:
            case ast.BinOp() if type(node.op) in OPERATORS:
                name, apply = OPERATORS[type(node.op)]
                return _Shape(name, name, apply, (node.left, node.right), self.between(node.left, name))
            case ast.UnaryOp(op=ast.USub()):
                return _Shape("minus", "-", lambda value: -value, (node.operand,), column)
            case ast.UnaryOp(op=ast.UAdd()):
                return _Shape("plus", "+", lambda value: +value, (node.operand,), column)
            case ast.Compare() if all(type(comparison) in COMPARISONS for comparison in node.ops):
                return self.comparison(node)
            case ast.Call(func=ast.Name(id=called)):
                return self.call(node, called, column)
            case ast.Subscript():
                index = self.index(node.slice)
                name = self.source(node.slice)
                column = self.between(node.value, "[")
                return _Shape(("[]", repr(index)), f"[{name}]", lambda value: value[index], (node.value,), column)
            case ast.List() if node.elts:
                return _Shape("[", "[...]", array, tuple(node.elts), column)
            case ast.List(elts=[]):
                self.fail("the list is empty", column)
        what, offset, hint = refusal(node, self.source, self.between)
        raise self.failure(what, column if offset is None else offset, hint)

    def comparison(self, node: ast.Compare) -> _Shape:
        """a < b, or a chain a < b < c, which holds where all its parts do."""
        pairs = [COMPARISONS[type(comparison)] for comparison in node.ops]
        name = " ".join(symbol for symbol, _ in pairs)

        def compare(*values: Any) -> Any:
            truths = [test(left, right) for (_, test), left, right in zip(pairs, values, values[1:], strict=False)]
            return functools.reduce(np.logical_and, truths)

        return _Shape(
            ("compare", name), name, compare, (node.left, *node.comparators), self.between(node.left, pairs[0][0])
        )

    def call(self, node: ast.Call, name: str, column: int) -> _Shape:
        """A call of a function of the table, with the right number of arguments."""
        function = function_named(name)
        if function is None and (name in self.given or name in CONSTANTS):
            self.fail(f"{name} is a value, not a function", column, f"Write  {name}*(...)  for a product.")
        if function is None:
            close = suggestion(name, [*FUNCTIONS, *ALIASES])
            self.fail(f"unknown function '{name}'", column, close or "adjoint explain --help  lists the functions.")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.fail("arguments are written one by one, without '*'", self.column(argument.col_offset))
        axis: int | None = None
        for keyword in node.keywords:
            if keyword.arg != "axis" or not function.axis:
                what = f"{name} has no keyword '{keyword.arg or '**'}'"
                self.fail(what, self.column(keyword.col_offset), "Only axis= of sums and the like is known.")
            axis = self.whole(keyword.value, "an axis is a whole number")
        if len(node.args) != function.arguments:
            plural = "argument" if function.arguments == 1 else "arguments"
            what = f"{name} takes {function.arguments} {plural}, not {len(node.args)}"
            self.fail(what, column, function.instead)
        apply = function.apply if axis is None else lambda value: function.apply(value, axis=axis)
        key = ("call", ALIASES.get(name, name), axis)
        return _Shape(key, name, apply, tuple(node.args), column)

    def index(self, node: ast.expr) -> Any:
        """A constant index: a whole number, a slice, or several of them."""
        if isinstance(node, ast.Tuple):
            return tuple(self.index(element) for element in node.elts)
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else self.whole(part, AN_INDEX) for part in parts))
        return self.whole(node, AN_INDEX)

    def whole(self, node: ast.expr, expected: str) -> int:
        """A whole number, written out."""
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        literal = node.operand if negative and isinstance(node, ast.UnaryOp) else node
        if not isinstance(literal, ast.Constant) or type(literal.value) is not int:
            self.fail(f"{expected}, not '{self.source(node)}'", self.column(node.col_offset))
        return -literal.value if negative else literal.value

    def check_result(self, root: ast.expr) -> None:
        """A truth value is no result: it has no derivative."""
        named = isinstance(root, ast.Call) and isinstance(root.func, ast.Name) and root.func.id in TRUTHS
        if named or isinstance(root, ast.Compare):
            column = self.between(root.left, "") if isinstance(root, ast.Compare) else self.column(root.col_offset)
            self.fail("the result is a truth value, which has no derivative", column, "Write  where(condition, a, b).")

    def column(self, offset: int) -> int:
        """The column in characters of an offset in bytes."""
        return len(self.bytes[:offset].decode())

    def between(self, left: ast.expr, symbol: str) -> int:
        """The column of an operator: the first such symbol after its left operand."""
        end = self.column(left.end_col_offset or 0)
        while symbol == "" and end < len(self.text) - 1 and self.text[end] in " )":
            end += 1
        return max(self.text.find(symbol, end), 0)

    def source(self, node: ast.AST) -> str:
        """How a node is written."""
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        return self.bytes[start:end].decode()

    def fail(self, what: str, column: int, hint: str = "") -> NoReturn:
        """Refuse, pointing at a column."""
        raise self.failure(what, column, hint)

    def failure(self, what: str, column: int, hint: str = "") -> CommandError:
        """The error that points at a column."""
        return CommandError(what, text=self.text, column=column, hint=hint)
