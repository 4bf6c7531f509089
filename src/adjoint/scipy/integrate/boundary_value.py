"""`solve_bvp`: the solution is an implicit function, of the collocation equations on the mesh where SciPy ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import replaces
from ...transforms.implicit.rule import implicit_rule
from ...transforms.stop import stop_gradient
from .calling import SCIPY, Given, SolverCall
from .replaying import pinned


@replaces(SCIPY, "solve_bvp", calls_back=True, note="the implicit function theorem on the mesh that was found")
def solve_bvp(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.solve_bvp`."""
    asked = SolverCall("solve_bvp", original, args, kwargs, "fun", "bc")
    if not asked.is_traced:
        return asked.plain()
    given = asked.given
    if given.get("S") is not None:
        raise UnsupportedError(
            message("scipy.integrate.solve_bvp with a singular term S is not differentiated.", fix="Leave  S  out.")
        )

    def solve(given: Given, values: Sequence[Any]) -> tuple[Any, ...]:
        found = asked.run(asked.looked_at(given))
        p = np.zeros(0) if found.p is None else found.p
        unknown = np.concatenate([found.y.reshape(-1), p])
        facts = (found.yp, found.rms_residuals, found.niter, found.status, bool(found.success))
        return (unknown, found.x, facts, found.message, str([found.y.shape, p.shape]))

    rule = implicit_rule(asked.name, asked.callbacks, _wrong)
    found = asked.callbacks.solved(asked.name, solve, rule)
    unknown, mesh, (slopes, residuals, niter, status, success), text, _ = found
    x, y, p = _parts(unknown, mesh, given)
    slopes = pinned(slopes, given["fun"](x, y, *p))
    return _result(
        sol=Hermite(x, y, slopes), p=p[0] if p else None, x=x, y=y, yp=slopes, rms_residuals=residuals, niter=niter,
        status=status, message=text, success=success,
    )  # fmt: skip


def _result(**fields: Any) -> Any:
    """An object as SciPy returns it."""
    from scipy.integrate._bvp import BVPResult

    return BVPResult(**fields)


def _parts(unknown: Any, mesh: Any, given: Given) -> tuple[Any, Any, tuple[Any, ...]]:
    """The nodes, which move with the ends of the interval, the values there, and the parameters, if there are any."""
    x = as_value(given["x"]) * 1.0
    a, b = stop_gradient((x[0], x[-1]))
    nodes = mesh + (x[0] - a) + (mesh - a) / (b - a) * ((x[-1] - b) - (x[0] - a))
    rows, count = shape_of(as_value(given["y"]))[0], shape_of(mesh)[0]
    y = np.reshape(unknown[: rows * count], (rows, count))
    return nodes, y, () if given.get("p") is None else (unknown[rows * count :],)


def _wrong(unknown: Any, others: Sequence[Any], given: Given, values: Sequence[Any]) -> Any:
    """What is 0 at the solution: the defects of a method of order 4, and the boundary conditions."""
    x, y, p = _parts(unknown, stop_gradient(others[0]), given)
    fun = given["fun"]
    h, f = np.diff(x), np.asarray(fun(x, y, *p))
    middle = (y[:, 1:] + y[:, :-1]) / 2 - h / 8 * (f[:, 1:] - f[:, :-1])
    between = np.asarray(fun(x[:-1] + h / 2, middle, *p))
    defects = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * between)
    ends = np.asarray(given["bc"](y[:, 0], y[:, -1], *p))
    return np.concatenate([np.reshape(defects, (-1,)), np.reshape(ends, (-1,))])


class Hermite:
    """The solution between the nodes: cubic polynomials with the values and slopes at both ends, as SciPy has them."""

    def __init__(self, x: Any, y: Any, slopes: Any) -> None:
        self.x, self._y, self._slopes = x, y, slopes

    def __call__(self, x: Any) -> Any:
        """The values at one place, or in columns at several."""
        at = as_value(x)
        known = stop_gradient(self.x)
        k = np.clip(np.searchsorted(known, stop_gradient(at), side="right") - 1, 0, shape_of(known)[0] - 2)
        h = self.x[k + 1] - self.x[k]
        s = (at - self.x[k]) / h
        y, slopes = self._y, self._slopes
        first = y[:, k] * (1 + 2 * s) * (1 - s) ** 2 + slopes[:, k] * h * s * (1 - s) ** 2
        return first + y[:, k + 1] * s**2 * (3 - 2 * s) - slopes[:, k + 1] * h * s**2 * (1 - s)
