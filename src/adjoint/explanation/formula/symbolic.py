"""`Symbolic`: a function and its gradient as SymPy expressions, printed as equations or as LaTeX."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...core.errors import UnsupportedError, message
from .sympy_forms import is_condition


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
        sympy = sympy_module()
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
        sympy = sympy_module()
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


def sympy_module() -> Any:
    """SymPy, or an error that says how to get it."""
    try:
        import sympy  # type: ignore[import-untyped]
    except ImportError as error:
        raise UnsupportedError(
            message(
                "Expressions need SymPy, which is not installed.", fix="Install it with  pip install 'adjoint[viz]'."
            )
        ) from error
    return sympy
