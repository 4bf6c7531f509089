"""Entries against arguments of every sort; run as a program, so that a crash is seen as one.

An entry must take what `fits` accepts and give exact copies, and must hand everything else to the slow way, untouched.
"""

import collections
import dataclasses
import gc
import pickle
import random
import sys
import threading

import numpy as np
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from adjoint.compile.call import arguments
from adjoint.compile.call.signature import (
    Array,
    Dict,
    List,
    NumpyScalar,
    Object,
    PythonBool,
    PythonFloat,
    PythonInt,
    Static,
    Tuple,
)
from tests.compile.entries import Slow, echo, fits, same

DTYPES = [np.dtype(name) for name in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")]
KEYS = ["a", "b", "weights", "bias", 0, 7, -1, 10**30, ("t", 1), None, 2.5, True]


COUNTS = collections.Counter()


class Float(float):
    pass


class Integer(int):
    pass


class Text(str):
    pass


class Pair(tuple):
    pass


class Row(list):
    pass


class Table(dict):
    pass


class Matrix(np.ndarray):
    pass


NAMES = ("first", "second", "third")
NAMED = [collections.namedtuple("Named", NAMES[:n]) for n in range(4)]
CLASSES = [
    [
        dataclasses.make_dataclass(f"Class{n}", NAMES[:n], **options)
        for options in ({}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True, "eq": False})
    ]
    for n in range(4)
]
HEIRS = {kind: type("Heir", (kind,), {}) for kinds in CLASSES for kind in kinds}


def fields_of(x):
    return {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if hasattr(x, f.name)}


def other_object(rng, x):
    """An object of the same class that is kept otherwise, or of another class, or with something missing or more."""
    kind, fields = type(x), fields_of(x)
    way = rng.randrange(6)
    if way < 2 and kind in HEIRS and len(fields) == len(dataclasses.fields(x)):
        return HEIRS[kind](**fields) if way else rng.choice(CLASSES[len(fields)])(**fields)
    made = object.__new__(kind)
    items = list(fields.items())
    if way == 2:
        rng.shuffle(items)
    if way == 3:
        items = items[1:]
    for name, value in items:
        object.__setattr__(made, name, value)
    if hasattr(made, "__dict__"):
        if way == 4:
            vars(made)["more"] = 1.0
        elif way == 5:
            object.__setattr__(made, "__dict__", dict(vars(made)))
    return made


class Evil:
    """A key that looks like another, and empties everything it can reach when it is compared."""

    def __init__(self, key, prey):
        self.key, self.prey = key, prey

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        for container in self.prey:
            container.clear()
        gc.collect()
        return other == self.key


def random_array(rng, dtype=None, shape=None):
    dtype = dtype or rng.choice(DTYPES)
    shape = tuple([rng.choice([0, 1, 2, 3]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]) if shape is None else shape
    size = int(np.prod(shape)) * dtype.itemsize
    data = bytes([rng.randrange(2) for _ in range(size)]) if dtype.kind == "b" else rng.randbytes(size)
    return np.frombuffer(data, dtype).reshape(shape).copy() if size else np.zeros(shape, dtype)


def relaid(rng, array):
    """The same dtype and shape with other strides, alignment, flags, order; sometimes other values."""
    way = rng.randrange(12)
    if way == 0:
        return np.asfortranarray(array)
    if way == 1:
        return array[tuple([slice(None, None, -1)] * array.ndim)]
    if way == 2:
        return np.broadcast_to(array[tuple([slice(0, 1)] * array.ndim)], array.shape) if array.size else array
    if way == 3 and array.ndim:
        wide = np.zeros([2 * n for n in array.shape], array.dtype)[tuple([slice(None, None, 2)] * array.ndim)]
        wide[...] = array
        return wide
    if way == 4:
        room = np.zeros(array.nbytes + 1, np.uint8)
        odd = room[1:].view(array.dtype)[: array.size].reshape(array.shape)
        odd[...] = array
        return odd
    if way == 5:
        return array.astype(array.dtype.newbyteorder())
    if way == 6:
        array = array.copy()
        array.flags.writeable = False
        return array
    if way == 7:
        return pickle.loads(pickle.dumps(array))
    if way == 8:
        return array.T
    if way == 9:
        return array.view(np.dtype(array.dtype.str, metadata={"note": 1}))
    if way == 10 and array.ndim:
        room = np.zeros((*array.shape, 2), array.dtype)
        room[..., 0] = array
        return room[..., 0]
    return array.reshape((1, *array.shape)).swapaxes(0, -1)[..., 0] if array.ndim else array


def leaf_pair(rng):
    """A leaf and a value that fits it."""
    way = rng.randrange(8)
    if way == 0:
        return PythonFloat(), rng.choice([0.0, -0.0, 1.5, float("nan"), float("inf"), 5e-324])
    if way == 1:
        return PythonInt(), rng.choice([0, 1, -1, 2**62, -(2**63), 2**63 - 1, 1000])
    if way == 2:
        return PythonBool(), rng.random() < 0.5
    if way == 3:
        array = random_array(rng, shape=(1,))
        return NumpyScalar(array.dtype), array[0]
    if way == 4:
        value = rng.choice([None, True, 3, 10**40, "name", "x" * 50, 2.5, float("nan"), np.sin, (1, 2), 1j, b"b"])
        return Static(value), value
    array = random_array(rng)
    array = relaid(rng, array) if rng.random() < 0.4 else array
    if not (array.dtype.isnative and array.flags.aligned and array.dtype.metadata is None):
        array = array.astype(array.dtype.newbyteorder("="))
    strides = "C" if array.flags.c_contiguous else array.strides
    return Array(array.dtype, array.shape, strides, rng.random() < 0.1 and array.flags.writeable), array


def tree_pair(rng, depth=0):
    way = rng.randrange(12) if depth < 4 else 11
    if way > 4:
        return leaf_pair(rng)
    pairs = [tree_pair(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3]))]
    trees, values = tuple([p[0] for p in pairs]), [p[1] for p in pairs]
    if way == 0:
        return Tuple(trees), tuple(values)
    if way == 1:
        return List(trees), values
    if way == 2 and rng.random() < 0.3:
        return Tuple(trees, NAMED[len(trees)]), NAMED[len(trees)](*values)
    if way in (2, 3):
        kind = rng.choice(CLASSES[len(trees)])
        return Object(kind, NAMES[: len(trees)], trees, rng.random() < 0.3), kind(*values)
    keys = tuple(rng.sample(KEYS if rng.random() < 0.3 else KEYS[:8], len(trees)))
    simple = all([type(key) in (str, int) for key in keys])
    return Dict(keys, trees, simple and rng.random() < 0.7), dict(zip(keys, values, strict=True))


