"""Traced numbers as keys of dicts and sets, in comparisons of containers and in `match`: by value, as plain numbers."""

import bisect
import collections
import functools
import itertools
import math
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import BatchError, DerivativeDroppedError


def matched(x):
    match x:
        case 0.0:
            return "zero"
        case 2 | 3.5:
            return "two"
        case float():
            return "a float"
    return "else"


def matched_inside(x):
    match {"a": [x, 1.0]}:
        case {"a": [2.0, y]}:
            return y
        case {"a": [_, y]}:
            return -y


def stored(x):
    table = {}
    table[x] = "here"
    return table.get(2.0), 2.0 in table, len(table)


def grouped(x):
    groups = collections.defaultdict(list)
    for key in (x, 2.0, 0.0):
        groups[key].append(1)
    return sorted(map(len, groups.values()))


PROGRAMS = {
    "in a set": lambda x: x in {0.0, 2.0},
    "in a frozenset": lambda x: x in frozenset([0.0, 2.0]),
    "in a list": lambda x: x in [0.0, 2.0],
    "in a tuple": lambda x: x in (0, 2),
    "in a dict": lambda x: x in {0: "a", 2: "b"},
    "in its keys": lambda x: x in {0.0: "a"}.keys(),  # noqa: SIM118  (a view of its own)
    "in its values": lambda x: x in {"a": 0.0}.values(),
    "an item": lambda x: {0.0: 3.0, 2.0: 4.0, 1.0: 5.0}[x],
    "get": lambda x: {0: 3.0, 2: 4.0}.get(x, 7.0),
    "pop": lambda x: {0: 3.0, 2: 4.0}.pop(x, 7.0),
    "a missing item": lambda x: {0.0: 3.0}[x + 10],
    "a tuple as key": lambda x: {(0.0, 1): 3.0, (2.0, 1): 4.0}.get((x, 1), 7.0),
    "a truth value as key": lambda x: {True: 3.0, False: 4.0}[x > 1],
    "a set display": lambda x: len({x, 0.0, 2.0}),
    "set": lambda x: len({x, x + 0.0, x * 1.0, 2.0 * x}),
    "set operations": lambda x: (len({x} & {2.0}), len({x} | {2.0}), {x} <= {2.0, 3.0}, {x} == {2.0}),
    "discarded": lambda x: len({0.0, 2.0} - {x}),
    "fromkeys": lambda x: list(dict.fromkeys([2.0, x, 0.0])),
    "Counter": lambda x: sorted(collections.Counter([x, 0.0, 2.0, 2.0]).values()),
    "defaultdict": grouped,
    "stored": stored,
    "index": lambda x: [0.0, 1.0, 2.0].index(x),
    "count": lambda x: [0.0, 1.0, 2.0, 2.0].count(x),
    "groupby": lambda x: [len(list(group)) for _, group in itertools.groupby([2.0, x, x])],
    "bisect": lambda x: bisect.bisect([0.0, 1.0, 2.0], x),
    "tuples": lambda x: ((x, 1) == (2.0, 1), (x, 1) < (1.5, 1), [x] == [2.0], {"a": x} == {"a": 2.0}),
    "hash": lambda x: hash(x) == hash(2.0),
    "match": matched,
    "match inside": matched_inside,
}

POINTS = (0.0, 2.0, 1.0, 2.0, 3.5)

TRANSFORMS = {
    "grad": lambda f: lambda x: ad.grad(lambda y: (y * 1.0, f(y)), has_aux=True)(x)[1],
    "jvp": lambda f: lambda x: ad.jvp(lambda y: (y * 1.0, f(y)), (x,), (1.0,), has_aux=True)[2],
    "jit": ad.jit,
    "jit of grad": lambda f: ad.jit(lambda x: ad.grad(lambda y: (y * 1.0, f(y)), has_aux=True)(x)[1]),
}


def attempted(call, x):
    """The result as text, or the kind of error."""
    try:
        return repr(ad.tree.map(ad.value, call(x)))
    except (KeyError, ValueError) as error:
        return type(error).__name__


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_lookups_are_by_value(program, transform):
    """What the plain number finds is found, at every point, whatever was recorded before."""
    found = transform(program)
    for x in POINTS:
        assert attempted(found, x) == attempted(program, x), x


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_derivatives_of_what_is_found(kind):
    """What is found may be traced itself, and is differentiated as such."""

    def f(x):
        return {0.0: x * x, 2.0: x**3}.get(x, x) * (3.0 if x in {2.0} else 1.0)

    assert ad.grad(f)(kind(2.0)) == 36.0
    assert ad.grad(f)(kind(1.0)) == 1.0
    assert ad.jit(ad.grad(f))(kind(2.0)) == 36.0


