"""Which loops of Python's are one recording for any number of rounds, and that all others give the same numbers."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms.jit import path

RATE = 0.8


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Look for loops from the first recording on."""
    monkeypatch.setattr(path, "SEVERAL", 0)


def compared(f, starts):
    """How many recordings there are of a function or of its derivative, whose calls give the same as without jit."""
    found = []
    for plain in (f, ad.grad(f)):
        jitted = ad.jit(plain)
        for x in starts:
            got, want = jitted(x), plain(x)
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-300)
        found.append(jitted.stats()["recordings"])
    return max(found)


ROUNDS = [0, 1, 2, 3, 5, 12, 19, 20, 21, 100, 40, 0, 11]
STARTS = [0.99 / RATE**k for k in ROUNDS]
"""Numbers that fall below 1 after so many rounds."""


def counted(x):
    n = 0
    while x > 1.0:
        x, n = x * RATE, n + 1
    return x + n


def limited(x):
    n = 0
    while x > 1.0 and n < 20:
        n += 1
        x = x * RATE
    return x * n


def damped(x):
    rate = 1.0
    while x > 1.0:
        rate = rate * 0.99
        x = x * RATE * rate
    return x + rate


def by_break(x):
    for _ in range(200):
        if x < 1.0:
            break
        x = x * RATE
    return x


def by_else(x):
    for i in range(20, 0, -1):
        x = x * RATE + 1e-6 * i
        if x < 1.0:
            break
    else:
        return -x
    return x + i


def by_return(x):
    n = 0
    while n < 20:
        y = x * RATE
        if y < 1.0:
            return y * (n + 1)
        x = y
        n += 1
    return -x


def before_the_last(x):
    y = last = x
    for i in range(1, 400, 2):
        last, y = y, y * RATE - 1e-6 * i
        if y < 1.0:
            break
    return last * y * i


def in_place(x):
    y = np.array([x, 2.0 * x])
    same = y
    while np.max(y) > 1.0:
        y *= RATE
        y[0] = 0.5 * y[1]
    return np.sum(same) + y[0]


def in_the_callers_array(x):
    def relax(u):
        while u[0] > 1.0:
            u[1:] = 0.5 * u[:-1]
            u *= RATE

    y = np.array([x, x, 1.0])
    relax(y)
    return np.sum(y)


def filled(x):
    """An array for what was met, of which only the end is used."""
    met, n = np.zeros(200), 0
    while x > 1.0:
        met[n] = x
        x = x * RATE
        n += 1
    return np.sum(met) + x


def with_temporaries(x):
    """What is made anew in each round may be anything."""
    while x > 1.0:
        parts = [x, {"half": 0.5 * x}]
        row = np.array([x, 1.0])[:1]
        x = parts[1]["half"] * 2.0 * RATE + 0.0 * row[0]
    return x


def newton(x):
    y = x
    for _ in range(100):
        step = (y * y - x) / (2.0 * y)
        y = y - step
        if abs(step) < 1e-9 * y:
            break
    return y


def newton_with_derivatives(x):
    def f(y):
        return y * y * y - x

    y = x + 1.0
    while abs(f(y)) > 1e-9 * x:
        y = y - f(y) / ad.grad(f)(y)
    return y


def newton_with_systems(x):
    y = np.array([x, 1.0])
    for _ in range(60):
        residual = np.array([y[0] ** 2 - x, y[0] * y[1] - 1.0])
        slopes = np.zeros((2, 2))
        slopes[0, 0] = 2.0 * y[0]
        slopes[1] = y[::-1]
        step = np.linalg.solve(slopes, -residual)
        y += step
        if np.linalg.norm(step) < 1e-9 * np.linalg.norm(y):
            break
    return y[0] + y[1]


def bisected(x):
    low, high, n = 0.0, x + 1.0, 0
    while high - low > 1e-9 * x:
        middle = 0.5 * (low + high)
        if middle * middle > x:
            high = middle
        else:
            low = middle
        n += 1
    return 0.5 * (low + high) + n


def in_a_branch(x):
    kept, n = 0.0, 0
    for i in range(300):
        if np.sin(x) > 0.5:
            n += 1
            kept = kept + x + i
        elif x > 3.0:
            x = 0.9 * x
        x = x * RATE
        if x < 1.0:
            break
    return x + kept + n * i


def larger(x, y):
    if x > y:
        return x
    return y


def in_a_function(x):
    while x > 1.0:
        x = larger(x * RATE - 0.1, 0.9 * RATE * x)
    return x


