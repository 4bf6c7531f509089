"""`type(x)` of a traced value, and what is found in caches after a trace: plain things, as without one."""

import functools
import gc
import pickle

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.traced import Traced

ROW = np.array([1.0, 2.0])
TABLE = {np.ndarray: lambda x: 3.0 * np.sum(x), float: lambda x: 5.0 * x, np.float64: lambda x: 7.0 * x}


def by_identity(q):
    return np.sum(q) * 2.0 if type(q) is np.ndarray else np.sum(q) * -1.0


def by_equality(q):
    return np.sum(q) * 2.0 if type(q) == float else -np.sum(q)  # noqa: E721


def by_membership(q):
    return np.sum(q) if type(q) in (float, np.ndarray) else 0.5 * np.sum(q)


def by_table(q):
    return TABLE[type(q)](q)


def by_name(q):
    return np.sum(q) * len(type(q).__name__)


def by_class(q):
    return np.sum(q) if q.__class__ is np.ndarray else 3.0 * np.sum(q)


def inside(q):
    def factor(p):
        return 4.0 if type(p) is np.ndarray else 9.0

    return factor(np.array(q)) * factor(np.sum(q)) * np.sum(q)


class Model:
    """A method asks."""

    def __call__(self, q):
        """The sum, twice for a number."""
        return np.sum(q) * (1.0 if type(q) is np.ndarray else 2.0)


ASKING = [by_identity, by_equality, by_membership, by_table, by_name, by_class, inside, Model()]


@pytest.mark.parametrize("x", [ROW, 1.5, np.float64(1.5), np.array(1.5)], ids=["row", "Python's", "NumPy's", "array"])
@pytest.mark.parametrize("f", ASKING, ids=lambda f: getattr(f, "__name__", "method"))
def test_the_type_of_what_a_handle_stands_for(f, x):
    """Each way of asking takes the branch of the plain call: reverse, forward, recorded, batches."""
    want = f(x)
    assert ad.value_and_grad(f)(x)[0] == want
    assert ad.jvp(f, (x,), (x,))[0] == want
    assert ad.jit(f)(x) == want
    assert ad.jit(ad.value_and_grad(f))(x)[0] == want
    example = x if isinstance(x, np.ndarray) and x.ndim else np.float64(x)
    assert ad.vmap(f)(np.stack([x, x]))[0] == f(example)


def test_a_function_that_no_module_knows():
    """A lambda that is given to a transformation, and one that it closes over."""
    inner = lambda q: 2.0 if type(q) is float else 5.0  # noqa: E731
    assert ad.grad(lambda q: q * (3.0 if type(q) is float else 4.0))(1.5) == 3.0
    assert ad.grad(lambda q: q * inner(q))(1.5) == 2.0


def test_the_name_is_type_to_everybody():
    """Classes, metaclasses, instances, comparisons, pickles, and no handle anywhere."""

    def f(q):
        made = type("Made", (), {"factor": 3.0})

        class Meta(type):
            pass

        class Other(metaclass=Meta):
            pass

        assert type(made) is type
        assert type(Other) is Meta
        assert all([isinstance(k, type) for k in (made, Other, Meta, type, int)])
        assert not isinstance(3, type)
        assert issubclass(Meta, type)
        assert {type: 1}[type(int)] == 1
        assert pickle.loads(pickle.dumps([type, int])) == [type, int]
        return q * made.factor

    assert ad.grad(f)(1.5) == 3.0
    assert f(1.5) == 4.5


@functools.lru_cache
def squared(x):
    return x * x


@functools.cache
def powered(x, n=2):
    return x**n


@functools.lru_cache
def grid(n):
    nodes = np.zeros(n)
    nodes[:] = np.arange(n)
    return nodes


@functools.lru_cache
def shifted(n):
    return filled(n) + 1.0


def filled(n):
    return np.zeros(n)


def holds_handles(cache):
    """Whether any handle can be found in a cache by a plain key."""
    found = [x for r in gc.get_referents(cache) for x in ((*r.values(),) if type(r) is dict else ())]
    return any([issubclass(type(x), Traced) for x in found])


TRANSFORMS = {
    "grad": ad.grad,
    "jvp": lambda f: lambda x: ad.jvp(f, (x,), (1.0,))[1],
    "jit": lambda f: ad.jit(ad.grad(f)),
    "second": lambda f: lambda x: ad.grad(lambda x: ad.grad(f)(x) * x)(x) / 2.0,
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("cache", [squared, powered])
def test_caches_of_functools_are_passed_by(cache, name):
    """The slope is right whatever the cache holds, and a plain call afterwards has a plain number, at any order."""
    cache.cache_clear()
    for _ in range(3):
        assert TRANSFORMS[name](lambda x: cache(x))(3.0) == 6.0
        assert type(cache(3.0)) is float
        assert cache(3.0) == 9.0
    assert not holds_handles(cache)
    np.testing.assert_array_equal(ad.vmap(lambda x: cache(x))(ROW), ROW**2)


@pytest.mark.parametrize("cache", [grid, shifted])
def test_arrays_of_caches_stay_plain(cache):
    """What a cached function makes of plain arguments inside a trace is plain for whoever finds it later."""
    cache.cache_clear()
    assert ad.grad(lambda x: np.sum(cache(3) * x))(2.0) == np.sum(cache(3))
    assert type(cache(3)) is np.ndarray
    assert not any([issubclass(type(x), Traced) for x in gc.get_referents(cache)])


def test_a_cache_without_a_bound_does_not_grow():
    """Handles that nobody can find are taken out of it; what is plain stays."""
    powered.cache_clear()
    assert powered(5.0) == 25.0
    for _ in range(20):
        assert ad.grad(lambda x: powered(x, 3))(2.0) == 12.0
    assert powered.cache_info().currsize == 1
    assert powered(5.0) == 25.0
    assert powered.cache_info().hits == 1


def test_a_jitted_function_does_not_mind():
    """Its recording relies on what the cache held, and entries of traces come and go."""
    squared.cache_clear()
    f = ad.jit(lambda x: x * squared(4.0))
    assert f(1.5) == 24.0
    ad.grad(squared)(2.0)
    assert f(2.5) == 40.0
    assert f.stats()["recordings"] == 1 if "recordings" in f.stats() else True
