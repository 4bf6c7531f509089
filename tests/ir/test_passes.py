"""Which steps of a program change nothing, so that they are left out; and that no bit is changed by that."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.ir.fold import rewritten
from adjoint.ir.interpret import replay
from adjoint.ir.passes import program_pass, simplified, without_dead, without_repeated
from adjoint.ir.program import Program, Step
from adjoint.ops.arithmetic import negative
from adjoint.ops.indexing import index

X = np.array([0.5, -1.0, 2.0])
ODD = np.array([0.0, -0.0, np.nan])
"""What arithmetic may not change: signs of zeros, and nan."""


def recorded(function, *args):
    """The program of a function, before any pass."""
    return ad.jit(lambda *a: function(*a)).lower(*args).program


def steps_of(function, *args):
    """The names of the steps that are left."""
    return [step.primitive.name for step in simplified(recorded(function, *args)).steps]


def check_same(make, function, *args):
    """A pass leaves the bits of the values and of the gradients, at these arguments and at odd ones."""
    before = recorded(function, *args)
    after = make(before)
    for point in (args, tuple([np.resize(ODD, np.shape(a)) for a in args])):
        found = [_bits(program, point) for program in (before, after)]
        assert found[0] == found[1], f"{make.__name__} changes bits at {point}:\n{before}\n{after}"


def _bits(program, point):
    """The values of a program and what is pulled back from ones, with everything that can be told apart."""
    with np.errstate(all="ignore"):
        values, pullback = ad.vjp(lambda *a: tuple(replay(program, a)), *point)
        gradients = pullback(tuple([np.ones_like(v) for v in values]))
    return [(np.asarray(v).dtype, np.shape(v), np.asarray(v).tobytes()) for v in (*values, *gradients)]


@pytest.mark.parametrize(
    "same",
    [
        lambda x: np.reshape(x, (3,)),
        lambda x: np.transpose(x),
        lambda x: x[:],
        lambda x: x[...],
        lambda x: np.broadcast_to(x, (3,)),
        lambda x: x.astype(float),
        lambda x: np.real(x),
        lambda x: np.conj(x),
        lambda x: +x,
        lambda x: x * 1.0,
        lambda x: 1.0 * x,
        lambda x: x / 1.0,
        lambda x: x**1.0,
    ],
)
def test_what_changes_nothing_is_left_out(same):
    """Elements at their own places, and neutral numbers."""
    assert steps_of(lambda x: np.sin(same(x)), X) == ["sin"]
    check_same(simplified, lambda x: np.sin(same(x)), X)


@pytest.mark.parametrize(
    "other",
    [
        lambda x: np.flip(x),
        lambda x: x[::-1],
        lambda x: x + 0.0,
        lambda x: 1.0 / x,
        lambda x: 1.0**x,
        lambda x: np.conj(x + 1j),
        lambda x: ad.stop_gradient(x),
    ],
)
def test_what_changes_something_stays(other):
    """Signs of zeros, other places; and what a derivative of the program would miss."""
    assert len(steps_of(lambda x: np.sin(other(x)), X)) > 1
    check_same(simplified, lambda x: np.sin(other(x)), X)


def test_a_number_that_is_read_from_an_array_stays_one():
    """x[()] has the type of its operand, and yet it is a number where that was an array without axes."""
    assert steps_of(lambda x: index(x, template=()), np.array(0.5)) == ["index"]


def test_commutative_steps_are_taken_once():
    """x + y and y + x are one step; x - y and y - x are two."""
    assert steps_of(lambda x, y: (x + y) * (y + x), X, 2 * X).count("add") == 1
    assert steps_of(lambda x, y: (x - y) * (y - x), X, 2 * X).count("subtract") == 2
    check_same(without_repeated, lambda x, y: (x + y) * (y + x), X, 2 * X)
    check_same(without_repeated, lambda x, y: (x - y) * (y - x), X, 2 * X)


def test_unused_steps_are_left_out():
    """What nobody reads is not computed, and its derivative neither."""

    def function(x):
        np.exp(x)
        return np.sin(x), np.cos(x) * x

    assert [s.primitive.name for s in without_dead(recorded(function, X)).steps] == ["sin", "cos", "multiply"]
    check_same(without_dead, function, X)


def test_a_pass_that_changes_bits_is_noticed():
    """x + 0.0 taken for x changes the sign of a zero; without a step that stops it, a derivative is another."""

    def without(name):
        def made(program):
            step = next(s for s in program.steps if s.primitive.name == name)
            others = [
                s._replace(args=tuple([step.args[0] if a == step.outs[0] else a for a in s.args]))
                for s in program.steps
                if s is not step
            ]
            return program.having(steps=others)

        return made

    for name, function in {
        "add": lambda x: (x + 0.0) * 1.5,
        "stop_gradient": lambda x: ad.stop_gradient(x) * x,
    }.items():
        with pytest.raises(AssertionError, match=r"^made changes bits at "):
            check_same(without(name), function, X)


def test_the_pass_of_the_guide_is_one():
    """The example of `CONTRIBUTING.md` runs, keeps all bits, and leaves out what it says."""
    guide = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = re.search(r"^    @program_pass\n(?:    .*\n|\n)+", guide, re.MULTILINE)
    names = {"program_pass": program_pass, "Program": Program, "Step": Step, "negative": negative}
    names["rewritten"] = rewritten
    exec(textwrap.dedent(source.group()), names)
    make = names["without_double_negation"]

    def twice(x):
        return np.negative(-x)

    check_same(make, lambda x: twice(x) * np.sin(twice(-x)), X)
    left = without_dead(make(recorded(lambda x: twice(x) * np.sin(x), X)))
    assert [step.primitive.name for step in left.steps] == ["sin", "multiply"]
