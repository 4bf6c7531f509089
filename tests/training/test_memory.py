"""Training writes each state over the last one, and over nothing that anybody else has."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.training import session as sessions
from adjoint.training.interrupts import TornError, waiting
from adjoint.transforms.compiler import can_compile

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.random.default_rng(1).integers(0, 3, 60)
OPTIMISERS = [optim.sgd(0.1, momentum=0.9), optim.adam(0.01), optim.chain(optim.clip_by_norm(0.5), optim.adamw(0.01))]


def network():
    """A small model with statistics."""
    return nn.Sequential(nn.Dense(4, 16, key=0), nn.BatchNorm(16), "tanh", nn.Dense(16, 3, key=1))


def train(model, optimizer, **options):
    """A run of a few epochs."""
    given = {"epochs": 4, "batch_size": 16, "progress": False, **options}
    return ad.train(model, losses.cross_entropy, (X, Y), optimizer, **given)


def numbers(fit):
    """All arrays that a run gives."""
    return [
        np.array(a) for a in ad.tree.leaves((nn.parameters(fit.model), nn.statistics(fit.model), fit.optimizer_state))
    ]


@pytest.mark.skipif(not can_compile(), reason="needs machine code")
@pytest.mark.parametrize("optimizer", OPTIMISERS, ids=["momentum", "adam", "clipped"])
def test_the_same_memory_all_along(optimizer, monkeypatch):
    """After the first epoch there are no new arrays for moments; parameters of small models are kept for pictures."""
    seen = []
    take = sessions.Session.take_epoch

    def watched(self, epoch):
        take(self, epoch)
        seen.append([id(a) for a in ad.tree.leaves(self.state.optimizer) if isinstance(a, np.ndarray) and a.size > 9])

    monkeypatch.setattr(sessions.Session, "take_epoch", watched)
    train(network(), optimizer)
    assert len(seen[0]) >= 2
    assert seen[1] == seen[2] == seen[3]


@pytest.mark.parametrize("optimizer", OPTIMISERS, ids=["momentum", "adam", "clipped"])
def test_nothing_of_the_users_is_written_over(optimizer):
    """The model that was given, and whatever callbacks keep of each epoch, are as they were."""
    model, kept = network(), []
    before = [a.copy() for a in nn.parameters(model).values()]

    def keep(fit):
        kept.append((fit, numbers(fit)))

    train(model, optimizer, callbacks=keep)
    alone = train(model, optimizer)
    for a, b in zip(nn.parameters(model).values(), before, strict=True):
        np.testing.assert_array_equal(a, b)
    for fit, then in kept:
        for a, b in zip(numbers(fit), then, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(numbers(alone), kept[-1][1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_model_that_writes_to_its_parameters():
    """Neither while it is tried out nor in a step does it write to the arrays that were given."""

    def predict(p, x):
        p["w"] *= 0.5
        x += 1.0
        return x @ p["w"]

    given, x = {"w": np.ones((4, 3))}, X.copy()
    ad.train(nn.Function(predict, given), losses.cross_entropy, (x, Y), optim.sgd(0.1), epochs=2, progress=False)
    np.testing.assert_array_equal(given["w"], 1.0)
    np.testing.assert_array_equal(x, X)


def test_the_best_weights_stay():
    """Those of the best epoch are returned, although many steps were taken after it."""
    found = []
    fit = train(network(), optim.adam(0.5), epochs=30, patience=5, callbacks=lambda fit: found.append(numbers(fit)[:4]))
    assert fit.best_epoch < fit.history.epochs
    for a, b in zip(numbers(fit)[:4], found[fit.best_epoch - 1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_first_weights_of_pictures_stay():
    """Weights that were kept for the page are those of their epoch."""
    model = network()
    fit = train(model, optim.adam(0.05))
    for name, a in nn.parameters(model).items():
        np.testing.assert_array_equal(fit.snapshots[0][name], a)
        assert not np.array_equal(fit.snapshots[1][name], fit.snapshots[2][name])


class Wrapped:
    """A step that does something besides."""

    def __init__(self, step, besides):
        self.step, self.besides, self.taken, self.more = step, besides, 0, 0

    @property
    def recordings(self):
        """How often it was recorded, here or elsewhere."""
        return self.step.recordings + self.more

    def __call__(self, *args):
        """Take the step."""
        found = self.step(*args)
        del args
        self.taken += 1
        self.besides(self)
        return found


def wrapped(monkeypatch, besides):
    """Let sessions take wrapped steps."""
    begin = sessions.Session.__post_init__

    def post_init(self, start):
        begin(self, start)
        self.step = Wrapped(self.step, besides)

    monkeypatch.setattr(sessions.Session, "__post_init__", post_init)


def test_recorded_by_another_thread_meanwhile(monkeypatch):
    """A step whose result is already there is not taken twice."""
    expected = train(network(), optim.adam(0.01))

    def elsewhere(step):
        step.more += step.taken % 3 == 0

    wrapped(monkeypatch, elsewhere)
    for a, b in zip(numbers(train(network(), optim.adam(0.01))), numbers(expected), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture
def interruptible():
    """Ctrl-C as in a terminal: a process that is started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interrupted_in_a_step(monkeypatch):
    """Ctrl-C ends a run between two steps, never in the middle of one."""
    train(network(), optim.adam(0.01))  # so that every call is a step
    wrapped(monkeypatch, lambda step: signal.raise_signal(signal.SIGINT) if step.taken == 7 else None)
    fit = train(network(), optim.adam(0.01))
    assert fit.stopped == "interrupted in epoch 2"
    assert fit.steps == 7
    assert fit.optimizer_state["count"] == 7
    expected = train(network(), optim.adam(0.01), epochs=1, callbacks=lambda fit: None)
    assert not np.array_equal(numbers(fit)[0], numbers(expected)[0])


@pytest.mark.usefixtures("interruptible")
def test_waiting_for_the_end_of_a_step():
    """Ctrl-C waits to be asked for; pressed again, it does not."""
    with pytest.raises(KeyboardInterrupt), waiting() as act:  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        done = True
        act()
    assert done
    with pytest.raises(TornError), waiting():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with waiting() as act:
        act()
