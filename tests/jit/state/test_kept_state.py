"""What a function keeps in its surroundings and replaces: under jit it is what it is without, after every call."""

import functools
import time

import numpy as np
import pytest

import adjoint as ad

POINTS = [np.full(3, k) for k in (1.0, 2.0, 0.5, 0.1, 3.0, 0.01)]
TOTAL = 0


class Model:
    made = 0

    def __init__(self):
        self.calls, self.hits, self.best, self.w = 0, 0, np.inf, np.array([1.0, 2.0, 3.0])

    def counted(self, x):
        self.calls += 1
        return np.sum((self.w * x) ** 2)

    def best_of(self, x):
        found = np.sum(x**2)
        if found < self.best:
            self.best, self.hits = found, self.hits + 1
        return found

    def flagged(self, x):
        if x[0] > 0.7:
            self.hits = 1
        else:
            self.calls = 7
        return np.sum(x)

    def limited(self, x):
        self.calls += 1
        if self.calls > 4:
            raise RuntimeError("too many")
        return self.calls * np.sum(x)

    def on_class(self, x):
        Model.made += 1
        return np.sum(x**2)

    def averaged(self, x):
        self.w = 0.9 * self.w + x
        return np.sum(self.w**2)

    def in_a_loop(self, x):
        total = 0.0
        while total < 2.0:
            total = total + np.sum(x) + 0.5
            self.calls += 1
        return total


STATS = {"calls": 0, "largest": -1.0}


def counting(f):
    @functools.wraps(f)
    def call(*args):
        call.calls += 1
        return f(*args)

    call.calls = 0
    return call


@counting
def decorated(x):
    return np.sum(np.sin(x))


def in_a_dict(x):
    STATS["calls"] += 1
    STATS["largest"] = max(STATS["largest"], float(x[0]))
    return np.sum(x**2)


def in_a_global(x):
    global TOTAL
    TOTAL += 2
    return np.sum(x) * TOTAL


FUNCTIONS = {f.__name__: f for f in (decorated, in_a_dict, in_a_global)}
METHODS = [name for name in vars(Model) if not name.startswith("_") and name != "made"]


def _state(model):
    return [model.calls, model.hits, model.best, *model.w, Model.made, TOTAL, decorated.calls, *STATS.values()]


def _run(wrap, name):
    """Results and state after each call, from the same start."""
    global TOTAL
    Model.made = TOTAL = decorated.calls = STATS["calls"] = 0
    STATS["largest"] = -1.0
    model = Model()
    f, seen = wrap(FUNCTIONS.get(name) or getattr(model, name)), []
    for x in POINTS:
        try:
            seen.append((f(x), _state(model), [type(v) for v in _state(model)]))
        except RuntimeError as error:
            seen.append((str(error), _state(model), []))
    return seen


@pytest.mark.parametrize("wrap", [lambda f: f, ad.grad], ids=["value", "grad"])
@pytest.mark.parametrize("name", [*METHODS, *FUNCTIONS])
def test_state_is_kept(name, wrap):
    """The same numbers, of the same types, as without jit."""
    for found, wanted in zip(_run(lambda f: ad.jit(wrap(f)), name), _run(wrap, name), strict=True):
        if isinstance(wanted[0], str):
            assert found == wanted
        else:
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
            np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)
            assert found[2] == wanted[2] or wrap is ad.grad  # where numbers of NumPy's may be Python's, without jit


def test_a_count_takes_one_recording():
    """It is an input and an output, which is put back after every run."""
    model = Model()
    jitted = ad.jit(ad.grad(model.counted))
    for x in POINTS:
        jitted(x)
    assert model.calls == len(POINTS)
    assert jitted.recordings == 1


def test_a_clock_that_is_kept():
    """A program would not measure anything, so the function runs without jit, with one warning."""

    def timed(x):
        start = time.perf_counter()
        found = np.sum(np.sin(x))
        timed.total += time.perf_counter() - start
        timed.calls += 1
        return found

    timed.total, timed.calls = 0.0, 0
    jitted = ad.jit(timed)
    with pytest.warns(RuntimeWarning, match="it keeps what time.perf_counter"):
        jitted(POINTS[0])
    totals = [timed.total]
    for x in POINTS[1:]:
        assert jitted(x) == np.sum(np.sin(x))
        totals.append(timed.total)
    assert timed.calls == len(POINTS)
    assert np.all(np.diff(totals) > 0.0)


def test_what_others_read_meanwhile_is_refused():
    """A global that a method counts in, which is the class's: no copy stands for it, so nobody would see the count."""

    class Counting:
        def f(self, x):
            STATS["calls"] += 1
            return np.sum(x)

    before = STATS["calls"]
    with pytest.raises(ad.errors.ImpureError, match="captured dict"):
        ad.jit(lambda x: Counting().f(x))(POINTS[0])
    assert STATS["calls"] in (before, before + 1)


def test_nonlocal_variables():
    """Of the function around it, which others read."""

    def make():
        n = 0

        def f(x):
            nonlocal n
            n += 1
            return np.sum(x) * n

        return f, lambda: n

    f, count = make()
    jitted = ad.jit(f)
    assert [(jitted(np.ones(2)), count()) for _ in range(3)] == [(2.0, 1), (4.0, 2), (6.0, 3)]


class Counting:
    """Keeps a number that its results depend on."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.calls * np.sum(x**2)


DERIVATIVES = {
    "grad": lambda f, x: ad.grad(f)(x),
    "value and grad": lambda f, x: ad.value_and_grad(f)(x),
    "jvp": lambda f, x: ad.jvp(f, (x,), (x,)),
    "vjp": lambda f, x: [pull(2.0)[0] for pull in [ad.vjp(f, x)[1]] for _ in range(2)],
    "hessian": lambda f, x: ad.hessian(f)(x),
    "hvp": lambda f, x: ad.hvp(f, (x,), (x,)),
    "taylor": lambda f, x: ad.taylor(f, x, 2, direction=x).coefficients,
    "per example": lambda f, x: ad.vmap(ad.grad(f))(np.stack([x, 2 * x])),
    "batch": lambda f, x: ad.vmap(f)(np.stack([x, 2 * x])),
    "switched off": lambda f, x: _switched_off(f, x),
}


def _switched_off(f, x):
    with ad.config.disable_jit():
        return ad.grad(f)(x)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_a_function_that_keeps_state(name):
    """Around the jitted function as around the function: of the number it met, which then has moved on once."""
    counted, plain = Counting(), Counting()
    jitted = ad.jit(counted)
    for k in range(4):
        x = np.array([1.0, 2.0 + k])
        found, expected = DERIVATIVES[name](jitted, x), DERIVATIVES[name](plain, x)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b)
        assert jitted(x) == plain(x)
        assert counted.calls == plain.calls
