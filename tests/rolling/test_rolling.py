"""Python loops that become loops of the program: the same numbers, the same decisions, few steps."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import adjoint as ad
from adjoint.host.garbage import RARELY, GcPaused
from adjoint.ir.interpret import Interpreter
from adjoint.rolling.find import FEWEST

from .loops import (
    FUNCTIONS,
    OTHER,
    POINT,
    agree,
    decided,
    factored,
    forms,
    loops_in,
    nested,
    numbers,
    powers,
    until,
    vectors,
)

ROLLED = [f for f in FUNCTIONS if f is not powers]
BATCH = np.stack([POINT, OTHER])


def _jvp(f):
    return lambda p: ad.jvp(f, (p,), (OTHER,))


def _batch(f):
    return lambda p: ad.vmap(ad.grad(f))(np.stack([p, 0.9 * p]))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [lambda f: f, ad.grad], ids=["value", "grad"])
def test_same_bits_by_numpy(f, transform):
    """Run by NumPy, the rolled program gives the very numbers of the one without loops."""
    agree(transform(f), POINT, native=False)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_machine_code_is_the_function(f):
    """Compiled, value and gradient are those of plain Python, at the recorded point and at another one."""
    both = ad.value_and_grad(f)
    compiled = ad.jit(both)
    for p in (POINT, OTHER, POINT):
        for have, want in zip(compiled(p), both(p), strict=True):
            rtol = 1e-4 if f.__name__ == "single" else 1e-10
            np.testing.assert_allclose(have, want, rtol=rtol, atol=1e-13)
    assert compiled.stats()["recordings"] == (2 if f is until else 1)


@pytest.mark.slow
@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not vectors], ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [lambda f: f, ad.grad, _jvp], ids=["value", "grad", "jvp"])
def test_same_bits_by_machine_code(f, transform):
    """Compiled, both forms give the same bits; `vectors` has long sums, which may be taken in any order."""
    agree(transform(f), POINT)


@pytest.mark.slow
@pytest.mark.parametrize("f", [f for f in ROLLED if f not in (decided, until)], ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [ad.hessian, _batch], ids=["hessian", "vmap"])
def test_same_bits_of_second_derivatives_and_batches(f, transform):
    """Hessians and batches of gradients are rolled as well."""
    agree(transform(f), POINT, native=False)


@pytest.mark.parametrize("f", ROLLED, ids=lambda f: f.__name__)
def test_there_are_loops(f):
    """Each function and its gradient have loops, and few steps around them."""
    for transform in (lambda f: f, ad.grad):
        plain, rolled = forms(transform(f), POINT)
        assert loops_in(rolled)
        assert len(rolled.steps) < 0.7 * len(plain.steps)


def test_powers_stay_as_they_are():
    """A power is computed in another way for each exponent that is known, so these steps are not the same."""
    plain, rolled = forms(powers, POINT)
    assert str(plain) == str(rolled)


@pytest.mark.parametrize("count", [3, FEWEST - 1, FEWEST, 40])
def test_few_repetitions_stay(count):
    """Below 16 rounds there is no loop."""

    def f(p):
        x = p[0]
        for _ in range(count):
            for function in (np.sin, np.tanh, np.arctan, np.cos, np.exp, np.sinh, np.square, np.cbrt, np.sign):
                x = function(x) * p[1] - 0.1
        return x

    _, rolled = forms(f, POINT)
    assert bool(loops_in(rolled)) == (count >= FEWEST)


def test_large_arrays_share_loops():
    """A few dozen steps over a large array are one pass over it, which no loop of passes beats."""

    def f(x):
        for _ in range(30):
            for c in range(1, 6):
                x = np.sin(x) * c + 0.1
        return x

    _, rolled = forms(f, np.ones(10_000))
    assert not loops_in(rolled)
    _, rolled = forms(f, np.ones(10))
    assert loops_in(rolled) == [150]


def test_a_loop_in_a_loop():
    """The inner loop is a loop inside the body of the outer one, if it is long enough."""

    def f(p):
        x = p[0]
        for _ in range(20):
            s = p[1] * x
            for j in range(140):
                s = np.sin(s) + 0.1 * j * p[2]
            x = x + 0.1 * s
        return x

    _, rolled = forms(f, POINT)
    assert sorted(loops_in(rolled)) == [20, 140]
    agree(f, POINT, native=False)
    agree(ad.grad(f), POINT, native=False)
    np.testing.assert_allclose(ad.jit(f)(POINT), f(POINT))
    assert loops_in(forms(nested, POINT)[1]) == [20]


def test_a_guard_in_a_loop_leads_to_the_other_path():
    """A decision that falls out otherwise in one round, early or late, is seen: the other path is recorded."""
    f, g = ad.jit(decided), ad.jit(ad.grad(decided))
    for p in (POINT, np.array([-60.0, 0.7, 0.9]), np.array([0.4, -9.0, 0.9]), POINT, np.array([-5.0, 0.7, 0.9])):
        np.testing.assert_allclose(f(p), decided(p), rtol=1e-12)
        np.testing.assert_allclose(g(p), ad.grad(decided)(p), rtol=1e-12)
    assert f.stats()["paths"] == 4
    assert loops_in(forms(decided, POINT)[1]) == [100]


def test_a_guard_that_fails_by_numpy():
    """The interpreter says that the path does not fit, as it does without loops."""
    plain, rolled = forms(decided, POINT)
    other = [np.array([-60.0, 0.7, 0.9])]
    assert Interpreter(plain).run(other) is None
    assert Interpreter(rolled).run(other) is None
    assert Interpreter(rolled).run([POINT]) is not None


def test_guards_without_results():
    """A loop of which only its decisions matter is still there."""

    def f(p):
        x = p[0]
        for _ in range(100):
            x = 0.5 * x + np.sin(x) * 0.1
            if x > 3.0:
                raise ValueError("too large")
        return p[1]

    compiled = ad.jit(f)
    assert compiled(POINT) == compiled(POINT) == POINT[1]
    with pytest.raises(ValueError, match="too large"):
        compiled(np.array([1e9, 0.0, 0.0]))
    assert compiled(POINT) == POINT[1]


def test_stats_count_every_decision():
    """`stats` has a line for each round, and names what NumPy is called for inside a loop."""
    compiled = ad.jit(decided)
    compiled(POINT)
    (guards,) = compiled.stats()["guards"]
    assert len(guards) == 100
    assert len(set(guards)) == 1
    compiled = ad.jit(factored)
    compiled(POINT)
    assert compiled.stats()["called by NumPy"] == ["pinv"]


def test_the_program_is_readable():
    """`lower` shows the loop with its body."""
    text = str(ad.jit(numbers).lower(POINT).optimized)
    assert ", 60 times  # the same: " in text
    assert "        v" in text
    assert text.count("sin(") == 1


@pytest.mark.parametrize(
    "order", [lambda f: ad.jit(ad.grad(f)), lambda f: ad.grad(ad.jit(f))], ids=["outside", "inside"]
)
def test_both_orders(order):
    """`jit` outside or inside of `grad`."""
    np.testing.assert_allclose(order(numbers)(POINT), ad.grad(numbers)(POINT), rtol=1e-12)
    np.testing.assert_allclose(ad.vmap(order(numbers))(BATCH), ad.vmap(ad.grad(numbers))(BATCH), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int64])
def test_dtypes(dtype):
    """Results keep their dtype through a loop."""

    def f(x):
        found = []
        for i in range(60):
            x = x * 2 - x * x + i
            x = x - (x // 7) * 7 if np.dtype(dtype).kind == "i" else x / (1 + np.abs(x))
            found.append(x)
        return x, np.array(found)

    x = np.array([1, 2, 3], dtype)
    compiled = ad.jit(f)
    compiled(x)
    for have, want in zip(compiled(x), f(x), strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-4 if dtype is np.float32 else 1e-12)


def test_numbers_of_pythons():
    """Python's floats stay Python's floats."""

    def f(a, b):
        total = 1.0
        for i in range(100):
            a, b = a + 0.1 * b, b - 0.1 * a * i / 50
            total = total * 0.9 + a
        return total

    compiled = ad.jit(f)
    assert type(compiled(0.3, 0.4)) is type(compiled(0.3, 0.4)) is float
    assert compiled(0.3, 0.5) == pytest.approx(f(0.3, 0.5), rel=1e-13)
    agree(f, 0.3, 0.4)
    agree(ad.grad(f, argnums=(0, 1)), 0.3, 0.4)


def test_signs_of_zeros():
    """Sums over places keep the signs of zeros that they have without loops."""

    def f(x):
        y = x * 1.0
        for i in range(30):
            y[i] = y[i + 1] * -0.0 + y[i]
        return np.sum(y[:3] * np.arange(3.0)) - y[40]

    x = np.where(np.arange(50) % 2, -0.0, 0.0)
    agree(f, x, native=False)
    agree(ad.grad(f), x, native=False)


def test_the_collector_is_patient_for_a_while():
    """While a program is recorded Python's collector looks less often; then as before, in any order of leaving."""
    before = gc.get_threshold()
    one, two = GcPaused(), GcPaused()
    one.__enter__()
    two.__enter__()
    assert gc.get_threshold()[0] == RARELY
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] == RARELY
    two.__exit__(None, None, None)
    assert gc.get_threshold() == before
    with GcPaused():
        gc.set_threshold(800, 9, 9)
    assert gc.get_threshold() == (800, 9, 9)
    gc.set_threshold(*before)


def test_an_array_written_by_rows_that_is_put_into_another():
    """The cotangent of a row of the argument is written place by place, and is then itself a row of another array."""

    def f(w):
        u, y = w[0], np.zeros((20, 2))
        for i in range(1, 20):
            y[i] = 0.5 * y[i - 1] + u[i] * u[i - 1]
        return np.sum(y**2)

    w = np.linspace(0.1, 1.0, 80).reshape(2, 20, 2)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(w), ad.grad(f)(w))