def nested(x):
    y = x
    while y > 1.0:
        z = y
        while z > 0.1 * y:
            z = z * 0.8
        y = y * RATE + 0.01 * z
    return y


def nested_for(x):
    total = 0.0
    for k in range(3):
        y = x + k
        for i in range(300):
            y = y * RATE - 1e-6 * i
            if y < 1.0:
                break
        total = total + y * i
    return total


ROLLED = [
    counted, limited, damped, by_break, by_else, by_return, before_the_last, in_place, in_the_callers_array, filled,
    with_temporaries, newton, newton_with_derivatives, newton_with_systems, bisected, in_a_branch, in_a_function,
    nested,
]  # fmt: skip


@pytest.mark.parametrize("f", ROLLED, ids=lambda f: f.__name__)
def test_one_recording_for_any_number_of_rounds(f):
    """There are others for the first rounds, which are compared, and for each way to end.

    From Python 3.14 on a `while` has one test for the first round and all others, so that sides before it meet later.
    """
    assert compared(f, STARTS) <= (8 if sys.version_info < (3, 14) else 16)


def test_rounds_of_rounds():
    """Where the outer rounds are few, those of the inner loop are one loop each time."""
    assert compared(nested_for, [0.3, 50.0, 1e3, 1e5, 1e9, 60.0, 2e5]) <= 3


# What must not be taken for a loop, or not for the whole of it


def swapped_and_updated(x):
    u, v = np.array([x, 1.0]), np.array([0.5 * x, 2.0])
    both = [u, v]
    while u[0] > 1.0:
        u[0] = u[0] * RATE * 0.9
        u, v = v, u
        u[0] = u[0] * RATE
    return u[0] * 3.0 + np.sum(both[0]) + 2.0 * np.sum(both[1])


def updated_in_an_object(x):
    class Held:
        u = None

    held = Held()
    held.u = np.array([x, 1.0])
    while x > 1.0:
        held.u *= 0.9
        x = x * RATE + 1e-3 * held.u[1]
    return x + np.sum(held.u)


def through_a_closure(x):
    total, n = 0.0, 0

    def step(y):
        nonlocal total, n
        n += 1
        total = total + y
        return y * (RATE if n < 5 else 0.7)

    while x > 1.0:
        x = step(x)
    return x + total * n


def first_round_is_special(x):
    first = True
    while x > 1.0:
        x = x * (0.9 if first else RATE)
        first = False
    return x


def from_integer_to_float(x):
    total = 0
    while x > 1.0:
        total = total + (1 if x > 9.0 else 0.5)
        x = x * RATE
    return x * total


def from_number_to_array(x):
    y = x
    while np.sum(y) > 1.0:
        y = y * np.array([RATE, 0.1])
    return np.sum(y)


def shape_that_counts(x):
    n = 1
    while x > 1.0:
        x = x * RATE - 1e-3 * np.sum(np.ones(n) / (1.0 + np.arange(n)))
        n = n % 5 + 1
    return x + n


def item_of_a_list(x):
    table, n = [0.9, 0.8, 0.7], 0
    while x > 1.0:
        x = x * table[n % 3]
        n += 1
    return x


def over_a_list(x):
    for rate in [0.9, 0.8, 0.8, 0.8, 0.7, 0.5, 0.5, 0.5]:
        x = x * rate
        if x < 1.0:
            break
    return x


def only_now_and_then(x):
    n, kept = 0, x
    while x > 1.0:
        n += 1
        if n % 4 == 0:
            kept = x
        x = x * RATE
    return x + kept


def with_continue(x):
    n = 0
    while x > 1.0:
        n += 1
        if n % 3 == 0:
            x = x * 0.9
            continue
        x = x * RATE
    return x + n


def with_other_values_endless(x):
    """Values that are only supposed, beyond the end of the loop, would never end the inner one."""
    n = 0
    while n < 100:
        if x < 1.0:
            break
        y = x
        while y > 1.0 or x < 1.0:
            y = y * 0.5
        x = x * RATE
        n += 1
    return x + n


def asked_for(x):
    """A variable that no instruction reads."""
    hidden = 0.0
    while x > 1.0:
        hidden = x
        x = x * RATE
    return x + locals()["hidden"]


def flags(x):
    """A truth value that is tested twice, and computed with."""
    n, total = 0, 0.0
    while x > 1.0:
        n += 1
        third = n % 3 == 0
        if third:
            x = x * 0.9
        total = total + third * x + (2 if third else 1)
        if third:
            total = total * 0.5
        x = x * RATE
    return x + total


