"""Branches of Python's: a recording for each side, not for each combination, and the numbers of the plain function."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.host.frames.liveness import resumption_of
from adjoint.transforms.jit import path
from adjoint.transforms.loops.cond import cond

from . import branching
from .branching import OF_ARRAYS, OF_NUMBERS, PATTERNS, leaky, written

NUMBERS = [[1.3, 0.7], [np.float64(1.3), np.float64(0.7)]]
ARRAYS = [[np.array([0.3, 1.2, -0.4]), np.array([0.5, 0.2, -0.9])]]
CASES = [*[(f, NUMBERS) for f in OF_NUMBERS], *[(f, ARRAYS) for f in OF_ARRAYS]]


@pytest.fixture
def _at_once(monkeypatch):
    """Put sides together from the first recording on."""
    monkeypatch.setattr(path, "SEVERAL", 0)


def is_same(got, want, rtol=1e-13):
    if isinstance(want, tuple):
        return all([is_same(a, b, rtol) for a, b in zip(got, want, strict=True)])
    return type(got) is type(want) and np.allclose(got, want, rtol=rtol, atol=1e-300, equal_nan=True)


def check(plain, points, order, rtol=1e-13):
    """A jitted function, called for all patterns in some order, gives what the plain one gives."""
    jitted = ad.jit(plain)
    for t in [PATTERNS[k] for k in order] * 2:
        for x in points:
            got, want = jitted(t, x), plain(t, x)
            assert is_same(got, want, rtol), (t, x, got, want)
    return jitted


def second(f):
    return ad.grad(lambda t, x: np.sum(ad.grad(f, 1)(t, x) ** 2), 1)


def pushed(f):
    return lambda t, x: ad.jvp(lambda x: f(t, x), (x,), (x * 0.5,))[0]


TRANSFORMED = {"value": lambda f: f, "grad": lambda f: ad.grad(f, 1), "second": second, "jvp": pushed}


@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("made", TRANSFORMED.values(), ids=TRANSFORMED)
@pytest.mark.parametrize(("f", "points"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_the_plain_function(f, points, made):
    """In all patterns, whichever came first."""
    for some, order in itertools.product(points, [range(8), [7, 0, 3, 4, 1, 6, 2, 5]]):
        check(made(f), some, order)


ONLY_LOOK_INDEPENDENT = [
    branching.hidden, branching.fan_out, branching.updated_alias, branching.alias_after_loop, branching.uneven_rounds,
]  # fmt: skip


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("f", ONLY_LOOK_INDEPENDENT)
def test_sides_that_only_look_independent(f):
    """Steps after a branch are the same, but what follows is not, in the function or in its gradient."""
    points = ARRAYS[0] if f in OF_ARRAYS else NUMBERS[0]
    check(ad.grad(f, 1), points, [7, 3, 5, 6, 0, 1, 2, 4])


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("seed", [1631, *range(12)])
def test_random_functions(seed):
    """Statements of all kinds in any order; the first seed once had a number of the wrong side."""
    _check_random(seed)


@pytest.mark.slow
@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_random_functions(seed):
    """The same for more of them."""
    _check_random(seed)


@pytest.mark.parametrize("several", [0, 2])
@pytest.mark.parametrize("seed", range(8))
def test_random_functions_with_loops(seed, several, monkeypatch):
    """Ranges that are longer on one side than on the other, and loops that become one step."""
    monkeypatch.setattr(path, "SEVERAL", several)
    _check_random(seed, loops=True)


def _check_random(seed, *, loops=False):
    f, of_arrays = written(seed, loops=loops)
    points = ARRAYS[0] if of_arrays else NUMBERS[seed % 2]
    plain = ad.grad(f, 1) if seed % 3 == 0 else f
    try:
        for t, x in itertools.product(PATTERNS, points):
            plain(t, x)
    except (UnboundLocalError, TypeError, ValueError):
        pytest.skip("the function has no value")
    check(plain, points, [(k * 3 + seed) % 8 for k in range(8)], 1e-11 if loops else 1e-13)


# How many recordings


def six(t, x):
    x = np.sin(x) if t[0] > 0 else x * x
    x = np.cos(x) if t[1] > 0 else x + 2.0
    x = np.exp(-x) if np.sum(x) * t[2] > 0.1 else x / 3.0
    x = x * 1.5 if t[3] > 0 else x - 0.2
    x = x * x if np.sum(x) * t[4] > 0.1 else x * 3.0
    x = np.tanh(x) if t[5] > 0 else x * 0.5
    return np.sum(x)


@pytest.mark.slow
@pytest.mark.parametrize("made", [lambda f: f, lambda f: ad.grad(f, 1)], ids=["value", "grad"])
def test_six_branches_take_eight_recordings(made):
    """Of 64 patterns, in the order in which one outcome at a time is new; all of them in the last path."""
    plain, x = made(six), np.linspace(0.1, 0.9, 10)
    jitted = ad.jit(plain)
    for signs in itertools.product([1.0, -1.0], repeat=6):
        t = np.array(signs)
        np.testing.assert_allclose(jitted(t, x), plain(t, x), rtol=1e-13)
    assert jitted.stats()["recordings"] == 8
    assert len(jitted.stats()["branches"][0]) == 6


def test_rounds_of_a_loop():
    """A branch in each of ten rounds: 1,024 patterns."""

    def f(t, x):
        for k in range(10):
            x = x * (k + 1.0) if t[k] > 0 else x - 0.5
        return x

    jitted, rng = ad.jit(f), np.random.default_rng(0)
    for _ in range(300):
        t = rng.normal(size=10)
        assert is_same(jitted(t, 0.5), f(t, 0.5))
    assert jitted.recordings < 15


def test_two_paths_stay_two():
    """A function with one branch runs the side that it takes, and nothing else."""

    def f(x):
        return x * x if x > 0 else -x

    jitted = ad.jit(f)
    assert [jitted(2.0), jitted(-3.0), jitted(4.0), jitted(-1.0)] == [4.0, 3.0, 16.0, 1.0]
    assert jitted.recordings == 2
    (paths,) = jitted._paths.values()
    assert not any([step.primitive is cond for p in paths for step in p.program.steps])


@pytest.mark.usefixtures("_at_once")
def test_stats_name_the_branches():
    """Guards are those that are left."""

    def f(t, x):
        if t[0] > 0:
            x = x * 2.0
        if t[1] > 0:
            x = x + 1.0
        return x

    jitted = ad.jit(f)
    for a, b in [(1, 1), (1, -1), (-1, 1)]:
        jitted(np.array([a, b]), 1.0)
    stats = jitted.stats()
    assert stats["recordings"] == 3
    assert stats["guards"][0] == []
    assert [line.rpartition("  ")[2] for line in stats["branches"][0]] == ["if t[0] > 0:", "if t[1] > 0:"]
    assert "if t[1] > 0:" in str(stats)


# What must not be put together, and what has to be seen


@pytest.mark.usefixtures("_at_once")
def test_steps_that_raise_are_taken_on_their_side_alone():
    """An index that is out of bounds on one side, a matrix that has no factor."""

    def f(t, x, i):
        if t[0] > 0:
            x = x * x[i]
        if t[1] > 0:
            x = x * np.linalg.cholesky(t[2] * np.eye(3))[0]
        return np.sum(x)

    jitted, x = ad.jit(f), np.array([1.0, 2.0, 3.0])
    for a, b in itertools.product([1.0, -1.0], repeat=2):
        assert is_same(jitted(np.array([a, b, 4.0]), x, np.int64(1)), f(np.array([a, b, 4.0]), x, 1))
    assert jitted(np.array([-1.0, -1.0, -4.0]), x, np.int64(99)) == 6.0
    with pytest.raises(IndexError):
        jitted(np.array([1.0, -1.0, 4.0]), x, np.int64(99))
    with pytest.raises(np.linalg.LinAlgError):
        jitted(np.array([-1.0, 1.0, -4.0]), x, np.int64(0))


@pytest.mark.usefixtures("_at_once")
def test_lengths_that_values_decide():
    """A mask on one side: its length is not part of a branch."""

    def f(t, x):
        if t[0] > 0:
            y = x[x > 0.0]
            x = x * np.sum(y)
        if t[1] > 0:
            x = x * 2.0
        return np.sum(x)

    jitted = ad.jit(f)
    for x in [np.array([1.0, -1.0, 2.0]), np.array([-1.0, -1.0, 2.0]), np.array([1.0, 1.0, 2.0])]:
        for t in PATTERNS:
            assert is_same(jitted(t, x), f(t, x))


@pytest.mark.usefixtures("_at_once")
def test_captured_arrays_are_read_at_every_call():
    """Also on the side that was recorded before they were written to."""
    w, scale = np.array([1.0, 2.0, 3.0]), [2.0]

    def f(t, x):
        x = x * w if t[0] > 0 else x * scale[0]
        if t[1] > 0:
            x = x + np.sum(w)
        return np.sum(x)

    jitted, x = ad.jit(f), np.array([1.0, 2.0, 3.0])
    for step in range(4):
        for t in PATTERNS:
            assert is_same(jitted(t, x), f(t, x))
        if step % 2:
            scale[0] += 1.0
        else:
            w[:] = w * 2.0 - 1.0


@pytest.mark.usefixtures("_at_once")
def test_results_of_different_kinds():
    """Containers and texts that differ belong to different paths."""

    def f(t, x):
        name = "high" if t[0] > 0 else "low"
        x = x * 2.0 if t[1] > 0 else x
        return {"name": name, "x": x} if t[2] > 0 else (name, x)

    jitted = ad.jit(f)
    for t in PATTERNS * 2:
        assert jitted(t, 1.5) == f(t, 1.5)


@pytest.mark.usefixtures("_at_once")
def test_jitted_functions_inside_and_derivatives_around():
    """A jitted function in another one, and the gradient of a jitted function."""
    inner = ad.jit(branching.own_tests)

    def twice(t, x):
        return inner(t, x * 2.0) * inner(-t, x)

    x = ARRAYS[0][0]
    for plain in (twice, ad.grad(twice, 1)):
        jitted = ad.jit(plain)
        for t in PATTERNS * 2:
            np.testing.assert_allclose(jitted(t, x), plain(t, x), rtol=1e-13)
    outside, wanted = ad.grad(inner, 1), ad.grad(branching.own_tests, 1)
    for t in PATTERNS * 2:
        np.testing.assert_allclose(outside(t, x), wanted(t, x), rtol=1e-13)


@pytest.mark.usefixtures("_at_once")
def test_methods_whose_object_changes():
    """Arrays and numbers of an object that are replaced between calls, as seen by both sides."""

    class Model:
        def __init__(self):
            self.w, self.k = np.array([1.0, 2.0, 3.0]), 2

        def __call__(self, t, x, *, scale):
            if t[0] > 0:
                x = x * self.w
            if t[1] > 0:
                x = x + self.k * scale
            return np.sin(x) if t[2] > 0 else x

    model, x = Model(), np.array([0.1, 0.2, 0.3])
    jitted = ad.jit(model.__call__)
    for step in range(4):
        for t in PATTERNS:
            np.testing.assert_allclose(jitted(t, x, scale=2.0), model(t, x, scale=2.0), rtol=1e-14)
        if step % 2:
            model.w = model.w + 1.0
        else:
            model.k += 1


@pytest.mark.usefixtures("_at_once")
def test_donated_arrays():
    """Results may be written over arguments that a side still reads."""

    def update(state, t):
        w, v = state
        v = 0.9 * v + w if t[0] > 0 else v - 0.1 * w
        if t[1] > 0:
            w = w - 0.1 * v
        if t[2] > 0:
            w = np.tanh(w * v)
        return w, v

    jitted = ad.jit(update, donate_argnums=0)
    ours, theirs = (np.ones(50), np.arange(50.0)), (np.ones(50), np.arange(50.0))
    for t in PATTERNS * 3:
        ours, theirs = jitted(ours, t), update(theirs, t)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert jitted.recordings < 8


def test_effects_are_had_in_every_call():
    """A function that prints with `ad.debug` is not cut into sides."""
    seen = []

    def f(t, x):
        if t[0] > 0:
            x = x * 2.0
            ad.debug.callback(seen.append, x)
        if t[1] > 0:
            x = x + 1.0
        return x

    jitted = ad.jit(f)
    for t in PATTERNS * 2:
        assert jitted(t, 1.5) == f(t, 1.5)
    assert len(seen) == 2 * len([t for t in PATTERNS * 2 if t[0] > 0])


# Branches and loops


def around_a_while(t, x):
    x = x * 0.5 if t[0] > 0 else x + 0.25
    while x * x > 0.01:
        x = x * 0.7 if x > 0.3 else x * (0.5 + 0.2 * t[1])
    return x * 3.0 if t[2] > 0 else x * x


def in_a_for(t, x):
    y = x if t[0] > 0 else 2.0 * x
    for k in range(50):
        y = y * 0.5 if y > 3.0 + t[1] else y * 1.3 + k * 0.01
        if y * t[2] > 2.5:
            break
    return y * x if t[1] > 0 else y


def for_and_while(t, x):
    for k in range(4):
        x = x * (k + 1.0) if t[k % 3] > 0 else x - 0.5
        n = 0
        while x * x > 2.0:
            x, n = x * 0.5, n + 1
        if n > 2:
            x = x + 0.1
    return x if t[1] > 0 else x * x


def newton(v):
    y = v
    for _ in range(60):
        step = (y * y - v) / (2.0 * y)
        y = y - step
        if step * step < 1e-20:
            break
    return y


def calls_loops(t, x):
    a = newton(1.5 + x * x) if t[0] > 0 else x
    b = newton(2.5 + x) if t[1] > 0 else x * 2.0
    total = 0.0
    while total < 3.0:
        total = total + leaky(a * t[2]) ** 2 + 0.3
    return a * b + total


def updates_in_both(t, x):
    y = np.zeros(4)
    y[0] = x if t[0] > 0 else 2.0 * x
    k = 0
    while y[0] < 4.0:
        y[0] += 0.5
        k += 1
        if y[0] > 2.0:
            y[1] = y[1] + k * x
    if t[1] > 0:
        y[2] = y[0] * t[2]
    return np.sum(y * y)


WITH_LOOPS = [around_a_while, in_a_for, for_and_while, calls_loops, updates_in_both]


@pytest.mark.parametrize("made", [lambda f: f, lambda f: ad.grad(f, 1)], ids=["value", "grad"])
@pytest.mark.parametrize("f", WITH_LOOPS)
@pytest.mark.parametrize("several", [0, 2])
def test_branches_and_loops(f, made, several, monkeypatch):
    """A branch before, in and after a loop that values end, and in functions that it calls."""
    monkeypatch.setattr(path, "SEVERAL", several)
    plain = made(f)
    jitted = ad.jit(plain)
    for k, t in enumerate([PATTERNS[(3 * k) % 8] for k in range(8)] * 2):
        for x in (0.4 + 0.13 * k, 1.9 - 0.07 * k):
            assert is_same(jitted(t, x), plain(t, x), 1e-12), (t, x)


def test_a_loop_stays_a_loop_between_branches():
    """One path has both sides of the branches around a `while`, for any number of rounds."""

    def f(t, x):
        x = x * 2.0 if t[0] > 0 else x + 1.0
        while x > 1.0:
            x = x * 0.9
        return x * 3.0 if t[1] > 0 else x - 1.0

    jitted = ad.jit(f)
    for start in np.linspace(3.0, 60.0, 12):
        for t in PATTERNS:
            assert is_same(jitted(t, start), f(t, start), 1e-12)
    assert jitted.recordings < 8
    merged = [line.rpartition("  ")[2][:8] for line in jitted.stats()["branches"][0]]
    # from 3.14 on there is one test for the first round and all others: the sides before it do not meet there
    assert merged == ["x = x * ", "return x"][sys.version_info >= (3, 14) :]


# Frames


class Asking:
    """Its truth value notes what the frames above decide by."""

    def __init__(self):
        self.found = []

    def __bool__(self):
        frame, names = sys._getframe(1), []
        while frame.f_code.co_filename == __file__ and not frame.f_code.co_name.startswith("test_"):
            needed = resumption_of(frame)
            names.append(None if needed is None else sorted(needed.variables))
            frame = frame.f_back
        self.found.append(names)
        return True


def test_variables_that_are_read_later():
    """Those that are written first do not count; the variable of a `for` does if it is read."""

    def f(x, unused):
        half = 1
        if x:
            half = 2
        for _k in range(1):
            if x:
                pass
        for i, _ in enumerate("a"):
            if x:
                half = i
        return half

    asking = Asking()
    f(asking, 3)
    assert asking.found == [[["half", "x"]], [["half", "x"]], [["half", "i", "x"]]]


def test_what_waits_on_the_stack():
    """A part of an expression, a context: then variables and iterators do not decide alone."""

    def called(x):
        return 1 if x else 2

    def f(x):
        a = 1 + called(x)
        b = called(x)
        with np.errstate(all="ignore"):
            if x:
                pass
        return a, b

    asking = Asking()
    f(asking)
    assert asking.found[0] == [[], None]
    assert asking.found[1][0] == []
    assert asking.found[1][1] is not None
    assert asking.found[2] == [None]


def test_loops_around_a_test():
    """Which iterators wait, and whether the loops end when nothing is left and not before."""

    def f(x):
        for _ in range(1):
            for _ in range(1):
                if x:
                    continue
        for _ in range(1):
            if x:
                break
        for _ in range(1):
            while True:
                if x:
                    break
        for _ in range(1):
            if x:
                pass
            else:
                return
        if x:
            pass

    class Asked:
        def __bool__(self):
            found.append(resumption_of(sys._getframe(1)))
            return True

    found = []
    f(Asked())
    assert [(len(r.loops), r.is_open) for r in found] == [(2, False), (1, True), (1, True), (1, True), (0, False)]


@pytest.mark.usefixtures("_at_once")
def test_how_far_a_for_has_to_go():
    """One side of a branch leaves a longer range behind than the other, which no variable tells afterwards."""

    def f(x):
        y = x[2]
        n = 3 if x[0] > 0 else 5
        for i in range(n):
            y = y * 1.1 if x[1] > i else y + 1.0
        return y

    def g(x):
        y = x[2]
        items = [1, 2, 3] if x[0] > 0 else [1, 2, 3, 4, 5]
        for i, _ in enumerate(items):
            y = y * 1.1 if x[1] > i else y + 1.0
        return y

    for plain in (f, g):
        jitted = ad.jit(plain)
        for x in ([1.0, 10.0, 1.0], [-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 10.0, 1.0], [1.0, 1.5, 1.0]):
            assert is_same(jitted(np.array(x)), plain(np.array(x)))
