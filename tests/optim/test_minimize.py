"""`minimize`: trees, arguments, why it stops, what it returns, and what cannot be minimised."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim
from adjoint.optim import reuse

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

ALL = [
    optim.sgd(0.1),
    optim.adam(0.1),
    optim.lbfgs(),
    optim.newton(),
    optim.newton(dense=0),
    optim.armijo(),
    optim.wolfe(),
]


def bowl(x):
    return np.sum((x - 1.0) ** 2)


@pytest.mark.parametrize("optimizer", [optim.adam(0.1), optim.lbfgs(), optim.newton(), optim.armijo()])
@pytest.mark.parametrize("jit", [True, False])
def test_trees_and_arguments(optimizer, jit):
    """Parameters in containers, a number among them; data as further arguments; the containers come back."""
    t = np.linspace(0.0, 1.0, 9)

    def loss(p, t, y):
        return np.mean((p["line"][0] * t + p["line"][1] - y) ** 2)

    start = {"line": (0.0, np.zeros(()))}
    found = optim.minimize(loss, start, optimizer, args=(t, 3.0 * t + 1.0), jit=jit, max_steps=2000)
    assert ad.tree.structure(found.x) == ad.tree.structure(start)
    np.testing.assert_allclose(found.x["line"], [3.0, 1.0], atol=1e-3)
    assert isinstance(found.path, list)
    assert len(found.path) == len(found.values) == found.steps + 1


@pytest.mark.parametrize(
    "optimizer", [optim.sgd(0.1, 0.5), optim.adam(0.1), optim.lbfgs(), optim.newton(), optim.wolfe()]
)
def test_float32_stays(optimizer):
    """In the point and along the path."""
    found = optim.minimize(bowl, np.zeros(3, np.float32), optimizer)
    assert found.converged
    assert found.x.dtype == found.path.dtype == np.float32
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_arrays_of_any_shape(shape):
    """Come back in their shape."""
    found = optim.minimize(bowl, np.zeros(shape), optim.lbfgs())
    assert np.shape(found.x) == shape
    assert found.path.shape == (found.steps + 1, *shape)
    np.testing.assert_allclose(found.x, 1.0)


@pytest.mark.parametrize("optimizer", ALL)
def test_already_there(optimizer):
    """No step is taken from the minimum, or on a function that is flat."""
    for f in (bowl, lambda x: 3.0 + 0.0 * np.sum(x)):
        found = optim.minimize(f, np.ones(2), optimizer)
        assert (found.steps, found.gradient_norm, found.converged) == (0, 0.0, True)
        assert found.stopped == "The norm of the gradient is 0, below 1e-06."
        np.testing.assert_array_equal(found.x, 1.0)


@pytest.mark.parametrize("optimizer", [optim.lbfgs(), optim.newton(), optim.wolfe(), optim.sgd(1.0)])
def test_no_lower_bound(optimizer):
    """It is said, and does not take for ever."""
    found = optim.minimize(lambda x: np.sum(x**3), np.array([-1.0, -2.0]), optimizer)
    assert not found.converged
    assert found.stopped.startswith("The value became -")
    assert found.stopped.endswith(f" at step {found.steps}: the function seems to have no lower bound.")


@pytest.mark.parametrize("optimizer", [optim.lbfgs(), optim.newton(), optim.armijo(), optim.wolfe()])
def test_searches_stay_in_the_domain(optimizer):
    """Where the function is nan or inf, a shorter step is tried."""
    found = optim.minimize(lambda x: np.sum(x - np.log(x)), np.array([0.01, 5.0]), optimizer)
    assert found.converged
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)


def test_steps_that_are_too_long():
    """Are named by the value that they lead to."""
    found = optim.minimize(lambda x: np.sum(x**4), np.array([2.0]), optim.sgd(1.0))
    assert found.stopped == f"The value became inf at step {found.steps}: the steps are too long."
    found = optim.minimize(lambda x: -np.sum(np.sqrt(1.0 - x)) - 3.0 * x[0], np.array([0.5]), optim.sgd(0.5))
    assert found.stopped == (
        f"The value became nan at step {found.steps}: the steps are too long, or leave the domain of the function."
    )


SENTENCES = {
    "step": (optim.stop.step(1e-3), "The squared length of the last step is 0.000922, below 0.001."),
    "gradient": (optim.stop.gradient(0.1), "The norm of the gradient is 0.0995, below 0.1."),
    "value": (optim.stop.value(1e-2), "The value changed by 0.0083 in the last step, less than 0.01."),
    "relative": (optim.stop.value(0.0, relative=0.5), "The value changed by 0.72 in the last step, less than 1."),
    "steps": (optim.stop.steps(3), "The 3 steps that were allowed are taken."),
    "or": (optim.stop.steps(3) | optim.stop.gradient(1e-9), "The 3 steps that were allowed are taken."),
    "and": (
        optim.stop.steps(3) & optim.stop.gradient(0.1),
        "The 3 steps that were allowed are taken. The norm of the gradient is 0.0995, below 0.1.",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name):
    """Of every rule, alone and combined."""
    rule, sentence = SENTENCES[name]
    found = optim.minimize(bowl, np.array([2.0, 2.0]), optim.sgd(0.1), stop=rule, max_steps=100)
    assert found.stopped == sentence
    assert found.converged


def test_steps_that_run_out():
    """Are no convergence."""
    found = optim.minimize(bowl, np.array([2.0, 2.0]), optim.sgd(0.1), max_steps=5)
    assert (found.stopped, found.converged, found.steps) == ("The 5 steps that were allowed are taken.", False, 5)


def test_validation_loss():
    """Is looked at every so many steps, with patience; a rule begins anew with every run."""
    rule = optim.stop.validation(lambda x: np.sum((x - 1.5) ** 2), patience=2, every=3)
    for _ in range(2):
        found = optim.minimize(bowl, np.array([3.0]), optim.sgd(0.1), stop=rule)
        assert found.stopped == "The validation loss, 0.00059 at step 6, has not become smaller in 2 looks."
        assert found.steps == 12


def test_the_subgradient_method_returns_the_best_point():
    """Not the last one, with its value."""
    found = optim.minimize(lambda x: np.sum(np.abs(x)), np.array([1.05]), optim.subgradient(0.5), max_steps=30)
    assert found.value == min(found.values)
    assert found.value == np.sum(np.abs(found.x))


def test_large_paths_are_kept_on_request():
    """Points of more than 1,000 numbers are not kept."""
    assert optim.minimize(bowl, np.zeros(1001), optim.lbfgs()).path is None
    assert optim.minimize(bowl, np.zeros(1001), optim.lbfgs(), path=True).path.shape[1] == 1001
    assert optim.minimize(bowl, np.zeros(2), optim.lbfgs(), path=False).path is None


def test_a_second_call_compiles_nothing():
    """With the same function, also with other arguments: it is not even called."""
    reuse.KEPT.clear()
    for optimizer in (optim.lbfgs(), optim.adam(0.1), optim.newton()):

        def loss(x, y):
            return np.sum((x - y) ** 2)

        first = optim.minimize(loss, np.zeros(3), optimizer, args=(np.ones(3),), max_steps=20)
        second = optim.minimize(loss, np.zeros(3), optimizer, args=(2.0 * np.ones(3),), max_steps=20)
        assert first.steps
        assert second.value < 12.0
    made = [f for _, f in reuse.KEPT]
    assert 3 <= len(made) <= 8
    assert all("recordings       1" in str(f.stats()) for f in made)


def test_result_is_printed():
    """With the point, the value, the gradient and the reason; trees and long arrays too."""
    found = optim.minimize(bowl, np.zeros(2), optim.newton())
    assert str(found) == (
        "newton: value 0 after 1 step\n"
        "  x              [1. 1.]\n"
        "  gradient norm  0\n"
        "  stopped        The norm of the gradient is 0, below 1e-06."
    )
    tree = {"b": 0.0, "w": np.zeros(2)}
    found = optim.minimize(lambda p: bowl(p["w"]) + (p["b"] - 3.0) ** 2, tree, optim.newton())
    assert "  x              {'b': 3.0, 'w': array([1., 1.])}\n" in str(found)
    assert "..." in str(optim.minimize(bowl, np.zeros(100), optim.newton()))
    assert "chain(clip, sgd): value" in str(optim.minimize(bowl, 0.0, optim.chain(optim.clip(1.0), optim.sgd(0.1))))


def test_paths_are_drawn():
    """Two parameters over contours; others as values by step; a path that was not kept is asked for."""
    ax = optim.minimize(bowl, np.zeros(2), optim.sgd(0.1)).plot()
    assert ax.get_title() == "sgd, 67 steps"
    assert len(ax.lines) == 4
    matplotlib.pyplot.close(ax.figure)
    ax = optim.minimize(bowl, np.zeros(3), optim.sgd(0.1)).plot()
    assert ax.get_ylabel() == "value above the smallest"
    matplotlib.pyplot.close(ax.figure)
    with pytest.raises(ad.errors.InputError, match="The path was not kept"):
        optim.minimize(bowl, np.zeros(2), optim.sgd(0.1), path=False).plot()
    matplotlib.pyplot.close("all")


def test_nothing_to_start_from_is_lost():
    """The start is not written to, and a run gives the same numbers again."""
    x0 = np.array([-1.2, 1.0])
    first = optim.minimize(bowl, x0, optim.lbfgs())
    second = optim.minimize(bowl, x0, optim.lbfgs())
    np.testing.assert_array_equal(x0, [-1.2, 1.0])
    np.testing.assert_array_equal(first.path, second.path)
    assert math.isfinite(first.value)
