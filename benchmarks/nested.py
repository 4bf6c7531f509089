"""Derivatives inside loops inside derivatives, and dense second derivatives."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .row import Function, Row

FIRST = dict.fromkeys(("JAX", "PyTorch", "torch.compile"), 1.0)
NO_LOOPS = dict.fromkeys(("PyTorch", "torch.compile", "autograd"), "no loop of its own that can be differentiated")

LOW, HIGH = np.array([0.5, -0.3]), np.array([-0.2, 0.7])
"""Where the saddle would be if the two players did not feel each other."""
STEP, SMALL = 0.2, 1e-12


def saddle(library: Any, slope: str) -> Function:
    """min over x of max over y of (x - a)² + 0.3 x.y - (y - b)²: descent, at every step of which is an ascent."""
    np = library.np
    low, high = np.asarray(LOW), np.asarray(HIGH)
    inner = {"reverse": library.grad, "forward": partial(forward_slope, library)}[slope]

    def lowest(f: Function, slope_of: Any, start: Any) -> Any:
        def body(state: Any) -> Any:
            x, _ = state
            g = slope_of(f)(x)
            return x - STEP * g, np.sum(g * g)

        return library.while_loop(lambda state: state[1] > SMALL, body, (start, 1.0))[0]

    def f(start: Any) -> Any:
        def height(x: Any, y: Any) -> Any:
            return np.sum((x - low) ** 2) + 0.3 * np.sum(x * y) - np.sum((y - high) ** 2)

        def answer(x: Any) -> Any:
            return lowest(lambda y: -height(x, y), inner, start)

        x = lowest(lambda x: height(x, answer(x)), partial(forward_slope, library), start)
        return np.concatenate([x, answer(x)])

    return f


def forward_slope(library: Any, f: Function) -> Function:
    """The gradient by a tangent for each of two axes."""
    first, second = (library.np.asarray(e) for e in np.eye(2))
    return lambda x: library.np.stack([library.jvp(f, (x,), (e,))[1] for e in (first, second)])


def saddle_by_hand(start: np.ndarray) -> np.ndarray:
    """With the slopes worked out; at the highest point that of y itself does not count."""

    def lowest(slope: Function, x: np.ndarray) -> np.ndarray:
        size = 1.0
        while size > SMALL:
            g = slope(x)
            x, size = x - STEP * g, g @ g
        return x

    def answer(x: np.ndarray) -> np.ndarray:
        return lowest(lambda y: 2.0 * (y - HIGH) - 0.3 * x, start)

    x = lowest(lambda x: 2.0 * (x - LOW) + 0.3 * answer(x), start)
    return np.concatenate([x, answer(x)])


def saddle_error(row: Row, result: Any) -> float:
    """Against the point where both slopes are 0."""
    one = np.eye(2)
    matrix = np.block([[2.0 * one, 0.3 * one], [0.3 * one, -2.0 * one]])
    return float(np.max(np.abs(np.linalg.solve(matrix, np.concatenate([2.0 * LOW, -2.0 * HIGH])) - result)))


DT = 0.1


def particle(library: Any) -> Function:
    """Where a particle hits the ground, squared, of the place of one of two charges: a gradient at every step."""
    np = library.np
    fixed = np.asarray(PLACES[1])

    def f(w: Any) -> Any:
        charge = library.array([10.0, 10.0 - w])

        def potential(x: Any) -> Any:
            return sum(1.0 / np.sqrt(np.sum((x - c) ** 2)) for c in (charge, fixed))

        def body(state: Any) -> Any:
            x, v = state
            return x + DT * v, v - DT * library.grad(potential)(x)

        x, v = library.while_loop(is_in_the_air, body, tuple(np.asarray(part) for part in THROWN))
        return (x[0] - x[1] / v[1] * v[0]) ** 2

    return f


PLACES = np.array([[10.0, 10.0], [10.0, 0.0]])
THROWN = np.array([0.0, 8.0]), np.array([0.75, 0.0])


def is_in_the_air(state: Any) -> Any:
    """Whether the next step ends above the ground."""
    x, v = state
    return x[1] + DT * v[1] > 0.0


def tangent(library: Any, f: Function) -> Function:
    """Value and slope by one sweep forward."""
    return lambda w: library.jvp(f, (w,), (1.0,))


def particle_by_hand(w: float) -> Any:
    """With the tangents of place and speed worked out."""
    charges, moves = PLACES - np.array([[0.0, w], [0.0, 0.0]]), np.array([[0.0, -1.0], [0.0, 0.0]])
    x, v = THROWN
    dx, dv = np.zeros(2), np.zeros(2)
    while is_in_the_air((x, v)):
        d, dd = x - charges, dx - moves
        r = np.sqrt(np.sum(d * d, axis=1, keepdims=True))
        force = np.sum(d / r**3, axis=0)
        turn = np.sum(dd / r**3 - 3.0 * d * np.sum(d * dd, axis=1, keepdims=True) / r**5, axis=0)
        x, v, dx, dv = x + DT * v, v + DT * force, dx + DT * dv, dv + DT * turn
    time = -x[1] / v[1]
    reach = x[0] + time * v[0]
    slower = -(dx[1] * v[1] - x[1] * dv[1]) / v[1] ** 2
    return reach**2, 2.0 * reach * (dx[0] + slower * v[0] + time * dv[0])


def particle_error(row: Row, result: Any) -> float:
    """The slope, against a difference of values by hand."""
    w, h = row.point(), 1e-5
    slope = (particle_by_hand(w + h)[0] - particle_by_hand(w - h)[0]) / (2.0 * h)
    return abs(float(result[1]) - slope) / abs(slope)


BATCH = 16


def perceptron(inputs: int, hidden: int) -> Row:
    """The mean squared error of a network with one hidden layer, as a function of all its parameters in one vector."""
    split = inputs * hidden
    count = split + 2 * hidden + 1
    random = np.random.default_rng(3)
    X, target = random.normal(size=(BATCH, inputs)), random.normal(size=BATCH)

    def function(library: Any) -> Function:
        np = library.np
        given, wanted = np.asarray(X), np.asarray(target)

        def loss(p: Any) -> Any:
            W, b = np.reshape(p[:split], (inputs, hidden)), p[split : split + hidden]
            a = np.tanh(given @ W + b)
            e = a @ p[split + hidden : -1] + p[-1] - wanted
            return np.mean(e * e)

        return loss

    def slopes(p: np.ndarray) -> tuple[np.ndarray, ...]:
        """Activations, their slopes, errors, and the Jacobian of the results."""
        W, b, u = p[:split].reshape(inputs, hidden), p[split : split + hidden], p[split + hidden : -1]
        a = np.tanh(X @ W + b)
        s = 1.0 - a * a
        inner = s * u
        jacobian = np.concatenate(
            [(X[:, :, None] * inner[:, None, :]).reshape(BATCH, -1), inner, a, np.ones((BATCH, 1))], axis=1
        )
        return a, s, a @ u + p[-1] - target, jacobian

    def by_hand(p: np.ndarray) -> np.ndarray:
        """Gauss and Newton's matrix, and what bends: each hidden unit with itself, and with its weight."""
        a, s, e, jacobian = slopes(p)
        weight = 2.0 / BATCH * e
        hessian = 2.0 / BATCH * (jacobian.T @ jacobian)
        bent = -2.0 * weight[:, None] * a * s * p[split + hidden : -1]
        extended = np.concatenate([X, np.ones((BATCH, 1))], axis=1)
        own = np.einsum("nj,ni,nk->jik", bent, extended, extended, optimize=True)
        mixed = extended.T @ (weight[:, None] * s)
        units = np.arange(hidden)
        places = np.arange(inputs + 1)[None, :] * hidden + units[:, None]
        hessian[places[:, :, None], places[:, None, :]] += own
        hessian[places, split + hidden + units[:, None]] += mixed.T
        hessian[split + hidden + units[:, None], places] += mixed.T
        return hessian

    def error(row: Row, result: Any) -> float:
        """Against differences of the gradient along one direction."""
        p, d, h = row.point(), np.random.default_rng(7).normal(size=count), 1e-5
        up, down = (slopes(p + sign * h * d) for sign in (1.0, -1.0))
        slope = (up[3].T @ up[2] - down[3].T @ down[2]) / (BATCH * h)
        return float(np.max(np.abs(result @ d - slope)) / np.max(np.abs(slope)))

    return Row(
        f"dense Hessian of an MLP, {count:,} parameters, batch {BATCH}",
        function,
        lambda: 0.5 * np.random.default_rng(4).normal(size=count),
        by_hand,
        lambda library, f: library.hessian(f),
        asked=FIRST,
        check=error,
    )


