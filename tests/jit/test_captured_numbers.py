"""Captured numbers that change with every call: inputs where nothing else reads them, and right where they are not."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad

X = np.arange(1.0, 4.0)
GLOBAL: object = 0
TABLE = {"rate": 0.1, "n": 3, "inner": {"k": 1.0}}
LIST = [1.0, 2, [3.0]]


def set_global(v):
    """A global variable."""
    global GLOBAL
    GLOBAL = v


def of_global(x):
    """A function of the global variable."""
    return x * GLOBAL + 1


def closure():
    """A closure variable, and what sets it."""
    k = 0.0

    def f(x):
        return x * k + 1

    def put(v):
        nonlocal k
        k = v

    return f, put


class Model:
    """An object that counts."""

    def __init__(self):
        self.t = 0
        self.weights = np.ones(3)
        self.inner = None

    def step(self, x):
        """Attributes, and a method of the same object."""
        return x * self.t + self.weights + self.helper(x)

    def helper(self, x):
        """Called by the other method."""
        return x * 0.9**self.t


MODEL, OUTER = Model(), Model()
OUTER.inner = Model()


def attribute(owner, name):
    """What sets an attribute."""
    return lambda v: setattr(owner, name, v)


PLACES = {
    "closure": closure(),
    "global": (of_global, set_global),
    "global of a helper": (lambda x: of_global(x) * 2, set_global),
    "dict": (lambda x: x * TABLE["rate"], lambda v: TABLE.update(rate=v)),
    "two of a dict": (lambda x: x * TABLE["rate"] + TABLE["n"], lambda v: TABLE.update(rate=v, n=v + 1)),
    "dict in a dict": (lambda x: x * TABLE["inner"]["k"], lambda v: TABLE["inner"].update(k=v)),
    "list": (lambda x: x * LIST[0] + LIST[1], lambda v: LIST.__setitem__(0, v)),
    "list in a list": (lambda x: x * LIST[2][0], lambda v: LIST[2].__setitem__(0, v)),
    "method": (MODEL.step, attribute(MODEL, "t")),
    "attribute": (lambda x: x * MODEL.t + MODEL.weights, attribute(MODEL, "t")),
    "attribute of an attribute": (lambda x: x * OUTER.inner.t, attribute(OUTER.inner, "t")),
    "partial": (functools.partial(lambda m, x: x * m.t, MODEL), attribute(MODEL, "t")),
}
KINDS = {
    "int": range(40),
    "float": [0.5 * i for i in range(40)],
    "numpy": [np.float64(0.5 * i) for i in range(40)],
    "complex": [0.5j * i for i in range(40)],
}


def same(got, wanted):
    """Equal, with the same dtype."""
    assert type(got) is type(wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-13)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_a_variable_is_an_input(place, kind):
    """From the second change on it is read at each call; at most three recordings, never eager."""
    f, put = PLACES[place]
    jitted = ad.jit(f)
    for v in KINDS[kind]:
        put(v)
        same(jitted(X), f(X))
    assert jitted.stats()["recordings"] <= 3
    assert not jitted.stats()["eager"]


def test_tuples():
    """A tuple of numbers that is replaced by another one."""
    f, put = (lambda x: x * GLOBAL[0] + GLOBAL[1][0]), set_global
    jitted = ad.jit(f)
    for i in range(40):
        put((i, (0.5 * i, True)))
        same(jitted(X), f(X))
    assert jitted.stats()["recordings"] == 3


class Pair(NamedTuple):
    """Two numbers."""

    rate: float
    n: int


@dataclasses.dataclass
class Settings:
    """Numbers by name, which are equal if their numbers are."""

    rate: float = 0.1
    n: int = 0


SETTINGS = Settings()
REGISTRY = {MODEL: 2.0}


def test_settings():
    """A dataclass whose fields are set anew, and a named tuple that is replaced."""

    def put(i):
        SETTINGS.rate, SETTINGS.n = 0.1 * i, i
        set_global(Pair(0.1 * i, i))

    for f in (lambda x: x * SETTINGS.rate + SETTINGS.n, lambda x: x * GLOBAL.rate + GLOBAL.n):
        jitted = ad.jit(f)
        for i in range(40):
            put(i)
            same(jitted(X), f(X))
        assert jitted.stats()["recordings"] == 3


def test_kinds_that_change():
    """An int, a float, a truth value, a number of NumPy's, an int again: each is what it is."""
    jitted = ad.jit(of_global)
    for i in range(60):
        set_global((i, 0.5 * i, bool(i % 2), np.float32(i))[i % 4])
        same(jitted(X), of_global(X))
    assert jitted.stats()["recordings"] <= 7


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arrays_in_between():
    """What is a number in one call may be an array in the next."""
    jitted = ad.jit(of_global)
    for i in range(60):
        set_global((i, X + i, 0.5 * i, None)[i % 3])
        same(jitted(X), of_global(X))


def test_numbers_beyond_64_bits():
    """A large integer has a recording of its own."""
    jitted = ad.jit(lambda x: (x, GLOBAL * 2))
    for v in (1, 2, 3, 2**70, 4, 2**70, 5):
        set_global(v)
        assert jitted(1.0) == (1.0, 2 * v)


