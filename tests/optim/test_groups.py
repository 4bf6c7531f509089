"""Several optimisers for one tree, and patterns of what decays."""

import pickle

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim

RNG = np.random.default_rng(0)
MODEL = nn.MLP([3, 4, 2], key=0)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2))


def stepped(optimizer, params, gradients):
    """The parameters after some steps."""
    state = optimizer.init(params)
    for gradient in gradients:
        step, state = optimizer.update(gradient, state, params)
        params = optim.apply(params, step)
    return params


def test_groups_are_their_parts():
    """Each array goes as it goes with its own optimiser alone, plain and jitted."""
    params = nn.parameters(MODEL)
    gradients = [{name: RNG.normal(size=a.shape) for name, a in params.items()} for _ in range(4)]
    parts = {"layers.1.*": optim.adam(0.1), "matrices": optim.sgd(0.3, momentum=0.9), "*": optim.adamw(0.2)}
    found = stepped(optim.groups(parts), params, gradients)
    owners = {"layers.0.weight": "matrices", "layers.0.bias": "*"}
    for name, array in params.items():
        pattern = owners.get(name, "layers.1.*")
        alone = stepped(parts[pattern], {name: array}, [{name: g[name]} for g in gradients])
        np.testing.assert_array_equal(found[name], alone[name])
    jitted = ad.jit(lambda params, gradients: stepped(optim.groups(parts), params, gradients))
    for _ in range(2):
        for name, array in jitted(params, gradients).items():
            np.testing.assert_allclose(array, found[name], rtol=1e-12)


def test_groups_train_and_travel():
    """In a run, and through a pickle; a group of rate 0 stays bit for bit."""
    groups = optim.groups({"layers.1.*": optim.adam(0.01), "*": optim.sgd(0.0)})
    for optimizer in (groups, pickle.loads(pickle.dumps(groups))):
        fit = ad.train(MODEL, losses.squared, (X, Y), optimizer, epochs=3)
        np.testing.assert_array_equal(fit.model.layers[0].weight, MODEL.layers[0].weight)
        assert fit.history["loss"][-1] < fit.history["loss"][0]


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"layers.0.*": optim.sgd(0.1)}, r"layers.1.* fits none of the groups"),
        ({"*": optim.sgd(0.1), "layers.0.*": optim.sgd(0.2)}, "A group has no parameters"),
        ({"head": optim.sgd(0.1), "*": optim.sgd(0.1)}, "A group has no parameters"),
        ({}, "groups needs a pattern"),
        ({"*": optim.lbfgs()}, "looks at the function of all parameters"),
        ({"*": 0.1}, "groups"),
    ],
    ids=["rest", "taken", "unknown", "none", "vector", "number"],
)
def test_groups_refused(groups, words):
    """With the pattern."""
    with pytest.raises((ad.errors.InputError, TypeError), match=words):
        optim.groups(groups).init(MODEL)


@pytest.mark.parametrize("only", ["*weight", ("layers.0.weight", "layers.1.weight"), ["matrices"], "matrices"], ids=str)
def test_what_decays(only):
    """Patterns, lists of them, and one word for all but biases, in every place that takes them."""
    params = nn.parameters(MODEL)
    zero = {name: np.zeros_like(a) for name, a in params.items()}
    chain = optim.chain(optim.weight_decay(0.5, only=only), optim.sgd(1.0))
    for optimizer in (chain, optim.adamw(1.0, weight_decay=0.5, only=only)):
        step, _ = optimizer.update(zero, optimizer.init(params), params)
        for name, move in step.items():
            np.testing.assert_allclose(move, -0.5 * params[name] if name.endswith("weight") else 0.0, atol=1e-12)
    wanted = sum([np.sum(a**2) for name, a in params.items() if name.endswith("weight")])
    np.testing.assert_allclose(losses.l2(1.0, only=only)(params), wanted)