def test_arrays_have_no_hash():
    """As without a trace."""
    for transform in (lambda f, x: ad.grad(f)(x), lambda f, x: ad.jvp(f, (x,), (x,)), lambda f, x: ad.jit(f)(x)):
        with pytest.raises(TypeError, match="unhashable type"):
            transform(lambda x: {x: 1.0}, np.ones(3))
    assert ad.grad(lambda x: (2.0 if x[0] in {1.0} else 3.0) * np.sum(x))(np.ones(2)).tolist() == [2.0, 2.0]


def test_a_batch_is_not_looked_up():
    """One number is wanted, and there are many."""
    with pytest.raises(BatchError, match=r"looked up in a dict or a set.*\n.*\n.*\n.*np\.where"):
        ad.vmap(lambda x: 1.0 if x in {0.0} else 2.0)(np.arange(3.0))


def cached():
    """A function with Python's cache."""
    return functools.lru_cache(lambda x: x * x)


def remembering():
    """A function with a cache of its own."""
    memory = {}

    def f(x):
        if x not in memory:
            memory[x] = x * x
        return memory[x]

    return f


def remembering_tuples():
    """A decorator as people write it."""
    memory = {}

    def f(*args):
        try:
            return memory[args]
        except KeyError:
            memory[args] = result = args[0] * args[0]
            return result

    return f


def remembering_by_get():
    """With `get`, and `setdefault`."""
    memory = {}

    def f(x):
        found = memory.get(x)
        return memory.setdefault(x, x * x) if found is None else found

    return f


CACHES = [cached, remembering, remembering_tuples, remembering_by_get]


@pytest.mark.parametrize("before", ["plain", "traced", "nothing"])
@pytest.mark.parametrize("make", CACHES)
def test_caches_do_not_lose_derivatives(make, before):
    """What a cache holds for an equal number does not depend on this one: refused, or the right slope.

    Python's own are passed by; what a trace has left in a dict is found by nobody.
    """
    f = make()
    if before == "plain":
        assert f(3.0) == 9.0
    if before == "traced":
        assert ad.grad(f)(3.0) == 6.0
    if before == "nothing":
        assert ad.grad(f)(3.0) == 6.0
        assert f(4.0) == 16.0
        assert ad.grad(lambda x: f(x) + f(x))(5.0) == 20.0  # one and the same number may be found
        return
    for transform in (ad.grad, ad.derivative, lambda g: lambda x: ad.jvp(g, (x,), (1.0,))[1]):
        if before == "plain" and make is not cached:
            with pytest.raises(DerivativeDroppedError, match="another number of the same value"):
                transform(f)(3.0)
        else:
            assert transform(f)(3.0) == 6.0
    assert f(3.0) == 9.0
    assert type(f(3.0)) is float


@pytest.mark.parametrize("make", CACHES)
def test_two_equal_numbers_are_two_variables(make):
    """A cache would take the one for the other."""
    f = make()
    if make is cached:
        assert ad.grad(lambda x, y: f(x) + 2.0 * f(y), (0, 1))(3.0, 3.0) == (6.0, 12.0)
    else:
        with pytest.raises(DerivativeDroppedError):
            ad.grad(lambda x, y: f(x) + f(y), (0, 1))(3.0, 3.0)
    assert ad.grad(lambda x, y: f(x) + f(y), (0, 1))(4.0, 5.0) == (8.0, 10.0)


def test_not_a_number_is_found_by_identity():
    """As in Python: nan is nowhere, but where it is the same object."""
    assert ad.grad(lambda x: (1.0 if x in {math.nan} else 2.0) * x)(math.nan) == 2.0


FOUND = {}
"""Where functions behind a cache look for a number."""


@functools.lru_cache(None)
def product(n):
    """A number of the trace, kept under a plain key."""
    return FOUND["x"] * n


@functools.lru_cache(8)
def closure(n):
    """A function that closes over one."""
    x = FOUND["x"]
    return lambda y: x * y * n


@functools.lru_cache(None)
def bound(n):
    """An object that holds one, behind a method and a partial function."""
    return functools.partial(types.SimpleNamespace(x=[FOUND["x"] * n]).x.__getitem__, 0)


@pytest.mark.parametrize("read", [lambda: 3.0 * product(2), lambda: closure(2)(3.0), lambda: 3.0 * bound(2)()])
def test_a_cache_keeps_no_handles_behind_its_results(read):
    """Each gradient computes anew what was made of its numbers, and a plain call finds none of them."""

    def f(x):
        FOUND["x"] = x
        return read()

    assert [ad.grad(f)(2.0), ad.grad(f)(2.0), ad.jvp(f, (2.0,), (1.0,))[1], ad.grad(f)(2.0)] == [6.0] * 4
    assert type(f(2.0)) is float
