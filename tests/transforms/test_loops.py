"""`scan`, `fori_loop`, `map`: the same as Python's loops, in every walk."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3)) * 0.5
XS = RNG.normal(size=(5, 3))
X0 = RNG.normal(size=3)


def python_scan(f, init, xs, *, reverse=False):
    """What `ad.scan` has to be equal to."""
    carry, ys = init, []
    for x in xs[::-1] if reverse else xs:
        carry, y = f(carry, x)
        ys.append(y)
    return carry, np.stack(ys[::-1] if reverse else ys)


def cell(w):
    """A recurrent cell that closes over its weights."""
    return lambda h, x: (np.tanh(w @ h + x), np.sum(h * x))


def loss(scan):
    """A function of weights, first state and inputs."""

    def f(w, h, xs):
        h, ys = scan(cell(w), h, xs)
        return np.sum(h**2) + np.sum(np.sin(ys))

    return f


ROLLED, PLAIN = loss(ad.scan), loss(python_scan)
WALKS = {
    "value": lambda f: f,
    "gradient": lambda f: ad.grad(f, (0, 1, 2)),
    "tangent": lambda f: lambda *a: ad.jvp(f, a, tuple([np.cos(x) for x in a]))[1],
    "hessian": lambda f: lambda w, h, xs: ad.hessian(lambda h: f(w, h, xs))(h),
    "reverse twice": lambda f: lambda w, h, xs: ad.grad(lambda h: np.sum(ad.grad(f, 1)(w, h, xs) ** 2))(h),
    "third": lambda f: lambda w, h, xs: ad.jvp(lambda h: ad.hessian(lambda h: f(w, h, xs))(h), (h,), (h,))[1],
    "batch of states": lambda f: lambda w, h, xs: ad.vmap(f, (None, 0, None))(w, np.stack([h, 2 * h]), xs),
    "batch of weights": lambda f: lambda w, h, xs: ad.vmap(f, (0, None, None))(np.stack([w, -w]), h, xs),
    "batch of inputs": lambda f: lambda w, h, xs: ad.vmap(f, (None, None, 1))(w, h, np.stack([xs, -xs, xs + 1], 1)),
    "batch of gradients": lambda f: lambda w, h, xs: ad.vmap(ad.grad(f, (0, 1)), (None, 0, None))(
        w, np.stack([h, 2 * h]), xs
    ),
    "gradient of batch": lambda f: ad.grad(
        lambda w, h, xs: np.sum(ad.vmap(f, (None, 0, None))(w, np.stack([h, 2 * h]), xs) ** 2), (0, 1)
    ),
    "checkpoint": lambda f: ad.grad(ad.checkpoint(f), (0, 1, 2)),
    "jacobian": lambda f: lambda w, h, xs: ad.jacobian(lambda h: ad.grad(f)(w, h, xs))(h),
}  # fmt: skip


def same(got, want):
    """Leaf by leaf."""
    import optree

    a, b = optree.tree_leaves(got), optree.tree_leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("walk", WALKS)
def test_scan_in_every_walk(walk):
    """A scan is the Python loop."""
    same(WALKS[walk](ROLLED)(W, X0, XS), WALKS[walk](PLAIN)(W, X0, XS))


@pytest.mark.parametrize("walk", WALKS)
def test_scan_jitted(walk):
    """Jitted outside of any walk, twice, so that the recording itself runs."""
    f = ad.jit(WALKS[walk](ROLLED))
    f(W, X0, XS)
    same(f(W + 0.1, X0, XS), WALKS[walk](PLAIN)(W + 0.1, X0, XS))


@pytest.mark.parametrize("walk", ["gradient", "tangent", "hessian", "batch of gradients"])
@pytest.mark.parametrize("how", [{"checkpoint_every": 2}, {"checkpoint_every": 9}, {"memory": 50}, {"reverse": True}])
def test_scan_options_in_walks(walk, how):
    """Less memory, or the other direction: the same derivatives."""
    reverse = how.get("reverse", False)
    rolled = loss(lambda f, init, xs: ad.scan(f, init, xs, **how))
    plain = loss(lambda f, init, xs: python_scan(f, init, xs, reverse=reverse))
    same(WALKS[walk](rolled)(W, X0, XS), WALKS[walk](plain)(W, X0, XS))
    if how != {"reverse": True}:
        both = loss(lambda f, init, xs: ad.scan(f, init, xs, reverse=True, **how))
        plain = loss(lambda f, init, xs: python_scan(f, init, xs, reverse=True))
        same(WALKS[walk](both)(W, X0, XS), WALKS[walk](plain)(W, X0, XS))


def test_laws():
    """Central differences and the adjoint law, to the second order."""
    check_grads(ROLLED, (W, X0, XS), order=2)


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
    """A body with an if is a Python loop, right in every walk."""

    def f(scan):
        def step(c, x):
            c = c * x if c > 1 else c + x
            return c, c

        return lambda c, xs: np.sum(scan(step, c, xs)[1] ** 2)

    xs = np.array([0.5, 0.6, 2.0, 3.0])
    for walk in (lambda f: f, lambda f: ad.grad(f, (0, 1)), lambda f: ad.jit(ad.grad(f, (0, 1)))):
        same(walk(f(ad.scan))(0.3, xs), walk(f(python_scan))(0.3, xs))


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


def test_nested_scans():
    """A scan in a scan, with closures over both."""

    def f(scan):
        def outer(c, x):
            inner = lambda d, y: (np.sin(d * y + c), d * x)  # noqa: E731
            d, ys = scan(inner, c, x)
            return d, np.sum(ys, axis=0)

        return lambda c, xs: np.sum(scan(outer, c, xs)[1] ** 2)

    for walk in ("value", "hessian"):
        make = {"value": lambda f: ad.grad(f, (0, 1)), "hessian": ad.hessian}[walk]
        same(make(f(ad.scan))(0.4, XS), make(f(python_scan))(0.4, XS))
        same(ad.jit(make(f(ad.scan)))(0.4, XS), make(f(python_scan))(0.4, XS))


def test_derivative_inside_a_body():
    """Gradient descent as a scan, differentiated with respect to its start."""

    def descend(loop):
        cost = lambda x, a: np.sum((x**2 - a) ** 2)  # noqa: E731
        return lambda x, a: np.sum(loop(lambda x, _: (x - 0.05 * ad.grad(cost)(x, a), x), x, np.arange(4.0))[0])

    x, a = np.array([1.0, 2.0]), np.array([0.5, 3.0])
    same(ad.grad(descend(ad.scan), (0, 1))(x, a), ad.grad(descend(python_scan), (0, 1))(x, a))
    same(ad.jit(ad.grad(descend(ad.scan)))(x, a), ad.grad(descend(python_scan))(x, a))


SINGULAR = {
    "where": lambda c, x: (np.where(c > 0, np.sqrt(c), 0.0) + x, np.where(x > 0, np.log(x), 0.0)),
    "norm": lambda c, x: (np.sqrt(np.sum((c * x) ** 2)) * c + x, np.linalg.norm(x * c)),
    "across": lambda c, x: (np.where(x > 0, np.sqrt(np.abs(c)), 0.0), np.sum(x * c)),
    "power": lambda c, x: (c * x**2.0 + np.maximum(c, 0) ** 1.5, np.max(c)),
    "root": lambda c, x: (np.sqrt(np.sum(c**2)) * np.ones(3), np.sum(c)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the plain function
@pytest.mark.parametrize("case", SINGULAR)
def test_finite_at_singular_points(case):
    """As in a Python loop: what was masked away contributes nothing, and a norm at 0 has gradient 0."""

    def f(scan):
        def total(c, xs):
            c, ys = scan(SINGULAR[case], c, xs)
            return np.sum(c) + np.sum(ys)

        return total

    c, xs = np.array([0.0, 4.0, 0.0]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    for walk in (lambda f: ad.grad(f, (0, 1)), lambda f: ad.jit(ad.grad(f, (0, 1)))):
        same(walk(f(ad.scan))(c, xs), walk(f(python_scan))(c, xs))
    outer = lambda f: lambda c, xs: f(np.sqrt(c), np.sqrt(xs**2))  # noqa: E731
    same(ad.grad(outer(f(ad.scan)), (0, 1))(c, xs), ad.grad(outer(f(python_scan)), (0, 1))(c, xs))


def test_second_order_through_zeros():
    """A cotangent that is zero here, but not nearby, still has a slope."""
    f = lambda scan: lambda c: np.sum(scan(lambda c, x: (c * x, 0.5 * c**2), c, np.array([2.0, 3.0]))[1])  # noqa: E731
    same(ad.hessian(f(ad.scan))(np.zeros(2)), ad.hessian(f(python_scan))(np.zeros(2)))
    same(ad.grad(ad.grad(f(ad.scan)))(0.0), ad.grad(ad.grad(f(python_scan)))(0.0))


def test_many_steps():
    """Ten thousand steps, forward and back."""
    f = lambda a: ad.scan(lambda y, _: (y + 1e-4 * np.sin(a * y), None), 1.0, length=10_000)[0]  # noqa: E731
    check_grads(f, (0.7,))
    same(ad.grad(lambda a: ad.scan(lambda y, _: (y + 1e-4 * np.sin(a * y), None), 1.0, length=10_000,
                                   checkpoint_every=100)[0])(0.7), ad.grad(f)(0.7))  # fmt: skip


def test_fori_loop():
    """Fixed bounds, bounds that are traced, bounds the wrong way round."""
    f = lambda x: ad.fori_loop(1, 4, lambda i, c: c * x + i, x)  # noqa: E731

    def plain(x):
        c = x
        for i in range(1, 4):
            c = c * x + i
        return c

    assert f(0.5) == plain(0.5)
    check_grads(f, (0.5,), order=2)
    n = np.array(4)
    g = ad.jit(lambda n, x: ad.fori_loop(1, n, lambda i, c: c * x + i, x))
    assert g(n, 0.5) == plain(0.5)
    assert g(np.array(1), 0.5) == 0.5
    assert g.stats()["recordings"] == 1
    h = ad.jit(ad.grad(lambda x, n: ad.fori_loop(1, n, lambda i, c: c * x + i, x)))
    same(h(0.5, n), ad.grad(plain)(0.5))
    assert h(0.5, np.array(2)) == 1.0
    assert ad.fori_loop(4, 1, lambda i, c: c + i, 0.0) == 0.0
    with pytest.raises(TypeError, match="integers"):
        ad.fori_loop(0, 3.0, lambda i, c: c, 0.0)


def test_map():
    """One slice after the other, with closures."""
    f = lambda a: np.sum(ad.map(lambda x: {"y": np.sin(a * x)}, XS)["y"] ** 2)  # noqa: E731
    g = lambda a: np.sum(np.sin(a * XS) ** 2)  # noqa: E731
    same(ad.grad(f)(0.3), ad.grad(g)(0.3))
    same(ad.hessian(f)(0.3), ad.hessian(g)(0.3))
    same(ad.vmap(ad.grad(f))(np.array([0.3, 0.5])), ad.vmap(ad.grad(g))(np.array([0.3, 0.5])))


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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the plain function
@pytest.mark.parametrize("case", SINGULAR)
def test_second_order_at_singular_points(case):
    """The same as a Python loop's, nan where that is nan."""
    f = lambda scan: lambda c: np.sum(scan(SINGULAR[case], c, np.array([[0.0, 1.0, -1.0]] * 3))[1])  # noqa: E731
    c = np.array([0.0, 4.0, 0.0])
    for walk in (ad.hessian, lambda f: ad.grad(lambda c: np.sum(ad.grad(f)(c) ** 2))):
        np.testing.assert_allclose(walk(f(ad.scan))(c), walk(f(python_scan))(c), rtol=1e-10, atol=1e-12)


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


def test_threads():
    """Loops are captured and differentiated in many threads at once."""
    from concurrent.futures import ThreadPoolExecutor

    gradient = lambda k: ad.grad(ROLLED)(W * k / 10, X0, XS)  # noqa: E731
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(gradient, range(24)))
    for k, got in enumerate(found):
        np.testing.assert_allclose(got, ad.grad(PLAIN)(W * k / 10, X0, XS), rtol=1e-12)


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
    for walk in (ad.grad, lambda f: lambda a: ad.jvp(f, (a,), (1.0,))[1], lambda f: ad.jit(ad.grad(f))):
        same(walk(f(ad.scan))(0.7), walk(f(python_scan))(0.7))