def other_value(rng, value):
    """Something in the place of a value: near it, or far from it."""
    way = rng.random()
    if type(value) is np.ndarray and value.dtype.kind in "fiub" and way < 0.7:
        if way < 0.45:
            return relaid(rng, value)
        return rng.choice(
            [
                value.view(Matrix),
                value.tolist(),
                value.astype(object),
                value.astype(rng.choice(DTYPES)),
                value[None],
                value.reshape(-1),
                np.ma.masked_array(value),
                value.astype(complex),
                np.zeros(value.shape, "S3"),
                np.zeros(value.shape, "M8[s]"),
                np.zeros(value.shape, [("x", "f8")]),
                value[()],
                memoryview(value),
                value.astype(np.longlong),
                value.astype(np.float16),
            ]
        )
    if isinstance(value, (float, int)) and way < 0.7:
        number = value if isinstance(value, int) else value if value == value and abs(value) < 1e300 else 1.0
        near = [Float(value) if abs(value) < 2**900 else 1, np.float64(number) if abs(number) < 2**900 else 0, number]
        return rng.choice([*near, int(number), Integer(number), bool(value), -value, np.array(3.0), 10**400])
    if isinstance(value, str) and way < 0.7:
        return rng.choice([Text(value), "".join(list(value)), value + "y", value.encode()])
    if isinstance(value, dict) and way < 0.9:
        items = list(value.items())
        rng.shuffle(items)
        first = items[0] if items else ("z", 1.0)
        return rng.choice(
            [
                dict(items),
                {**value, "extra": 1.0},
                dict(items[1:]),
                Table(value),
                collections.OrderedDict(value),
                collections.defaultdict(list, value),
                {"".join(list(k)) if type(k) is str else k: v for k, v in items},
                {**dict(items[1:]), "new": first[1]},
                {Text(k) if type(k) is str else k: v for k, v in items},
                {(float(k) if type(k) is int and abs(k) < 2**53 else k): v for k, v in items},
                list(value),
            ]
        )
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and way < 0.9:
        return other_object(rng, value)
    if isinstance(value, (list, tuple)) and way < 0.8:
        items = list(value)
        return rng.choice(
            [list(items), tuple(items), Row(items), Pair(items), [*items, 1.0], items[1:], [items], items[::-1]]
        )
    deep = [1.0]
    for _ in range(3000 if rng.random() < 0.02 else 5):
        deep = [deep]
    return rng.choice([None, 1.0, 1, True, "s", object(), deep, np.sin, {}, [], (), np.zeros(3), np.float32(1), value])


def mutated(rng, value):
    """A value with something in it changed."""
    if isinstance(value, (list, tuple)) and value and rng.random() < 0.75:
        items = list(value)
        at = rng.randrange(len(items))
        items[at] = mutated(rng, items[at])
        return value._replace(**{value._fields[at]: items[at]}) if hasattr(value, "_fields") else type(value)(items)
    fields = fields_of(value) if type(value) in HEIRS else {}
    if fields and len(fields) == len(dataclasses.fields(value)) and rng.random() < 0.75:
        name = rng.choice(list(fields))
        return type(value)(**{n: mutated(rng, v) if n == name else v for n, v in fields.items()})
    if type(value) is dict and value and rng.random() < 0.75:
        key = rng.choice(list(value))
        return {k: mutated(rng, v) if k == key else v for k, v in value.items()}
    return other_value(rng, value)


