"""The Brusselator on a periodic square: explicit time steps of a five-point stencil, in a Python loop and with scan."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

SIDE, STEP = 32, 0.01
SHORT, LONG = 20, 200


def point() -> list[np.ndarray]:
    """The constants A, B and the diffusion, and the two concentrations at the start."""
    x = np.linspace(0.0, 1.0, SIDE, endpoint=False)
    u = 22.0 * (x[None, :] * (1.0 - x[None, :])) ** 1.5 + 0.0 * x[:, None]
    v = 27.0 * (x[:, None] * (1.0 - x[:, None])) ** 1.5 + 0.0 * x[None, :]
    return [np.array([3.4, 1.0, 10.0]), u, v]


def stepping(library: Any, constants: Any) -> Function:
    """One step of Euler's method."""
    np = library.np
    a, b, diffusion = constants

    def spread(x: Any) -> Any:
        return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4.0 * x

    def step(u: Any, v: Any) -> Any:
        reaction = u**2 * v
        return (
            u + STEP * (diffusion * spread(u) + b + reaction - (a + 1.0) * u),
            v + STEP * (diffusion * spread(v) + a * u - reaction),
        )

    return step


def looping(library: Any) -> Function:
    np = library.np

    def f(point: Any) -> Any:
        constants, u, v = point
        step = stepping(library, constants)
        for _ in range(SHORT):
            u, v = step(u, v)
        return np.mean(u**2 + v**2)

    return f


def scanning(library: Any) -> Function:
    np = library.np

    def f(point: Any) -> Any:
        constants, u, v = point
        step = stepping(library, constants)
        (u, v), _ = library.scan(lambda state, _: (step(*state), None), (u, v), None, length=LONG)
        return np.mean(u**2 + v**2)

    return f


def spread_by_hand(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The stencil without rolled copies."""
    np.multiply(x, -4.0, out=out)
    out[1:] += x[:-1]
    out[0] += x[-1]
    out[:-1] += x[1:]
    out[-1] += x[0]
    out[:, 1:] += x[:, :-1]
    out[:, 0] += x[:, -1]
    out[:, :-1] += x[:, 1:]
    out[:, -1] += x[:, 0]
    return out


def by_hand(steps: int) -> Function:
    """Both concentrations of every step are kept; the stencil is its own transpose."""

    def both(point: list[np.ndarray]) -> Any:
        (a, b, diffusion), u0, v0 = point[0].tolist(), point[1], point[2]
        us, vs = np.empty((steps + 1, *u0.shape)), np.empty((steps + 1, *u0.shape))
        us[0], vs[0] = u0, v0
        first, second, reaction = (np.empty_like(u0) for _ in range(3))
        for i in range(steps):
            u, v = us[i], vs[i]
            np.multiply(u, u, out=reaction)
            reaction *= v
            reaction *= STEP
            next_u, next_v = us[i + 1], vs[i + 1]
            spread_by_hand(u, next_u)
            next_u *= STEP * diffusion
            next_u += STEP * b
            next_u += reaction
            np.multiply(u, 1.0 - STEP * (a + 1.0), out=first)
            next_u += first
            spread_by_hand(v, next_v)
            next_v *= STEP * diffusion
            next_v += v
            next_v -= reaction
            np.multiply(u, STEP * a, out=first)
            next_v += first
        value = (np.vdot(us[-1], us[-1]) + np.vdot(vs[-1], vs[-1])) / u0.size
        gu, gv = us[-1] * (2.0 / u0.size), vs[-1] * (2.0 / u0.size)
        to_a = to_b = to_diffusion = 0.0
        for i in range(steps - 1, -1, -1):
            u, v = us[i], vs[i]
            spread_by_hand(gu, first)
            spread_by_hand(gv, second)
            to_diffusion += np.vdot(first, u) + np.vdot(second, v)
            to_b += gu.sum()
            difference = gu - gv
            to_a -= np.vdot(difference, u)
            np.multiply(u, v, out=reaction)
            reaction *= 2.0
            reaction -= a
            reaction *= difference
            reaction -= gu
            first *= diffusion
            first += reaction
            first *= STEP
            gu += first
            second *= diffusion
            difference *= u
            difference *= u
            second += difference
            second *= STEP
            gv += second
        return value, [STEP * np.array([to_a, to_b, to_diffusion]), gu, gv]

    return both


ROWS = {
    "brusselator": Row(f"Brusselator, {SIDE} x {SIDE}, {SHORT} steps in a Python loop", looping, point, by_hand(SHORT)),
    "brusselator-scan": Row(
        f"Brusselator, {SIDE} x {SIDE}, {LONG} steps with scan",
        scanning,
        point,
        by_hand(LONG),
        without={"torch.compile": "no loop of its own that can be differentiated"},
    ),
}
