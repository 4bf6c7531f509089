"""The source of a value and its gradient: it runs alone, and gives the same numbers here and elsewhere."""

from __future__ import annotations

import builtins
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
import scipy.special as sc
from tests.explanation.code_examples import FUNCTIONS, LARGE, VECTOR, branches, logistic_loss, masked, rng, worked
from tests.laws.cases import DIFFERENTIABLE, cases_of

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.core.tree import flatten
from adjoint.explanation.code.numpy_source import numpy_source
from adjoint.explanation.code.primitives import BINARY, COMPARISONS, EMBEDDED, TEMPLATES, WRITERS
from adjoint.explanation.explain import explain
from adjoint.ops.declare import CATALOGUE


def source_of(function, *args):
    """The source of a function, recorded at a point."""
    return numpy_source(explain(function)(*args)._seen("vector", False, "reverse"), count=len(args))


def alone(source):
    """The function that a source defines, where nothing but NumPy, SciPy and Python's mathematics can be imported."""

    def importing(name, *rest):
        assert name.partition(".")[0] in ("numpy", "scipy", "math"), name
        return __import__(name, *rest)

    space = {"__builtins__": {**vars(builtins), "__import__": importing}}
    exec(compile(source, "<source>", "exec"), space)
    (name,) = [n for n in space if n.endswith("_and_gradient")]
    return space[name]


def agree(found, wanted, rtol=1e-12):
    """The same numbers, shapes and kinds of numbers."""
    for a, b in zip(flatten(found)[0], flatten(wanted)[0], strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        largest = float(np.max(np.abs(b), initial=1.0, where=np.isfinite(b)))
        rtol = max(rtol, 1e-6 if b.dtype.itemsize == 4 else 0.0)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * largest)


def check(function, args, other, rtol=1e-12):
    """The source gives what `ad.value_and_grad` gives, where it was recorded and at another point of the branch."""
    source = source_of(function, *args)
    written = alone(source)
    assert max(map(len, source.splitlines())) <= 120
    for point in (args, other):
        value, gradient = ad.value_and_grad(function, argnums=tuple(range(len(point))))(*point)
        agree(written(*point, **source.arrays), (value, gradient if len(point) > 1 else gradient[0]), rtol)
    return source


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_source_gives_the_same_numbers(name):
    """Value and gradient agree with the library at the recorded point and at another one."""
    function, point, other = FUNCTIONS[name]
    check(function, (point,), (other,), rtol=1e-11)


def weighted(function):
    """A number made of all results of a function."""

    def total(*args):
        parts = [p for p in flatten(function(*args))[0] if np.asarray(ad.value(p)).dtype.kind in "fc"]
        weights = [np.cos(np.arange(np.size(p))).reshape(np.shape(p)) for p in parts]
        return sum(np.sum(np.real(p) * w) + np.sum(np.imag(p) * w) for p, w in zip(parts, weights, strict=True))

    return total


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_primitive_is_written(name):
    """The source of every differentiable primitive of the catalogue gives what the library gives."""
    for case in cases_of(CATALOGUE[name]):
        check(weighted(case.function), case.args, tuple([a * 1.003 for a in case.args]), rtol=1e-9)


def test_the_whole_catalogue_can_be_written():
    """No primitive is without a form in NumPy or SciPy."""
    tables = {*BINARY, *COMPARISONS, *WRITERS, *TEMPLATES, *EMBEDDED, "stop_gradient"}
    plain = [n for n in CATALOGUE if any(isinstance(getattr(m, n, None), np.ufunc) for m in (np, sc))]
    assert [n for n in CATALOGUE if n not in tables and n not in plain and not n.startswith("random_")] == []


