"""Expressions of single numbers as JavaScript, for the page that computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.entry.facts import CHEAP, SIGNS
from ...core.primitive import Marker, Primitive
from ...core.values import dtype_of
from ..formula.expression import CONSTANT, SYMBOL, Expression, Symbol, in_full, is_unmoved
from .writing import functions


class NoScriptError(Exception):
    """Something that the page cannot compute; the argument says why, as in "the page cannot compute as ..."."""


def script(e: Expression, name: Callable[[Symbol], str]) -> str:
    """The expression as JavaScript; `name` says where a value is found."""
    if np.size(e.value) != 1 or np.iscomplexobj(e.value):
        raise NoScriptError(f"{e.head} is not a single real number")
    if e.head == SYMBOL:
        return name(e.params["symbol"])
    if e.head == CONSTANT:
        return _number(e.value)
    kind = dtype_of(e.value)
    if kind not in KINDS:
        raise NoScriptError(f"the program computes with {kind.name}")
    facts = e.head.facts
    if len(e.args) == 1 and (is_unmoved(facts) or facts.reduces is not None):
        return _converted(script(e.args[0], name), dtype_of(e.args[0].value), kind)
    if kind == np.int64 and not _is_exact(e.head):
        raise NoScriptError(f"JavaScript has no {e.head.name} of whole numbers")
    text = _operation(e, name)
    return f"whole({text})" if kind == np.int64 else text


KINDS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool))


def _converted(x: str, have: np.dtype, want: np.dtype) -> str:
    if want.kind == "b" and have.kind != "b":
        return f"not_equal({x},0)"
    return f"whole({x})" if want.kind == "i" and have.kind == "f" else x


def _is_exact(head: Primitive | Marker) -> bool:
    """Whether whole numbers are computed as such; other operations wrap around at the ends, or divide by 0."""
    kernel, form = head.facts.kernel, head.facts.form
    if kernel is None or kernel.cost != CHEAP or "i" not in kernel.kinds:
        return False
    return form.sign in SIGNS or (form.javascript or head.name) in functions()


def _operation(e: Expression, name: Callable[[Symbol], str]) -> str:
    facts = e.head.facts
    form = facts.form
    args = [script(a, name) for a in e.args]
    if form.logical and all(dtype_of(a.value).kind == "b" for a in e.args):
        return f"{form.logical}({','.join(args)})"
    if "{" in form.javascript:
        return form.javascript.format(*args)
    if form.sign in SIGNS:
        return f"({args[0]}{form.sign}{args[1]})" if len(args) > 1 else f"({form.sign}{args[0]})"
    function = form.javascript or facts.usual_name or e.head.name
    if function in functions() and not e.params:
        return f"{function}({','.join(args)})"
    inside = in_full(e)
    if inside is None:
        raise NoScriptError(f"JavaScript has no {e.head.name}")
    return script(inside, name)


def _number(x: Any) -> str:
    x = np.ravel(x)[0]
    if isinstance(x, (bool, np.bool)):
        return "true" if x else "false"
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "Infinity" if x > 0 else "(-Infinity)"
    text = repr(int(x)) if float(x).is_integer() and abs(x) < 2**53 and math.copysign(1.0, x) > 0 else repr(float(x))
    return f"({text})" if text.startswith("-") else text
