"""A function and its derivative as SymPy expressions: our own reverse trace, written out; SymPy does the algebra."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from ...core.calls.float_warnings import quiet
from ...core.errors import OutputError, UnsupportedError, message
from ...core.traced import Traced
from ...core.values import describe, dtype_of, shape_of
from ...ir.fold import fold, guards_in, values_wanted
from ...ir.formulas import formula_of
from ...ir.program import Program, Step, Type, type_of
from ...ops.selection import where
from ..record.recorder import NAMED
from ..record.sweeps import pulled_through
from ..show.rows import TraceView
from .expression import is_unmoved
from .notation import spelled
from .symbolic import Symbolic, sympy_module
from .sympy_forms import as_number, form_of

SIMPLE = 1024
"""Fractions of up to this denominator are taken for exact."""

DECIMALS = 6
"""Numbers of up to so many decimals are taken for what is written: 0.1 for one tenth."""


def symbolic(view: TraceView) -> Symbolic:
    """The expressions of a view (scalar level, nothing collapsed, swept back)."""
    sympy = sympy_module()
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
    guards = guards_in(_until(notebook.program.steps, last))
    outputs = [_number(view, o) for o in recorded.outputs]
    wanted = [n for n in (*outputs, *slopes) if n is not None] + [g.args[0] for g in guards]
    expressions = _Expressions(view)
    known = dict(zip(notebook.program.inputs, inputs, strict=True))
    written = values_wanted(wanted, notebook.producers.get, expressions, known)
    values = [exact(o) if n is None else as_number(written[n]) for n, o in zip(outputs, recorded.outputs, strict=True)]
    gradient = {
        x: sympy.Integer(0) if n is None else as_number(written[n]) for x, n in zip(inputs, slopes, strict=True)
    }
    conditions = [_condition(written[g.args[0]], g.params["expected"]) for g in guards] + expressions.regular
    told = dict.fromkeys(c for c in conditions if c not in (True, False, sympy.true, sympy.false))
    return Symbolic(_plain_name(recorded.title), inputs, values if len(values) > 1 else values[0], gradient, list(told))


def _symbols(names: list[str]) -> list[Any]:
    sympy = sympy_module()
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
def _slopes(view: TraceView) -> list[int | None]:
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


def _number(view: TraceView, x: Any) -> int | None:
    """The number of a result in the program; None for a constant."""
    if not isinstance(x, Traced):
        return None
    inner = x.value if x.traced_by is view.recorded.trace else x
    return view.recorded.notebook.number_of(inner)[0] if isinstance(inner, Traced) else None


class _Expressions:
    """Expressions of numbers of the program.

    Where the rule of a derivative asks whether a point is singular, the answer is taken, and goes to `regular`.
    """

    def __init__(self, view: TraceView) -> None:
        self.view = view
        self.regular: list[Any] = []

    def constant(self, number: int, value: Any) -> Any:
        value = self.view.recorded.notebook.value(number)
        if shape_of(value) != ():
            raise _refused(self.view, "an array", [number])
        return exact(value)

    def step(self, step: Step, args: list[Any]) -> Sequence[Any]:
        if step.primitive is where and _is_asked_by_a_rule(self.view, step.args[0]) and _is_singular(args[0]):
            self.regular.append(_condition(_truth(args[0]), expected=False))
            return [args[2]]
        return _applied(self.view, step, args)


def _is_asked_by_a_rule(view: TraceView, number: int) -> bool:
    """Whether a condition is computed by the derivative alone, and not by the function."""
    recorded = view.recorded
    steps = recorded.notebook.program.steps[recorded.steps :]
    first = next((s.outs[0] for s in steps if s.outs), None)
    value = recorded.notebook.value(number)
    return first is not None and number >= first and shape_of(value) == () and not value


def _is_singular(e: Any) -> bool:
    """Whether a condition holds at single points only, as x = 0."""
    sympy, e = sympy_module(), _truth(e)
    return isinstance(e, sympy.Eq) or (isinstance(e, sympy.And) and any(isinstance(a, sympy.Eq) for a in e.args))


def _truth(e: Any) -> Any:
    """A condition that was made a number, 1 or 0, as the condition again."""
    sympy = sympy_module()
    if isinstance(e, sympy.Piecewise) and len(e.args) == 2 and e.args[0].expr == 1 and e.args[1].expr == 0:
        return e.args[0].cond
    return e


def _applied(view: TraceView, step: Step, args: list[Any]) -> Sequence[Any]:
    if step.primitive is NAMED:
        return args
    notebook, primitive = view.recorded.notebook, step.primitive
    values, facts = [notebook.value(a) for a in step.args], primitive.facts
    kinds = [dtype_of(v).kind for v in values]
    is_cast = is_unmoved(facts) and dtype_of(notebook.value(step.outs[0])).kind != kinds[0] != "b"
    # of truth values a sum and a product are "or" and "and"
    is_logic = facts.form.logical and not facts.form.sympy and set(kinds) == {"b"}
    if is_cast or is_logic or any(shape_of(notebook.value(o)) != () for o in step.outs):
        raise _refused(view, primitive.name, step.outs)
    try:
        found = _formed(primitive, args, [type_of(v) for v in values], step.params)
    except (TypeError, ValueError, LookupError) as error:
        raise _refused(view, primitive.name, step.outs) from error
    return found if primitive.multiple else [found]


def _formed(primitive: Any, args: list[Any], types: list[Type], params: dict[str, Any]) -> Any:
    """An operation on expressions: in its own form, or by its formula. Raises if it has neither."""
    form = form_of(primitive)
    if form is not None:
        return form(*args, *([params["order"]] if "order" in params else []))
    program = formula_of(primitive, types, params)
    if program is None:
        raise LookupError(primitive.name)
    return fold(program, _Formula(program), args)[0]


class _Formula:
    """Expressions in a formula."""

    def __init__(self, program: Program) -> None:
        self.types = program.types

    def constant(self, number: int, value: Any) -> Any:
        return exact(value)

    def step(self, step: Step, args: list[Any]) -> list[Any]:
        return [_formed(step.primitive, args, [self.types[a] for a in step.args], step.params)]


def exact(x: Any) -> Any:
    """A number as SymPy has it: whole ones, simple fractions, decimals and known constants exactly, others as they are.

    >>> [exact(x) for x in (2.0, 0.5, 0.1, 3.141592653589793, 0.123456789)]
    [2, 1/2, 1/10, pi, 0.123456789000000]
    """
    sympy = sympy_module()
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
    sympy = sympy_module()
    pi, two, ten = sympy.pi, sympy.log(2), sympy.log(10)
    return [
        pi, 2 * pi, pi / 2, 1 / pi, pi / 180, 180 / pi, sympy.E, two, 1 / two, ten, 1 / ten, sympy.sqrt(pi),
        1 / sympy.sqrt(pi), 2 / sympy.sqrt(pi), sympy.sqrt(2), 1 / sympy.sqrt(2), sympy.sqrt(2 * pi),
        1 / sympy.sqrt(2 * pi), sympy.sqrt(2 / pi), sympy.Rational(1, 3), sympy.Rational(2, 3),
    ]  # fmt: skip


def _condition(e: Any, expected: Any) -> Any:
    sympy = sympy_module()
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


def _refused(view: TraceView, name: str, numbers: Sequence[int]) -> UnsupportedError:
    """The step cannot be written as an expression: say which, and where it is."""
    where = ""
    trace = view.recorded.trace
    for place, note in enumerate(trace.notes):
        out = trace[place][3]
        if note.place is not None and isinstance(out, Traced) and out.node in numbers:
            where = f" at {note.place}:  {note.place.source}"
    return UnsupportedError(
        message(
            f"{name} has no form in SymPy.",
            got=f"the step {name}{where}",
            fix="Use  e.code()  for its NumPy source, or  str(e)  for its trace.",
        )
    )
