"""Python's integers and truth values among the arguments: inputs where they may be, exact as Python's are."""

from __future__ import annotations

import copy
import functools
import math
import operator

import numpy as np
import pytest

import adjoint as ad

X = np.arange(12.0).reshape(4, 3) + 1
I8, U8, I64 = np.arange(5, dtype=np.int8), np.arange(5, dtype=np.uint8), np.arange(5)
VALUES = (1, 2, 3, 4, -1, -3, 7, 100, 300, 2**31, 2**31 + 5, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**70, 0, 8, 1, 2)
"""Small and large, negative, zero, at the edges of 32, 53 and 64 bits and beyond."""


def same(got, wanted):
    """Equal numbers of the same kinds in the same containers."""
    if isinstance(wanted, (tuple, list)):
        return type(got) is type(wanted) and len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(wanted, dict):
        return list(got) == list(wanted) and all(same(got[k], wanted[k]) for k in wanted)
    if isinstance(wanted, (np.ndarray, np.generic)):
        alike = type(got) is type(wanted) and got.dtype == wanted.dtype and got.shape == wanted.shape
        if wanted.dtype.kind == "O":
            return alike and got.tolist() == wanted.tolist()
        return alike and np.allclose(got, wanted, rtol=1e-6 if wanted.dtype.itemsize == 4 else 1e-13, equal_nan=True)
    if isinstance(wanted, (float, complex)):
        return type(got) is type(wanted) and (got == wanted or abs(got - wanted) <= 1e-14 * abs(wanted))
    return type(got) is type(wanted) and got == wanted


def outcome(f, *args):
    """What a call gives: its result, or the kind of error."""
    try:
        return "gives", f(*args)
    except Exception as error:
        return "raises", type(error)


def check(f, *calls):
    """Each call as without jit; the jitted function."""
    jitted = ad.jit(f)
    for args in calls:
        wanted, got = outcome(f, *args), outcome(jitted, *args)
        assert wanted[0] == got[0], (args, wanted, got)
        assert same(got[1], wanted[1]), (args, wanted, got)
    return jitted


def rebound(x, n):
    """In-place operators rebind numbers."""
    n += 1
    n *= 2
    n -= 3
    x = x * 1.0
    x *= n
    return n, x


def written(x, n):
    """An integer as the place that is written to."""
    x = x.copy()
    x[n % 4] = n
    x[0, n % 3] += n
    x[: abs(n) % 3] = 0
    return x


def through_view(x, n):
    """A row is a view of the whole."""
    x = x.copy()
    row = x[n % 4]
    row[0] = 99.0
    return x


def matched(n):
    """Patterns ask for the value and for the type."""
    match n:
        case 3:
            return "three"
        case int():
            return "int"


