"""The table that machine code looks through before a call: nothing is left to Python that has a place in memory."""

import array
import functools

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.capture.environment.discover import look
from adjoint.compile.call.objects import is_available
from adjoint.compile.call.raw import raw_rows
from adjoint.compile.call.table import PATIENCE, WatchTable

if not is_available():
    pytest.skip("objects of this interpreter have another layout", allow_module_level=True)


class Slotted:
    __slots__ = ("gain", "later")

    def __init__(self):
        self.gain = 2.0


class Many:
    def __init__(self):
        self.__dict__.update({f"a{k}": float(k) for k in range(300)})
        self.items, self.words, self.array = [1.0, 2.0], {"b": 1, "a": 2}, np.ones(3)


def table_of(x):
    """The table of a function that uses an object, with arrays as they are."""
    watch = look(lambda: x)
    watch.keep_arrays(watch.met_arrays)
    return WatchTable(watch)


def test_plain_objects_have_rows():
    """Attributes, slots, containers, arrays: no Python frame looks at them."""
    table = table_of([Many(), Slotted(), functools.partial(max, 1), (lambda y=1: y)])
    assert table()
    assert not table.has_rest


@pytest.mark.parametrize("make", ["Series", "DataFrame"])
def test_tables_of_pandas_have_rows(make):
    """Also where compiled objects are behind them."""
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=["x", "y"])
    held = data if make == "DataFrame" else data["a"].copy()
    f = ad.jit(lambda q: np.sum(q * (held["a"] if make == "DataFrame" else held).to_numpy()))
    f(np.ones(2))
    table = WatchTable(next(iter(f._paths.values()))[0].recording.watch)
    assert table()
    assert not table.has_rest
    held.iloc[0] = 7.0
    assert not table()


CHANGES = {
    "an item": lambda m: m.items.__setitem__(0, 3.0),
    "one more item": lambda m: m.items.append(3.0),
    "another order": lambda m: m.words.update(b=m.words.pop("b")),
    "another key": lambda m: m.words.update(c=m.words.pop("b")),
    "an attribute": lambda m: setattr(m, "a7", -7.0),
    "the dict": lambda m: setattr(m, "__dict__", dict(m.__dict__, a7=-7.0)),
    "the class": lambda m: setattr(m, "__class__", type("Other", (Many,), {})),
    "a number in an array": lambda m: m.array.__setitem__(1, -0.0),
    "the shape of an array": lambda m: setattr(m.array, "shape", (3, 1)),
    "the dtype of an array": lambda m: setattr(m.array, "dtype", np.int64),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
def test_changes_are_seen(name):
    """By a row, and by Python, which is asked before a call is given up."""
    thing = Many()
    table = table_of(thing)
    assert table.holds()
    CHANGES[name](thing)
    assert not table.holds()
    assert not table.recheck()
    assert not table()


def test_what_only_moves_is_written_anew():
    """Equal numbers, a list that was copied: a few times, and then Python looks at them."""
    thing = Many()
    table = table_of(thing)
    for _ in range(3 * PATIENCE):  # as an attribute, as one of all, by the version of the dict
        thing.a7 = float(f"{thing.a7}")
        assert table()
    assert table.has_rest
    thing.a7 = float(f"{thing.a7}")
    assert table.holds()
    assert table()
    thing.a7 = 8.0
    assert not table()


def test_what_hides_memory_has_no_rows():
    """Numbers in memory of an object's own are not seen by its words."""
    assert raw_rows(array.array("d", [1.0, 2.0])) is None
    assert raw_rows(np.random.default_rng(0).bit_generator) is None
    assert raw_rows(functools.partial(max, [1.0])) is not None
