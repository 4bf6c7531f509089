"""Rules and traces are what their base classes say, and memory that is written to is the sweep's own."""

import inspect

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.batch import BatchTrace
from adjoint.core.forward import ForwardTrace
from adjoint.core.nans import NanTrace
from adjoint.core.quick.accumulator import Accumulator, accumulated
from adjoint.core.reverse import ReverseTrace
from adjoint.core.rule import Rule
from adjoint.core.singular.near import NearTrace
from adjoint.core.trace import Trace
from adjoint.core.traced import Ended
from adjoint.core.values import LARGE
from adjoint.ir.capture import CaptureTrace
from adjoint.ops.declare import CATALOGUE

LONG = LARGE + 1


def kinds_of(base):
    """All classes below a base class, without those of tests."""
    found = [kind for child in base.__subclasses__() for kind in (child, *kinds_of(child))]
    return [kind for kind in found if kind.__module__.startswith("adjoint.")]


def test_every_entry_has_a_rule():
    """No entry of the catalogue has a derivative of another kind."""
    assert all(isinstance(primitive.derivative, Rule) for primitive in CATALOGUE.values())


@pytest.mark.parametrize("kind", sorted(set(kinds_of(Rule)), key=lambda kind: kind.__name__))
def test_rules_are_abstract_or_final(kind):
    """A rule that can be made is not derived from: what differs is said by its parameters."""
    assert inspect.isabstract(kind) or (getattr(kind, "__final__", False) and not kind.__subclasses__())


@pytest.mark.parametrize("kind", [ReverseTrace, ForwardTrace, BatchTrace, NearTrace, NanTrace, CaptureTrace, Ended])
def test_traces_have_one_base(kind):
    """Whatever takes steps is a `Trace`, so that all that is asked of traces has an answer."""
    assert issubclass(kind, Trace)
    assert not inspect.isabstract(kind)


def test_an_accumulator_writes_to_what_it_has_made():
    """The first sum is a new array, unless the second cotangent is one that nobody else has; then it is written to."""
    had, c, more = np.ones(LONG), np.full(LONG, 2.0), np.full(LONG, 3.0)
    total = accumulated(had, c, is_new=False)
    assert type(total) is Accumulator
    assert total.total is not c
    assert (total + more) is total
    assert (had[0], c[0], more[0], total.total[0]) == (1.0, 2.0, 3.0, 6.0)
    new = accumulated(had, c, is_new=True)
    assert new.total is c
    assert (had[0], c[0]) == (1.0, 3.0)


@pytest.mark.parametrize("size", [3, LONG])
def test_cotangents_of_the_user_are_never_written_to(size):
    """Neither a seed nor what was kept changes, however often a value is used."""
    x, g = np.linspace(0.5, 1.5, size), np.linspace(1.0, 2.0, size)
    seed = g.copy()
    _, pullback = ad.vjp(lambda x: x + x + x * x - x, x)
    expected = g * (1.0 + 2.0 * x)
    for _ in range(2):
        np.testing.assert_allclose(pullback(seed)[0], expected)
        assert np.array_equal(seed, g)


def test_reads_and_writes_of_a_long_array_add_up():
    """Single elements are read from and written to arrays in which sums are kept in place."""

    def f(x):
        y = np.zeros(LONG)
        y[0] = x[1] * x[2]
        y[1] = y[0] * x[1]
        y[0] = x[3]
        return np.sum(y * x) + x[1]

    x = np.linspace(1.0, 2.0, LONG)
    gradient = ad.grad(f)(x)
    a, b, c, d = x[:4]
    np.testing.assert_allclose(gradient[:4], [d, 3 * b**2 * c + 1.0, b**3, a])
    assert not gradient[4:].any()


def test_guards_say_what_is_finite():
    """In a program listing the guard on the function's value is not that on its derivative."""
    g = ad.jit(ad.grad(lambda x: np.sum(np.exp(x))))
    text = str(g.lower(np.arange(3.0)))
    assert "the value is finite" in text
    assert "the derivative is finite" in text
