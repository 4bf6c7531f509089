"""Variables that are read by a text: any name of the module may be meant, so this one has no more than it needs.

With `sys` or `pytest` among its names, everything that the process has loaded would be behind the functions.
"""

import types

from .table import Thing, setting, table

CASES, case = table()
GLOBAL = 2.0
LISTED = [2.0]
own = types.ModuleType("module_that_is_read_by_text")
own.__file__ = __file__
own.v = 2.0


def set_global(name, value):
    """Give a global variable of this file another value."""
    globals()[name] = value


@case
def global_by_text():
    return lambda x: x * globals()["GLOBAL"], lambda: set_global("GLOBAL", GLOBAL + 1)


@case
def global_by_computed_text():
    return lambda x: x * globals()["GLO" + "bal".upper()], lambda: set_global("GLOBAL", GLOBAL + 1)


@case
def evaluated():
    return lambda x: x * eval("GLOBAL * 2"), lambda: set_global("GLOBAL", GLOBAL + 1)


@case
def evaluated_from_a_captured_text():
    thing = Thing(text="GLO" + "BAL * 2")
    return lambda x: x * eval(thing.text), lambda: set_global("GLOBAL", GLOBAL + 1)


@case
def executed():
    def f(x):
        scope = dict(globals())
        exec("y = GLOBAL + LISTED[0]", scope)
        return x * scope["y"]

    return f, lambda: LISTED.__setitem__(0, 7.0)


@case
def module_variable_of_vars():
    return lambda x: x * vars(own)["v"], setting(own, "v", own.v + 1)
