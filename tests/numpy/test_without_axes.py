"""Numbers and arrays without axes: two things to NumPy, and so in every mode."""

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError
from adjoint.core.traced import Traced
from adjoint.core.tree import flatten
from adjoint.numpy import functions
from adjoint.numpy.dispatch.registry import FUNCTIONS
from adjoint.ops import special
from adjoint.ops.declare import UFUNCS
from tests.cases.without_axes import MAKERS, POINT, UPDATES, add, at_ellipsis, kinds, out, program

NUMBER, ARRAY, TWO = np.float64(POINT), np.array(POINT), np.array([POINT, 2.0])


def each(f):
    """A function of every number of a batch, without one."""
    return np.stack([f(x) for x in TWO])


def descended(f):
    """One round of a loop whose body calls the function."""

    def body(s):
        return f(s[2]), s[1] + 1.0, s[2]

    return lambda x: ad.while_loop(lambda s: s[1] < 1.0, body, (np.zeros(6), 0.0, x))[0]


EAGER = {
    "reverse, Python's number": lambda f: (ad.vjp(f, POINT)[0], f(POINT)),
    "reverse, NumPy's number": lambda f: (ad.vjp(f, NUMBER)[0], f(NUMBER)),
    "reverse, array": lambda f: (ad.vjp(f, ARRAY.copy())[0], f(ARRAY.copy())),
    "reverse, element": lambda f: (ad.vjp(lambda v: f(v[0]), TWO)[0], f(NUMBER)),
    "forward, Python's number": lambda f: (ad.jvp(f, (POINT,), (1.0,))[0], f(POINT)),
    "forward, array": lambda f: (ad.jvp(f, (ARRAY.copy(),), (np.array(1.0),))[0], f(ARRAY.copy())),
    "forward, element": lambda f: (ad.jvp(lambda v: f(v[0]), (TWO,), (TWO,))[0], f(NUMBER)),
    "reverse of reverse": lambda f: (ad.vjp(lambda x: ad.vjp(f, x)[0], NUMBER)[0], f(NUMBER)),
    "batch": lambda f: (ad.vmap(f)(TWO), each(f)),
    "batch of reverse": lambda f: (ad.vmap(lambda x: ad.vjp(f, x)[0])(TWO), each(f)),
    "reverse of batch": lambda f: (ad.vjp(ad.vmap(f), TWO)[0], each(f)),
}
RECORDED = {
    "jit, Python's number": lambda f: (ad.jit(f)(POINT), f(POINT)),
    "jit, NumPy's number": lambda f: (ad.jit(f)(NUMBER), f(NUMBER)),
    "jit of reverse": lambda f: (ad.jit(lambda x: ad.vjp(f, x)[0])(POINT), f(POINT)),
    "reverse of jit": lambda f: (ad.vjp(ad.jit(f), POINT)[0], f(POINT)),
    "jit of batch": lambda f: (ad.jit(ad.vmap(f))(TWO), each(f)),
    "scan": lambda f: (ad.scan(lambda c, x: (c, f(x)), 0.0, TWO)[1], each(f)),
    "while": lambda f: (descended(f)(NUMBER), f(NUMBER)),
    "cond": lambda f: (ad.cond(POINT > 0, f, lambda x: 2.0 * f(x), POINT), f(POINT)),
    "jit of while": lambda f: (ad.jit(descended(f))(NUMBER), f(NUMBER)),
}


def differing(mode, updates=UPDATES):
    """The combinations of maker and update that are not as in NumPy."""
    found = []
    for (name, make), update in itertools.product(MAKERS.items(), updates):
        have, want = mode(program(make, update))
        if not np.array_equal(have, want):
            found.append((name, update.__name__, have, want))
    return found


@pytest.mark.parametrize("mode", EAGER)
def test_updates(mode):
    """50 makers and 11 updates: who sees the update, what the value is before and after, which error is raised."""
    assert differing(EAGER[mode]) == []


@pytest.mark.parametrize("mode", RECORDED)
def test_updates_in_a_program(mode):
    """The same while a program is recorded, for an operator, an assignment and `out=`."""
    makers = dict(list(MAKERS.items())[1::10])
    for (name, make), update in itertools.product(makers.items(), (add, at_ellipsis, out)):
        have, want = RECORDED[mode](program(make, update))
        np.testing.assert_array_equal(have, want, err_msg=f"{name}, {update.__name__}")


@pytest.mark.slow
@pytest.mark.parametrize("mode", RECORDED)
def test_all_updates_in_a_program(mode):
    """All of them."""
    assert differing(RECORDED[mode]) == []


@pytest.mark.parametrize("point", [POINT, NUMBER, ARRAY], ids=["Python's", "NumPy's", "array"])
def test_what_is_returned(point):
    """A jitted function returns what the plain one does, and a value with its gradient is an array where it is one."""
    for name, make in list(MAKERS.items())[1::8]:
        want = make(np.array(point)[()] if point is NUMBER else point)
        assert type(ad.jit(make)(point)) is type(want), name
        both = ad.value_and_grad(make), ad.jit(ad.value_and_grad(make))
        assert [isinstance(f(point)[0], np.ndarray) for f in both] == [isinstance(want, np.ndarray)] * 2, name


