"""`np.sinc` and `np.i0`, each with all its derivatives: the order is a parameter of the primitive."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.entry.facts import EMBEDDED, Form
from ..rules.opaque import Opaque
from .declare import CONSTANT, declare

NODES = 64
"""Quadrature nodes in a quarter turn: enough for every argument whose I0 is a finite double."""


def _sinc(x: Any, *, order: int) -> Any:
    """The derivative of that order of sin(pi x) / (pi x)."""
    if order == 0:
        return np.sinc(x)
    u = np.pi * np.asarray(x, np.result_type(x, np.float64))
    near = np.abs(u) <= order + 1.0
    found = np.where(near, _sinc_series(np.where(near, u, 0.0), order), _sinc_recurrence(np.where(near, 1.0, u), order))
    return (np.pi**order * found).astype(np.result_type(x))[()]


def _sinc_series(u: Any, order: int) -> Any:
    """Taylor's series around 0: the closed form would lose all digits there."""
    start = (order + 1) // 2
    power = u ** (2 * start - order)
    total = np.zeros_like(power)
    for k in range(start, start + 14 + 2 * order):
        coefficient = (-1) ** k * math.factorial(2 * k) / math.factorial(2 * k - order) / math.factorial(2 * k + 1)
        total = total + coefficient * power
        power = power * u * u
    return total


def _sinc_recurrence(u: Any, order: int) -> Any:
    """u f_n = sin^(n) - n f_(n-1), which is stable away from 0."""
    turns = (np.sin(u), np.cos(u), -np.sin(u), -np.cos(u))
    found = turns[0] / u
    for n in range(1, order + 1):
        found = (turns[n % 4] - n * found) / u
    return found


def _i0(x: Any, *, order: int) -> Any:
    """The derivative of that order of I0: the mean of cos(t)**order exp(x cos(t)) over a turn.

    The midpoint rule converges exponentially for a periodic integrand; opposite nodes together give a cosh or a
    sinh, so that nothing cancels.
    """
    if order == 0:
        return np.i0(x)
    wide = np.asarray(x, np.float64)
    wave = np.sinh if order % 2 else np.cosh
    total = np.zeros_like(wide)
    for c in np.cos((np.arange(NODES) + 0.5) * (np.pi / 2 / NODES)):
        total = total + c**order * wave(c * wide)
    return (total / NODES).astype(np.result_type(x))[()]


def _family(name: str, evaluate: Any, source: str, sympy: str) -> Any:
    def pushed(tangents: Any, out: Any, args: Any, params: dict[str, Any]) -> Any:
        return tangents[0] * primitive(args[0], order=params["order"] + 1)

    def pulled(g: Any, out: Any, args: Any, params: dict[str, Any], needed: Any) -> list[Any]:
        return [g * primitive(args[0], order=params["order"] + 1)]

    primitive = declare(
        name,
        evaluate,
        Opaque(jvp=pushed, vjp=pulled),
        by_elements=lambda x, *, order: np.frompyfunc(lambda e: primitive(e, order=order), 1, 1)(x[None])[0],
        form=Form(
            source=lambda shapes, params: EMBEDDED if params["order"] else source,
            sympy=f"diff({sympy}, t, int(y)).subs(t, x)",  # the parameter follows the argument
        ),
    )
    return primitive


sinc = _family("sinc_derivative", _sinc, "np.sinc({0})", "sin(pi*t)/(pi*t)")
i0 = _family("i0_derivative", _i0, "np.i0({0})", "besseli(0, t)")
unwrap = declare(
    "unwrap",
    lambda x, **keywords: np.unwrap(x, **keywords),
    Opaque(jvp=lambda tangents, out, args, params: tangents[0], vjp=lambda g, out, args, params, needed: [g]),
    note="adds multiples of the period, which are piecewise constant",
    form=Form(source="np.unwrap({all}{named})"),
)

round_to = declare(
    "round_to",
    lambda x, *, decimals: np.round(x, decimals),
    CONSTANT,
    note="piecewise constant",
    form=Form(source="np.round({0}, {decimals})"),
)
