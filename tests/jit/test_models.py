"""Models as arguments and results: objects that machine code takes apart and puts together, or leaves to Python."""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import gc
import sys
import threading
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import pytest

import adjoint as ad

T = TypeVar("T")
RNG = np.random.default_rng(0)


def natively(f):
    """Let calls that are not for machine code be errors, as long as there is machine code."""
    if hasattr(f, "entry"):
        assert f.entry is not None

        def slow(*args, **kwargs):
            raise AssertionError("not for machine code")

        f._slow = slow
    return f


def counted(f):
    """Calls that go the slow way."""
    calls = []
    if hasattr(f, "_slow"):
        slow = f._slow

        def noted(*args, **kwargs):
            calls.append(args)
            return slow(*args, **kwargs)

        f._slow = noted
    return calls


def same(found, want):
    """The same containers, classes, settings and numbers."""
    assert type(found) is type(want)
    if dataclasses.is_dataclass(want):
        assert list(getattr(found, "__dict__", {})) == list(getattr(want, "__dict__", {}))
        for f in dataclasses.fields(want):
            same(getattr(found, f.name), getattr(want, f.name))
    elif isinstance(want, dict):
        assert list(found) == list(want)
        for k in want:
            same(found[k], want[k])
    elif isinstance(want, (list, tuple)):
        assert len(found) == len(want)
        for f, w in zip(found, want, strict=True):
            same(f, w)
    elif isinstance(want, np.ndarray):
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-13)
    elif isinstance(want, float):
        np.testing.assert_allclose(found, want, rtol=1e-13)
    else:
        assert found is want or found == want


def relu(x):
    return np.maximum(x, 0.0)


@dataclass(frozen=True)
class Dense:
    weight: Any
    bias: Any
    activation: Any = np.tanh
    name: str = "dense"
    rounds: int = ad.tree.static(1)

    def __call__(self, x):
        for _ in range(self.rounds):
            x = self.activation(x @ self.weight + self.bias)
        return x * len(self.name)


@dataclass(frozen=True)
class Net:
    layers: Any
    scale: float = 1.0

    def __call__(self, x):
        for layer in self.layers.values() if isinstance(self.layers, dict) else self.layers:
            x = layer(x)
        return self.scale * x


@dataclass
class Open:
    weight: Any
    bias: Any
    activation: Any = relu

    __call__ = Dense.__call__
    name = "open"
    rounds = 1


@dataclass(frozen=True, slots=True)
class Slotted:
    weight: Any
    bias: Any
    activation: Any = np.tanh
    name: str = field(default="slotted", kw_only=True)

    rounds: ClassVar[int] = 2
    __call__ = Dense.__call__


class Pair(NamedTuple):
    weight: Any
    bias: Any

    activation = np.sin
    name = "pair"
    rounds = 1
    __call__ = Dense.__call__


class Base(abc.ABC):
    @abc.abstractmethod
    def __call__(self, x): ...


@dataclass(frozen=True)
class Heir(Base, Generic[T]):
    weight: T
    bias: T
    more: Any = field(default_factory=dict)

    def __call__(self, x):
        return x @ self.weight + self.bias + self.more.get("shift", 0.0)


def parts(kind):
    return kind(RNG.normal(size=(3, 3)), RNG.normal(size=3))


MODELS = [
    lambda: Net([parts(Dense), parts(Dense), parts(Dense)]),
    lambda: Net((parts(Dense), parts(Slotted)), 2.0),
    lambda: Net({"first": parts(Open), "a second": parts(Heir)}),
    lambda: Net([replace(parts(Dense), rounds=2, activation=relu, name="x"), parts(Pair)]),
    lambda: {"net": Net([parts(Slotted)]), "heir": Heir(np.eye(3), np.ones(3), {"shift": 3.0})}["net"],
    lambda: Net([Net([parts(Open)]), Net([parts(Dense), Net([])], 3.0)]),
    lambda: parts(Pair),
    lambda: parts(Slotted),
    lambda: Heir(np.eye(3), np.ones(3), {"shift": 3.0}),
]


