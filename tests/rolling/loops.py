"""Functions with long Python loops, and what it takes to compare a program with its rolled form."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np

from adjoint.capture.recording.record import record
from adjoint.compile.build import build
from adjoint.ir.interpret import Interpreter
from adjoint.ir.passes import simplified
from adjoint.rolling import loop
from adjoint.rolling.passes import smaller
from adjoint.transforms.calling import run
from adjoint.transforms.jit.keys import taken_apart

T = np.sin(np.arange(200.0))
"""Data that loops read step by step."""


def _rhs(y, k):
    return np.array([y[1], -k * np.sin(y[0]) - 0.1 * y[1]])


def _rk4(y, k, h=0.05):
    a = _rhs(y, k)
    b = _rhs(y + h / 2 * a, k)
    c = _rhs(y + h / 2 * b, k)
    d = _rhs(y + h * c, k)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


def numbers(p):
    """Numbers in variables."""
    x, v = p[0], p[1]
    for _ in range(60):
        x, v = x + 0.1 * v, v - 0.1 * p[2] * np.sin(x)
    return x * v


def state(p):
    """An array of states."""
    y = p[:2]
    for _ in range(20):
        y = _rk4(y, p[2])
    return np.sum(y**2)


def trajectory(p):
    """Each state written into an array."""
    y = np.zeros((31, 2))
    y[0] = p[:2]
    for i in range(30):
        y[i + 1] = _rk4(y[i], p[2])
    return np.sum(y**2)


def columns(p):
    """States written into the columns of an array, number by number."""
    y = np.zeros((2, 61))
    y[0, 0], y[1, 0] = p[0], p[1]
    for i in range(60):
        y[0, i + 1] = y[0, i] + 0.1 * y[1, i]
        y[1, i + 1] = y[1, i] - 0.1 * p[2] * y[0, i] ** 3
    return np.sum(y[0] * y[1])


def collected(p):
    """States in a list, an array in the end."""
    y, found = p[:2], []
    for _ in range(30):
        y = _rk4(y, p[2])
        found.append(y)
    return np.sum(np.array(found) ** 2)


def nested_list(p):
    """Numbers in a list of lists."""
    x, v, found = p[0], p[1], []
    for _ in range(60):
        x, v = x + 0.1 * v, v - 0.1 * p[2] * x
        found.append([x, v])
    return np.sum(np.array(found) ** 3)


def forced(p):
    """Data read step by step."""
    x, loss = p[0], 0.0
    for i in range(100):
        x = x + 0.1 * (p[1] * T[i] - p[2] * x)
        loss = loss + (x - T[i]) ** 2
    return loss


def backwards(p):
    """Data read from the end, every second element."""
    x = p[0]
    for i in range(100):
        x = np.tanh(x * p[1] + T[-1 - 2 * i]) + p[2]
    return x


def clock(p):
    """Constants that differ from step to step."""
    x, h = p[0], 0.1
    for i in range(100):
        t = i * h
        x = x + h * np.cos(t + x) * p[1] + i * p[2]
    return x


def delayed(p):
    """Values from one, two and three steps ago."""
    a, b, c = p[0], p[1], p[2]
    for _ in range(100):
        a, b, c = b, c, np.sin(a + b * c) + 0.1 * a
    return a + b * c


def lagged(p):
    """A list from which the values of some steps ago are read."""
    found = [p[0], p[1], p[2]]
    for _ in range(100):
        found.append(0.5 * found[-1] - 0.2 * found[-3] + np.sin(found[-2]))
    return found[-1] * found[50]


def two_loops(p):
    """Two loops, the second of which reads what the first has made."""
    x, found = p[0], []
    for _ in range(80):
        x = np.sin(x) + p[1] * x * 0.3
        found.append(x)
    y = p[2]
    for a in reversed(found):
        y = y * a + np.cos(y)
    return y


def interleaved(p):
    """Two loops in one."""
    x, y, z = p[0], p[1], p[2]
    for _ in range(60):
        x = np.sin(x) + 0.1 * x
        y = np.cos(y) * z
        z = z * 0.99 + 0.01 * y
    return x + y * z


def nested(p):
    """A loop in a loop."""
    x = p[0]
    for i in range(20):
        s = p[1] * x
        for j in range(18):
            s = np.sin(s) + 0.1 * j * p[2]
        x = x + 0.1 * s * T[i]
    return x


def triangle(p):
    """A loop in a loop, longer each time."""
    x = p[0]
    for i in range(40):
        s = x
        for _ in range(i):
            s = s * p[1] + np.cos(s) - 0.3 * s * s * p[2]
        x = 0.5 * s
    return x


def one_differs(p):
    """One step of the loop is another one."""
    x = p[0]
    for i in range(120):
        x = np.exp(-x) * p[1] if i == 57 else np.sin(x) * p[2] + x * 0.5
    return x


def two_kinds(p):
    """Two kinds of step in turn."""
    x, y = p[0], p[1]
    for i in range(120):
        if i % 2:
            x = np.sin(x + y)
        else:
            x, y = y * p[2], x + 0.1
    return x * y


def decided(p):
    """A decision in each step, which falls out the same way."""
    x = p[0]
    for _ in range(100):
        x = 0.9 * x + 0.1 * p[1] if x > -5.0 else x * p[2]
    return x * x


def invariant(p):
    """Something that is the same each time."""
    x = p[0]
    for _ in range(100):
        k = np.sqrt(p[1] * p[1] + 1.0)
        x = x * 0.9 + np.exp(-k) * p[2]
    return x


def powers(p):
    """Exponents that count."""
    x = 0.0
    for i in range(100):
        x = x + p[0] ** i / (1.0 + i) + p[1] * p[2]
    return x


def vectors(p):
    """Vectors and matrices that are too large for registers."""
    a = np.outer(np.arange(12.0) / 50, p[0] * np.ones(12)) + 0.05 * np.eye(12)
    x = np.ones(12) * p[1]
    for _ in range(40):
        x = np.tanh(a @ x + p[2]) + 0.1 * np.roll(x, 1) + x[::-1] * 0.2
    return np.sum(x * x)


def single(p):
    """Single precision."""
    x = np.float32(1.0) * p.astype(np.float32)
    for _ in range(60):
        x = np.sin(x) + np.float32(0.5) * x - x[0] * 0.1
    return np.sum(x)


def counts(p):
    """Integers and truth values on the way."""
    n, seen, x = np.int64(0), np.bool(False), p[0]
    for _ in range(60):
        above = x > 0.5
        n = n + above * 2
        seen = np.logical_or(seen, above)
        x = np.where(above, x * 0.7, x + p[1]) * p[2]
    return x + n + seen


def factored(p):
    """A step that NumPy takes, in a loop."""
    a = np.eye(2) * (2.0 + p[0] ** 2)
    x = p[1:]
    for _ in range(60):
        x = np.linalg.pinv(a) @ x + 0.5 * x + p[0]
    return np.sum(x)


def pythons(p):
    """Numbers of Python's."""
    x, v, found = p[0] * 1.0, 0.5, np.zeros(70)
    for i in range(70):
        x, v = x + 0.1 * v, v - 0.1 * np.sin(x) * i
        found[i] = x
    return p[1] * x + np.sum(found) * p[2]


