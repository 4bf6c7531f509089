"""`tanhsinh` and `nsum`, which work element by element: their derivatives are those of other sums with the same value.

An integral is that of `quad_vec`, an infinite series its first terms and what Euler and Maclaurin's formula says of the
rest. Where these do not agree with what SciPy found, the derivative is nan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.patching.replacements import replaces
from ...transforms.jvp import jvp
from ...transforms.stop import stop_gradient
from .calling import SCIPY, Given, SolverCall, as_tuple
from .replaying import replay_rule

FIRST = 64
"""So many terms of an infinite series are added up; the formula for the rest is then right to about 12 digits."""
MOST = 2**20
"""So many terms of a finite sum are added up one by one."""
AGREES = 1e-6
"""How far from SciPy's result, relative to 1 + its size, that of the other sum may be."""


@replaces(SCIPY, "tanhsinh", calls_back=True, note="as `quad_vec`; nan where that does not agree")
def tanhsinh(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.tanhsinh`."""
    asked = SolverCall("tanhsinh", original, args, kwargs, "f")
    return _solved(asked, "integral", _integral) if asked.is_traced else asked.plain()


@replaces(SCIPY, "nsum", calls_back=True, note="as first terms and an integral; nan where that does not agree")
def nsum(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.integrate.nsum`."""
    asked = SolverCall("nsum", original, args, kwargs, "f")
    return _solved(asked, "sum", _series) if asked.is_traced else asked.plain()


def _solved(asked: SolverCall, field: str, again: Callable[[Given], Any]) -> Any:
    """SciPy's result, with a derivative for one of its fields."""
    made: list[Any] = []

    def solve(given: Given, values: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        found = asked.run(asked.looked_at(given))
        made[:] = [type(found), list(found)]
        return found[field], {k: v for k, v in found.items() if k != field}

    def replay(found: Sequence[Any], given: Given, values: Sequence[Any]) -> list[Any]:
        for word in ("log", "preserve_shape"):
            if given.get(word):
                raise UnsupportedError(
                    message(
                        f"{asked.name} with {word}=True is not differentiated.",
                        fix=f"Call it without  {word}=,  or use  scipy.integrate.quad_vec.",
                    )
                )
        result = np.reshape(again(given), shape_of(found[0]))
        agrees = np.abs(stop_gradient(result) - found[0]) <= AGREES * (1 + np.abs(found[0]))
        return [np.where(agrees, result, np.nan * result), *[None] * (len(found) - 1)]

    result, rest = asked.callbacks.solved(asked.name, solve, replay_rule(asked.callbacks, replay))
    kind, names = made
    fields = {field: result, **rest}
    return kind({name: fields[name] for name in names})


def _integral(given: Given) -> Any:
    """The integral of all elements together; limits that differ between them become 0 and 1."""
    from scipy.integrate import quad_vec

    f, args, a, b = given["f"], as_tuple(given.get("args", ())), as_value(given["a"]), as_value(given["b"])
    if not ndim_of(a) and not ndim_of(b):
        return quad_vec(lambda x: f(x, *args), a, b, epsrel=1e-10, epsabs=1e-12, limit=1000)[0]
    return quad_vec(lambda s: f(a + (b - a) * s, *args) * (b - a), 0, 1, epsrel=1e-10, epsabs=1e-12, limit=1000)[0]


def _series(given: Given) -> Any:
    """The terms of a finite sum, or the first ones of an infinite one and a formula for the others."""
    f, args, step = given["f"], as_tuple(given.get("args", ())), as_value(given.get("step", 1))
    a, b = as_value(given["a"]) * 1.0, as_value(given["b"])
    if ndim_of(a) or ndim_of(b) or ndim_of(step):
        raise UnsupportedError(
            message(
                f"{SCIPY}.nsum is differentiated only for limits and steps that are numbers.",
                fix="Call it for one series after the other; arrays may be in  args.",
            )
        )
    axes = max([ndim_of(x) for x in args], default=0)
    is_finite = bool(np.isfinite(stop_gradient(b)))
    if is_finite and (b - a) / step > MOST:
        raise UnsupportedError(
            message(f"{SCIPY}.nsum is differentiated for at most {MOST} terms.", fix="Sum them in parts.")
        )
    count = int((stop_gradient(b) - stop_gradient(a)) / stop_gradient(step)) + 1 if is_finite else FIRST
    places = np.reshape(a + step * np.arange(count), (count, *[1] * axes))
    terms = np.sum(f(places, *args), axis=0)
    return terms if is_finite else terms + _rest(lambda x: f(x, *args), a + step * count, step)


def _rest(f: Callable[[Any], Any], start: Any, step: Any) -> Any:
    """The sum of f(start + k step) over all k from 0 on, by Euler and Maclaurin's formula."""
    from scipy.integrate import quad_vec

    def slope(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: jvp(g, (x,), (np.ones_like(x),))[1]

    first = slope(f)
    tail = quad_vec(f, start, np.inf, epsrel=1e-11, epsabs=1e-14, limit=1000)[0] / step
    return tail + f(start) / 2 - step * first(start) / 12 + step**3 * slope(slope(first))(start) / 720
