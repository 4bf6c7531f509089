"""`hessian_diagonal` and `laplacian`: equal to the Hessian's, for every kind of step, and in every surrounding."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import adjoint as ad

X = np.array([0.3, -0.7, 1.2, 0.5])
A = np.array([[5.0, 0.3, -0.2, 0.1], [0.3, 6.0, 0.4, -0.5], [-0.2, 0.4, 4.5, 0.2], [0.1, -0.5, 0.2, 7.0]])

FUNCTIONS = {
    "elementwise": lambda x: np.sum(np.sin(x) * x**2),
    "two arguments": lambda x: np.sum(np.arctan2(x[:2], x[2:])) * np.hypot(x[0], x[1]),
    "power": lambda x: np.sum(np.power(np.abs(x) + 1.0, x)),
    "broadcast quotient": lambda x: np.sum(np.outer(x, x) / (1.0 + x**2)),
    "product": lambda x: np.prod(x),
    "matmul with itself": lambda x: x @ A @ x * np.exp(x[0]),
    "einsum": lambda x: np.einsum("i,j,ij,k->k", x, x, A, x)[1],
    "convolution": lambda x: np.sum(np.convolve(x, x) ** 2),
    "determinant": lambda x: np.linalg.det(A + np.outer(x, x)),
    "solve": lambda x: np.linalg.solve(A + np.diag(x), x) @ x,
    "eigenvalues": lambda x: np.linalg.eigvalsh(A + np.outer(x, x))[0],
    "qr": lambda x: np.sum(np.linalg.qr(A + np.diag(x))[1] ** 3),
    "logsumexp": lambda x: np.log(np.sum(np.exp(x))),
    "largest": lambda x: np.max(x) ** 2 + np.maximum(x[0], x[1]) ** 3,
    "sorted": lambda x: np.sum(np.sort(x) ** 2 * np.arange(4.0)),
    "chosen": lambda x: np.sum(np.where(x > 0, x**2, np.tanh(x))),
    "norm": lambda x: np.linalg.norm(x),
    "variance": lambda x: np.var(x) ** 1.5,
    "running": lambda x: np.sum(np.cumsum(x) ** 3),
    "fourier": lambda x: np.abs(np.fft.fft(x)[1]) ** 2 + np.real(np.exp(1j * x[0])),
    "gamma": lambda x: np.sum(scipy.special.gammaln(np.abs(x) + 1.0)),
    "assigned": lambda x: _assigned(x),
    "scan": lambda x: ad.scan(lambda c, t: (np.sin(c) * t + c, c), x[0], x)[0],
    "while": lambda x: np.sum(ad.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, np.sin(c[1]) * c[1]), (0, x))[1]),
    "branch": lambda x: ad.cond(x[0] > 0, lambda y: np.sum(y**3), lambda y: np.sum(y), x),
    "gradient inside": lambda x: ad.grad(lambda y: np.sum(np.sin(y) * x))(x) @ x,
    "batch inside": lambda x: np.sum(ad.vmap(lambda a: np.tanh(a * x))(x)),
    "checkpoint": lambda x: ad.checkpoint(lambda y: np.sum(y**3 * y[0]))(x),
    "jit inside": lambda x: ad.jit(lambda y: np.sum(y**3 * y[0]))(x),
    "views": lambda x: _viewed(x),
    "linear": lambda x: np.sum(A @ x),
    "constant": lambda x: 3.0,
}


def _assigned(x):
    y = np.zeros(4)
    y[1:3] = x[2:] ** 2
    y[0] = x[0] * x[1]
    return np.sum(y**2)


def _viewed(x):
    y = x * 2.0
    part = y[1:]
    y[1] = x[0] ** 3
    part[2] *= x[1]
    return np.sum(part * y[0])


def diagonal_of(f, x):
    """From the whole Hessian."""
    return np.diagonal(ad.hessian(f)(x), axis1=-2, axis2=-1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_the_hessian(name):
    """Diagonal and sum, at once and in chunks, for every kind of rule."""
    f, want = FUNCTIONS[name], diagonal_of(FUNCTIONS[name], X)
    for chunk_size in (None, 3):
        np.testing.assert_allclose(
            ad.curvature.hessian_diagonal(f, chunk_size=chunk_size)(X), want, rtol=1e-9, atol=1e-10
        )
        np.testing.assert_allclose(
            ad.curvature.laplacian(f, chunk_size=chunk_size)(X), np.sum(want), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_the_hessian_under_jit(name):
    """Also at another point than the one of the recording."""
    f = FUNCTIONS[name]
    diagonal, laplacian = ad.jit(ad.curvature.hessian_diagonal(f)), ad.jit(ad.curvature.laplacian(f))
    for x in (X, X + 0.1, X - 0.35):
        want = diagonal_of(f, x)
        np.testing.assert_allclose(diagonal(x), want, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(laplacian(x), np.sum(want), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"branch", "sorted"}))
def test_equals_the_hessian_in_a_batch(name):
    """One Laplacian and one diagonal for each example."""
    f, xs = FUNCTIONS[name], np.stack([X, X + 0.1, X * 1.1])
    want = np.stack([diagonal_of(f, x) for x in xs])
    np.testing.assert_allclose(ad.vmap(ad.curvature.hessian_diagonal(f))(xs), want, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ad.vmap(ad.curvature.laplacian(f))(xs), np.sum(want, axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["elementwise", "broadcast quotient", "determinant", "scan", "two arguments"])
def test_is_differentiated_again(name):
    """The gradient of the Laplacian, as the equations of physics need it."""
    f = FUNCTIONS[name]
    found = ad.grad(ad.curvature.laplacian(f))(X)
    want = ad.grad(lambda x: np.trace(ad.hessian(f)(x)))(X)
    np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_law_for_random_functions(seed):
    """Networks of random steps: the diagonal, its sum and the Hessian agree."""
    random = np.random.default_rng(seed)
    steps = [np.tanh, np.sin, np.exp, lambda h: h * h[::-1], lambda h: h / (1.0 + np.sum(h**2)), np.cumsum, np.arctan]
    chosen = [steps[k] for k in random.integers(0, len(steps), 4)]
    weights = [random.normal(size=(5, 5)) / 2.0 for _ in chosen]

    def f(x):
        for step, w in zip(chosen, weights, strict=True):
            x = step(w @ x)
        return np.sum(x)

    x = random.normal(size=5)
    want = diagonal_of(f, x)
    np.testing.assert_allclose(ad.curvature.hessian_diagonal(f)(x), want, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ad.curvature.laplacian(f)(x), np.sum(want), rtol=1e-8, atol=1e-8)


def test_closed_forms():
    """Powers of the radius in n dimensions: the Laplacian of r^k is k (k + n - 2) r^(k - 2)."""
    x = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
    r = np.linalg.norm(x)
    for k in (-3.0, -1.0, 1.0, 2.0, 3.0, 4.5):
        found = ad.curvature.laplacian(lambda x, k=k: np.sqrt(np.sum(x**2)) ** k)(x)
        np.testing.assert_allclose(found, k * (k + 3.0) * r ** (k - 2.0), rtol=1e-12, atol=1e-12)


def test_sympy_agrees():
    """The Laplacian of an expression, worked out symbolically."""
    sympy = pytest.importorskip("sympy")
    a, b, c = symbols = sympy.symbols("a b c")
    expression = sympy.exp(a * b) * sympy.sin(c) + a**3 / (1 + b**2) + sympy.log(2 + c**2) * a
    want = sum(sympy.diff(expression, s, 2) for s in symbols)
    x = np.array([0.3, -0.4, 0.7])
    at = dict(zip(symbols, x, strict=True))

    def f(x):
        a, b, c = x
        return np.exp(a * b) * np.sin(c) + a**3 / (1 + b**2) + np.log(2 + c**2) * a

    np.testing.assert_allclose(ad.curvature.laplacian(f)(x), float(want.subs(at)), rtol=1e-12)
    for i, s in enumerate(symbols):
        second = float(sympy.diff(expression, s, 2).subs(at))
        np.testing.assert_allclose(ad.curvature.hessian_diagonal(f)(x)[i], second, rtol=1e-12)


def test_containers_arguments_and_kinds():
    """Results have the containers, shapes and kinds of number that they should have."""

    def f(p, x, scale=1.0):
        return scale * p["a"] ** 3 * np.sum(p["b"] ** 2) * x

    p = {"a": 2.0, "b": np.array([[1.0, 3.0]])}
    found = ad.curvature.hessian_diagonal(f)(p, 0.5, scale=2.0)
    assert type(found["a"]) is float
    assert found["a"] == 120.0
    np.testing.assert_allclose(found["b"], [[16.0, 16.0]])
    assert ad.curvature.laplacian(f)(p, 0.5, scale=2.0) == 152.0
    both = ad.curvature.hessian_diagonal(f, argnums=(0, 1))(p, 0.5)
    assert both[1] == 0.0
    assert both[0]["a"] == 60.0
    assert type(ad.curvature.laplacian(np.sin)(0.5)) is float
    assert ad.curvature.laplacian(lambda p: p)({"a": 1.0}) == {"a": 0.0}
    assert ad.curvature.hessian_diagonal(lambda x: np.sum(x**2))(np.zeros(0)).shape == (0,)
    assert ad.curvature.laplacian(lambda x: np.sum(x**2))(np.zeros((0, 2))) == 0.0
    assert ad.curvature.laplacian(lambda x: x**3)(np.array(2.0)) == 12.0


def test_vector_fields():
    """Of arrays and containers, each number of the result has its own."""

    def field(x):
        return {"v": x * x[::-1] ** 2, "s": np.sum(x**3)}

    found = ad.curvature.hessian_diagonal(field)(X)
    np.testing.assert_allclose(found["v"], diagonal_of(lambda x: field(x)["v"], X))
    np.testing.assert_allclose(found["s"], 6.0 * X)
    found = ad.curvature.laplacian(field)(X)
    np.testing.assert_allclose(found["v"], 2.0 * X, atol=1e-12)
    np.testing.assert_allclose(found["s"], np.sum(6.0 * X))


def test_single_precision_stays():
    """float32 in, float32 out, eager and jitted."""
    x = np.ones(3, np.float32)

    def f(x):
        return np.sum(np.tanh(x) ** 3 * x[0])

    for g in (
        ad.curvature.hessian_diagonal(f),
        ad.curvature.laplacian(f),
        ad.jit(ad.curvature.hessian_diagonal(f)),
        ad.jit(ad.curvature.laplacian(f)),
    ):
        assert g(x).dtype == np.float32


def test_kinks_and_limits_are_those_of_the_hessian():
    """At a kink the convention's side; where the chain rule gives 0 * inf, what the Hessian finds."""
    zero = np.zeros(2)
    np.testing.assert_array_equal(
        ad.curvature.hessian_diagonal(lambda x: np.sqrt(x[0] ** 2) + x[1] ** 2)(zero), [0.0, 2.0]
    )
    assert ad.curvature.laplacian(lambda x: np.sum(np.abs(x) + np.maximum(x, 0.0)))(zero) == 0.0

    def smooth(x):  # np.sqrt(x0)**4 is smooth at 0
        return np.sqrt(x[0]) ** 4 + x[1]

    for g in (ad.curvature.laplacian(smooth), ad.jit(ad.curvature.laplacian(smooth))):
        np.testing.assert_allclose(g(zero), np.trace(ad.hessian(smooth)(zero)))
    np.testing.assert_array_equal(ad.curvature.hessian_diagonal(smooth)(zero), diagonal_of(smooth, zero))


