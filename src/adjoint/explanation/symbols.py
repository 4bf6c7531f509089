"""A function and its derivative as SymPy expressions: our own reverse trace, written out; SymPy does the algebra."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from ..core.errors import OutputError, UnsupportedError, message
from ..core.float_warnings import quiet
from ..core.traced import Traced
from ..core.values import describe, dtype_of, shape_of
from ..ir.program import GUARD, Step
from .notation import spelled
from .notebook import NAMED
from .rows import View
from .sweeps import pulled_through
from .sympy_table import as_number, functions, is_condition

SIMPLE = 1024
"""Fractions of up to this denominator are taken for exact."""

DECIMALS = 6
"""Numbers of up to so many decimals are taken for what is written: 0.1 for one tenth."""


class Symbolic:
    """A function and its gradient as expressions, for as long as its decisions hold.

    Parameters
    ----------
    name : str
        What the function is called.
    inputs : list of sympy.Symbol
        The symbols, which are real, called as the user's variables.
    value : sympy.Expr or list of them
        The expression of the result; a list of them if there are several.
    gradient : dict
        For each symbol the expression of the derivative; of several results, of their weighted sum.
    conditions : list of sympy.Expr
        What the function's branches rely on.
    """

    def __init__(
        self, name: str, inputs: list[Any], value: Any, gradient: dict[Any, Any], conditions: list[Any]
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.value = value
        self.gradient = gradient
        self.conditions = conditions
        self.shared, self._values, self._slopes = self._with_shared()

    def _with_shared(self) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
        """What value and gradient have in common, computed once, and what is left of them."""
        sympy = _sympy()
        values = self.value if isinstance(self.value, list) else [self.value]
        taken = {s.name for s in self.inputs}
        names = (f"s{k}" for k in itertools.count(1) if f"s{k}" not in taken)
        fresh = sympy.numbered_symbols(cls=sympy.Dummy)
        found, rest = sympy.cse([*values, *self.gradient.values()], symbols=fresh, order="none")
        shared: list[tuple[Any, Any]] = []
        meant: dict[Any, Any] = {}
        for symbol, expression in found:
            written = expression.xreplace(meant)
            if is_condition(written):
                meant[symbol] = written  # a condition is read more easily where it stands
            else:
                meant[symbol] = sympy.Symbol(next(names), real=True)
                shared.append((meant[symbol], written))
        rest = [e.xreplace(meant) for e in rest]
        return shared, rest[: len(values)], rest[len(values) :]

    def _lines(self) -> Iterator[tuple[Any, Any, str]]:
        """Left side, right side and kind of every equation."""
        for symbol, expression in self.shared:
            yield symbol, expression, "shared"
        many = len(self._values) > 1
        for k, expression in enumerate(self._values):
            yield f"{self.name}_{k}" if many else self.name, expression, "value"
        for symbol, expression in zip(self.gradient, self._slopes, strict=True):
            yield symbol, expression, "slope"

    def __repr__(self) -> str:
        lines = []
        for left, right, kind in self._lines():
            lines.append(f"d{self.name}/d{left} = {right}" if kind == "slope" else f"{left} = {right}")
        lines += [f"holds while {c}" for c in self.conditions]
        return "\n".join(lines)

    def latex(self) -> Latex:
        r"""Aligned equations: what is shared, the value, the partial derivatives, the conditions.

        Returns
        -------
        str
            LaTeX, which notebooks show as formulas.

        Examples
        --------
        >>> import adjoint as ad
        >>> ad.explain(lambda x: x**2)(3.0).sympy().latex().splitlines()[-1]
        '\\end{aligned}'
        """
        sympy = _sympy()
        name = self._title()
        rows = []
        for left, right, kind in self._lines():
            text = name + left[len(self.name) :] if kind == "value" else sympy.latex(left)
            if kind == "slope":
                text = rf"\frac{{\partial {name}}}{{\partial {text}}}"
            rows.append(f"{text} &= {sympy.latex(right)}")
        rows += [rf"&\text{{holds while }} {sympy.latex(c)}" for c in self.conditions]
        body = " \\\\\n".join(rows)
        return Latex(f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}")

    def _title(self) -> str:
        """The name of the function; one of several letters stands upright."""
        return self.name if len(self.name) == 1 else r"\mathrm{" + self.name.replace("_", r"\_") + "}"

    def _repr_latex_(self) -> str:
        return self.latex()._repr_latex_()


class Latex(str):
    """A formula in LaTeX, which a notebook shows as such."""

    __slots__ = ()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self}$"


def symbolic(view: View) -> Symbolic:
    """The expressions of a view (scalar level, nothing collapsed, swept back)."""
    sympy = _sympy()
    recorded = view.recorded
    assert view.backward is not None
    if not view.outputs:
        raise _nothing("an expression")
    if any(dtype_of(x).kind == "c" for x in recorded.inputs):
        raise UnsupportedError(
            message(
                "Expressions are made for functions of real numbers.",
                got=", ".join(describe(x) for x in recorded.inputs),
                fix="Pass real and imaginary part as two arguments; or use  e.code(),  which takes complex numbers.",
            )
        )
    inputs = _symbols(recorded.names)
    slopes = _slopes(view)
    notebook = recorded.notebook
    last = max((notebook.producers[h.node] for h in view.backward.adjoints.values()), key=lambda s: s.outs[0])
    guards = [s for s in _until(notebook.program.steps, last) if s.primitive is GUARD]
    outputs = [_number(view, o) for o in recorded.outputs]
    wanted = [n for n in (*outputs, *slopes) if n is not None] + [g.args[0] for g in guards]
    regular: list[Any] = []
    written = _written_out(view, dict(zip(notebook.program.inputs, inputs, strict=True)), wanted, regular)
    values = [exact(o) if n is None else as_number(written[n]) for n, o in zip(outputs, recorded.outputs, strict=True)]
    gradient = {
        x: sympy.Integer(0) if n is None else as_number(written[n]) for x, n in zip(inputs, slopes, strict=True)
    }
    conditions = [_condition(written[g.args[0]], g.params["expected"]) for g in guards] + regular
    told = dict.fromkeys(c for c in conditions if c not in (True, False, sympy.true, sympy.false))
    return Symbolic(_plain_name(recorded.title), inputs, values if len(values) > 1 else values[0], gradient, list(told))


def _sympy() -> Any:
    try:
        import sympy  # type: ignore[import-untyped]
    except ImportError as error:
        raise UnsupportedError(
            message(
                "Expressions need SymPy, which is not installed.", fix="Install it with  pip install 'adjoint[viz]'."
            )
        ) from error
    return sympy


def _symbols(names: list[str]) -> list[Any]:
    sympy = _sympy()
    found: list[Any] = []
    for name in names:
        plain, k = _plain_name(name), 2
        free = plain
        while any(s.name == free for s in found):
            free, k = f"{plain}_{k}", k + 1
        found.append(sympy.Symbol(free, real=True))
    return found


def _plain_name(name: str) -> str:
    """`w[0]` as w_0."""
    return re.sub(r"\W+", "_", spelled(name)).strip("_") or "f"


@quiet
def _slopes(view: View) -> list[int | None]:
    """The numbers of the adjoints; at a vertex those of the plain sweep, without the bookkeeping of the careful one."""
    recorded, backward = view.recorded, view.backward
    assert backward is not None
    count, notebook = len(recorded.inputs), recorded.notebook
    found: dict[int, Any] = dict(backward.adjoints)
    if backward.is_careful:
        steps = list(range(count, len(recorded.trace)))
        try:
            shares = pulled_through(recorded.trace, steps, backward.seeds)
            for k, seed in backward.seeds.items():
                shares.setdefault(k, []).append(seed)
            found = {k: sum(terms[1:], terms[0]) for k, terms in shares.items()}
        except (ZeroDivisionError, OverflowError):
            pass
    return [None if k not in found else notebook.number_of(found[k])[0] for k in range(count)]


def _until(steps: list[Step], last: Step) -> Iterable[Step]:
    for step in steps:
        yield step
        if step is last:
            return


def _number(view: View, x: Any) -> int | None:
    """The number of a result in the program; None for a constant."""
    if not isinstance(x, Traced):
        return None
    inner = x.value if x.walk is view.recorded.trace else x
    return view.recorded.notebook.number_of(inner)[0] if isinstance(inner, Traced) else None


def _written_out(view: View, known: dict[int, Any], wanted: list[int], regular: list[Any]) -> dict[int, Any]:
    """The expressions of numbers of the program; a loop and no recursion, as traces are long.

    Where the rule of a derivative asks whether a point is singular, the answer is taken, and goes to `regular`.
    """
    notebook, table = view.recorded.notebook, functions()
    waiting = list(wanted)
    while waiting:
        n = waiting[-1]
        if n in known:
            waiting.pop()
            continue
        step = notebook.producers.get(n)
        if step is None:
            known[n] = _constant(view, n)
            continue
        missing = [a for a in step.args if a not in known]
        if missing:
            waiting += missing
            continue
        args = [known[a] for a in step.args]
        if step.primitive.name == "where" and _is_asked_by_a_rule(view, step.args[0]) and _is_singular(args[0]):
            regular.append(_condition(_truth(args[0]), expected=False))
            known[n] = args[2]
        else:
            known[n] = _applied(view, step, n, args, table)
    return known


def _is_asked_by_a_rule(view: View, number: int) -> bool:
    """Whether a condition is computed by the derivative alone, and not by the function."""
    recorded = view.recorded
    steps = recorded.notebook.program.steps[recorded.steps :]
    first = next((s.outs[0] for s in steps if s.outs), None)
    value = recorded.notebook.value(number)
    return first is not None and number >= first and shape_of(value) == () and not value


def _is_singular(e: Any) -> bool:
    """Whether a condition holds at single points only, as x = 0."""
    sympy, e = _sympy(), _truth(e)
    return isinstance(e, sympy.Eq) or (isinstance(e, sympy.And) and any(isinstance(a, sympy.Eq) for a in e.args))


def _truth(e: Any) -> Any:
    """A condition that was made a number, 1 or 0, as the condition again."""
    sympy = _sympy()
    if isinstance(e, sympy.Piecewise) and len(e.args) == 2 and e.args[0].expr == 1 and e.args[1].expr == 0:
        return e.args[0].cond
    return e


def _constant(view: View, number: int) -> Any:
    value = view.recorded.notebook.value(number)
    if shape_of(value) != ():
        raise _refused(view, "an array", number)
    return exact(value)


def _applied(view: View, step: Step, number: int, args: list[Any], table: dict[str, Any]) -> Any:
    name = step.primitive.name
    if step.primitive is NAMED:
        return args[0]
    notebook = view.recorded.notebook
    if name not in table or any(shape_of(notebook.value(o)) != () for o in step.outs):
        raise _refused(view, name, number)
    kinds = [dtype_of(notebook.value(a)).kind for a in step.args]
    if (name == "astype" and dtype_of(notebook.value(number)).kind != kinds[0] != "b") or (
        name in ("add", "multiply") and set(kinds) == {"b"}  # of truth values these are "or" and "and"
    ):
        raise _refused(view, name, number)
    try:
        found = table[name](*args, *([step.params["order"]] if "order" in step.params else []))
    except (TypeError, ValueError) as error:
        raise _refused(view, name, number) from error
    return found[step.outs.index(number)] if step.primitive.multiple else found


def exact(x: Any) -> Any:
    """A number as SymPy has it: whole ones, simple fractions, decimals and known constants exactly, others as they are.

    >>> [exact(x) for x in (2.0, 0.5, 0.1, 3.141592653589793, 0.123456789)]
    [2, 1/2, 1/10, pi, 0.123456789000000]
    """
    sympy = _sympy()
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, (bool, int)):
        return sympy.true if x is True else sympy.false if x is False else sympy.Integer(x)
    if isinstance(x, complex):
        return exact(x.real) + sympy.I * exact(x.imag)
    if x != x or x in (float("inf"), float("-inf")):
        return sympy.nan if x != x else sympy.oo if x > 0 else -sympy.oo
    fraction = Fraction(x)
    if fraction.denominator <= SIMPLE:
        return sympy.Rational(fraction.numerator, fraction.denominator)
    decimal = Fraction(repr(x))
    if 10**DECIMALS % decimal.denominator == 0:
        return sympy.Rational(decimal.numerator, decimal.denominator)
    for constant in _known_constants():
        for sign in (1, -1):
            if float(sign * constant) == x:
                return sign * constant
    return sympy.Float(x)


def _known_constants() -> list[Any]:
    """Numbers that appear in the rules of derivatives."""
    sympy = _sympy()
    pi, two, ten = sympy.pi, sympy.log(2), sympy.log(10)
    return [
        pi, 2 * pi, pi / 2, 1 / pi, pi / 180, 180 / pi, sympy.E, two, 1 / two, ten, 1 / ten, sympy.sqrt(pi),
        1 / sympy.sqrt(pi), 2 / sympy.sqrt(pi), sympy.sqrt(2), 1 / sympy.sqrt(2), sympy.sqrt(2 * pi),
        1 / sympy.sqrt(2 * pi), sympy.sqrt(2 / pi), sympy.Rational(1, 3), sympy.Rational(2, 3),
    ]  # fmt: skip


def _condition(e: Any, expected: Any) -> Any:
    sympy = _sympy()
    if isinstance(expected, bool) or type(expected).__name__ in ("bool", "bool_"):
        return e if expected else sympy.Not(e)
    return sympy.Eq(e, exact(expected))


def _nothing(what: str) -> OutputError:
    return OutputError(
        message(
            f"There is nothing to write {what} of: the result does not depend on the arguments.",
            fix="Return what is computed from the arguments.",
        )
    )


def _refused(view: View, name: str, number: int) -> UnsupportedError:
    """The step cannot be written as an expression: say which, and where it is."""
    where = ""
    trace = view.recorded.trace
    for place, note in enumerate(trace.notes):
        out = trace[place][3]
        if note.place is not None and isinstance(out, Traced) and out.node == number:
            where = f" at {note.place}:  {note.place.source}"
    return UnsupportedError(
        message(
            f"{name} has no form in SymPy.",
            got=f"the step {name}{where}",
            fix="Use  e.code()  for its NumPy source, or  str(e)  for its trace.",
        )
    )
