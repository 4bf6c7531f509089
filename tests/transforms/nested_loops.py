"""Programs of loops and branches inside one another, three deep, and the same ones in plain Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree
from scipy import optimize

import adjoint as ad

State = tuple[Any, Any]
"""A number and a vector."""
Step = Callable[[State], State]


class Rolled:
    """Loops and branches of the library."""

    scan = staticmethod(ad.scan)
    while_loop = staticmethod(ad.while_loop)
    fori_loop = staticmethod(ad.fori_loop)
    cond = staticmethod(ad.cond)
    switch = staticmethod(ad.switch)
    map = staticmethod(ad.map)


class Python:
    """What they have to be equal to."""

    @staticmethod
    def scan(f: Any, carry: Any, xs: Any) -> Any:
        """For each row."""
        rows = []
        for x in xs:
            carry, y = f(carry, x)
            rows.append(y)
        return carry, _stacked(rows)

    @staticmethod
    def while_loop(cond: Any, body: Any, state: Any) -> Any:
        """While it holds."""
        while cond(state):
            state = body(state)
        return state

    @staticmethod
    def fori_loop(low: int, high: int, body: Any, state: Any) -> Any:
        """For each number."""
        for i in range(low, high):
            state = body(i, state)
        return state

    @staticmethod
    def cond(pred: Any, yes: Any, no: Any, *operands: Any) -> Any:
        """One of two."""
        return yes(*operands) if pred else no(*operands)

    @staticmethod
    def switch(index: Any, functions: Any, *operands: Any) -> Any:
        """One of several."""
        return functions[min(max(int(index), 0), len(functions) - 1)](*operands)

    @staticmethod
    def map(f: Any, xs: Any) -> Any:
        """All rows."""
        return _stacked([f(x) for x in xs])


def _stacked(rows: Sequence[Any]) -> Any:
    return optree.tree_map(lambda *parts: np.stack(parts), *rows)


# What goes around: from a step to a step.


def _scan(step: Step, of: Any) -> Step:
    def around(s: State) -> State:
        def body(carry: State, x: Any) -> Any:
            a, v = step((carry[0] + x, carry[1]))
            return (a, v), a * np.sum(v)

        (a, v), ys = of.scan(body, s, np.array([0.1, 0.2]))
        return a + 0.1 * np.sum(ys), v

    return around


def _while(step: Step, of: Any) -> Step:
    def around(s: State) -> State:
        return of.while_loop(lambda s: s[1] < 2.0, lambda s: (step(s[0]), s[1] + 1.0), (s, 0.0))[0]

    return around


def _until(step: Step, of: Any) -> Step:
    """Values decide how often."""

    def around(s: State) -> State:
        bound = lambda t: np.abs(t[0][0]) + t[1] < 1.6  # noqa: E731
        return of.while_loop(bound, lambda t: (step(t[0]), t[1] + 0.7), (s, 0.0))[0]

    return around


def _fori(step: Step, of: Any) -> Step:
    return lambda s: of.fori_loop(0, 2, lambda i, s: step((s[0] + 0.01 * i, s[1])), s)


def _cond(step: Step, of: Any) -> Step:
    return lambda s: of.cond(s[0] < 5.0, step, lambda s: (s[0] * 0.5, s[1]), s)


def _switch(step: Step, of: Any) -> Step:
    halved, turned = (lambda s: (s[0] * 0.5, s[1])), (lambda s: (s[0], s[1][::-1]))
    return lambda s: of.switch(np.where(s[0] > -5.0, 1, 0), [halved, step, turned], s)


def _map(step: Step, of: Any) -> Step:
    def around(s: State) -> State:
        a, v = of.map(lambda x: step((s[0] * x, s[1] + x)), np.array([0.9, 1.1]))
        return np.mean(a), v[0] * v[1]

    return around


AROUND = {
    "scan": _scan, "while": _while, "until": _until, "fori": _fori, "cond": _cond, "switch": _switch, "map": _map,
}  # fmt: skip


# What is done inside.


def _slope(f: Any) -> Any:
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def _descent(slope_of: Any, of: Any) -> Any:
    """A loop whose body takes a derivative, as a function of where it goes to."""

    def found(w: Any) -> Any:
        slope = slope_of(lambda x: (x - w) ** 4 + 0.1 * x**2)
        return of.while_loop(lambda s: s[1] < 2.0, lambda s: (s[0] - 0.1 * slope(s[0]), s[1] + 1.0), (1.5, 0.0))[0]

    return found


def _descent_of_arrays(slope_of: Any, of: Any) -> Any:
    """The same with arrays and 1 / sqrt."""

    def found(w: Any) -> Any:
        cost = lambda x: np.sum((x - w) ** 2) / np.sqrt(1.0 + np.sum(x**2))  # noqa: E731
        slope = slope_of(cost)
        body = lambda s: (s[0] - 0.1 * slope(s[0]), s[1] + 1.0)  # noqa: E731
        return np.sum(of.while_loop(lambda s: s[1] < 2.0, body, (np.array([1.5, 1.0]), 0.0))[0])

    return found


def _columns(f: Any) -> Any:
    return lambda x: np.array([ad.jvp(f, (x,), (e,))[1] for e in np.eye(2)])


INSIDE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "plain": lambda a, v, of: np.sin(a) * v,
    "roots": lambda a, v, of: v / np.sqrt(a * a + np.sum(v**2)),
    "norm": lambda a, v, of: np.linalg.norm(v) * v / (1.0 + np.linalg.norm(v - v[0])),
    "grad": lambda a, v, of: ad.grad(lambda x: np.sum((x - a) ** 4) / np.sqrt(1 + np.sum(x**2)))(v),
    "jvp": lambda a, v, of: ad.jvp(lambda x: (x - a) ** 4 * np.sqrt(1 + x * x), (v,), (np.ones(2),))[1],
    "hvp": lambda a, v, of: ad.hvp(lambda x: np.sum(x**3) * a / np.sqrt(1 + np.sum(x**2)), (v,), (np.cos(v),))[0],
    "vmap": lambda a, v, of: ad.vmap(lambda x: np.tanh(x * a) / np.sqrt(1 + x * x))(v),
    "vmap of grad": lambda a, v, of: ad.vmap(ad.grad(lambda x: (x - a) ** 3))(v),
    "brentq": lambda a, v, of: v * optimize.brentq(lambda x: x**3 + x - 1.0 - 0.1 * a * a, -3.0, 3.0),
    "newton": lambda a, v, of: v * optimize.newton(lambda x: x**3 + x - 1.0 - 0.1 * a * a, 0.7),
    "root": lambda a, v, of: ad.implicit.root(lambda x: x**3 + x - v - 0.1 * a, np.array([0.5, 0.5])),
    "odeint": lambda a, v, of: ad.odeint(lambda y, t: -a * y, v, np.array([0.0, 0.5]), steps=2)[-1],
    "solve": lambda a, v, of: np.linalg.solve(np.array([[2.0, 0.5], [0.5, 3.0]]) + a * np.eye(2) * 0.1, v),
    "grad of descent by grad": lambda a, v, of: v * ad.grad(_descent(ad.grad, of))(0.3 * a),
    "grad of descent by jvp": lambda a, v, of: v * ad.grad(_descent(_slope, of))(0.3 * a),
    "jvp of descent by grad": lambda a, v, of: v * _slope(_descent(ad.grad, of))(0.3 * a),
    "jvp of descent by jvp": lambda a, v, of: v * _slope(_descent(_slope, of))(0.3 * a),
    "grad of arrays by grad": lambda a, v, of: ad.grad(_descent_of_arrays(ad.grad, of))(v + a),
    "grad of arrays by jvp": lambda a, v, of: ad.grad(_descent_of_arrays(_columns, of))(v + a),
    "jvp of arrays by grad": lambda a, v, of: v * ad.jvp(_descent_of_arrays(ad.grad, of), (v + a,), (v,))[1],
}


def program(around: Sequence[str], inside: str, of: Any) -> Callable[[Any], Any]:
    """A function of a number, by the loops `of` a class: the first is the outermost."""

    def step(s: State) -> State:
        a, v = s
        found = INSIDE[inside](a, v, of)
        return np.tanh(a + 0.3 * np.sum(found)), np.tanh(v + 0.2 * found)

    whole = functools.reduce(lambda step, name: AROUND[name](step, of), reversed(around), step)

    def function(w: Any) -> Any:
        a, v = whole((0.4 * w, np.array([0.5, -0.3]) * w))
        return a + np.sum(v)

    return function


def tangent(f: Any) -> Any:
    """The derivative, forward."""
    return lambda w: ad.jvp(f, (w,), (1.0,))[1]


DERIVATIVES: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "reverse": ad.grad,
    "forward": tangent,
    "second": lambda f: tangent(ad.grad(f)),
}
WAYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **{name: (name, derivative) for name, derivative in DERIVATIVES.items()},
    "jitted value": ("value", ad.jit),
    "jitted reverse": ("reverse", lambda f: ad.jit(ad.grad(f))),
    "jitted forward": ("forward", lambda f: ad.jit(tangent(f))),
    "reverse of jitted": ("reverse", lambda f: ad.grad(ad.jit(f))),
}
POINT = 0.9


def differences(around: Sequence[str], inside: str, ways: Sequence[str]) -> list[str]:
    """What is not as in Python, by the name of the way to get it."""
    plain, rolled = [program(around, inside, of) for of in (Python, Rolled)]
    known: dict[str, Any] = {}
    found = []
    for way in ways:
        what, transform = WAYS[way]
        if what not in known:
            known[what] = DERIVATIVES[what](plain)(POINT)
        try:
            got = transform(rolled)(POINT)
        except Exception as error:
            found.append(f"{way}: {type(error).__name__} {str(error)[:300]}")
            continue
        if not np.allclose(got, known[what], rtol=1e-8, atol=1e-9):
            found.append(f"{way}: {got} in place of {known[what]}")
    return found
