"""Random small programs: their derivatives agree with differences, the complex step, and in every nesting."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjoint as ad

SIZE = 3
MATRIX = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]])
MASK = np.array([True, False, True])


def assigned(a, b):
    y = a.copy()
    y[1] = b[0] * 2.0
    y[MASK] += b[MASK]
    return y


def filled(a, b):
    y = np.zeros(SIZE, dtype=a.dtype)
    for i in range(SIZE):
        y[i] = a[i] * b[i - 1]
    y[::2] *= b[::2]
    return y


def swapped(a, b):
    y = np.array([a[0], b[1], a[2]])
    first = y[0] * 1.0
    y[0] = y[2]
    y[2] = first
    return y


UNARY = {
    "sin": np.sin,
    "exp": lambda a: np.exp(-(a**2)),
    "tanh": np.tanh,
    "log": lambda a: np.log(2.0 + np.sin(a)),
    "sqrt": lambda a: np.sqrt(1.0 + a * a),
    "cube": lambda a: 0.1 * a**3,
    "reverse": lambda a: a[::-1],
    "roll": lambda a: np.roll(a, 1),
    "cumsum": lambda a: np.cumsum(a) / SIZE,
    "matvec": lambda a: MATRIX @ a,
    "mean": lambda a: a - np.mean(a),
    "gather": lambda a: a[np.array([0, 0, 2])],
    "column": lambda a: np.sum(a.reshape(SIZE, 1) * MATRIX, axis=0),
    "prod": lambda a: a * np.prod(0.5 * a),
}
BINARY = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (1.5 + np.sin(b)),
    "where": lambda a, b: np.where(MASK, a, b),
    "dot": lambda a, b: a * np.dot(a, b),
    "outer": lambda a, b: np.outer(a, b).sum(axis=1) * 0.3,
    "stack": lambda a, b: np.stack([a, b]).mean(axis=0),
    "join": lambda a, b: np.concatenate([a[:2], b[2:]]),
    "assigned": assigned,
    "filled": filled,
    "swapped": swapped,
}

step = st.one_of(
    st.tuples(st.sampled_from(sorted(UNARY)), st.integers(0, 9)),
    st.tuples(st.sampled_from(sorted(BINARY)), st.integers(0, 9), st.integers(0, 9)),
)
program = st.lists(step, min_size=1, max_size=6)
point = st.lists(st.floats(-1.5, 1.5).map(lambda v: round(v, 3)), min_size=SIZE, max_size=SIZE).map(np.array)


def run(steps, x):
    """Each step takes earlier results; all results matter."""
    pool = [x]
    for name, *places in steps:
        operands = [pool[p % len(pool)] for p in places]
        pool.append((UNARY.get(name) or BINARY[name])(*operands))
    return np.sum(pool[-1] * np.arange(1.0, SIZE + 1)) + np.sum(pool[len(pool) // 2])


quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def close(got, want, tolerance):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * (1 + np.max(np.abs(want))))


@quick
@given(program, point)
def test_gradient_is_the_difference_and_the_complex_step(steps, x):
    """Two independent estimates: one that is always there, and one that is exact."""
    f = lambda x: run(steps, x)  # noqa: E731
    g = ad.grad(f)(x)
    close(g, ad.numerical.grad(f, method="complex")(x), 1e-12)
    close(g, ad.numerical.grad(f)(x), 1e-6)


@quick
@given(program, point)
def test_every_nesting_of_two_derivatives(steps, x):
    """forward and reverse, over forward and reverse: one Hessian, and it is symmetric."""
    f = lambda x: run(steps, x)  # noqa: E731
    want = ad.numerical.jacobian(ad.grad(f))(x)
    hessians = [outer(inner(f))(x) for outer in (ad.jacfwd, ad.jacrev) for inner in (ad.jacfwd, ad.jacrev)]
    for found in hessians:
        close(found, hessians[0], 1e-10)
        close(found, found.T, 1e-10)
    close(hessians[0], want, 1e-5)


@quick
@given(program, point)
def test_vmap_commutes_with_every_derivative(steps, x):
    """Mapping a derivative is stacking it; differentiating a mapped function is differentiating the sum."""
    f = lambda x: run(steps, x)  # noqa: E731
    xs = np.stack([x, x + 0.1, x * 0.5])
    t = np.array([1.0, -0.5, 2.0])
    along = lambda x: ad.jvp(f, (x,), (t,))[1]  # noqa: E731
    for transform in (ad.grad, ad.jacfwd, ad.hessian, lambda f: along):
        close(ad.vmap(transform(f))(xs), np.stack([transform(f)(a) for a in xs]), 1e-10)
    close(ad.grad(lambda xs: np.sum(ad.vmap(f)(xs)))(xs), np.stack([ad.grad(f)(a) for a in xs]), 1e-10)
    moved = ad.jvp(ad.vmap(f), (xs,), (np.stack([t, t, t]),))[1]
    close(moved, np.stack([along(a) for a in xs]), 1e-10)
    close(ad.vmap(ad.vmap(f))(xs[None])[0], ad.vmap(f)(xs), 1e-12)


@quick
@given(program, point)
def test_checkpoint_linearize_and_vjp_agree(steps, x):
    """All ways to the same derivative."""
    f = lambda x: run(steps, x)  # noqa: E731
    want = ad.grad(f)(x)
    close(ad.grad(ad.checkpoint(f))(x), want, 1e-12)
    close(ad.vjp(f, x)[1](1.0)[0], want, 1e-12)
    t = np.array([0.3, -1.0, 0.7])
    close(ad.linearize(f, x)[1](t), np.dot(want, t), 1e-11)
    close(ad.hvp(f, (x,), (t,)), ad.hessian(f)(x) @ t, 1e-10)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program, point)
def test_many_programs_to_second_order(steps, x):
    """The same laws, on many more programs."""
    f = lambda x: run(steps, x)  # noqa: E731
    close(ad.grad(f)(x), ad.numerical.grad(f, method="complex")(x), 1e-12)
    close(ad.jacrev(ad.grad(f))(x), ad.jacfwd(ad.grad(f))(x), 1e-10)
