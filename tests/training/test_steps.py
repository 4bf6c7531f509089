"""Rates, steps and averages of a run, against the formulas written out; and that checkpoints have all of it."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import adjoint as ad
from adjoint import data, losses, nn, optim
from adjoint.optim import schedule
from adjoint.training import session

X = np.random.default_rng(0).normal(size=(30, 2))
Y = X @ np.array([[1.0], [-2.0]]) + 0.3 * X[:, :1] ** 2
LINE = nn.Dense(2, 1, key=0)
BATCH = nn.Sequential(nn.Dense(2, 4, key=0), nn.BatchNorm(4), nn.tanh, nn.Dense(4, 1, key=1))


def train(model=LINE, optimizer=None, **options):
    """A short run: 4 steps in an epoch, the last of them on 6 examples."""
    given = {"epochs": 3, "batch_size": 8, "progress": False, **options}
    return ad.train(model, losses.squared, (X, Y), optimizer or optim.sgd(0.05), **given)


def walked(epochs=3, rate=lambda step, epoch: 0.05, size=8):
    """Gradient descent on the line in NumPy: loss, gradient norm and weights of each step."""
    w, b = LINE.weight.copy(), LINE.bias.copy()
    found, step = [], 0
    for epoch in range(epochs):
        order = data.order(len(X), 0, epoch)
        for start in range(0, len(X), size):
            rows = order[start : start + size]
            error = X[rows] @ w + b - Y[rows]
            slopes = 2 * X[rows].T @ error / len(rows), 2 * np.mean(error, axis=0)
            norm = math.sqrt(sum([np.sum(g * g) for g in slopes]))
            eta = rate(step, epoch)
            w, b = w - eta * slopes[0], b - eta * slopes[1]
            step += 1
            found.append((epoch + 1, float(np.mean(error**2)), norm, eta, w, b))
    return found


def test_history_of_steps():
    """Loss, gradient norm and rate of every third step are those of NumPy's walk."""
    rate = schedule.cosine(0.1, steps=12)
    fit = train(optimizer=optim.sgd(rate), step_every=3)
    walk = walked(rate=lambda step, epoch: float(rate(step)))
    steps = fit.history.steps
    assert list(steps) == ["step", "epoch", "loss", "gradient_norm", "rate"]
    assert steps["step"].tolist() == [3, 6, 9, 12]
    expected = [walk[k - 1] for k in steps["step"]]
    assert steps["epoch"].tolist() == [row[0] for row in expected]
    np.testing.assert_allclose(steps["loss"], [row[1] for row in expected], rtol=1e-12)
    np.testing.assert_allclose(steps["gradient_norm"], [row[2] for row in expected], rtol=1e-12)
    np.testing.assert_array_equal(steps["rate"], [row[3] for row in expected])
    np.testing.assert_allclose(fit.model.weight, walk[-1][4], rtol=1e-12)
    np.testing.assert_array_equal(fit.history["rate"], [float(rate(k)) for k in (0, 4, 8)])
    assert train().history.steps == {}


def test_history_of_a_run_is_not_changed_by_looking():
    """The bits of a run with numbers of each step, and callbacks, are those of one without."""
    seen = []
    options = {"model": BATCH, "optimizer": optim.adam(0.01)}
    with_steps, without = train(step_callbacks=seen.append, **options), train(**options)
    same(with_steps, without)
    assert [s.step for s in seen] == list(range(1, 13))


def same(one, other):
    """That all numbers of two fits are the same bits."""
    for model in ("model", "last_model"):
        for arrays in (nn.parameters, nn.statistics):
            a, b = arrays(getattr(one, model)), arrays(getattr(other, model))
            assert list(a) == list(b)
            for name in a:
                np.testing.assert_array_equal(a[name], b[name], err_msg=f"{model} {name}")
    leaves = [ad.tree.leaves(fit.optimizer_state) for fit in (one, other)]
    for a, b in zip(*leaves, strict=True):
        np.testing.assert_array_equal(a, b)
    assert list(one.history) == list(other.history)
    for name in one.history:
        if name != "seconds":
            np.testing.assert_array_equal(one.history[name], other.history[name], err_msg=name)


