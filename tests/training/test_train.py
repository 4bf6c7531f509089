"""`ad.train`: its numbers, its options, and why it ends."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import adjoint as ad
from adjoint import data, losses, nn, optim

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(50, 2))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
TARGET = X @ np.array([[1.0], [-2.0]]) + 0.5
train = functools.partial(ad.train, progress=False)


def network(**options):
    """A small network."""
    return nn.MLP([2, 8, 2], **{"activation": "tanh", "key": 1, **options})


def same(one, other, rtol=0.0):
    """Whether two models have the same parameters."""
    mine, its = nn.parameters(one), nn.parameters(other)
    assert mine.keys() == its.keys()
    for name, a in mine.items():
        np.testing.assert_allclose(a, its[name], rtol=rtol, atol=rtol)


def by_hand(model, loss, rate, epochs, size, seed=0):
    """Gradient descent written out, in plain NumPy."""
    params, rebuild = nn.partition(model)
    history = []
    for epoch in range(epochs):
        order = data.order(len(X), seed, epoch)
        values = []
        for start in range(0, len(X), size):
            rows = order[start : start + size]
            value, gradient = ad.value_and_grad(lambda p, rows=rows: loss(rebuild(p)(X[rows]), Y[rows]))(params)
            params = {name: p - rate * gradient[name] for name, p in params.items()}
            values.append((float(value), len(rows)))
        history.append(np.average([v for v, _ in values], weights=[n for _, n in values]))
    return rebuild(params), history


@pytest.mark.parametrize("size", [1, 7, 10, 50, 64])
def test_steps_are_those_of_the_formula(size):
    """Batches in the seeded order, the last one smaller; the loss of an epoch is the mean over its examples."""
    fit = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.1), epochs=3, batch_size=size, seed=4)
    model, history = by_hand(network(), losses.cross_entropy, 0.1, 3, size, seed=4)
    same(fit.model, model, rtol=1e-12)
    np.testing.assert_allclose(fit.history["loss"], history, rtol=1e-12)
    assert fit.steps == 3 * -(-50 // size)
    assert fit.stopped == "after 3 epochs"


def test_the_last_batch_may_be_left_out():
    """Then all batches have the same size."""
    fit = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.1), epochs=2, batch_size=16, drop_last=True)
    assert fit.steps == 6


def test_numbers_are_the_same_in_every_run():
    """Bit by bit, compiled anew or not, whatever was trained in between."""
    first = train(network(dropout=0.3), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=3, batch_size=8)
    train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.01), epochs=1)
    second = train(network(dropout=0.3), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=3, batch_size=8)
    ad.config.clear_caches()
    third = train(network(dropout=0.3), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=3, batch_size=8)
    same(first.model, second.model)
    same(first.model, third.model)
    other = train(network(dropout=0.3), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=3, batch_size=8, seed=1)
    assert other.history["loss"][-1] != first.history["loss"][-1]


def test_arrays_and_batches_of_them_are_the_same():
    """An iterable of batches gives the steps that the arrays give, and so does a generator of them."""
    whole = train(network(), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=3, batch_size=10, seed=2)
    parts = train(
        network(), losses.cross_entropy, data.batches(X, Y, batch_size=10, seed=2), optim.adam(0.01), epochs=3
    )
    same(whole.model, parts.model)


def test_a_function_of_a_dict_is_a_model():
    """Least squares by gradient descent, against the closed form."""
    model = nn.Function(lambda p, x: x @ p["w"] + p["b"], {"b": np.zeros(1), "w": np.zeros((2, 1))})
    fit = train(model, losses.squared, (X, TARGET), optim.sgd(0.1), epochs=200, batch_size=50)
    found = nn.parameters(fit.model)
    np.testing.assert_allclose(found["params.w"], [[1.0], [-2.0]], atol=1e-9)
    np.testing.assert_allclose(found["params.b"], [0.5], atol=1e-9)


def test_a_model_of_your_own():
    """A frozen dataclass with a call."""

    @dataclasses.dataclass(frozen=True)
    class Line:
        slope: np.ndarray
        shift: np.ndarray

        def __call__(self, x):
            return x @ self.slope + self.shift

    fit = train(Line(np.zeros((2, 1)), np.zeros(1)), losses.squared, (X, TARGET), optim.adam(0.1), epochs=100)
    assert isinstance(fit.model, Line)
    np.testing.assert_allclose(fit.model.slope, [[1.0], [-2.0]], atol=1e-2)


def test_containers_as_data():
    """Inputs in a dict, two kinds of targets."""
    model = nn.Function(lambda p, x: (x["a"] @ p["w"], x["b"] * p["v"]), {"w": np.zeros((2, 1)), "v": np.zeros(1)})
    inputs, targets = {"a": X, "b": X[:, :1]}, (X @ np.array([[3.0], [1.0]]), -X[:, :1])

    def loss(outputs, y):
        return np.mean((outputs[0] - y[0]) ** 2) + np.mean((outputs[1] - y[1]) ** 2)

    fit = train(model, loss, (inputs, targets), optim.sgd(0.2), epochs=100, batch_size=25)
    np.testing.assert_allclose(nn.parameters(fit.model)["params.w"], [[3.0], [1.0]], atol=1e-6)
    np.testing.assert_allclose(nn.parameters(fit.model)["params.v"], [-1.0], atol=1e-6)


def test_frozen_arrays_stay():
    """And the others move."""
    before = network()
    fit = train(before, losses.cross_entropy, (X, Y), optim.adam(0.1), epochs=2, freeze="layers.0.*")
    had, has = nn.parameters(before), nn.parameters(fit.model)
    assert [name for name in had if np.array_equal(had[name], has[name])] == ["layers.0.weight", "layers.0.bias"]


def test_shared_arrays_stay_shared():
    """One array in two places, before and after."""
    model = nn.share(nn.MLP([3, 3, 3], key=0), "layers.1.weight", "layers.0.weight")
    fit = train(model, losses.squared, (np.eye(3), np.eye(3)), optim.sgd(0.1), epochs=2)
    assert fit.model.layers[0].weight is fit.model.layers[1].weight
    assert not np.array_equal(fit.model.layers[0].weight, model.layers[0].weight)


def test_float32_stays_float32():
    """Parameters, optimiser and loss, with data in double precision."""
    fit = train(network(dtype=np.float32), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=2)
    assert {a.dtype for a in nn.parameters(fit.model).values()} == {np.dtype(np.float32)}
    assert {np.asarray(a).dtype for a in ad.tree.leaves(fit.optimizer_state)} <= {np.dtype(np.float32), np.dtype(int)}


def test_weights_of_examples():
    """A weight of 2 is an example given twice, 0 leaves it out."""
    weights = np.array([0.0, 1.0, 2.0])[np.arange(50) % 3]
    repeated = np.repeat(np.arange(50), weights.astype(int))
    one = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.5), epochs=5, batch_size=50, sample_weight=weights)
    other = train(network(), losses.cross_entropy, (X[repeated], Y[repeated]), optim.sgd(0.5), epochs=5, batch_size=50)
    same(one.model, other.model, rtol=1e-12)


def test_batches_without_weight():
    """Batches of weight 0 are no steps: the run goes on as if they were not there."""
    weights = (np.arange(50) >= 30) * 1.0
    options = {"epochs": 3, "batch_size": 10, "shuffle": False}
    one = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.5), sample_weight=weights, **options)
    other = train(network(), losses.cross_entropy, (X[30:], Y[30:]), optim.sgd(0.5), **options)
    assert one.stopped == other.stopped
    same(one.model, other.model, rtol=1e-12)
    large = np.where(np.arange(50)[:, None] == 33, 1e200, np.ones((50, len(one.model(X)[0]))))
    with pytest.warns(RuntimeWarning, match=r"examples 30, 31, 32, 33"):  # by their numbers in the data as given
        train(network(), losses.squared, (X, large), optim.sgd(0.5), sample_weight=weights, **options)


def test_weights_of_classes():
    """Balanced weights make a rare class count as much as a frequent one."""
    rare = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:3]])
    given = X[rare], Y[rare]
    balanced = train(network(), losses.cross_entropy, given, optim.adam(0.01), epochs=3, class_weight="balanced")
    n = np.bincount(Y[rare])
    by_array = train(
        network(), losses.cross_entropy, given, optim.adam(0.01), epochs=3, class_weight=len(rare) / (2.0 * n)
    )
    same(balanced.model, by_array.model, rtol=1e-13)


def test_accumulated_batches_are_one_batch():
    """The mean of the gradients of four batches is that of a batch four times as large."""
    one = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.1), epochs=2, batch_size=12, accumulate=4)
    other = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.1), epochs=2, batch_size=48)
    same(one.model, other.model, rtol=1e-12)


def test_gradients_of_examples_are_clipped():
    """Each example's gradient to the norm that is allowed, then the mean."""
    params, rebuild = nn.partition(network())

    def gradient_of(k):
        g = ad.grad(lambda p: losses.cross_entropy(rebuild(p)(X[k : k + 1]), Y[k : k + 1]))(params)
        norm = np.sqrt(sum([np.sum(a * a) for a in g.values()]))
        return {name: a * min(1.0, 0.3 / norm) for name, a in g.items()}

    gradients = [gradient_of(k) for k in range(50)]
    fit = train(network(), losses.cross_entropy, (X, Y), optim.sgd(1.0), epochs=1, batch_size=50, clip_per_sample=0.3)
    for name, a in nn.parameters(fit.model).items():
        np.testing.assert_allclose(params[name] - a, np.mean([g[name] for g in gradients], axis=0), atol=1e-14)