def test_the_text_of_the_worked_example():
    """The source is what one would write by hand, in the user's names."""
    assert (
        source_of(worked, 1.3)
        == '''\
import numpy as np


def worked_and_gradient(x):
    """Value and gradient of worked, as recorded for x: float."""
    a = x**2
    b = np.exp(a)
    c = a + b
    v4 = np.sqrt(c)
    v5 = np.cos(c)
    worked = v4 + v5
    # back
    d_worked = 1.0
    d_v5 = d_worked
    d_v4 = d_worked
    d_c = d_v5 * -np.sin(c) + d_v4 * (0.5 / v4)
    d_b = d_c
    d_a = d_c + d_b * b
    d_x = d_a * (2.0 * x)
    return worked, d_x
'''
    )


def test_the_same_operations_give_the_same_bits():
    """Where NumPy does what the library does, not even the last bit differs."""
    x = rng.normal(size=40)
    value, gradient = alone(source_of(logistic_loss, VECTOR))(VECTOR)
    wanted = ad.value_and_grad(logistic_loss)(VECTOR)
    assert value == wanted[0]
    assert np.array_equal(gradient, wanted[1])
    found = alone(source_of(lambda x: np.sum(np.exp(-x) * np.sin(x)), x))(x)[1]
    assert np.array_equal(found, ad.grad(lambda x: np.sum(np.exp(-x) * np.sin(x)))(x))


def test_another_branch_is_refused():
    """A point for which the function decides otherwise raises an error with the line of the decision."""
    written = alone(source_of(branches, VECTOR))
    with pytest.raises(
        ValueError, match=r"recorded for another branch: code_examples\.py:\d+ in branches\(\):  if x\[0\] > 0:"
    ):
        written(-VECTOR)


def test_another_number_of_elements_is_refused():
    """A mask that selects more or fewer elements than it did raises an error."""
    written = alone(source_of(masked, VECTOR))
    with pytest.raises(ValueError, match=r"recorded for a result of shape \(2,\) at code_examples\.py:\d+"):
        written(np.abs(VECTOR))


def test_another_number_of_different_elements_is_refused():
    """Where `np.unique` finds more or fewer elements than it did, there is an error."""
    written = alone(source_of(lambda x: np.sum(np.unique(x) ** 2), np.array([1.0, 2.0, 1.0])))
    with pytest.raises(ValueError, match=r"recorded for a result of shape \(2,\)"):
        written(np.array([1.0, 1.0, 1.0]))


def test_gradients_can_be_written_to():
    """A gradient that is spread over rows is an array of its own."""
    for function in (lambda x: np.sum(x), lambda x: np.sum(x @ np.array([1.0, 2.0, 3.0]))):
        _, gradient = alone(source_of(function, np.ones((2, 3))))(np.ones((2, 3)))
        gradient -= 1.0
        agree(gradient, ad.grad(function)(np.ones((2, 3))) - 1.0)


def test_what_is_not_used_is_left_out():
    """An input that nothing depends on is not unpacked, and what is not needed is not computed."""

    def wasteful(p):
        np.exp(p["a"])
        return p["a"] * 3.0

    source = source_of(wasteful, {"a": 2.0, "b": 1.0})
    assert "exp" not in source
    assert "p['b']" not in source.partition('"""\n')[2]
    agree(alone(source)({"a": 2.0, "b": 1.0}), (6.0, {"a": 3.0, "b": 0.0}))


def test_another_shape_is_refused():
    """An argument of another shape raises an error, as sums were spread over the recorded one."""
    written = alone(source_of(lambda x: np.sum(x), VECTOR))
    with pytest.raises(ValueError, match=r"recorded for x of shape \(3,\)"):
        written(np.ones(4))


def test_careful_zeros():
    """At the vertex of a norm the gradient is 0, and the same source is right elsewhere."""
    source = check(lambda x: np.sqrt(np.sum(x**2)), (np.zeros(3),), (VECTOR,))
    assert "np.errstate" in source
    check(lambda x: np.sqrt(x**2), (0.0,), (2.0,))


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