@pytest.mark.parametrize("make", MODELS)
def test_same_as_without(make):
    """Other models of the same structure are taken apart and made in machine code; the numbers are NumPy's."""
    x = RNG.normal(size=3)
    f = ad.jit(lambda m, x: m(x))
    step = ad.jit(lambda m, x: ad.tree.map(lambda w: w - 0.5 * np.sum(x), m))
    slope = ad.jit(ad.grad(lambda m, x: np.sum(m(x) ** 2)))
    for round_ in range(4):
        model = make()
        same(f(model, x), model(x))
        found = step(model, x)
        same(found, ad.tree.map(lambda w: w - 0.5 * np.sum(x), model))
        same(step(found, x), ad.tree.map(lambda w: w - 0.5 * np.sum(x), found))
        same(slope(model, x), ad.grad(lambda m, x: np.sum(m(x) ** 2))(model, x))
        if round_ == 0:
            natively(f), natively(step), natively(slope)


def test_attributes_in_a_dict():
    """An object whose dict has been asked for, or replaced, is read by name."""
    f = ad.jit(lambda m, x: m(x))
    x = RNG.normal(size=3)
    model = parts(Open)
    f(model, x)
    natively(f)
    for change in (vars, lambda m: setattr(m, "__dict__", dict(reversed(vars(m).items())))):
        model = parts(Open)
        change(model)
        model.bias = np.ones(3)
        same(f(model, x), model(x))
    model.extra = 1.0  # is not a field
    same(f(model, x), model(x))


def test_every_setting_counts():
    """Another activation, text or static number leads to another recording, whichever comes first."""
    f = ad.jit(lambda m, x: m(x))
    x = np.array([0.5, -0.25, 1.0])
    base = Net([parts(Dense), parts(Dense)])
    first, second = base.layers
    others = [
        base,
        replace(base, layers=[first, replace(second, activation=relu)]),
        replace(base, layers=[replace(first, name="".join(["other", "name"])), second]),
        replace(base, layers=[first, replace(second, rounds=2)]),
        replace(base, layers=[first, replace(second, rounds=True)]),
        replace(base, layers=(first, second)),
        replace(base, layers=[first]),
        replace(base, scale=np.float64(3.0)),
        replace(base, layers=[first, Slotted(second.weight, second.bias)]),
        replace(base, layers=[first, replace(second, weight=np.asfortranarray(second.weight))]),
        replace(base, layers=[first, replace(second, weight=second.weight.astype(np.float32))]),
    ]
    for _ in range(3):
        for model in others:
            same(f(model, x), model(x))
    assert f.stats()["recordings"] == len(others)
    same_name = replace(base, layers=[replace(first, name="".join(["de", "nse"])), second])
    same(f(same_name, x), same_name(x))
    assert f.stats()["recordings"] == len(others)


def test_static_tuples_and_floats():
    """Static tuples are the same if their items are; -0.0 is not 0.0, nor True 1."""

    @dataclass
    class Grid:
        x: Any
        sizes: Any = ad.tree.static(())

    f = ad.jit(lambda g: g.x * np.sum(1.0 / np.array(g.sizes, float)))
    with np.errstate(divide="ignore"):
        for k, sizes in enumerate([[1, 2], [1, 3], [True, 2], [1.0, 2.0], [0.0], [-0.0], [4, (5, 6)][:1]]):
            for _ in range(3):
                grid = Grid(2.0, tuple(sizes))
                same(f(grid), grid.x * np.sum(1.0 / np.array(sizes, float)))
            assert f.stats()["recordings"] == k + 1
    natively(f)
    assert f(Grid(3.0, (4,))) == 0.75


class Doubled(Open):
    def __call__(self, x):
        return 2.0 * super().__call__(x)