def test_batch_statistics_are_kept():
    """A network with batch normalisation is used with the statistics of training."""
    fit = train(network(norm="batch"), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=3, batch_size=16)
    statistics = nn.statistics(fit.model)
    assert all(
        [
            np.any(a != b)
            for a, b in zip(statistics.values(), nn.statistics(network(norm="batch")).values(), strict=True)
        ]
    )


def test_penalty():
    """Ridge regression, against its closed form: mean square + strength * |w|^2."""
    model = nn.Function(lambda p, x: x @ p["w"], {"w": np.zeros((2, 1))})
    y = X @ np.array([[1.0], [-2.0]])
    fit = train(model, losses.squared, (X, y), optim.sgd(0.2), epochs=300, batch_size=50, regularizer=losses.l2(0.3))
    want = np.linalg.solve(X.T @ X / 50 + 0.3 * np.eye(2), X.T @ y / 50)
    np.testing.assert_allclose(nn.parameters(fit.model)["params.w"], want, atol=1e-10)


def accuracy(outputs, y):
    """The share of right answers."""
    return np.mean(np.argmax(outputs, axis=1) == y)


def test_validation_and_metrics():
    """Measured after each epoch with the model as it is used later, on data that are not trained with."""
    given, held_out = (X[:40], Y[:40]), (X[40:], Y[40:])
    fit = train(
        network(dropout=0.5), losses.cross_entropy, given, optim.adam(0.01), epochs=4, validation=held_out,
        metrics={"accuracy": accuracy},
    )  # fmt: skip
    outputs = fit.model(X[40:])
    np.testing.assert_allclose(fit.history["validation_loss"][-1], losses.cross_entropy(outputs, Y[40:]), rtol=1e-12)
    assert fit.history["accuracy"][-1] == accuracy(outputs, Y[40:])
    assert len(fit.history["loss"]) == fit.history.epochs == 4
    part = train(network(), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=1, batch_size=10, validation=0.2)
    assert part.steps == 4


