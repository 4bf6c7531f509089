"""Operations in SymPy's words, as their entries say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.entry.facts import SIGNS
from ...core.primitive import Marker, Primitive
from ...rules.partials import NAMES
from .expression import is_unmoved


def as_number(e: Any) -> Any:
    """A truth value as the 1 or 0 that it is in arithmetic."""
    from sympy import Integer, Piecewise, true  # type: ignore[import-untyped]

    if not is_condition(e):
        return e
    return Integer(int(e == true)) if e.is_Atom else Piecewise((1, e), (0, True))


def as_condition(e: Any) -> Any:
    """A number as a truth value: whether it is not 0."""
    from sympy import Ne  # type: ignore[import-untyped]

    return e if is_condition(e) else Ne(e, 0)


def is_condition(e: Any) -> bool:
    """Whether it is a truth value."""
    from sympy import Symbol  # type: ignore[import-untyped]
    from sympy.logic.boolalg import Boolean  # type: ignore[import-untyped]

    return isinstance(e, Boolean) and not isinstance(e, Symbol)  # SymPy lets a symbol stand for both


CONDITIONS = frozenset(("And", "Or", "Xor", "Not"))
"""SymPy's functions of truth values."""


def form_of(primitive: Primitive | Marker) -> Callable[..., Any] | None:
    """What an operation does with SymPy's expressions; None if it has no form there."""
    facts = primitive.facts
    if is_unmoved(facts):
        return _unmoved
    if facts.reduces is not None:
        return as_condition if facts.reduces.combines in (np.logical_and, np.logical_or) else _unmoved
    text = facts.form.sympy or (facts.form.sign if facts.form.sign in SIGNS else "")
    if text in CONDITIONS:
        return _of_conditions(text)
    if text == "chosen":
        return _chosen
    if text:
        return _of_numbers(lambda *args: _evaluated(text, args))
    if facts.usual_name:
        return _of_numbers(lambda *args: _evaluated(facts.usual_name, args))
    return None


def _unmoved(x: Any) -> Any:
    return x


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*[as_number(a) for a in args])


def _of_conditions(name: str) -> Callable[..., Any]:
    import sympy as sp  # type: ignore[import-untyped]

    return lambda *args: getattr(sp, name)(*[as_condition(a) for a in args])


def _evaluated(text: str, args: Sequence[Any]) -> Any:
    """A name, a sign, or an expression in SymPy's words, of what stands for x, y, z and w; t is a symbol of its own."""
    import sympy as sp  # type: ignore[import-untyped]

    if text.isidentifier() and text not in NAMES:
        return getattr(sp, text)(*args)
    if text in SIGNS:
        text = f"x {text} y" if len(args) > 1 else f"{text}x"
    return eval(text, {**vars(sp), "t": sp.Symbol("t", real=True), **dict(zip(NAMES, args, strict=False))})  # noqa: S307  (from the catalogue)


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    import sympy as sp  # type: ignore[import-untyped]

    rest = as_number(y)
    others = rest.args if isinstance(rest, sp.Piecewise) else [(rest, True)]  # one list of cases is easier to read
    return sp.Piecewise((as_number(x), as_condition(condition)), *others)
