"""Arrays among the attributes of captured objects: read at each call where the object can be copied."""

from __future__ import annotations

import functools
import operator
import threading
import types
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError

X = np.arange(1.0, 4.0)


class Plain:
    """An object of a class with nothing special."""

    def __init__(self, w):
        self.w = w

    def loss(self, x):
        """A method of its own."""
        return np.sum(self.w * x) + self.doubled[0]

    @property
    def doubled(self):
        """Computed from the array."""
        return self.w * 2


@dataclass
class Data:
    """A dataclass."""

    w: Any


@dataclass(frozen=True)
class Frozen:
    """A dataclass whose objects are not to be changed; their arrays are."""

    w: Any


@dataclass(slots=True)
class Slots:
    """A dataclass without dicts."""

    w: Any


class Setting(Plain):
    """Attributes are set by a method of its own, and missing ones asked for by another."""

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    def __getattr__(self, name):
        raise AttributeError(name)


class Pair(NamedTuple):
    """A named tuple."""

    w: Any
    name: str = "pair"


KINDS = [Plain, Data, Frozen, Slots, Setting, Pair, lambda w: types.SimpleNamespace(w=w)]
PLACES = {
    "attribute": lambda o: lambda x: np.sum(o.w * x),
    "partial": lambda o: functools.partial(lambda o, x: np.sum(o.w * x), o),
    "default": lambda o: lambda x, o=o: np.sum(o.w * x),
    "in a list": lambda o, held=None: (lambda held: lambda x: np.sum(held[0].w * x))([o]),
    "in a dict of an object": lambda o: (lambda outer: lambda x: np.sum(outer.w["o"].w * x))(Plain({"o": o})),
    "in a function": lambda o: (lambda helper: lambda x: np.sum(helper() * x))(lambda: o.w),
    "gradient": lambda o: ad.grad(lambda x: np.sum(np.sin(o.w * x))),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_writing_to_the_array_is_seen_by_one_recording(kind, place):
    """Nothing is compared, and nothing recorded again."""
    w = np.array([1.0, 2.0, 3.0])
    f = PLACES[place](kind(w))
    jitted = ad.jit(f)
    for k in range(4):
        w[:] = np.cos(k + np.arange(3.0))
        np.testing.assert_allclose(jitted(X), f(X), rtol=1e-14)
    assert jitted.recordings == 1
    assert not [a for path in jitted._paths.values() for p in path for a in p.recording.watch.arrays]


@pytest.mark.parametrize("kind", [Plain, Data, Slots, Setting, lambda w: types.SimpleNamespace(w=w)])
def test_another_array_is_an_input(kind):
    """An array that is replaced is read at each call from then on; another shape or dtype has its own recording."""
    o = kind(np.ones(3))
    jitted = ad.jit(lambda x: np.sum(o.w * x))
    for k in range(20):
        o.w = np.cos(k + np.arange(3.0))
        np.testing.assert_allclose(jitted(X), np.sum(o.w * X), rtol=1e-14)
    assert jitted.recordings == 2
    for w in (np.ones((2, 3)), np.arange(3), np.array(2.0), np.ones((3, 3))[:, ::2][:, :1], np.ones((3, 2)).T[:1]):
        o.w = w
        got, wanted = jitted(X), np.sum(o.w * X)
        assert got == wanted
        assert type(got) is type(wanted)


VARIABLE = np.ones(3)


def test_variables_that_are_given_other_arrays():
    """The same for globals, items of containers, and tuples with arrays in them."""
    global VARIABLE
    table, row, pair = {"w": np.ones(3)}, [np.ones(3)], Plain((np.ones(3), 1.0))
    f = lambda x: np.sum(VARIABLE * x + table["w"] * row[0] + pair.w[0] * pair.w[1])  # noqa: E731
    jitted = ad.jit(f)
    for k in range(20):
        VARIABLE, table["w"], row[0] = (np.sin(k + j + np.arange(3.0)) for j in range(3))
        pair.w = (np.cos(k * np.arange(3.0)), float(k))
        np.testing.assert_allclose(jitted(X), f(X), rtol=1e-13)
    assert jitted.recordings <= 3
    assert not jitted.stats()["eager"]


def test_writing_to_an_array_that_is_an_input_is_refused():
    """As for any captured array; the array itself is as it was."""
    o = Plain(np.ones(3))

    def f(x, write):
        if write:
            o.w += 1.0
        return np.sum(o.w * x)

    jitted = ad.jit(f)
    for k in range(4):
        o.w = np.ones(3) * k
        assert jitted(X, False) == 6.0 * k
    with pytest.raises(ImpureError):
        jitted(X, True)


def test_setting_an_attribute_is_refused_by_name():
    """The copy is what was changed, then the object itself is met."""
    o = Plain(np.ones(3))

    def f(x):
        o.count = 1
        return np.sum(o.w * x)

    with pytest.raises(ImpureError, match=r"the attribute 'count' of a Plain"):
        ad.jit(f)(X)


def test_what_is_set_to_what_it_was_is_no_change():
    """An equal number, though another object."""
    o = Plain(np.ones(3))
    o.scale = 1000.5

    def f(x):
        o.scale = 2001.0 / 2
        return np.sum(o.w * x) * o.scale

    assert ad.jit(f)(X) == f(X)


def test_objects_that_are_compared_by_identity():
    """Code that asks which object it has gets the objects themselves, however it came by them."""
    hidden = threading.local()
    o, other = Plain(np.ones(3)), Plain(np.ones(3))
    hidden.current = o
    ways = [
        lambda x: np.sum(x * o.w) * (2.0 if hidden.current is o else 1.0),
        lambda x: np.sum(x * o.w) * (2.0 if [o, other][0] is o else 1.0),
        lambda x, table={o: 3.0}: np.sum(x * o.w) * table[o],
        lambda x, table={id(o): 3.0}: np.sum(x * o.w) * table[id(o)],
        lambda x, them={o}: np.sum(x * o.w) * (2.0 if o in them else 1.0),
    ]
    for f in ways:
        jitted = ad.jit(f)
        for k in range(3):
            o.w[0] = k
            assert jitted(X) == f(X)


def test_asking_in_code_that_does_not_run_costs_nothing():
    """A method that compares objects, and is not called."""

    class Chain(Plain):
        def is_last(self, other):
            return other is self

    o = Chain(np.ones(3))
    jitted = ad.jit(o.loss)
    for k in range(3):
        o.w[:] = k
        assert jitted(X) == o.loss(X)
    assert jitted.recordings == 1


def test_compiled_code_gets_the_array_itself():
    """What takes no handles gets arrays, which are compared then; those of variables are read all the same."""
    o, big = Plain(np.ones(3)), np.ones(3)
    f = lambda x: np.sum(x * big) * len(o.w.tobytes()) * memoryview(o.w)[0]  # noqa: E731
    jitted = ad.jit(f)
    for k in range(3):
        big[:] = k
        assert jitted(X) == f(X)
    assert jitted.recordings == 1
    o.w[0] = 5.0
    assert jitted(X) == f(X)


def test_static_objects():
    """Arguments that are objects: declared static or not, and the first argument of a jitted method."""

    class Model(Plain):
        @ad.jit
        def value(self, x):
            return np.sum(self.w * x)

    o = Model(np.ones(3))
    for jitted in (ad.jit(lambda o, x: np.sum(o.w * x), static_argnums=0), ad.jit(lambda o, x: np.sum(o.w * x))):
        for k in range(3):
            o.w[:] = k
            assert jitted(o, X) == o.value(X) == 6.0 * k
        assert jitted.recordings == 1
    assert Model.value.recordings == 1


def test_objects_in_the_result():
    """An object that is given back is the user's own."""
    o = Plain(np.ones(3))
    jitted = ad.jit(lambda x: (o, np.sum(o.w * x)))
    assert jitted(X)[0] is o
    assert jitted(X)[0] is o


def test_objects_that_refer_to_each_other():
    """A circle of objects, and two that share an array."""
    a, b = Plain(np.ones(3)), Plain(None)
    a.other, b.other, b.w = b, a, a.w
    f = lambda x: np.sum(a.other.w * x) + a.other.other.w[1]  # noqa: E731
    jitted = ad.jit(f)
    for k in range(3):
        a.w[:] = k
        assert jitted(X) == f(X)
    b.w = np.zeros(3)
    assert jitted(X) == f(X)


def test_getters_never_change():
    """A captured `itemgetter` is not looked at before each call; what it refers to is."""
    jitted = ad.jit(ad.grad(lambda x: np.sum(operator.itemgetter(0)([x * x]))))
    np.testing.assert_array_equal(jitted(X), 2 * X)
    (watch,) = [p.recording.watch for paths in jitted._paths.values() for p in paths]
    assert not [s for s in watch.states if isinstance(s.x, operator.itemgetter)]
    key = Plain(1)
    read = operator.itemgetter(key)
    table = {key: X}
    jitted = ad.jit(lambda x: np.sum(x * read(table)) * key.w)
    assert jitted(X) == 14.0
    key.w = 2
    assert jitted(X) == 28.0
