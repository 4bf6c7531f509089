"""Loops of Python's that values end: one recording for any number of rounds, and the numbers of the plain function."""

from __future__ import annotations

import functools
import math
import random

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import ImpureError
from adjoint.host.frames.branch_points import tests_in as places_of_tests
from adjoint.transforms.jit import path

STARTS = [0.4, 1.5, 3.0, 7.0, 900.0, 20.0, 1e9, 2.5, 1e5]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Look for loops from the first recording on."""
    monkeypatch.setattr(path, "SEVERAL", 0)


def recordings(f, *, starts=STARTS, derivative=True):
    """How many recordings there are after calls with these numbers, of the function and of its derivative."""
    found = []
    for plain in (f, ad.grad(f)) if derivative else (f,):
        jitted = ad.jit(plain)
        for x in starts:
            got, want = jitted(x), plain(x)
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-13)
        found.append(jitted.stats()["recordings"])
    return found


def halved(x):
    y = x
    while abs(y) > 1.0:
        y = y * 0.5 + 0.1 * np.sin(y)
    return y * x


def until_break(x):
    y = x
    while True:
        y = y * 0.5
        if not y > 1.0:
            break
    return y + np.sin(x)


def by_a_flag(x):
    goes_on = x > 1.0
    while goes_on:
        x = x / 3.0
        goes_on = x > 1.0
    return x


def shifted(x):
    """What is carried is handed on from variable to variable."""
    a, b, pair = x, 0.5 * x, (x, 2.0 * x)
    while b * b > 1.0:
        a, b = b, 0.4 * b + 0.1 * a
        pair = pair[1], pair[0] * 0.3
    return a + b + pair[0] * pair[1]


def by_halves(x, y):
    while x > y:
        x = x * 0.5
    return x


def in_a_helper(x):
    return by_halves(x, 1.0) * by_halves(x * x, 2.0)


def of_derivatives(x):
    """Newton's iteration, whose slope is a derivative too."""

    def f(y):
        return y * y - x

    y = x
    while abs(f(y)) > 1e-9 * x:
        y = y - f(y) / ad.grad(f)(y)
    return y


@pytest.mark.parametrize("f", [halved, until_break, by_a_flag, shifted])
def test_one_recording_for_any_number_of_rounds(f):
    """There are others for the first rounds, which are compared."""
    assert max(recordings(f, starts=[*STARTS, 1e3, 1e4, 1e6])) <= 6


def test_two_loops():
    """Each has its first rounds."""
    assert max(recordings(in_a_helper, starts=[1e3, 1e5, 1e9, 1e12, 1e4])) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_arrays(dtype):
    """Also of a lower precision, which Python's numbers keep."""

    def f(x, scale):
        y = x * scale
        step = y
        while np.max(np.abs(step)) > 1.0:
            step = 0.5 * step - 0.1 * y / (1.0 + abs(y) ** 2)
            y = y + step
        return np.sum(np.abs(y))

    jitted, slope = ad.jit(f), ad.jit(ad.grad(f, argnums=(0, 1)))
    for k in range(8):
        x = (np.random.default_rng(k).normal(size=4) * 3**k).astype(dtype)
        rtol = 1e-4 if dtype is np.float32 else 1e-12
        assert jitted(x, 2.0).dtype == f(x, 2.0).dtype
        np.testing.assert_allclose(jitted(x, 2.0), f(x, 2.0), rtol=rtol)
        for got, want in zip(slope(x, 2.0), ad.grad(f, argnums=(0, 1))(x, 2.0), strict=True):
            np.testing.assert_allclose(got, want, rtol=rtol)
    assert jitted.stats()["recordings"] <= 4


def test_forward_mode_and_outside():
    """Tangents are carried along, and a jitted function has derivatives of its own."""

    def push(x):
        return ad.jvp(halved, (x,), (1.0,))

    jitted, outside = ad.jit(push), ad.grad(ad.jit(halved))
    for x in STARTS:
        np.testing.assert_allclose(jitted(x), push(x), rtol=1e-13)
        np.testing.assert_allclose(outside(x), ad.grad(halved)(x), rtol=1e-13)
    assert jitted.stats()["recordings"] <= 4


