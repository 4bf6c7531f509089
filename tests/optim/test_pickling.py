"""Optimisers are pickled as the calls that made them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from adjoint import optim

schedule = optim.schedule
W = np.array([1.0, -2.0])
OPTIMISERS = [
    optim.sgd(0.1, 0.9, nesterov=True),
    optim.adam(schedule.cosine(0.1, steps=10)),
    optim.adamw(schedule.warmup(schedule.step(0.1, every=2), steps=3), weight_decay=0.1, only="*"),
    optim.chain(optim.clip_by_norm(1.0), optim.weight_decay(0.1), optim.rmsprop(0.1), optim.scale(0.5)),
    optim.lion(schedule.one_cycle(0.1, steps=5)),
    optim.adagrad(0.1),
    optim.subgradient(schedule.diminishing(0.1)),
]
LOOK_AHEAD = [
    optim.lbfgs(5), optim.armijo(optim.sgd(1.0)), optim.wolfe(), optim.exact(), optim.newton(), optim.gauss_newton(),
    optim.levenberg_marquardt(1e-2),
]  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMISERS, ids=repr)
def test_the_same_steps(optimizer):
    """What comes back takes the same steps."""
    again = pickle.loads(pickle.dumps(optimizer))
    states = [optimizer.init(W), again.init(W)]
    for _ in range(3):
        steps, states = zip(
            *[o.update(W, s, W, value=1.0) for o, s in zip((optimizer, again), states, strict=True)], strict=True
        )
        np.testing.assert_array_equal(*steps)
    assert repr(again) == repr(optimizer)


@pytest.mark.parametrize("optimizer", LOOK_AHEAD, ids=repr)
def test_those_that_look_at_the_function(optimizer):
    """Line searches and Newton's method too."""
    again = pickle.loads(pickle.dumps(optimizer))
    assert repr(again) == repr(copy.deepcopy(optimizer)) == repr(optimizer)
    assert optim.needs_function(again) == optim.needs_function(optimizer)


def nothing(params):
    """No state."""
    return ()


def downhill(gradient, state, params=None, **context):
    """A step of your own."""
    return -0.1 * gradient, state


def test_of_your_own():
    """A pair of functions is pickled by their names."""
    again = pickle.loads(pickle.dumps(optim.Optimizer(nothing, downhill)))
    assert again.update is downhill


def test_a_schedule_of_your_own():
    """A function that has no name cannot be pickled, as ever."""
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(optim.adam(lambda count: 0.1))