def test_patience():
    """The run ends when nothing becomes better, with the weights of the best epoch."""
    fit = train(
        network(), losses.cross_entropy, (X[:40], Y[:40]), optim.adam(0.2), epochs=500,
        validation=(X[40:], Y[40:]), patience=5,
    )  # fmt: skip
    best = int(np.argmin(fit.history["validation_loss"]))
    assert fit.best_epoch == best + 1 == fit.history.epochs - 5
    assert losses.cross_entropy(fit.model(X[40:]), Y[40:]) == pytest.approx(fit.history["validation_loss"][best])
    assert fit.stopped == f"after {best + 6} epochs: the validation loss has not become smaller for 5"


def test_a_state_of_the_optimiser_goes_on():
    """Two runs are one, if the second starts with the weights and the moments of the first; these are not touched."""
    run = functools.partial(train, loss=losses.cross_entropy, data=(X, Y), optimizer=optim.adam(0.01), batch_size=50)
    first = run(network(), epochs=3)
    moments = [np.copy(leaf) for leaf in ad.tree.leaves(first.optimizer_state)]
    second = run(first.model, epochs=2, optimizer_state=first.optimizer_state)
    same(second.model, run(network(), epochs=5).model, rtol=1e-12)
    for leaf, before in zip(ad.tree.leaves(first.optimizer_state), moments, strict=True):
        np.testing.assert_array_equal(leaf, before)
    with pytest.raises(ad.errors.InputError, match=r"^optimizer_state is not a state of this optimiser for this model"):
        run(nn.MLP([2, 9, 2], key=0), epochs=1, optimizer_state=first.optimizer_state)