def test_not_before_there_are_several_paths(monkeypatch):
    """Rounds one by one are faster, where their number stays the same."""
    monkeypatch.setattr(path, "SEVERAL", 2)
    f = ad.jit(halved)
    f(900.0)
    assert "while_loop" not in str(f._paths[next(iter(f._paths))][0].program)
    assert recordings(halved, starts=[900.0, 7.0, *STARTS], derivative=False)[0] <= 6


# What a round does besides, and what must not be taken for a loop


class Box:
    """Something that is changed."""

    count = 0

    def __init__(self):
        self.value = 0.0
        self.count = 0


def counted(x):
    n = 0
    while x > 1.0:
        x, n = x * 0.5, n + 1
    return x + n


def limited(x):
    n = 0
    while x > 1.0 and n < 4:
        x, n = x * 0.5, n + 1
    return x


def damped(x):
    rate = 1.0
    while x > 1.0:
        rate = rate * 0.9
        x = x * 0.5 * rate
    return x


def collected(x):
    found = []
    while x > 1.0:
        found.append(x)
        x = x * 0.5
    return x + sum(found)


def kept_in_a_list(x):
    last = [x]
    while x > 1.0:
        x = 0.4 * x + 0.1 * last[0]
        last[0] = x
    return x + last[0]


def kept_in_an_object(x):
    box = Box()
    while x > 1.0:
        box.value = box.value + x
        box.count += 1
        x = x * (0.5 if box.count < 3 else 0.25)
    return x + box.value


def kept_in_a_class(x):
    class Own:
        count = 0

    while x > 1.0:
        Own.count += 1
        x = x * (0.5 if Own.count < 3 else 0.25)
    return x


def kept_in_a_closure(x):
    total, count = 0.0, 0

    def step(y):
        nonlocal total, count
        total, count = total + y, count + 1
        return y * (0.5 if count < 3 else 0.25)

    def run(y, step):
        while y > 1.0:
            y = step(y)
        return y

    return run(x, step) + total


def kept_in_defaults(x):
    def step(y, seen=[]):
        seen.append(1)
        return y * (0.5 if len(seen) < 3 else 0.25)

    while x > 1.0:
        x = step(x)
    return x


def from_an_iterator(x):
    rates = iter([0.5, 0.5, 0.5, 0.25, 0.2] + [0.1] * 40)
    while x > 1.0:
        x = x * next(rates)
    return x


def from_a_generator(x):
    def rates():
        for k in range(100):
            yield 1.0 / (k + 2)

    mine = rates()
    while x > 1.0:
        x = x * next(mine)
    return x


def from_random_numbers(x):
    rng = np.random.default_rng(3)
    while x > 1.0:
        x = x * rng.uniform(0.2, 0.6)
    return x


def for_loop(x):
    for k in range(40):
        x = x * (0.5 if k < 3 else 0.25)
        if x < 1.0:
            break
    return x


def repeated_silently(x):
    for _ in [None] * 5:
        x = x * 0.5
        if x < 1.0:
            break
    return x


def part_of_an_expression(x):
    total = 0.0
    while True:
        total = total + x * (2.0 if x > 5.0 else 3.0)
        x = x * 0.5
        if x < 1.0:
            return total


def branching(x):
    while x > 1.0:
        x = x * 0.3
        if x > 10.0:
            x = x * 0.6
    return x


def caught(x):
    while x > 1.0:
        try:
            if x > 10.0:
                x = x * 0.25
        except Exception:
            x = x * 0.5
        x = x * 0.7
    return x


def nested(x):
    y = x
    while y > 1.0:
        z = y
        while z > 2.0:
            z = z * 0.5
        y = y * 0.3 + 0.01 * z
    return y


def in_place(x):
    y = np.array([x, 2.0 * x])
    other = y
    while np.sum(y) > 1.0:
        y *= 0.5
    return np.sum(other) + y[0]


def element_by_element(x):
    y = np.zeros(3)
    y[0] = x
    while np.max(y) > 1.0:
        y[1] = y[0] * 0.1
        y[0] = y[0] * 0.5
    return np.sum(y)


