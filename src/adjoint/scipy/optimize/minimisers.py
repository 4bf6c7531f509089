"""Minima: the gradient is 0 there, or bounds and constraints hold it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.values import shape_of
from ...transforms.grad import grad
from ...transforms.jacobian import hessian
from .conditions import Constraints, equation, joined, point_of, stationary
from .constraints import bounds_of, constraints_of, itself, sized
from .solving import Given, LazyField, Problem, as_result, as_tuple, numbers_of, pinned, teach


def objective_of(given: Given) -> Callable[[Any], Any]:
    """The user's function of a point alone, as a number."""
    key = next(k for k in ("fun", "func", "f") if k in given)
    options = given.get("minimizer_kwargs") or {}
    args = as_tuple(given["args"] if "args" in given else options.get("args", ()))

    def objective(x: Any) -> Any:
        found = given[key](x, *args)
        return np.reshape(np.asarray(found[0] if isinstance(found, tuple) else found), ())

    return objective


def constraints_in(given: Given, x: Any) -> Constraints | None:
    """Bounds and constraints of a call."""
    size = int(np.prod(shape_of(x)))
    given = {**(given.get("minimizer_kwargs") or {}), **given}
    parts = bounds_of(given.get("bounds"), size)
    parts += constraints_of(given.get("constraints"))
    return joined(sized(parts, x))


def minimum(
    objective: Callable[[Given], Callable[[Any], Any]],
    constraints: Callable[[Given, Any], Constraints | None],
    result: Callable[..., Any],
    *,
    check: Callable[[Given], None] = lambda given: None,
) -> Problem:
    """A function that gives SciPy's result of a minimum, by what it minimises and what bounds that."""

    def found(raw: Any, given: Given) -> tuple[Any, ...]:
        z, sides = stationary(raw.x, objective(given), constraints(given, raw.x))
        return z, sides, numbers_of(raw)

    return Problem(found, equation(objective, constraints), result, check=check)


def _result(found: tuple[Any, ...], given: Given) -> Any:
    z, sides, fields = found
    x = point_of(z, sides)
    objective = objective_of(given)

    later: dict[str, Callable[[], Any]] = {
        "jac": lambda: grad(objective)(x),
        "grad": lambda: grad(objective)(x),
        "hess": lambda: hessian(objective)(x),
        "hess_inv": lambda: np.linalg.inv(hessian(objective)(x)),
    }
    waiting = {k: LazyField(functools.partial(_pinned, fields[k], make)) for k, make in later.items() if k in fields}
    if isinstance(fields.get("jac"), list):  # of `trust-constr`: that of the constraints
        del waiting["jac"]
    return as_result(fields, x=x, fun=pinned(fields["fun"], objective(x)), **waiting)


def _pinned(value: Any, make: Callable[[], Any]) -> Any:
    return pinned(value, make())


# The older functions, which return the point, or a tuple that begins with it ----------------------------------------


def _legacy(value_at: int | None, parts: Callable[[Given, Any], list[Constraints]]) -> Problem:
    """A function that returns a point, and on request more; where its value is among that."""

    def constraints(given: Given, x: Any) -> Constraints | None:
        return joined(sized(parts(given, x), x))

    def found(raw: Any, given: Given) -> tuple[Any, ...]:
        x, rest = (raw[0], list(raw[1:])) if isinstance(raw, tuple) else (raw, None)
        z, sides = stationary(x, objective_of(given), constraints(given, x))
        return z, sides, None if rest is None else [v if v is not None else "" for v in map(_field, rest)]

    def result(found: tuple[Any, ...], given: Given) -> Any:
        x, rest = point_of(found[0], found[1]), found[2]
        if rest is None:
            return x
        if value_at is not None:
            rest[value_at - 1] = pinned(rest[value_at - 1], objective_of(given)(x))
        return (x, *rest)

    return Problem(found, equation(objective_of, constraints), result, check=_finished)


def _field(x: Any) -> Any:
    return numbers_of({"": x}).get("")


def _no_bounds(given: Given, x: Any) -> list[Constraints]:
    return []


def _bounded(given: Given, x: Any) -> list[Constraints]:
    return bounds_of(given.get("bounds"), int(np.prod(shape_of(x))))


