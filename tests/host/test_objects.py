"""What objects hold, and walks along it: every kind of edge, cycles, cells that are not filled, slots of bases."""

from __future__ import annotations

import collections
import functools
import types

import numpy as np
import pytest

from adjoint.host.objects.copier import Copier
from adjoint.host.objects.parts import (
    ARGUMENT,
    ATTRIBUTE,
    ATTRIBUTES,
    CELL,
    CODE,
    CONTENT,
    DEFAULT,
    DEFAULTS,
    EVERY,
    FUNCTION,
    GLOBAL,
    HOLDERS,
    ITEM,
    KEY,
    MISSING,
    SELF,
    SLOT,
    TABLE,
    WORD,
    WORDS,
    Edges,
    attributes_of,
    cells_of,
    content_of,
    contents_of,
    dict_of,
    fill,
    items_of,
    parts,
    placed,
    places_of,
    slots_of,
)
from adjoint.host.objects.walk import Reached, is_behind, walk

GAIN = [2.0]
"""A global name that a function mentions."""


class Pair:
    """Two slots, one of them private."""

    __slots__ = ("__hidden", "left")

    def __init__(self, left):
        self.left = left
        self.__hidden = "hidden"


class Triple(Pair):
    """A slot more, and a dict."""

    __slots__ = ("__dict__", "__weakref__", "right")


class Call:
    """Something with a method."""

    def method(self):
        return np.sin(GAIN[0])


def function(scale):
    """A function with an edge of every kind."""

    def inner(x, y=1.0, *, z=2.0):
        return x * y * z * scale * np.sin(GAIN[0])

    inner.note = "noted"
    return inner


def kinds_of(x):
    return {(kind, label): value for kind, label, value in parts(x)}


def test_a_function_holds_its_closure_defaults_attributes_and_globals():
    """Each with its label: the name of the variable, argument or attribute."""
    f = function(3.0)
    assert kinds_of(f) == {
        (CODE, "__code__"): f.__code__,
        (CONTENT, "scale"): 3.0,
        (DEFAULT, "y"): 1.0,
        (WORD, "z"): 2.0,
        (ATTRIBUTE, "note"): "noted",
        (GLOBAL, "GAIN"): GAIN,
        (GLOBAL, "np"): np,
    }


def test_globals_of_functions_of_others_are_their_modules_own():
    """What a function of NumPy or of the standard library mentions is no edge."""
    assert not [p for p in parts(np.linspace.__wrapped__) if p[0] == GLOBAL]
    assert not [p for p in parts(functools.wraps) if p[0] == GLOBAL]


def test_the_holders_of_a_function_are_edges_where_they_are_chosen():
    """The cells, tuples and dicts themselves."""
    f = function(3.0)
    chosen = parts(f, Edges(DEFAULTS, WORDS, ATTRIBUTES, CELL))
    assert [(kind, label) for kind, label, _ in chosen] == [
        (DEFAULTS, "__defaults__"), (WORDS, "__kwdefaults__"), (ATTRIBUTES, "__dict__"), (CELL, "scale"),
    ]  # fmt: skip
    holders = f.__defaults__, f.__kwdefaults__, f.__dict__, f.__closure__[0]
    assert all([value is holder for (_, _, value), holder in zip(chosen, holders, strict=True)])


def test_kinds_come_in_the_order_in_which_they_are_chosen():
    """Which decides what a walk meets first."""
    f = function(3.0)
    assert Edges(WORD, CONTENT, DEFAULT).held(f) == [2.0, 3.0, 1.0]
    assert Edges(DEFAULT, WORD, CONTENT).held(f) == [1.0, 2.0, 3.0]


def test_methods_partials_and_descriptors():
    """Functions behind them, what they are bound to, and arguments."""
    call = Call()
    assert kinds_of(call.method) == {(FUNCTION, "__func__"): Call.method, (SELF, "__self__"): call}
    bound = functools.partial(max, 1, key=abs)
    bound.note = 5
    assert kinds_of(bound) == {
        (FUNCTION, "func"): max, (ARGUMENT, 0): 1, (WORD, "key"): abs, (ATTRIBUTE, "note"): 5,
    }  # fmt: skip
    for wrap in (staticmethod, classmethod):
        assert Edges(FUNCTION).held(wrap(function)) == [function]
    assert Edges(FUNCTION).held(property(function, max)) == [function, max]
    items = [1]
    assert kinds_of(items.append) == {(SELF, "__self__"): items}
    assert parts(max) == []


def test_containers():
    """Items by their places or keys; the items of a set have no label."""
    assert parts([4, 5]) == [(ITEM, 0, 4), (ITEM, 1, 5)]
    assert parts((4,)) == parts(collections.deque([4])) == [(ITEM, 0, 4)]
    assert parts({"a": 1}) == [(KEY, None, "a"), (ITEM, "a", 1)]
    assert parts({3}) == parts(frozenset([3])) == [(ITEM, None, 3)]