def test_step_callbacks():
    """Get the step and the fit so far, with arrays of their own, and may end the run in the middle of an epoch."""
    walk, weights = walked(), []

    def look(step):
        fit = step.fit()
        weights.append(fit.model.weight.copy())
        fit.model.weight[:] = 1e9
        assert (step.rate, step.rates) == (0.05, {"rate": 0.05})
        return step.step == 6

    fit = train(step_callbacks=[look, lambda step: None], step_every=2)
    np.testing.assert_allclose(weights, [walk[k][4] for k in (1, 3, 5)], rtol=1e-12)
    np.testing.assert_allclose(fit.model.weight, walk[5][4], rtol=1e-12)
    assert (fit.steps, fit.history.epochs, fit.stopped) == (6, 1, "by a callback in step 6 (epoch 2)")
    own = optim.Optimizer(lambda p: (), lambda g, s, p=None, **c: (ad.tree.map(lambda g: -0.1 * g, g), s))
    seen = []
    train(optimizer=own, epochs=1, step_callbacks=seen.append)
    assert math.isnan(seen[0].rate)
    assert repr(seen[0]).startswith("TrainingStep(step=1, epoch=1, loss=")


def test_errors_in_step_callbacks_are_named():
    """With the callback and its line."""
    with pytest.raises(ZeroDivisionError) as error:
        train(step_callbacks=[lambda step: None, lambda step: 1 / 0])
    assert re.fullmatch(r"That was in step_callbacks\[1\] \(<lambda>, test_steps.py:\d+\)\.", error.value.__notes__[0])


def test_moving_average():
    """The weights of `fit.model` are means in which those of step k count ema ** (t - k)."""
    fit, walk = train(ema=0.8), walked()
    shares = 0.8 ** np.arange(len(walk))[::-1]
    mean = np.average([row[4] for row in walk], axis=0, weights=shares)
    np.testing.assert_allclose(fit.model.weight, mean, rtol=1e-12)
    np.testing.assert_allclose(fit.last_model.weight, walk[-1][4], rtol=1e-12)
    np.testing.assert_array_equal(fit.last_model.weight, train().model.weight)
    np.testing.assert_array_equal(train(ema=0.0).model.weight, train().model.weight)


def test_moving_average_of_float32():
    """Stays float32, statistics too."""
    model = nn.Sequential(
        nn.Dense(2, 4, dtype=np.float32, key=0),
        nn.BatchNorm(4, dtype=np.float32),
        nn.Dense(4, 1, dtype=np.float32, key=1),
    )
    fit = train(model, optim.adam(0.01), ema=0.9)
    arrays = {**nn.parameters(fit.model), **nn.statistics(fit.model)}
    assert {a.dtype for a in arrays.values()} == {np.dtype(np.float32)}


def test_moving_average_of_batch_statistics():
    """Running statistics are averaged like the weights, step by step."""
    states = []
    options = {"model": BATCH, "optimizer": optim.adam(0.01)}
    train(step_callbacks=lambda step: states.append(nn.statistics(step.fit().model)), **options)
    fit = train(ema=0.7, **options)
    shares = 0.7 ** np.arange(len(states))[::-1]
    for name, found in nn.statistics(fit.model).items():
        np.testing.assert_allclose(found, np.average([s[name] for s in states], axis=0, weights=shares), rtol=1e-11)


def test_the_average_is_what_is_validated():
    """By loss and metrics after each epoch, and by patience."""
    losses_there = []
    fit = train(
        ema=0.8,
        validation=(X[:5], Y[:5]),
        patience=50,
        callbacks=lambda fit: losses_there.append(float(np.mean((fit.model(X[:5]) - Y[:5]) ** 2))),
    )
    np.testing.assert_allclose(np.minimum.accumulate(fit.history["validation_loss"]), losses_there, rtol=1e-12)
    assert not np.array_equal(fit.model.weight, fit.last_model.weight)


