"""Integrals of integrals: SciPy's own code, whose derivative is that of the integrals it calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...numpy.patching.replacements import replaces
from .calling import SCIPY, Given, SolverCall
from .replaying import replay_rule


@replaces(SCIPY, "nquad", calls_back=True, note="as integrals of integrals")
def nquad(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.nquad`."""
    return _nested("nquad", original, args, kwargs)


@replaces(SCIPY, "dblquad", calls_back=True, note="as integrals of integrals")
def dblquad(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.dblquad`."""
    return _nested("dblquad", original, args, kwargs)


@replaces(SCIPY, "tplquad", calls_back=True, note="as integrals of integrals")
def tplquad(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.tplquad`."""
    return _nested("tplquad", original, args, kwargs)


def _nested(name: str, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    asked = SolverCall(name, original, args, kwargs, "func")
    if not asked.is_traced:
        return asked.plain()

    def solve(given: Given, values: Sequence[Any]) -> Any:
        return asked.run(asked.looked_at(given))

    def replay(found: Sequence[Any], given: Given, values: Sequence[Any]) -> list[Any]:
        return [asked.run(given)[0], *[None] * (len(found) - 1)]

    return asked.callbacks.solved(asked.name, solve, replay_rule(asked.callbacks, replay))