def test_decisions():
    """A number that decides has a guard; one that chooses a shape has a recording for each value."""
    f = ad.jit(lambda x: x * GLOBAL if GLOBAL > 10 else -x)
    for i in range(30):
        set_global(i)
        same(f(X), X * i if i > 10 else -X)
    assert f.stats()["recordings"] <= 5
    g = ad.jit(lambda x: x * np.ones(GLOBAL))
    for i in range(1, 6):
        set_global(i)
        same(g(2.0), 2.0 * np.ones(i))


def test_derivatives():
    """In a gradient, and in the gradient of a jitted function."""
    jitted = ad.jit(of_global)
    inside, outside = ad.grad(lambda x: np.sum(jitted(x))), ad.jit(ad.grad(lambda x: np.sum(of_global(x))))
    for i in range(20):
        set_global(0.5 * i)
        for gradient in (inside, outside):
            same(gradient(X), np.full(3, 0.5 * i))
    assert outside.stats()["recordings"] <= 3
    assert jitted.stats()["recordings"] <= 3


class Odd:
    """An object that cannot be copied: it says what its attributes are."""

    scale = 1.0

    def __init__(self):
        self.t = 0.0

    def __getattr__(self, name):
        if name == "twice":
            return 2 * self.t
        raise AttributeError(name)


class Counted:
    """Its class reads the global variable where no copy is made."""

    def times(self, x):
        """Of the global."""
        return x * GLOBAL


ODD, COUNTED, MODULE = Odd(), Counted(), types.ModuleType("module_of_test")
INNER = ad.jit(of_global)
SELF = Model()
ELSEWHERE = {
    "by text": (lambda x: x * globals()["GLOBAL"], set_global),
    "attribute by a method of its own": (lambda x: x * ODD.twice, attribute(ODD, "t")),
    "read by a method": (lambda x: COUNTED.times(x) + GLOBAL, set_global),
    "read by a jitted function": (lambda x: INNER(x) + GLOBAL, set_global),
    "attribute of a module": (lambda x: x * MODULE.k, attribute(MODULE, "k")),
    "attribute of a class": (lambda x: x * Odd.scale, attribute(Odd, "scale")),
    "object as a key": (lambda x: x * MODEL.t * REGISTRY.get(MODEL, 1.0), attribute(MODEL, "t")),
    "which object": (lambda x: x * SELF.t if SELF is SELVES[0] else -x, attribute(SELF, "t")),
    "type": (lambda x: x * GLOBAL if type(GLOBAL) is float else -x, set_global),
    "text": (lambda x: x * len(f"{GLOBAL:.1f}"), set_global),
    "compiled code": (lambda x: x * np.frombuffer(np.float64(GLOBAL).tobytes())[0], set_global),
    "sorted": (lambda x: x * sorted([GLOBAL, 2.0, 1.0])[1], set_global),
}
SELVES = [SELF]


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_other_readers(name):
    """Where somebody else reads the number, or it cannot be a handle, calls are right all the same."""
    f, put = ELSEWHERE[name]
    jitted = ad.jit(f)
    for i in range(25):
        put(1.5 * i)
        same(jitted(X), f(X))


def test_writing_is_repeated():
    """A function that counts by itself counts at every call, whether or not the count was an input before."""

    def counting(x):
        MODEL.t = MODEL.t + 1
        return x * MODEL.t

    def in_a_global(x):
        set_global(GLOBAL + 1)
        return x * GLOBAL

    for f, reset, count in (
        (counting, lambda: setattr(MODEL, "t", 2), lambda: MODEL.t),
        (in_a_global, lambda: set_global(2), lambda: GLOBAL),
    ):
        reset()
        wanted = [(f(X), count()) for _ in range(4)]
        reset()
        jitted = ad.jit(f)
        for result, number in wanted:
            same(jitted(X), result)
            assert count() == number
    f = ad.jit(lambda x: counting(x) if x[0] > 5 else x * MODEL.t)
    for n in range(6):
        MODEL.t = n
        same(f(X), X * n)
    same(f(X + 9), (X + 9) * 6)
    assert MODEL.t == 6


ARITHMETIC = {
    "quotient": lambda x: x * (1 / GLOBAL),
    "quotient of a sum": lambda x: x * (3.0 / (GLOBAL - 2.0)),
    "floor": lambda x: x * (7.5 // GLOBAL) + 7.5 % GLOBAL,
    "root": lambda x: x * abs(GLOBAL**0.5),
    "powers": lambda x: x * GLOBAL**2 + GLOBAL**-1,
    "exponent": lambda x: x * 2.0**GLOBAL,
    "overflow": lambda x: x * (GLOBAL * 1e200) ** 2,
    "with an integer": lambda x: x * (len(x) / GLOBAL) * (GLOBAL / len(x)),
    "converted": lambda x: x * (1 / float(x[0] * GLOBAL)),
}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arithmetic_is_pythons(name):
    """A division by zero, a root of a negative number and an overflow are Python's, whether or not it is an input."""
    f = ARITHMETIC[name]
    jitted = ad.jit(f)
    for v in (1.0, 3.0, 5.0, 0.0, 2.0, -4.0, 6.0, 1e200, 7.0, 2000.0, 8.0):
        set_global(v)
        try:
            wanted = f(X)
        except ArithmeticError as error:
            with pytest.raises(type(error)):
                jitted(X)
        else:
            same(jitted(X), wanted)
