"""What is changed outside the library for good is listed, undone to the identity, and made again."""

from __future__ import annotations

import gc
import operator
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint.host.code.versions import IS_KNOWN
from adjoint.host.patches.changes import CHANGES

pytestmark = pytest.mark.skipif(not IS_KNOWN, reason="the code of this interpreter is not changed")

TEXT = '''
import numpy
from numpy import array, r_, zeros

class Model:
    """It holds one of NumPy's functions, and asks for the type of what it gets."""

    make = zeros

    def weights(self, x, make=array):
        return make([x, x]) if type(x) is float else None

def filled(x, start=zeros, *, join=array):
    y = start(2)
    y[0] = x
    return join([y[0], x])

def loss(x):
    z = zeros(2)
    z[1] = x * float(x)
    return z[1] + filled(x)[0] + Model().weights(x)[1] + r_[x, x][0] + Model.make(2)[0]

def outer(make):
    def inner(x):
        y = make(1)
        y[0] = float(x) * x
        return y[0]
    return inner

def parts(x):
    for _ in range(3):
        yield float(x)
'''


@pytest.fixture
def module(monkeypatch):
    """A module of a user's."""
    made = types.ModuleType("users_model")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(compile(TEXT, "users_model.py", "exec"), vars(made))
    yield made
    ad.debug.unpatch()


def state(module):
    """All that may be changed in it."""
    functions = [module.filled, module.loss, module.outer, module.parts, module.Model.weights]
    parts = [(f.__code__, f.__defaults__, *(f.__kwdefaults__ or {}).values()) for f in functions]
    return [dict(vars(module)), dict(vars(module.Model)), *parts]


def is_same(a, b):
    """Whether two states hold the very same objects."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(a[name] is b[name] for name in a)
    if isinstance(a, list):
        return all(map(is_same, a, b))
    return len(a) == len(b) and all(map(operator.is_, a, b))


def test_a_users_module_is_as_it_was(module):
    """Names, defaults, attributes of classes and code are the originals; the next trace has its versions again."""
    before = state(module)
    first = ad.grad(module.loss)(3.0)
    patched = state(module)
    assert module.zeros is not np.zeros
    assert module.Model.make is not np.zeros
    assert module.filled.__defaults__[0] is not np.zeros
    assert module.filled.__kwdefaults__["join"] is not np.array
    assert module.loss.__code__ is not before[3][0]
    assert ad.debug.unpatch() > 0
    assert is_same(before, state(module))
    assert module.zeros is np.zeros
    assert module.Model.make is np.zeros
    assert module.filled.__defaults__ == (np.zeros,)
    assert module.filled.__kwdefaults__ == {"join": np.array}
    assert "type" not in vars(module)
    assert module.loss(3.0) == 3.0 * 3.0 + 3.0 * 3
    assert ad.grad(module.loss)(3.0) == first == 9.0
    assert is_same(patched, state(module))


def test_what_is_changed_is_listed(module):
    """By its full name, with the sort of place, the reason and the time."""
    assert ad.debug.patches("users_model") == []
    ad.grad(module.loss)(3.0)
    places = {place.where: place for place in ad.debug.patches("users_model")}
    expected = {
        "users_model.zeros": "global name",
        "users_model.array": "global name",
        "users_model.r_": "global name",
        "users_model.type": "global name",
        "users_model.Model.make": "attribute",
        "users_model.Model.weights.__defaults__": "attribute",
        "users_model.filled.__defaults__": "attribute",
        "users_model.filled.join": "default of a keyword",
        "users_model._float for handles": "global name",
        "users_model.loss.__code__": "attribute",
        "users_model.outer.__code__": "attribute",
        "users_model.parts.__code__": "attribute",
    }
    assert {where: place.what for where, place in places.items()} == expected
    place = places["users_model.zeros"]
    assert place.why == "the name holds NumPy's function, whatever is read from the module later"
    assert str(place) == f"{place.since:%H:%M:%S}  users_model.zeros  (global name): {place.why}"
    assert len(ad.debug.patches()) > len(places)
    ad.debug.unpatch()
    assert ad.debug.patches("users_model") == []


def test_variables_of_closures_are_as_they_were(module):
    """Also in a function that was not traced itself, and shares the variable with one that is gone."""

    def both():
        make = np.zeros

        def f(x):
            y = make(1)
            y[0] = x * x
            return y[0]

        def g(x):
            return make(1)

        return f, g

    f, g = both()
    assert ad.grad(f)(3.0) == 6.0
    assert g.__closure__[0].cell_contents is not np.zeros
    assert "variable of a closure" in {place.what for place in ad.debug.patches()}
    del f
    gc.collect()
    ad.debug.unpatch()
    assert g.__closure__[0].cell_contents is np.zeros
    f, g = both()
    assert ad.grad(f)(3.0) == 6.0


def test_inner_functions_have_their_code_again(module):
    """A function that was made by one whose code had been changed."""
    plain = module.outer(np.zeros)
    ad.grad(module.loss)(1.0)
    inner = module.outer(np.zeros)
    assert inner.__code__ is not plain.__code__
    ad.debug.unpatch()
    assert inner.__code__ is plain.__code__
    assert inner(3.0) == 9.0
    assert ad.grad(inner)(3.0) == ad.grad(plain)(3.0) == 6.0


def test_every_function_of_one_code_is_changed():
    """Not the first one alone that is traced."""

    def make(k):
        def f(x):
            return float(x) * k

        return f

    assert [ad.grad(make(k))(1.0) for k in (2.0, 3.0, 4.0)] == [2.0, 3.0, 4.0]


def test_code_that_is_running_goes_on(module):
    """The names that changed code reads stay while it runs, and are gone afterwards."""
    ad.grad(module.loss)(1.0)
    running = module.parts("2.5")
    assert next(running) == 2.5
    ad.debug.unpatch()
    assert next(running) == 2.5
    assert [place.where for place in ad.debug.patches("users_model")] == ["users_model._float for handles"]
    running.close()
    ad.debug.unpatch()
    assert ad.debug.patches("users_model") == []
    assert "_float for handles" not in vars(module)


def test_what_somebody_else_has_changed_is_left_alone(module):
    """A test's mock, for example, before and after."""
    ad.grad(module.loss)(1.0)
    module.zeros = mock = lambda n: np.zeros(n)
    ad.debug.unpatch()
    assert module.zeros is mock
    assert module.array is np.array
    module.array = other = lambda x: np.array(x)
    ad.grad(lambda x: x * x)(1.0)
    assert module.array is other
    assert module.r_ is not np.r_


