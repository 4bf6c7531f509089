"""Memory budgets of `scan`: the binomial schedule, and what the sweep back keeps."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms.loops import schedule as loop_schedule
from adjoint.transforms.loops.schedule import advances, sweep_back


@cache
def fewest(length: int, slots: int) -> int:
    """The fewest steps forward, by trying every place for the next carry."""
    if length <= 1:
        return 0
    if slots == 1:
        return length * (length - 1) // 2
    return min(m + fewest(length - m, slots - 1) + fewest(m, slots) for m in range(1, length))


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 7, 50])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 10, 21, 40])
def test_schedule_is_binomial(length, slots):
    """As few steps as possible, in the right order, with no more carries than there is room for."""
    taken, back = [], []
    kept = sweep_back(0, length, slots, lambda c, k: taken.append(k) or c + 1, lambda c, k: back.append((c, k)))
    assert back == [(k, k) for k in range(length - 1, -1, -1)]
    assert len(taken) == advances(length, slots) == fewest(length, slots)
    assert kept <= max(slots, 1)


def test_long_schedule():
    """The formula for sizes that cannot be tried."""
    for length, slots in ((10_000, 10), (1_000, 3)):
        taken = [0]

        def forth(c, k, taken=taken):
            taken[0] += 1

        kept = sweep_back(None, length, slots, forth, lambda c, k: None)
        assert taken[0] == advances(length, slots)
        assert kept == slots


def test_budget_is_kept(monkeypatch):
    """So many bytes are so many carries, also inside a batch."""
    seen = []

    def watched(carry, length, slots, forth, back):
        seen.append((slots, sweep_back(carry, length, slots, forth, back)))

    monkeypatch.setattr("adjoint.transforms.loops.evaluate.sweep_back", watched)
    f = lambda x, **how: np.sum(ad.scan(lambda c, _: (np.sin(c) * 1.1, None), x, length=30, **how)[0])  # noqa: E731
    x = np.linspace(0, 1, 10)
    got = ad.grad(lambda x: f(x, memory=400))(x)
    np.testing.assert_allclose(got, ad.grad(f)(x), rtol=1e-13)
    assert seen == [(5, 5)]
    ad.vmap(ad.grad(lambda x: f(x, memory=400)))(np.stack([x, x]))
    assert seen[1:] == [(2, 2)]
    np.testing.assert_allclose(ad.jit(ad.grad(lambda x: f(x, memory=80)))(x), got, rtol=1e-13)
    assert len(seen) == 2  # machine code has a schedule of its own


def test_checkpoints_store_less():
    """Every tenth carry, and those of one segment."""
    from adjoint.transforms.loops import scan as loop_scan

    f = lambda x: np.sum(ad.scan(lambda c, _: (np.sin(c), None), x, length=100, checkpoint_every=10)[0])  # noqa: E731
    lengths = []
    storing = loop_scan.storing

    def watched(params):
        lengths.append(params["length"])
        return storing(params)

    loop_scan.storing = watched
    try:
        ad.grad(f)(np.ones(3))
    finally:
        loop_scan.storing = storing
    assert set(lengths) == {10}
    assert loop_schedule.advances(100, 100) == 99


XS, START, WEIGHTS = (np.random.default_rng(0).normal(size=shape) for shape in ((37, 3), (5,), (5, 3)))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("slots", [1, 2, 5, 10, 37, 1000])
def test_budget_in_machine_code(slots, reverse):
    """The schedule is native, with inputs and results of single steps too, and gives what is found without a budget."""

    def total(weights, start, xs, **how):
        def step(carry, x):
            carry = np.tanh(carry + weights @ x)
            return carry, np.sum(carry**2) * np.sum(x)

        last, ys = ad.scan(step, start, xs, reverse=reverse, **how)
        return np.sum(last) + np.sum(ys**2)

    given = (WEIGHTS, START, XS)
    wanted = ad.grad(total, (0, 1, 2))(*given)
    jitted = ad.jit(ad.grad(lambda *a: total(*a, memory=slots * START.nbytes), (0, 1, 2)))
    for _ in range(2):
        for got, want in zip(jitted(*given), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)
    assert "called by NumPy: nothing" in str(jitted.lower(*given))


def test_no_steps_with_a_budget():
    """Nothing to sweep: the cotangent of the start is that of the end."""
    f = lambda x: np.sum(ad.scan(lambda c, _: (c * 2.0, None), x, length=0, memory=100)[0])  # noqa: E731
    np.testing.assert_array_equal(ad.jit(ad.grad(f))(np.ones(3)), np.ones(3))
