"""How an entry of the catalogue is written. From each entry follow dispatch, every trace, the docs row and the laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np

from ..core.entry.facts import NO_FACTS, Facts, Kernel
from ..core.primitive import Primitive
from ..core.singular.slope import UNKNOWN, Slope
from ..core.traced import Traced
from ..rules.checks import check, check_facts, check_formula, check_kinds, check_listed
from ..rules.constant import Constant
from ..rules.elementwise import Elementwise
from ..rules.partials import arity_of
from ..rules.selecting import Selecting
from ..rules.stacking import aligned, leading

CATALOGUE: dict[str, Primitive] = {}
"""Every primitive, by name."""

UFUNCS: dict[Any, Primitive] = {}
"""NumPy's and SciPy's universal functions, to their primitives."""

Interval = tuple[float, float]
REAL: Interval = (-inf, inf)
POSITIVE: Interval = (0.0, inf)
UNIT: Interval = (0.0, 1.0)
SYMMETRIC: Interval = (-1.0, 1.0)


class WholeNumbers(tuple):
    """An interval of which only the whole numbers are meant: an order, a degree, a count."""

    __slots__ = ()


CONSTANT = Constant()


def declare(
    name: str,
    evaluate: Callable[..., Any],
    derivative: Any,
    *,
    stacking: Any = leading,
    domain: Sequence[Interval] | None = None,
    multiple: bool = False,
    note: str = "",
    on_arrays: Callable[..., Any] | None = None,
    fails_from: int | None = None,
    **facts: Any,
) -> Primitive:
    """Enter a primitive into the catalogue; `facts` are those of `core/entry/facts.py`, by name."""
    if name in CATALOGUE:
        raise ValueError(f"{name} is declared already: an operation has one entry, and a name of its own.")
    check_kinds(name, facts, declare.__kwdefaults__ or ())
    check(name, derivative, evaluate, arity_of(facts.get("ufunc", evaluate)))
    said = Facts(**facts) if facts else NO_FACTS
    check_facts(name, evaluate, said)
    if said.formula is not None:
        check_formula(name, evaluate, said.formula, of_each_element=bool(domain), multiple=multiple)
    primitive = CATALOGUE[name] = Primitive(
        name,
        evaluate,
        derivative=derivative,
        stacking=stacking,
        domain=domain,
        multiple=multiple,
        note=note,
        on_arrays=on_arrays,
        fails_from=fails_from,
        facts=said,
    )
    if primitive.facts.ufunc is not None:
        UFUNCS[primitive.facts.ufunc] = primitive
    return primitive


def elementwise(
    ufunc: Any,
    *,
    partials: Sequence[Callable[..., Any] | None],
    scalar: Callable[..., float] | None = None,
    evaluate: Callable[..., Any] | None = None,
    domain: Sequence[Interval] | None = None,
    vertex: bool = False,
    slope: Slope | Callable[..., Slope] = UNKNOWN,
    note: str = "",
    **facts: Any,
) -> Primitive:
    """A smooth universal function; `scalar` is its quick version for Python floats.

    If that is one of `math`, the C library has it under the same name, and machine code calls it there.
    """
    check_listed(ufunc.__name__, partials)
    derivative = Elementwise(partials, vertex=vertex, slope=slope)
    if scalar is not None and scalar.__module__ == "math":
        facts.setdefault("kernel", Kernel(f"libm {scalar.__name__}"))
    if evaluate is None and scalar is not None and ufunc.nin == 1:
        return universal(
            ufunc, derivative, evaluate=quick(ufunc, scalar), domain=domain, note=note, on_arrays=ufunc, scalar=scalar,
            **facts,
        )  # fmt: skip
    return universal(ufunc, derivative, evaluate=evaluate, domain=domain, note=note, scalar=scalar, **facts)


def by_formula(
    name: str,
    formula: Callable[..., Any],
    *,
    partials: Sequence[Callable[..., Any] | None],
    domain: Sequence[Interval] | None = None,
    vertex: bool = False,
    slope: Slope | Callable[..., Slope] = UNKNOWN,
    **facts: Any,
) -> Primitive:
    """A smooth function of each element that is written with others, without a branch, and has slopes of its own.

    Machine code, source, SymPy and JavaScript follow from the formula, as far as `facts` do not say otherwise.
    """
    check_listed(name, partials)
    return declare(
        name,
        formula,
        Elementwise(partials, vertex=vertex, slope=slope),
        stacking=aligned,
        domain=tuple(domain or [REAL] * len(partials)),
        formula=formula,
        **facts,
    )


def selecting(ufunc: Any, *weights: Callable[..., Any] | None, **facts: Any) -> Primitive:
    """A universal function that picks among its arguments."""
    return universal(ufunc, Selecting(*weights), **facts)


def constant(ufunc: Any, **facts: Any) -> Primitive:
    """A universal function without a derivative: piecewise constant, or not real-valued."""
    return universal(ufunc, CONSTANT, **facts)


def universal(
    ufunc: Any,
    derivative: Any,
    *,
    evaluate: Callable[..., Any] | None = None,
    domain: Sequence[Interval] | None = None,
    **facts: Any,
) -> Primitive:
    """A universal function with a rule for its derivative."""
    return declare(
        ufunc.__name__,
        evaluate or ufunc,
        derivative,
        stacking=aligned,
        domain=tuple(domain or [REAL] * ufunc.nin),
        multiple=ufunc.nout > 1,
        ufunc=ufunc,
        **facts,
    )


def quick(ufunc: Any, scalar: Callable[[float], float]) -> Callable[[Any], Any]:
    """Evaluate Python floats with `math`, ten times faster; where that raises, NumPy knows the limit."""

    def evaluate(x: Any) -> Any:
        if type(x) is float:
            try:
                return scalar(x)
            except (ValueError, OverflowError):
                return float(ufunc(x))
        return ufunc(x)

    return evaluate


def also(ufunc: Any, primitive: Primitive) -> None:
    """Another universal function that is the same operation."""
    UFUNCS[ufunc] = primitive


class Composition:
    """A universal function put together from others: it stands where a primitive stands, but records only its parts."""

    __slots__ = ("compose", "is_exact", "multiple", "name")
    derivative = CONSTANT
    is_smooth = False

    def __init__(self, name: str, compose: Callable[..., Any], *, multiple: bool, is_exact: bool) -> None:
        self.is_exact = is_exact
        self.name = name
        self.compose = compose
        self.multiple = multiple

    def __call__(self, *args: Any) -> Any:
        """Apply the parts."""
        return self.compose(*args)


def composed(ufunc: Any, *, is_exact: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the composition that stands for a universal function.

    `is_exact` says that it gives NumPy's own numbers for integers and truth values too.
    """

    def register(compose: Callable[..., Any]) -> Callable[..., Any]:
        UFUNCS[ufunc] = Composition(ufunc.__name__, compose, multiple=ufunc.nout > 1, is_exact=is_exact)  # type: ignore[assignment]
        return compose

    return register


def where(condition: Any, x: Any, y: Any) -> Any:
    """`np.where` for rules: quick when the condition is one truth value."""
    if type(condition) is bool or type(condition) is np.bool:
        return x if condition else y
    return np.where(condition, x, y)


def ratio(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0: the slope given to hypot and arctan2 at the origin; for Kelvin functions a limit."""
    zero = y == 0
    if type(zero) is bool:
        return 0.0 if zero else x / y
    if not isinstance(zero, Traced) and not np.any(zero):
        return x / y
    return where(zero, 0.0, x / where(zero, 1.0, y))