def test_mean_over_epochs():
    """The weights of `fit.model` are the mean of those after epochs 3 to 5; before these, they are the last ones."""
    seen = []
    fit = train(epochs=5, swa=3, callbacks=lambda fit: seen.append(fit.model.weight))
    ends = [row[4] for row in walked(epochs=5)[3::4]]
    expected = [*ends[:2], *[np.mean(ends[2 : k + 1], axis=0) for k in (2, 3, 4)]]
    np.testing.assert_allclose(seen, expected, rtol=1e-12)
    np.testing.assert_allclose(fit.model.weight, expected[-1], rtol=1e-12)
    np.testing.assert_allclose(fit.last_model.weight, ends[-1], rtol=1e-12)


def test_batch_statistics_of_the_mean():
    """Are means over all batches with the averaged weights, as PyTorch's `update_bn` finds them."""
    fit = train(BATCH, optim.adam(0.01), epochs=4, swa=2)
    order, means, variances = data.order(len(X), 0, 3), [], []
    dense = fit.model.layers[0]
    for start in range(0, len(X), 8):
        z = dense(X[order[start : start + 8]])
        means.append(np.mean(z, axis=0))
        variances.append(np.var(z, axis=0, ddof=1))
    np.testing.assert_allclose(fit.model.layers[1].mean, np.mean(means, axis=0), rtol=1e-11)
    np.testing.assert_allclose(fit.model.layers[1].variance, np.mean(variances, axis=0), rtol=1e-11)
    assert not np.allclose(fit.last_model.layers[1].mean, fit.model.layers[1].mean)


def test_batch_statistics_of_the_mean_by_batches():
    """The batches of the last epoch are gone through once more; an iterator that is used up leaves them as they are."""
    batches = data.batches(X, Y, batch_size=10)
    options = {"epochs": 3, "swa": 2, "progress": False}
    fit = ad.train(BATCH, losses.squared, batches, optim.adam(0.01), **options)
    means = [np.mean(fit.model.layers[0](x), axis=0) for x, _ in batches.epoch(2)]
    np.testing.assert_allclose(fit.model.layers[1].mean, np.mean(means, axis=0), rtol=1e-11)
    once = ad.train(BATCH, losses.squared, iter([(X, Y)]), optim.adam(0.01), epochs=1, swa=1, progress=False)
    np.testing.assert_array_equal(once.model.layers[1].mean, once.last_model.layers[1].mean)


@nn.layer
class Largest:
    """A layer with statistics that are no running means: the largest inputs seen."""

    largest: np.ndarray = nn.statistic()
    count: np.ndarray = nn.statistic()
    stochastic = False

    def __init__(self, largest, count):
        nn.set_fields(self, largest=largest, count=count)

    def __call__(self, x):
        return x / (1.0 + self.largest)

    def training(self, x, key):
        largest = np.maximum(self.largest, np.max(np.abs(ad.stop_gradient(x)), axis=0))
        return x / (1.0 + largest), Largest(largest, self.count + 1)


def test_other_statistics_of_the_mean():
    """Go through all batches by their own rule."""
    model = nn.Sequential(Largest(np.zeros(2), np.zeros(1, int)), nn.Dense(2, 1, key=0))
    fit = train(model, swa=2)
    np.testing.assert_array_equal(fit.model.layers[0].largest, np.max(np.abs(X), axis=0))
    assert fit.last_model.layers[0].count.tolist() == [12]
    assert fit.model.layers[0].count.tolist() == [16]  # once more through the batches of the last epoch


def test_plateau_of_a_run():
    """The rate falls by the validation loss; the history has the rate of each epoch, the state what is known."""
    rates, best, bad, rate = [], math.inf, 0, 0.3
    fit = train(optimizer=optim.sgd(schedule.plateau(0.3, factor=0.5, patience=0)), epochs=8, validation=(X[:5], Y[:5]))
    for loss in fit.history["validation_loss"]:
        rates.append(rate)
        best, bad = (loss, 0) if loss < best * (1 - 1e-4) else (best, bad + 1)
        rate, bad = (rate * 0.5, 0) if bad > 0 else (rate, bad)
    assert len(set(rates)) > 1
    np.testing.assert_allclose(fit.history["rate"], rates, rtol=1e-14)
    walk = walked(epochs=8, rate=lambda step, epoch: rates[epoch])
    np.testing.assert_allclose(fit.model.weight, walk[-1][4], rtol=1e-11)


