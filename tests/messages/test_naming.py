"""Errors that leave a public function: the argument at fault is named, and what is not ours to name stays as it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

V = np.ones(3)


@dataclass
class Fixed:
    """An array where a setting is wanted."""

    field: object = ad.tree.static()


def failed(call):
    """The error of a call."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any
        call()
    return caught.value


def notes(error):
    """What is said beside an error."""
    return getattr(error, "__notes__", [])


def raises(error):
    """A function of the user's that fails."""

    def fails(*args):
        raise error

    return fails


GOT = {
    "no function": (lambda: ad.grad(3.0), "fun = float 3.0"),
    "inside another transformation": (lambda: ad.hessian(3.0), "fun = float 3.0"),
    "the point": (lambda: ad.grad(lambda weights: weights)("no"), "weights = str 'no'"),
    "in a container": (lambda: ad.grad(lambda p: p["a"])({"a": "no"}), "p = str 'no' at ['a']"),
    "a keyword": (
        lambda: ad.vmap(lambda x, y: x * y)(V, y=np.ones(2)),
        "3 in axis 0 of x: float64[3], 2 in axis 0 of y",
    ),
    "one of several": (lambda: ad.vjp(np.multiply, 1.0, "no"), "primals[1] = str 'no'"),
    "of another shape": (lambda: ad.taylor(np.sin, 0.3, 3, V), "direction = float64[3] for float 0.3"),
    "a bound": (lambda: ad.fori_loop("no", 3, lambda k, s: s, 1.0), "lower = str 'no'"),
    "of a model": (lambda: nn.parameters("no"), "model = str 'no'"),
    "jitted": (lambda: ad.jit(lambda weights: weights)(np.array(["a", "b"])), "weights = str32[2]"),
}


@pytest.mark.parametrize("name", GOT)
def test_what_was_got_is_named(name):
    """By the name of the parameter: of the public function, or of the user's function that one was made of."""
    call, words = GOT[name]
    assert f"  got {words}" in str(failed(call))


def test_errors_of_numpy_are_the_cause_of_ours():
    """Where the argument is not of its kind, that is what is said."""
    error = failed(lambda: ad.curvature.fisher(np.sin, ["gaussian"]))
    assert isinstance(error, ad.errors.ArgumentError)
    assert str(error).startswith("fisher needs likelihood, a text or a function.")
    assert isinstance(error.__cause__, TypeError)


@pytest.mark.parametrize("error", [ValueError("mine"), TypeError("mine"), KeyError("mine"), RuntimeError("mine")])
@pytest.mark.parametrize(
    "call",
    [
        lambda f: ad.grad(f)(1.0), lambda f: ad.jit(f)(1.0), lambda f: ad.scan(f, 1.0, V),
        lambda f: ad.jvp(f, (1.0,), (1.0,)),
        lambda f: ad.optim.minimize(f, V), lambda f: ad.odeint(f, 1.0, V), lambda f: ad.tree.map(f, [1.0]),
    ],
)  # fmt: skip
def test_errors_of_the_user_stay(call, error):
    """The same object, with nothing added to it."""
    found = failed(lambda: call(raises(error)))
    assert found is error
    assert found.args == ("mine",)
    assert notes(found) == []


def test_a_note_beside_an_error_of_the_user():
    """What is not of its kind may have been the reason; the error is still the user's."""
    error = failed(lambda: ad.losses.empirical_risk(raises(KeyError("mine")), np.subtract, ["a", "b"], V))
    assert error.args == ("mine",)
    assert notes(error) == ["  empirical_risk needs X, a number, an array, or a container of them; it is list"]


def test_shapes_that_do_not_go_together():
    """No one argument is at fault: all are listed."""
    error = failed(lambda: nn.elu(V, np.ones(2)))
    assert notes(error) == ["  in elu(x = float64[3], alpha = float64[2])"]


def test_functions_without_frames():
    """The traceback does not have them."""
    assert "  fun = <built-in function len> was called" in notes(failed(lambda: ad.vmap(len)(V)))


def test_other_values_are_not_named_after_an_argument():
    """An error about a result, or about what the user's function computed, has other values that look alike."""
    assert "  got float64[3]\n" in str(failed(lambda: ad.grad(np.sin)(V)))
    static = ad.vmap(lambda x: Fixed(np.zeros(3)))
    assert "  got float64[3]\n" in str(failed(lambda: static(V)))  # the field of the result, not x
    whole = np.arange(3)
    error = failed(lambda: ad.grad(lambda x, n: ad.grad(np.sum)(n * 1))(V, whole))
    assert "  got a = int64[3]" in str(error)  # the parameter of np.sum
    assert "n = int64[3]" not in str(error)


def test_objects_that_cannot_be_looked_at():
    """The error is the one that was raised."""

    class Hidden:
        @property
        def shape(self):
            raise RuntimeError("not for you")

        dtype = shape

    assert isinstance(failed(lambda: ad.grad(lambda x: x)(Hidden())), (ad.errors.InputError, RuntimeError))
