"""Expressions as text, in mathematical signs or in plain ASCII."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.entry.algebra import subscripts
from ...core.entry.facts import ATOM, COMPARE, HOLDS, POWER, PRODUCT, SIGN, SUM
from ...core.entry.moves import ADDS, READS, WRITES, Same, View, identity
from ...core.primitive import Marker, Primitive
from ...core.values import dtype_of
from ...ir.bits import same_bits
from ...ops.arithmetic import divide, multiply, negative, reciprocal
from ...ops.contraction import matmul
from ...ops.indexing import index
from ...ops.keys import HOLE
from ..record.record import in_line
from .expression import CONSTANT, RESULT, SYMBOL, Expression, Symbol, size
from .number_text import number_text

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

SIGMA = "σ"
"""What mirrors around one half: its values for z and -z add up to 1."""

HIDDEN = frozenset(("body", "cond", "condition", "branches", "sizes", "stored", "memory", "reverse"))
"""Parameters of rolled loops that are of no use to a reader."""

LONGEST_FORMULA = 60
"""An expression of more parts than this is not written out."""


class Notation:
    """How values are called and formulas are written."""

    def __init__(
        self, name: Callable[[Symbol], str], arrays: Sequence[tuple[Any, str]], *, ascii: bool = False
    ) -> None:
        self.name = name
        self.ascii = ascii
        self._arrays = arrays
        """Arrays that the function uses, and what it calls them."""
        self.times = "*" if ascii else "·"

    def text(self, e: Expression, outside: int = COMPARE) -> str:
        """An expression, in brackets if what stands around it holds tighter."""
        text, inside = self._written(e)
        return f"({text})" if inside < outside else text

    def product(self, name: str, factor: str) -> str:
        """An adjoint or tangent times a local partial: `∇v6 · (-1)`."""
        loose = factor.startswith("-") or (" " in _outside(factor) and not factor.startswith("["))
        return f"{name} {self.times} {f'({factor})' if loose else factor}"

    def _written(self, e: Expression) -> tuple[str, int]:
        head = e.head
        if head is SYMBOL:
            return self.name(e.params["symbol"]), ATOM
        if head is CONSTANT:
            return self._constant(e.value)
        if size(e) > LONGEST_FORMULA:
            return f"{head.name}({'...' if self.ascii else '…'})", ATOM
        if head is RESULT:
            return _result(self, e)
        return _writer(e)(self, e)

    def call(self, name: str, e: Expression) -> str:
        """`name(arguments, parameters)`."""
        parts = [self.text(a) for a in e.args]
        parts += [
            f"{k}={_parameter(v)}" for k, v in e.params.items() if v is not None and v is not False and k not in HIDDEN
        ]
        return f"{name}({', '.join(parts)})"

    def named(self, e: Expression) -> tuple[str, int]:
        """A call under the name of the operation."""
        return self.call(called(e.head, ascii=self.ascii), e), ATOM

    def _constant(self, x: Any) -> tuple[str, int]:
        if isinstance(x, np.ndarray) and x.ndim:
            return self._array(x)
        x = np.asarray(x)[()]
        if np.iscomplexobj(x):
            return f"({x:.6g})", ATOM
        if dtype_of(x).kind not in "fiu":
            return str(x), ATOM
        text = f"{x:.12g}" if dtype_of(x).kind == "f" else str(x)
        return text, SIGN if text.startswith("-") else ATOM

    def _array(self, x: np.ndarray) -> tuple[str, int]:
        for array, name in self._arrays:
            if array is x or (array.shape == x.shape and array.dtype == x.dtype and same_bits(array, x)):
                return name, ATOM
        if x.size and (x == x.flat[0]).all():
            return self._constant(x.flat[0])
        if x.size <= 4 and x.dtype.kind in "fiub":
            return value_text(x, 4), ATOM
        return f"{x.dtype.name}[{','.join(map(str, x.shape))}]", ATOM


def called(head: Primitive | Marker, *, ascii: bool = False) -> str:
    """What formulas call an operation."""
    words = head.facts.form.text.split()
    return head.name if not words or "{" in words[0] else words[-1 if ascii else 0]


class _Part:
    """An operand in a template: `{0:sum}` puts it in brackets unless it holds together as tightly as a sum."""

    def __init__(self, notation: Notation, e: Expression) -> None:
        self._notation, self._e = notation, e

    def __format__(self, hold: str) -> str:
        return self._notation.text(self._e, HOLDS[hold] if hold else COMPARE)


Writer = Callable[[Notation, Expression], tuple[str, int]]


def _writer(e: Expression) -> Writer:
    """How an operation is written: by what it does to places, by its sign, or as a call."""
    facts, params = e.head.facts, e.params
    if facts.addressed is not None and "template" in params:
        return KEYED.get(facts.addressed.does, Notation.named)
    if isinstance(facts.moves, Same) and facts.moves == Same():
        return _cast if params else _first
    if isinstance(facts.moves, View):
        return _arranged
    if "keepdims" in params:
        return _reduction
    if facts.contracts is not None and params:
        return _contract
    if "order" in params:
        return _derived
    return _elementwise(e)


def _elementwise(e: Expression) -> Writer:
    form = e.head.facts.form
    if "{" in form.text:
        return _templated
    if form.text.startswith(SIGMA):
        return _sigmoid
    if not form.sign or form.text:
        return Notation.named
    if len(e.args) == 1:
        return _power if form.hold == POWER else _signed
    return BETWEEN.get(form.sign, _compared)


def _templated(n: Notation, e: Expression) -> tuple[str, int]:
    form = e.head.facts.form
    return form.text.format(*[_Part(n, a) for a in e.args]), form.hold


def _compared(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{n.text(e.args[0], SUM)} {e.head.facts.form.sign} {n.text(e.args[1], SUM)}", COMPARE


def _outside(text: str) -> str:
    """What stands outside of brackets."""
    found, depth = [], 0
    for c in text:
        depth -= c in ")]"
        if not depth:
            found.append(c)
        depth += c in "(["
    return "".join(found)


def _parameter(value: Any) -> str:
    return str(np.dtype(value)) if isinstance(value, (np.dtype, type)) else repr(value)


def _add(n: Notation, e: Expression) -> tuple[str, int]:
    left, right = e.args
    if left.head == right.head == SYMBOL and left.params == right.params:
        return f"2{n.times}{n.text(left)}", PRODUCT
    if right.head is negative:
        return f"{n.text(left, SUM)} - {n.text(right.args[0], PRODUCT)}", SUM
    if right.is_constant() and (text := n.text(right)).startswith("-"):
        return f"{n.text(left, SUM)} - {text[1:]}", SUM
    if right.head is multiply and right.args[0].is_constant() and (text := n.text(right, SUM)).startswith("-"):
        return f"{n.text(left, SUM)} - {text[1:]}", SUM
    return f"{n.text(left, SUM)} + {n.text(right, SUM)}", SUM


def _subtract(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{n.text(e.args[0], SUM)} - {n.text(e.args[1], PRODUCT)}", SUM


def _multiply(n: Notation, e: Expression) -> tuple[str, int]:
    left, right = e.args
    if right.is_constant() and not left.is_constant() and right.shape == ():
        left, right = right, left  # a number stands in front
    if _is_lifted(left, COLUMN) and len(right.shape) == 1:
        return f"outer({n.text(left.args[0])}, {n.text(right)})", ATOM
    second = n.text(right, PRODUCT)
    if second.startswith("-") or right.head in (divide, reciprocal, matmul):
        second = f"({second})"
    return f"{n.text(left, PRODUCT)}{n.times}{second}", PRODUCT


def _is_lifted(e: Expression, template: tuple[Any, ...]) -> bool:
    return e.head is index and e.params["template"] == template and len(e.args[0].shape) == 1


def _divide(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{n.text(e.args[0], PRODUCT)} / {n.text(e.args[1], SIGN)}", PRODUCT


def _signed(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{e.head.facts.form.sign}{n.text(e.args[0], PRODUCT)}", SIGN


def _power(n: Notation, e: Expression) -> tuple[str, int]:
    base, exponent = e.args[0], (e.args[1] if len(e.args) > 1 else Expression(CONSTANT, (), {}, 2))
    text = n.text(base, ATOM)
    if exponent.is_constant() and exponent.shape == () and not n.ascii and _is_whole(exponent.value):
        return text + str(int(exponent.value)).translate(SUPERSCRIPTS), POWER
    return f"{text}{'**' if n.ascii else '^'}{n.text(exponent, ATOM)}", POWER


def _is_whole(x: Any) -> bool:
    return not np.iscomplexobj(x) and float(x).is_integer()


def _sigmoid(n: Notation, e: Expression) -> tuple[str, int]:
    inner = e.args[0]
    if inner.head is negative:  # σ(-z) is 1 - σ(z)
        return f"1 - {n.named(Expression(e.head, inner.args, {}, None))[0]}", SUM
    return n.named(e)


def _matmul(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{n.text(e.args[0], PRODUCT)} @ {n.text(e.args[1], SIGN)}", PRODUCT


def _arranged(n: Notation, e: Expression) -> tuple[str, int]:
    """A number stands for itself in every element; axes that are turned around are a transposed matrix."""
    inner, moves = e.args[0], e.head.facts.moves
    while isinstance(inner.head.facts.moves, View) and len(inner.args) == 1 and "template" not in inner.params:
        inner = inner.args[0]
    if inner.shape == ():
        return n._written(inner)
    have = e.args[0].shape
    assert isinstance(moves, View)
    if not moves.in_order and moves.reads(have, e.shape, **e.params) == identity(len(have))[::-1]:
        return f"{n.text(e.args[0], ATOM)}.T", ATOM
    return n.named(e)


ROW, COLUMN = (Ellipsis, None, slice(None)), (Ellipsis, None)


def _index(n: Notation, e: Expression) -> tuple[str, int]:
    inner = e.args[0]
    if inner.head is matmul and e.params["template"] == (Ellipsis, 0, slice(None)) and _is_lifted(inner.args[0], ROW):
        left, right = inner.args[0].args[0], inner.args[1]  # a vector was made a matrix, and a vector again
        return f"{n.text(left, PRODUCT)} @ {n.text(right, SIGN)}", PRODUCT
    return f"{n.text(e.args[0], ATOM)}{index_text(e.params['template'], [n.text(a) for a in e.args[1:]])}", ATOM


def _assign(n: Notation, e: Expression) -> tuple[str, int]:
    key = index_text(e.params["template"], [n.text(a) for a in e.args[2:]])
    return f"{n.text(e.args[0], SUM)} with {key} = {n.text(e.args[1], SUM)}", COMPARE


def _unindex(n: Notation, e: Expression) -> tuple[str, int]:
    key = index_text(e.params["template"], [n.text(a) for a in e.args[1:]])
    return f"{n.text(e.args[0], SUM)} at {key}", COMPARE


def _reduction(n: Notation, e: Expression) -> tuple[str, int]:
    axis = e.params.get("axis")
    rank = len(e.args[0].shape)
    everything = axis is None or (not np.isscalar(axis) and len(axis) == rank) or rank <= 1
    params = {k: v for k, v in e.params.items() if k != "axis" and v} | ({} if everything else {"axis": axis})
    return n.named(Expression(e.head, e.args, params, e.value))


def _result(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{n.text(e.args[0], ATOM)}[{e.params['k']}]", ATOM


def _first(n: Notation, e: Expression) -> tuple[str, int]:
    return n._written(e.args[0])


def _derived(n: Notation, e: Expression) -> tuple[str, int]:
    name = e.head.name.removesuffix("_derivative") + "'" * e.params["order"]
    return n.call(name, Expression(e.head, e.args, {}, e.value)), ATOM


def _cast(n: Notation, e: Expression) -> tuple[str, int]:
    return f"{dtype_of(e.value).name}({n.text(e.args[0])})", ATOM


def _contract(n: Notation, e: Expression) -> tuple[str, int]:
    assert e.head.facts.contracts is not None
    labels = e.head.facts.contracts(*[a.shape for a in e.args], **e.params)
    return f"einsum('{subscripts(labels)}', {n.text(e.args[0])}, {n.text(e.args[1])})", ATOM


BETWEEN: dict[str, Writer] = {
    "+": _add, "-": _subtract, "*": _multiply, "/": _divide, "@": _matmul, "**": _power,
}  # fmt: skip
"""What is written between two operands in ways of its own."""

KEYED: dict[str, Writer] = {READS: _index, ADDS: _unindex, WRITES: _assign}
"""What is done at the places of a key."""


def spelled(text: str) -> str:
    """A name in ASCII: `theta` for θ, `y_2` for y₂."""
    return "".join([c if c.isascii() else _spelled(c) for c in in_line(text)])


def _spelled(c: str) -> str:
    words = unicodedata.name(c, "unknown").split()
    return words[-1].lower() if "LETTER" in words else f"u{ord(c):x}"


def index_text(template: Any, arrays: list[str]) -> str:
    """`[0, 1:3]`: a key as it is written."""
    rest = iter(arrays)
    entries = template if isinstance(template, tuple) else (template,)
    return f"[{', '.join([next(rest) if e is HOLE else _entry(e) for e in entries])}]"


def _entry(e: Any) -> str:
    if isinstance(e, slice):
        parts = [e.start, e.stop] + ([] if e.step is None else [e.step])
        return ":".join(["" if p is None else str(p) for p in parts])
    return "..." if e is Ellipsis else str(e)


def value_text(x: Any, digits: int, most: int = 6) -> str:
    """A value on one line: a number, or an array of which large ones show their first and last elements."""
    x = np.asarray(x)
    if x.dtype.kind not in "fiubc":
        return str(x)
    if x.ndim == 0:
        return _number(x[()], digits)
    if x.size > most:
        flat = x.ravel()
        ends = [_number(v, digits) for v in flat[:2]], [_number(v, digits) for v in flat[-1:]]
        return f"[{', '.join(ends[0])}, … {', '.join(ends[1])}] {shape_text(x)}"
    return _nested(x, digits)


def shape_text(x: Any) -> str:
    """`2×3` for an array; nothing for a number."""
    return "×".join(map(str, np.shape(x)))


def _nested(x: np.ndarray, digits: int) -> str:
    return f"[{', '.join([_number(v, digits) if x.ndim == 1 else _nested(v, digits) for v in x])}]"


def _number(x: Any, digits: int) -> str:
    if isinstance(x, (bool, np.bool)):
        return str(bool(x))
    if np.iscomplexobj(x):
        imag = number_text(x.imag, digits)
        return f"{number_text(x.real, digits)}{'' if imag.startswith('-') else '+'}{imag}j"
    return number_text(float(x), digits)