ARITHMETIC = {
    "sums": lambda x, n: (n + 1, 1 - n, n - 1, x + n, x - n, n + n),
    "products": lambda x, n: (n * n, n * x, 3 * n, n * n * n),
    "quotients": lambda x, n: (1 / n, n / 3, x / n, n / (n + 1)),
    "floors": lambda x, n: (n // 2, n % 2, 7 // n, 7 % n, -7 // n, n // -3, n % -3, divmod(n, 4)),
    "signs": lambda x, n: (-n, +n, abs(n), ~n),
    "shifts": lambda x, n: (n << 1, n >> 1, n << 3, n >> 70),
    "bits": lambda x, n: (n & 3, n | 8, n ^ 5),
    "comparisons": lambda x, n: (n > 3, n == 4, n != 2, n <= 5, n < 2**70, n > -(2**70), n < math.inf, n == 4.0),
    "floats": lambda x, n: (n * 0.5, 0.5 * n, n + 0.5, n / 2.0, n // 2.5, n % 2.5, n - 0.5, n * (1 + 2j)),
    "float quotients": lambda x, n: (2.0 / n, 2.5 // n, 2.5 % n),
    "arrays": lambda x, n: (x // n, x % n, np.where(x > n, n, x), np.clip(x, -n, n)),
    "functions": lambda x, n: (np.add(n, 1), np.multiply(x, n), np.maximum(x, n), np.sqrt(np.abs(n))),
    "int8": lambda x, n: I8 + n,
    "uint8": lambda x, n: U8 * n,
    "int64": lambda x, n: I64 * n - n,
    "small comparisons": lambda x, n: (n > I8, n <= U8),
    "float32": lambda x, n: X.astype(np.float32) * n + n,
    "made arrays": lambda x, n: (np.array(n), np.array([n, 1]), np.full((2, 2), n), np.array([x[0, 0], n % 9])),
    "in place": rebound,
    "choices": lambda x, n: (min(n, 3), max(n, 3), sorted([3, n, 1]), x * 2 if n > 3 else x * 3, 1 if n else 0, not n),
    "returned": lambda x, n: (n, [n, (n, x)], {"a": n}),
    "attributes": lambda x, n: (n.real, n.imag, n.numerator, n.denominator, n.conjugate(), round(n), math.floor(n)),
    "index": lambda x, n: (x[n % 4], x[n % 4, 1], np.take(x, n % 4)),
    "view": through_view,
    "types": lambda x, n: (isinstance(n, int), isinstance(n, float), isinstance(n, np.ndarray), matched(n)),
    "asked": lambda x, n: (type(n) is int, type(n).__name__, hasattr(n, "shape"), hasattr(x, "shape")),
    "copies": lambda x, n: (copy.copy(n), copy.deepcopy([n])),
}
VALUE_WANTED = {
    "shape": lambda x, n: (np.zeros(abs(n) % 5), np.ones((abs(n) % 3, 2)) * n, np.arange(abs(n) % 7)),
    "slice": lambda x, n: (x[: abs(n) % 4], x[:: abs(n) % 3 + 1]),
    "rounds": lambda x, n: sum(x[0, 0] * i for i in range(abs(n) % 6)),
    "axis": lambda x, n: (np.sum(x, axis=n % 2), x.sum(axis=(n % 2,)), np.expand_dims(x, n % 2)),
    "moved": lambda x, n: (np.roll(x, n), np.roll(x, n, axis=0), np.repeat(x, abs(n) % 3), np.tril(x, n % 2)),
    "text": lambda x, n: (f"layer{n}", str(n), repr(n), "%d" % n, f"{n:03d}"),  # noqa: UP031
    "sequences": lambda x, n: ([1, 2] * (abs(n) % 3), "ab" * (abs(n) % 3), (abs(n) % 3) * (1,)),
    "containers": lambda x, n: ({0: 1.0, 1: 2.0, 2: 3.0}[n % 3] * x, [10, 20, 30][n % 3] * x, n in (1, 2, 3)),
    "python": lambda x, n: (math.gcd(n, 12), n.bit_length(), hash(n), pow(n, 2, 7), round(n, -1), complex(n)),
    "math": lambda x, n: (math.sqrt(abs(n)), math.hypot(n, 1), float(n), int(n), bool(n)),
    "identity": lambda x, n: (n is True, id(n) == id(n), list(map(type, [n]))),
    "integer power": lambda x, n: I64 ** (abs(n) % 4),
    "statistics": lambda x, n: (np.std(x, ddof=abs(n) % 2), np.quantile(x, 0.5, axis=n % 2)),
    "scalars": lambda x, n: (np.int64(n), np.float64(n), np.float32(3) * n),
    "matrix power": lambda x, n: np.linalg.matrix_power(x[:3], abs(n) % 4),
    "written": written,
}
"""Uses of an integer that a program relies on."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's divisions by 0
@pytest.mark.parametrize("name", [*ARITHMETIC, *VALUE_WANTED])
def test_any_integer(name):
    """Values, types and errors are Python's, whatever the size of the integer."""
    f = {**ARITHMETIC, **VALUE_WANTED}[name]
    check(f, *[(X, n) for n in VALUES])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_comparisons_beyond_the_dtype(dtype):
    """NumPy compares the numbers, also where the dtype does not hold Python's: the first time and later."""
    limits = np.iinfo(dtype)
    a = np.array([0, 1, 100, limits.min, limits.max], dtype)
    for compare in (operator.gt, operator.le, operator.eq, operator.ne):
        f = ad.jit(lambda a, n, compare=compare: (compare(a, n), compare(n, a)))
        for n in (3, 3, -1, -1, 300, 300, 2**63, 2**63, -(2**63) - 1, 2**64, 3, -1):
            for found, want in zip(f(a, n), (compare(a, n), compare(n, a)), strict=True):
                np.testing.assert_array_equal(found, want)


POWERS = {
    "of floats": lambda x, n: (x**n, 2.0**n, 0.5**n, x[0, 0] ** n, (-2.0) ** n),
    "of integers": lambda x, n: (n**2, n**3, n**0, n**-1, n**7),
    "of constants": lambda x, n: ((-1) ** n, 2**n, 3**n, 1**n),
    "with floats": lambda x, n: (n**0.5, n**2.0),
    "negative": lambda x, n: n**-0.5,
}


@pytest.mark.parametrize("name", POWERS)
def test_powers(name):
    """Python's powers are integers, floats or complex numbers, as the exponent and the sign want."""
    check(POWERS[name], *[(X, n) for n in (1, 2, 3, 4, 5, 0, -1, -2, 62, 63, 64, 100, 7)])


@pytest.mark.parametrize("name", sorted(ARITHMETIC.keys() - {"choices", "types"}))
def test_a_counter_is_an_input(name):
    """One recording for the first value, one for all the others that arithmetic alone is done with."""
    f = ad.jit(ARITHMETIC[name])
    for n in range(1, 101):
        assert same(f(X, n), ARITHMETIC[name](X, n))
    stats = f.stats()
    assert stats["recordings"] <= 3
    assert not stats["eager"]


def adam(x, state):
    """One step of an optimiser that counts."""
    t, g = state["t"] + 1, np.cos(x)
    m, v = 0.9 * state["m"] + 0.1 * g, 0.99 * state["v"] + 0.01 * g * g
    step = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    return x - 0.01 * step, {"t": t, "m": m, "v": v, "odd": t % 2 == 1}


def test_an_optimiser_that_counts():
    """A thousand steps from two recordings; the count is a Python int again, a comparison a bool."""
    step = ad.jit(adam)
    x = plain = np.ones(3)
    state = before = {"t": 0, "m": np.zeros(3), "v": np.zeros(3), "odd": False}
    for _ in range(1000):
        x, state = step(x, state)
        plain, before = adam(plain, before)
        assert type(state["t"]) is int
        assert type(state["odd"]) is bool
        assert (state["t"], state["odd"]) == (before["t"], before["odd"])
        np.testing.assert_allclose(x, plain, rtol=1e-9)
    assert step.stats()["recordings"] <= 4
    assert not step.stats()["eager"]


def test_numbers_in_containers():
    """Tuples of integers, truth values and floats, and keyword arguments."""

    def f(x, numbers, *, n):
        return x * numbers[0] + numbers[1] * numbers[2] + sum(numbers) + n

    jitted = ad.jit(f)
    for i in range(200):
        numbers = (i % 3, bool(i & 1), i * 0.5, [-i][0])
        assert same(jitted(X, numbers, n=i), f(X, numbers, n=i))
    assert jitted.stats()["recordings"] <= 4


def test_truth_values():
    """In branches, in arithmetic and as a condition of `np.where`."""

    def f(x, b, c):
        y = x * b + np.where(c, x, -x)
        y = y + 1 if b and not c else y
        return y, b + c, b & c, b | True, not b, -b, b == c, b * 2.5, b ^ c, I8 * b

    pairs = [(X, bool(i & 1), bool(i & 2)) for i in range(12)]
    assert check(f, *pairs).stats()["recordings"] <= 6
    check(lambda x, b: x if b is True else -x, (2.0, True), (2.0, False), (2.0, True), (2.0, False))
    check(lambda x, b: (x[b], x[:, None][0][b]), *[(X, b) for b in (True, False, True, False)])


def g(x, t):
    """A function of an array and a count."""
    return np.sum(x**t / (1 + t) + np.where(t > 3, x, -x)) * 0.9**t


TRANSFORMS = {
    "jit of grad": (lambda f: ad.jit(ad.grad(f)), ad.grad),
    "grad of jit": (lambda f: ad.grad(ad.jit(f)), ad.grad),
    "jit of vmap of grad": (
        lambda f: ad.jit(ad.vmap(ad.grad(f), in_axes=(0, None))),
        lambda f: ad.vmap(ad.grad(f), in_axes=(0, None)),
    ),
    "vmap of jit": (lambda f: ad.vmap(ad.jit(f), in_axes=(0, None)), lambda f: ad.vmap(f, in_axes=(0, None))),
    "hessian of jit": (lambda f: ad.hessian(ad.jit(f)), ad.hessian),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    """Derivatives and batches with an integer besides."""
    jitted, plain = (transform(g) for transform in TRANSFORMS[name])
    for t in (1, 2, 3, 4, 5, 6, 0, -2):
        np.testing.assert_allclose(jitted(X, t), plain(X, t), rtol=1e-12)


def test_derived_functions_are_few():
    """A derivative of a jitted function takes the count as an argument too."""
    jitted = ad.jit(g)
    gradient = ad.grad(jitted)
    for t in range(1, 30):
        np.testing.assert_allclose(gradient(X, t), ad.grad(g)(X, t), rtol=1e-12)
    assert [d.stats()["recordings"] for d in jitted._derived.values()] == [2]
    assert jitted.stats()["recordings"] == 2


def test_numbers_that_choose_shapes_stay_static():
    """Each has its own recording, found by its value, however many paths there are."""
    f = ad.jit(lambda x, n: x * np.ones(n))
    for _ in range(2):
        for n in range(1, 50):
            assert same(f(2.0, n), 2.0 * np.ones(n))
    assert f.stats()["recordings"] <= 51
    assert not f.stats()["eager"]


def test_a_loop_with_a_count():
    """Inside the body of a loop the count is a number from outside."""

    def f(x, t):
        return ad.scan(lambda c, a: (c * t + a, c), x[0], x)[0]

    jitted = check(f, *[(X[0], t) for t in range(8)])
    assert jitted.stats()["recordings"] == 2


def test_a_number_of_numpy_gives_a_view():
    """`x[i]` of an integer of NumPy's can be written through, also where the integer is an input."""
    check(through_view, *[(X, np.int64(n)) for n in range(4)])
    check(lambda x, i: written(x, i), *[(X, np.int64(n)) for n in range(4)])


def test_many_lengths():
    """A hint names the argument and the axis, once; calls stay right, and other warnings are still given."""

    def f(p, batch, n):
        return np.sum(batch * p["w"]) * n

    jitted = ad.jit(f)
    with pytest.warns(  # noqa: PT031
        RuntimeWarning, match=r"(?s)'f' has been recorded for 8 lengths of axis 0 of batch.*np\.pad"
    ) as met:
        for k in range(1, 20):
            assert same(jitted({"w": 2.0}, np.ones((k, 3)), 2), f({"w": 2.0}, np.ones((k, 3)), 2))
    assert len(met) == 1
    assert met[0].filename == __file__
    jitted = ad.jit(lambda p: np.sum(p["a"]) + np.sum(p["b"]))
    with pytest.warns(RuntimeWarning, match=r"axis 0 of p\['a'\], axis 1 of p\['b'\]"):  # noqa: PT031
        for k in range(1, 9):
            jitted({"a": np.ones(k), "b": np.ones((2, k))})


def test_many_kinds_are_no_many_lengths():
    """Other numbers of axes, dtypes and structures are not lengths that vary."""
    f = ad.jit(lambda x: np.sum(x))
    for k in range(12):
        f(np.ones((1,) * k, [np.float32, np.float64][k % 2]))
    for k in range(1, 8):
        f(np.ones(k))


def test_caches_keep_plain_numbers():
    """A cached function is given numbers that stay numbers."""

    @functools.cache
    def table(k):
        return [k * 3, k + 0.5, -k]

    integers, floats = ad.jit(lambda x, n: x * sum(table(n))), ad.jit(lambda x: x * sum(table(float(x))))
    for k in range(8):
        assert integers(2.0, k) == 2.0 * (3 * k + 0.5)
        assert floats(k + 0.5) == (k + 0.5) * (3 * (k + 0.5) + 0.5)
    assert {type(v) for k in range(8) for v in (*table(k), *table(k + 0.5))} == {int, float}


def logarithm(x, n):
    """Of Python's numbers, by a function of NumPy's whose conditions are errors."""
    with np.errstate(all="raise"):
        try:
            return np.log(x * n)
        except FloatingPointError:
            return np.float64(-7.0)


def test_conditions_on_numbers():
    """What is an error for NumPy's functions is one for Python's numbers too."""
    check(logarithm, *[(2.0, n) for n in (1, 0, 2, -1, 3)])
    check(logarithm, *[(2.0, n) for n in (1.0, 0.0, 2.0, -1.0, 3.0)])


CATCHING = {
    "division": (lambda x, n: x / (1 // n), ZeroDivisionError, (1, 0, 1, 0, 1)),
    "index of a list": (lambda x, n: x * [10, 20, 30][n], IndexError, (0, 1, 2, 5, 1, 7, -1, -9, 2)),
    "index of an array": (lambda x, n: x * X[0][n], IndexError, (0, 1, 2, 5, 1, 7, -1, -9, 2)),
    "overflow": (lambda x, n: x * int((I8 + n)[0]), OverflowError, (0, 1, 500, 2, 127, 128, -128, -129, 3)),
    "power": (lambda x, n: x * 0**n, ZeroDivisionError, (0, 1, -1, 2, -2, 3)),
}


@pytest.mark.parametrize("name", CATCHING)
def test_errors_that_are_caught(name):
    """The function goes on as it does without jit, whichever calls came before."""
    f, error, values = CATCHING[name]

    def careful(x, n):
        try:
            return f(x, n)
        except error:
            return -x

    check(careful, *[(2.0, n) for n in values])
