"""jit with every transformation, in any order: the same numbers and kinds of numbers as without it."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.tree import flatten

rng = np.random.default_rng(0)
X = rng.normal(size=4) + 0.5
ROWS = rng.normal(size=(3, 4))


def loss(x):
    return np.sum(np.sin(x) ** 2 * x) if np.sum(x) > 0 else np.sum(x**3)


def smooth(x):
    return np.sum(np.tanh(x) * x)


def same(found, want):
    found, want = flatten(found)[0], flatten(want)[0]
    assert [type(f) for f in found] == [type(w) for w in want]
    for f, w in zip(found, want, strict=True):
        np.testing.assert_allclose(f, w, rtol=1e-11, atol=1e-13)


TRANSFORMS = {
    "value": lambda f: f,
    "grad": ad.grad,
    "value_and_grad": ad.value_and_grad,
    "hessian": ad.hessian,
    "jacobian": ad.jacobian,
    "jacfwd": ad.jacfwd,
    "jacrev": ad.jacrev,
    "jvp": lambda f: lambda x: ad.jvp(f, (x,), (x * 2,)),
    "vjp": lambda f: lambda x: ad.vjp(f, x)[1](np.float64(2.0)),
    "hvp": lambda f: lambda x: ad.hvp(f, (x,), (x * 2,)),
    "linearize": lambda f: lambda x: ad.linearize(f, x)[1](x),
    "checkpoint": lambda f: ad.grad(ad.checkpoint(f)),
    "third": lambda f: ad.jacobian(ad.hessian(f)),
    "around": lambda f: ad.grad(lambda x: np.sum(np.sin(f(x) * x))),
    "twice": lambda f: ad.grad(lambda x: f(x * f(x))),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_inside_and_outside(name):
    """transform(jit(f)), jit(transform(f)), jit(transform(jit(f))), on both sides of a branch."""
    transform = TRANSFORMS[name]
    inner = ad.jit(loss)
    inside, outside, both = transform(inner), ad.jit(transform(loss)), ad.jit(ad.jit(transform(ad.jit(loss))))
    for x in (X, -X, X * 1.5, -X * 0.5):
        want = transform(loss)(x)
        for f in (inside, outside, both):
            same(f(x), want)


def test_rules_are_recorded_once():
    """Derivatives of a jitted function come from recordings, not from traces of the function."""
    calls = []

    def f(x):
        calls.append(1) if False else None
        return np.sum(np.sin(x))

    jitted = ad.jit(f)
    for k in range(5):
        ad.grad(jitted)(X + k)
    assert jitted.stats()["recordings"] == 1
    assert [d.stats()["recordings"] for d in jitted._derived.values()] == [1]


BATCHES = {
    "vmap": lambda f: ad.vmap(f)(ROWS),
    "vmap of grad": lambda f: ad.vmap(ad.grad(f))(ROWS),
    "vmap of hessian": lambda f: ad.vmap(ad.hessian(f))(ROWS),
    "grad of vmap": lambda f: ad.grad(lambda r: np.sum(ad.vmap(f)(r) ** 2))(ROWS),
    "hessian of vmap": lambda f: ad.hessian(lambda w: np.sum(ad.vmap(lambda r, w: f(r * w), (0, None))(ROWS, w)))(X),
    "vmap of vmap": lambda f: ad.vmap(ad.vmap(f))(np.stack([ROWS, -ROWS])),
    "chunks": lambda f: ad.vmap(f, chunk_size=2)(ROWS),
    "empty": lambda f: ad.vmap(f)(ROWS[:0]),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches(name):
    """vmap over jitted functions and their derivatives, and jit around it."""
    use = BATCHES[name]
    want = use(smooth)
    same(use(ad.jit(smooth)), want)
    same(ad.jit(lambda: use(smooth))(), want)
    same(ad.vmap(ad.jit(ad.grad(smooth)))(ROWS), ad.vmap(ad.grad(smooth))(ROWS))
    same(ad.jit(ad.vmap(ad.jit(smooth)))(ROWS), ad.vmap(smooth)(ROWS))


def test_scalars():
    """Python floats in, Python floats out, to any order."""
    f = lambda a: a**2 + np.exp(a) if a > 1 else np.sin(a) / a  # noqa: E731
    jitted = ad.jit(f)
    for a in (2.0, 0.5, 3.0):
        for transform in (
            TRANSFORMS["value"],
            ad.grad,
            ad.value_and_grad,
            lambda g: ad.grad(ad.grad(g)),
            lambda g: ad.derivative(g, 3),
        ):
            same(transform(jitted)(a), transform(f)(a))
            same(ad.jit(transform(f))(a), transform(f)(a))
            np.testing.assert_allclose(ad.jit(transform(f))(np.float64(a)), transform(f)(np.float64(a)))


def test_complex():
    """Cotangents are conjugated for the user, and only for the user."""
    part = ad.jit(lambda z: z * z * (1 + 2j))
    for z in (1 + 2j, np.array([1 + 2j, 3 - 1j])):
        want = ad.grad(lambda z: np.sum(np.real(z * z * (1 + 2j))))(z)
        same(ad.grad(lambda z: np.sum(np.real(part(z))))(z), want)
        same(ad.jit(ad.grad(lambda z: np.sum(np.real(part(z)))))(z), want)
        same(ad.grad(lambda z: np.sum(np.real(ad.checkpoint(part.fun)(z))))(z), want)


def test_containers_and_arguments_that_do_not_move():
    """Leaves that are differentiated, batched or neither."""
    f = ad.jit(lambda p, x, n, s: {"out": np.tanh(x @ p["w"] + p["b"]) ** n, "note": np.sum(x) * s})
    p = {"w": rng.normal(size=(4, 2)), "b": 0.3}

    def use(f):
        return lambda p: np.sum(ad.vmap(lambda r: f(p, r, 2, np.float32(3.0))["out"])(ROWS))

    same(ad.grad(use(f))(p), ad.grad(use(f.fun))(p))
    same(ad.jit(ad.grad(use(f)))(p), ad.grad(use(f.fun))(p))


def test_closures_over_traced_values():
    """A jitted function may use a value of the trace around it."""
    same(ad.grad(lambda w: ad.jit(lambda x: w * x)(2.0))(3.0), 2.0)
    same(ad.grad(lambda w: ad.jit(lambda x: w * x)(w))(3.0), 6.0)
    same(ad.jit(lambda w: ad.jit(lambda x: w * x)(2.0))(3.0), 6.0)
    same(ad.jit(ad.grad(lambda w: ad.jit(lambda x: w * x)(w)))(3.0), 6.0)
    same(ad.vmap(lambda w: ad.jit(lambda x: w * x)(2.0))(X), 2.0 * X)


@pytest.mark.parametrize(
    ("jitted", "plain"),
    [
        (
            lambda x: np.sum(np.where(x > 0, ad.jit(np.sqrt)(x), 0.0)),
            lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)),
        ),
        (lambda x: np.sum(ad.jit(np.sqrt)(x**2)), lambda x: np.sum(np.sqrt(x**2))),
        (lambda x: np.sqrt(ad.jit(np.sum)(x**2)), lambda x: np.sqrt(np.sum(x**2))),
        (lambda x: ad.jit(np.linalg.norm)(x * x), lambda x: np.linalg.norm(x * x)),
        (lambda x: np.max(ad.jit(np.abs)(x)), lambda x: np.max(np.abs(x))),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_singular_points(jitted, plain):
    """Structural zeros and vertices are seen through a jitted function."""
    for x in (np.array([0.0, 4.0]), np.array([0.0, 0.0]), np.array([1.0, 4.0]), np.array([-3.0, 3.0])):
        same(ad.grad(jitted)(x), ad.grad(plain)(x))
        same(ad.jit(ad.grad(jitted))(x), ad.grad(plain)(x))
