"""State that Python hides: contexts, weak references, threads' own variables, caches, iterators, the environment."""

import builtins
import collections
import contextvars
import decimal
import fractions
import functools
import itertools
import os
import random
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError

from .table import Thing, X, follows, setting, table

CASES, case = table()


@case
def context_variable():
    held = contextvars.ContextVar("held", default=2.0)
    return lambda x: x * held.get(), lambda: held.set(5.0) and None


@case
def context_variable_holding_a_list():
    under = [2.0]
    held = contextvars.ContextVar("held", default=under)
    return lambda x: x * held.get()[0], lambda: under.__setitem__(0, 5.0)


@case
def weak_reference():
    thing = Thing(k=2.0)
    held = weakref.ref(thing)
    return lambda x: x * held().k, setting(thing, "k", 5.0)


@case
def weak_proxy():
    thing = Thing(k=2.0)
    held = weakref.proxy(thing)
    return lambda x: x * held.k, setting(thing, "k", 5.0)


@case
def dict_of_weak_keys():
    thing = Thing()
    held = weakref.WeakKeyDictionary({thing: 2.0})
    return lambda x: x * held[thing], lambda: held.__setitem__(thing, 5.0)


@case
def dict_of_weak_values():
    thing = Thing(k=2.0)
    held = weakref.WeakValueDictionary(a=thing)
    return lambda x: x * held["a"].k, setting(thing, "k", 5.0)


@case
def set_of_weak_references():
    things = [Thing(k=2.0)]
    held = weakref.WeakSet(things)

    def change():
        things.append(Thing(k=3.0))
        held.add(things[-1])

    return lambda x: x * sum(t.k for t in held), change


@case
def weak_method():
    class Local:
        k = 2.0

        def scaled(self, x):
            return x * self.k

    thing = Local()
    held = weakref.WeakMethod(thing.scaled)
    return lambda x: held()(x), setting(thing, "k", 5.0)


@case
def variables_of_a_thread():
    held = threading.local()
    held.k = 2.0
    return lambda x: x * held.k, setting(held, "k", 5.0)


@case
def environment():
    os.environ["ADJOINT_TEST_SCALE"] = "2.0"
    return lambda x: x * float(os.environ["ADJOINT_TEST_SCALE"]), lambda: os.environ.update(ADJOINT_TEST_SCALE="5.0")


@case
def environment_by_function():
    os.environ["ADJOINT_TEST_SCALE"] = "2.0"
    return lambda x: x * float(os.getenv("ADJOINT_TEST_SCALE")), lambda: os.environ.update(ADJOINT_TEST_SCALE="6.0")


@case
def partial():
    held = [2.0]
    return functools.partial(lambda k, x: x * k[0], held), lambda: held.__setitem__(0, 5.0)


@case
def attribute_of_a_partial():
    held = functools.partial(lambda x: x * 2.0)
    held.k = 3.0
    return lambda x: held(x) * held.k, setting(held, "k", 5.0)


@case
def partial_method():
    class Local:
        k = 2.0

        def scaled(self, factor, x):
            return x * self.k * factor

        twice = functools.partialmethod(scaled, 2.0)

    thing = Local()
    return lambda x: thing.twice(x), setting(thing, "k", 5.0)


@case
def cached_property_filled():
    class Local:
        @functools.cached_property
        def k(self):
            return [2.0]

    thing = Local()
    thing.k[0] = 3.0
    return lambda x: x * thing.k[0], lambda: thing.k.__setitem__(0, 5.0)


@case
def single_dispatch():
    @functools.singledispatch
    def scaled(k, x):
        return x * 2.0

    return lambda x: scaled(1, x), lambda: scaled.register(int, lambda k, x: x * 5.0)


@case
def cached_function_cleared():
    held = [2.0]

    @functools.lru_cache
    def k(n):
        return held[0] * n

    def change():
        held[0] = 5.0
        k.cache_clear()

    return lambda x: x * k(2), change


@case
def cached_function_cleared_later():
    held = [2.0]

    @functools.cache
    def k(n):
        return held[0] * n

    k(2)
    return lambda x: x * k(2) * held[0], lambda: held.__setitem__(0, 5.0), lambda: k.cache_clear()


@case
def content_of_a_cached_result():
    @functools.cache
    def k():
        return [2.0]

    return lambda x: x * k()[0], lambda: k().__setitem__(0, 5.0)


@case
def generator_that_stands_still():
    def numbers(held):
        yield held

    held = [2.0]
    g = numbers(held)
    return lambda x: x * g.gi_frame.f_locals["held"][0], lambda: held.__setitem__(0, 5.0)


@case
def counter_that_is_shown():
    held = itertools.count(2)
    return lambda x: x * float(repr(held)[6:-1]), lambda: next(held)


