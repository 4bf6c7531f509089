"""Primitives as NumPy source: what one operation of a program looks like in code that needs no library."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import Counter
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...core.entry.algebra import subscripts
from ...core.entry.facts import COMPARE, EITHER, EMBEDDED, HOLDS
from ...core.entry.moves import ADDS, READS, WRITES, Same, View, identity
from ...ir.formulas import applied, formula_of
from ...ir.program import Step, Type, type_of
from ...rules.partials import NAMES
from ..formula.notation import index_text
from ..record.recorder import NAMED
from .helpers import HELPERS, _last_writes, _placed, _written, _written_whole
from .literals import ATOM, SIGN, Written, number_source, parameter


class Operand(NamedTuple):
    """An argument as it stands in the source."""

    text: str
    hold: int
    type: Type
    is_python: bool
    """Whether it is a Python number when the source runs."""

    def inside(self, hold: int) -> str:
        """The text, in brackets if what stands around it holds tighter."""
        return f"({self.text})" if self.hold < hold else self.text

    def __format__(self, hold: str) -> str:
        """The text; `{0:atom}` in a template puts it in brackets unless it holds together as tightly as that."""
        return self.inside(HOLDS.get(hold, COMPARE))


class Needs:
    """What the source needs around the function: imports, and functions that NumPy does not have."""

    def __init__(self) -> None:
        self.modules = {"numpy"}
        self.helpers: dict[str, str] = {}
        self._known: set[str] = set()

    def module(self, name: str) -> str:
        """Import a module; its name."""
        self.modules.add(name)
        return name

    def helper(self, function: Any) -> str:
        """Put a function into the source, with everything that it uses; its name there."""
        name = str(function.__name__)
        if name not in self._known:
            self._known.add(name)  # before what it calls, which may be itself
            self.helpers[name] = self._embedded(function)
        return name

    def text_of(self, name: str, lines: list[str]) -> str:
        """Put a function that is written already, but for its name, into the source; its name there."""
        number, own = 1, name
        text = "\n".join(lines)
        while self.helpers.get(own, f"def {own}{text}") != f"def {own}{text}":  # the same with other parameters
            number += 1
            own = f"{name}_{number}"
        self._known.add(own)
        self.helpers[own] = f"def {own}{text}"
        return own

    def _embedded(self, function: FunctionType) -> str:
        tree = _Bare(function, self).visit(ast.parse(textwrap.dedent(inspect.getsource(function))))
        return ast.unparse(ast.fix_missing_locations(tree))

    def text(self) -> str:
        """The lines above the function."""
        lines = [f"import {m}" + (" as np" if m == "numpy" else "") for m in sorted(self.modules)]
        return "\n\n\n".join(["\n".join(lines), *self.helpers.values()])


class _Bare(ast.NodeTransformer):
    """A function of the library without annotations; its constants are written out, what it calls is put beside it."""

    def __init__(self, function: FunctionType, needs: Needs) -> None:
        self.function, self.needs = function, needs

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self.function.__globals__.get(node.id)
        if isinstance(found, ModuleType) and found is not np:
            self.needs.module(found.__name__)
        elif isinstance(found, FunctionType):
            self.needs.helper(found)
        elif isinstance(found, (int, float)):
            return ast.Constant(found)
        elif isinstance(found, type) and getattr(np, name := found.__name__, None) is found:
            return ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())
        return node


def keeps_python(primitive: Any) -> bool:
    """Whether an operation is written as an operator, so that Python's numbers give Python's numbers."""
    form = primitive.facts.form
    written_out = isinstance(form.source, str) and form.source.startswith("{0")
    return primitive is NAMED or written_out or (bool(form.sign) and form.sign != INVERT)


INVERT = "~"
"""Not an operator for Python's truth values: to Python they are 0 and 1."""


def written(primitive: Any, args: list[Operand], params: dict[str, Any], out: Type, needs: Needs) -> Written | None:
    """One operation as source, or None if NumPy and SciPy cannot write it."""
    form, ufunc = primitive.facts.form, primitive.facts.ufunc
    if primitive is NAMED:
        return args[0].text, args[0].hold
    if "template" in params:
        return _by_key(primitive, args, params, needs), ATOM
    if form.source:
        return _from_source(primitive, args, params, out, needs), form.hold
    if form.sign and len(args) == 2:
        left, right = (EITHER, EITHER) if form.hold == COMPARE else (form.hold, form.hold + 1)
        return f"{args[0].inside(left)} {form.sign} {args[1].inside(right)}", form.hold
    if form.sign and not (form.sign == INVERT and args[0].is_python):
        return f"{form.sign}{args[0].inside(SIGN)}", SIGN
    if isinstance(primitive.facts.moves, Same) and "dtype" in params:
        return _converted(args[0], params["dtype"])
    if ufunc is None:
        return _by_formula(primitive, args, params, needs)
    return f"{_home(ufunc, needs)}.{ufunc.__name__}({_listed(args)})", ATOM