def seen_through_views(x):
    u = np.array([x, x, 1.0])
    parts = [u[1:], u[:2]]
    while u[0] > 1.0:
        u *= RATE
        u[2] = 0.5 * np.sum(parts[0]) + 0.1 * parts[1][0]
    return np.sum(u) + 3.0 * np.sum(parts[0]) + parts[1][0]


def truth_of_numbers(x):
    n = 8
    while x > 1.0:
        x = x * RATE
        if n:
            n -= 1
        if x - x:
            x = x + 1.0
    return x + n


OTHERS = [
    swapped_and_updated, updated_in_an_object, through_a_closure, first_round_is_special, from_integer_to_float,
    from_number_to_array, shape_that_counts, item_of_a_list, over_a_list, only_now_and_then, with_continue,
    with_other_values_endless, asked_for, flags, seen_through_views, truth_of_numbers,
]  # fmt: skip


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_whatever_a_round_does(f):
    """Loop or not, it gives what it gives without jit."""
    compared(f, STARTS[:9])


@pytest.mark.filterwarnings("ignore:'f' has taken")  # once so many numbers have not come again
def test_integers_stay_exact():
    """Also where 64 bits are not enough: then the loop is over, and Python counts on."""

    def f(x, k):
        n, product = k, 1
        while x > 1.0:
            n, product = n - 1, product * 2 + n
            x = x * RATE
        return x, n, product

    jitted = ad.jit(f)
    for x in STARTS[:10]:
        for k in (0, 1, 2**31, 2**62, 2**63 - 1):
            got, want = jitted(x, k), f(x, k)
            assert got[1:] == want[1:]
            assert [type(v) for v in got] == [type(v) for v in want]


def test_a_round_that_raises():
    """In the round that is due, and not in the one after the last."""

    def f(x):
        y = np.array([x, 1.0])
        for _ in range(30):
            y = y - np.array([1.0, 0.0]) + 0.0 * np.linalg.solve(np.array([[y[0], 0.0], [0.0, 1.0]]), y)
            if y[0] < -0.75:
                break
        return y[0]

    jitted = ad.jit(f)
    for x in (5.5, 9.25, 3.5, 7.5, 20.25):
        assert jitted(x) == f(x)
    for x in (4.0, 9.0, 13.0):
        for g in (f, jitted):
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                g(x)


def test_a_way_that_raises():
    """What is the same in every round is not computed before the loop, if it might raise there."""

    def f(x, a, b):
        while x > 1.0:
            if x > 1e6:
                x = x - 1e-3 * np.linalg.solve(a, b)[0]
            x = x * RATE
        return x

    singular, regular, b = np.ones((2, 2)), np.array([[2.0, 1.0], [1.0, 3.0]]), np.ones(2)
    jitted = ad.jit(f)
    for x in (5.0, 0.5, 1e3, 9e5):
        np.testing.assert_allclose(jitted(x, singular, b), f(x, singular, b), rtol=1e-13)
    for x in (1e7, 1e9):
        np.testing.assert_allclose(jitted(x, regular, b), f(x, regular, b), rtol=1e-13)
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            jitted(x, singular, b)
    np.testing.assert_allclose(jitted(1e5, singular, b), f(1e5, singular, b), rtol=1e-13)


def test_forward_and_outside():
    """Tangents, gradients of the jitted function, and batches of what does not end the loop."""

    def f(x, y):
        n = 0
        while x > 1.0 and n < 50:
            x, y, n = x * RATE, y * 0.9 + 0.1 * x, n + 1
        return x + y * n

    def push(x, y):
        return ad.jvp(f, (x, y), (1.0, 0.5))

    jitted, outside = ad.jit(push), ad.grad(ad.jit(f), argnums=(0, 1))
    rows = np.array([0.5, -1.0, 2.0])
    batched = ad.vmap(ad.jit(f), in_axes=(None, 0))
    for x in STARTS[:11]:
        np.testing.assert_allclose(jitted(x, 0.3), push(x, 0.3), rtol=1e-13)
        np.testing.assert_allclose(outside(x, 0.3), ad.grad(f, argnums=(0, 1))(x, 0.3), rtol=1e-13)
        np.testing.assert_allclose(batched(x, rows), [f(x, y) for y in rows], rtol=1e-13)
    assert jitted.stats()["recordings"] <= 5


# Random programs