def test_random_probes():
    """Exact for a diagonal Hessian, right on average for others, the same for the same key, also under jit."""
    key = ad.random.key(3)
    x = np.linspace(0.5, 1.5, 20)
    np.testing.assert_allclose(
        ad.curvature.laplacian(lambda x: np.sum(x**4), probes=1, key=key)(x), 12.0 * np.sum(x**2)
    )

    def f(x):
        return np.sum(x**4) + np.sin(np.sum(x)) * x[0]

    exact = ad.curvature.laplacian(f)(x)
    estimate = ad.curvature.laplacian(f, probes=4000, key=key)
    found = estimate(x)
    assert abs(found - exact) < 0.02 * abs(exact)
    np.testing.assert_allclose(ad.curvature.laplacian(f, probes=4000, key=key, chunk_size=1000)(x), found)
    np.testing.assert_allclose(ad.jit(estimate)(x), found)
    p = {"a": x[:5], "b": x[5:].astype(np.float32)}
    found = ad.curvature.laplacian(lambda p: np.sum(p["a"] ** 2) + np.sum(p["b"] ** 2), probes=2, key=key)(p)
    np.testing.assert_allclose(found, 40.0)
    keys = ad.random.split(key, 3)
    each = ad.vmap(lambda k: ad.curvature.laplacian(f, probes=4, key=k)(x))(keys)
    assert len(set(each.tolist())) == 3