def test_functions_that_are_gone_are_forgotten():
    """Functions are held weakly: nothing adds up."""

    def traced(k):
        make = np.zeros

        def f(x, start=np.ones):
            y = make(1)
            y[0] = float(x) * start(1)[0] * k
            return y[0]

        return ad.grad(f)(1.0)

    assert traced(1.0) == 1.0
    gc.collect()
    count = len(CHANGES)
    assert [traced(float(k)) for k in range(20)] == [float(k) for k in range(20)]
    gc.collect()
    assert len(CHANGES) == count


def test_not_while_a_function_is_traced():
    """It relies on what would be undone; in other threads too."""
    with pytest.raises(ad.errors.ImpureError) as error:
        ad.grad(lambda x: x * ad.debug.unpatch())(1.0)
    first, *_, last = str(error.value).splitlines()
    assert first == "ad.debug.unpatch was called while a function is traced, which relies on what it would undo."
    assert last == "  Call it before or afterwards."
    errors = []

    def other():
        try:
            ad.debug.unpatch()
        except ad.errors.ImpureError as error:
            errors.append(error)

    def f(x):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x * x

    assert ad.grad(f)(3.0) == 6.0
    assert len(errors) == 1


def test_jitted_functions_go_on(module):
    """What was compiled before, and what is recorded afterwards."""
    f = ad.jit(ad.grad(module.loss))
    expected = f(3.0), f(5.0)
    ad.debug.unpatch()
    assert (f(3.0), f(5.0)) == expected
    ad.debug.unpatch()
    assert ad.jit(ad.grad(module.loss))(5.0) == expected[1]
    assert ad.jit(scipy.special.logsumexp)(np.zeros(2)) == np.log(2.0)


def test_twice_is_as_once(module):
    """There is nothing to undo the second time."""
    ad.grad(module.loss)(1.0)
    ad.debug.unpatch()
    assert ad.debug.unpatch() == 0
    assert ad.grad(module.loss)(3.0) == 9.0


EVERYTHING = """
import gc, sys, types
import numpy as np, scipy.interpolate, scipy.signal, scipy.sparse.linalg, scipy.spatial, scipy.special, scipy.stats
import scipy.fft, scipy.integrate, scipy.ndimage, scipy.optimize, math, statistics
import adjoint as ad
from numpy import zeros

def f(x):
    y = zeros(2)
    y[0] = x
    return scipy.special.logsumexp(y) + statistics.fmean([x, 2 * x]) + scipy.stats.norm.logpdf(float(x))

def state_of(x):
    if type(x) is types.FunctionType:
        cells = [c.cell_contents if c != types.CellType() else None for c in x.__closure__ or ()]
        return [x.__code__, x.__defaults__, x.__kwdefaults__, *(x.__kwdefaults__ or {}).values(), x.__closure__,
                *cells, vars(x).get("__wrapped__")]
    names = vars(x)
    return [part for name in sorted(names) if name not in FILLED for part in (name, names[name])]

FILLED = ("__warningregistry__", "__annotations__", "__abstractmethods__", "_abc_impl", "__doc__")

def home(x):
    return str(x.__name__ if isinstance(x, types.ModuleType) else x.__module__)

def is_watched(x):
    kinds = (types.FunctionType, type, types.ModuleType)
    return isinstance(x, kinds) and home(x).partition(".")[0] in ("numpy", "scipy", "statistics", "math", "__main__")

everything = [x for x in gc.get_objects() if is_watched(x) and x is not sys.modules["__main__"]]
before = [(x, state_of(x)) for x in everything]
path = list(sys.meta_path)

def changed():
    new = [(x, old, state_of(x)) for x, old in before]
    return [x for x, old, now in new if len(old) != len(now) or any(a is not b for a, b in zip(old, now))]

assert changed() == []
first = ad.grad(f)(1.5)
count = len(changed())
assert count > 1000, count
assert zeros is not np.zeros and sys.meta_path != path
ad.debug.unpatch()
left = [(home(x), getattr(x, "__qualname__", x)) for x in changed()]
assert left == [], left
assert zeros is np.zeros and sys.meta_path == path
assert ad.grad(f)(1.5) == first
assert len(changed()) == count
"""


def test_nothing_is_left():
    """Of NumPy, SciPy and the script: every function, class and module holds the very objects that it held before."""
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