def in_place_elsewhere(x):
    """A handle in a container is updated, which is no variable."""
    held = [np.array([x, 1.0])]
    while x > 1.0:
        x = x * 0.4 + 0.01 * held[0][1]
        held[0][1] = x
    return x + held[0][1]


def through_a_view(x):
    y = np.array([x, x])
    part = y[:1]
    while x > 1.0:
        part[0] = x
        x = x * 0.5 + 0.01 * y[0]
    return x + y[0] + part[0]


def aliased(x):
    """At first one handle has two names, of which one stays."""
    first, y = x, x
    while y > 1.0:
        y = y * 0.5 - 0.01 * first / x
    return y * first


def last_but_one(x):
    before, y = x, x
    while y > 1.0:
        before, y = y, y * 0.5
    return before * y


def changing_kind(x):
    y = x
    total = 0
    while y > 1.0:
        total = total + np.float32(0.1) * y
        y = y * 0.5
    return y + float(total) * 0.0 + total


def growing(x):
    y = np.array([x])
    while y[-1] > 1.0:
        y = np.concatenate([y, y[-1:] * 0.5])
    return np.sum(y)


def until_it_raises(x):
    try:
        while True:
            x = x * 0.5
            np.linalg.cholesky(np.array([[x - 1.0]]))
    except np.linalg.LinAlgError:
        return x


def with_a_context(x):
    with np.errstate(divide="ignore"):
        while x > 1.0:
            x = x * 0.5
    return x


def mathematics(x):
    while x > 1.0:
        x = math.sqrt(x) * 0.9
    return x


TRICKY = [
    counted, limited, damped, collected, kept_in_a_list, kept_in_an_object, kept_in_a_class, kept_in_a_closure,
    kept_in_defaults, from_an_iterator, from_a_generator, from_random_numbers, for_loop, repeated_silently,
    part_of_an_expression, branching, caught, nested, in_place, element_by_element, in_place_elsewhere,
    through_a_view, aliased, last_but_one, growing, until_it_raises, with_a_context, mathematics, changing_kind,
    of_derivatives,
]  # fmt: skip


@pytest.mark.parametrize("f", TRICKY, ids=lambda f: f.__name__)
def test_whatever_a_round_does(f):
    """Loop or not, it gives what it gives without jit."""
    derivative = f not in (mathematics, until_it_raises, changing_kind)
    recordings(f, starts=[0.4, 1.5, 3.0, 7.0, 900.0, 20.0, 250.0], derivative=derivative)


def test_effects_are_had_in_every_round():
    """So a round that has one is recorded each time."""
    seen = []

    def f(x):
        while x > 1.0:
            ad.debug.callback(seen.append, x)
            x = x * 0.5
        return x

    jitted = ad.jit(f)
    for start in (3.0, 9.0, 33.0, 9.0, 33.0):
        seen.clear()
        jitted(start)
        assert seen == [start * 0.5**k for k in range(math.ceil(math.log2(start)))]


def test_conditions_that_are_errors():
    """Where NumPy raises, it does so in the round that is due."""

    def f(x):
        while x < 1e300:
            x = x * np.float64(1e100)
        return x * 1e100

    jitted = ad.jit(f)
    with np.errstate(over="raise"):
        for start in (1e-300, 1e250, 1e-250, 1e-100):
            with pytest.raises(FloatingPointError):
                jitted(np.float64(start))


def test_impure_rounds_are_refused():
    """As without loops."""
    seen = []

    def f(x):
        while x > 1.0:
            seen.append(1)
            x = x * 0.5
        return x

    with pytest.raises(ImpureError, match="changes the captured list"):
        ad.jit(f)(100.0)


def test_methods_and_partials():
    """What a method reads of its object is the same in every round."""

    class Model:
        def __init__(self):
            self.rate, self.weights = 0.5, [np.array([0.5, 0.25])]

        def solved(self, x, least):
            while np.sum(x) > least:
                x = x * self.weights[0] * self.rate
            return x

    f = functools.partial(Model().solved, least=0.1)
    jitted = ad.jit(f)
    for k in range(6):
        x = np.array([2.0, 3.0]) * 10.0**k
        np.testing.assert_allclose(jitted(x), f(x), rtol=1e-14)
    assert jitted.stats()["recordings"] <= 3


