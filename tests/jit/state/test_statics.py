"""Static arguments: the same recording is used where nothing that the function can read differs, whatever they say."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools

import numpy as np
import pytest

import adjoint as ad

from .table import Thing, X


class Equal(Thing):
    """Says that it is equal to everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Named(Thing):
    """Compares its name only."""

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Slotted:
    """As `Equal`, with slots."""

    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Whole(int):
    """An integer that carries something."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Mode(enum.Enum):
    """Members that say that they are equal."""

    A, B = 2.0, 3.0
    k = property(lambda self: self.value)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Meta(type):
    """Classes that say that they are equal."""

    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    """Compares one of its attributes."""

    name: str
    k: object = dataclasses.field(compare=False)


class One(metaclass=Meta):
    """Compares nothing, nor does its class."""

    k = 2.0

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Two(One):
    """As `One`, of another class."""

    k = 3.0


def whole(k):
    """A `Whole` with an attribute."""
    made = Whole(1)
    made.k = k
    return made


DIFFERENT = {
    "equal to everything": (Equal(k=2.0), Equal(k=3.0)),
    "equal by name": (Named(name="a", k=2.0), Named(name="a", k=3.0)),
    "slots": (Slotted(2.0), Slotted(3.0)),
    "integers": (whole(2.0), whole(3.0)),
    "members": (Mode.A, Mode.B),
    "classes": (Meta("One", (), {"k": 2.0}), Meta("Two", (), {"k": 3.0})),
    "objects of classes that say they are equal": (One(), Two()),
    "fields left out": (Frozen("a", 2.0), Frozen("a", 3.0)),
    "signs of zero": (Named(name="a", k=0.0), Named(name="a", k=-0.0)),
    "numbers of another type": (Named(name="a", k=2), Named(name="a", k=2.5)),
    "arrays inside": (Named(name="a", k=np.array([1.0, 2.0])), Named(name="a", k=np.array([1.0, 3.0]))),
    "lists inside": (Named(name="a", k=2.0, rest=[1.0]), Named(name="a", k=3.0, rest=[2.0])),
    "objects inside": (Frozen("a", Equal(k=2.0)), Frozen("a", Equal(k=3.0))),
}


def scaled(x, given):
    """What the tests compute."""
    k = given.k if not isinstance(given.k, Equal) else given.k.k
    return np.copysign(1.0, k) * x * (k + 1.0)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_values_that_say_they_are_equal(name):
    """Declared static, inside a tuple, by name and as an object that is not declared."""
    for f in (
        ad.jit(scaled, static_argnums=1),
        ad.jit(scaled, static_argnames="given"),
        ad.jit(lambda x, given: scaled(x, given[0]), static_argnums=1),
        ad.jit(scaled),
    ):
        for given in (*DIFFERENT[name], *DIFFERENT[name]):
            if f.static_argnames:
                np.testing.assert_array_equal(f(X, given=given), scaled(X, given))
            elif f.static_argnums and f.fun is not scaled:
                np.testing.assert_array_equal(f(X, (given,)), scaled(X, given))
            else:
                np.testing.assert_array_equal(f(X, given), scaled(X, given))


def test_a_static_value_that_is_changed():
    """Its hash and its equality stay the same, what is read of it does not."""
    for given in (Equal(k=2.0), Named(name="a", k=2.0), Slotted(2.0)):
        f = ad.jit(scaled, static_argnums=1)
        for k in (2.0, 5.0, 2.0, 7.0):
            given.k = k
            np.testing.assert_array_equal(f(X, given), scaled(X, given))


def test_keys_that_say_they_are_equal():
    """Of dicts that are arguments."""
    f = ad.jit(lambda d: [key.k * value for key, value in d.items()][0])  # noqa: RUF015
    for k in (2.0, 3.0, 2.0):
        assert f({Equal(k=k): 5.0}) == 5.0 * k


EQUAL = {
    "frozen data class": lambda: Frozen("a", 2.0),
    "named tuple": lambda: collections.namedtuple("pair", "a k", module="m")(1, 2.0),
    "fraction": lambda: fractions.Fraction(1, 3),
    "decimal": lambda: decimal.Decimal("0.25"),
    "date": lambda: datetime.date(2020, 2, 29),
    "nested": lambda: (1, ("a", Frozen("b", (2.0, None)))),
    "compared by name": lambda: Named(name="a", k=[2.0, {"b": 3.0}]),
    "dtype": lambda: np.dtype("float32"),
    "frozen set": lambda: frozenset({1, 2, "a"}),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_values_share_a_recording(name):
    """Made anew for each call."""
    pair = functools.cache(EQUAL[name])() if name == "named tuple" else None
    f = ad.jit(lambda x, given: x * (2.0 if given else 3.0), static_argnums=1)
    for _ in range(4):
        f(X, type(pair)(*pair) if pair else EQUAL[name]())
    assert f.stats()["recordings"] == 1
