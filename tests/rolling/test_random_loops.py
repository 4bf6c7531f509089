"""Random loops: what they carry, read, keep and decide differs; the rolled program gives the same bits."""

from __future__ import annotations

from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint.rolling import find, passes, places, roles

from .loops import agree

DATA = np.cos(np.arange(400.0)).reshape(100, 4)
"""Rows that a loop may read."""
UNARY = [np.sin, np.tanh, lambda x: x * x, np.negative, lambda x: np.where(x > 0.1, x, 0.3), np.abs, lambda x: x + 0.0]
BINARY = [
    lambda x, y: x + y, lambda x, y: 0.5 * x - y, lambda x, y: x * y, np.maximum, lambda x, y: x / (1.0 + y * y),
]  # fmt: skip


class Spec(NamedTuple):
    """What a random loop is like."""

    count: int
    carried: int
    size: int | None
    ops: list[tuple[str, int, int, int]]
    keeps: list[str]
    odd: int | None
    """The round that differs."""
    inner: int
    """How often a loop inside goes round."""
    again: bool
    """Whether a second loop reads what the first has kept."""


KINDS = st.sampled_from(["unary", "binary", "binary", "data", "table", "decision"])
SPECS = st.builds(
    Spec,
    st.integers(14, 40),
    st.integers(1, 3),
    st.sampled_from([None, None, 2, 3, 12]),
    st.lists(st.tuples(KINDS, st.integers(0, 10), st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=7),
    st.lists(st.sampled_from(["list", "array", "columns", "sum", "last"]), min_size=1, max_size=3),
    st.sampled_from([None, None, 0, 7, 13]),
    st.sampled_from([0, 0, 0, 3, 17]),
    st.booleans(),
)


def function_of(spec):
    """A function of three numbers with one loop or two, and a loop in it perhaps."""
    count, carried, size, ops, keeps, odd, inner, again = spec

    def f(p):
        state = [p[k] + 0.1 * k for k in range(carried)]
        if size is not None:
            state = [s * np.arange(1.0, size + 1) / size for s in state]
        found, table = [], np.zeros((count + 2, *np.shape(state[0])))
        columns = np.zeros((*np.shape(state[0]), count + 1))
        total = 0.0
        before = list(state)
        for i in range(count):
            values = [*state, p[0], before[0], 0.1 * i, i, 0.7]
            for kind, op, a, b in ops:
                x, y = values[a % len(values)], values[b % len(values)]
                if kind == "data":
                    y = DATA[(3 * i + a) % 100 if b % 2 else i + a % 50, b % 4]
                elif kind == "table":
                    y = table[i] if size is None or b % 2 else table[i, a % size]
                values.append(UNARY[op % len(UNARY)](x) if kind == "unary" else BINARY[op % len(BINARY)](x, y))
            if odd == i:
                values[-1] = np.cos(values[-1])
            for _ in range(inner):
                values.append(0.3 * values[-1] + np.sin(values[-2] * 0.5))
            before = list(state)
            state = [0.5 * np.tanh(values[-1 - k]) + 0.1 * s for k, s in enumerate(state)]
            if "decision" in {op[0] for op in ops} and np.sum(state[0]) > 1e3:
                state[0] = state[0] * 0.5
            for keep in keeps:
                if keep == "list":
                    found.append(state[-1])
                elif keep == "array":
                    table[i + 1] = state[0] + (table[i] if again else 0.0)
                elif keep == "columns":
                    columns[..., i] = state[0] * 2.0
                elif keep == "sum":
                    total = total + np.sum(state[-1] * state[0])
        result = np.sum(state[0]) + total + np.sum(table * 0.3) + np.sum(columns)
        if found:
            result = result + np.sum(np.array(found) ** 2)
            if again:
                y = p[1] * state[0]
                for x in reversed(found):
                    y = np.sin(y) + x * 0.2
                result = result + np.sum(y)
        return result

    return f


def _checked(spec, transform):
    with (
        mock.patch.object(passes, "SHORTEST", 30), mock.patch.object(roles, "SHORTEST", 30),
        mock.patch.object(find, "SHORTEST", 30), mock.patch.object(places, "FEWEST", 5), np.errstate(all="ignore"),
    ):  # fmt: skip
        agree(TRANSFORMS[transform](function_of(spec)), np.array([0.4, -0.3, 0.8]), native=False)


TRANSFORMS = {
    "value": lambda f: f, "grad": ad.grad, "both": ad.value_and_grad, "forward": ad.jacfwd, "hessian": ad.hessian,
}  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(SPECS, st.sampled_from(["value", "grad"]))
def test_same_bits(spec, transform):
    """Loops and their gradients, run by NumPy."""
    _checked(spec, transform)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(SPECS, st.sampled_from(sorted(TRANSFORMS)))
def test_same_bits_of_many(spec, transform):
    """More of them, and more transformations."""
    _checked(spec, transform)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(SPECS)
def test_machine_code(spec):
    """Compiled, the gradient is that of plain Python."""
    gradient = ad.grad(function_of(spec))
    compiled = ad.jit(gradient)
    with mock.patch.object(passes, "SHORTEST", 30), mock.patch.object(find, "SHORTEST", 30):
        for x in (np.array([0.4, -0.3, 0.8]), np.array([0.1, 0.9, -0.2]), np.array([0.4, -0.3, 0.8])):
            np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-9, atol=1e-12)
