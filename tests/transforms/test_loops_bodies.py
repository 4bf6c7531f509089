"""What a body of `scan` may do and what it may not: types, containers, fallbacks, messages."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

XS = np.random.default_rng(0).normal(size=(5, 3))


def python_scan(f, init, xs, *, reverse=False):
    """What `ad.scan` has to be equal to."""
    carry, ys = init, []
    for x in xs[::-1] if reverse else xs:
        carry, y = f(carry, x)
        ys.append(y)
    return carry, np.stack(ys[::-1] if reverse else ys)


def same(got, want):
    """Leaf by leaf."""
    import optree

    a, b = optree.tree_leaves(got), optree.tree_leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)


def test_function_is_called_once():
    """The body is captured, not run in every step."""
    calls = []
    ad.scan(lambda c, x: (calls.append(1) or c + x, c), 0.0, np.arange(5.0))
    assert len(calls) == 1


def test_containers():
    """Dicts in, tuples out."""

    def f(p):
        def step(state, x):
            pos, vel = state["pos"], state["vel"]
            vel = vel - 0.1 * p["k"] * pos + x[0] * x[1]["b"]
            return {"pos": pos + 0.1 * vel, "vel": vel}, (pos, {"energy": vel**2})

        xs = (np.arange(4.0), {"b": np.ones(4)})
        state, (pos, rest) = ad.scan(step, {"pos": p["x"], "vel": 0.0}, xs)
        assert pos.shape == (4, 2)
        assert rest["energy"].shape == (4, 2)
        return np.sum(state["pos"]) + np.sum(rest["energy"])

    check_grads(f, ({"k": 2.0, "x": np.array([1.0, 2.0])},), order=2)


def test_dtypes_are_stable():
    """Integers become real, numbers become arrays, Python's floats take the precision of the arrays."""
    carry, ys = ad.scan(lambda c, x: (c + x, c), 0, np.array([1.5, 2.5]))
    assert carry == 4.0
    np.testing.assert_array_equal(ys, [0.0, 1.5])
    carry, _ = ad.scan(lambda c, x: (c * x, None), 1.0, np.array([1.5, 2.5], np.float32))
    assert carry.dtype == np.float32
    carry, _ = ad.scan(lambda c, x: (c + x, None), 0.0, np.ones((4, 2)))
    np.testing.assert_array_equal(carry, [4.0, 4.0])
    w = np.ones(2, np.float32)
    carry, _ = ad.scan(lambda c, _: (c * w, None), 1.0, length=2)
    assert carry.dtype == np.float32
    carry, _ = ad.scan(lambda c, x: (c + x, None), np.float64(1.0), np.array([1, 2]))
    assert carry == 4.0
    carry, _ = ad.scan(lambda c, x: (c * x, None), 1.0, np.array([1j, 2j]))
    assert carry == -2.0


def test_literals_in_the_carry():
    """A number in the function takes the dtype of the carry."""
    carry, ys = ad.scan(lambda c, x: ((0, c[0] + x), c), (0.5, 1.0), np.arange(3.0))
    assert carry[0].dtype == np.float64
    same((carry, ys), ((0.0, 2.0), (np.array([0.5, 0.0, 0.0]), np.array([1.0, 0.5, 1.0]))))


