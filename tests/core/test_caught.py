"""A refusal that the function itself catches is not silent: it takes a branch that it would not take untraced."""

import math
import warnings

import numpy as np
import pytest

import adjoint as ad


def guarded(x):
    try:
        return math.exp(x.__float__())
    except (TypeError, OverflowError):
        return 0.0 * x


def broad(x):
    try:
        return helper(x)
    except Exception:
        return 0.0 * x


def helper(x):
    return x.__float__() * 2.0


def bare(x):
    try:
        return math.sin(x.__float__())
    except:  # noqa: E722
        return 0.0 * x


@pytest.mark.parametrize("f", [guarded, broad, bare])
def test_refusals_that_are_caught_are_told(f):
    """At the line that was refused, in the words of the refusal."""
    with pytest.warns(RuntimeWarning, match=r"cannot take a traced value.*\n  The function caught this") as told:
        assert ad.grad(f)(1.0) == 0.0
    assert told[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="The function caught this"):
        ad.jvp(f, (1.0,), (1.0,))


def test_batches_too():
    """Inside vmap a branch on values is refused, and so a handler may take the other one."""

    def f(x):
        try:
            return x if x > 0 else -x
        except TypeError:
            return x

    with pytest.warns(RuntimeWarning, match="no single value"):
        ad.vmap(f)(np.array([1.0, -1.0]))


def test_nothing_is_said_where_plain_code_takes_the_same_way():
    """An array is no number for `float` either; other handlers catch nothing; jit gives the number."""

    def f(x):
        try:
            return math.exp(x)
        except TypeError:
            return np.sum(np.exp(x))

    def g(x):
        try:
            return x.__float__()
        except KeyError:
            return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(ad.grad(f)(np.ones(3)), np.exp(np.ones(3)))
        assert ad.jit(guarded)(1.0) == math.exp(1.0)
        with pytest.raises(TypeError):
            ad.grad(g)(1.0)
