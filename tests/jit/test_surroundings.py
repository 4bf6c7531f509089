"""What a jitted function uses besides its arguments: the next call sees every change, and impurities are refused."""

import functools
import random
import sys
import threading
import types
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError
from adjoint.transforms.jit.limits import MAX_CHANGES, MAX_STATICS

X = np.array([1.0, 2.0])
RNG = np.random.default_rng(0)
SCALE = 2.0
WEIGHTS = np.array([1.0, 3.0])
SETTINGS = {"scale": 2.0, "deep": [np.array([1.0]), {"w": 3.0}]}
COUNT = 0
module = types.ModuleType("settings_of_a_test")
module.__file__ = __file__
module.scale = 2.0
module.inner = types.ModuleType("inner")
module.inner.__file__ = __file__
module.inner.scale = 5.0
sys.modules["settings_of_a_test"] = module


class Model:
    shared = 2.0

    def __init__(self):
        self.w = np.array([1.0, 2.0])
        self.b = 3.0
        self.layers = [np.array([1.0, 1.0]), np.array([2.0, 2.0])]

    @ad.jit
    def __call__(self, x):
        return self.helper(x) * self.shared + self.b

    def helper(self, x):
        return sum(layer * x for layer in self.layers) @ self.w


class Slotted:
    __slots__ = ("w",)

    def __init__(self):
        self.w = 2.0


def follows(f, *changes):
    """Whether jit sees what the plain function sees, after each change."""
    jitted = ad.jit(f)
    np.testing.assert_allclose(jitted(X), f(X))
    for change in changes:
        change()
        np.testing.assert_allclose(jitted(X), f(X))
        np.testing.assert_allclose(jitted(X + 1), f(X + 1))


def test_captured_array_in_place():
    """A captured array that is written to, used as it is, in parts, in a decision, and derived from."""
    for use in (
        lambda x, w: x * w,
        lambda x, w: x * (w * 2),
        lambda x, w: x * w[0],
        lambda x, w: x * float(w[0]),
        lambda x, w: x if w[0] > 1.5 else -x,
        lambda x, w: x * int(w.sum()),
        lambda x, w: x[: int(w[0])],
        lambda x, w: ad.grad(lambda y: np.sum(w * y**2))(x),
        lambda x, w: np.interp(x, w, w),
        lambda x, w: x * len(np.unique(w)),
    ):
        w = np.array([1.0, 2.0])
        follows(lambda x, w=w, use=use: use(x, w), lambda w=w: w.__setitem__(0, 7.0), lambda w=w: w.sort())


def rectified(x):
    return np.maximum(x, 0.0)


def test_functions_are_themselves():
    """A function that is compared with another is found the same."""
    f = ad.jit(lambda x, act: act(x) * WEIGHTS if act is rectified else -x)
    np.testing.assert_array_equal(f(X, rectified), X * WEIGHTS)
    np.testing.assert_array_equal(f(X, np.sin), -X)


def test_code_that_needs_the_array_itself():
    """Types, memory and compiled code: the array is captured as it is, and compared before each run."""
    for use in (
        lambda x, w: x * w if isinstance(w, np.ndarray) else -x,
        lambda x, w: x * len(w.tobytes()) * w.flags.c_contiguous * w.strides[0],
        lambda x, w: x * memoryview(w)[0],
        lambda x, w: x * float(w.view(np.int64)[0] % 1000),
        lambda x, w: x * {3.0: 1.0, 7.0: 2.0}[w[0]],
        lambda x, w: x * sum(float(v) for v in np.nditer(w)),
    ):
        w = np.array([3.0, 2.0])
        follows(lambda x, w=w, use=use: use(x, w), lambda w=w: w.__setitem__(0, 7.0))


def test_captured_variable_rebound():
    """A closure's cell, a nonlocal."""
    w, s = np.array([1.0, 2.0]), 1.0

    def change():
        nonlocal w, s
        w, s = w * 2, s + 1

    follows(lambda x: x * w + s, change, change)


def test_globals():
    """Global numbers, arrays, containers and modules."""

    def set_global(name, value):
        globals()[name] = value

    follows(lambda x: x * SCALE, lambda: set_global("SCALE", 5.0))
    follows(lambda x: x * WEIGHTS, lambda: WEIGHTS.fill(4.0), lambda: set_global("WEIGHTS", np.array([1.0, 9.0])))
    follows(
        lambda x: x * SETTINGS["scale"] + SETTINGS["deep"][0] * SETTINGS["deep"][1]["w"],
        lambda: SETTINGS.update(scale=3.0),
        lambda: SETTINGS["deep"][0].fill(8.0),
        lambda: SETTINGS["deep"][1].update(w=0.5),
        lambda: SETTINGS["deep"].__setitem__(0, np.array([2.0])),
    )
    follows(
        lambda x: x * module.scale + module.inner.scale,
        lambda: setattr(module, "scale", 3.0),
        lambda: setattr(module.inner, "scale", 7.0),
    )