def test_schedules_as_long_as_the_run():
    """As if the number of steps had been written there; also for batches of known length, and going on."""
    for kind in (schedule.cosine, schedule.one_cycle):
        fit, other = (train(optimizer=optim.sgd(kind(0.1, steps=steps))) for steps in ("run", 12))
        same(fit, other)
    batches = data.batches(X, Y, batch_size=10)
    stream = ad.train(
        LINE,
        losses.squared,
        batches,
        optim.sgd(schedule.cosine(0.1, steps="run")),
        epochs=2,
        step_every=1,
        progress=False,
    )
    np.testing.assert_array_equal(stream.history.steps["rate"], schedule.cosine(0.1, steps=6)(np.arange(6)))
    more = train(
        fit.last_model, optim.sgd(schedule.cosine(0.1, steps="run")), optimizer_state=fit.optimizer_state, step_every=1
    )
    np.testing.assert_array_equal(more.history.steps["rate"], schedule.cosine(0.1, steps=12)(np.arange(12)))


def test_rates_of_groups():
    """Have a place in the history each."""
    optimizer = optim.groups({"weight": optim.sgd(schedule.step(0.1, every=4)), "*": optim.sgd(0.01)})
    fit = train(optimizer=optimizer, step_every=4)
    np.testing.assert_allclose(fit.history["rate[weight]"], [0.1, 0.01, 0.001])
    np.testing.assert_array_equal(fit.history["rate[*]"], [0.01] * 3)
    np.testing.assert_allclose(fit.history.steps["rate[weight]"], [0.1, 0.01, 0.001])
    assert "rate" not in train(optimizer=optim.lbfgs(), batch_size=30).history


def test_averages_of_an_optimiser_with_line_searches():
    """Whose step is not one jitted function."""
    states = []
    train(optimizer=optim.lbfgs(), batch_size=30, step_callbacks=lambda step: states.append(step.fit().model.weight))
    fit = train(optimizer=optim.lbfgs(), batch_size=30, ema=0.5)
    np.testing.assert_allclose(fit.model.weight, np.average(states, axis=0, weights=[0.25, 0.5, 1.0]), rtol=1e-10)


KINDS = {
    "ema": {"ema": 0.9},
    "ema, patience": {"ema": 0.9, "patience": 9, "validation": (X[:5], Y[:5])},
    "swa": {"swa": 2},
    "swa, patience": {"swa": 3, "patience": 9, "validation": (X[:5], Y[:5])},
    "plateau": {"optimizer": optim.adam(schedule.plateau(0.3, patience=0, factor=0.5))},
    "cosine": {"optimizer": optim.adam(schedule.warmup(schedule.cosine(0.3, steps="run"), steps=3))},
}


class LeftError(Exception):
    """Ends a run from the inside, as nothing else does."""


@pytest.mark.parametrize("name", KINDS)
def test_broken_runs_go_on(name, tmp_path):
    """With the bits of an unbroken run: weights, averages, state, history by epoch and by step."""
    options = {"model": BATCH, "optimizer": optim.adam(0.02), "epochs": 6, "step_every": 3, **KINDS[name]}
    whole, path = train(**options), tmp_path / "run.npz"
    for last in (9, 18):  # both in the middle of an epoch, of which nothing is kept

        def leave(step, last=last):
            if step.step == last:
                raise LeftError

        with pytest.raises(LeftError):
            train(checkpoint=path, step_callbacks=leave, **options)
    fit = train(checkpoint=path, **options)
    for other in (fit, train(checkpoint=path, **options), train(**options)):
        same(other, whole)
        assert list(other.history.steps) == list(whole.history.steps)
        for key, values in whole.history.steps.items():
            np.testing.assert_array_equal(other.history.steps[key], values, err_msg=key)


def test_a_step_with_averages_is_machine_code(monkeypatch):
    """With a plateau, batch statistics and averages: one recording, nothing by NumPy, nothing eagerly."""
    made, make = [], session.step_of
    monkeypatch.setattr(session, "step_of", lambda *given: made.append(make(*given)) or made[-1])
    train(BATCH, optim.adam(schedule.plateau(0.02)), batch_size=10, ema=0.9)
    stats = made[0].stats()
    assert (stats["recordings"], stats["called by NumPy"], stats["eager"]) == (1, [], [])


