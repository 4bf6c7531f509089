"""The source of a value and its gradient: it runs alone, and gives the same numbers here and elsewhere."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.core.tree import flatten
from adjoint.explanation.code.primitives import can_be_written
from adjoint.explanation.explain import explain
from adjoint.ops.declare import CATALOGUE
from tests.cases.primitives import DIFFERENTIABLE, cases_of
from tests.explanation.code_examples import FUNCTIONS, LARGE, VECTOR, branches, logistic_loss, masked, rng, worked
from tests.explanation.code_running import agree, alone, check, code_of, source_of


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
    missing = [n for n, primitive in CATALOGUE.items() if not can_be_written(primitive)]
    assert [n for n in missing if n != "stop_gradient" and not n.startswith("random_")] == []


def test_the_text_of_the_worked_example():
    """The source is what one would write by hand, in the user's names."""
    assert (
        source_of(worked, 1.3)
        == '''\
import numpy as np


def worked_and_gradient(x):
    """Value and gradient of worked, as recorded for x: float.

    Where the derivative of sqrt is infinite, the gradient may be nan.
    """
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
    _, gradient = alone(code_of(explanation))(VECTOR)
    assert np.array_equal(gradient, VECTOR)


def test_several_results():
    """A function of several results gives them all, and the gradient for the given cotangent."""

    def pair(x):
        return {"sum": np.sum(x), "squares": x**2}

    cotangent = {"squares": np.array([1.0, 2.0, 3.0]), "sum": 4.0}
    value, gradient = alone(code_of(explain(pair, cotangent=cotangent)(VECTOR)))(VECTOR)
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


def counted(x):
    return np.sum(x) * len(x[x > 0])


RAGGED = {
    "mask": counted,
    "where": lambda x: np.sum(x) * len(np.where(x > 0)[0]),
    "compress": lambda x: np.sum(x) * np.compress(x > 0, x).size,
    "argwhere": lambda x: np.sum(x) * len(np.argwhere(x > 0)),
    "unique": lambda x: np.sum(x) * len(np.unique(np.sign(x))),
    "one truth value": lambda x: np.sum(x) * (1 + len(x[np.sum(x) < 3.0])),
}


@pytest.mark.parametrize("name", RAGGED)
def test_a_number_of_elements_counts_even_if_nobody_uses_them(name):
    """Where only the length of what a mask selects is used, another length is refused."""
    check(RAGGED[name], (np.array([1.0, -1.0, 2.0]),), (np.array([0.5, -2.0, 1.0]),))
    written = alone(source_of(RAGGED[name], np.array([1.0, -1.0, 2.0])))
    with pytest.raises(ValueError, match="recorded for a result of shape"):
        written(np.array([2.0, 2.0, 1.0]))


def test_the_line_of_a_length_is_told():
    """The error names the line that selects."""
    written = alone(source_of(counted, np.array([1.0, -1.0, 2.0])))
    with pytest.raises(ValueError, match=r"recorded for a result of shape \(2,\) at test_code\.py:\d+"):
        written(np.array([2.0, 2.0, 1.0]))


def test_a_length_that_cannot_be_asked_for_is_refused():
    """A function of NumPy's without a form in the source may find any number of elements."""
    with pytest.raises(UnsupportedError, match=r"np\.bincount cannot be written"):
        source_of(lambda x: np.sum(x) * len(np.bincount((x > 0).astype(int))), VECTOR)


def test_a_selection_by_a_constant_is_not_checked():
    """How many elements a captured mask selects does not depend on the arguments."""
    mask = np.array([True, False, True])
    source = check(lambda x: np.sum(x[mask] ** 2), (VECTOR,), (VECTOR + 1,))
    assert "result of shape" not in source


def test_a_constant_result():
    """A function that does not use its argument has its value, and zeros; its decisions are checked."""
    agree(alone(source_of(lambda x: 3.0, 2.0))(5.0), (3.0, 0.0))
    agree(alone(source_of(lambda x: 3.0, VECTOR))(VECTOR), (3.0, np.zeros(3)))
    written = alone(source_of(lambda x: 3.0 if x > 0 else x, 2.0))
    with pytest.raises(ValueError, match="recorded for another branch"):
        written(-1.0)


def test_results_are_nobody_elses():
    """A captured array that is a result can be written to without changing the next one."""
    weights = np.arange(6.0) ** 2
    written = alone(source_of(lambda x: {"w": weights, "x": x * 2}, 1.0))
    first = written(1.0)[0]["w"]
    first[:] = -1.0
    agree(written(1.0)[0]["w"], weights)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: np.linalg.norm(x), "sqrt"),
        (lambda x: np.sum(np.arcsin(x) + (x + 2) ** 0.5), "arcsin or power"),
        (lambda x: np.sum(x**3 + 2.0**x), ""),
    ],
    ids=["sqrt", "two", "none"],
)
def test_vertices_are_told(function, told):
    """The docstring says where a gradient may be nan, if there is such a place."""
    source = source_of(function, np.array([0.3, 0.4]))
    line = f"    Where the derivative of {told} is infinite, the gradient may be nan.\n"
    assert (line in source) if told else ("infinite" not in source)


def test_a_source_is_shown_as_it_is():
    """A prompt or a notebook shows the text, not a line of escapes."""
    source = source_of(worked, 1.3)
    assert repr(source) == str(source)
    assert "\n    a = x**2\n" in repr(source)


def test_the_derivative_of_a_function():
    """A title such as `grad(q)` becomes a name."""

    def q(x):
        return np.sum(x**3)

    source = check(ad.grad(q), (1.5,), (2.0,))
    assert "def grad_q_and_gradient(x):" in source
    assert "return grad_q, d_x" in source


def test_whole_numbers_are_not_cut_off():
    """Whole numbers may be given for real ones, also where they are written to."""

    def halved(x):
        y = x.copy()
        y[0] = x[1] * 0.5
        return np.sum(y)

    agree(alone(source_of(halved, VECTOR))(np.array([1, 3, 5]))[0], np.float64(9.5))


def loop(count):
    """A loop in which every turn has an array of its own, a mask and a decision."""
    rows = np.arange(5.0 * count).reshape(count, 5) / (5 * count)

    def function(x):
        for row in rows:
            step = row * 2.0
            if np.sum(x) > 0:
                x = x + np.sum(x[x > 0]) * step * 1e-3
        return np.sum(x)

    return function


def test_the_work_grows_with_the_program():
    """Twice as many steps take about twice as many calls to write, and not four times as many."""

    def calls(count):
        found = 0

        def count_call(frame, event, argument):
            nonlocal found
            found += event in ("call", "c_call")

        explanation = explain(loop(count))(np.ones(5))
        explanation._seen("vector", False, "reverse")
        sys.setprofile(count_call)
        try:
            code_of(explanation)
        finally:
            sys.setprofile(None)
        return found

    calls(2)  # imports
    assert calls(160) < 2.2 * calls(80)