def sweeps(p):
    """Sweeps over an array in place, each element from its neighbours, new and old."""
    y = p[0] * np.arange(12.0)
    for _ in range(24):
        for i in range(1, 11):
            y[i] = 0.5 * (y[i - 1] + y[i + 1] * p[1]) + p[2]
    return np.sum(y * y)


def rebuilt(p):
    """An array that is made anew each time, element by element."""
    y = p[0] * np.arange(12.0)
    for _ in range(24):
        z = np.zeros(12)
        for i in range(12):
            z[i] = np.sin(y[i]) * p[1] + y[(i + 1) % 12] * 0.3
        y = z
    return np.sum(y) * p[2]


def until(p):
    """A loop that ends by itself."""
    x = p[0] + 1.0
    while abs(x * x - p[1]) > 1e-9:
        x = x - 0.1 * (x * x - p[1]) / (2 * x)
    return x * p[2]


FUNCTIONS = [
    numbers, state, trajectory, columns, collected, nested_list, forced, backwards, clock, delayed, lagged, two_loops,
    interleaved, nested, triangle, one_differs, two_kinds, decided, invariant, powers, vectors, single, counts,
    factored, pythons, sweeps, rebuilt, until,
]  # fmt: skip
POINT = np.array([0.4, 0.7, 0.9])
OTHER = np.array([0.3, 0.8, 0.6])


def bits(x: Any) -> list[bytes]:
    """The results to the last bit."""
    return [np.asarray(o).tobytes() for o in x]


def forms(f: Any, *args: Any) -> tuple[Any, Any]:
    """The program of a call, without loops and with them."""
    call = taken_apart(args, {}, (), frozenset())
    recording, _ = record(run, f, call.leaves, call.rebuild)
    return simplified(recording.program), smaller(recording.program)


def agree(f: Any, *args: Any, native: bool = True) -> None:
    """Both forms give the same bits, by NumPy and, if asked for, by machine code."""
    plain, rolled = forms(f, *args)
    leaves = [a for a in args if isinstance(a, (float, np.ndarray))]
    with mock.patch.object(loop, "_executable", Interpreter):
        assert bits(Interpreter(plain).run(leaves)) == bits(Interpreter(rolled).run(leaves))
    if not native:
        return
    one, two = [_finished(build(p, leaves)) for p in (plain, rolled)]
    assert bits(one.run(leaves)) == bits(two.run(leaves))


def _finished(made: Any) -> Any:
    return made.finish() if hasattr(made, "finish") else made


def loops_in(program: Any) -> list[int]:
    """How often the loops of a program go round, those inside others as well."""
    found = []
    for step in program.steps:
        if step.primitive.name == "rolled":
            found += [step.params["length"], *loops_in(step.params["body"])]
    return found