def test_attributes():
    """Attributes of objects, their classes, and objects with slots; methods."""
    model, slotted = Model(), Slotted()
    follows(lambda x: x * slotted.w, lambda: setattr(slotted, "w", 5.0))
    plain = lambda x: model.helper(x) * model.shared + model.b  # noqa: E731
    for change in (
        lambda: None,
        lambda: setattr(model, "b", 7.0),
        lambda: model.w.__setitem__(0, 9.0),
        lambda: setattr(model, "w", np.array([3.0, 1.0])),
        lambda: model.layers.append(np.array([5.0, 5.0])),
        lambda: model.layers[0].fill(0.5),
        lambda: setattr(Model, "shared", 11.0),
        lambda: setattr(Model, "helper", lambda self, x: x[0]),
    ):
        change()
        np.testing.assert_allclose(model(X), plain(X))
    other = Model()
    other.b = -1.0
    assert other(X) != model(X)


def test_defaults_and_partials():
    """Default arguments and the arguments of a partial."""
    default = np.array([1.0, 2.0])

    def f(x, w=default, *, k=2.0):
        return x * w * k

    def rebind():
        f.__defaults__ = (np.array([5.0, 5.0]),)

    follows(f, lambda: default.fill(3.0), rebind)
    given = np.array([2.0])
    follows(functools.partial(lambda w, x: w * x, given), lambda: given.fill(7.0))


def test_helper_functions():
    """A function that the function calls is replaced, or its own globals change."""
    table = {"f": lambda x: x * 2}
    follows(lambda x: table["f"](x), lambda: table.update(f=lambda x: x * 3))


def test_two_values_to_and_fro():
    """A variable that is set to and fro needs no new recordings."""
    k = 1.0
    f = ad.jit(lambda x: x * k)
    for n in range(40):
        k = 1.0 + n % 2
        assert f(3.0) == 3.0 * k
    assert f.stats()["recordings"] == 2


def test_variable_that_always_changes():
    """After some recordings the function runs eagerly, with one warning that names the variable."""
    k = "0"
    f = ad.jit(lambda x: x * float(k))
    with pytest.warns(  # noqa: PT031
        RuntimeWarning, match=r"(?s)the captured variable 'k' changes between calls.*Pass it as an argument"
    ) as caught:
        for n in range(3 * MAX_CHANGES):
            k = str(n)
            assert f(2.0) == 2.0 * n
    assert len(caught) == 1
    assert f.stats()["recordings"] <= MAX_CHANGES + 1


def test_many_static_values():
    """Texts are static; too many of them, and new ones run eagerly."""
    f = ad.jit(lambda x, text: x * float(text))
    with pytest.warns(RuntimeWarning, match="64 different static values") as caught:  # noqa: PT031
        for n in range(MAX_STATICS + 10):
            assert f(2.0, str(n)) == 2.0 * n
    assert len(caught) == 1
    assert f.stats()["recordings"] == MAX_STATICS


# What a recording cannot repeat.

LIST: list = []
CACHE: dict = {}
GENERATOR = np.random.default_rng(3)
LEGACY = np.random.RandomState(3)


class Counter:
    count = 0

    def __init__(self):
        self.calls = 0


COUNTER = Counter()


def sets_global(x):
    global COUNT
    COUNT += 1
    return x


def counts(x):
    COUNTER.calls += 1
    return x


def counts_on_class(x):
    Counter.count += 1
    return x


def writes_to_captured(x):
    WEIGHTS[0] += 1.0
    return x * WEIGHTS


def remembers(x, seen=[]):
    seen.append(1)
    return x


def draws_unseeded(x):
    from numpy.random import default_rng

    return x + default_rng().normal()


IMPURE = {
    "append": lambda x: LIST.append(x) or x,
    "cache": lambda x: CACHE.setdefault(len(CACHE), 1.0) * x,
    "captured array": writes_to_captured,
    "default": remembers,
    "np.random": lambda x: x + np.random.normal(),
    "random": lambda x: x + random.random(),
    "generator": lambda x: x + GENERATOR.normal(),
    "legacy generator": lambda x: x + LEGACY.normal(),
    "unseeded": lambda x: x + np.random.default_rng().normal(),
    "unseeded by name": draws_unseeded,
    "unseeded bits": lambda x: x + np.random.Generator(np.random.PCG64()).normal(),
    "argument": lambda x: x.__iadd__(1.0),
    "part of argument": lambda x: x.__setitem__(0, 1.0) or x,
}