def test_which_tests_end_a_loop():
    """Those with nothing else under way but iterators: no context, no part of an expression."""
    for f, depth in ((halved, 0), (until_break, 0), (for_loop, 1), (repeated_silently, 1)):
        found = places_of_tests(f.__code__)
        assert found
        assert all([len(test.loops) == depth for test in found.values()])
    for f in (with_a_context, Box.__init__):
        assert not places_of_tests(f.__code__)


def test_which_variables_are_read_again():
    """The others need not be the same, nor be carried along."""

    def f(x, least):
        t, kept = [], 0.0
        while True:
            t = [x * 0.5]
            x = t[0]
            if x < least:
                break
        return x, kept

    def caught(x):
        while True:
            t = x * 0.5
            try:
                if x < t:
                    break
            except ValueError:
                return t

    assert {test.live for test in places_of_tests(f.__code__).values()} == {frozenset(("x", "least", "kept"))}
    assert {test.live for test in places_of_tests(caught.__code__).values()} <= {None}


# Random programs


def program_of(seed):
    """A function of two numbers with a loop or two, of statements that may be part of one or not."""
    r = random.Random(seed)

    def term(depth=0):
        if depth > 1 or r.random() < 0.3:
            return r.choice(["x", "y", "a", "b", "0.5"])
        form = r.choice(["({} * 0.5 + {} * 0.25)", "np.sin({})", "({} - 0.1 * {})", "np.tanh({})", "abs({})"])
        return form.format(*[term(depth + 1) for _ in range(form.count("{}"))])

    def statement():
        v = r.choice("xy")
        return r.choice(
            [
                f"{v} = {term()}",
                f"{v} = {term()}",
                f"x, y = y, {term()}",
                f"t = {term()}; {v} = t * 0.9",
                f"{v} += 0.5 * {term()}",
                f"n += 1; {v} = {v} * (0.9 if n < 4 else 0.8)",
                f"found.append({v}); {v} = {v} + 0.01 * found[len(found) // 2]",
                f"box[0] = {term()}; {v} = {v} + 0.1 * box[0]",
                f"pair = pair[1], {term()}; {v} = {v} * 0.5 + pair[0] * 0.1",
                f"{v} = {term()} if {term()} > 0.2 else {v} * 0.5",
            ]
        )

    def loop(c):
        factor = r.choice(["0.5", "(0.6 + 0.1 * np.sin(x))"])
        lines = [*[statement() for _ in range(r.randrange(1, 4))], f"{c} = {c} * {factor}"]
        head = r.choice([f"while {c} > 0.05:", "while True:", "for i in range(30):", f"while {c} > 0.05 and n < 6:"])
        lines += [] if ">" in head else [f"if {c} < 0.05: break"]
        return [f"{c} = {r.choice(['abs(a)', '1.5 * abs(a)', 'abs(a) + abs(b)'])}", head, *["    " + s for s in lines]]

    start = [
        "n, found, box, pair = 0, [a], [b], (a, b)",
        f"x, y = {r.choice(['a, b', 'a, a', '0.3, b', 'b, a * 1.0'])}",
    ]
    lines = [*start, *loop("c"), *(loop("d") if r.random() < 0.4 else []), "return x + y + pair[0] + 0.01 * n"]
    return "\n    ".join(["def f(a, b):", *lines])


@pytest.mark.parametrize("seed", range(10))
def test_random_programs(seed):
    """Values and gradients, for many numbers of rounds."""
    names = {"np": np, "__name__": "written"}
    exec(program_of(seed), names)
    plain = ad.value_and_grad(names["f"], argnums=(0, 1))
    jitted, draw = ad.jit(plain), np.random.default_rng(seed)
    for _ in range(8):
        a, b = float(draw.normal() * 10 ** draw.uniform(-2, 2)), float(draw.normal())
        got, want = jitted(a, b), plain(a, b)
        assert [type(x) for x in (got[0], *got[1])] == [type(x) for x in (want[0], *want[1])]
        np.testing.assert_allclose(
            [got[0], *got[1]], [want[0], *want[1]], rtol=1e-10, atol=1e-13, err_msg=program_of(seed)
        )