@dataclass
class Hidden:
    weight: Any
    bias: Any = None

    @property
    def weight(self):
        return self._weight

    @weight.setter
    def weight(self, value):
        self._weight = value

    def __call__(self, x):
        return x @ self.weight + self.bias


@dataclass
class Asked:
    weight: Any
    bias: Any

    def __getattr__(self, name):
        if name == "shift":
            return 3.0
        raise AttributeError(name)

    def __call__(self, x):
        return x @ self.weight + self.bias + self.shift


@dataclass
class Watched:
    weight: Any
    bias: Any

    def __getattribute__(self, name):
        return object.__getattribute__(self, {"weight": "bias", "bias": "weight"}.get(name, name))


@pytest.mark.parametrize("kind", [Doubled, Asked])
def test_classes_with_ways_of_their_own(kind):
    """Subclasses, and attributes that are computed: right, in whichever way."""
    f = ad.jit(lambda m, x: m(x))
    x = RNG.normal(size=3)
    for _ in range(3):
        for model in (parts(Open), parts(kind)):
            same(f(model, x), model(x))


def test_properties_as_fields():
    """A field that is a property is read through it."""
    f = ad.jit(lambda m, x: m(x))
    x = RNG.normal(size=3)
    for _ in range(3):
        model = parts(Hidden)
        same(f(model, x), model(x))


@dataclass
class Doubling:
    weight: Any

    def __post_init__(self):
        self.weight = 2.0 * self.weight


@dataclass
class Converting:
    weight: Any

    def __post_init__(self):
        self.weight = np.clip(self.weight, 0.0, 1.0)


def test_objects_that_would_not_be_the_same():
    """A class whose objects differ once they have been put together again is refused."""
    f = ad.jit(lambda m: 3.0 * m.weight)
    for model in (Doubling(np.ones(2)), Watched(np.ones(3), np.ones((3, 3)))):
        with pytest.raises(ad.errors.InputError) as caught:
            f(model)
        lines = str(caught.value).split("\n")
        assert lines[0] == "An argument is not the same after it has been put together again from its fields."
        assert lines[2] == f"  got {type(model).__name__}"
        assert (
            lines[3] == "  Let  __post_init__  leave alone what it has made already, or make the class a container with"
        )
    for k in range(3):
        same(f(Converting(np.arange(3.0) + k)), 3.0 * np.clip(np.arange(3.0) + k, 0.0, 1.0))


def test_fields_come_and_go():
    """What is missing is what the class has, or an error, as without jit."""
    f = ad.jit(lambda m, x: m(x))
    x = RNG.normal(size=3)
    for _ in range(2):
        model = parts(Open)
        same(f(model, x), model(x))
    del model.bias
    with pytest.raises(AttributeError):
        f(model, x)
    model.bias = np.zeros(3)
    same(f(model, x), model(x))
    model.activation = np.tanh
    same(f(model, x), model(x))
    model.bias = None
    with pytest.raises(TypeError):
        f(model, x)
    model.bias = 2.0
    same(f(model, x), model(x))
    model.__class__ = Doubled
    same(f(model, x), model(x))


def test_default_of_the_class():
    """An attribute that only the class has is read from there; one that binds itself is left to Python."""

    @dataclass
    class Shift:
        x: Any
        by: float = 2.0
        way: Any = relu

    f = ad.jit(lambda s: s.x + s.by)
    shift = Shift(1.0)
    assert (f(shift), f(shift)) == (3.0, 3.0)
    calls = counted(f)
    del shift.by
    assert f(shift) == 3.0
    assert not calls
    Shift.by = 5.0
    assert f(shift) == 6.0

    class Binds:
        def __get__(self, owner, kind=None):
            return 7.0

    twice = ad.jit(lambda x: 2.0 * x)

    @dataclass
    class Bound:
        x: Any
        by: Any = twice

    g = ad.jit(lambda s: s.x + (s.by(s.x) if callable(s.by) else s.by))
    bound = Bound(1.0)
    assert (g(bound), g(bound)) == (3.0, 3.0)
    bound.by = 4.0
    assert (g(bound), g(bound)) == (5.0, 5.0)
    del bound.by
    Bound.by = Binds()
    assert g(bound) == bound.x + bound.by == 8.0


