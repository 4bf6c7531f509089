"""Iterators that a function takes items from: where they stand is seen, also of those that count by themselves."""

from __future__ import annotations

import itertools
import operator

import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError

ITERATORS = {
    "counted, all alike": lambda: itertools.islice(itertools.repeat(2.0), 3),
    "counted, of a function": lambda: itertools.islice(iter(lambda: 2.0, None), 3),
    "counted, in a circle": lambda: itertools.islice(itertools.cycle([1.0]), 3),
    "every second": lambda: itertools.islice([*map(float, range(20))], 0, None, 2),
    "in a circle": lambda: itertools.cycle([1.0, 2.0]),
    "in a circle, twice around": lambda: advanced(itertools.cycle([1.0, 2.0]), 5),
    "a chain": lambda: itertools.chain(itertools.repeat(1.0, 2), [3.0]),
    "sums": lambda: itertools.accumulate(itertools.repeat(1.0)),
    "while": lambda: itertools.takewhile(bool, itertools.repeat(2.0, 3)),
    "selected": lambda: itertools.compress(itertools.repeat(2.0), itertools.repeat(1, 3)),
    "pairs": lambda: map(sum, itertools.pairwise(itertools.repeat(2.0, 4))),
    "groups": lambda: map(operator.itemgetter(0), itertools.groupby([1.0, 1.0, 2.0, 3.0, 4.0])),
    "one ended before": lambda: map(max, advanced(itertools.zip_longest([1.0], [1.0] * 9, fillvalue=0.0), 3)),
}


def advanced(iterator, count):
    for _ in range(count):
        next(iterator)
    return iterator


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_an_iterator_that_is_taken_from_is_refused(make):
    """A recording would take the same item for ever."""
    held = make()
    with pytest.raises(ImpureError, match="recording would"):
        ad.jit(lambda x: x * next(held))(2.0)


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_an_iterator_that_is_only_held(make):
    """It may be looked at as often as one likes: it stays where it is, and items that it has no longer are no crash."""
    held, other = make(), make()
    f = ad.jit(lambda x: x * 2.0 if held is not None else x)
    assert [f(1.0), f(2.0), f(3.0)] == [2.0, 4.0, 6.0]
    assert next(held) == next(other)
