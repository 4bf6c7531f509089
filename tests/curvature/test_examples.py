"""The Fisher matrix one example at a time: for models that treat each example by itself, and not for others."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms.curvature import examples

random = np.random.default_rng(0)
X = random.normal(size=(6, 3))
P = {"w": random.normal(size=(3, 2)), "b": np.zeros(2), "s": np.array([0.0])}


def plain(p, X):
    return np.tanh(X @ p["w"] + p["b"]) * (1.0 + p["s"])


def coupled_at_zero(p, X):  # no different at s = 0, but its derivative is
    return plain(p, X) + p["s"] * np.mean(X, axis=0)[:2]


def normalised(p, X):
    z = plain(p, X)
    return (z - np.mean(z, axis=0)) / (np.std(z, axis=0) + 1.0)


def branching(p, X):
    return plain(p, X) if np.sum(X) > 0.0 else plain(p, -X)


def square(p, X):  # as many examples as features: the weights look like examples
    return np.tanh(X[:3] @ p["w"]) + p["s"] + p["b"]


def dependent(p, X):
    return np.cumsum(plain(p, X), axis=0)


MODELS = [plain, coupled_at_zero, normalised, branching, square, dependent]


def wanted(model, X, likelihood):
    vector, rebuild = ad.tree.ravel(P)
    z = model(P, X)
    J = ad.jacobian(lambda v: model(rebuild(v), X))(vector)
    if likelihood == "gaussian":
        return np.einsum("nkp,nkq->pq", J, J) / len(z)
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    H = p[:, :, None] * np.eye(2) - p[:, :, None] * p[:, None, :]
    return np.einsum("nkp,nkl,nlq->pq", J, H, J) / len(z)


@pytest.mark.parametrize("likelihood", ["gaussian", "categorical"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_any_model(model, likelihood):
    """The same as from the Jacobian of all examples together, plain, jitted and in a batch."""
    fisher = ad.curvature.fisher(model, likelihood)
    np.testing.assert_allclose(fisher(P, X), wanted(model, X, likelihood), rtol=1e-9, atol=1e-12)
    jitted = ad.jit(fisher)
    for inputs in (X, 0.5 * X, np.zeros((6, 3))):
        np.testing.assert_allclose(jitted(P, inputs), wanted(model, inputs, likelihood), rtol=1e-9, atol=1e-12)
    if model is not branching:
        found = ad.vmap(fisher, (None, 0))(P, np.stack([X, 2.0 * X]))
        np.testing.assert_allclose(found[1], wanted(model, 2.0 * X, likelihood), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_gradients_of_examples(model):
    """The empirical matrix, and that of each example."""
    vector, rebuild = ad.tree.ravel(P)
    z = model(P, X)
    targets = random.normal(size=z.shape)
    J = ad.jacobian(lambda v: model(rebuild(v), X))(vector)
    g = np.einsum("nk,nkp->np", z - targets, J)
    found = ad.curvature.fisher(model, "gaussian", empirical=True, per_sample=True)(P, X, targets)
    np.testing.assert_allclose(found, g[:, :, None] * g[:, None, :], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        ad.jit(ad.curvature.fisher(model, "gaussian", empirical=True))(P, X, targets),
        g.T @ g / len(z),
        rtol=1e-9,
        atol=1e-12,
    )


def test_one_at_a_time_where_it_can_be(monkeypatch):
    """It is tried where there are many examples, and taken only if the model treats each by itself."""
    taken = {}
    alone = examples._one_at_a_time

    def noted(outputs, params, inputs, at):
        found = alone(outputs, params, inputs, at)
        taken[name] = found is not None
        return found

    monkeypatch.setattr(examples, "_one_at_a_time", noted)
    for model in MODELS:
        name = model.__name__
        ad.curvature.fisher(model, "gaussian")(P, X)
    assert taken == {"plain": True, "coupled_at_zero": False, "normalised": False, "branching": False, "square": False,
                     "dependent": False}  # fmt: skip


def test_its_derivative():
    """The way that is taken is differentiated as the other would be."""
    found = ad.grad(lambda w: np.sum(ad.curvature.fisher(plain, "gaussian")({**P, "w": w}, X) ** 2))(P["w"])
    other = ad.grad(lambda w: np.sum(ad.curvature.pullback_metric(lambda p: plain(p, X))({**P, "w": w}) ** 2) / 36.0)(
        P["w"]
    )
    np.testing.assert_allclose(found, other, rtol=1e-10)