def test_refusals():
    """In full."""
    with pytest.raises(ad.errors.InputError) as e:
        ad.curvature.laplacian(lambda z: np.sum(z))(np.ones(2, complex))
    assert "laplacian is for functions of real numbers." in str(e.value)
    assert "got z = complex128[2]" in str(e.value)
    with pytest.raises(ad.errors.NotDifferentiableError, match="hessian_diagonal is for functions that return real"):
        ad.curvature.hessian_diagonal(lambda x: 1j * x)(np.ones(2))
    with pytest.raises(ad.errors.InputError, match="laplacian needs real or complex numbers to differentiate"):
        ad.curvature.laplacian(lambda x: x)(np.int64(3))
    with pytest.raises(ad.errors.InputError, match="needs a number of probes and a key"):
        ad.curvature.laplacian(np.sin, probes=3)
    with pytest.raises(ad.errors.InputError, match="laplacian needs probes, a whole number of at least 1"):
        ad.curvature.laplacian(np.sin, probes=0, key=ad.random.key(0))
    with pytest.raises(ad.errors.InputError, match="laplacian needs chunk_size, a whole number of at least 1"):
        ad.curvature.laplacian(np.sin, chunk_size=0)
    with pytest.raises(ad.errors.InputError, match="laplacian needs a function"):
        ad.curvature.laplacian(3.0)
    with pytest.raises(ad.errors.InputError, match="laplacian needs an array or a number"):
        ad.curvature.laplacian(lambda p: 1.0)({})
    with pytest.raises(ad.errors.OutputError, match="laplacian needs a function that returns numbers"):
        ad.curvature.laplacian(lambda x: "no")(1.0)
