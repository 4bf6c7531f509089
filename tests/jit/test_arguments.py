"""What may go into a jitted function and come out of it."""

import collections
import copy
import datetime
import enum
import functools
import threading
from dataclasses import InitVar, dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import InputError, OutputError

X = np.array([1.0, 2.0, 3.0])


def same(found, want):
    assert type(found) is type(want)
    if isinstance(want, dict):
        assert list(found) == list(want)
        for k in want:
            same(found[k], want[k])
    elif isinstance(want, (list, tuple)):
        assert len(found) == len(want)
        for f, w in zip(found, want, strict=True):
            same(f, w)
    elif isinstance(want, np.ndarray):
        assert found.dtype == want.dtype
        assert found.shape == want.shape
        if want.dtype.kind == "U":
            assert found.tolist() == want.tolist()
            return
        np.testing.assert_allclose(found, want, rtol=2e-3 if want.dtype == np.float16 else 1e-6)
    else:
        assert found == want or (found != found and want != want)


def agrees(f, *calls):
    """Whether jit gives the same kinds and numbers, the first time and again."""
    jitted = ad.jit(f)
    for args in (*calls, *calls):
        same(jitted(*args), f(*args))
    return jitted


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "g", "c8", "c16", "i1", "i4", "i8", "u1", "u8", "?", ">f8", ">i4", "<f4"]
)
def test_dtypes(dtype):
    """Every kind of number, in every shape: large, empty, without axes, strided, read-only."""
    base = np.arange(24).reshape(2, 3, 4).astype(dtype)
    locked = base.copy()
    locked.flags.writeable = False
    apart = np.zeros(24 * base.itemsize + 1, np.uint8)[1:].view(dtype).reshape(2, 3, 4)  # not aligned
    apart[...] = base
    arrays = [base, base[0, 0], base[1, 1, 1], base[:0], base[..., ::2], base.T, base[::-1], locked, apart]
    arrays += [np.asfortranarray(base), np.array(base[0, 0, 1]), np.broadcast_to(base[0, 0], (3, 4))]
    f = ad.jit(lambda x: (x + x, x.sum(), x * 2, x.T, x > 1))
    for x in arrays + arrays:
        same(f(x), f.fun(x))


def test_numbers():
    """Python's numbers and NumPy's come back as what they would be."""
    for f in (lambda x: x * 2, lambda x: x**2 + 1, lambda x: np.sin(x), lambda x: (x, -x), lambda x: x > 1):
        agrees(f, (1.5,), (np.float64(1.5),), (np.float32(1.5),), (np.array(1.5),))
    agrees(lambda x: x * 2, (1.5 + 2j,), (np.complex64(1.5 + 2j),), (3,), (np.int32(3),), (True,), (np.bool_(True),))
    agrees(lambda x: x * np.ones(2, np.float32), (1.5,), (np.float64(1.5),), (3,))
    agrees(ad.value_and_grad(lambda x: x**2 + np.sin(x)), (1.5,), (np.float64(1.5),), (np.float32(1.5),))
    agrees(ad.value_and_grad(lambda p: p["w"] @ p["w"] * p["b"]), ({"w": X, "b": 2.0},))


Pair = collections.namedtuple("Pair", "first second")


@dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"
    extra: list = field(default_factory=list)


def test_containers():
    """Nested as users nest them, empty ones and None among them."""
    agrees(lambda p: {"z": p["b"], "a": (p["a"][0], [p["a"][1]]), "n": None}, ({"b": 1.0, "a": (X, 2.0)},))
    agrees(lambda *xs: list(xs), (X, [], {}, (), None, [None, X], {"k": None}))
    agrees(lambda p: Pair(p.second, p.first), (Pair(1.0, X),))
    agrees(lambda d: list(d), ({"b": 1.0, "a": 2.0},))
    agrees(lambda d: d, (collections.OrderedDict(b=1.0, a=X),), (collections.defaultdict(list, a=1.0),))
    agrees(lambda: (1.0, "text", None, 3, True, b"bytes", X, np.array(["a", "b"]), {"set"}, datetime.date), ())
    layer = ad.jit(lambda q: Layer(q.w * 2, q.b, q.name, [*q.extra, q.b]))(Layer(X, 1.0, "other", [X]))
    assert (layer.name, layer.b, len(layer.extra)) == ("other", 1.0, 2)
    f = ad.jit(lambda q, x: q.w @ x if q.name == "dot" else q.b * x)
    same(f(Layer(X, 1.0, "dot"), X), X @ X)
    same(f(Layer(X, 3.0, "scale"), X), 3.0 * X)


