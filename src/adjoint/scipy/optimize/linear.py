"""Linear problems: least squares with bounds, programs whose optimum is a vertex, monotone fits, assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.values import shape_of
from ...numpy.patching.replacements import constant, refuses
from .conditions import Constraints, equation, joined, point_of, stationary
from .constraints import bounds_of, itself, limits_of
from .minimisers import KKT
from .solving import Given, Problem, as_result, numbers_of, pinned, teach

LEAST = "a sum of squares between bounds"


def _dense(a: Any) -> Any:
    """A matrix that is dense, sparse, or known by its products."""
    if hasattr(a, "matvec"):
        return a @ np.eye(a.shape[1])
    return a.toarray() if hasattr(a, "toarray") else np.asarray(a)


def _gap(given: Given) -> Callable[[Any], Any]:
    a, b = _dense(given["A"]), np.asarray(given["b"])
    return lambda x: a @ x - b


def _half_square(given: Given) -> Callable[[Any], Any]:
    gap = _gap(given)
    return lambda x: 0.5 * np.sum(gap(x) ** 2)


def _positive(given: Given, x: Any) -> Constraints | None:
    return joined([(itself, np.zeros(shape_of(x)), np.full(shape_of(x), np.inf))])


def _limited(given: Given, x: Any) -> Constraints | None:
    return joined(limits_of(given.get("bounds", (-np.inf, np.inf)), shape_of(x)[0]))


def _nnls_found(raw: Any, given: Given) -> tuple[Any, ...]:
    x, norm = raw
    return (*stationary(x, _half_square(given), _positive(given, x)), norm)


def _nnls_result(found: tuple[Any, ...], given: Given) -> Any:
    x = point_of(found[0], found[1])
    return x, pinned(found[2], np.linalg.norm(_gap(given)(x)))


def _lsq_found(raw: Any, given: Given) -> tuple[Any, ...]:
    fields = {k: v for k, v in dict(raw).items() if k != "unbounded_sol"}
    return (*stationary(raw.x, _half_square(given), _limited(given, raw.x)), numbers_of(fields))


def _lsq_result(found: tuple[Any, ...], given: Given) -> Any:
    z, sides, fields = found
    x = point_of(z, sides)
    gap = _gap(given)(x)
    cost = pinned(fields["cost"], 0.5 * np.sum(gap**2))
    return as_result(fields, x=x, fun=pinned(fields["fun"], gap), cost=cost)


# Linear programs ---------------------------------------------------------------------------------------------------


def _price(given: Given) -> Callable[[Any], Any]:
    c = np.reshape(np.asarray(given["c"]), (-1,))
    return lambda x: np.sum(c * x)


def _program(given: Given, x: Any) -> Constraints | None:
    size = shape_of(x)[0]
    pair = given.get("bounds", (0, None))
    is_one = isinstance(pair, (tuple, list)) and len(pair) == 2 and not isinstance(pair[0], (tuple, list, np.ndarray))
    parts = bounds_of([(0, None)] * size if pair is None else [tuple(pair)] * size if is_one else pair, size)
    for kind, lowest in (("ub", -np.inf), ("eq", None)):
        a, b = given.get(f"A_{kind}"), given.get(f"b_{kind}")
        if a is not None and b is not None and np.size(b):
            right = np.reshape(np.asarray(b) * 1.0, (-1,))
            left = right if lowest is None else np.full(shape_of(right), lowest)
            parts.append((_product(_dense(a)), left, right))
    return joined(parts)


def _product(a: Any) -> Callable[[Any], Any]:
    return lambda x: np.reshape(a, (-1, shape_of(x)[0])) @ x


def _program_found(raw: Any, given: Given) -> tuple[Any, ...]:
    if raw.x is None:
        raise UnsupportedError(
            message(
                "scipy.optimize.linprog has no optimum, so there is nothing to differentiate.",
                got=str(raw.message),
                fix="Check the constraints with plain values.",
            )
        )
    fields = {k: v for k, v in numbers_of(raw).items() if k not in DUAL}
    return (*stationary(raw.x, _price(given), _program(given, raw.x)), fields)


DUAL = ("ineqlin", "eqlin", "lower", "upper")
"""Fields of results with multipliers; they are left out, as they would have no derivative."""


def _program_result(found: tuple[Any, ...], given: Given) -> Any:
    z, sides, fields = found
    x = point_of(z, sides)
    traced = {"x": x, "fun": pinned(fields["fun"], _price(given)(x))}
    for field, kind in (("slack", "ub"), ("con", "eq")):
        a, b = given.get(f"A_{kind}"), given.get(f"b_{kind}")
        if a is not None and np.size(fields.get(field, ())):
            traced[field] = pinned(fields[field], np.reshape(np.asarray(b), (-1,)) - _product(_dense(a))(x))
    return as_result(fields, **traced)


def _continuous(given: Given) -> None:
    if given.get("integrality") is not None and np.any(given["integrality"]):
        raise UnsupportedError(
            message(
                "scipy.optimize.linprog is not differentiated with integers among the unknowns.",
                fix="Find them first, with plain values, and differentiate the program over the others.",
            )
        )


# Monotone fits -----------------------------------------------------------------------------------------------------


def _monotone_found(raw: Any, given: Given) -> tuple[Any, ...]:
    blocks = np.asarray(raw.blocks)
    labels = np.repeat(np.arange(len(blocks) - 1), np.diff(blocks))
    return raw.x, (labels[:, None] == labels[None, :]).astype(float), numbers_of(raw)


def _monotone_residual(x: Any, others: Any, given: Given) -> Any:
    """Each block is at the mean of its values."""
    weights = given.get("weights")
    y = np.asarray(given["y"])
    weights = np.ones(shape_of(y)) if weights is None else np.asarray(weights)
    return x * (others[0] @ weights) - others[0] @ (weights * y)


def _monotone_result(found: tuple[Any, ...], given: Given) -> Any:
    x, _, fields = found
    return as_result(fields, x=x)


teach(Problem(_nnls_found, equation(_half_square, _positive), _nnls_result), "nnls", note=LEAST + "; " + KKT)
teach(Problem(_lsq_found, equation(_half_square, _limited), _lsq_result), "lsq_linear", note=LEAST + "; " + KKT)
teach(
    Problem(_program_found, equation(_price, _program), _program_result, check=_continuous),
    "linprog",
    note="where the optimum is one vertex; any other is refused; `x`, `fun`, `slack` and `con` have derivatives, "
    "multipliers are left out",
)
teach(
    Problem(_monotone_found, _monotone_residual, _monotone_result),
    "isotonic_regression",
    note="each block is at the mean of its values",
)
constant("scipy.optimize", "linear_sum_assignment", note="which row goes with which column does not move")
constant("scipy.optimize", "quadratic_assignment", note="a permutation does not move")
refuses(
    "scipy.optimize",
    "milp",
    reason="integers among the unknowns jump",
    fix="Find the integers with plain values, then differentiate  c @ x,  or  scipy.optimize.linprog  over the others.",
)
