"""Variables: closures, globals by name and by text, defaults, attributes and code of functions, modules."""

import importlib
import operator
import sys
import types

import numpy as np
import pytest

from . import by_text
from .table import Thing, follows, setting, table

CASES, case = table()
own = types.ModuleType("module_of_captured_state")
own.__file__ = __file__
own.v, own.w, own.table = 2.0, np.array([1.0, 3.0]), {"a": 1.0}
sys.modules[own.__name__] = own
GLOBAL = 2.0


def set_global(name, value):
    """Give a global variable of this file another value."""
    globals()[name] = value


# variables


@case
def cell():
    k = 2.0

    def change():
        nonlocal k
        k = 5.0

    return lambda x: x * k, change


@case
def global_number():
    return lambda x: x * GLOBAL, lambda: set_global("GLOBAL", GLOBAL + 1)


@case
def global_declared_in_an_inner_function():
    def f(x):
        def inner():
            return GLOBAL

        return x * inner()

    return f, lambda: set_global("GLOBAL", GLOBAL + 1)


@case
def default():
    def f(x, k=2.0):
        return x * k

    return f, lambda: setattr(f, "__defaults__", (5.0,))


@case
def default_that_is_mutable():
    def f(x, k=[2.0]):
        return x * k[0]

    return f, lambda: f.__defaults__[0].__setitem__(0, 5.0)


@case
def keyword_default():
    def f(x, *, k=2.0):
        return x * k

    return f, lambda: f.__kwdefaults__.update(k=5.0)


@case
def keyword_defaults_replaced():
    def f(x, *, k=2.0):
        return x * k

    return f, lambda: setattr(f, "__kwdefaults__", {"k": 5.0})


@case
def keyword_defaults_given_later():
    def g(x, *, k):
        return x * k

    g.__kwdefaults__ = {"k": 2.0}

    def change():
        g.__kwdefaults__ = None
        g.__kwdefaults__ = {"k": 3.0}

    return lambda x: g(x), change


@case
def default_of_a_nested_function():
    held = [2.0]

    def f(x):
        def inner(y, k=held):
            return y * k[0]

        return inner(x)

    return f, lambda: held.__setitem__(0, 5.0)


@case
def function_setting():
    def f(x):
        return x * f.k

    f.k = 2.0
    return f, setting(f, "k", 5.0)


@case
def function_attribute_of_a_helper():
    def g(x):
        return x * g.table["k"]

    g.table = {"k": 2.0}
    return lambda x: g(x), lambda: g.table.update(k=5.0)


@case
def code():
    def f(x):
        return x * 2.0

    def other(x):
        return x * 5.0

    return f, setting(f, "__code__", other.__code__)


@case
def code_of_a_helper():
    def g(x):
        return x * 2.0

    def other(x):
        return x * 5.0

    return lambda x: g(x), setting(g, "__code__", other.__code__)


@case
def code_of_a_method():
    class Local:
        def scaled(self, x):
            return x * 2.0

    def other(self, x):
        return x * 5.0

    thing = Local()
    return lambda x: thing.scaled(x), setting(Local.scaled, "__code__", other.__code__)


# modules


@case
def module_variable():
    return lambda x: x * own.v, setting(own, "v", own.v + 1)


@case
def module_variable_through_an_alias():
    thing = Thing(module=own)
    return lambda x: x * thing.module.v, setting(own, "v", own.v + 1)


@case
def module_variable_as_text():
    return lambda x: x * getattr(own, "v"), setting(own, "v", own.v + 1)  # noqa: B009


@case
def module_variable_as_computed_text():
    thing = Thing(name="V")
    return lambda x: x * getattr(own, thing.name.lower()), setting(own, "v", own.v + 1)


@case
def module_variable_of_its_dict():
    return lambda x: x * own.__dict__["V".lower()], setting(own, "v", own.v + 1)


@case
def module_array():
    return lambda x: x * own.w, lambda: own.w.__setitem__(0, own.w[0] + 1)


@case
def module_table():
    return lambda x: x * own.table["a"], lambda: own.table.update(a=own.table["a"] + 1)


@case
def module_imported_inside():
    def f(x):
        import module_of_captured_state as imported

        return x * imported.v

    return f, setting(own, "v", own.v + 1)


@case
def name_imported_inside():
    def f(x):
        from module_of_captured_state import v

        return x * v

    return f, setting(own, "v", own.v + 1)


@case
def module_imported_by_text():
    return lambda x: x * importlib.import_module("module_of_captured_state").v, setting(own, "v", own.v + 1)


@case
def module_imported_by_computed_text():
    parts = ["module", "of", "captured", "state"]
    return lambda x: x * importlib.import_module("_".join(parts)).v, setting(own, "v", own.v + 1)


@case
def module_of_the_table_of_modules():
    return lambda x: x * sys.modules["module_of_captured_state"].v, setting(own, "v", own.v + 1)


@case
def attribute_getter():
    return lambda x: x * operator.attrgetter("v")(own), setting(own, "v", own.v + 1)


@case
def captured_attribute_getter():
    getter = operator.attrgetter("module.v")
    thing = Thing(module=own)
    return lambda x: x * getter(thing), setting(own, "v", own.v + 1)


@case
def item_getter():
    getter, held = operator.itemgetter("a"), {"a": 2.0}
    return lambda x: x * getter(held), lambda: held.update(a=5.0)


@case
def method_caller():
    class Local:
        k = 2.0

        def scaled(self, x):
            return x * self.k

    thing, caller = Local(), operator.methodcaller
    return lambda x: caller("scaled", x)(thing), setting(thing, "k", 5.0)


@case
def module_that_computes_its_attributes():
    made = types.ModuleType("module_that_computes_its_attributes")
    held = {"k": 2.0}
    made.__getattr__ = lambda name: held[name]
    return lambda x: x * made.k, lambda: held.update(k=5.0)


@case
def imported_function_replaced():
    own.helper = lambda x: x * 2.0
    return lambda x: own.helper(x), setting(own, "helper", lambda x: x * 3.0)


@case
def builtin_hidden_by_a_global():
    return lambda x: x * abs(-2.0), lambda: set_global("abs", lambda x: 7.0)


CASES.update(by_text.CASES)


@pytest.mark.parametrize("name", CASES)
def test_variables(name):
    """The next call sees the change."""
    f, *changes = CASES[name]()
    follows(f, *changes)