def test_dict_order():
    """The order of a dict is its own, not that of the first call."""
    f = ad.jit(lambda d: list(d.items()))
    for d in ({"b": 1.0, "a": 2.0}, {"a": 3.0, "b": 4.0}):
        assert f.on_plain(d) == list(d.items())


class Mode(enum.Enum):
    PLUS = 1
    MINUS = 2


def test_static_arguments():
    """Values that are not numbers to compute with; each has its own recording."""
    f = ad.jit(lambda x, op, n=1: x**n if op == "power" else x * n, static_argnums=1, static_argnames="n")
    assert [f(2.0, "power", n=3), f(2.0, "times", n=3), f(2.0, op="times", n=4), f(2.0, "power")] == [
        8.0,
        6.0,
        8.0,
        2.0,
    ]
    g = ad.jit(lambda x, s: x * s, static_argnums=(-1,))
    assert [g(2.0, 3), type(g(2.0, 3.0)), g(2.0, -0.0), g(2.0, 0.0)] == [6, float, -0.0, 0.0]
    assert np.signbit(g(2.0, -0.0))
    assert not np.signbit(g(2.0, 0.0))
    h = ad.jit(lambda x, t: x * t[0] + len(t), static_argnums=1)
    assert [type(h(2, (3,))), type(h(2, (3.0,)))] == [int, float]
    k = ad.jit(lambda x, mode: x if mode is Mode.PLUS else -x)
    assert [k(1.0, Mode.PLUS), k(1.0, Mode.MINUS), k(1.0, Mode.PLUS)] == [1.0, -1.0, 1.0]
    assert k.stats()["recordings"] == 2
    huge = tuple(range(100_000))
    assert h(1.0, huge) == h(1.0, huge) == 100_000.0
    with pytest.raises(InputError, match="static argument 1 cannot be hashed"):
        h(1.0, [1, 2])


def test_functions_of_every_kind():
    """Lambdas, partials, callables, methods, builtins, keyword and default arguments."""

    class Callable:
        def __call__(self, x):
            return x * 2

        @staticmethod
        @ad.jit
        def static(x):
            return x + 1

        @classmethod
        def make(cls, x):
            return x - 1

    one = Callable()
    assert ad.jit(one)(2.0) == 4.0
    assert Callable.static(1.0) == one.static(1.0) == 2.0
    assert ad.jit(Callable.make)(1.0) == 0.0
    assert ad.jit(functools.partial(lambda a, b, c: a * b + c, 2.0, c=3.0))(4.0) == 11.0
    assert ad.jit(np.sum)(X) == 6.0
    assert ad.jit(np.linalg.norm)(X) == np.linalg.norm(X)
    f = ad.jit(lambda x, y=2.0, *args, z, **rest: x * y + z + sum(args) + rest.get("w", 0.0))
    assert [f(1.0, z=1.0), f(1.0, 3.0, 5.0, z=1.0, w=2.0)] == [3.0, 11.0]
    with pytest.raises(TypeError):
        f(1.0)
    with pytest.raises(InputError, match="jit needs a function"):
        ad.jit(3.0)

    @ad.jit(static_argnames=("n",))
    def named(x, n):
        """Its docstring."""
        return x * n

    assert named(2.0, n=3) == 6.0
    assert (named.__name__, named.__doc__) == ("named", "Its docstring.")
    assert copy.deepcopy({"f": named})["f"](2.0, n=3) == 6.0


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: np.array(["a", "b"]), "arrays of numbers"),
        (lambda: np.array([1, None], object), "arrays of numbers"),
        (lambda: np.array(["2020-01-01"], "M8[D]"), "arrays of numbers"),
        (lambda: np.zeros(2, [("a", float)]), "arrays of numbers"),
        (lambda: np.matrix([[1.0]]), "subclasses of ndarray"),
        (lambda: np.ma.masked_array([1.0], [True]), "subclasses of ndarray"),
    ],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_arrays_that_are_not_taken(make, match):
    """Refused with the fix, before anything is recorded."""
    with pytest.raises(InputError, match=match):
        ad.jit(lambda x: x)(make())


