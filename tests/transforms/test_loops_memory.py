"""Memory budgets of `scan`: the binomial schedule, and what the walk back keeps."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms import loop_schedule
from adjoint.transforms.loop_schedule import advances, walk_back


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
    kept = walk_back(0, length, slots, lambda c, k: taken.append(k) or c + 1, lambda c, k: back.append((c, k)))
    assert back == [(k, k) for k in range(length - 1, -1, -1)]
    assert len(taken) == advances(length, slots) == fewest(length, slots)
    assert kept <= max(slots, 1)


def test_long_schedule():
    """The formula for sizes that cannot be tried."""
    for length, slots in ((10_000, 10), (1_000, 3)):
        taken = [0]

        def forth(c, k, taken=taken):
            taken[0] += 1

        kept = walk_back(None, length, slots, forth, lambda c, k: None)
        assert taken[0] == advances(length, slots)
        assert kept == slots


def test_budget_is_kept(monkeypatch):
    """So many bytes are so many carries, also inside a batch."""
    seen = []

    def watched(carry, length, slots, forth, back):
        seen.append((slots, walk_back(carry, length, slots, forth, back)))

    monkeypatch.setattr("adjoint.transforms.loop_unwind.walk_back", watched)
    f = lambda x, **how: np.sum(ad.scan(lambda c, _: (np.sin(c) * 1.1, None), x, length=30, **how)[0])  # noqa: E731
    x = np.linspace(0, 1, 10)
    got = ad.grad(lambda x: f(x, memory=400))(x)
    np.testing.assert_allclose(got, ad.grad(f)(x), rtol=1e-13)
    assert seen == [(5, 5)]
    ad.vmap(ad.grad(lambda x: f(x, memory=400)))(np.stack([x, x]))
    assert seen[1:] == [(2, 2)]
    ad.jit(ad.grad(lambda x: f(x, memory=80)))(x)
    assert seen[2:][-1] == (1, 1)


def test_checkpoints_store_less():
    """Every tenth carry, and those of one segment."""
    from adjoint.transforms import loop_scan

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
