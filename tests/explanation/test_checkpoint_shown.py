"""Checkpointed functions: what is stored for the way back, what is computed again, and what that costs."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.explain import explain
from adjoint.explanation.record.memory import memory_of
from adjoint.explanation.show.cost import cost_of
from tests.explanation.looks import operations_without_looks

inner = ad.checkpoint(lambda a: np.sin(np.exp(a)))
outer = ad.checkpoint(lambda a: inner(np.cos(a)))
wider = ad.checkpoint(lambda a: inner(np.cos(a)) * 2.0)
first = ad.checkpoint(np.cos)
pair = ad.checkpoint(lambda a, b: (np.sin(a) * b, np.exp(b)))
turn = ad.checkpoint(lambda a: np.sin(np.exp(-a)))


def nested(x):
    return outer(x) ** 2


def nested_and_more(x):
    return wider(x) ** 2


def one_after_the_other(x):
    return inner(first(x)) ** 2


def several_results(x):
    p, q = pair(x, x**2)
    return p * q


@ad.checkpoint
def around_a_loop(x):
    for _ in range(10):
        x = np.sin(x) * np.exp(-x)
    return x


def inside_a_loop(x):
    for _ in range(10):
        x = turn(x)
    return x


@ad.checkpoint
def deep(x):
    return wider(np.tanh(outer(x))) * x


def around_a_mask(x):
    return ad.checkpoint(lambda x: np.where(x > 0.0, np.sin(x), np.exp(x)))(x * 2.0)


FUNCTIONS = [
    nested, nested_and_more, one_after_the_other, several_results, around_a_loop, inside_a_loop, deep, around_a_mask,
]  # fmt: skip


def stored(fun, x) -> str:
    return str(memory_of(explain(fun)(x)._view))


@pytest.mark.parametrize("fun", FUNCTIONS)
@pytest.mark.parametrize("level", ["vector", "scalar"])
def test_gradient_is_that_of_grad(fun, level):
    """What is shown is what `ad.grad` computes."""
    x = np.array([0.3, 0.9])
    shown = explain(lambda x: np.sum(fun(x)), level=level)(x).gradient
    np.testing.assert_allclose(shown, ad.grad(lambda x: np.sum(fun(x)))(x), rtol=1e-14)


@pytest.mark.parametrize("fun", FUNCTIONS)
def test_recomputation_is_counted(fun):
    """The operations are those of the program that `ad.jit` records, which computes the insides again."""

    def value_and_gradient(seed, x):
        value, pullback = ad.vjp(fun, x)
        return value, pullback(seed)

    real = operations_without_looks(ad.jit(value_and_gradient).lower(1.0, 0.4).program).total()
    assert cost_of(explain(fun)(0.4)._view).reverse.operations == real


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        # the result of a checkpointed call is stored where somebody outside needs it, its arguments always
        (nested, "stored: x, v3 (2 of 5 values, 16 of 40 bytes); recomputed: a (checkpoint 1), v2 (checkpoint 2)"),
        (
            nested_and_more,
            "stored: x, v4 (2 of 6 values, 16 of 48 bytes); recomputed: a (checkpoint 1), v2, v3 (checkpoint 2)",
        ),
        # the same steps, but what goes from one call to the next is an argument, and so stored
        (one_after_the_other, "stored: x, a, v3 (3 of 5 values, 24 of 40 bytes); recomputed: v2 (checkpoint 2)"),
        (several_results, "stored: x, b, p, q (4 of 6 values, 32 of 48 bytes); recomputed: v2 (checkpoint 1)"),
        (
            around_a_loop,
            "stored: x (1 of 41 values, 8 of 328 bytes); recomputed: 40 values inside x₂ (checkpoint 1)",
        ),
        (
            inside_a_loop,
            "stored: x, 9 values inside x₂ (10 of 31 values, 80 of 248 bytes); "
            "recomputed: 21 values inside x₂ (10 checkpoints)",
        ),
    ],
)
def test_what_is_stored(fun, text):
    """The line under the table."""
    assert stored(fun, 0.4) == text


def test_every_row_without_collapsing():
    """A loop that is written out names what it computes again."""
    found = memory_of(explain(around_a_loop, collapse=False)(0.4)._view)
    assert found.stored == ("x",)
    assert [calls for _, calls in found.recomputed] == [(1,)]
    assert found.values == (1, 41)


def test_a_call_that_nobody_needs_is_not_taken_again():
    """No cotangent arrives there, so nothing is computed again."""

    def fun(x):
        inner(x)
        return x * 2.0

    assert "recomputed" not in stored(fun, 0.4)
    assert cost_of(explain(fun)(0.4)._view).reverse.operations == 3 + 1


def test_memory_on_the_way_back():
    """The inside of one call at a time is held again: many short calls save memory, one around everything does not."""

    def damped(x):
        return np.sin(x) * np.exp(-x)  # the way back needs x and both factors

    def ten_times(turn):
        def fun(x):
            for _ in range(10):
                x = turn(x)
            return x

        return fun

    x = np.ones(1000)
    plainly = cost_of(explain(ten_times(damped))(x)._view)
    each = cost_of(explain(ten_times(ad.checkpoint(damped)))(x)._view)
    whole = cost_of(explain(ad.checkpoint(ten_times(damped)))(x)._view)
    assert [c.kept.bytes[0] // 8000 for c in (plainly, each, whole)] == [30, 10, 1]
    assert each.reverse.memory < 15 * 8000
    assert whole.reverse.memory == 30 * 8000
    assert plainly.reverse.memory >= 30 * 8000
