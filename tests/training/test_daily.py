"""What daily training meets: callbacks, weights, validation in batches, sparse rows, doubtful schedules and shapes."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.training.evaluation import parts_of

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(60, 2))
ADAM = optim.adam(1e-2)


def model():
    return nn.MLP([3, 5, 2], key=0)


def run(**options):
    return ad.train(model(), losses.squared, (X, Y), ADAM, **{"epochs": 3, "batch_size": 8} | options)


@pytest.mark.parametrize("answer", [True, np.True_, 1, np.array([True]), "enough"])
def test_whatever_is_true_ends_a_run(answer):
    """Truth as Python has it."""
    fit = run(callbacks=lambda fit: answer)
    assert fit.history.epochs == 1
    assert fit.stopped == "by a callback after 1 epoch"


@pytest.mark.parametrize("answer", [None, False, np.False_, 0, np.array([False]), ""])
def test_whatever_is_not_true_does_not(answer):
    """Nothing, zero, and what is empty."""
    assert run(callbacks=lambda fit: answer).history.epochs == 3


def test_what_a_callback_writes_is_not_trained_with():
    """It gets copies."""

    def meddle(fit):
        for tree in (fit.model, fit.optimizer_state, fit.snapshots):
            for leaf in ad.tree.leaves(tree):
                if isinstance(leaf, np.ndarray):
                    leaf[...] = 7.0

    np.testing.assert_array_equal(run(callbacks=meddle).history["loss"], run().history["loss"])


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("size", [7, 10])
def test_batches_of_weight_0_are_no_steps(size, accumulate):
    """The same steps as with the others alone, in the same order."""
    weights = np.zeros(60)
    weights[:5] = 1.0
    options = {"sample_weight": weights, "batch_size": size, "accumulate": accumulate, "shuffle": False, "epochs": 2}
    whole = run(**options)
    assert whole.steps == 2
    kept = ad.train(model(), losses.squared, (X[:5], Y[:5]), ADAM, epochs=2, batch_size=5)
    np.testing.assert_allclose(whole.history["loss"], kept.history["loss"], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 8, 40, 41, 60])
def test_validation_in_batches(n):
    """The same as at once, for any number of rows."""
    metrics = {"mean": lambda outputs, targets: np.mean(outputs - targets)}
    fit = run(validation=(X[:n], Y[:n]), metrics=metrics)
    outputs = fit.model(X[:n])
    np.testing.assert_allclose(fit.history["validation_loss"][-1], losses.squared(outputs, Y[:n]), rtol=1e-12)
    np.testing.assert_allclose(fit.history["mean"][-1], np.mean(outputs - Y[:n]), rtol=1e-9)
    np.testing.assert_allclose(fit.predict(X[:n]), outputs, rtol=1e-12)


def test_parts():
    """All rows once, in order, no more at a time than a step has, in at most two lengths."""
    for n in range(1, 70):
        for size in range(1, 20):
            parts = parts_of(n, size)
            assert [k for part in parts for k in range(part.start, part.stop)] == list(range(n))
            lengths = {part.stop - part.start for part in parts}
            assert max(lengths) <= size
            assert len(lengths) <= 2


def test_sparse_rows():
    """The numbers of the dense matrix, for training, validation, and predictions."""
    thin = np.where(np.abs(X) > 1, X, 0.0)
    options = {"epochs": 3, "batch_size": 8, "validation": 0.25}
    full = ad.train(model(), losses.squared, (thin, Y), ADAM, **options)
    for make in (sparse.csr_array, sparse.coo_matrix, sparse.csc_array):
        fit = ad.train(model(), losses.squared, (make(thin), Y), ADAM, **options)
        for name in ("loss", "validation_loss"):
            np.testing.assert_allclose(fit.history[name], full.history[name], rtol=1e-12)
    np.testing.assert_allclose(fit.predict(sparse.csr_array(thin)), full.model(thin), rtol=1e-9)


@pytest.mark.parametrize(
    "rate",
    [optim.schedule.cosine(0.1, steps=2), optim.schedule.one_cycle(0.1, steps=4), lambda k: 0.1 * (k < 3)],
    ids=["cosine", "one_cycle", "own"],
)
@pytest.mark.parametrize(
    "around", [optim.adam, lambda rate: optim.chain(optim.clip(1.0), optim.sgd(rate))], ids=["adam", "chain"]
)
def test_schedules_that_end_too_early(rate, around):
    """Are said, with the step."""
    with pytest.warns(RuntimeWarning, match=r"The rate is .* from about step .* but the run has 24 steps"):
        ad.train(model(), losses.squared, (X, Y), around(rate), epochs=3, batch_size=8)


@pytest.mark.parametrize("rate", [0.1, optim.schedule.cosine(0.1, steps=24), optim.schedule.step(0.1, every=8)])
def test_schedules_that_do_not(rate):
    """Are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.train(model(), losses.squared, (X, Y), optim.sgd(rate), epochs=3, batch_size=8)


