"""Roots and fixed points: the equation is the user's function itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.values import shape_of
from ...transforms.implicit.rule import Solve, by_elements
from .solving import Given, Problem, as_result, as_tuple, numbers_of, pinned, teach

BRACKETED = ("brentq", "brenth", "ridder", "bisect", "toms748")


def _scalar_found(raw: Any, given: Given) -> tuple[Any, ...]:
    root, report = raw if isinstance(raw, tuple) and len(raw) == 2 else (raw, None)
    return root, None if report is None else _fields(report)


def _fields(report: Any) -> dict[str, Any]:
    """What a `RootResults` holds."""
    return numbers_of({k: getattr(report, k) for k in FIELDS if hasattr(report, k)})


FIELDS = ("root", "iterations", "function_calls", "converged", "flag", "method")


def _report(fields: dict[str, Any], root: Any) -> Any:
    from scipy.optimize import RootResults

    made = RootResults(0.0, 0, 0, 0, "")
    for key, value in {**fields, "root": root}.items():
        made[key] = value
    return made


def _scalar_result(found: tuple[Any, ...], given: Given) -> Any:
    root, fields = found
    return root if fields is None else (root, _report(fields, root))


def _function(key: str) -> Any:
    def residual(x: Any, others: Any, given: Given) -> Any:
        found = given[key](x, *as_tuple(given.get("args", ())))
        # fprime=True, jac=True: the function gives its derivative as well
        is_pair = isinstance(found, tuple) and any([given.get(name) is True for name in ("fprime", "fprime2", "jac")])
        return np.reshape(np.asarray(found[0] if is_pair else found), shape_of(x))

    return residual


def _newton_found(raw: Any, given: Given) -> tuple[Any, ...]:
    if not given.get("full_output"):
        return raw, None
    if hasattr(raw, "zero_der"):  # of arrays
        return raw.root, {"converged": raw.converged, "zero_der": raw.zero_der}
    return _scalar_found(raw, given)


def _newton_result(found: tuple[Any, ...], given: Given) -> Any:
    root, fields = found
    if fields is None or "zero_der" not in fields:
        return _scalar_result(found, given)
    return NewtonResult(root, fields["converged"], fields["zero_der"])


class NewtonResult(NamedTuple):
    """What `newton` gives for arrays with `full_output=True`."""

    root: Any
    converged: Any
    zero_der: Any


def _each_alone(given: Given) -> Solve | None:
    """Newton's method takes an array for equations with an unknown each."""
    return by_elements if np.size(given["x0"]) > 1 else None


def _root_scalar_found(raw: Any, given: Given) -> tuple[Any, ...]:
    return raw.root, _fields(raw)


def _root_scalar_result(found: tuple[Any, ...], given: Given) -> Any:
    return _report(found[1], found[0])


def _root_found(raw: Any, given: Given) -> tuple[Any, ...]:
    return raw.x, numbers_of(raw)


def _root_result(found: tuple[Any, ...], given: Given) -> Any:
    x, fields = found
    return as_result(fields, x=x, fun=pinned(fields["fun"], ROOT(x, (), given)))


def _fsolve_found(raw: Any, given: Given) -> tuple[Any, ...]:
    if not given.get("full_output"):
        return raw, None
    return raw[0], (numbers_of(raw[1]), raw[2], raw[3])


def _fsolve_result(found: tuple[Any, ...], given: Given) -> Any:
    x, rest = found
    return x if rest is None else (x, *rest)


def _fixed(x: Any, others: Any, given: Given) -> Any:
    return np.asarray(given["func"](x, *as_tuple(given.get("args", ())))) - x


def _array(raw: Any, given: Given) -> tuple[Any, ...]:
    return (np.asarray(raw)[()],)


def _first(found: tuple[Any, ...], given: Given) -> Any:
    return found[0]


ROOT = _function("fun")
TWICE = "the implicit function theorem; a multiple root is refused"

teach(Problem(_scalar_found, _function("f"), _scalar_result), *BRACKETED, note=TWICE)
teach(
    Problem(_newton_found, _function("func"), _newton_result, solve=_each_alone),
    "newton",
    note=TWICE,
)
teach(
    Problem(_root_scalar_found, _function("f"), _root_scalar_result),
    "root_scalar",
    note=TWICE,
)
teach(Problem(_root_found, ROOT, _root_result), "root", note="`x` and `fun` have derivatives")
teach(Problem(_fsolve_found, _function("func"), _fsolve_result), "fsolve", note=TWICE)
teach(Problem(_array, _fixed, _first), "fixed_point", note=TWICE)
teach(
    Problem(_array, _function("F"), _first),
    "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "newton_krylov",
    note=TWICE,
)  # fmt: skip