def program_of(seed):
    """A function of two numbers and an array with loops of all kinds, of statements that may be part of one or not."""
    r = random.Random(seed)

    def term(depth=0):
        if depth > 1 or r.random() < 0.3:
            return r.choice(["x", "y", "a", "b", "0.5", "u[0]", "w[2]", "np.sum(u)*0.2", "rate", "0.01*n", "pair[0]"])
        form = r.choice(["({} * 0.5 + {} * 0.25)", "np.sin({})", "({} - 0.1 * {})", "np.tanh({})", "({} * {}) * 0.1"])
        return form.format(*[term(depth + 1) for _ in range(form.count("{}"))])

    def statement(c, depth):
        s, array = r.choice("xy"), r.choice("uw")
        if depth and r.random() < 0.1:
            return loop("d", depth - 1)
        return r.choice([
            [f"{s} = {term()}"], [f"x, y = y, {term()}"], [f"t = {term()}", f"{s} = t * 0.9"], [f"{s} += 0.1*{term()}"],
            ["n += 1", f"{s} = {s} * (0.9 if n < 4 else 0.8)"], [f"pair = pair[1], {term()}"],
            [f"{array} = v * {term()} * 0.5"], [f"{array} += 0.1 * {term()}"], [f"{array}[1:] *= 0.7"], ["u, w = w, u"],
            [f"{array}[{r.randrange(3)}] = {term()}"], ["w = u"], ["w = u.copy()"], ["m = (m * 2 + 1) % 7"],
            ["rate *= 0.9"], [f"last = {s}"], [f"s = [x, {term()}]", f"{s} = s[1] * 0.5 + s[0] * 0.1"],
            [f"if {term()} > 0.3:", f"    {s} = {term()}", "else:", f"    {s} = {s} * 0.8"],
            ["n += 1", "if n % 2 == 0:", f"    {s} = {term()}"], [f"if {term()} > 0.9: break"],
            ["n += 1", "if n % 3 == 0:", f"    {c} = {c} * 0.5", "    continue"], [f"found.append({s})"],
            [f"{s} = {s} - 0.1 * ad.grad(lambda q: np.sin(q) * y + q**2)({s})"], ["m = m + n // 3"],
            ["w = np.linalg.solve(np.eye(3) * 4.0 + np.outer(u, u) * 0.1, v + u)"],
            [f"part = {array}[1:]; part[0] = x"],
        ])  # fmt: skip

    def loop(c, depth=1):
        most = r.choice([3, 6, 30])
        head = r.choice([
            f"while {c} > 0.05:", "while True:", f"for i in range({most}):", f"while {c} > 0.05 and n < {most}:",
            f"while n < {most}:", f"for i in range({most}, 0, -2):",
        ])  # fmt: skip
        body = [line for _ in range(r.randrange(1, 4)) for line in statement(c, depth)]
        body = ["n += 1", f"{c} = {c} * {r.choice(['0.5', '(0.6 + 0.1 * np.sin(x))'])}", *body]
        body += [] if f"{c} > 0.05" in head else [f"if {c} < 0.05: break"]
        return [f"{c} = {r.choice(['abs(a)', 'abs(a) + abs(b)'])}", head, *["    " + line for line in body]]

    lines = [
        "n, m, rate, pair, found, i, last = 0, 1, 1.0, (a, b), [a], 0, b",
        f"x, y = {r.choice(['a, b', 'a, a', '0.3, b'])}",
        f"u, w = {r.choice(['v * 1.0, v * 0.5', 'v * a, v * a', 'np.array([a, b, 0.1]), np.zeros(3)'])}",
        *loop("c"),
        "return x + y + pair[0] + 0.01 * n + 0.1 * m + rate + np.sum(u * w) + u[0] + last + i + found[-1]",
    ]
    return "\n    ".join(["def f(a, b, v):", *lines])


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    """Values and gradients, for many numbers of rounds."""
    names = {"np": np, "ad": ad, "__name__": "written"}
    exec(program_of(seed), names)
    plain = ad.value_and_grad(names["f"], argnums=(0, 1, 2))
    jitted, draw = ad.jit(plain), np.random.default_rng(seed)
    for _ in range(6):
        a, b, v = float(draw.normal() * 10 ** draw.uniform(-2, 3)), float(draw.normal()), draw.normal(size=3)
        (got, slopes), (want, wanted) = jitted(a, b, v), plain(a, b, v)
        assert [type(x) for x in (got, *slopes)] == [type(x) for x in (want, *wanted)]
        for have, due in zip((got, *slopes), (want, *wanted), strict=True):
            np.testing.assert_allclose(have, due, rtol=1e-9, atol=1e-11, err_msg=program_of(seed))