CALLS = {
    "f(x)": lambda f, x: f(x),
    "f(x, x)": lambda f, x: f(x, x),
    "f(x, x, x)": lambda f, x: f(x, x, x),
    "f(x, x, x, x)": lambda f, x: f(x, x, x, x),
    "f([x, x])": lambda f, x: f([x, x]),
    "f([x > 0], [x])": lambda f, x: f([x > 0], [x]),
    "f(x > 0, x, 0)": lambda f, x: f(x > 0, x, 0.0),
    "f(x, ())": lambda f, x: f(x, ()),
    "f(x, 0)": lambda f, x: f(x, 0),
    "f(x, axis=-1)": lambda f, x: f(x, axis=-1),
    "f(x, 0.5)": lambda f, x: f(x, 0.5),
    "f(x, v, v)": lambda f, x: f(x, np.array([0.0, 9.0]), TWO),
    "f('i->', x)": lambda f, x: f("i->", x),
    "f('...->...', x)": lambda f, x: f("...->...", x),
    "f(v, x)": lambda f, x: f(TWO, x),
    "f(x, [x > 0], [g])": lambda f, x: f(x, [x > 0], [lambda t: t * 2]),
    "f(x, keepdims)": lambda f, x: f(x, keepdims=True),
}
GIVEN = {
    "Python's": POINT,
    "NumPy's": NUMBER,
    "array": ARRAY,
    "vector": TWO,
    "matrix": np.array([[2.0, 0.5], [0.3, 1.5]]),
}
MODES = {
    "reverse": lambda f, x: ad.vjp(f, x),
    "forward": lambda f, x: ad.jvp(f, (x,), (x,)),
    "batch": lambda f, x: ad.vmap(f)(np.stack([x, x])),
    "batch of reverse": lambda f, x: ad.vmap(lambda x: ad.vjp(f, x)[0])(np.stack([x, x])),
}
NO_FUNCTIONS = ("save", "savez", "savetxt", "savez_compressed")
"""They write files."""


def seen(found):
    """The kinds of the real numbers and arrays without axes in a result."""
    return [
        x.__class__ if isinstance(x, Traced) else type(x)
        for x in flatten(found)[0]
        if isinstance(x, (Traced, np.ndarray, np.generic, float)) and np.shape(x) == ()
        and (not hasattr(x, "dtype") or x.dtype.kind in "fc")
    ]  # fmt: skip


def calls():
    """Every function with every way of calling it; of universal functions, which are alike, the usual one.

    The private ones among these, as `_ncf_mean`, are called by `scipy.stats`.
    """
    functions.load()
    special.load()
    for f in FUNCTIONS:
        if f.__name__ not in NO_FUNCTIONS:
            yield from [(f, how, call) for how, call in CALLS.items()]
    for f in UFUNCS:
        how = f"f({', '.join('x' * f.nin)})"
        yield f, how, CALLS[how]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("mode", MODES)
def test_every_function_gives_what_numpys_does(mode, part):
    """A number or an array: the whole catalogue, called in every way that NumPy takes, with every kind of argument."""
    wrong, count = [], 0
    for (function, how, call), (given, x) in itertools.product(list(calls())[part::4], GIVEN.items()):
        if mode.startswith("batch") and given in ("Python's", "array"):
            continue  # an example is neither
        try:
            want = seen(call(function, x.copy() if isinstance(x, np.ndarray) else x))
        except Exception:
            continue
        if not want:
            continue
        have = []

        def f(x, call=call, function=function, have=have):
            have.append(seen(call(function, x)))
            return np.sum(x)

        try:
            MODES[mode](f, x)
        except (AdjointError, TypeError):  # refused
            continue
        count += 1
        if have[0] != want:
            wrong.append((function.__name__, given, how, have[0], want))
    assert wrong == []
    assert count > 50


def test_the_examples_of_the_docs():
    """An array is updated for whoever holds it, a number is not."""

    def of_array(x):
        y = np.array(x)
        z = y
        y += 1.0
        return z * 2.0

    def of_number(x):
        m = np.median(x)
        old = m
        m += 1.0
        return m - old

    for f, x, want in ((of_array, 0.5, (3.0, 2.0)), (of_number, np.array([1.0, 2.0, 4.0]), (1.0, 0.0))):
        value, slope = ad.value_and_grad(f)(x)
        assert value == want[0] == f(x) == ad.jit(f)(x)
        assert np.all(slope == want[1])


@pytest.mark.parametrize("mode", [*MODES, "jit"])
def test_numbers_and_arrays_are_asked(mode):
    """Truth, length, iteration, hash, `item`, as NumPy answers."""

    def asked(x):
        y, n = np.array(x), np.sum(x)
        found = [kinds(y), kinds(n), kinds(y[()]), kinds(y[...]), kinds(y.copy()), kinds(n.copy())]
        for ask in (len, iter, hash):
            for value in (y, n):
                try:
                    ask(value) if mode.startswith("batch") is False or ask is not hash else None
                    found.append(0.0)
                except TypeError:
                    found.append(1.0)
        return found

    have = []

    def f(x):
        have.append(asked(x))
        return x * 1.0

    if mode == "jit":
        assert ad.jit(lambda x: (x, asked(x)))(NUMBER)[1] == asked(NUMBER)
    else:
        MODES[mode](f, NUMBER)
        assert have[0] == asked(NUMBER)


def test_a_failed_call_writes_nothing():
    """NumPy is asked for its error with copies: the arrays of the batch stay as they are."""
    rows = np.arange(6.0).reshape(2, 3)

    def f(x):
        try:
            np.add(x, np.ones(4), out=x)
        except ValueError:
            return x * 1.0

    np.testing.assert_array_equal(ad.vmap(f)(rows), np.arange(6.0).reshape(2, 3))
