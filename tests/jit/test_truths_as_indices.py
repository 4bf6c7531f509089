"""Truth values as indices under jit: a list takes them for 0 and 1, an array for masks."""

import numpy as np
import pytest

import adjoint as ad

DATA = np.arange(4.0)
FUNCTIONS = {
    "constant array": lambda x: np.arange(4.0)[x > 0],
    "captured array": lambda x: DATA[x > 0],
    "list": lambda x: [1.0, 2.0][x > 0] * x,
    "both": lambda x: np.arange(4.0)[x > 0] * [1.0, 2.0][x > 1],
    "two conditions": lambda x: np.arange(4.0)[(x > 0) & (x < 2)],
    "with others": lambda x: np.arange(4.0)[x > 0, 1],
    "ellipsis": lambda x: np.arange(4.0)[x > 0, ...],
    "computed with": lambda x: np.arange(4.0)[x > 0] * ((x > 0) + (x > 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "points", [(1.0, -1.0, 3.0, 1.0), (-1.0, 3.0, -1.0), (1, -1, 2, 3, -2, 1), (True, False, True)]
)
def test_truth_values_are_masks_of_arrays_and_places_in_lists(name, points):
    """jit gives what Python gives, with its shape, whichever side comes first."""
    f, jitted = FUNCTIONS[name], ad.jit(FUNCTIONS[name])
    for x in points:
        np.testing.assert_array_equal(jitted(x), f(x), strict=True)


def test_a_truth_value_as_argument():
    """A truth value that differs between calls stays a mask."""
    f = ad.jit(lambda flag, n: (np.arange(3.0)[flag] * n, [1, 2][flag]))
    for k, flag in enumerate((True, False, True, False, True)):
        found, chosen = f(flag, k)
        np.testing.assert_array_equal(found, np.arange(3.0)[flag] * k, strict=True)
        assert chosen == [1, 2][flag]


def test_a_number_that_chooses_from_a_list_stays_an_input():
    """A step number needs a recording for each side of its condition, not for each value."""
    f = ad.jit(lambda n: [10.0, 20.0][n > 3] * n)
    assert [f(n) for n in range(30)] == [[10.0, 20.0][n > 3] * n for n in range(30)]
    assert f.stats()["recordings"] <= 3


EDGE = 2**62


@pytest.mark.parametrize("first", [3, 2**40, 2**61, EDGE - 1])
@pytest.mark.parametrize("n", [EDGE - 1, EDGE, EDGE + 1, -EDGE, -EDGE - 1, 2**63 - 1, -(2**63)])
def test_sums_at_the_edge_of_the_word(first, n):
    """Integers add and subtract as Python does where 64 bits end, after a recording far from there or close by."""
    f = ad.jit(lambda n, m: (n + n, n - m, n + n + 1))
    for a in (1, first, n, first):
        assert f(a, -a) == (a + a, a + a, a + a + 1)


def matched(x):
    match x > 0:
        case True:
            return x
        case False:
            return -3.0 * x
    return 100.0


IDENTITIES = {
    "match": matched,
    "is True": lambda x: x if (x > 0) is True else -3.0 * x,
    "is not False": lambda x: x if (x > 0) is not False else -3.0 * x,
    "a variable": lambda x: (lambda b: x if b is True else -3.0 * x)(x > 0),
    "two comparisons": lambda x: x * ((x > 0) is (x > -5)),
    "not": lambda x: x if (not x > 0) is False else -3.0 * x,
    "type of the truth value": lambda x: x if type(x > 0) is bool else -3.0 * x,
    "type of the number": lambda x: x if type(x) is float else -3.0 * x,
    "in a function": lambda x: ask(x > 0) * x,
}


def ask(flag):
    return 2.0 if flag is True else 3.0


@pytest.mark.parametrize("f", IDENTITIES.values(), ids=IDENTITIES.keys())
def test_truth_values_are_pythons_own(f):
    """`(x > 0) is True` of a Python float, as `case True` asks it, is answered as without jit."""
    jitted, both = ad.jit(f), ad.jit(ad.value_and_grad(f))
    for x in (1.0, -1.0, 2.0, -1.0):
        assert jitted(x) == f(x)
        assert both(x)[0] == f(x)
