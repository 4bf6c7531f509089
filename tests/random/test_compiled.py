"""Random numbers in machine code: the same words as NumPy's, wherever they are drawn, and nothing left to NumPy."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint import random
from adjoint.compile.program.expand import expanded
from adjoint.ir.program import inner_programs
from adjoint.ops.words import random_words

KEY = random.key(11)
KEYS = random.split(KEY, 4)
EDGES = np.array([[0, 0], [2**64 - 1, 2**64 - 1], [1, 2**63]], np.uint64)
SHAPES = [(), 0, 1, 2, 3, (2, 0, 3), (3, 5), 4097]

EXACT = {
    "bits": random.bits,
    "uniform": random.uniform,
    "uniform, float32": lambda k, s: random.uniform(k, s, dtype=np.float32),
    "uniform, moved": lambda k, s: random.uniform(k, s, -1.0, 3.0),
    "bernoulli": lambda k, s: random.bernoulli(k, 0.3, s),
    "integers": lambda k, s: random.integers(k, -50, 10**15, s),
    "integers, uint8": lambda k, s: random.integers(k, 3, 256, s, dtype=np.uint8),
}
ROUNDED = {
    "normal": random.normal,
    "normal, float32": lambda k, s: random.normal(k, s, dtype=np.float32),
    "exponential": random.exponential,
    "gumbel": random.gumbel,
    "laplace": random.laplace,
    "logistic": random.logistic,
    "cauchy": random.cauchy,
}


def compiled(f, *args):
    """A jitted function after its recording, all of which is machine code."""
    found = ad.jit(f)
    found(*args)
    assert not found.stats()["called by NumPy"]
    return found


def alike(got, want, *, is_exact):
    """The same types and numbers, or up to the last digits."""
    assert type(got) is type(want)
    assert got.dtype == want.dtype
    if is_exact:
        np.testing.assert_array_equal(got, want)
    else:  # absolute, as a difference of two logarithms may be close to 0
        tolerance = 1e-6 if got.dtype == np.float32 else 1e-14
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-15)


@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_draws_of_every_shape(name):
    """For keys of all sorts, one and several at a time."""
    draw = {**EXACT, **ROUNDED}[name]

    def draws(key):
        return [draw(key, shape) for shape in SHAPES]

    one, each = compiled(draws, KEY), compiled(ad.vmap(draws), KEYS)
    for k in (*KEYS, *EDGES):
        for got, want in zip(one(k), draws(k), strict=True):
            alike(got, want, is_exact=name in EXACT)
    for got, want in zip(each(KEYS), zip(*[draws(k) for k in KEYS], strict=True), strict=True):
        alike(got, np.stack(want), is_exact=name in EXACT)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 101])
def test_keys(n):
    """Splitting, for one key and several."""
    one, all_ = compiled(lambda k: random.split(k, n), KEY), compiled(ad.vmap(lambda k: random.split(k, n)), KEYS)
    for k in (*KEYS, *EDGES):
        np.testing.assert_array_equal(one(k), random.split(k, n))
    np.testing.assert_array_equal(all_(KEYS), [random.split(k, n) for k in KEYS])


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "uint64"])
def test_folded_keys(dtype):
    """With numbers of every sort up to the largest, whose successor is carried over to the next word."""
    numbers = np.array([0, 1, 41, np.iinfo(dtype).max], dtype)
    want = [random.fold_in(KEY, int(n)) for n in numbers]
    fold = compiled(random.fold_in, KEY, numbers[0])
    np.testing.assert_array_equal([fold(KEY, n) for n in numbers], want)
    np.testing.assert_array_equal(compiled(ad.vmap(random.fold_in, (None, 0)), KEY, numbers)(KEY, numbers), want)
    np.testing.assert_array_equal(
        compiled(ad.vmap(random.fold_in), KEYS, numbers)(KEYS, numbers),
        [random.fold_in(k, n) for k, n in zip(KEYS, numbers, strict=True)],
    )
    every = ad.vmap(ad.vmap(random.fold_in, (None, 0)), (0, None))
    table = [[random.fold_in(k, n) for n in numbers] for k in KEYS]
    np.testing.assert_array_equal(every(KEYS, numbers), table)
    np.testing.assert_array_equal(compiled(every, KEYS, numbers)(KEYS, numbers), table)
    turned = ad.vmap(ad.vmap(random.fold_in, (0, None)), (None, 0))
    np.testing.assert_array_equal(turned(KEYS, numbers), np.swapaxes(table, 0, 1))


def test_parameters_and_keys_in_batches():
    """Both, either, and in two axes: what is drawn for one example does not know of the others."""
    p = np.array([[0.2, 0.9], [0.5, 0.1], [0.7, 0.7]])
    for draw in (
        lambda k, p: random.bernoulli(k, p, (5, 2)),
        lambda k, p: random.integers(k, np.array([0, 1]), (100 * p + 2).astype(int), (5, 2)),
    ):
        for f, args, want in (
            (ad.vmap(draw), (KEYS[:3], p), [draw(k, q) for k, q in zip(KEYS, p, strict=False)]),
            (ad.vmap(draw, (None, 0)), (KEY, p), [draw(KEY, q) for q in p]),
            (ad.vmap(draw, (0, None)), (KEYS, p[0]), [draw(k, p[0]) for k in KEYS]),
            (ad.vmap(ad.vmap(draw, (None, 0)), (0, None)), (KEYS, p), [[draw(k, q) for q in p] for k in KEYS]),
        ):
            np.testing.assert_array_equal(f(*args), want)
            np.testing.assert_array_equal(compiled(f, *args)(*args), want)


def dropout(key, x):
    return x * random.bernoulli(key, 0.75, x.shape) / 0.75


def trained(key, w, steps, loop):
    """A few steps of descent with dropout, noise and a shuffled example, the key of each made from its number."""

    def step(i, w):
        mask, noise, pick = random.split(random.fold_in(key, i), 3)
        target = random.uniform(noise, 8) + random.integers(pick, 0, 3)
        return w - 0.1 * ad.grad(lambda w: np.sum((dropout(mask, w) - target) ** 2))(w)

    if loop == "while":
        return ad.while_loop(lambda c: c[0] < steps, lambda c: (c[0] + 1, step(*c)), (np.int64(0), w))[1]
    return ad.scan(lambda w, i: (step(i, w), None), w, np.arange(steps))[0]


@pytest.mark.parametrize("loop", ["while", "scan"])
def test_inside_loops(loop):
    """One loop of machine code, equal to the steps one by one; in batches and in derivatives too."""
    w = np.linspace(-1.0, 1.0, 8)
    with ad.config.disable_jit():
        want = trained(KEY, w, 5, loop)
    np.testing.assert_allclose(compiled(lambda k, w: trained(k, w, 5, loop), KEY, w)(KEY, w), want, rtol=1e-13)
    each = ad.vmap(lambda k: trained(k, w, 5, loop))
    np.testing.assert_allclose(compiled(each, KEYS)(KEYS), [trained(k, w, 5, loop) for k in KEYS], rtol=1e-13)
    slope = ad.grad(lambda w: np.sum(trained(KEY, w, 5, loop) ** 2))
    np.testing.assert_allclose(compiled(slope, w)(w), slope(w), rtol=1e-12)


def test_keys_that_are_carried():
    """Split at each step, as a key used once is."""

    def walk(key):
        def step(carry, _):
            key, noise = random.split(carry[0])
            x = carry[1] + random.uniform(noise, 3)
            return (key, x), x

        return ad.scan(step, (key, np.zeros(3)), None, length=6)[1]

    want = []
    key, x = KEY, np.zeros(3)
    for _ in range(6):
        key, noise = random.split(key)
        x = x + random.uniform(noise, 3)
        want.append(x)
    np.testing.assert_array_equal(compiled(walk, KEY)(KEY), want)


def words_in(program):
    """The steps of an expanded program that draw, those inside its loops included."""
    program = expanded(program)
    inside = [s for step in program.steps for inner in inner_programs(step) for s in words_in(inner)]
    return [s for s in program.steps if s.primitive is random_words] + inside


def test_keys_that_nobody_uses_are_not_made():
    """What is left of one is that it did not raise."""

    def idle(key, x):
        def step(i, x):
            used, unused = random.fold_in(key, i), random.fold_in(key, i + 1)
            random.normal(unused, 100)
            random.bernoulli(used, x, 100)
            return x * 0.5

        return ad.fori_loop(0, 4, step, x)

    def handed_on(key, x):
        def step(carry, _):
            key, _ = random.split(carry[0])
            return (key, carry[1] * 0.5), random.normal(key, 3)

        loop = ad.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, *step(c[1:], None)[0]), (0, key, x))
        return ad.scan(step, (key, x), None, length=4)[0][1], loop[2]

    assert words_in(ad.jit(handed_on).lower(KEY, 0.5).program) == []
    assert compiled(handed_on, KEY, 0.5)(KEY, 1.0) == (0.0625, 0.0625)
    assert words_in(ad.jit(idle).lower(KEY, 0.5).program) == []
    assert compiled(idle, KEY, 0.5)(KEY, 1.0) == 0.0625
    with pytest.raises(ValueError, match="A probability has to be between 0 and 1"):
        ad.jit(idle)(KEY, 2.0)


REFUSED = {
    "fold_in": (lambda k, i: random.fold_in(k, i), 3, -1, "A key is folded with a number from 0 to"),
    "bernoulli": (lambda k, i: random.bernoulli(k, i / 4, 3), 4, 5, "A probability has to be between 0 and 1"),
    "integers": (lambda k, i: random.integers(k, 0, i, 3), 1, 0, "There is no whole number between the ends"),
    "small integers": (lambda k, i: random.integers(k, 0, i, 3, dtype=np.int8), 128, 129, "do not fit into int8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_those_of_numpy(name):
    """Whether the number comes later, in a batch, or in a loop."""
    draw, good, bad, text = REFUSED[name]
    one = compiled(draw, KEY, np.int64(good))
    np.testing.assert_array_equal(one(KEY, np.int64(good)), draw(KEY, np.int64(good)))
    with pytest.raises(ValueError, match=text):
        one(KEY, np.int64(bad))
    np.testing.assert_array_equal(one(KEY, np.int64(good)), draw(KEY, np.int64(good)))
    each = compiled(ad.vmap(draw, (None, 0)), KEY, np.array([good, good]))
    with pytest.raises(ValueError, match=text):
        each(KEY, np.array([good, bad]))

    def last(key, numbers):
        return ad.scan(lambda c, i: (draw(key, i), None), draw(key, numbers[0]), numbers)[0]

    loop = compiled(last, KEY, np.array([good, good]))
    np.testing.assert_array_equal(loop(KEY, np.array([good, good])), draw(KEY, np.int64(good)))
    for f in (loop, last):
        with pytest.raises(ValueError, match=text):
            f(KEY, np.array([good, bad]))


def test_nothing_is_drawn_while_a_function_is_recorded_first():
    """In a new process the generator behind `ad.random` is made meanwhile, without a seed of its own."""
    code = (
        "import numpy as np, adjoint as ad\n"
        "f = ad.jit(lambda x: ad.scan(lambda c, v: (v, (v - c) ** 2), 0.0, x)[1])\n"
        "print(f(np.arange(100_000.0))[:3])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[0. 1. 1.]\n", "")