def test_a_plateau_decides(tmp_path):
    """As what it knows is in the file; other rates may change from call to call."""
    path = tmp_path / "run.npz"
    train(optimizer=optim.sgd(0.1), checkpoint=path)
    train(optimizer=optim.sgd(schedule.step(0.1, every=2)), checkpoint=path)
    with pytest.raises(ad.errors.InputError) as error:
        train(optimizer=optim.sgd(schedule.plateau(0.1)), checkpoint=path)
    assert "is of another run: optimizer.rate differs.\n" in str(error.value)
    assert "  got nothing in the file, 'a plateau' here\n" in str(error.value)


def test_names_of_other_libraries():
    """Say where the average and the rate are."""
    fit = train(ema=0.9)
    with pytest.raises(AttributeError, match=r"use  fit\.model, which is the averaged one where ema= was given"):
        _ = fit.ema_model
    with pytest.raises(KeyError, match=r"'lr' was not measured; there are .*Write  'rate'"):
        _ = fit.history["lr"]


def test_averages_decide(tmp_path):
    """A file of a run with other averages is refused, by name; one without any is as it was."""
    for k, (first, second, name) in enumerate(
        [
            ({"ema": 0.9}, {"ema": 0.8}, "ema"),
            ({}, {"ema": 0.8}, "ema"),
            ({"swa": 2}, {"swa": 1}, "swa"),
            ({"swa": 2}, {}, "swa"),
        ]
    ):
        path = tmp_path / f"{k}.npz"
        train(checkpoint=path, **first)
        with pytest.raises(ad.errors.InputError, match=f"is of another run: {name} differs"):
            train(checkpoint=path, **second)


def test_damaged_steps(tmp_path):
    """A history of steps that is none is told as any other damage."""
    path = tmp_path / "run.npz"
    train(checkpoint=path, step_every=1)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["history.step_values"] = arrays["history.step_values"][:, 1:]
    np.savez(path, **arrays)
    with pytest.raises(ad.errors.InputError, match="is not a checkpoint of a training run, or it is damaged"):
        train(checkpoint=path, step_every=1)


REFUSED = {
    "ema is how much of the average is kept at each step, a number from 0 to below 1.\n"
    "  got ema=1.0\n  Write  ema=0.999.": {"ema": 1.0},
    "Weights are averaged by step or by epoch.\n  got ema=0.9 and swa=2\n  Choose one of them.": {"ema": 0.9, "swa": 2},
    "swa is the epoch from which on weights are averaged, which the run does not reach.\n"
    "  got swa=4 and epochs=3\n  Write  swa=2.": {"swa": 4},
    "swa has to be a whole number, 1 or more.\n  got swa=0\n  Write  swa=1.": {"swa": 0},
    "step_every has to be a whole number, 1 or more.\n  got step_every=0.5\n  Write  step_every=1.": {
        "step_every": 0.5
    },
    "step_callbacks are functions of the step taken.\n  got step_callbacks=3\n"
    "  Write  step_callbacks=lambda step: print(step.step, step.loss).": {"step_callbacks": 3},
    "The history has a number of this name already.\n  got metrics={'rate': ...}\n  Choose another name.": {
        "metrics": {"rate": lambda z, y: 0.0}
    },
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words):
    """In full."""
    with pytest.raises(ad.errors.InputError) as error:
        train(**REFUSED[words])
    assert re.sub(r"\n  at .*", "", str(error.value)) == words


def test_a_stream_has_no_length():
    """So a schedule cannot follow it."""
    with pytest.raises(
        ad.errors.InputError, match='A schedule with steps="run" needs data of which the length is known'
    ):
        ad.train(LINE, losses.squared, Stream(), optim.sgd(schedule.cosine(0.1, steps="run")), progress=False)
    ad.train(LINE, losses.squared, Stream(), optim.sgd(0.1), epochs=1, progress=False)


class Stream:
    """Batches without a number of them."""

    def __iter__(self):
        yield X, Y
