"""What the tables of this folder share: a case makes a function, and something that changes what it reads."""

import warnings

import numpy as np

import adjoint as ad
from adjoint.capture.environment.watch import QUICK

X = np.array([1.0, 2.0])


class Thing:
    """An object of the user's own."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def table():
    """A table of cases, and the decorator that adds to it."""
    cases = {}

    def case(make):
        cases[make.__name__] = make
        return make

    return cases, case


def setting(thing, name, value):
    """Something that sets an attribute when it is called."""
    return lambda: setattr(thing, name, value)


def tables_of(jitted):
    """What each recording relies on, and the table by which machine code sees it, whatever its size; it holds now."""
    if not QUICK:
        return []
    watches = [path.recording.watch for paths in jitted._paths.values() for path in paths]
    found = [(watch, QUICK[0](watch)) for watch in watches if not watch.changed() and not watch.rewritten()]
    assert all(table() for _, table in found)
    return found


def follows(f, *changes, again=True):
    """Whether jit sees what the plain function sees, before and after each change, in the first call and the next."""
    jitted = ad.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = []
        for change in (lambda: None, *changes):
            before = f(X)
            change()
            for watch, table in tables:
                assert table() is (not watch.changed() and not watch.rewritten())
            assert change is not changes[-1] or not np.array_equal(before, f(X)), "the change changes nothing"
            for x in (X, X + 1.0, X):
                np.testing.assert_allclose(jitted(x), f(x))
            tables = tables_of(jitted)
    assert not jitted.stats()["eager"]
    if again:
        assert jitted.stats()["recordings"] <= 1 + len(changes)
