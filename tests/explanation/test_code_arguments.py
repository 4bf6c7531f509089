"""The arguments of a source: unpacked, read as data, or checked to be what they were."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.explanation.explain import explain
from adjoint.ops.declare import CATALOGUE
from tests.explanation.code_examples import VECTOR, rng
from tests.explanation.code_running import agree, alone, check, code_of, source_of


class Pair(NamedTuple):
    """Two parameters."""

    left: np.ndarray
    right: float


@dataclasses.dataclass
class Layer:
    """Two parameters, by name."""

    weights: np.ndarray
    bias: float


def net(p, x):
    h = np.tanh(p["W"] @ x + p["b"])
    return (p["v"] @ h) ** 2


PARAMETERS = {"W": rng.normal(size=(4, 3)), "b": np.zeros(4), "v": rng.normal(size=4)}


def test_containers():
    """Arguments in dicts are unpacked, and the gradient comes back in dicts."""
    source = check(net, (PARAMETERS, VECTOR), ({k: v + 0.1 for k, v in PARAMETERS.items()}, VECTOR + 0.1))
    assert "W = p['W']" in source
    assert "return net, ({'W': d_W, 'b': d_b, 'v': d_v}, d_x)" in source


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda p: p[0] * np.sum(p[1]), [2.0, VECTOR]),
        (lambda p: p[0] * p[1][0], (2.0, [3.0])),
        (lambda p: p.right * np.sum(p.left), Pair(VECTOR, 2.0)),
    ],
    ids=["list", "nested tuple", "named tuple"],
)
def test_other_containers(function, given):
    """Lists and tuples, in one argument."""
    value, gradient = alone(source_of(function, given))(given)
    agree(value, function(given))
    assert len(gradient) == 2
    agree(tuple(gradient), tuple(ad.grad(function)(given)))


def test_a_dataclass_is_read_by_its_fields():
    """The gradient of a dataclass is a dict of its fields, as its class is not there."""
    given = Layer(VECTOR, 2.0)
    _, gradient = alone(source_of(lambda p: p.bias * np.sum(p.weights), given))(given)
    agree(gradient, {"bias": np.float64(np.sum(VECTOR)), "weights": np.full(3, 2.0)})


def test_several_arguments_of_one_name():
    """`*xs` takes as many arguments as the function was called with."""
    check(lambda *xs: xs[0] * xs[1], (2.0, 3.0), (1.0, 5.0))


@dataclasses.dataclass
class Model:
    """Parameters with settings."""

    weight: float
    order: int
    activation: str = "tanh"
    solver: Any = None


def test_the_parameter_of_a_dataclass_has_its_name():
    """Fields are read from the parameter that the function has."""
    source = source_of(lambda p, x: p.bias * x * np.sum(p.weights), Layer(VECTOR, 2.0), 3.0)
    assert "def f_and_gradient(p, x):" in source
    assert "    weights = p.weights\n    bias = p.bias\n" in source


@pytest.mark.parametrize(
    ("value", "other", "told"),
    [
        (3, 4, "n = 3"),
        (True, False, "n = True"),
        (None, 2, "n = None"),
        ("a'b", "b", 'n = "a\'b"'),
        (b"a", b"b", "n = b'a'"),
        (slice(0, 2), slice(0, 3), "n = slice(0, 2, None)"),
        (np.int64(3), np.int64(4), "n = 3"),
        ([1, 2], [1, 3], "n[1] = 2"),
        ([1, 2], [1, 2, 3], "n of length 2"),
        ({"a": 1}, {"b": 1}, "n with the keys ['a'] in this order"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "n with the keys ['a', 'b'] in this order"),
        (np.array(["a", "b"]), np.array(["a", "c"]), "another n"),
    ],
    ids=str,
)
def test_settings_are_checked(value, other, told):
    """What is no real number is a parameter that has to be what it was, also inside of containers."""

    def function(x, n):
        return x * (1.0 + len(repr(n)))

    written = alone(source_of(function, 1.5, value))
    agree(written(2.5, value)[0], function(2.5, value))
    with pytest.raises(ValueError, match="recorded for") as error:
        written(1.5, other)
    assert str(error.value) == f"recorded for {told}"
    inside = alone(source_of(lambda p: function(p["x"], p["n"]), {"x": 1.5, "n": value}))
    agree(inside({"x": 2.5, "n": value})[0], function(2.5, value))
    with pytest.raises(ValueError, match=r"recorded for .*p\['n'\]"):
        inside({"x": 1.5, "n": other})


def test_whole_numbers_in_a_container():
    """A power is not silently that of the recording."""
    source = source_of(lambda p: p["w"] ** p["n"], {"w": 1.5, "n": 3})
    assert "    if p['n'] != 3:\n        raise ValueError(\"recorded for p['n'] = 3\")\n" in source
    with pytest.raises(ValueError, match="recorded for"):
        alone(source)({"w": 1.5, "n": 4})


def test_settings_of_a_dataclass():
    """Its text and whole numbers are checked; of what cannot be, the docstring tells."""
    source = source_of(lambda p: np.tanh(p.weight) ** p.order, Model(0.5, 2, solver=np.linalg.solve))
    agree(alone(source)(Model(0.7, 2))[0], np.tanh(0.7) ** 2)
    assert "These have to be what they were, which is not checked: p.solver." in source
    for other in (Model(0.5, 3), Model(0.5, 2, "relu")):
        with pytest.raises(ValueError, match=r"recorded for p\."):
            alone(source)(other)


def loss(w, X, y, scale=1.0, kind="squares"):
    r = X @ w - y
    return scale * (np.sum(r**2) if kind == "squares" else np.sum(np.abs(r))) / len(y)


DATA = (rng.normal(size=(4, 2)), np.array([0, 1, 1, 0]))
OTHER = (rng.normal(size=(4, 2)), np.array([1, 1, 0, 2]))
WEIGHTS = np.array([0.5, -1.0])


@pytest.mark.parametrize("keywords", [{}, {"scale": 2.0, "kind": "squares"}], ids=["plain", "keywords"])
def test_data_are_read(keywords):
    """What is not differentiated is not frozen: other arrays and numbers give other results."""
    source = code_of(explain(loss, 0)(WEIGHTS, *DATA, **keywords))
    assert f"def loss_and_gradient(w, X, y{', *, scale, kind' if keywords else ''}):" in source
    other = {**keywords, "scale": 3.0} if keywords else {}
    for point, words in (((WEIGHTS, *DATA), keywords), ((WEIGHTS + 1, *OTHER), other)):
        agree(alone(source)(*point, **words), ad.value_and_grad(loss)(*point, **words), rtol=1e-14)
    with pytest.raises(ValueError, match=r"recorded for w of shape \(2,\), X of shape \(4, 2\), y of shape \(4,\)"):
        alone(source)(WEIGHTS, DATA[0][:3], DATA[1][:3], **keywords)
    if keywords:
        with pytest.raises(ValueError, match="recorded for kind = 'squares'"):
            alone(source)(WEIGHTS, *DATA, scale=2.0, kind="other")


def test_what_is_not_differentiated_is_none():
    """An integer array has no gradient, and is read."""
    source = source_of(net, PARAMETERS, np.array([1, 2, 3]))
    assert source.rstrip().endswith("({'W': d_W, 'b': d_b, 'v': d_v}, None)")
    for x in (np.array([1, 2, 3]), np.array([0, 1, -1])):
        agree(alone(source)(PARAMETERS, x)[1][0], ad.grad(net)(PARAMETERS, x))


def test_places_and_masks_are_read():
    """Integer arrays as indices and truth values as masks are data; the number of what they select is not."""
    for given, other in (([0, 2], [1, 1]), ([True, False, True], [True, True, False])):
        source = source_of(lambda x, i: np.sum(x[i] ** 2), VECTOR, np.array(given))
        for i in (np.array(given), np.array(other)):
            agree(alone(source)(VECTOR, i)[1][0], ad.grad(lambda x, i: np.sum(x[i] ** 2))(VECTOR, i))
    with pytest.raises(ValueError, match="recorded for a result of shape"):
        alone(source)(VECTOR, np.array([True, True, True]))


def test_what_is_computed_and_decided_of_data_is_seen():
    """Means, parts and branches of data follow them, or are refused."""

    def hidden(w, X):
        return np.sum(w) * np.mean(X) + np.sum(w * X[:2]) if X[0] > 0 else np.sum(w)

    written = alone(code_of(explain(hidden, 0)(WEIGHTS, np.array([1.0, 2.0, 3.0]))))
    other = np.array([4.0, 1.0, 1.0])
    agree(written(WEIGHTS, other), ad.value_and_grad(hidden)(WEIGHTS, other))
    with pytest.raises(ValueError, match="recorded for another branch"):
        written(WEIGHTS, -other)


def test_data_that_have_to_be_plain_are_checked():
    """A function that looks at the bytes of an array is right for this array alone."""

    def hashed(w, X):
        return np.sum(w) * (1 + len(set(X.tobytes())))

    for data in (np.array([1.0, 2.0, 3.0, 5.0, 7.0]), np.array([1.0, np.nan, 3.0, 4.0, 4.0]), rng.normal(size=200)):
        source = code_of(explain(hashed, 0)(WEIGHTS, data))
        assert list(source.arrays) == ["recorded_X"] * (data.size > 100)
        agree(alone(source)(WEIGHTS, data, **source.arrays), ad.value_and_grad(hashed)(WEIGHTS, data))
        with pytest.raises(ValueError, match="recorded for another X"):
            alone(source)(WEIGHTS, data + 1.0, **source.arrays)


def test_a_function_that_is_not_the_same_twice():
    """Data of a function with a memory are checked: to run it again would not give what is explained."""
    turns = []

    def counting(w, X):
        turns.append(1)
        return np.sum(w * X) * len(turns)

    written = alone(code_of(explain(counting, 0)(WEIGHTS, np.array([1.0, 2.0]))))
    agree(written(WEIGHTS, np.array([1.0, 2.0]))[1], np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="recorded for another X"):
        written(WEIGHTS, np.array([1.0, 3.0]))


def test_the_same_array_twice():
    """Which of two arguments is differentiated is known by its name."""
    written = alone(code_of(explain(lambda a, b: np.sum(a * b**2), 1)(VECTOR, VECTOR)))
    agree(written(VECTOR, VECTOR + 1)[1], 2 * VECTOR * (VECTOR + 1))


def test_several_argnums_are_returned_in_their_order():
    """The gradient is in the containers that `argnums` asks for."""
    found = alone(code_of(explain(lambda a, b, c: a * b**2 + c, (1, 0))(2.0, 3.0, 1.0)))(5.0, 7.0, 2.0)
    agree(found, (247.0, (70.0, 49.0)))


def test_keywords_keep_their_names():
    """A keyword may be called as a builtin."""

    def scaled(x, *, sum):
        return x * sum

    agree(alone(code_of(explain(scaled)(1.5, sum=2.0)))(2.5, sum=3.0), (7.5, 3.0))


def test_keys_without_a_text_are_refused():
    """A dict with objects as keys cannot be reached from the source."""
    with pytest.raises(UnsupportedError, match=r"(?s)such keys cannot be written.*got the key <object"):
        source_of(lambda p: sum(p.values()), {object(): 1.0})


def test_a_primitive_has_its_name_and_parameters():
    """One of the catalogue is explained like a function of that name."""
    assert "def exp_and_gradient(x):" in source_of(CATALOGUE["exp"], 1.5)
