"""The law of single precision, for all layers, losses and optimizers.

What is computed from float32 is float32: values, gradients, statistics, and what an optimizer makes of them; and it is
what double precision gives for the same numbers, to 1e-5 of the largest number of an array. (An array of slopes that
is 0 but for rounding, as that of the bias of keys in attention, is held against a tenth of the largest of all arrays.)
"""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.nn.walking import layers
from tests.losses.test_losses import CASES as LOSSES
from tests.nn.test_laws_of_layers import cases, normal

FUNCTIONS = {"elu", "gelu", "identity", "leaky_relu", "log_softmax", "relu", "sigmoid", "silu", "softmax", "softplus"}
FUNCTIONS |= {"tanh", "attention", "rotary"}


def embedded(x):
    """Labels of a row of numbers."""
    return np.argsort(x, axis=-1)


MODELS = {name: (model, np.float32(x)) for name, (model, x) in cases(np.float32).items()}
OWN = {"key": 0, "dtype": np.float32}
MODELS |= {
    "Embedding": (nn.Sequential(embedded, nn.Embedding(3, 2, **OWN)), np.float32(normal(4, 3))),
    "Flatten": (nn.Sequential(nn.Flatten(), nn.Dense(6, 2, **OWN)), np.float32(normal(4, 3, 2))),
    "Function": (nn.Function(lambda p, x: np.tanh(x @ p), np.float32(normal(3, 2))), np.float32(normal(4, 3))),
    "RNN and GRU": (
        nn.Sequential(nn.Recurrent(nn.RNNCell(2, 3, **OWN)), nn.Recurrent(nn.GRUCell(3, 2, **OWN), reverse=True)),
        np.float32(normal(4, 5, 2)),
    ),
    **{
        name: (nn.Activation(getattr(nn, name)), np.float32(normal(4, 3)))
        for name in sorted(FUNCTIONS - {"attention", "rotary"})
    },
    "rotary": (nn.Activation(nn.rotary), np.float32(normal(4, 7, 6))),
    "attention": (nn.Activation(lambda x: nn.attention(x, x, x, causal=True)), np.float32(normal(4, 7, 6))),
}


def double(tree):
    """The same numbers in double precision."""
    return ad.tree.map(lambda a: a.astype(np.float64) if getattr(a, "dtype", None) == np.float32 else a, tree)


def agree(found, wanted, name=""):
    """Every array of `found` is float32, and as near to `wanted` as its largest number allows."""
    largest = max([np.max(np.abs(b), initial=0.0) for b in ad.tree.leaves(wanted)], default=0.0)
    pairs = zip(ad.tree.leaves(found), ad.tree.leaves(wanted), strict=True)
    for path, (a, b) in zip(ad.tree.paths(found), pairs, strict=True):
        assert a.dtype == np.float32, (name, path)
        assert np.asarray(b).dtype == np.float64, (name, path)
        size = np.max(np.abs(b), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-5 * max(size, 0.1 * largest), err_msg=f"{name} {path}")


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", MODELS)
def test_layers(name, jit):
    """Value, statistics and gradient of each, in inference and in training."""
    model, x = MODELS[name]

    def loss(model, x, key):
        y, new = nn.training(model, x, key)
        return np.mean(np.sin(2.0 * y + 0.5)), (y, nn.statistics(new))

    step = ad.value_and_grad(loss, argnums=(0, 1), has_aux=True)
    step = ad.jit(step) if jit else step
    key = ad.random.key(1)
    agree(model(x), double(model)(double(x)), name)
    found, wanted = step(model, x, key), step(double(model), double(x), key)
    for single, wide in zip(
        (found[0][0], *found[0][1], *found[1]), (wanted[0][0], *wanted[0][1], *wanted[1]), strict=True
    ):
        agree(single, wide, name)


def test_no_layer_is_left_out():
    """Each class of `nn` with a call stands in a model above, and each of its functions of arrays."""
    seen = {type(part).__name__ for model, _ in MODELS.values() for _, part in layers(model)}
    seen |= {type(model).__name__ for model, _ in MODELS.values()}
    seen |= {type(getattr(part, "cell", None)).__name__ for model, _ in MODELS.values() for _, part in layers(model)}
    classes = {name for name in nn.__all__ if isinstance(getattr(nn, name), type)}
    assert classes - seen == {"KeyValueCache"}  # which is not called; its dtype is that of the block that makes it
    assert set(MODELS) >= FUNCTIONS


R = np.random.default_rng(11)
PAIRS = {name: (loss, np.float32(outputs), targets) for name, (loss, outputs, targets) in LOSSES.items()}
PAIRS |= {
    "info_nce": (partial(losses.info_nce, symmetric=True), np.float32(R.normal(size=(6, 4))), R.normal(size=(6, 4))),
    "dice": (losses.dice, np.float32(R.normal(size=(6, 4, 5))), R.integers(0, 2, size=(6, 4, 5))),
    "dice of classes": (losses.dice, np.float32(R.normal(size=(6, 4, 3))), R.integers(0, 3, size=(6, 4))),
}
REGULARIZERS = {
    "l1": losses.l1(0.1),
    "l2": losses.l2(0.1),
    "elastic": losses.elastic(0.1, 0.2),
    "gaussian_prior": losses.gaussian_prior(0.5, n=10),
    "laplace_prior": losses.laplace_prior(0.5, n=10),
}


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", PAIRS)
def test_losses(name, jit):
    """Value and gradient; targets are of any dtype."""
    loss, outputs, targets = PAIRS[name]
    step = ad.value_and_grad(loss)
    step = ad.jit(step) if jit else step
    single = np.float32(targets) if targets.dtype == np.float64 else targets
    agree(
        step(outputs, targets), step(double(outputs), np.float64(targets) if single is not targets else targets), name
    )


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", REGULARIZERS)
def test_regularizers(name, jit):
    """Value and gradient."""
    params = {"w": np.float32(R.normal(size=(3, 4))), "b": np.float32(R.normal(size=4))}
    step = ad.value_and_grad(REGULARIZERS[name])
    step = ad.jit(step) if jit else step
    agree(step(params), step(double(params)), name)


