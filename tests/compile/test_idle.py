"""Loops without what nobody uses: the same results, and the same errors."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compile.program.idle import without_idle
from adjoint.ir.interpret import Interpreter

X = np.linspace(0.5, 1.5, 3)


def narrowed(f, *args):
    """The sizes of the loop of a function, before and after; the results are held against each other."""
    program = ad.jit(f).lower(*args).program
    smaller = without_idle(program)
    want, got = (Interpreter(p).run(args) for p in (program, smaller))
    for x, y in zip(want, got, strict=True):
        np.testing.assert_array_equal(x, y)
    jitted = ad.jit(f)
    jitted(*args)
    np.testing.assert_array_equal(jitted(*args), f(*args))
    return [[s for s in p.steps if "sizes" in s.params][-1].params["sizes"] for p in (program, smaller)]


def test_carried_values_that_nobody_reads():
    """They go with the constants that only they are made of; what they are read by stays."""

    def f(x, c):
        def step(carry, row):
            a, b, d, e = carry
            return (a * row, b + c, d + a, e * d), None

        return ad.scan(step, (x, x, x, x), np.stack([x, x]))[0][2]

    assert narrowed(f, X, X) == [(1, 4, 1), (0, 2, 1)]


def test_values_that_need_each_other():
    """Two that exchange places are both left out, or both kept."""

    def swapped(pick):
        def f(x):
            def step(c):
                return (c[0] + 1, c[2], c[1] * 0.5, c[3] + 1.0)

            return ad.while_loop(lambda c: c[0] < 5, step, (0, x, x + 1.0, x))[pick]

        return f

    assert narrowed(swapped(3), X) == [(0, 0, 4), (0, 0, 2)]
    assert narrowed(swapped(1), X) == [(0, 0, 4), (0, 0, 3)]


def test_what_the_condition_reads():
    """It decides how often."""

    def f(x):
        def step(c):
            return (c[0] * 2.0, c[1] + 1.0, c[2] - 1.0)

        return ad.while_loop(lambda c: np.sum(c[0]) < 50.0, step, (x, x, x))[1]

    assert narrowed(f, X) == [(0, 0, 3), (0, 0, 2)]


def test_stacks_that_nobody_reads():
    """And the rows that only they are made of."""

    def f(x, rows):
        last = ad.scan(lambda c, r: ((c[0] * 0.5, c[1] + r), (c[0], c[1])), (x, x), rows)[0][0]
        return last + 0.0 * last

    assert narrowed(f, X, np.ones((4, 3))) == [(0, 2, 1), (0, 1, 0)]


def test_errors_stay():
    """An index that is out of bounds is one, whoever uses what is there."""

    def f(x, i):
        def step(c):
            return c[0] + 1, c[1] * 0.5, c[2] + x[c[3]], c[3] + 1

        return ad.while_loop(lambda c: c[0] < 3, step, (0, x, 0.0, i))[1]

    jitted = ad.jit(f)
    np.testing.assert_array_equal(jitted(X, 0), X / 8)
    np.testing.assert_array_equal(jitted(X, 0), X / 8)
    with pytest.raises(IndexError):
        jitted(X, 1)
