"""What a capture assumes where it has no value to decide by, and what becomes of the program if it is wrong."""

import operator

import numpy as np
import pytest

import adjoint as ad
from adjoint.ir.assumptions import ON_FAILURE, Assumed, OnFailure
from adjoint.ir.capture import CaptureTrace, GuardRefusedError, example
from adjoint.ir.deferring import LARGE
from adjoint.ir.program import GUARD
from adjoint.transforms.calling import run
from adjoint.transforms.loops.capture import captured


def assumed(fun, *values, **how):
    """The capture of a function, and what it has assumed."""
    capture = CaptureTrace(**how)
    run(fun, [capture.input(x) for x in values], {})
    return capture, capture.assumptions


BIG = np.linspace(0.1, 2.0, 2 * LARGE)


def test_every_kind_has_an_answer():
    """Whatever is assumed, it is said what becomes of the program."""
    assert list(ON_FAILURE) == list(Assumed)
    assert set(ON_FAILURE.values()) == set(OnFailure)


def test_guards_are_no_assumptions():
    """A decision that a guard stands for is a step of the program."""
    capture, found = assumed(lambda x: 1.0 if x > 0 else 2.0, 3.0)
    assert found == []
    assert capture.program.steps[-1].primitive is GUARD


def test_what_is_likely():
    """A value that has not been computed is taken for what is likely; one that has been is looked at."""
    capture, found = assumed(lambda x: np.sum(np.sin(x)) > 1e9, BIG, defers=True)
    x = capture.input(BIG)
    capture.decided(np.any(np.sin(x) > 2), likely=False)
    assert [(a.kind, a.on_failure) for a in found] == [(Assumed.LIKELY, OnFailure.RECORD_WITH_VALUES)]
    assert found.are_unseen


def test_examples():
    """What stands for a value that has not been computed, where somebody wants to have one."""
    capture, found = assumed(lambda x: x, BIG, defers=True)
    np.testing.assert_array_equal(example(np.sin(capture.input(BIG))), np.ones(BIG.shape))
    assert [a.kind for a in found] == [Assumed.EXAMPLE]


def test_singular_points():
    """They are left out of a speculative program, which says with its last result whether one was met."""
    capture, found = assumed(lambda x: x, np.ones(3), speculative=True)
    assert capture.assumes_none(capture.input(np.ones(3)) > 2)
    assert [(a.kind, a.value.value, a.on_failure) for a in found] == [
        (Assumed.ORDINARY, np.False_, OnFailure.GENERAL_FORM)
    ]
    capture, found = assumed(lambda x: x, np.ones(3))
    assert not capture.assumes_none(capture.input(np.ones(3)) > 2)
    assert found == []


def test_integers():
    """One that a program relies on is an assumption of its own; so is what it was computed from."""
    ad.jit(np.sin)(1.0)  # from the first recording on, handles count as Python's integers do
    capture = CaptureTrace()
    n, m = capture.count(3), capture.count(4)
    capture.decided(n + 1)
    assert capture.assumptions.integers() == {n.node}
    capture.decided(m)
    assert capture.assumptions.integers() == {n.node, m.node}
    assert {a.on_failure for a in capture.assumptions} == {OnFailure.ANOTHER_PATH}


def test_truth_values_as_places():
    """A list would take them for 0 and 1."""
    _, found = assumed(lambda x: operator.index(x > 0), 3.0)
    assert [(a.kind, a.on_failure) for a in found] == [(Assumed.PLACE, OnFailure.RECORD_PLAIN_TRUTHS)]


def caught(x):
    try:
        return [np.linalg.inv(x)]
    except np.linalg.LinAlgError:
        return [x]


def test_errors_without_a_guard():
    """In the body of a loop there is no guard, so that one which catches an error is refused."""
    _, found = assumed(caught, np.zeros((2, 2)), guards=False)
    assert [(a.kind, a.value) for a in found] == [(Assumed.RAISED, np.linalg.LinAlgError)]
    with pytest.raises(GuardRefusedError):
        captured(caught, [np.zeros((2, 2))])