def test_callbacks():
    """They see the fit so far, and may end it."""
    seen = []

    def watch(fit):
        seen.append((fit.history.epochs, float(fit.history["loss"][-1]), fit.model))
        return fit.history.epochs == 3

    fit = train(network(), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=10, callbacks=watch)
    assert [epochs for epochs, _, _ in seen] == [1, 2, 3]
    assert fit.stopped == "by a callback after 3 epochs"
    same(seen[-1][2], fit.model)


def test_interrupt():
    """Ctrl-C ends a run with what was reached."""

    def interrupt(fit):
        if fit.history.epochs == 2:
            raise KeyboardInterrupt

    fit = train(network(), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=10, callbacks=interrupt)
    assert fit.stopped == "interrupted in epoch 3"
    assert fit.history.epochs == 2


def test_optimisers_that_look_ahead():
    """A line search gets the loss of the batch as a function."""
    fit = train(network(), losses.cross_entropy, (X, Y), optim.lbfgs(), epochs=30, batch_size=50)
    assert fit.history["loss"][-1] < 0.05


def test_memory_maps_are_read_by_batches(tmp_path):
    """And give the numbers that arrays give."""
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    one = train(network(), losses.cross_entropy, (mapped, Y), optim.adam(0.01), epochs=2)
    other = train(network(), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=2)
    same(one.model, other.model)


def test_frames():
    """Tables of pandas are data."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    one = train(network(), losses.cross_entropy, (frame, pandas.Series(Y)), optim.adam(0.01), epochs=2)
    other = train(network(), losses.cross_entropy, (X, Y), optim.adam(0.01), epochs=2)
    same(one.model, other.model)


def test_gradient_norms():
    """The root of the mean square over the steps of an epoch, for each array and in all."""
    fit = train(network(), losses.cross_entropy, (X, Y), optim.sgd(0.0), epochs=1, batch_size=50)
    params, rebuild = nn.partition(network())
    gradient = ad.grad(lambda p: losses.cross_entropy(rebuild(p)(X), Y))(params)
    norms = [np.linalg.norm(g) for g in gradient.values()]
    assert fit.history.names == list(params)
    np.testing.assert_allclose(fit.history.gradient_norms, [norms], rtol=1e-12)
    np.testing.assert_allclose(fit.history["gradient_norm"], [np.linalg.norm(norms)], rtol=1e-12)