def test_memory_map(tmp_path):
    """A mapped file is an array like any other."""
    x = np.memmap(tmp_path / "x", float, "w+", shape=(3,))
    x[:] = X
    same(ad.jit(lambda x: x * 2)(x), X * 2)


class Holder:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (v for v in x),
        lambda x: map(float, x),
        lambda x: lambda y: x + y,
        Holder,
        lambda x: functools.partial(np.add, x),
        lambda x: iter([x]),
    ],
    ids=["generator", "map", "function", "object", "partial", "iterator"],
)
def test_results_that_cannot_be_returned(f):
    """Objects that may hold what was computed would be stale the next time."""
    with pytest.raises(OutputError, match="jit cannot return"):
        ad.jit(f)(X)


def test_one_recording_for_each_kind():
    """Structure, dtype, shape and layout; not values."""
    f = ad.jit(lambda x: np.sum(x * 2))
    for x in (X, X * 5, np.ones(3), X.astype(np.float32), np.ones((2, 2)), np.ones((2, 2)).T, [1.0, 2.0], 1.0, 3.0):
        f(x if not isinstance(x, list) else np.array(x))
    assert f.stats()["recordings"] == f.stats()["signatures"]
    assert f.stats()["signatures"] == 6


@pytest.mark.parametrize(
    ("calls", "difference"),
    [
        ([(1.0,), (2.0,)], []),
        (
            [(1.0, X), (np.float64(1.0), X), (np.array(1.0), X)],
            ["argument 0: python float / float64[] scalar / float64[]"],
        ),
        (
            [(np.ones((2, 2)), X), (np.ones((2, 2), np.float32), X), (np.ones((2, 2)).T, X)],
            ["argument 0: float64[2,2] / float32[2,2] / float64[2,2] with strides (8, 16)"],
        ),
        ([(np.ones(n),) for n in range(1, 7)], ["argument 0: float64[1] / float64[2] / float64[3] / float64[4] / ..."]),
        (
            [({"w": 1.0, "of": "a"},), ({"w": X, "of": "b"},)],
            ["leaf 0: str 'a' / str 'b'", "leaf 1: python float / float64[3]"],
        ),
        ([([1.0],), ((1.0,),)], ["containers"]),
        ([([1.0],), ([1.0, 2.0],)], ["containers"]),
    ],
)
def test_what_signatures_differ_in(calls, difference):
    """So that one sees why there are several."""
    f = ad.jit(lambda x, *others: x["w"] if isinstance(x, dict) else x)
    for args in calls:
        f(*args)
    assert f.stats()["differ in"] == difference


def test_static_values_are_told_apart():
    """They are part of the signature."""
    f = ad.jit(lambda x, n: x * n, static_argnums=1)
    f(1.0, 2), f(1.0, 3)
    assert f.stats()["differ in"] == ["static values and settings"]


def test_lower_and_stats():
    """The program before and after the passes, and what is known of the recordings."""
    f = ad.jit(lambda x: np.sum(np.sin(x) * np.sin(x)) + 0 * np.sum(np.cos(x) > 2) if x[0] > 0 else x[0])
    lowered = f.lower(X)
    assert str(lowered.program).count(" = sin(") == 2
    assert str(lowered.optimized).count(" = sin(") == 1
    assert "guard" in str(lowered)
    assert "as recorded" in str(lowered)
    assert lowered.assembly is None or len(lowered.assembly) > 100
    f(X)
    stats = f.stats()
    assert (stats["recordings"], stats["paths"], stats["signatures"]) == (1, 1, 1)
    assert "recordings" in repr(stats)
    g = ad.jit(lambda x: np.median(x))
    g(X)
    assert g.stats()["called by NumPy"] == ["np.median"]


