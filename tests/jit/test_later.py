"""What comes, or changes its form, after a function was recorded: names, attributes, keys, arrays resized in place."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import adjoint as ad


class Scaled:
    scale = 1.0

    def times(self, x):
        return self.scale * x

    @ad.jit
    def jitted(self, x):
        return self.scale * x


def test_an_instance_attribute_before_that_of_the_class():
    """An attribute set on the instance later hides that of its class."""
    thing = Scaled()
    f = ad.jit(thing.times)
    assert (f(2.0), thing.jitted(2.0)) == (2.0, 2.0)
    thing.scale = 3.0
    assert (f(2.0), thing.jitted(2.0)) == (6.0, 6.0)


def test_a_class_attribute_before_that_of_its_base():
    """An attribute set on the class later hides that of its base."""

    class Base:
        c = 2.0

    class Derived(Base):
        pass

    f = ad.jit(lambda x: Derived.c * x)
    assert f(1.0) == 2.0
    Derived.c = 7.0
    assert f(1.0) == 7.0
    del Derived.c
    Base.c = 3.0
    assert f(1.0) == 3.0


def test_a_method_patched_on_an_instance():
    """A method that is replaced on one instance is the one that is called."""
    thing = Scaled()
    f = ad.jit(lambda x: thing.times(x))
    assert f(1.0) == 1.0
    thing.times = lambda x: 100.0 * x
    assert f(1.0) == 100.0


def test_attributes_that_are_asked_for_in_case_they_exist():
    """`getattr` with a default and `hasattr` see an attribute that comes or goes."""
    plain = type("Plain", (), {})()

    def attempted(x):
        try:
            return plain.late * x
        except AttributeError:
            return x

    f = ad.jit(lambda x: getattr(plain, "gain", 1.0) * x)
    g = ad.jit(attempted)
    h = ad.jit(lambda x: 2.0 * x if hasattr(plain, "new") else x)
    assert (f(1.0), g(1.0), h(1.0)) == (1.0, 1.0, 1.0)
    plain.gain, plain.late, plain.new = 5.0, 4.0, True
    assert (f(1.0), g(1.0), h(1.0)) == (5.0, 4.0, 2.0)


def test_a_global_before_a_builtin_and_one_that_was_missing():
    """A global set later hides the builtin of that name, and ends a NameError that was caught."""
    space: dict = {"__name__": "user"}
    exec("def f(x):\n    return max(x, 2.0)", space)
    exec("def g(x):\n    try:\n        return LATE * x\n    except NameError:\n        return x", space)
    f, g = ad.jit(space["f"]), ad.jit(space["g"])
    assert (f(3.0), g(1.0)) == (3.0, 1.0)
    space["max"], space["LATE"] = min, 3.0
    assert (f(3.0), g(1.0)) == (2.0, 3.0)


def test_attributes_and_keyword_defaults_of_functions():
    """What hangs on a function, and its defaults, are read as they are at the call."""

    def f(x, *, k=2.0):
        return x * k * f.factor

    f.factor = 1.0
    jitted = ad.jit(f)
    assert jitted(1.0) == 2.0
    f.factor = 3.0
    assert jitted(1.0) == 6.0
    f.__kwdefaults__["k"] = 5.0
    assert jitted(1.0) == 15.0


def test_modules_in_cells_and_imported_inside(monkeypatch):
    """A module's value is read as it is at the call, however the function came by the module."""
    module = types.ModuleType("a_users_module")
    module.k = 2.0
    monkeypatch.setitem(sys.modules, "a_users_module", module)

    def imported(x):
        import a_users_module

        return x * a_users_module.k

    f, g = ad.jit(imported), ad.jit(lambda x: x * module.k)
    assert (f(1.0), g(1.0)) == (2.0, 2.0)
    module.k = 7.0
    assert (f(1.0), g(1.0)) == (7.0, 7.0)


def test_the_order_and_the_types_of_keys():
    """Dicts of another order, or with keys of another type, are other dicts."""
    f = ad.jit(lambda **words: list(words.values()))
    assert f(a=1.0, b=2.0) == [1.0, 2.0]
    assert f(b=1.0, a=2.0) == [1.0, 2.0]
    g = ad.jit(lambda d: [type(key).__name__ for key in d])
    assert (g({1: 1.0}), g({1.0: 1.0}), g({True: 1.0})) == (["int"], ["float"], ["bool"])
    h = ad.jit(lambda d: [2.0 * v for v in d.values()])
    for _ in range(2):
        assert h({"w": 1.0, "b": 2.0}) == [2.0, 4.0]
        assert h({"b": 1.0, "w": 2.0}) == [2.0, 4.0]


def test_numbers_as_keys_are_guarded():
    """Which key a number is decides what is looked up."""
    f = ad.jit(lambda x: {1.0: 5.0}.get(x, 9.0))
    g = ad.jit(lambda x: 1.0 if x in {1.0, 2.0} else 0.0)
    assert [f(1.0), f(2.0), f(1.0)] == [5.0, 9.0, 5.0]
    assert [g(1.0), g(3.0), g(2.0), g(3.0)] == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")  # from NumPy 2.5 on
def test_captured_arrays_that_change_their_form():
    """A captured array of another shape or dtype needs another recording."""
    a, b, c = np.arange(6.0), np.ones(500_000), np.arange(4.0)
    f, g, h = (ad.jit(lambda x, w=w: w.sum(axis=0) * x) for w in (a, b, c))
    for _ in range(2):
        assert (f(1.0), g(1.0), h(1.0)) == (15.0, 500_000.0, 6.0)
    a.shape = (2, 3)
    b.resize(3, refcheck=False)
    c.dtype = np.int64
    for _ in range(2):
        np.testing.assert_array_equal(f(1.0), [3.0, 5.0, 7.0])
        assert g(1.0) == 3.0
        assert h(1.0) == c.sum()
