"""`scan`, `fori_loop`, `map`: the same as Python's loops, under every transformation."""

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
TRANSFORMS = {
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


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_scan_under_every_transform(transform):
    """A scan is the Python loop."""
    same(TRANSFORMS[transform](ROLLED)(W, X0, XS), TRANSFORMS[transform](PLAIN)(W, X0, XS))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_scan_jitted(transform):
    """Jitted outside of any trace, twice, so that the recording itself runs."""
    f = ad.jit(TRANSFORMS[transform](ROLLED))
    f(W, X0, XS)
    same(f(W + 0.1, X0, XS), TRANSFORMS[transform](PLAIN)(W + 0.1, X0, XS))


@pytest.mark.parametrize("transform", ["gradient", "tangent", "hessian", "batch of gradients"])
@pytest.mark.parametrize("how", [{"checkpoint_every": 2}, {"checkpoint_every": 9}, {"memory": 50}, {"reverse": True}])
def test_scan_options_under_transforms(transform, how):
    """Less memory, or the other direction: the same derivatives."""
    reverse = how.get("reverse", False)
    rolled = loss(lambda f, init, xs: ad.scan(f, init, xs, **how))
    plain = loss(lambda f, init, xs: python_scan(f, init, xs, reverse=reverse))
    same(TRANSFORMS[transform](rolled)(W, X0, XS), TRANSFORMS[transform](plain)(W, X0, XS))
    if how != {"reverse": True}:
        both = loss(lambda f, init, xs: ad.scan(f, init, xs, reverse=True, **how))
        plain = loss(lambda f, init, xs: python_scan(f, init, xs, reverse=True))
        same(TRANSFORMS[transform](both)(W, X0, XS), TRANSFORMS[transform](plain)(W, X0, XS))


def test_laws():
    """Central differences and the adjoint law, to the second order."""
    check_grads(ROLLED, (W, X0, XS), order=2)


def test_nested_scans():
    """A scan in a scan, with closures over both."""

    def f(scan):
        def outer(c, x):
            inner = lambda d, y: (np.sin(d * y + c), d * x)  # noqa: E731
            d, ys = scan(inner, c, x)
            return d, np.sum(ys, axis=0)

        return lambda c, xs: np.sum(scan(outer, c, xs)[1] ** 2)

    for transform in ("value", "hessian"):
        make = {"value": lambda f: ad.grad(f, (0, 1)), "hessian": ad.hessian}[transform]
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


def test_sweep_back_without_carry():
    """Nothing is stored where nothing is carried: once through the loop, and once back."""
    f = ad.jit(ad.grad(lambda a: np.sum(ad.map(lambda x: np.sin(a * x), XS))))
    loops = [step for step in f.lower(0.3).program.steps if step.primitive.name == "scan"]
    assert [step.params["reverse"] for step in loops] == [False, True]
    same(f(0.3), np.sum(XS * np.cos(0.3 * XS)))


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
    for transform in (lambda f: ad.grad(f, (0, 1)), lambda f: ad.jit(ad.grad(f, (0, 1)))):
        same(transform(f(ad.scan))(c, xs), transform(f(python_scan))(c, xs))
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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the plain function
@pytest.mark.parametrize("case", SINGULAR)
def test_second_order_at_singular_points(case):
    """The same as a Python loop's, nan where that is nan."""
    f = lambda scan: lambda c: np.sum(scan(SINGULAR[case], c, np.array([[0.0, 1.0, -1.0]] * 3))[1])  # noqa: E731
    c = np.array([0.0, 4.0, 0.0])
    for transform in (ad.hessian, lambda f: ad.grad(lambda c: np.sum(ad.grad(f)(c) ** 2))):
        np.testing.assert_allclose(transform(f(ad.scan))(c), transform(f(python_scan))(c), rtol=1e-10, atol=1e-12)


def test_threads():
    """Loops are captured and differentiated in many threads at once."""
    from concurrent.futures import ThreadPoolExecutor

    gradient = lambda k: ad.grad(ROLLED)(W * k / 10, X0, XS)  # noqa: E731
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(gradient, range(24)))
    for k, got in enumerate(found):
        np.testing.assert_allclose(got, ad.grad(PLAIN)(W * k / 10, X0, XS), rtol=1e-12)


def test_bodies_that_sum_nothing():
    """A sum of no elements is a constant, which a compiled body makes itself."""

    def body(v):
        return np.roll(v, 1) + np.sum(v, axis=-1, keepdims=True)

    x = np.zeros((2, 0))
    for f in (
        lambda x: ad.cond(np.sum(x) > 0.0, lambda v: -v, body, x),
        lambda x: ad.scan(lambda v, _: (body(v), np.sum(v, axis=-1)), x, None, length=3),
    ):
        for a, b in zip(ad.tree.leaves(ad.jit(f)(x)), ad.tree.leaves(f(x)), strict=True):
            np.testing.assert_array_equal(a, b)