def _cobyla(given: Given, x: Any) -> list[Constraints]:
    more = as_tuple(given.get("args", ()) if given.get("consargs") is None else given["consargs"])
    several = given["cons"] if isinstance(given["cons"], (list, tuple)) else [given["cons"]]
    return constraints_of([{"type": "ineq", "fun": c, "args": more} for c in several])


def _slsqp(given: Given, x: Any) -> list[Constraints]:
    more = as_tuple(given.get("args", ()))
    several = [{"type": "eq", "fun": c, "args": more} for c in given.get("eqcons", ())]
    several += [{"type": "ineq", "fun": c, "args": more} for c in given.get("ieqcons", ())]
    several += [
        {"type": kind, "fun": given[key], "args": more}
        for kind, key in (("eq", "f_eqcons"), ("ineq", "f_ieqcons"))
        if given.get(key) is not None
    ]
    return [*_bounded(given, x), *constraints_of(several)]


# Functions of one number -------------------------------------------------------------------------------------------


def _of_number(given: Given) -> Callable[[Any], Any]:
    objective = objective_of(given)
    return lambda y: objective(np.reshape(y, ()))


def _limits(given: Given, x: Any) -> Constraints | None:
    pair = given.get("bounds") if "x1" not in given else (given["x1"], given["x2"])
    if pair is None:
        return None
    lower, upper = [np.reshape(np.asarray(b) * 1.0, (1,)) for b in pair]
    return joined([(itself, lower, upper)])


def _number_found(raw: Any, given: Given) -> tuple[Any, ...]:
    rest: Any = numbers_of(raw) if hasattr(raw, "x") else list(raw[1:]) if isinstance(raw, tuple) else None
    x = np.reshape(raw.x if hasattr(raw, "x") else raw[0] if isinstance(raw, tuple) else raw, (1,))
    return (*stationary(x, _of_number(given), _limits(given, x)), rest)


def _number_result(found: tuple[Any, ...], given: Given) -> Any:
    z, _, rest = found
    x = z[0]
    if rest is None:
        return x
    value = objective_of(given)(x)
    if isinstance(rest, dict):
        return as_result(rest, x=x, fun=pinned(rest["fun"], value))
    return x, pinned(rest[0], value), *rest[1:]


# Searches of a whole region ----------------------------------------------------------------------------------------


def _finished(given: Given) -> None:
    """A point of a grid moves with nothing."""
    if "finish" in given and given["finish"] is None:
        raise UnsupportedError(
            message(
                "scipy.optimize.brute with finish=None is not differentiated: a point of the grid does not move.",
                fix="Leave out  finish=None,  so that the minimum is polished.",
            )
        )
    if np.any(given.get("integrality") if given.get("integrality") is not None else False):
        raise UnsupportedError(
            message(
                "scipy.optimize.differential_evolution is not differentiated with integers among the unknowns.",
                fix="Find them first, with plain values, and differentiate the minimum over the others.",
            )
        )


MINIMUM = minimum(objective_of, constraints_in, _result, check=_finished)
NUMBER = Problem(_number_found, equation(_of_number, _limits), _number_result)
KKT = "the minimum is where the gradient is 0 or a constraint holds it (KKT); kinks are refused"

teach(MINIMUM, "minimize", note=KKT + "; `x`, `fun`, `jac`, `hess` and `hess_inv` have derivatives")
teach(MINIMUM, "differential_evolution", "basinhopping", "dual_annealing", "shgo", "direct", note=KKT)
teach(_legacy(1, _no_bounds), "fmin", "fmin_powell", "fmin_cg", "fmin_bfgs", "fmin_ncg", note=KKT)
teach(_legacy(1, _no_bounds), "brute", note=KKT)
teach(_legacy(1, _bounded), "fmin_l_bfgs_b", note=KKT)
teach(_legacy(None, _bounded), "fmin_tnc", note=KKT)
teach(_legacy(None, _cobyla), "fmin_cobyla", note=KKT)
teach(_legacy(1, _slsqp), "fmin_slsqp", note=KKT)
teach(NUMBER, "minimize_scalar", "brent", "golden", "fminbound", note=KKT)
