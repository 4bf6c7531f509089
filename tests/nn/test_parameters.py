"""Names of arrays, partition and rebuild, freezing, replacing, sharing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

MODEL = nn.MLP([2, 3, 1], norm="batch", key=0)


def test_names():
    """Paths with dots, in the order of the leaves; statistics apart."""
    assert list(nn.parameters(MODEL)) == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
        "norms.0.scale",
        "norms.0.shift",
    ]
    assert list(nn.statistics(MODEL)) == ["norms.0.mean", "norms.0.variance"]


def test_any_tree_is_a_model():
    """Dicts, lists, named tuples and bare arrays too; whole numbers are not trained, numbers of dataclasses neither."""

    @dataclasses.dataclass(frozen=True)
    class Own:
        weight: np.ndarray
        rate: float
        steps: np.ndarray = nn.statistic()  # noqa: RUF009  (it is a field)

    w = np.ones(2)
    tree = {"b": [w + 1, np.arange(3)], "a": Own(w, 0.5, w + 2), "c": np.float32(4.0)}
    assert list(nn.parameters(tree)) == ["a.weight", "b.0", "c"]
    assert list(nn.statistics(tree)) == ["a.steps", "b.1"]
    assert nn.parameters(w)[""] is w


def test_count_of_a_dense_layer():
    """c'(c + 1)."""
    assert sum([p.size for p in nn.parameters(nn.Dense(7, 5, key=0)).values()]) == 5 * (7 + 1)


def test_rebuild_is_the_way_back():
    """The same arrays in the same places; statistics as they were, or new ones, also in part."""
    params, rebuild = nn.partition(MODEL)
    same = rebuild(params)
    assert ad.tree.structure(same) == ad.tree.structure(MODEL)
    assert all([a is b for a, b in zip(ad.tree.leaves(same), ad.tree.leaves(MODEL), strict=True)])
    new = rebuild({name: p + 1 for name, p in params.items()}, {"norms.0.mean": np.full(3, 7.0)})
    np.testing.assert_array_equal(new.layers[1].bias, MODEL.layers[1].bias + 1)
    np.testing.assert_array_equal(new.norms[0].mean, [7, 7, 7])
    assert new.norms[0].variance is MODEL.norms[0].variance


def test_the_order_of_a_dict_does_not_matter():
    """`ad.tree` sorts the keys of dicts."""
    params, rebuild = nn.partition(MODEL)
    back = rebuild(dict(sorted(params.items(), reverse=True)))
    assert back.layers[0].weight is MODEL.layers[0].weight


def test_partition_of_traced_values():
    """Inside jit and inside a gradient, of a model that is an argument."""
    x = np.ones((4, 2))

    def loss(model):
        params, rebuild = nn.partition(model, freeze="layers.0.*")
        return sum([np.sum(p**2) for p in params.values()]) + np.sum(rebuild(params)(x))

    plain = ad.grad(loss)(MODEL)
    compiled = ad.jit(ad.grad(loss))
    for found in (compiled(MODEL), compiled(MODEL)):
        for a, b in zip(ad.tree.leaves(found), ad.tree.leaves(plain), strict=True):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize(
    ("freeze", "left"),
    [
        ("layers.0.*", ["layers.1.weight", "layers.1.bias", "norms.0.scale", "norms.0.shift"]),
        (["*.weight", "norms.*"], ["layers.0.bias", "layers.1.bias"]),
        ("*", []),
        ((), list(nn.parameters(MODEL))),
    ],
)
def test_freezing(freeze, left):
    """What fits a pattern is left out, and stays as it is."""
    params, rebuild = nn.partition(MODEL, freeze)
    assert list(params) == left
    new = nn.parameters(rebuild({name: p + 1 for name, p in params.items()}))
    for name, p in nn.parameters(MODEL).items():
        np.testing.assert_array_equal(new[name], p + 1 if name in left else p)


def test_replacing():
    """Shapes are checked, dtypes are kept, the old model stays."""
    model = nn.Dense(2, 1, key=0, dtype=np.float32)
    new = nn.replace(model, {"weight": [[1.0], [2.0]], "bias": np.array([3.0])})
    assert new(np.ones(2, np.float32)) == 6.0
    assert new.weight.dtype == np.float32
    assert model.bias[0] == 0.0
    assert nn.replace(nn.BatchNorm(2), {"mean": [1.0, 2.0]}).mean.tolist() == [1.0, 2.0]


def test_sharing():
    """One parameter in two places: its gradient is the sum, and it moves in both."""
    model = nn.share(nn.MLP([3, 3, 3], "tanh", key=0), "layers.1.weight", "layers.0.weight")
    params, rebuild = nn.partition(model)
    assert list(params) == ["layers.0.weight", "layers.0.bias", "layers.1.bias"]
    x = np.arange(3.0)

    def apart(first, second):
        return np.sum((np.tanh(x @ first) @ second) ** 2)

    one, two = ad.grad(apart, argnums=(0, 1))(params["layers.0.weight"], params["layers.0.weight"])
    found = ad.jit(ad.grad(lambda p: np.sum(rebuild(p)(x) ** 2)))(params)["layers.0.weight"]
    np.testing.assert_allclose(found, one + two)
    new = rebuild({**params, "layers.0.weight": np.eye(3)})
    assert new.layers[0].weight is new.layers[1].weight
    again = nn.replace(new, {"layers.1.weight": np.zeros((3, 3))})
    assert again.layers[0].weight is again.layers[1].weight
    assert list(nn.parameters(again)) == list(params)


def test_a_function_of_a_dict_is_a_model():
    """`nn.Function`, with derivatives in its parameters."""
    model = nn.Function(lambda p, x: x @ p["w"] + p["b"], {"w": np.ones(2), "b": np.array(0.5)})
    assert list(nn.parameters(model)) == ["params.b", "params.w"]
    params, rebuild = nn.partition(model)
    gradient = ad.jit(ad.grad(lambda p: rebuild(p)(np.array([3.0, 4.0]))))(params)
    assert gradient["params.w"].tolist() == [3.0, 4.0]
    y, same = nn.training(model, np.array([3.0, 4.0]))
    assert y == 7.5
    assert same is model


def test_single_numbers_stay_parameters():
    """An update makes NumPy's numbers of arrays without axes, which are parameters still."""
    params = nn.parameters({"b": np.array(0.5) - 0.1})
    assert list(params) == ["b"]


def test_layers_with_the_same_settings_have_the_same_structure():
    """So that jit needs one recording for all of them."""
    f = ad.jit(lambda model, x: model(x))
    for seed in range(3):
        f(nn.MLP([2, 3, 1], "tanh", dropout=0.5, key=seed), np.ones(2))
    assert "recordings       1" in str(f.stats())