def check(function, trees, args, keywords=None):
    """One call against the account."""
    keywords = keywords or {}
    expected = len(args) == len(trees) and not keywords
    expected = expected and all([fits(t, v) for t, v in zip(trees, args, strict=True)])
    result = function(*args, **keywords)
    COUNTS["native" if expected else "slow"] += 1
    if expected:
        assert type(result) is tuple, ("slow", trees, args)
        assert same(result, tuple(args)), (result, args)
    else:
        assert isinstance(result, Slow), ("native", trees, args)
        assert len(result.args) == len(args)
        assert all([a is b for a, b in zip(result.args, args, strict=True)])
        assert result.keywords == keywords


def one_signature(rng, calls):
    pairs = [tree_pair(rng) for _ in range(rng.choice([0, 1, 1, 2, 3, 12]))]
    trees, values = [p[0] for p in pairs], [p[1] for p in pairs]
    release = rng.random() < 0.3
    function = echo(trees, release_gil=release)
    check(function, trees, values)
    for _ in range(calls):
        args = list(values)
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            if args:
                at = rng.randrange(len(args))
                args[at] = mutated(rng, args[at])
        way = rng.random()
        if way < 0.05:
            args = args[:-1]
        elif way < 0.1:
            args.append(rng.choice([1.0, None, args]))
        check(function, trees, args, {"extra": 1} if 0.1 < way < 0.13 else None)
    overlapping(rng, function, trees, values)
    evil_keys(function, trees, values)


def overlapping(rng, function, trees, values):
    """The same array in several places."""
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if arrays:
        shared = rng.choice(arrays)
        check(function, trees, [shared if isinstance(v, np.ndarray) else v for v in values])


def evil_keys(function, trees, values):
    """Dicts whose keys run code when they are compared: refused, or not compared at all."""
    for i, value in enumerate(values):
        if type(value) is dict and value:
            prey = [v for v in values if isinstance(v, list)]
            copy = dict(value)
            evil = {Evil(k, [*prey, copy]): v for k, v in value.items()}
            for odd in (evil, {**evil, "more": 1}):
                result = function(*values[:i], odd, *values[i + 1 :])
                assert isinstance(result, Slow), "an evil key was taken for its double"
            assert len(copy) == len(value), "an evil key was compared"


def by_chance(number, calls, start):
    for k in range(number):
        rng = random.Random(start + k)
        arguments.ARRAYS_INLINE = rng.choice([0, 1, 8])
        one_signature(rng, calls)


def in_threads(rounds):
    """Containers that one thread keeps changing while others call: every result is of one moment, or the slow way's."""
    leaf = Array(np.dtype("f8"), (64,))
    function = echo([List((leaf, leaf)), Dict(("k",), (leaf,))], release_gil=True)
    rows, table, wrong, stop = [], {}, [], threading.Event()

    def caller():
        while not stop.is_set():
            result = function(rows, table)
            if not isinstance(result, Slow):
                (first, second), third = result[0], result[1]["k"]
                if any([np.ptp(array) != 0 for array in (first, second, third)]) or first[0] != second[0]:
                    wrong.append(result)

    threads = [threading.Thread(target=caller) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(rounds):
        value = float(k)
        rows[:] = [np.full(64, value), np.full(64, value)]
        table["k"] = np.full(64, value)
        if k % 3 == 0:
            rows.clear()
        elif k % 3 == 1:
            table.clear()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def by_hypothesis(examples):
    trees = (
        Array(np.dtype("f8"), (2, 3)),
        PythonFloat(),
        Dict(("a", "b"), (Array(np.dtype("f4"), (2,)), PythonInt())),
        List((Static("mode"), PythonBool())),
    )
    function = echo(trees)
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.just("mode"))
    shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
    arrays = st.builds(
        np.zeros, st.one_of(shapes, st.sampled_from([(2, 3), (2,)])), st.sampled_from(["f8", "f4", "O", ">f8"])
    )
    anything = st.recursive(
        st.one_of(scalars, arrays),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from(["a", "b", "c", 1]), inner, max_size=3),
        ),
        max_leaves=6,
    )
    likely = st.tuples(
        st.one_of(st.just(np.ones((2, 3))), arrays),
        st.one_of(st.floats(), scalars),
        st.one_of(st.fixed_dictionaries({"a": arrays, "b": st.integers()}), anything),
        st.one_of(st.tuples(st.just("mode"), st.booleans()).map(list), anything),
    )

    @seed(1)
    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.one_of(likely, st.lists(anything, max_size=6)))
    def run(args):
        check(function, trees, list(args))

    run()


if __name__ == "__main__":
    number, calls, examples, start = [int(a) for a in sys.argv[1:5]]
    with np.errstate(all="ignore"):
        by_chance(number, calls, start)
    by_hypothesis(examples)
    in_threads(100 * number)
    sys.stdout.write(f"survived {COUNTS}")