def test_classes_are_watched():
    """A class that is changed later is seen, for arguments and for results."""

    def fresh():
        @dataclass
        class Box:
            x: Any
            y: Any = 1.0

        return Box

    x = np.arange(3.0)
    Box = fresh()
    f = ad.jit(lambda b: b.x * b.y)
    step = ad.jit(lambda b: replace(b, x=b.x + 1.0))
    for _ in range(2):
        same(f(Box(x)), x)
        same(step(Box(x)), Box(x + 1.0))
    Box.note = "does not matter"
    same(f(Box(x)), x)
    same(step(Box(x)), Box(x + 1.0))
    Box.y = property(lambda self: 3.0, lambda self, y: None)
    same(f(Box(x)), 3.0 * x)
    Box = fresh()
    step = ad.jit(lambda b: replace(b, x=b.x + 1.0))
    assert [step(Box(x)).y, step(Box(x)).y] == [1.0, 1.0]
    Box.__init__ = lambda self, x, y: vars(self).update(x=x, y=2.0)
    assert [step(Box(x, 1.0)).y, step(Box(x, 1.0)).y] == [2.0, 2.0]
    Box = fresh()
    step = ad.jit(lambda b: replace(b, x=b.x + 1.0))
    assert [step(Box(x)).y, step(Box(x)).y] == [1.0, 1.0]
    Box.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 2.0 * value)
    found = step(Box(x))
    want = (lambda b: replace(b, x=b.x + 1.0))(Box(x))
    same(found.y, want.y)


def test_registered_before_and_after():
    """Functions that take objects apart have the last word; what was recorded stays right."""

    @dataclass
    class Halves:
        low: Any
        high: Any
        note: Any = "note"

    def register():
        ad.tree.register(Halves, lambda h: ((h.high, h.low), h.note), lambda note, p: Halves(p[1], p[0], note))

    f = ad.jit(lambda h: Halves(h.low + 1.0, 2.0 * h.high, h.note))
    for k in range(4):
        found = f(Halves(1.0 + k, 3.0, "other"))
        assert found == Halves(2.0 + k, 6.0, "other")
        if k == 1:
            register()
    g = ad.jit(lambda h: Halves(h.low + 1.0, 2.0 * h.high, h.note))
    for note in ("a", "a", "b"):
        assert g(Halves(1.0, 3.0, note)) == Halves(2.0, 6.0, note)


@dataclass
class Checked:
    x: Any
    made: Any = field(default=None, init=False)
    count: ClassVar[list] = []

    def __post_init__(self):
        if np.ndim(self.x) != 1:
            raise ValueError("one axis only")
        self.made = self.x * 2.0


class Counting(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.x = made.x + 1.0
        return made


@dataclass
class Counted(metaclass=Counting):
    x: Any


@dataclass
class OwnInit:
    x: Any
    y: Any

    def __init__(self, x, y=1.0):
        self.x, self.y, self.z = x, y, x


@dataclass
class OwnSetting:
    x: Any

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0 if isinstance(value, np.ndarray) else value)


@dataclass
class Scaled:
    x: Any
    by: InitVar[float]

    def __post_init__(self, by):
        self.x = self.x * by


