"""A damped pendulum by the classical Runge-Kutta method: a long straight program, and a loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..row import Function, Row

SHORT, LONG = (100, 0.02), (10_000, 0.002)
NO_LOOP = "no loop of its own that can be differentiated; 10,000 steps in Python take seconds"


def stepping(library: Any, constants: Any, h: float) -> Function:
    """One step of the method."""
    np, array = library.np, library.array
    stiffness, damping = constants

    def slope(s: Any) -> Any:
        return array([s[1], -stiffness * np.sin(s[0]) - damping * s[1]])

    def step(state: Any) -> Any:
        k1 = slope(state)
        k2 = slope(state + 0.5 * h * k1)
        k3 = slope(state + 0.5 * h * k2)
        k4 = slope(state + h * k3)
        return state + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return step


def looping(library: Any) -> Function:
    """A plain loop in Python."""
    np = library.np
    steps, h = SHORT

    def f(point: Any) -> Any:
        state, constants = point
        step = stepping(library, constants, h)
        for _ in range(steps):
            state = step(state)
        return np.sum(state**2)

    return f


def scanning(library: Any) -> Function:
    """The same with the library's own loop."""
    np = library.np
    steps, h = LONG

    def f(point: Any) -> Any:
        state, constants = point
        step = stepping(library, constants, h)
        last, _ = library.scan(lambda state, _: (step(state), None), state, None, length=steps)
        return np.sum(last**2)

    return f


def in_python(steps: int, h: float) -> Function:
    """Plain floats: quicker than NumPy on arrays of two. Kept are the states; a step's slopes are computed again."""

    def both(point: Any, sin: Any = math.sin, cos: Any = math.cos) -> Any:
        (x, v), (stiffness, damping) = point[0].tolist(), point[1].tolist()
        half, sixth, third = 0.5 * h, h / 6.0, h / 3.0
        states = []
        for _ in range(steps):
            states.append((x, v))
            a = -stiffness * sin(x) - damping * v
            v2 = v + half * a
            b = -stiffness * sin(x + half * v) - damping * v2
            v3 = v + half * b
            c = -stiffness * sin(x + half * v2) - damping * v3
            v4 = v + h * c
            d = -stiffness * sin(x + h * v3) - damping * v4
            x, v = x + sixth * (v + 2.0 * (v2 + v3) + v4), v + sixth * (a + 2.0 * (b + c) + d)
        gx, gv, to_stiffness, to_damping = 2.0 * x, 2.0 * v, 0.0, 0.0
        value = x * x + v * v
        for x, v in reversed(states):
            v2 = v + half * (-stiffness * sin(x) - damping * v)
            x2 = x + half * v
            v3 = v + half * (-stiffness * sin(x2) - damping * v2)
            x3 = x + half * v2
            v4 = v + h * (-stiffness * sin(x3) - damping * v3)
            x4 = x + h * v3
            bx, bv, nx, nv = gx, gv, 0.0, 0.0
            for weight, ahead, xs, vs in (
                (sixth, h, x4, v4),
                (third, half, x3, v3),
                (third, half, x2, v2),
                (sixth, 0.0, x, v),
            ):
                kx, kv = weight * gx + nx, weight * gv + nv
                to_stiffness -= sin(xs) * kv
                to_damping -= vs * kv
                px, pv = -stiffness * cos(xs) * kv, kx - damping * kv
                bx += px
                bv += pv
                nx, nv = ahead * px, ahead * pv
            gx, gv = bx, bv
        return value, (np.array([gx, gv]), np.array([to_stiffness, to_damping]))

    return both


def point() -> Any:
    return np.array([1.0, 0.0]), np.array([9.81, 0.1])


ROWS = {
    "pendulum": Row(
        "pendulum, 100 steps of RK4 in a Python loop",
        looping,
        point,
        in_python=in_python(*SHORT),
        in_c="pendulum",
        asked={"autograd": 100.0},
        compile_limit=1.5,
    ),
    "pendulum-scan": Row(
        "pendulum, 10,000 steps of RK4 with scan",
        scanning,
        point,
        in_python=in_python(*LONG),
        in_c="long_pendulum",
        asked={"JAX": 3.0},
        without={"PyTorch": NO_LOOP, "torch.compile": NO_LOOP, "autograd": NO_LOOP},
    ),
}
