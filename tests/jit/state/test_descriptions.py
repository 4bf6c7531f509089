"""Attributes that come and go: of functions and modules, whole dicts of attributes, names and texts of functions."""

import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError

WEIGHTS = np.ones(2)


class Plain:
    """An object without attributes."""


def asked(x, owner):
    """Ask whether an attribute exists."""
    return x * getattr(owner, "gain", 1.0)


def has(x, owner):
    """Ask first, then read."""
    return x * (owner.gain if hasattr(owner, "gain") else 1.0)


def tried(x, owner):
    """Read, and catch the error."""
    try:
        return x * owner.gain
    except AttributeError:
        return x


def looked_through(x, owner):
    """Go through the dict of attributes."""
    return x * sum([1.0, *[v for v in owner.__dict__.values() if isinstance(v, float)]])


def with_array(x, owner):
    """A function that is recorded as a copy, as it captures an array."""
    return np.sum(x * WEIGHTS) * getattr(owner, "gain", 1.0)


OWNERS = {
    "function": lambda: lambda x: x,
    "module": lambda: types.ModuleType("settings"),
    "object": Plain,
    "namespace": types.SimpleNamespace,
    "class": lambda: type("Settings", (), {}),
}


@pytest.mark.parametrize("read", [asked, has, tried, looked_through, with_array])
@pytest.mark.parametrize("kind", OWNERS)
def test_attributes_that_come_and_go(kind, read):
    """The next call sees an attribute that was not there, another value, and that it has gone."""
    owner = OWNERS[kind]()

    def f(x):
        return read(x, owner)

    jitted = ad.jit(f)
    for change in (None, 5.0, 6.0, None, 7.0, None):
        if change is not None:
            owner.gain = change
        elif "gain" in vars(owner):
            del owner.gain
        for x in (1.0, 2.0):
            assert jitted(x) == f(x)


def test_a_function_that_sets_an_attribute_of_a_function_is_refused():
    """A recording would not repeat it, whether the function is copied for it or not."""

    def helper(x):
        return x

    def counts(x):
        counts.calls = getattr(counts, "calls", 0) + 1
        return x * counts.calls

    def keeps(x):
        helper.last = x
        return helper(x)

    def keeps_with_array(x):
        helper.last = x
        return np.sum(helper(x) * WEIGHTS)

    for f in (counts, keeps, keeps_with_array):
        with pytest.raises(ImpureError):
            ad.jit(f)(1.0)


@pytest.mark.parametrize(("name", "values"), [("__doc__", ("2", "30")), ("__name__", ("two", "three"))])
@pytest.mark.parametrize("kind", ["function", "class"])
def test_what_python_knows_of_functions_and_classes(kind, name, values):
    """Texts that a program reads are part of what it relies on."""
    owner = OWNERS[kind]()
    setattr(owner, name, values[0])

    def f(x):
        return x * len(owner.__doc__ if name == "__doc__" else owner.__name__)

    jitted = ad.jit(f)
    for value in (*values, values[0]):
        setattr(owner, name, value)
        assert jitted(2.0) == f(2.0)


def test_defaults_and_annotations_that_are_only_read():
    """A function that is never called may still be asked for its defaults."""

    def owner(x, k=2.0):
        return x

    def f(x):
        return x * owner.__defaults__[0] + len(owner.__annotations__)

    jitted = ad.jit(f)
    for k in (2.0, 5.0, 3.0, 2.0):
        owner.__defaults__ = (k,)
        owner.__annotations__[str(k)] = float
        assert jitted(2.0) == f(2.0)