def test_results_are_made_as_the_class_makes_them():
    """`__post_init__`, metaclasses and `__init__` of one's own run at each call, and see the numbers of that call."""
    x = np.arange(3.0)
    f = ad.jit(lambda x: Checked(x + 1.0))
    for k in range(3):
        found = f(x + k)
        same((found.x, found.made), (x + k + 1.0, 2.0 * (x + k + 1.0)))
        assert type(found.made) is np.ndarray
    natively(f)
    same(f(x).made, 2.0 * (x + 1.0))
    f = ad.jit(lambda x: OwnInit(x + 1.0, "text"))
    for k in range(3):
        found = f(x + k)
        same((found.x, found.y, found.z), (x + k + 1.0, "text", x + k + 1.0))
        assert found.z is found.x
    f = ad.jit(lambda s: Scaled(s.x + 1.0, 1.0))
    for k in range(3):
        same(f(Scaled(x + k, 2.0)).x, 2.0 * (x + k) + 1.0)
    natively(f)
    same(f(Scaled(x, 2.0)).x, 2.0 * x + 1.0)


def test_what_a_class_raises_is_raised():
    """From a result that is put together in machine code as well, and nothing is lost."""

    class RefusingError(ValueError):
        pass

    @dataclass
    class Positive:
        x: Any

        def __post_init__(self):
            if not isinstance(self.x, ad.core.traced.Traced) and np.min(self.x) < 0:
                raise RefusingError("negative")

    f = ad.jit(lambda x: (x + 1.0, {"p": Positive(x * 2.0)}))
    x = np.arange(3.0)
    for _ in range(2):
        same(f(x)[1]["p"].x, 2.0 * x)
    natively(f)
    for _ in range(100):
        with pytest.raises(RefusingError, match="negative"):
            f(-x)
    assert sys.getrefcount(x) <= 3


def test_new_objects_each_time():
    """Results share nothing but their settings."""
    f = ad.jit(lambda m: replace(m, weight=m.weight * 2.0))
    model = parts(Dense)
    first, second = f(model), f(model)
    third = f(model)
    assert len({id(second), id(third), id(first), id(model)}) == 4
    assert not np.shares_memory(second.weight, third.weight)
    assert not np.shares_memory(second.bias, model.bias)
    assert second.activation is model.activation


def test_numbers_among_the_fields():
    """Python's integers and truth values, None, and numbers of NumPy's, as in other containers."""

    @dataclass
    class Mixed:
        step: Any
        rate: Any
        flag: Any = None

    f = ad.jit(lambda m: Mixed(m.step + 1, m.rate * m.step, m.flag))
    for k in range(5):
        for rate in (0.5, np.float64(0.5), np.float32(0.5), 2):
            for flag in (None, True, False, 1):
                given = Mixed(k, rate, flag)
                same(f(given), Mixed(k + 1, rate * k, flag))


def test_methods_and_keywords():
    """A jitted method has its object taken apart; arguments by name as well."""

    @dataclass
    class Line:
        slope: Any
        shift: Any

        @ad.jit
        def at(self, x):
            return self.slope * x + self.shift

    line = Line(np.array([1.0, 2.0]), 3.0)
    for _ in range(3):
        same(line.at(2.0), np.array([5.0, 7.0]))
    f = ad.jit(lambda *, line, x: line.slope * x)
    for k in range(3):
        same(f(line=replace(line, slope=line.slope + k), x=2.0), 2.0 * (line.slope + k))
    natively(f)
    same(f(line=line, x=2.0), 2.0 * line.slope)


