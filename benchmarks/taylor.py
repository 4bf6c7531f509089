"""Taylor coefficients to orders 2, ..., 20: of one number, of a network along a direction, of an equation of motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .jit.scalar import scalar
from .row import Function, Row

ORDERS = (2, 3, 5, 10, 15, 20)
STEPS, LENGTH = 100, 0.01
SIZES = (64, 64, 10)
BATCH = 32
NESTED_MOST = {"JAX": 5, "PyTorch": 3}
"""Above these orders nested tangents take minutes."""
TOO_LONG = "nested tangents double the work with every order"


def network(library: Any) -> Function:
    """An MLP with tanh, as a function of its inputs."""
    np = library.np
    weights = [library.place(w) for w in drawn()]

    def f(x: Any) -> Any:
        for w in weights[:-1]:
            x = np.tanh(x @ w)
        return x @ weights[-1]

    return f


def drawn() -> list[np.ndarray]:
    random = np.random.default_rng(4)
    return [random.normal(size=s) / np.sqrt(s[0]) for s in zip((SIZES[0], *SIZES[:-1]), SIZES, strict=True)]


def inputs() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(BATCH, SIZES[0]))


def oscillator(library: Any) -> Function:
    """Van der Pol's equation, by steps of Euler's, as a function of where it starts."""
    scan = library.scan

    def step(state: Any, _: Any) -> Any:
        x, v = state
        return (x + LENGTH * v, v + LENGTH * ((1.0 - x * x) * v - x)), None

    return lambda x: scan(step, (x, 0.5 * x), None, STEPS)[0][0]


def coefficients(direction: Callable[[], Any], order: int) -> Callable[[Any, Function], Function]:
    """What is asked for: all coefficients up to the order."""

    def derive(library: Any, function: Function) -> Function:
        taylor, v = library.taylor, library.place(direction())
        return lambda x: taylor(function, x, v, order)

    return derive


# By hand: a value is the list of its coefficients.


def product(a: list[Any], b: list[Any]) -> list[Any]:
    return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))]


def solved(first: Any, slope: Callable[[list[Any], int], Any], order: int) -> list[Any]:
    """y with y' = slope(y), of which the k-th coefficient needs y up to the k-th."""
    y = [first]
    for k in range(1, order + 1):
        y.append(slope(y, k - 1) / k)
    return y


def at(a: list[Any], b: list[Any], k: int) -> Any:
    """The k-th coefficient of a product with a derivative: a b'."""
    return sum(a[k - j] * (j + 1) * b[j + 1] for j in range(k + 1))


def scalar_by_hand(order: int) -> Function:
    def f(x: float) -> list[Any]:
        t = [x, 1.0, *[0.0] * (order - 1)]
        square = product(t, t)
        e = solved(np.exp(square[0]), lambda y, k: at(y, square, k), order)
        c = [a + b for a, b in zip(square, e, strict=True)]
        root = [np.sqrt(c[0])]
        cosine, sine = [np.cos(c[0])], [np.sin(c[0])]
        for k in range(1, order + 1):
            root.append((c[k] - sum(root[i] * root[k - i] for i in range(1, k))) / (2.0 * root[0]))
            found = -at(sine, c, k - 1) / k, at(cosine, c, k - 1) / k
            cosine.append(found[0])
            sine.append(found[1])
        return [a + b for a, b in zip(root, cosine, strict=True)]

    return f


def network_by_hand(order: int) -> Function:
    weights = drawn()

    def f(x: np.ndarray) -> list[Any]:
        t = [x, way(), *[np.zeros_like(x) for _ in range(order - 1)]]
        for w in weights[:-1]:
            u = [c @ w for c in t]
            t, slopes = [np.tanh(u[0])], []
            for k in range(order):
                slopes.append((1.0 if k == 0 else 0.0) - sum(t[i] * t[k - i] for i in range(k + 1)))
                t.append(at(slopes, u, k) / (k + 1))
        return [c @ weights[-1] for c in t]

    return f


def oscillator_by_hand(order: int) -> Function:
    def f(x0: float) -> list[Any]:
        x = np.array([x0, 1.0, *[0.0] * (order - 1)])
        v, n = 0.5 * x, order + 1
        for _ in range(STEPS):
            damped = -np.convolve(x, x)[:n]
            damped[0] += 1.0
            x, v = x + LENGTH * v, v + LENGTH * (np.convolve(damped, v)[:n] - x)
        return list(x)

    return f


def way() -> np.ndarray:
    return np.random.default_rng(6).normal(size=(BATCH, SIZES[0]))


def series_error(row: Row, result: Any) -> float:
    """The polynomial a little further, against the plain function there."""
    from .contestants import plain

    h = 1e-4
    point, v = row.point(), way() if np.ndim(row.point()) else 1.0
    want = np.asarray(row.function(plain())(point + h * v))
    got = sum(np.asarray(c) * h**k for k, c in enumerate(result))
    return float(np.max(np.abs(got - want)) / np.max(np.abs(want)))


WORKS: dict[str, tuple[str, Any, Any, Any, Any]] = {
    "scalar": ("sqrt(c) + cos(c), c = x² + exp(x²)", scalar, lambda: 1.3, lambda: 1.0, scalar_by_hand),
    "network": (f"MLP 64-64-64-10, tanh, batch {BATCH}", network, inputs, way, network_by_hand),
    "equation": (f"Van der Pol's equation, {STEPS} steps", oscillator, lambda: 1.3, lambda: 1.0, oscillator_by_hand),
}


def row_of(work: str, order: int) -> Row:
    """One function to one order."""
    title, function, point, direction, by_hand = WORKS[work]
    absent = {name: TOO_LONG for name, most in NESTED_MOST.items() if order > most}
    return Row(
        f"{title}: order {order}",
        function,
        point,
        by_hand(order),
        coefficients(direction, order),
        asked={"JAX jet": 1.0, "JAX": 1.0} if order >= 3 else {},
        without=absent,
        tolerance=1e-6,
        check=series_error,
    )


ROWS = {f"taylor-{work}-{order}": row_of(work, order) for work in WORKS for order in ORDERS}

GROWTH_ASKED = 5.0
"""How many times the time of order 10 that of order 20 may take."""


def growth(rows: dict[str, Any], us: str = "adjoint") -> str:
    """How much more order 20 takes than order 10, in words."""
    found = []
    for work in WORKS:
        times = [rows.get(f"taylor-{work}-{order}", {}).get("times", {}).get(us) for order in (10, 20)]
        if all(times):
            found.append(f"{work} {times[1] / times[0]:.2f}x")
    return f"Order 20 against order 10 (asked: at most {GROWTH_ASKED:g}x): {', '.join(found)}." if found else ""
