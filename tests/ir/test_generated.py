"""What `dataclasses` and `namedtuple` write into classes, told from what the user writes."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from adjoint.capture.environment.generated import defaults_of, generated

DATACLASS = {"__dataclass_fields__", "__dataclass_params__"}


@dataclass
class Plain:
    x: Any
    y: float = 2.0
    z: list = field(default_factory=list, repr=False)


@dataclass(frozen=True, order=True, slots=True)
class Frozen:
    x: Any = field(compare=False)
    y: Any = field(default=1, kw_only=True)


@dataclass
class Own:
    x: Any

    def __init__(self, x):
        self.x = 2.0 * x

    def __eq__(self, other):
        return True

    def __repr__(self):
        return "own"


class Named(NamedTuple):
    x: Any
    y: Any = 3.0

    def total(self):
        return self.x + self.y


class NotNamed:
    _fields: tuple = ([1, 2],)

    def first(self):
        return self._fields[0][0]


def test_methods_are_recognised():
    """Those that are written for the fields, and no others."""
    assert generated(Plain) == DATACLASS | {"__init__", "__repr__", "__eq__"}
    compared = {"__eq__", "__lt__", "__le__", "__gt__", "__ge__"}
    assert generated(Frozen) >= DATACLASS | compared | {"__init__", "__repr__", "__hash__", "__setattr__"}
    assert generated(Own) == DATACLASS
    assert {"__new__", "_make", "_replace", "x", "y", "_fields"} <= generated(Named)
    assert "total" not in generated(Named)
    assert "x" in generated(collections.namedtuple("Point", "x"))
    assert not generated(NotNamed)
    assert not generated(type("Heir", (Plain,), {}))
    assert defaults_of(Plain) == [2.0, list]
    assert defaults_of(Named) == [3.0]


def test_defaults_are_watched():
    """What a class gives where nothing is given counts, and what makes it."""
    factor = [2.0]

    @dataclass
    class Scale:
        by: Any = field(default_factory=lambda: factor[0])

    f = ad.jit(lambda x: x * Scale().by)
    assert [f(1.0), f(1.0)] == [2.0, 2.0]
    factor[0] = 3.0
    assert [f(1.0), f(1.0)] == [3.0, 3.0]


def test_fields_of_other_classes_are_watched():
    """A class that merely has such a name is no named tuple."""
    thing = NotNamed()
    f = ad.jit(lambda x: x * thing.first())
    np.testing.assert_array_equal([f(1.0), f(1.0)], [1.0, 1.0])
    NotNamed._fields[0][0] = 5
    try:
        np.testing.assert_array_equal(f(1.0), 5.0)
    finally:
        NotNamed._fields[0][0] = 1