def test_no_references_are_lost():
    """After many calls, everything is referred to as often as before, and no objects are left."""
    model = Net([parts(Dense), parts(Pair), parts(Slotted), replace(parts(Dense), name="own name", rounds=300)])
    x = RNG.normal(size=3)
    f = natively_after(ad.jit(lambda m, x: m.layers[0].weight @ x), model, x)
    step = natively_after(ad.jit(lambda m: ad.tree.map(lambda w: w + 1.0, m)), model)
    refused = replace(model, layers=model.layers[:2])
    calls = counted(g := natively_after(ad.jit(lambda m: m.layers[0].weight + 1.0), model))
    held = [Dense, Net, Pair, Slotted, np.tanh, relu, "own name", model, model.layers, *model.layers]
    held += [a for layer in model.layers for a in (layer.weight, layer.bias)]

    def run(count):
        for _ in range(count):
            f(model, x)
            step(model)
            g(model)
        for _ in range(count // 1000):
            g(refused)

    many = 50_000 if hasattr(f, "entry") else 500
    run(many // 25)
    gc.collect()
    before, objects = [sys.getrefcount(h) for h in held], len(gc.get_objects())
    run(many)
    gc.collect()
    after = [sys.getrefcount(h) for h in held]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 20
    assert len(gc.get_objects()) - objects < 1000  # others may end meanwhile
    assert len(calls) <= 60


def natively_after(f, *args):
    f(*args)
    if hasattr(f, "entry"):
        assert f.entry is not None
    return f


def test_threads():
    """Models that other threads change between calls: every result is that of one of the states."""
    f = ad.jit(lambda m: np.sum(m.layers[0].weight) + m.scale)
    nets = [Net([Open(np.full((2, 2), float(k)), 0.0)], float(k)) for k in range(8)]
    shared = Net([Open(np.full((2, 2), 1.0), 0.0)], 1.0)
    f(nets[0])
    wrong, stop = [], threading.Event()

    def own(k):
        for _ in range(3000):
            if f(nets[k]) != 5.0 * k:
                wrong.append(k)

    def change():
        k = 0
        while not stop.is_set():
            k += 1
            shared.layers[0].weight = np.full((2, 2), float(k % 5))
            shared.layers[0] = Open(np.full((2, 2), float(k % 5)), 0.0)

    def watch():
        for _ in range(3000):
            if f(shared) not in {4.0 * k + 1.0 for k in range(5)}:
                wrong.append("shared")

    threads = [threading.Thread(target=own, args=(k,)) for k in range(3)] + [threading.Thread(target=watch)]
    changer = threading.Thread(target=change)
    for t in [*threads, changer]:
        t.start()
    for t in threads:
        t.join()
    stop.set()
    changer.join()
    assert not wrong


def test_many_layers():
    """More arrays than are looked at without a call, and more than there are places for."""
    model = Net([parts(Dense) for _ in range(20)])
    f = ad.jit(lambda m, x: m(x))
    x = RNG.normal(size=3)
    same(f(model, x), model(x))
    wide = dataclasses.make_dataclass("Wide", [f"field_{k}" for k in range(40)])
    g = ad.jit(lambda m: m.field_0 + m.field_39)
    for k in range(3):
        made = wide(*np.arange(40.0 + k)[-40:])
        same(g(made), made.field_0 + made.field_39)
    natively(g)
    same(g(wide(*np.arange(40.0))), np.float64(39.0))


def test_order_of_instances_attributes():
    """Objects that were given attributes in another order are read rightly."""

    @dataclass(init=False)
    class Loose:
        a: Any
        b: Any

        def __init__(self, *, reverse=False, **words):
            for name in sorted(words, reverse=reverse):
                setattr(self, name, words[name])

    f = ad.jit(lambda m: m.a - m.b)
    for k in range(6):
        assert f(Loose(reverse=k % 2 == 1, a=5.0 + k, b=3.0)) == 2.0 + k
    other = Loose(a=1.0, b=2.0)
    for k in range(3):
        setattr(other, f"more_{k}", k)
    assert f(other) == -1.0


def test_named_tuples():
    """As plain tuples, of exactly their class; one that makes something else of its parts is left to Python."""

    class Twice(Pair):
        def __new__(cls, weight, bias):
            return super().__new__(cls, weight, bias)

    Point = collections.namedtuple("Point", "x y")
    f = ad.jit(lambda p: Point(p.y, p.x + 1.0))
    for k in range(3):
        same(f(Point(1.0 * k, 2.0)), Point(2.0, 1.0 * k + 1.0))
    natively(f)
    same(f(Point(1.0, 2.0)), Point(2.0, 2.0))
    g = ad.jit(lambda p: p)
    for given in (Point(1.0, 2.0), (1.0, 2.0), Twice(1.0, 2.0), [1.0, 2.0], Pair(1.0, 2.0), Point(1.0, 2.0)):
        same(g(given), given)
        same(g(given), given)


def test_settings_that_are_objects():
    """Partials, bound methods and objects among the static settings count as they are, and are watched."""

    class Config:
        def __init__(self, rate):
            self.rate = rate

    @dataclass
    class Step:
        x: Any
        config: Any = ad.tree.static()

    config, other = Config(2.0), Config(3.0)
    f = ad.jit(lambda s: s.x * s.config.rate)
    for _ in range(3):
        assert (f(Step(1.0, config)), f(Step(1.0, other))) == (2.0, 3.0)
    config.rate = 5.0
    for _ in range(3):
        assert (f(Step(1.0, config)), f(Step(1.0, other))) == (5.0, 3.0)
    g = ad.jit(lambda s: s.config(s.x))
    for _ in range(3):
        for power in (2.0, 3.0):
            assert g(Step(2.0, functools.partial(np.power, 3.0))) == 9.0
            assert g(Step(2.0, functools.partial(np.power, power))) == power**2.0


def test_objects_that_notice_their_end():
    """A class with `__del__` is not tried out; its objects are read by name."""
    classes = pytest.importorskip("adjoint.compile.call.classes")
    ended = []

    @dataclass
    class Ending:
        x: Any

    kept = classes.places_of(Ending, ("x",))
    Ending.__del__ = lambda self: ended.append(self.x)
    assert classes.places_of(Ending, ("x",)).way == classes.BY_NAME != kept.way
    assert not ended
    f = ad.jit(lambda e: 2.0 * e.x)
    for k in range(3):
        same(f(Ending(np.full(2, float(k)))), np.full(2, 2.0 * k))


@pytest.mark.parametrize("options", [{}, {"dropout": 0.5}, {"norm": "batch"}, {"activation": "prelu"}])
def test_networks(options):
    """Networks of `nn`, whose constructors take sizes and some of whose fields are None, go in and come out."""
    model, x = ad.nn.MLP([3, 4, 2], key=0, **options), RNG.normal(size=(5, 3))
    step = ad.grad(lambda m, x: np.sum(m(x) ** 2))
    f = ad.jit(step)
    f(model, x)
    found, want = natively(f)(model, x), step(model, x)
    for name, a in ad.nn.parameters(found).items():
        np.testing.assert_allclose(a, ad.nn.parameters(want)[name], rtol=1e-10, atol=1e-12)
    g = ad.jit(lambda m, x: (ad.tree.map(lambda a: 2.0 * a, m), m(x)))
    g(model, x)
    found, out = natively(g)(model, x)
    np.testing.assert_allclose(out, model(x), rtol=1e-12)
    for name, a in ad.nn.parameters(found).items():
        np.testing.assert_array_equal(a, 2.0 * ad.nn.parameters(model)[name])
    assert found.activations[0] is not None
    assert found(x).shape == (5, 2)


def test_attributes_that_are_given_up():
    """A field that is no longer there is asked of `__getattr__`, in machine code as without."""

    @dataclass
    class Lazy:
        weight: Any

        def __getattr__(self, name):
            if name == "weight":
                return np.full(2, 7.0)
            raise AttributeError(name)

    f = ad.jit(lambda m: 2.0 * m.weight)
    model = Lazy(np.ones(2))
    for _ in range(3):
        same(f(model), np.full(2, 2.0))
    del model.weight
    for _ in range(3):
        same(f(model), np.full(2, 14.0))
    model.weight = np.zeros(2)
    same(f(model), np.zeros(2))