class Sly(dict):
    """A dict that hides what it holds."""

    def keys(self):
        return ()

    def values(self):
        return ()


class SlyList(list):
    """A list that hides what it holds."""

    def __iter__(self):
        return iter(())


def test_items_are_not_what_a_subclass_says():
    """They are what is there."""
    assert items_of(Sly(a=1)) == ("a", 1)
    assert items_of(SlyList([1, 2])) == (1, 2)
    assert items_of(collections.OrderedDict(b=2)) == ("b", 2)


def test_slots_of_bases_and_private_ones():
    """Each is read by its place, whatever its name has become, and one that is not set is none."""
    x = Triple("left")
    x.extra = "extra"
    assert {name for name, _ in places_of(Triple)} == {"right", "left", "_Pair__hidden"}
    assert kinds_of(x) == {(ATTRIBUTE, "extra"): "extra", (SLOT, "left"): "left", (SLOT, "_Pair__hidden"): "hidden"}
    x.right = "right"
    assert attributes_of(x) == {"extra": "extra", "right": "right", "left": "left", "_Pair__hidden": "hidden"}
    place = dict(places_of(Pair))["left"]
    assert placed(place, x) == "left"
    del x.left
    assert placed(place, x) is MISSING


def test_places_of_compiled_classes_are_no_slots():
    """They are places all the same."""
    assert {name for name, _ in places_of(slice)} == {"start", "stop", "step"}
    assert slots_of(slice) == ()


class Veiled:
    """A class whose objects say that they have no attributes."""

    def __init__(self):
        self.seen = 1

    def __getattribute__(self, name):
        raise RuntimeError(name)


def test_attributes_are_not_what_a_method_says():
    """The dict is found without asking the object."""
    assert dict_of(Veiled()) == {"seen": 1}
    assert dict_of(3) is None


def test_cells_that_are_not_filled():
    """They hold `MISSING`, until they are filled."""

    def inner():
        return later

    ((name, cell),) = cells_of(inner)
    assert name == "later"
    assert content_of(cell) is MISSING
    assert contents_of(inner) == [MISSING]
    later = 7
    assert content_of(cell) == later
    fill(cell, 8)
    assert later == 8
    assert parts(cell) == [(CONTENT, "cell_contents", 8)]
    assert parts(types.CellType()) == [(CONTENT, "cell_contents", MISSING)]


@pytest.mark.parametrize("kind", TABLE)
def test_every_type_has_labels_for_all_it_holds(kind):
    """Labels and values of an edge are equally many, also where there are none."""
    made = {
        types.FunctionType: lambda: function, types.CellType: lambda: types.CellType(1), property: property,
        types.MethodType: lambda: Call().method, types.BuiltinFunctionType: lambda: len,
        types.MethodWrapperType: lambda: [].__len__, functools.partial: lambda: functools.partial(max),
        staticmethod: lambda: staticmethod(len),
        classmethod: lambda: classmethod(len),
    }.get(kind, kind)()  # fmt: skip
    assert type(made) is kind
    everything = Edges(*TABLE[kind])
    assert [value for _, _, value in everything.parts(made)] == everything.held(made)
    assert {k for k, _, _ in EVERY.parts(made)}.isdisjoint(HOLDERS)


FOLLOWED = Edges(CONTENT, DEFAULT, FUNCTION, SELF, ITEM, ATTRIBUTE, SLOT)


def test_a_walk_meets_each_object_once():
    """Circles end it: a list in itself, a function that calls itself, an object that knows who holds it."""
    items: list = [1]
    items.append(items)

    def around():
        return around, items

    call = Call()
    call.owner = [call, around]
    met = list(walk([call], FOLLOWED.held))
    assert len(met) == len({id(x) for x in met})
    assert {id(x) for x in (call, call.owner, around, items)} <= {id(x) for x in met}


def test_a_walk_goes_to_the_last_part_next():
    """As deep as it can be, so that what is met first does not depend on what else there is."""
    assert list(walk([[1, [2, 3], 4]], FOLLOWED.held))[1:] == [4, [2, 3], 3, 2, 1]


def test_long_chains():
    """No walk is recursive."""
    chain: list = []
    for _ in range(100_000):
        chain = [chain]
    assert sum(1 for _ in walk([chain], FOLLOWED.held)) == 100_001
    reached = Reached([chain], FOLLOWED.held)
    last = next(reversed(reached.objects))
    assert len(reached.above([last])) == 100_000


def test_what_something_is_behind():
    """The objects that hold it, through any number of others, and no others."""
    wanted = object()
    inner, other = {"x": wanted}, [1, 2]

    def f(x=(inner,)):
        return x, other

    root = [other, f]
    reached = Reached([root], FOLLOWED.held)
    above = reached.above([id(wanted)])
    assert set(above) == {id(inner), id(f.__defaults__[0]), id(f), id(root)}
    assert next(iter(above)) == id(inner)
    assert reached.above([id(root)]) == {}