N = 1_000


def coupled(library: Any) -> Function:
    np = library.np
    return lambda x: np.sin(x) * np.sum(x**2)


def jacobian_by_hand(x: np.ndarray) -> np.ndarray:
    """A diagonal and an outer product."""
    found = np.multiply.outer(2.0 * np.sin(x), x)
    found.reshape(-1)[:: len(x) + 1] += np.cos(x) * (x @ x)
    return found


def jacobian_error(row: Row, result: Any) -> float:
    """Against differences along one direction."""
    from .contestants import plain

    f, x, d, h = coupled(plain()), row.point(), np.random.default_rng(7).normal(size=N), 1e-5
    slope = (f(x + h * d) - f(x - h * d)) / (2.0 * h)
    return float(np.max(np.abs(result @ d - slope)) / np.max(np.abs(slope)))


def saddle_row(slope: str) -> Row:
    return Row(
        f"saddle point: descent by forward slopes, in it ascent by {slope} ones, both `while_loop`s",
        partial(saddle, slope=slope),
        lambda: np.array([1.0, 1.0]),
        saddle_by_hand,
        derive=lambda library, f: f,
        asked=FIRST,
        without=NO_LOOPS,
        tolerance=1e-5,
        check=saddle_error,
    )


ROWS: dict[str, Row] = {
    "saddle-forward": saddle_row("forward"),
    "saddle-reverse": saddle_row("reverse"),
    "particle": Row(
        "particle in a field: a gradient in every round of a `while_loop`, slope of the whole by forward mode",
        particle,
        lambda: 0.3,
        particle_by_hand,
        derive=tangent,
        asked=FIRST,
        without=NO_LOOPS,
        check=particle_error,
    ),
    **{f"hessian-{inputs}-{hidden}": perceptron(inputs, hidden) for inputs, hidden in ((2, 3), (10, 10), (48, 20))},
    "jacobian-1000": Row(
        f"dense Jacobian by forward mode, {N:,} x {N:,}",
        coupled,
        lambda: np.linspace(-1.0, 1.5, N),
        jacobian_by_hand,
        lambda library, f: library.jacobian(f),
        asked=FIRST,
        without={"autograd": "by rows, its only way here, it takes seconds"},
        check=jacobian_error,
    ),
}