def test_many_threads():
    """Calls and recordings at once, of one function and of functions that call each other."""
    inner = ad.jit(lambda x, k: np.sum(x) * k if np.sum(x) > 0 else -np.sum(x))
    outer = ad.jit(ad.grad(lambda x: inner(x * x, 2.0) + inner(-x, 3.0)))
    wrong, start = [], threading.Barrier(6)

    def work(seed):
        rng = np.random.default_rng(seed)
        start.wait()
        for n in range(30):
            x = rng.normal(size=1 + n % 4)
            want = ad.grad(lambda x: inner.fun(x * x, 2.0) + inner.fun(-x, 3.0))(x)
            if not np.allclose(outer(x), want) or not np.allclose(inner(x, 1.5), inner.fun(x, 1.5)):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_numbers_of_python_and_numpy_are_two_signatures():
    """Each comes back as its own kind, so a parameter that turns from one into the other is recorded twice."""
    f = ad.jit(lambda p: 2.0 * p)
    for p in (1.0, np.float64(1.0), 3.0, np.float64(3.0)):
        assert type(f(p)) is type(p)
    assert f.stats()["recordings"] == 2


RATE = 1.0


@dataclass
class Scaled:
    w: np.ndarray
    act: object = np.negative

    def __call__(self, x):
        return RATE * self.act(x * self.w)


class ScaledPair(collections.namedtuple("ScaledPair", "w act")):
    __slots__ = ()
    __call__ = Scaled.__call__


@ad.tree.register(fields=("w",))
class ScaledObject:
    def __init__(self, w, act):
        self.w, self.act = w, act

    __call__ = Scaled.__call__


@pytest.mark.parametrize("kind", [Scaled, ScaledPair, ScaledObject])
def test_what_objects_use(kind, monkeypatch):
    """What methods and functions of arguments use is watched, as what the function itself uses is."""
    module = globals()
    factor = 2.0

    def act(x):
        return factor * x

    f = ad.jit(lambda m, x: m(x))
    model = kind(X, act)
    same(f(model, 2.0), model(2.0))
    same(f(model, 2.0), model(2.0))
    monkeypatch.setitem(module, "RATE", 3.0)
    same(f(model, 2.0), 12.0 * X)
    factor = 5.0
    same(f(model, 2.0), 30.0 * X)
    monkeypatch.setattr(kind, "__call__", lambda self, x: self.w)
    same(f(model, 2.0), X)


def test_settings_that_are_equal_but_differ():
    """2, 2.0 and True among the settings of an object have recordings of their own."""
    f = ad.jit(lambda m: (m.w * m.act, np.full(2, m.act)))
    w = np.array([1, 2], np.int32)
    for act in (2, 2.0, 1, True, 1.0):
        model = ScaledObject(w, act)
        same(f(model), (w * act, np.full(2, act)))
        same(f(model), (w * act, np.full(2, act)))
    with pytest.raises(InputError, match="The settings of an object cannot be hashed"):
        f(ScaledObject(w, [1, 2]))


@dataclass
class Derived:
    w: np.ndarray
    start: InitVar[float]
    shared: ClassVar[float] = 4.0
    total: float = field(init=False)

    def __post_init__(self, start):
        self.w = self.w * start
        self.total = self.w[0] + start


def test_variables_of_classes_and_of_init():
    """A class with variables that only `__init__` has is put together without it; what is the class's is no field."""
    model = Derived(X, 2.0)
    f = lambda m: m.w * m.total * m.shared  # noqa: E731
    g = ad.jit(f)
    for _ in range(3):
        same(g(model), f(model))
    gradient = ad.grad(lambda m: np.sum(f(m)))(model)
    same(gradient.w, np.full(3, 16.0))
    assert gradient.total == 48.0
