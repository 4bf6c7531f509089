"""What Python's syntax has and an expression does not: the words for each, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Callable

SYMBOLS: dict[type[ast.operator] | type[ast.unaryop] | type[ast.cmpop], tuple[str, str]] = {
    ast.BitXor: ("^", "Write  **  for powers."),
    ast.BitAnd: ("&", "Write  logical_and(a, b)."),
    ast.BitOr: ("|", "Write  logical_or(a, b);  the absolute value is  abs(x)."),
    ast.LShift: ("<<", ""),
    ast.RShift: (">>", ""),
    ast.FloorDiv: ("//", "Write  floor(a / b)."),
    ast.Invert: ("~", "Write  logical_not(a)."),
    ast.Not: ("not", "Write  logical_not(a)."),
    ast.In: ("in", ""),
    ast.NotIn: ("not in", ""),
    ast.Is: ("is", "Write  ==  for equality."),
    ast.IsNot: ("is not", "Write  !=  for inequality."),
}
"""Operators that are refused: how they are written, and what to write instead."""

CONSTRUCTS: dict[type[ast.expr], tuple[str, str]] = {
    ast.IfExp: ("no 'if'", "Write  where(condition, a, b)."),
    ast.Lambda: ("no 'lambda'", ""),
    ast.NamedExpr: ("no ':='", "Write values after the expression, as in  x=1.3."),
    ast.ListComp: ("no loops", ""),
    ast.SetComp: ("no loops", ""),
    ast.DictComp: ("no loops", ""),
    ast.GeneratorExp: ("no loops", ""),
    ast.Tuple: ("one result", "Write  [a, b]  for an array."),
    ast.Starred: ("no '*' before a value", ""),
    ast.Await: ("no 'await'", ""),
    ast.Yield: ("no 'yield'", ""),
    ast.YieldFrom: ("no 'yield'", ""),
    ast.Slice: ("no ':' outside an index", ""),
}
"""Other constructs that are refused."""

MODULES = {"np", "numpy", "math", "scipy", "special"}

Refusal = tuple[str, int | None, str]
"""What is refused, the column if it is not that of the node, and what to do."""


def refusal(node: ast.expr, source: Callable[[ast.AST], str], between: Callable[[ast.expr, str], int]) -> Refusal:
    """Why a node cannot be part of an expression.

    Parameters
    ----------
    node : ast.expr
        A node that the expression's own rules did not take.
    source : callable
        Gives a node as it is written.
    between : callable
        Gives the column of a symbol behind a node.
    """
    match node:
        case ast.BinOp():
            symbol, hint = SYMBOLS[type(node.op)]
            return f"an expression has no '{symbol}'", between(node.left, symbol), hint
        case ast.UnaryOp():
            symbol, hint = SYMBOLS[type(node.op)]
            return f"an expression has no '{symbol}'", None, hint
        case ast.BoolOp():
            symbol = "and" if isinstance(node.op, ast.And) else "or"
            hint = f"Write  logical_{symbol}(a, b)."
            return f"an expression has no '{symbol}'", between(node.values[0], symbol), hint
        case ast.Compare():
            place, comparison = next((i, type(op)) for i, op in enumerate(node.ops) if type(op) in SYMBOLS)
            symbol, hint = SYMBOLS[comparison]
            left = [node.left, *node.comparators][place]
            return f"an expression has no '{symbol}'", between(left, symbol.split()[0]), hint
        case ast.Attribute():
            known = isinstance(node.value, ast.Name) and node.value.id in MODULES
            hint = f"Write  {node.attr}  instead of  {source(node)}." if known else "Functions are written  f(x)."
            return "an expression has no '.' after a name", between(node.value, "."), hint
        case ast.Call(func=ast.Attribute()):
            return refusal(node.func, source, between)
        case ast.Call():
            return "only a function can be called", between(node.func, "("), "Write  *  for a product."
    what, hint = CONSTRUCTS.get(type(node), ("no such thing", ""))
    return f"an expression has {what}", None, hint