def test_no_loss_is_left_out():
    """Each function of `losses`, but those that check, estimate or report."""
    others = {"check_labels", "check_targets", "empirical_risk", "estimate_sigma", "generalization_gap", "zero_one"}
    names = {name.split(",")[0].split(" ")[0] for name in (*PAIRS, *REGULARIZERS)}
    assert set(losses.__all__) - others - names == set()
    outputs, labels = np.float32(R.normal(size=(6, 4))), R.integers(0, 4, 6)
    assert losses.zero_one(outputs, labels).dtype == np.float32
    assert losses.estimate_sigma(outputs, np.float32(R.normal(size=(6, 4)))).dtype == np.float32
    assert losses.empirical_risk(lambda x: x, losses.cross_entropy, outputs, labels).dtype == np.float32


FIRST_ORDER = {
    "sgd": optim.sgd(0.1, momentum=0.9, nesterov=True),
    "subgradient": optim.subgradient(0.1),
    "adam": optim.adam(0.1),
    "adamw": optim.adamw(0.1, weight_decay=0.1),
    "lion": optim.lion(0.01),
    "adagrad": optim.adagrad(0.1),
    "rmsprop": optim.rmsprop(0.1, momentum=0.5, centered=True),
    "chain": optim.chain(optim.clip(1.0), optim.clip_by_norm(0.1), optim.weight_decay(0.1), optim.sgd(0.1)),
    "scale": optim.chain(optim.scale(0.5), optim.sgd(optim.schedule.cosine(0.1, steps=9))),
    "for_steps": optim.for_steps(optim.sgd(optim.schedule.cosine(0.1, steps="run")), 9),
    "groups": optim.groups({"*bias": optim.sgd(0.1), "*": optim.adam(0.01)}),
}


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", FIRST_ORDER)
def test_steps_of_first_order(name, jit):
    """Two steps on a model: parameters and all real numbers of the state."""
    optimizer, model = FIRST_ORDER[name], nn.MLP([3, 5, 2], "tanh", **OWN)
    x, y = np.float32(normal(8, 3)), np.float32(normal(8, 2))
    params, rebuild = nn.partition(model)

    def step(params, state, x, y):
        value, slopes = ad.value_and_grad(lambda p: losses.squared(rebuild(p)(x), y))(params)
        change, state = optimizer.update(slopes, state, params, value=value)
        return optim.apply(params, change), state

    step = ad.jit(step) if jit else step
    single, wide = (params, optimizer.init(params)), (double(params), optimizer.init(double(params)))
    for _ in range(2):
        single, wide = step(*single, x, y), step(*wide, double(x), double(y))
    agree(single[0], wide[0], name)
    state = [leaf for leaf in ad.tree.leaves(single[1]) if np.asarray(leaf).dtype.kind == "f" and np.ndim(leaf)]
    assert all([leaf.dtype == np.float32 for leaf in state])


SEARCHES = {
    "armijo": optim.armijo(),
    "wolfe": optim.wolfe(),
    "exact": optim.exact(),
    "lbfgs": optim.lbfgs(),
    "newton": optim.newton(),
    "natural_gradient": optim.natural_gradient(0.5, metric=lambda x: np.eye(3, dtype=x.dtype)),
    "gauss_newton": optim.gauss_newton(),
    "levenberg_marquardt": optim.levenberg_marquardt(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_step_that_looks_at_the_function(name):
    """One step of each search, from numbers in single precision."""

    def residuals(x):
        return np.stack([np.sin(x[0]) - x[1], x[1] * x[2] - 1.0, x[2] ** 2 + x[0]])

    def value(x):
        return np.sum(residuals(x) ** 2)

    function = residuals if name in ("gauss_newton", "levenberg_marquardt") else value
    start = np.array([0.3, -0.4, 0.8], np.float32)
    single = optim.minimize(function, start, SEARCHES[name], max_steps=1)
    wide = optim.minimize(function, double(start), SEARCHES[name], max_steps=1)
    assert single.x.dtype == np.float32
    assert not np.array_equal(single.x, start)
    agree(single.x, wide.x, name)


def test_no_optimizer_is_left_out():
    """Each function of `optim` that makes one; parts of a chain stand in the chain."""
    makers = [name for name in optim.__all__ if _returns(getattr(optim, name)) == "Optimizer"]
    assert "adam" in makers
    assert set(makers) - {"clip", "clip_by_norm", "weight_decay"} == set(FIRST_ORDER) | set(SEARCHES)


def _returns(made):
    """What the signature of a function says."""
    return getattr(made, "__annotations__", {}).get("return") if inspect.isfunction(made) else None