MESSAGES = {
    "type": (
        lambda: ad.scan(lambda c, _: (np.concatenate([c, c]), None), np.zeros(2), length=2),
        "The carry of scan has to keep its type from step to step.",
        "  got float64[4] after float64[2]\n"
        "  Start with a value of the type that the function returns, or convert what it returns.",
    ),
    "containers": (
        lambda: ad.scan(lambda c, _: ((c, c), None), np.zeros(2), length=2),
        "The function given to scan has to return its carry in the same containers.",
        "  got (float64[2], float64[2]) after float64[2]",
    ),
    "pair": (
        lambda: ad.scan(lambda c, _: c, np.zeros(2), length=2),
        "The function given to scan has to return a pair (carry, y).",
        "  got float64[2]\n  Write  return carry, None  if there is nothing to stack.",
    ),
    "lengths": (
        lambda: ad.scan(lambda c, x: (c, None), 0.0, (np.zeros(2), np.zeros(3))),
        "The arrays given to scan have different lengths.",
        "  got 2, 3\n  All of them, and  length=,  have to agree along the first axis.",
    ),
    "slices": (
        lambda: ad.map(np.sin, 3.0),
        "scan takes slices of arrays along their first axis.",
        "  got xs = float 3.0\n"
        "  Pass  np.array(xs);  what is the same in every step can be used by the function directly.",
    ),
    "carry": (
        lambda: ad.while_loop(lambda c: True, lambda c: c, "a"),
        "while_loop carries numbers, arrays and containers of them from step to step.",
        "  got init = str 'a'\n  What stays the same can be used by the function directly, without being carried.",
    ),
    "condition": (
        lambda: ad.while_loop(lambda y: y < np.zeros(2), lambda y: y, 0.0),
        "The condition of while_loop has to be one truth value.",
        "  got bool[2]\n  Use  np.any  or  np.all.",
    ),
    "bounds": (
        lambda: ad.fori_loop(0, 3.0, lambda i, c: c, 0.0),
        "The bounds of fori_loop have to be integers.",
        "  got upper = float 3.0\n  Pass  int(n).",
    ),
    "branches": (
        lambda: ad.jit(lambda p: ad.cond(p > 0, lambda: np.ones(2), lambda: 1.0))(1.0),
        "The two functions given to cond have to return the same containers and shapes.",
        "  got float64[2] and python float64",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    """What could not be done, what was met, and what to do: word by word, around the user's line."""
    call, what, rest = MESSAGES[case]
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    lines = str(caught.value).split("\n")
    assert lines[0] == what
    assert lines[1].startswith("  at test_loops_bodies.py:")
    assert "\n".join(lines[2:]) == rest


def test_complex():
    """Complex carries have gradients as in Python's loops."""
    f = lambda scan: lambda z, w: np.abs(scan(lambda c, x: (c * w + x, c), z, np.arange(3.0))[0]) ** 2  # noqa: E731
    got = ad.grad(f(ad.scan), (0, 1))(1 + 2j, 0.5 - 1j)
    want = ad.grad(f(python_scan), (0, 1))(1 + 2j, 0.5 - 1j)
    same(got, want)


def test_lengths():
    """No steps; no arrays; arrays that do not agree."""
    carry, ys = ad.scan(lambda c, x: (c + x, c * np.ones(2)), 1.0, np.zeros(0))
    assert carry == 1.0
    assert ys.shape == (0, 2)
    g = ad.grad(lambda a: ad.scan(lambda c, x: (c + x, None), a, np.zeros(0))[0])(3.0)
    assert g == 1.0
    assert ad.scan(lambda c, _: (c + 1, None), 0, length=4) == (4, None)
    with pytest.raises(ValueError, match="different lengths"):
        ad.scan(lambda c, x: (c, None), 0.0, (np.zeros(2), np.zeros(3)))
    with pytest.raises(TypeError, match="length=n"):
        ad.scan(lambda c, x: (c, None), 0.0)
    with pytest.raises(TypeError, match="first axis"):
        ad.scan(lambda c, x: (c, None), 0.0, 3.0)


def test_errors():
    """A carry whose type grows, or whose containers change."""
    with pytest.raises(TypeError, match="has to keep its type"):
        ad.scan(lambda c, _: (np.concatenate([c, c]), None), np.zeros(2), length=2)
    with pytest.raises(TypeError, match="same containers"):
        ad.scan(lambda c, _: ((c, c), None), np.zeros(2), length=2)
    with pytest.raises(TypeError, match="pair"):
        ad.scan(lambda c, _: c, np.zeros(2), length=2)
    with pytest.raises(TypeError, match="positive integer"):
        ad.scan(lambda c, _: (c, None), np.zeros(2), length=2, checkpoint_every=0)
    with pytest.raises(TypeError, match="two ways"):
        ad.scan(lambda c, _: (c, None), np.zeros(2), length=2, checkpoint_every=1, memory=100)


def test_results_are_the_callers():
    """Nothing shares memory with an argument."""
    start = np.zeros(2)
    carry, _ = ad.scan(lambda c, _: (c, None), start, length=3)
    carry[0] = 5.0
    assert start[0] == 0.0


def test_branches_on_values_fall_back():
    """A body with an if is a Python loop, right under every transformation."""

    def f(scan):
        def step(c, x):
            c = c * x if c > 1 else c + x
            return c, c

        return lambda c, xs: np.sum(scan(step, c, xs)[1] ** 2)

    xs = np.array([0.5, 0.6, 2.0, 3.0])
    for transform in (lambda f: f, lambda f: ad.grad(f, (0, 1)), lambda f: ad.jit(ad.grad(f, (0, 1)))):
        same(transform(f(ad.scan))(0.3, xs), transform(f(python_scan))(0.3, xs))


def test_masks_fall_back():
    """The shape of x[mask] depends on values."""
    f = lambda scan: lambda xs: np.sum(scan(lambda c, x: (c + np.sum(x[x > 0]), c), 0.0, xs)[1])  # noqa: E731
    same(ad.grad(f(ad.scan))(XS), ad.grad(f(python_scan))(XS))


def test_assignment_in_bodies():
    """In-place updates of the carry, at an index that varies."""

    def f(x):
        def step(c, i):
            c = c.copy()
            c[i] = c[i - 1] * x[i]
            c[0] += 1.0
            return c, None

        return np.sum(ad.scan(step, np.ones(4), np.arange(1, 4))[0] ** 2)

    def g(x):
        c = np.ones(4)
        for i in range(1, 4):
            c[i] = c[i - 1] * x[i]
            c[0] += 1.0
        return np.sum(c**2)

    x = np.arange(1.0, 5.0)
    same(ad.grad(f)(x), ad.grad(g)(x))
    same(ad.jit(ad.grad(f))(x), ad.grad(g)(x))


def test_captured_arrays_are_read_at_call_time():
    """An array that a jitted loop uses, changed in place between the calls."""
    a = np.array([1.0, 2.0])
    f = ad.jit(lambda x: ad.scan(lambda c, _: (c * x + 2 * a, None), np.zeros(2), length=2)[0])
    np.testing.assert_array_equal(f(1.0), [4.0, 8.0])
    a[0] = 10.0
    np.testing.assert_array_equal(f(1.0), [40.0, 8.0])


NUMBERS = {
    "division": lambda c, x: (1.0 / x + c, x / c),
    "exponential": lambda c, x: (np.exp(300 * x) - c, np.sinh(x * 1e3)),
    "logarithm": lambda c, x: (np.log(x), np.sqrt(c) + np.log1p(-x)),
    "power": lambda c, x: (x**c, (-x) ** 0.5 + x**3),
    "choice": lambda c, x: (np.where(x > 0, x, -c), np.where(np.isnan(c), 0.0, c)),
    "angle": lambda c, x: (np.sin(x / c), np.arctan2(c, x) + np.abs(c)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the plain function
@pytest.mark.parametrize("case", NUMBERS)
def test_loops_of_numbers(case):
    """Python's numbers are quicker, and have the infinities, zeros and nan of NumPy's."""
    xs = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e-310, 3.0, 0.5, 7.0])
    for c in (np.float64(0.0), np.float64(2.0), np.float64(-np.inf)):
        for got, want in zip(ad.scan(NUMBERS[case], c, xs), python_scan(NUMBERS[case], c, xs), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)
            np.testing.assert_array_equal(np.signbit(got) & ~np.isnan(got), np.signbit(want) & ~np.isnan(want))


def test_integers_and_truth_values_in_the_carry():
    """They are carried along, and have no derivative."""

    def f(scan):
        def step(s, x):
            n, found, best = s
            here = x > best
            return (n + here, found | here, np.where(here, x, best)), n

        return lambda xs: scan(step, (np.int64(0), np.bool(False), xs[0]), xs)

    xs = np.array([0.3, 1.0, 0.5, 2.0])
    same(f(ad.scan)(xs), f(python_scan)(xs))
    same(ad.grad(lambda xs: f(ad.scan)(xs)[0][2])(xs), np.array([0.0, 0.0, 0.0, 1.0]))


@pytest.mark.parametrize("kind", ["custom", "checkpoint", "stop", "jit"])
def test_functions_with_rules_of_their_own(kind):
    """Inside a body they stay what they are."""
    sine = {
        "custom": ad.custom_rule(np.sin, vjp=lambda primals, out, g: (2 * g * np.cos(primals[0]),)),
        "checkpoint": ad.checkpoint(lambda x: np.sin(np.exp(x))),
        "stop": lambda x: np.sin(ad.stop_gradient(x)) + x,
        "jit": ad.jit(lambda x: np.sin(x)),
    }[kind]
    f = lambda scan: lambda a: np.sum(scan(lambda c, x: (sine(c * a) + x, c * a), np.zeros(3), XS)[1])  # noqa: E731
    for transform in (ad.grad, lambda f: lambda a: ad.jvp(f, (a,), (1.0,))[1], lambda f: ad.jit(ad.grad(f))):
        same(transform(f(ad.scan))(0.7), transform(f(python_scan))(0.7))
