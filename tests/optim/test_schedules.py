"""Schedules: their formulas, and that they run under jit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim

SCHEDULES = {
    "constant": optim.schedule.constant(0.3),
    "step": optim.schedule.step(0.3, every=7, factor=0.5),
    "cosine": optim.schedule.cosine(0.3, steps=30, final=0.01),
    "warmup": optim.schedule.warmup(optim.schedule.cosine(0.3, steps=20), steps=5),
    "warmup to a number": optim.schedule.warmup(0.3, steps=5),
    "one_cycle": optim.schedule.one_cycle(0.3, steps=40),
    "one_cycle that only falls": optim.schedule.one_cycle(0.3, steps=40, rise=0.0),
    "diminishing": optim.schedule.diminishing(0.3, power=0.7),
    "warm_restarts": optim.schedule.warm_restarts(0.3, first=6, final=0.01),
    "warm_restarts that grow": optim.schedule.warm_restarts(0.3, first=3, factor=2),
    "plateau": optim.schedule.plateau(0.3),
    "plateau of a schedule": optim.schedule.warmup(
        optim.schedule.plateau(optim.schedule.cosine(0.3, steps=20)), steps=5
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_counts_one_by_one_at_once_and_compiled(name):
    """Give the same numbers."""
    rate = SCHEDULES[name]
    together = rate(np.arange(50))
    jitted = ad.jit(rate)
    for k in range(50):
        assert float(rate(k)) == pytest.approx(together[k], rel=1e-14, abs=1e-17)
        assert float(jitted(np.int64(k))) == pytest.approx(together[k], rel=1e-13, abs=1e-17)


def test_one_cycle_is_that_of_pytorch():
    """Its two phases, as `OneCycleLR` computes them."""
    peak, steps, rate = 0.3, 40, SCHEDULES["one_cycle"]
    first, top = peak / 25, 0.3 * steps - 1

    def anneal(start, end, share):
        return end + (start - end) / 2 * (1 + math.cos(math.pi * share))

    for k in range(steps):
        up, down = k / top, (k - top) / (steps - 1 - top)
        expected = anneal(first, peak, up) if k <= top else anneal(peak, first / 1e4, down)
        assert float(rate(k)) == pytest.approx(expected)


def test_ends_stay():
    """After the last step, and for ever."""
    assert SCHEDULES["cosine"](10**6) == pytest.approx(0.01)
    assert SCHEDULES["one_cycle"](10**6) == pytest.approx(0.3 / 25 / 1e4)


def test_steps_are_those_of_pytorch():
    """`StepLR` and the closed form of `CosineAnnealingLR`."""
    assert [SCHEDULES["step"](k) for k in (0, 6, 7, 13, 14)] == [0.3, 0.3, 0.15, 0.15, 0.075]
    assert SCHEDULES["cosine"](15) == pytest.approx(0.01 + 0.29 / 2)
