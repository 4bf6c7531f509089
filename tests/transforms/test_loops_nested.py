"""Loops and branches inside one another, three deep, around derivatives and solvers: as the same program in Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad

from .nested_loops import AROUND, INSIDE, WAYS, differences

AROUNDS, INSIDES = list(AROUND), list(INSIDE)
HEAVY = {"jvp of arrays by grad", "grad of arrays by grad", "grad of descent by grad", "odeint"}
"""Bodies that take seconds to compile."""
NESTINGS = list(itertools.product(AROUNDS, repeat=3))


def _quick(k: int) -> tuple[tuple[str, ...], list[str]]:
    """One nesting for what is inside, and how to look at it: each kind of loop and each way comes often."""
    n, ways = len(AROUNDS), list(WAYS)
    around = (AROUNDS[k % n], AROUNDS[(3 * k + 1) % n], AROUNDS[(5 * k + 2) % n])
    return around, [ways[k % 4], *ways[4 + k % 5 : 5 + k % 5]] if k % 2 else [ways[k % 4]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("inside", [pytest.param(i, marks=[pytest.mark.slow] * (i in HEAVY)) for i in INSIDE])
def test_nested_loops(inside: str) -> None:
    """Each kind of body once, in a nesting of its own."""
    around, ways = _quick(INSIDES.index(inside))
    assert differences(around, inside, dict.fromkeys(ways)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("around", NESTINGS, ids=" ".join)
def test_every_nesting(around: tuple[str, ...]) -> None:
    """Every nesting in every way, with bodies by turns."""
    inside = INSIDES[NESTINGS.index(around) * 7 % len(INSIDES)]
    assert differences(around, inside, list(WAYS)) == []


def _descent(w: float) -> float:
    slope = lambda x: ad.jvp(lambda x: (x - w) ** 4, (x,), (1.0,))[1]  # noqa: E731
    return ad.while_loop(lambda s: s[1] < 3.0, lambda s: (s[0] - 0.01 * slope(s[0]), s[1] + 1.0), (1.5, 0.0))[0]


def test_a_derivative_of_a_loop_inside_a_branch_inside_a_loop() -> None:
    """It is what it is outside: neither nan, nor a refusal."""
    slope = ad.grad(_descent)

    def step(s: tuple[float, float]) -> tuple[float, float]:
        return ad.cond(s[1] < 5.0, lambda s: (slope(0.3 + 0 * s[0]), s[1] + 1.0), lambda s: s, s)

    found = ad.while_loop(lambda s: s[1] < 1.0, step, (0.0, 0.0))[0]
    np.testing.assert_allclose(found, slope(0.3), rtol=1e-14)


def test_reverse_over_reverse_of_a_while_loop_in_a_loop() -> None:
    """How many steps it takes is decided inside, so nothing can be stored; values decide it here."""

    def rooted(a: float) -> float:
        return ad.while_loop(lambda y: abs(y * y - a) > 1e-12, lambda y: (y + a / y) / 2, 1.0)

    def total(a: float) -> float:
        return ad.fori_loop(0, 3, lambda i, s: s + ad.grad(rooted)(a + i), 0.0)

    expected = sum(-0.25 * (2.0 + i) ** -1.5 for i in range(3))
    np.testing.assert_allclose(ad.grad(total)(2.0), expected, rtol=1e-9)
    np.testing.assert_allclose(ad.jit(ad.grad(total))(2.0), expected, rtol=1e-9)