def test_what_is_not_differentiated_is_none():
    """An integer argument is part of the recording, and has no gradient."""
    source = source_of(net, PARAMETERS, np.array([1, 2, 3]))
    assert source.rstrip().endswith("({'W': d_W, 'b': d_b, 'v': d_v}, None)")
    agree(alone(source)(PARAMETERS)[1][0], ad.grad(net)(PARAMETERS, np.array([1, 2, 3])))


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


def test_names_are_valid_and_free():
    """Variables that are called as builtins, modules or reserved words get other names."""

    def odd(np_, sum, lambda_):
        d_sum = sum * 2.0
        scipy = d_sum + np_
        return scipy * lambda_ * d_sum

    check(odd, (1.0, 2.0, 3.0), (2.0, 3.0, 4.0))


def test_small_arrays_are_written_out_and_large_ones_are_parameters():
    """A captured array of more than 100 elements becomes a keyword-only parameter with the user's name."""
    small = source_of(logistic_loss, VECTOR)
    assert "DATA = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]])" in small
    assert not small.arrays
    large = source_of(lambda x: np.sum(np.tanh(LARGE @ x)), rng.normal(size=30))
    assert "(x, *, LARGE):" in large
    assert list(large.arrays) == ["LARGE"]


def test_literals_are_exact():
    """Numbers that are written out are the same to the last bit, in every precision."""
    for kind in ("f4", "f8", "c16"):
        weights = (rng.normal(size=30) / 3).astype(kind)
        source = source_of(lambda x, w=weights: np.sum(np.abs(w * x)), VECTOR[0])
        space: dict = {}
        exec(source, space)
        (found,) = [v for n, v in space.items() if isinstance(v, np.ndarray)]
        assert found.dtype == weights.dtype
        assert np.array_equal(found, weights)


def test_an_array_changed_after_its_use_is_as_it_was():
    """What the source holds is what the function used."""
    weights = VECTOR.copy()
    explanation = explain(lambda x: np.sum(weights * x))(VECTOR)
    weights[:] = 0.0
    _, gradient = alone(numpy_source(explanation._seen("vector", False, "reverse")))(VECTOR)
    assert np.array_equal(gradient, VECTOR)


def test_several_results():
    """A function of several results gives them all, and the gradient for the given cotangent."""

    def pair(x):
        return {"sum": np.sum(x), "squares": x**2}

    cotangent = {"squares": np.array([1.0, 2.0, 3.0]), "sum": 4.0}
    view = explain(pair, cotangent=cotangent)(VECTOR)._seen("vector", False, "reverse")
    value, gradient = alone(numpy_source(view))(VECTOR)
    agree(value, pair(VECTOR))
    agree(gradient, ad.vjp(pair, VECTOR)[1](cotangent)[0])


def test_a_loop_is_refused_with_its_line():
    """What is one step of machine code has no NumPy source."""

    def decay(rate):
        return ad.scan(lambda y, _: (y - 0.1 * rate * y, None), 1.0, length=3)[0]

    with pytest.raises(UnsupportedError, match=r"scan.* cannot be written as NumPy source"):
        source_of(decay, 2.0)


def test_what_does_not_move_is_a_constant():
    """Random numbers of a fixed key have no NumPy source, but their values have."""
    noise = ad.random.normal(ad.random.key(0), (3,))
    source = source_of(lambda x: np.sum(x * ad.random.normal(ad.random.key(0), (3,))), VECTOR)
    assert np.array_equal(alone(source)(VECTOR)[1], noise)


def test_a_rule_of_the_users_own_is_refused():
    """A custom rule may be any code, so it cannot be written."""
    rule = ad.custom_rule(lambda x: np.sin(x))
    rule.def_vjp(lambda primals, out, g: (g * np.cos(primals[0]),))
    with pytest.raises(UnsupportedError, match=r"(?s)custom_rule cannot be written.*at test_code\.py:\d+"):
        source_of(lambda x: rule(x) * 2.0, 1.0)