def test_a_search_has_a_bound():
    """What is further away is not found."""
    chain = [[[["wanted"]]]]
    is_wanted = lambda x: type(x) is str  # noqa: E731
    assert is_behind([chain], FOLLOWED.held, is_wanted, most=5)
    assert not is_behind([chain], FOLLOWED.held, is_wanted, most=4)
    assert not is_behind([], FOLLOWED.held, is_wanted, most=5)


class Replacing(Copier):
    """A copier that replaces texts, and copies all that is not a number or a class."""

    def of(self, x):
        """The text in capitals, a copy, or the object."""
        known = self.made.get(id(x))
        if known is not None:
            return known[1]
        if isinstance(x, str):
            return self.kept(x, x.upper())
        return x if isinstance(x, (int, float, type, types.ModuleType, type(None))) else self.copied(x)

    def cell(self, cell):
        """One for each, also if functions share it."""
        return self.made[id(cell)][1] if id(cell) in self.made else self.kept(cell, types.CellType())

    def code(self, f):
        """The same code, and variables in which one is replaced."""
        return f.__code__, dict(f.__globals__), [name for name in ("WORD_OF_MODULE",) if name in f.__globals__]

    def attributes(self, f, made):
        """Each replaced."""
        made.__dict__.update({name: self.of(value) for name, value in f.__dict__.items()})


WORD_OF_MODULE = "module"


def test_copies_of_functions():
    """Closure, defaults, keyword defaults, attributes and global variables are others; the function stays."""
    word = "cell"

    def f(x, y="default", *, z="keyword"):
        """What it does."""
        return x, y, z, word, WORD_OF_MODULE

    f.note = "note"
    made = Replacing().of(f)
    assert made(1) == (1, "DEFAULT", "KEYWORD", "CELL", "MODULE")
    assert made.note == "NOTE"
    assert (made.__name__, made.__qualname__, made.__doc__, made.__module__) == (
        f.__name__, f.__qualname__, f.__doc__, f.__module__,
    )  # fmt: skip
    assert f(1) == (1, "default", "keyword", "cell", "module")


def test_copies_of_functions_that_share_a_variable():
    """And of one whose variable is not filled yet."""
    count = "one"

    def read():
        return count

    def write():
        nonlocal count
        count = "two"

    def early():
        return later

    copier = Replacing()
    new_read, new_write, new_early = copier.of([read, write, early])
    new_write()
    assert (new_read(), read()) == ("two", "one")
    with pytest.raises(NameError):
        new_early()
    later = 1
    assert early() == 1


def test_copies_of_functions_in_circles():
    """Two that call each other: each copy calls the other copy."""

    def even(n):
        return "even" if n == 0 else odd(n - 1)

    def odd(n):
        return "odd" if n == 0 else even(n - 1)

    made = Replacing().of(even)
    assert made(3) == "odd"
    inner = dict(cells_of(made))["odd"]
    assert dict(cells_of(content_of(inner)))["even"].cell_contents is made


Point = collections.namedtuple("Point", "x y")


class Words(list):
    """A list of its own class."""


class Tally(tuple):
    """A tuple of its own class."""

    __slots__ = ()


def test_copies_of_containers_and_objects():
    """Of the same classes, with items and attributes replaced; circles stay circles."""
    copier = Replacing()
    assert copier.of({"a": ("b", ["c"]), 1: Point("x", "y")}) == {"a": ("B", ["C"]), 1: Point("X", "Y")}
    assert type(copier.of(Words(["a"]))) is Words
    assert copier.of(Tally(["a"])) == Tally(["A"])
    assert type(copier.of(Tally(["a"]))) is Tally
    items: list = ["a"]
    items.append(items)
    made = copier.of(items)
    assert made[0] == "A"
    assert made[1] is made
    x = Triple("left")
    x.me, x.word = x, "word"
    new = copier.of(x)
    assert (new.left, new.word, new._Pair__hidden) == ("LEFT", "WORD", "HIDDEN")
    assert new.me is new
    assert not hasattr(new, "right")
    assert copier.of(types.SimpleNamespace(a="b")) == types.SimpleNamespace(a="B")
    assert x.word == "word"


def test_copies_of_methods_and_partials():
    """The function and the object behind a method; arguments, keywords and attributes of a partial."""

    def show(*args, **words):
        return args, words

    bound = functools.partial(show, "a", key="b")
    bound.note = "c"
    made = Replacing().of(bound)
    assert made() == (("A",), {"key": "B"})
    assert made.note == "C"
    call = Call()
    call.word = "word"
    method = Replacing().of(call.method)
    assert method.__self__ is not call
    assert method.__self__.word == "WORD"
