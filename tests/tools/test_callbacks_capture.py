"""Callbacks in jitted functions act on the user's own objects, and what they collect counts for nothing."""

import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import InputError

POINTS = [np.arange(3.0) + k for k in range(12)]
HISTORY: list = []
LOGS = types.ModuleType("logs")
LOGS.seen = []


def note(v):
    """Collect in a global list."""
    HISTORY.append(v)


def append_to_global(x):
    """Hand a method of a global list over."""
    ad.debug.callback(HISTORY.append, x)
    return np.sum(x) * 2


def call_function(x):
    """Hand a function over that appends."""
    ad.debug.callback(note, x)
    return np.sum(x) * 2


def call_lambda(x):
    """Hand a function over that is made on the spot."""
    ad.debug.callback(lambda v: HISTORY.append(v), x)
    return np.sum(x) * 2


class Model:
    """A model that keeps what it has seen."""

    def __init__(self):
        self.gain = 2.0
        self.seen = []

    def note(self, v):
        """Collect."""
        self.seen.append(v)

    def by_method(self, x):
        """Hand a method over."""
        ad.debug.callback(self.note, x)
        return np.sum(x) * self.gain

    def by_list(self, x):
        """Hand a method of an attribute over."""
        ad.debug.callback(self.seen.append, x)
        return np.sum(x) * self.gain


def closures():
    """Functions of closures, each with the list that it fills."""
    seen: list = []

    def method(x):
        ad.debug.callback(seen.append, x)
        return np.sum(x) * 2

    def anonymous(x):
        ad.debug.callback(lambda v: seen.append(v), x)
        return np.sum(x) * 2

    def inner(x):
        def keep(v):
            seen.append(v)

        ad.debug.callback(keep, x)
        return np.sum(x) * 2

    return [(method, seen), (anonymous, seen), (inner, seen)]


def collectors():
    """All ways to collect, each with the list that is filled."""
    one, other = Model(), Model()
    ways = [(f, HISTORY) for f in (append_to_global, call_function, call_lambda)]
    return [*ways, (one.by_method, one.seen), (other.by_list, other.seen), *closures()]


@pytest.mark.parametrize("which", range(8))
@pytest.mark.parametrize("kind", [float, np.asarray])
def test_what_is_collected_is_complete_and_asks_for_no_recordings(which, kind):
    """Each call is seen once, in its order, by the user's own list; the list's growth is no reason to record again."""
    f, seen = collectors()[which]
    seen.clear()
    points = [p if kind is np.asarray else float(p[0]) for p in POINTS]
    jitted = ad.jit(f)
    values = [jitted(p) for p in points]
    assert [v.tolist() if kind is np.asarray else v for v in seen] == [np.asarray(p).tolist() for p in points]
    assert values == [2 * np.sum(p) for p in points]
    assert jitted.stats()["recordings"] <= 2
    assert not jitted.stats()["eager"]


def test_effects_reach_captured_arrays_and_objects():
    """A callback may write to arrays, dicts and objects that the jitted function captures besides."""
    total, table = np.zeros(3), {"a": np.zeros(3)}

    def add(v):
        total[:] += v

    @ad.jit
    def f(x):
        ad.debug.callback(add, x)
        ad.debug.callback(table["a"].__setitem__, 0, x[0])
        return np.sum(x) + total[0]

    expected = np.zeros(3)
    for x in POINTS:
        assert f(x) == np.sum(x) + expected[0]
        expected += x
        assert table["a"][0] == x[0]
    assert total.tolist() == expected.tolist()


def test_what_is_read_as_well_still_counts():
    """A list that the result depends on is read at every call, whoever fills it."""
    seen: list = []

    @ad.jit
    def f(x):
        ad.debug.callback(seen.append, x)
        return x + len(seen)

    assert [f(1.0) for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


def test_another_list_is_noticed():
    """A variable or an attribute that holds another list from now on is filled from now on."""
    model = Model()
    jitted = ad.jit(model.by_list)
    for _ in range(3):
        model.seen = []
        jitted(1.0)
        jitted(2.0)
        assert model.seen == [1.0, 2.0]
    seen: list = []

    def g(x):
        ad.debug.callback(seen.append, x)
        return x

    quick = ad.jit(g)
    for _ in range(3):
        seen = []
        quick(1.0)
        quick(2.0)
        assert seen == [1.0, 2.0]


def test_a_callback_of_the_users_own_is_no_effect():
    """A function that is only named like the library's reads what it is given."""
    seen = [1.0]
    own = types.SimpleNamespace(debug=types.SimpleNamespace(callback=lambda f, x: x * len(f.__self__)))

    @ad.jit
    def f(x):
        return own.debug.callback(seen.append, x)

    assert f(2.0) == 2.0
    for k in range(2, 5):
        seen.append(0.0)
        assert f(2.0) == 2.0 * k


def test_a_value_behind_a_callback_is_refused():
    """A value of the jitted function has to be an argument: in a closure it would stay as it was recorded."""

    def f(x):
        y = 2 * x
        ad.debug.callback(lambda: HISTORY.append(float(y)))
        return y

    def g(x):
        ys = [2 * x]
        ad.debug.callback(lambda v: HISTORY.append(ys), x)
        return x

    for function in (f, g):
        with pytest.raises(InputError, match="as an argument"):
            ad.jit(function)(1.0)