@pytest.mark.parametrize("targets", [np.repeat([0.0, 1.0], 30), np.r_[np.zeros(59), 1.0], np.linspace(0, 1, 60)])
@pytest.mark.parametrize("zero", [False, True], ids=["as made", "all 0"])
def test_every_output_with_every_target(targets, zero):
    """Said for sorted labels, for a single one among many, and for a layer that begins with 0."""
    layer = nn.Dense(3, 1, key=0)
    layer = nn.replace(layer, {"weight": np.zeros((3, 1)), "bias": np.zeros(1)}) if zero else layer
    with pytest.warns(RuntimeWarning, match="every output with every target"):
        ad.train(layer, lambda f, y: np.mean((f - y) ** 2), (X, targets), optim.sgd(1e-3), epochs=1, batch_size=8)


def test_shared_arrays_stay_one():
    """In a run; a step by hand, which would part them, is refused."""
    shared = nn.share(nn.MLP([3, 3, 3], key=0), "layers.1.weight", "layers.0.weight")
    fit = ad.train(shared, losses.squared, (X, X), ADAM, epochs=1)
    assert fit.model.layers[0].weight is fit.model.layers[1].weight
    with pytest.raises(ad.errors.InputError, match=r"layers.1.weight, which is layers.0.weight"):
        ADAM.init(shared)
    parameters, rebuild = nn.partition(shared)
    step, _ = ADAM.update(
        ad.grad(lambda p: losses.squared(rebuild(p)(X), X))(parameters), ADAM.init(parameters), parameters
    )
    moved = rebuild(optim.apply(parameters, step))
    assert moved.layers[0].weight is moved.layers[1].weight


@pytest.mark.parametrize("wrapped", [lambda f: f, ad.jit], ids=["plain", "jit"])
def test_numbers_below_0_have_no_vector(wrapped):
    """Plain, as machine code, and in a run, which says more."""
    words = nn.Embedding(5, 2, key=0)
    with pytest.raises((ad.errors.InputError, IndexError), match=r"from 0 to 4|out of bounds"):
        wrapped(lambda k: words(k))(np.array([1, -1]))
    with pytest.raises(ad.errors.InputError, match="Embedding takes numbers from 0 to 4"):
        ad.train(
            nn.Sequential(words, nn.Flatten(), nn.Dense(4, 1, key=1)),
            losses.squared,
            (np.r_[np.ones((40, 2), int), [[0, -1]]], np.ones((41, 1))),
            ADAM,
        )


def test_counts_below_0_are_none():
    """Said with their place."""
    with pytest.raises(ValueError, match=r"-2 at targets\[1\]"):
        losses.poisson(np.zeros(3), np.array([1, -2, 0]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": {"share": lambda f, y: f.missing}}, "the metric 'share' (<lambda>, test_daily.py:"),
        ({"callbacks": [print, lambda fit: 1 / 0]}, "callbacks[1] (<lambda>, test_daily.py:"),
    ],
    ids=["metric", "callback"],
)
def test_errors_name_the_function(options, words):
    """And where it is written."""
    with pytest.raises((AttributeError, ZeroDivisionError)) as error:
        run(**options)
    assert f"That was in {words}" in error.value.__notes__[0]


def test_errors_name_the_loss():
    """And where it is written."""
    with pytest.raises(ValueError, match="broadcast") as error:
        ad.train(model(), lambda f, y: np.mean(f - y[:5]), (X, Y), ADAM)
    assert "That was in the loss (<lambda>, test_daily.py:" in error.value.__notes__[0]


def test_losses_that_divide_by_the_number_of_examples():
    """Are not shown batches that are filled up: their numbers are those of a loss without weights."""

    def weighted(f, y, sample_weight=1.0):
        return np.mean(sample_weight * np.sum((f - y) ** 2, axis=1))

    def plain(f, y):
        return np.mean(np.sum((f - y) ** 2, axis=1))

    found = [
        ad.train(model(), loss, (X, Y), ADAM, epochs=2, batch_size=8).history["loss"] for loss in (weighted, plain)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12)