@case
def super_class():
    class Base:
        k = 2.0

        def scaled(self, x):
            return x * self.k

    class Local(Base):
        def scaled(self, x):
            return super().scaled(x)

    thing = Local()
    return lambda x: thing.scaled(x), setting(Base, "k", 5.0)


@case
def fraction():
    thing = Thing(k=fractions.Fraction(1, 2))
    return lambda x: x * float(thing.k), setting(thing, "k", fractions.Fraction(3, 2))


@case
def decimal_number():
    thing = Thing(k=decimal.Decimal("0.5"))
    return lambda x: x * float(thing.k), setting(thing, "k", decimal.Decimal("1.5"))


@case
def decimal_context():
    decimal.getcontext().prec = 3
    return lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)), setting(decimal.getcontext(), "prec", 12)


@case
def state_of_a_generator():
    rng = np.random.default_rng(0)
    return (
        lambda x: x * (rng.bit_generator.state["state"]["state"] % 7 + 1),
        lambda: [rng.normal() for _ in range(3)] and None,
    )


@case
def seed_of_pythons_generator():
    rng = random.Random(0)
    return lambda x: x * (rng.getstate()[1][5] % 1000 + 1), lambda: rng.seed(1)


@case
def cell_made_by_hand():
    held = types.CellType(2.0)
    return lambda x: x * held.cell_contents, setting(held, "cell_contents", 5.0)


@case
def named_default_of_a_method():
    class Local:
        def scaled(self, x, k=[2.0]):
            return x * k[0]

    thing = Local()
    return lambda x: thing.scaled(x), lambda: Local.scaled.__defaults__[0].__setitem__(0, 5.0)


@case
def exception_that_carries_a_number():
    held = ValueError([2.0])
    return lambda x: x * held.args[0][0], lambda: held.args[0].__setitem__(0, 5.0)


@case
def slice_object():
    thing = Thing(part=slice(0, 1))
    return lambda x: x[thing.part].sum() * x, setting(thing, "part", slice(0, 2))


@case
def view_of_a_namespace():
    thing = Thing(k=2.0)
    held = vars(thing)
    return lambda x: x * held["k"], setting(thing, "k", 5.0)


@case
def heap_of_pairs():
    held = collections.deque([(1.0, [2.0])])
    return lambda x: x * held[0][1][0], lambda: held[0][1].__setitem__(0, 5.0)


@case
def builtin_of_the_users_own():
    builtins.a_scale_of_a_test = 2.0
    return lambda x: x * a_scale_of_a_test, setting(builtins, "a_scale_of_a_test", 5.0)  # noqa: F821


@case
def slot_of_a_list():
    held = [2.0]
    length = held.__len__
    return lambda x: x * length(), lambda: held.append(3.0)


@case
def order_made_of_a_function():
    held = [1.0]
    key = functools.cmp_to_key(lambda a, b: held[0] * (a - b))
    return lambda x: x * sorted([1.0, 2.0], key=key)[0], lambda: held.__setitem__(0, -1.0)


@case
def global_of_a_frame():
    return lambda x: x * sys._getframe().f_globals["SEEN" + "_BY_FRAMES"], lambda: globals().update(SEEN_BY_FRAMES=5.0)


SEEN_BY_FRAMES = 2.0


@pytest.mark.parametrize("name", CASES)
def test_hidden(name):
    """The next call sees the change."""
    f, *changes = CASES[name]()
    follows(f, *changes)


def consumes_an_iterator():
    held = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    return lambda x: x * next(held)


def consumes_a_generator():
    held = (float(k) for k in range(9))
    return lambda x: x * next(held)


def consumes_a_counter():
    held = itertools.count(2)
    return lambda x: x * next(held)


def consumes_a_cycle():
    held = itertools.cycle([1.0, 2.0])
    return lambda x: x * next(held)


def consumes_pairs():
    held = zip([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], strict=True)
    return lambda x: x * next(held)[0]


def sets_a_context_variable():
    held = contextvars.ContextVar("held", default=2.0)

    def f(x):
        held.set(held.get() + 1.0)
        return x * held.get()

    return f


def draws_from_pythons_generator():
    rng = random.Random(0)
    return lambda x: x * rng.random()


def sets_the_environment():
    def f(x):
        os.environ["ADJOINT_TEST_COUNT"] = str(int(os.environ.get("ADJOINT_TEST_COUNT", 0)) + 1)
        return x * int(os.environ["ADJOINT_TEST_COUNT"])

    return f


@pytest.mark.parametrize(
    "make",
    [
        consumes_an_iterator,
        consumes_a_generator,
        consumes_a_counter,
        consumes_a_cycle,
        consumes_pairs,
        sets_a_context_variable,
        draws_from_pythons_generator,
        sets_the_environment,
    ],
)
def test_what_moves_on_is_refused(make):
    """A recording would repeat the first value for ever."""
    with pytest.raises(ImpureError, match="recording would"):
        ad.jit(make())(X)