@pytest.mark.parametrize("name", IMPURE)
def test_impurities_are_refused(name):
    """Also inside a derivative, and in every call."""
    f = IMPURE[name]
    for jitted in (ad.jit(f), ad.jit(ad.grad(lambda x: np.sum(f(x * 1.0))))):
        if "argument" in name and jitted is not None and jitted.fun is not f:
            continue
        for _ in range(2):
            with pytest.raises(ImpureError, match="recording would"):
                jitted(X.copy())


@pytest.mark.parametrize("f", [sets_global, counts, counts_on_class])
def test_counts_are_repeated(f):
    """Also inside a derivative, and in every call."""
    for jitted in (ad.jit(f), ad.jit(ad.grad(lambda x: np.sum(f(x * 1.0))))):
        before = np.array([COUNT, COUNTER.calls, Counter.count])
        for _ in range(3):
            jitted(X.copy())
        assert np.sum(np.array([COUNT, COUNTER.calls, Counter.count]) - before) == 3
        assert jitted.recordings == 1


def test_list_argument_appended():
    """An argument that grows."""
    with pytest.raises(ImpureError, match="changes an argument"):
        ad.jit(lambda xs: xs.append(1.0) or xs[0])([1.0, 2.0])


@dataclass
class Weights:
    w: object
    b: object = 1.0


class Registered:
    def __init__(self, w):
        self.w = w


ad.tree.register(Registered, fields=("w",))


def test_the_copy_to_work_on_is_that_of_the_argument():
    """Objects have no method that copies them."""

    def set_w(p):
        p.w = 2.0 * p.w
        return p.w

    def set_deep(d):
        return set_w(d["layers"][1])

    def set_item(d):
        d["w"] = 2.0 * d["w"]
        return d["w"]

    def double(p):
        p.w[...] = 2.0 * p.w
        return p.w

    for function, argument, copy in (
        (set_w, Weights(X.copy()), "p = dataclasses.replace(p, w=...)"),
        (set_deep, {"layers": (1.0, Weights(X.copy()))}, "p = dataclasses.replace(p, w=...)"),
        (set_w, Registered(X.copy()), "p = copy.copy(p)"),
        (set_item, {"w": X.copy()}, "x = x.copy()"),
        (double, Weights(X.copy()), "x = x.copy()"),
    ):
        with pytest.raises(ImpureError) as caught:
            ad.jit(function)(argument)
        assert str(caught.value).splitlines()[-1] == f"  Work on a copy,  {copy},  and return it."


def test_what_is_pure_enough():
    """Printing, local lists, caches inside, seeded generators, assignments to copies."""

    def f(x):
        print("value", x)  # noqa: T201
        rows = []
        for v in x:
            rows.append(v * 2)
        noise = np.random.default_rng(7).normal(size=2)
        y = x.copy()
        y[0] = 5.0
        y += noise
        return np.stack(rows) + y

    for _ in range(3):
        np.testing.assert_allclose(ad.jit(f)(X), f(X))


def test_another_thread_may_draw():
    """Random numbers that another thread draws meanwhile are not this function's."""
    stop = threading.Event()

    def draw():
        while not stop.is_set():
            np.random.normal()

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for k in range(5):
            assert ad.jit(lambda x, k=k: x * k + np.sin(x))(2.0) == 2.0 * k + np.sin(2.0)
        with pytest.raises(ImpureError):
            ad.jit(lambda x: x + np.random.normal())(2.0)
    finally:
        stop.set()
        thread.join()


@dataclass
class Settings:
    name: str
    w: np.ndarray


def test_results_are_nobodys_memory():
    """Neither an argument's, nor a captured array's, nor another result's."""
    held = np.arange(3.0)
    f = ad.jit(lambda x: (x, x[::-1], held, held[1:], x.T, x, x.reshape(3, 1), held * 1))
    for _ in range(3):
        x = np.arange(3.0)
        results = f(x)
        for k, r in enumerate(results):
            assert r.flags.writeable
            assert not np.shares_memory(r, x)
            assert not np.shares_memory(r, held)
            assert not any(np.shares_memory(r, o) for o in results[:k])
        for r in results:
            r[...] = -1.0
        np.testing.assert_array_equal(held, np.arange(3.0))


SLOPE = 2.0


@dataclass(frozen=True)
class Scaled:
    """An array and a function."""

    w: object
    act: object


def test_structure_of_a_tree():
    """optree's structures never change, and are not looked at again at each call; what they refer to may change."""
    global SLOPE
    leaves, structure = ad.tree.flatten(Scaled(np.ones(2), lambda x: SLOPE * x))

    @ad.jit
    def f(w):
        model = ad.tree.unflatten(structure, [w])
        return np.sum(model.act(model.w))

    assert [f(leaves[0]), f(leaves[0])] == [4.0, 4.0]
    SLOPE = 3.0
    assert [f(leaves[0]), f(leaves[0])] == [6.0, 6.0]
    assert f.stats()["recordings"] == 2
    SLOPE = 2.0
