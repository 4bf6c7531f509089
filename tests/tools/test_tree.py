"""`ad.tree`: containers of arrays as trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad


class Pair(NamedTuple):
    one: Any
    two: Any


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any
    name: str = "layer"


TREES = [
    1.0,
    np.arange(3.0),
    [1.0, (2.0, {"a": 3.0})],
    {"b": np.ones((2, 2)), "a": [np.float32(1.0), None]},
    Pair(np.ones(2), [1.0]),
    Layer(np.ones((2, 3)), np.zeros(3)),
    {"layers": [Layer(np.ones((2, 3)), np.zeros(3), "x"), Layer(np.ones((3, 1)), np.zeros(1), "y")]},
    (),
    {},
]


@pytest.mark.parametrize("tree", TREES, ids=lambda t: type(t).__name__)
def test_taking_apart_and_putting_together(tree):
    """flatten and unflatten, ravel and unravel, and map of the identity give the tree back."""
    leaves, structure = ad.tree.flatten(tree)
    assert leaves is not ad.tree.leaves(tree)
    for again in (ad.tree.unflatten(structure, leaves), ad.tree.map(lambda x: x, tree)):
        assert ad.tree.structure(again) == structure
        assert all(a is b for a, b in zip(ad.tree.leaves(again), leaves, strict=True))
    vector, unravel = ad.tree.ravel(tree)
    assert vector.shape == (sum(np.size(x) for x in leaves),)
    for a, b in zip(ad.tree.leaves(unravel(vector)), leaves, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
    assert len(ad.tree.paths(tree)) == len(leaves)


def test_paths_name_every_leaf():
    """Keys, places and attributes, as one would write them."""
    tree = {"layers": [Layer(1.0, 2.0), Pair(3.0, 4.0)], "scale": 5.0}
    assert ad.tree.paths(tree) == ["layers.0.weight", "layers.0.bias", "layers.1.one", "layers.1.two", "scale"]
    assert ad.tree.map_with_path(lambda p, x: p.endswith("bias"), tree)["layers"][0].bias is True


def test_map_of_several_trees_needs_one_structure():
    """Different containers are refused with both outlines."""
    with pytest.raises(ad.errors.InputError, match=r"(?s)same structure.*\{'a': \*\} and \{'b': \*\}"):
        ad.tree.map(lambda x, y: x, {"a": 1.0}, {"b": 1.0})
    assert ad.tree.map(lambda x, y: x + y, [1.0, 2.0], [3.0, 4.0]) == [4.0, 6.0]


def test_unflatten_counts():
    """Too many or too few leaves are refused."""
    with pytest.raises(ad.errors.InputError, match="has 2 leaves"):
        ad.tree.unflatten(ad.tree.structure([1.0, 2.0]), [1.0])


def test_a_number_comes_back_as_one_of_numpys():
    """A leaf keeps its dtype on the way through a vector; that it was Python's own number is not kept."""
    vector, unravel = ad.tree.ravel({"b": 3.0, "w": np.float32(1.0)})
    again = unravel(vector)
    assert type(again["b"]) is np.float64
    assert type(again["w"]) is np.float32


def test_ravel_is_differentiable():
    """Both ways, under grad, jit and vmap."""
    tree = {"w": np.arange(4.0).reshape(2, 2), "b": 2.0}

    def loss(tree):
        vector, unravel = ad.tree.ravel(tree)
        return np.sum(vector**2) + np.sum(unravel(3.0 * vector)["w"])

    for g in (ad.grad(loss)(tree), ad.jit(ad.grad(loss))(tree)):
        np.testing.assert_allclose(g["w"], 2 * tree["w"] + 3)
        np.testing.assert_allclose(g["b"], 4.0)
    vector, unravel = ad.tree.ravel(tree)
    np.testing.assert_allclose(ad.grad(lambda v: loss(unravel(v)))(vector), [4.0, 3.0, 5.0, 7.0, 9.0])
    with pytest.raises(ad.errors.InputError, match="5 numbers"):
        unravel(np.ones(4))
    with pytest.raises(ad.errors.InputError, match="numbers and arrays"):
        ad.tree.ravel({"a": "text"})


def test_register_by_fields_and_by_functions():
    """A class of one's own is a container everywhere."""

    @ad.tree.register(fields=("scale", "shift"))
    class Affine:
        def __init__(self, scale, shift, name):
            self.scale, self.shift, self.name = scale, shift, name

    class Slotted:
        __slots__ = ("label", "x")

        def __init__(self, x, label):
            self.x, self.label = x, label

    ad.tree.register(Slotted, fields=("x",))

    class Pairs:
        def __init__(self, items):
            self.items = items

    ad.tree.register(
        Pairs, lambda p: (list(p.items.values()), tuple(p.items)), lambda k, v: Pairs(dict(zip(k, v, strict=True)))
    )

    def f(a, s, p):
        return a.scale * s.x + a.shift + np.sum(p.items["y"] ** 2)

    args = Affine(2.0, 3.0, "a"), Slotted(5.0, "s"), Pairs({"y": np.array([1.0, 2.0])})
    for grad in (ad.grad(f, (0, 1, 2)), ad.jit(ad.grad(f, (0, 1, 2)))):
        a, s, p = grad(*args)
        assert (a.scale, a.shift, a.name, s.x, s.label) == (5.0, 1.0, "a", 2.0, "s")
        np.testing.assert_allclose(p.items["y"], [2.0, 4.0])
    assert ad.tree.structure(Affine(1.0, 2.0, "a")) != ad.tree.structure(Affine(1.0, 2.0, "b"))


@pytest.mark.parametrize("call", [
    lambda: ad.tree.register(3),
    lambda: ad.tree.register(Pair, fields=(), flatten=lambda x: x),
    lambda: ad.tree.register(Pair),
])  # fmt: skip
def test_register_refuses(call):
    """What is no class, or half a registration."""
    with pytest.raises(ad.errors.InputError):
        call()
