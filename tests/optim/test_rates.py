"""Rates that go by what is measured, by the length of the run, and what rate comes next."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim
from adjoint.optim import schedule

LOSSES = [1.0, 0.9, 0.9, 0.95, 0.89995, 0.8, 0.8, 0.8, 0.8, 0.8, math.nan, 0.7, 0.7, 0.71, 0.72, 0.73, 0.74, 0.75]


def of_pytorch(rate, losses, factor, patience, cooldown, minimum, threshold=1e-4):
    """`ReduceLROnPlateau.step`, written out."""
    best, bad, resting, rates = math.inf, 0, 0, []
    for loss in losses:
        if loss < best * (1 - threshold):
            best, bad = loss, 0
        else:
            bad += 1
        if resting > 0:
            resting, bad = resting - 1, 0
        if bad > patience:
            rate, resting, bad = max(rate * factor, minimum), cooldown, 0
        rates.append(rate)
    return rates


@pytest.mark.parametrize("patience", [0, 1, 3])
@pytest.mark.parametrize("cooldown", [0, 2])
@pytest.mark.parametrize("minimum", [0.0, 0.02])
def test_plateau_is_that_of_pytorch(patience, cooldown, minimum):
    """The rate after each loss."""
    options = {"factor": 0.3, "patience": patience, "cooldown": cooldown, "minimum": minimum}
    optimizer = optim.sgd(schedule.plateau(0.1, **options))
    state, found = optimizer.init(np.zeros(2)), []
    for loss in LOSSES:
        state = optim.observe(optimizer, state, loss)
        found.append(optim.rates(optimizer, state)["rate"])
    np.testing.assert_allclose(found, of_pytorch(0.1, LOSSES, **options), rtol=1e-14)


def test_plateau_of_negative_losses():
    """A loss is better if it is smaller by a share of the best one's size, whatever its sign."""
    optimizer = optim.sgd(schedule.plateau(0.1, patience=0, factor=0.5))
    state = optimizer.init(np.zeros(2))
    for loss in (-1.0, -2.0, -2.00001):
        state = optim.observe(optimizer, state, loss)
    assert optim.rates(optimizer, state) == {"rate": 0.05}