def _home(ufunc: Any, needs: Needs) -> str:
    """The module that a universal function is found in; those behind SciPy's distributions have no public name."""
    if getattr(np, ufunc.__name__, None) is ufunc:
        return "np"
    return needs.module("scipy.special._ufuncs" if ufunc.__name__.startswith("_") else "scipy.special")


def can_be_written(primitive: Any) -> bool:
    """Whether NumPy or SciPy can do what a primitive does."""
    facts = primitive.facts
    has_form = bool(facts.form.source or facts.form.sign or facts.ufunc or facts.formula)
    return has_form or facts.addressed is not None or isinstance(facts.moves, Same) or primitive is NAMED


def _by_formula(primitive: Any, args: list[Operand], params: dict[str, Any], needs: Needs) -> Written | None:
    """A call of a function that is put beside the source: the formula of the operation, for these parameters."""
    program = formula_of(primitive, [a.type for a in args], params)
    if program is None:
        return None
    uses = Counter([a for step in program.steps for a in step.args])
    lines: list[str] = []

    def line(step: Step, parts: list[Operand]) -> Operand:
        kind = program.types[step.outs[0]]
        found = written(step.primitive, parts, step.params, kind, needs)
        if found is None:
            raise KeyError(step.primitive.name)
        if uses[step.outs[0]] > 1:
            lines.append(f"    t{len(lines)} = {found[0]}")
            found = f"t{len(lines) - 1}", ATOM
        return Operand(*found, kind, False)

    inputs = [Operand(name, ATOM, a.type, False) for name, a in zip(NAMES, args, strict=False)]
    result = applied(program, inputs, lambda x: Operand(*number_source(x, strict=False), type_of(x), True), line)
    name = needs.text_of(primitive.name, [f"({_listed(inputs)}):", *lines, f"    return {result}"])
    return f"{name}({_listed(args)})", ATOM


def _converted(x: Operand, dtype: Any) -> Written:
    kind = parameter(np.dtype(dtype))
    return (f"{kind}({x})" if x.type.shape == () else f"{x:atom}.astype({kind})"), ATOM


def _listed(args: list[Operand]) -> str:
    return ", ".join([a.text for a in args])


MODULES = re.compile(r"scipy(?:\.\w+)*(?=\.\w+)")


def _filled(template: str, args: list[Operand], params: dict[str, Any], needs: Needs, **texts: str) -> str:
    for module in MODULES.findall(template):
        needs.module(module)
    for word in re.findall(r"\b_\w+(?=\()", template):
        needs.helper(HELPERS[word])
    values = {k: parameter(v) for k, v in params.items()}
    named = "".join([f", {k}={v}" for k, v in values.items()])
    return template.format(*args, **{"all": _listed(args), "named": named, **values, **texts})


def _from_source(primitive: Any, args: list[Operand], params: dict[str, Any], out: Type, needs: Needs) -> str:
    """The source that an entry gives; views of all axes turned around, and of a number, are said more quickly."""
    facts, shapes = primitive.facts, [a.type.shape for a in args]
    if isinstance(facts.moves, View) and not facts.moves.in_order:
        want = out.shape
        if not shapes[0]:
            return f"np.full({parameter(want[0] if len(want) == 1 else want)}, {args[0].text})"
        if facts.moves.reads(shapes[0], want, **params) == identity(len(shapes[0]))[::-1]:
            return f"{args[0].inside(ATOM)}.T"
    source = facts.form.source
    template = source if isinstance(source, str) else source(shapes, params)
    if template == EMBEDDED:
        return f"{needs.helper(primitive.evaluate)}({_filled('{all}{named}', args, params, needs)})"
    if "{along}" in template:
        return _filled(template, args, params, needs, along=_along(len(shapes[0]), params))
    if "{subscripts}" in template:
        return _filled(template, args, params, needs, subscripts=repr(subscripts(facts.contracts(*shapes, **params))))
    return _filled(template, args, params, needs)


def _along(rank: int, params: dict[str, Any]) -> str:
    """Which axes are reduced, if not all, and whether they stay."""
    axis = params["axis"]
    axes = axis if isinstance(axis, tuple) else (axis,)
    text = f", axis={parameter(axes[0] if len(axes) == 1 else axes)}" if axis is not None and len(axes) < rank else ""
    return text + (", keepdims=True" if params.get("keepdims") else "")


def _by_key(primitive: Any, args: list[Operand], params: dict[str, Any], needs: Needs) -> str:
    """Reading, adding, writing at a key."""
    does, first = primitive.facts.addressed.does, primitive.facts.addressed.first
    key = index_text(params["template"], [a.text for a in args[first:]])[1:-1] or "()"
    if does == READS:
        x = f"np.asarray({args[0].text})" if args[0].is_python else args[0].inside(ATOM)
        return f"{x}[{key}]"
    if does == ADDS:
        return f"{needs.helper(_placed)}({args[0].text}, np.s_[{key}], {parameter(params['shape'])})"
    if does == WRITES:
        helper = _written if args[0].type.dtype.kind in "fc" else _written_whole
        return f"{needs.helper(helper)}({args[0].text}, np.s_[{key}], {args[1].text})"
    return f"{needs.helper(_last_writes)}(np.s_[{key}], {parameter(params['shape'])})"
