"""Integrals over many variables: `qmc_quad` at the points that were drawn, `cubature` on its regions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import replaces
from ...transforms.stop import stop_gradient
from .calling import SCIPY, Given, SolverCall
from .replaying import replay_rule


@replaces(SCIPY, "qmc_quad", calls_back=True, note="at the points that were drawn; the error has no derivative")
def qmc_quad(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.qmc_quad`."""
    asked = SolverCall("qmc_quad", original, args, kwargs, "func")
    if not asked.is_traced:
        return asked.plain()
    if asked.given.get("log"):
        raise UnsupportedError(
            message("scipy.integrate.qmc_quad with log=True is not differentiated.", fix="Integrate without  log=.")
        )
    kind: list[type] = []

    def solve(given: Given, values: Sequence[Any]) -> tuple[Any, ...]:
        given, points = asked.looked_at(given), []
        func = given["func"]

        def noting(x: Any) -> Any:
            found = func(x)  # if this raises, SciPy takes the points one by one
            points.append(np.array(x, float))
            return found

        found = asked.run({**given, "func": noting})
        kind[:] = [type(found)]
        count = given.get("n_estimates", 8)
        drawn = points[-count:] if points[-1].ndim == 2 else []
        if len({x.shape for x in drawn}) != 1:
            raise UnsupportedError(
                message(
                    "scipy.integrate.qmc_quad is differentiated only if the function takes all points at once.",
                    fix="Write it for an array of shape (dimensions, points).",
                )
            )
        a, b = [np.atleast_1d(np.asarray(given[k], float)) for k in ("a", "b")]
        shares = (np.stack(drawn) - a[:, None]) / (b - a)[:, None]
        return float(found.integral), float(found.standard_error), shares

    def again(found: Sequence[Any], given: Given, values: Sequence[Any]) -> list[Any]:
        a, b = [np.atleast_1d(as_value(given[k]) * 1.0) for k in ("a", "b")]
        a, b = np.broadcast_arrays(a, b)
        shares = stop_gradient(found[2])
        means = [np.mean(given["func"](a[:, None] + (b - a)[:, None] * shares[k])) for k in range(len(shares))]
        return [np.prod(b - a) * np.mean(np.stack(means)), None, None]

    integral, error, _ = asked.callbacks.solved(asked.name, solve, replay_rule(asked.callbacks, again))
    return kind[0](integral, error)


@replaces(SCIPY, "cubature", calls_back=True, note="through SciPy's own code, on the regions that were accepted")
def cubature(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.cubature`."""
    asked = SolverCall("cubature", original, args, kwargs, "f")
    if not asked.is_traced:
        return asked.plain()
    made: list[Any] = []

    def solve(given: Given, values: Sequence[Any]) -> tuple[Any, ...]:
        found = asked.run(asked.looked_at(given))
        made[:] = [found]
        numbers = {k: getattr(found, k) for k in NUMBERS}
        regions = [(r.estimate, r.error, r.a, r.b) for r in found.regions]
        return found.estimate, numbers, regions, str(found.status)

    def again(found: Sequence[Any], given: Given, values: Sequence[Any]) -> list[Any]:
        return [asked.run(given).estimate, *[None] * (len(found) - 1)]

    found = asked.callbacks.solved(asked.name, solve, replay_rule(asked.callbacks, again))
    estimate, numbers, regions, status = found
    like = made[0].regions[0]
    whole = [dataclasses.replace(like, **dict(zip(("estimate", "error", "a", "b"), r, strict=True))) for r in regions]
    return dataclasses.replace(made[0], **numbers, estimate=estimate, regions=whole, status=status)


NUMBERS = ("error", "subdivisions", "atol", "rtol")
"""What a result of `cubature` holds besides the estimate, its regions and its status."""