MAKERS = {
    "sgd": lambda rate: optim.sgd(rate, momentum=0.9),
    "adam": optim.adam,
    "adamw": optim.adamw,
    "lion": optim.lion,
    "adagrad": optim.adagrad,
    "rmsprop": lambda rate: optim.rmsprop(rate, momentum=0.5, centered=True),
    "chain": lambda rate: optim.chain(optim.clip(1.0), optim.adam(rate)),
    "groups": lambda rate: optim.groups({"a": optim.sgd(rate), "*": optim.adam(rate)}),
    "scale": lambda rate: optim.chain(optim.sgd(1.0), optim.scale(rate)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_optimiser_takes_the_smaller_rate(name):
    """Compiled once, with steps of exactly half the length after a plateau; nothing else of the state changes."""
    optimizer = MAKERS[name](schedule.plateau(0.25, patience=0, factor=0.5))
    params = {"a": np.array([1.0, -2.0]), "b": np.array([[0.5]])}
    update = ad.jit(optimizer.update)
    state = optimizer.init(params)
    for _ in range(2):
        _, state = update(params, state, params)
    told = optim.observe(optimizer, optim.observe(optimizer, state, 1.0), 1.0)
    before = update.recordings
    momentum = {"sgd": "velocity", "rmsprop": "velocity"}.get(name)
    whole, half = (_without(s, momentum) for s in (state, told))
    one, two = update(params, whole, params)[0], update(params, half, params)[0]
    assert update.recordings == before
    for key in params:
        np.testing.assert_allclose(two[key], 0.5 * one[key], rtol=1e-14)
    same = optim.observe(optim.adam(0.1), {"count": np.int64(1)}, 1.0)
    assert same == {"count": np.int64(1)}


def _without(state, momentum):
    return {**state, momentum: ad.tree.map(np.zeros_like, state[momentum])} if momentum else state


def test_warm_restarts_are_those_of_pytorch():
    """`CosineAnnealingWarmRestarts`, cycle after cycle; each starts exactly where it should."""
    for first, factor, final in ((6, 1, 0.01), (3, 2, 0.0), (5, 3, 0.001), (1, 10, 0.0)):
        rate = schedule.warm_restarts(0.3, first=first, factor=factor, final=final)
        taken, size = 0, first
        for k in range(2000):
            expected = final + (0.3 - final) * (1 + math.cos(math.pi * taken / size)) / 2
            assert float(rate(k)) == pytest.approx(expected, rel=1e-13), (first, factor, k)
            taken += 1
            if taken == size:
                taken, size = 0, size * factor
    assert schedule.warm_restarts(0.3, first=10, factor=10)(np.int64(1111110)) == 0.3


def test_schedules_follow_the_length_of_a_run():
    """As if the number had been given; what comes after a warm-up has what that leaves."""
    pairs = {
        "cosine": (schedule.cosine(0.1, steps="run", final=0.01), schedule.cosine(0.1, steps=60, final=0.01)),
        "one_cycle": (schedule.one_cycle(0.1, steps="run"), schedule.one_cycle(0.1, steps=60)),
        "warmup": (
            schedule.warmup(schedule.cosine(0.1, steps="run"), steps=10),
            schedule.warmup(schedule.cosine(0.1, steps=50), steps=10),
        ),
        "plateau": (
            schedule.plateau(schedule.cosine(0.1, steps="run")),
            schedule.plateau(schedule.cosine(0.1, steps=60)),
        ),
    }
    for name, (rate, expected) in pairs.items():
        for make in (optim.sgd, MAKERS["chain"], MAKERS["groups"]):
            optimizer = optim.for_steps(pickle.loads(pickle.dumps(make(rate))), 60)
            state = optimizer.init({"a": np.zeros(1), "b": np.zeros(1)})
            for count in (0, 5, 10, 33, 59, 60):
                state = ad.tree.map(lambda x, count=count: np.int64(count) if x.dtype.kind == "i" else x, state)
                found = set(optim.rates(optimizer, state).values())
                assert found == {float(expected(count))}, (name, count)


def test_a_run_that_goes_on_starts_its_schedule():
    """From the steps that the state has counted."""
    open_one = optim.chain(optim.clip(1.0), optim.adam(schedule.cosine(0.1, steps="run")))
    state = ((), {**open_one.init({"a": np.zeros(1)})[1], "count": np.int64(500)})
    optimizer = optim.for_steps(open_one, 40, state)
    assert optim.rates(optimizer, state) == {"rate": 0.1}
    later = (state[0], {**state[1], "count": np.int64(520)})
    assert optim.rates(optimizer, later)["rate"] == pytest.approx(0.05)


def test_what_is_not_open_stays():
    """The same optimiser, so that its machine code serves again."""
    for make in MAKERS.values():
        optimizer = make(schedule.cosine(0.1, steps=5))
        assert optim.for_steps(optimizer, 10) is optimizer


def test_minimize_knows_its_length_and_its_values():
    """A schedule is as long as `max_steps`, and a plateau goes by the values."""
    start = np.array([1.0, 2.0])

    def f(x):
        return np.sum(x * x)

    found = optim.minimize(f, start, optim.sgd(schedule.cosine(0.1, steps="run")), max_steps=20)
    same = optim.minimize(f, start, optim.sgd(schedule.cosine(0.1, steps=20)), max_steps=20)
    np.testing.assert_array_equal(found.x, same.x)
    # |1 - 2 eta| = 1 at first: the value stays, until the rate is halved
    found = optim.minimize(f, start, optim.sgd(schedule.plateau(1.0, factor=0.5, patience=1)), max_steps=6)
    np.testing.assert_array_equal(found.values, [5.0, 5.0, 5.0, 5.0, 0.0])


def test_rates_of_groups_and_of_others():
    """By their patterns; none of what has none."""
    optimizer = optim.groups({"a": optim.sgd(0.5), "*": optim.chain(optim.clip(1.0), optim.adam(0.25))})
    params = {"a": np.zeros(1), "b": np.zeros(1)}
    assert optim.rates(optimizer, optimizer.init(params)) == {"rate[a]": 0.5, "rate[*]": 0.25}
    assert optim.rates(optim.lbfgs(), optim.lbfgs().init(np.zeros(2))) == {}
    own = optim.Optimizer(lambda params: (), lambda gradient, state, params=None, **context: (gradient, state))
    assert optim.rates(own, ()) == {}
    assert optim.observe(own, (), 1.0) == ()


MESSAGES = {
    'A schedule with steps="run" is as long as the run, which is not known here.\n'
    "  got a call outside a run of  ad.train  or  optim.minimize\n"
    "  Write  steps=1000,  or  optim.for_steps(optimizer, 1000).": lambda: schedule.cosine(0.1, steps="run")(0),
    'schedule.one_cycle needs steps, an integer of at least 2 or "run".\n'
    "  got steps = 'epochs'\n"
    '  Write  steps="run"  for as many steps as the run has.': lambda: schedule.one_cycle(0.1, steps="epochs"),
    "A plateau inside another one is not watched.\n  got plateau(plateau(...))\n  Leave one of them out.": (
        lambda: schedule.plateau(schedule.plateau(0.1))
    ),
    "rates needs state, one of this optimiser.\n  got state = dict\n"
    "  Pass what  optimizer.init  or  optimizer.update  gave.": lambda: optim.rates(optim.sgd(0.1), {}),
    "observe needs state, one of this optimiser.\n  got state = tuple\n"
    "  Pass what  optimizer.init  or  optimizer.update  gave.": (
        lambda: optim.observe(optim.chain(optim.clip(1.0), optim.sgd(0.1)), (), 1.0)
    ),
    "schedule.warm_restarts needs factor, an integer of at least 1.\n  got factor = int 0": (
        lambda: schedule.warm_restarts(0.1, first=5, factor=0)
    ),
    "schedule.plateau needs factor, a number of at least 0 and at most 1.\n  got factor = float 2.0": (
        lambda: schedule.plateau(0.1, factor=2.0)
    ),
}


@pytest.mark.parametrize("words", MESSAGES)
def test_messages(words):
    """In full."""
    with pytest.raises(ad.errors.InputError) as error:
        MESSAGES[words]()
    assert re.sub(r"\n  at .*", "", str(error.value)) == words
