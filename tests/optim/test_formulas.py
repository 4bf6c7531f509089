"""First-order optimisers: the numbers of the textbook formulas, written in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from adjoint import optim


def textbook_sgd(w, g, t, s):
    s["v"] = 0.9 * s.get("v", 0.0) - 0.1 * g
    return w + s["v"]


def textbook_nesterov(w, g, t, s):
    """As PyTorch writes it: buffer b, step -rate * (g + momentum * b)."""
    s["b"] = 0.9 * s.get("b", 0.0) + g
    return w - 0.1 * (g + 0.9 * s["b"])


def textbook_adagrad(w, g, t, s):
    s["v"] = s.get("v", 0.0) + g**2
    return w - 0.1 * g / (np.sqrt(s["v"]) + 1e-10)


def textbook_rmsprop(w, g, t, s):
    s["v"] = 0.99 * s.get("v", 0.0) + 0.01 * g**2
    return w - 0.1 * g / (np.sqrt(s["v"]) + 1e-8)


def textbook_centered(w, g, t, s):
    """RMSProp with momentum and the variance, as PyTorch writes it."""
    s["v"] = 0.99 * s.get("v", 0.0) + 0.01 * g**2
    s["m"] = 0.99 * s.get("m", 0.0) + 0.01 * g
    s["b"] = 0.5 * s.get("b", 0.0) + g / (np.sqrt(s["v"] - s["m"] ** 2) + 1e-8)
    return w - 0.1 * s["b"]


def textbook_adam(w, g, t, s, decay=0.0):
    s["m"] = 0.9 * s.get("m", 0.0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0.0) + 0.001 * g**2
    m, v = s["m"] / (1 - 0.9**t), s["v"] / (1 - 0.999**t)
    return w - 0.1 * decay * w - 0.1 * m / (np.sqrt(v) + 1e-8)


def textbook_adamw(w, g, t, s):
    return textbook_adam(w, g, t, s, decay=0.01)


def textbook_lion(w, g, t, s):
    m = s.get("m", 0.0)
    s["m"] = 0.99 * m + 0.01 * g
    return w - 0.1 * (np.sign(0.9 * m + 0.1 * g) + 0.2 * w)


def textbook_subgradient(w, g, t, s):
    return w - 0.1 / np.sqrt(t) * g


def textbook_chain(w, g, t, s):
    """Clipped, shortened, with decay, half the step."""
    g = np.clip(g, -3.0, 3.0)
    g = g * min(1.0, 2.0 / np.linalg.norm(g)) + 0.3 * w
    return w - 0.5 * 0.1 * g


CASES = {
    "sgd": (optim.sgd(0.1, momentum=0.9), textbook_sgd),
    "nesterov": (optim.sgd(0.1, momentum=0.9, nesterov=True), textbook_nesterov),
    "plain": (optim.sgd(0.1), lambda w, g, t, s: w - 0.1 * g),
    "adagrad": (optim.adagrad(0.1), textbook_adagrad),
    "rmsprop": (optim.rmsprop(0.1), textbook_rmsprop),
    "centered": (optim.rmsprop(0.1, momentum=0.5, centered=True), textbook_centered),
    "adam": (optim.adam(0.1), textbook_adam),
    "adamw": (optim.adamw(0.1), textbook_adamw),
    "lion": (optim.lion(0.1, weight_decay=0.2), textbook_lion),
    "subgradient": (optim.subgradient(0.1), textbook_subgradient),
    "chain": (
        optim.chain(
            optim.clip(3.0), optim.clip_by_norm(2.0), optim.weight_decay(0.3), optim.sgd(0.1), optim.scale(0.5)
        ),
        textbook_chain,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_the_formula(name):
    """Over twenty steps with random gradients."""
    optimizer, textbook = CASES[name]
    rng = np.random.default_rng(0)
    w = expected = rng.normal(size=5)
    state, memory = optimizer.init(w), {}
    for t in range(1, 21):
        g = 3.0 * rng.normal(size=5)
        step, state = optimizer.update(g, state, w, value=1.0)
        w = optim.apply(w, step)
        expected = textbook(expected, g, t, memory)
        np.testing.assert_allclose(w, expected, rtol=1e-11, atol=1e-13)


def test_velocity_keeps_the_rate_it_was_made_with():
    """The mission's g_t = -eta grad + lambda g_(t-1), with a rate that changes."""
    optimizer = optim.sgd(lambda count: 1.0 / (count + 1), momentum=0.5)
    state = optimizer.init(np.zeros(1))
    step, state = optimizer.update(np.ones(1), state)
    assert step == -1.0
    step, state = optimizer.update(np.ones(1), state)
    assert step == 0.5 * -1.0 - 0.5


def test_only_some_parameters_decay():
    """By a pattern of paths, in adamw, lion and weight_decay."""
    params = {"bias": np.ones(2), "weight": np.ones(2)}
    nothing = {"bias": np.zeros(2), "weight": np.zeros(2)}
    for optimizer in (
        optim.adamw(0.1, weight_decay=0.5, only="*weight"),
        optim.lion(0.1, weight_decay=0.5, only="*weight"),
        optim.chain(optim.weight_decay(0.5, only="*weight"), optim.sgd(0.1)),
    ):
        step, _ = optimizer.update(nothing, optimizer.init(params), params)
        np.testing.assert_array_equal(step["bias"], 0.0)
        np.testing.assert_allclose(step["weight"], -0.05)


def test_gradients_too_long_to_measure_give_no_step():
    """As `clip_by_norm` says of a norm that overflows."""
    with np.errstate(over="ignore"):
        step, _ = optim.clip_by_norm(1.0).update(np.full(3, 1e200), ())
    np.testing.assert_array_equal(step, 0.0)


def test_subgradient_keeps_the_best_point():
    """With its value, in the state."""
    optimizer = optim.subgradient(0.1)
    w = np.array([1.0, 2.0])
    state = optimizer.init(w)
    for value, point in ((3.0, w), (1.0, w + 1), (2.0, w + 2)):
        _, state = optimizer.update(np.ones(2), state, point, value=value)
    assert state["best_value"] == 1.0
    np.testing.assert_array_equal(state["best"], w + 1)


def test_normalized_subgradients_have_the_length_of_the_rate():
    """Whatever the subgradient's; one that is 0 stays 0."""
    optimizer = optim.subgradient(0.1, normalize=True)
    state = optimizer.init(np.zeros(2))
    step, _ = optimizer.update(np.array([30.0, 40.0]), state, np.zeros(2), value=1.0)
    np.testing.assert_allclose(step, [-0.06, -0.08])
    step, _ = optimizer.update(np.zeros(2), state, np.zeros(2), value=1.0)
    np.testing.assert_array_equal(step, 0.0)
