"""`metric`, `gauss_newton`, `fisher`, `partial`, `per_sample_grad`: against closed forms and whole derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad

R = np.random.default_rng(5)
INPUTS = R.normal(size=(7, 3))
LABELS = R.integers(0, 4, 7)
PARAMS = {"V": R.normal(size=(5, 4)), "W": R.normal(size=(3, 5)), "b": R.normal(size=5)}


def network(p, X):
    """Three inputs, five hidden units, four outputs."""
    return np.tanh(X @ p["W"] + p["b"]) @ p["V"]


def cross_entropy(z, y):
    """The mean over the examples."""
    norm = np.log(np.sum(np.exp(z - np.max(z, axis=-1, keepdims=True)), axis=-1)) + np.max(z, axis=-1)
    return np.mean(norm - z[np.arange(len(y)), y])


def softmax(z):
    """Row by row."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def jacobian_of(f, p):
    """As a matrix, in the order of ravel."""
    v, unravel = ad.tree.ravel(p)
    return np.reshape(ad.jacobian(lambda v: f(unravel(v)))(v), (-1, v.size)), v, unravel


def test_metric_is_the_jacobian_squared():
    """For vectors, containers, several arguments; matrix and product."""
    J, v, unravel = jacobian_of(lambda p: network(p, INPUTS), PARAMS)
    matrix = ad.curvature.pullback_metric(network)(PARAMS, INPUTS)
    np.testing.assert_allclose(matrix, J.T @ J, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        ad.jit(ad.curvature.pullback_metric(network))(PARAMS, INPUTS), matrix, rtol=1e-10, atol=1e-12
    )
    times = ad.curvature.pullback_metric(network, product=True)(PARAMS, INPUTS)
    w = R.normal(size=v.size)
    np.testing.assert_allclose(ad.tree.ravel(times(unravel(w)))[0], matrix @ w, rtol=1e-10)
    both = ad.curvature.pullback_metric(lambda x, y: (x * y, y**2), argnums=(0, 1))(2.0, 3.0)
    np.testing.assert_allclose(both, [[9.0, 6.0], [6.0, 40.0]])


def test_metric_of_spherical_coordinates():
    """diag(1, r^2, r^2 sin^2 theta), in a batch too."""

    def space(q):
        r, t, p = q
        return np.array([r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t)])

    q = np.array([2.0, 0.7, 0.3])
    want = np.diag([1.0, 4.0, 4.0 * np.sin(0.7) ** 2])
    np.testing.assert_allclose(ad.curvature.pullback_metric(space)(q), want, atol=1e-12)
    np.testing.assert_allclose(ad.vmap(ad.curvature.pullback_metric(space))(np.stack([q, q]))[1], want, atol=1e-12)


def test_gauss_newton_of_a_linear_model_is_the_hessian():
    """And in general J' H J, for matrix and product, eager and jitted."""
    linear = lambda W, X: X @ W  # noqa: E731
    W = R.normal(size=(3, 4))
    found = ad.curvature.gauss_newton(linear, cross_entropy)(W, INPUTS, LABELS)
    hessian = ad.hessian(lambda W: cross_entropy(INPUTS @ W, LABELS))(W).reshape(12, 12)
    np.testing.assert_allclose(found, hessian, atol=1e-12)
    J, v, unravel = jacobian_of(lambda p: network(p, INPUTS), PARAMS)
    z = network(PARAMS, INPUTS)
    H = ad.hessian(lambda z: cross_entropy(z, LABELS))(z).reshape(z.size, z.size)
    matrix = ad.curvature.gauss_newton(network, cross_entropy)(PARAMS, INPUTS, LABELS)
    np.testing.assert_allclose(matrix, J.T @ H @ J, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(matrix, matrix.T)
    jitted = ad.jit(ad.curvature.gauss_newton(network, cross_entropy))(PARAMS, INPUTS, LABELS)
    np.testing.assert_allclose(jitted, matrix, rtol=1e-9, atol=1e-12)
    w = R.normal(size=v.size)
    times = ad.curvature.gauss_newton(network, cross_entropy, product=True)(PARAMS, INPUTS, LABELS)
    np.testing.assert_allclose(ad.tree.ravel(times(unravel(w)))[0], matrix @ w, rtol=1e-9)

    @ad.jit
    def product(p, w):
        return ad.curvature.gauss_newton(network, cross_entropy, product=True)(p, INPUTS, LABELS)(w)

    np.testing.assert_allclose(ad.tree.ravel(product(PARAMS, unravel(w)))[0], matrix @ w, rtol=1e-9)


def test_gauss_newton_of_containers_and_of_functions_that_know_their_data():
    """Outputs in a dict, and parameters alone."""
    model = lambda p: {"a": np.sin(p), "b": p[0] * p[1]}  # noqa: E731
    loss = lambda z: np.sum(z["a"] ** 2 * z["b"])  # noqa: E731
    p = np.array([0.4, 0.9])
    J = np.array([[np.cos(0.4), 0.0], [0.0, np.cos(0.9)], [0.9, 0.4]])
    H = np.zeros((3, 3))
    H[[0, 1], [0, 1]] = 2.0 * 0.36
    H[:2, 2] = H[2, :2] = 2.0 * np.sin(p)
    np.testing.assert_allclose(ad.curvature.gauss_newton(model, loss)(p), J.T @ H @ J, rtol=1e-12)


def test_fisher_is_the_expected_outer_product():
    """For categories, summed over every label with its probability."""
    _, v, unravel = jacobian_of(lambda p: network(p, INPUTS), PARAMS)
    p = softmax(network(PARAMS, INPUTS))
    want = np.zeros((7, v.size, v.size))
    for b, c in itertools.product(range(7), range(4)):
        g = ad.grad(lambda v, b=b, c=c: cross_entropy(network(unravel(v), INPUTS[b : b + 1]), np.array([c])))(v)
        want[b] += p[b, c] * np.outer(g, g)
    for name in ("categorical", "softmax"):
        matrix = ad.curvature.fisher(network, name)(PARAMS, INPUTS)
        np.testing.assert_allclose(matrix, want.mean(axis=0), rtol=1e-8, atol=1e-12)
    each = ad.curvature.fisher(network, "softmax", per_sample=True)(PARAMS, INPUTS)
    np.testing.assert_allclose(each, want, rtol=1e-8, atol=1e-12)
    w = R.normal(size=v.size)
    found = ad.curvature.fisher(network, product=True)(PARAMS, INPUTS)(unravel(w))
    np.testing.assert_allclose(ad.tree.ravel(found)[0], want.mean(axis=0) @ w, rtol=1e-8)
    found = ad.curvature.fisher(network, product=True, per_sample=True)(PARAMS, INPUTS)(unravel(w))
    np.testing.assert_allclose(found["W"].reshape(7, -1), (want @ w)[:, 20:35], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        ad.jit(ad.curvature.fisher(network))(PARAMS, INPUTS),
        ad.curvature.gauss_newton(network, cross_entropy)(PARAMS, INPUTS, LABELS),
        rtol=1e-8, atol=1e-12,
    )  # fmt: skip


def test_fisher_of_gaussian_and_bernoulli_outputs():
    """X'X / sigma^2 / n, and X' diag(p (1 - p)) X / n."""
    w = R.normal(size=3)
    linear = lambda w, X: X @ w  # noqa: E731
    np.testing.assert_allclose(
        ad.curvature.fisher(linear, "gaussian", variance=0.25)(w, INPUTS), 4.0 * INPUTS.T @ INPUTS / 7, rtol=1e-12
    )
    p = 1.0 / (1.0 + np.exp(-INPUTS @ w))
    want = (INPUTS.T * (p * (1 - p))) @ INPUTS / 7
    np.testing.assert_allclose(ad.curvature.fisher(linear, "bernoulli")(w, INPUTS), want, rtol=1e-10)
    times = ad.curvature.fisher(linear, "bernoulli", product=True)(w, INPUTS)
    np.testing.assert_allclose(times(np.eye(3)[1]), want[1], rtol=1e-10)
    times = ad.curvature.fisher(linear, "gaussian", variance=0.25, product=True)(w, INPUTS)
    np.testing.assert_allclose(times(np.eye(3)[1]), 4.0 * (INPUTS.T @ INPUTS / 7)[1], rtol=1e-10)
    np.testing.assert_allclose(
        ad.curvature.fisher(lambda w: w[0] * w[1], "gaussian")(np.array([2.0, 3.0])), [[9, 6], [6, 4]]
    )


@pytest.mark.parametrize("targets", ["labels", "rows", "function"])
def test_empirical_fisher(targets):
    """The mean of the outer products of the gradients of the examples, however the likelihood is given."""
    _, v, unravel = jacobian_of(lambda p: network(p, INPUTS), PARAMS)
    gradients = np.stack([
        ad.grad(lambda v, b=b: cross_entropy(network(unravel(v), INPUTS[b : b + 1]), LABELS[b : b + 1]))(v)
        for b in range(7)
    ])  # fmt: skip
    want = gradients[:, :, None] * gradients[:, None, :]
    kind = (lambda z, y: cross_entropy(z[None], y[None])) if targets == "function" else "categorical"
    y = np.eye(4)[LABELS] if targets == "rows" else LABELS
    found = ad.curvature.fisher(network, kind, empirical=True)(PARAMS, INPUTS, y)
    np.testing.assert_allclose(found, want.mean(axis=0), rtol=1e-8, atol=1e-12)
    found = ad.curvature.fisher(network, kind, empirical=True, per_sample=True)(PARAMS, INPUTS, y)
    np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-12)
    w = R.normal(size=v.size)
    found = ad.curvature.fisher(network, kind, empirical=True, product=True)(PARAMS, INPUTS, y)(unravel(w))
    np.testing.assert_allclose(ad.tree.ravel(found)[0], want.mean(axis=0) @ w, rtol=1e-8)


def test_labels_outside_the_categories():
    """They are refused; inside a program, where they are not looked at, the matrix is nan."""
    w, X = np.ones((2, 3)), np.ones((4, 2))
    fisher = ad.curvature.fisher(lambda w, X: X @ w, "categorical", empirical=True)
    for labels in ([0, 1, 2, 3], [0, -1, 0, 0]):
        with pytest.raises(ad.errors.InputError, match="Labels of 3 categories are whole numbers from 0 to 2"):
            fisher(w, X, np.array(labels))
        assert np.all(np.isnan(ad.jit(fisher)(w, X, np.array(labels))))
    assert np.all(np.isfinite(ad.jit(fisher)(w, X, np.array([0, 1, 2, 2]))))


def test_metrics_of_nothing():
    """A function of no numbers, or with none as its result, has an empty metric, or one of zeros."""
    assert ad.curvature.pullback_metric(lambda x: x**2)(np.zeros(0)).shape == (0, 0)
    assert np.array_equal(ad.curvature.pullback_metric(lambda x: x[:0])(np.ones(2)), np.zeros((2, 2)))


def test_single_precision_stays():
    """Nothing is promoted."""
    p = ad.tree.map(lambda a: a.astype(np.float32), PARAMS)
    X = INPUTS.astype(np.float32)
    assert ad.curvature.pullback_metric(network)(p, X).dtype == np.float32
    assert (
        ad.curvature.gauss_newton(network, lambda z, y: np.mean((z - y) ** 2))(p, X, network(p, X)).dtype == np.float32
    )
    for kind in ("gaussian", "bernoulli", "categorical"):
        assert ad.curvature.fisher(network, kind)(p, X).dtype == np.float32
        assert ad.jit(ad.curvature.fisher(network, kind))(p, X).dtype == np.float32
    assert ad.curvature.fisher(network, "softmax", empirical=True)(p, X, LABELS).dtype == np.float32


def test_a_fisher_matrix_is_a_metric_of_the_optimiser():
    """What natural_gradient takes."""
    fisher = ad.curvature.fisher(lambda w: INPUTS @ w, "bernoulli")
    loss = lambda w: np.mean(np.logaddexp(0.0, INPUTS @ w) - (LABELS > 1) * (INPUTS @ w)) + np.sum(w**2)  # noqa: E731
    a = ad.optim.minimize(loss, np.zeros(3), ad.optim.natural_gradient(0.1, metric=fisher))
    b = ad.optim.minimize(
        loss, np.zeros(3), ad.optim.natural_gradient(0.1, model=lambda w: INPUTS @ w, likelihood="bernoulli")
    )
    np.testing.assert_allclose(a.x, b.x, rtol=1e-6)


def test_refusals_of_matrices():
    """What does not fit is said."""
    with pytest.raises(ad.errors.InputError, match="gauss_newton is called with parameters, inputs and targets, or"):
        ad.curvature.gauss_newton(network, cross_entropy)(PARAMS, INPUTS)
    with pytest.raises(ad.errors.OutputError, match="gauss_newton needs a loss that is one real number"):
        ad.curvature.gauss_newton(network, lambda z, y: z)(PARAMS, INPUTS, LABELS)
    with pytest.raises(ad.errors.InputError, match="fisher knows the likelihoods gaussian, bernoulli and categorical"):
        ad.curvature.fisher(network, "poisson")
    with pytest.raises(ad.errors.InputError, match="The expectation over targets is known for named likelihoods only"):
        ad.curvature.fisher(network, cross_entropy)
    with pytest.raises(ad.errors.InputError, match="The targets do not have the shape of the outputs"):
        ad.curvature.fisher(network, "gaussian", empirical=True)(PARAMS, INPUTS, LABELS)
    with pytest.raises(ad.errors.InputError, match="needs a model that returns one array of outputs"):
        ad.curvature.fisher(lambda p: (p, p), "gaussian")(np.ones(2))
    with pytest.raises(ad.errors.InputError, match="metric is for functions of real numbers"):
        ad.curvature.pullback_metric(lambda z: z)(np.ones(2, complex))
    with pytest.raises(ad.errors.TangentError, match="do not have the structure"):
        ad.curvature.pullback_metric(network, product=True)(PARAMS, INPUTS)(np.ones(3))
    with pytest.raises(ad.errors.InputError, match="fisher needs variance, a number above 0 and finite"):
        ad.curvature.fisher(network, "gaussian", variance=0.0)
    with pytest.raises(ad.errors.InputError, match="Only Gaussian outputs have a variance of their own"):
        ad.curvature.fisher(network, "categorical", variance=2.0)
    with pytest.raises(ad.errors.InputError, match="The empirical Fisher matrix needs targets"):
        ad.curvature.fisher(lambda p: p, "gaussian", empirical=True)(np.ones(3))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_partials_by_sympy(order):
    """Every mixed derivative of an expression up to the fourth order."""
    sympy = pytest.importorskip("sympy")
    symbols = sympy.symbols("a b c")
    a, b, c = symbols
    expression = sympy.exp(a * b) * sympy.sin(c) + a**3 * c / (1 + b**2)
    x = np.array([0.3, -0.4, 0.7])

    def f(x):
        return np.exp(x[0] * x[1]) * np.sin(x[2]) + x[0] ** 3 * x[2] / (1 + x[1] ** 2)

    for indices in itertools.combinations_with_replacement(range(3), order):
        want = sympy.diff(expression, *[symbols[i] for i in indices]).subs(dict(zip(symbols, x, strict=True)))
        np.testing.assert_allclose(ad.curvature.partial_derivative(f, *indices)(x), float(want), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ad.jit(ad.curvature.partial_derivative(f, 0, 1))(x), ad.hessian(f)(x)[0, 1])
    np.testing.assert_allclose(
        ad.vmap(ad.curvature.partial_derivative(f, 0, -1))(np.stack([x, 2 * x])),
        [ad.hessian(f)(y)[0, 2] for y in (x, 2 * x)],
    )


def test_partials_of_one_number_many_times():
    """All orders in one number are one sweep; at a kink nested tangents decide, in programs too."""

    def f(x):
        return np.sin(x[0] * x[1]) * np.exp(x[0])

    x = np.array([0.3, 0.7])
    tensor = ad.curvature.taylor_polynomial(f, x, 4).tensor(4)
    for indices in ((0, 0, 0, 0), (0, 1, 0, -1), (1, 0, -2, -2), (1, 1, 1, 1)):
        np.testing.assert_allclose(ad.curvature.partial_derivative(f, *indices)(x), tensor[indices], rtol=1e-10)
        np.testing.assert_allclose(ad.jit(ad.curvature.partial_derivative(f, *indices))(x), tensor[indices], rtol=1e-10)
    ramp = ad.jit(ad.curvature.partial_derivative(lambda x: np.maximum(x[0], 0.0) ** 2, 0, 0))
    assert [ramp(np.array([t])) for t in (1.0, 0.0, -1.0)] == [2.0, 0.0, 0.0]


def test_partials_of_containers_and_kinds():
    """Paths through containers, matrices, numbers, several arguments, vector results."""
    p = {"a": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": 2.0}
    f = lambda p: np.sum(p["a"] ** 3) * p["b"] ** 2  # noqa: E731
    assert ad.curvature.partial_derivative(f, ("a", 1, 0), ("b",))(p) == 3.0 * 9.0 * 4.0
    assert ad.curvature.partial_derivative(f, "b", "b")(p) == 200.0
    assert ad.curvature.partial_derivative(lambda x: x**3, (), ())(2.0) == 12.0
    assert type(ad.curvature.partial_derivative(lambda x: x**3, ())(2.0)) is float
    assert ad.curvature.partial_derivative(lambda x, y: x**2 * y**3, 1, 0, 1, argnums=(0, 1))(1.0, 2.0) == 24.0
    np.testing.assert_allclose(ad.curvature.partial_derivative(lambda x: x**2, 1)(np.arange(3.0)), [0.0, 2.0, 0.0])
    assert ad.curvature.partial_derivative(lambda x: np.sum(x**3), 1, 1)(np.ones(3, np.float32)).dtype == np.float32
    with pytest.raises(ad.errors.InputError, match="The index 3 is not that of a number of the argument"):
        ad.curvature.partial_derivative(np.sum, 3)(np.ones(3))
    with pytest.raises(ad.errors.InputError, match="is not that of a number of the argument"):
        ad.curvature.partial_derivative(f, ("a", 0))(p)
    with pytest.raises(ad.errors.InputError, match="partial_derivative needs at least one index"):
        ad.curvature.partial_derivative(f)
    with pytest.raises(ad.errors.InputError, match="partial_derivative is for functions of real numbers"):
        ad.curvature.partial_derivative(np.sum, 0)(np.ones(2, complex))


def test_per_sample_gradients():
    """As a loop over the examples gives them; other axes, chunks, aux, jit."""

    def loss(p, x, y):
        return cross_entropy(network(p, x[None]), y[None])

    want = [ad.grad(loss)(PARAMS, x, y) for x, y in zip(INPUTS, LABELS, strict=True)]
    for g in (ad.per_sample_grad(loss), ad.jit(ad.per_sample_grad(loss)), ad.per_sample_grad(loss, chunk_size=2)):
        found = g(PARAMS, INPUTS, LABELS)
        for name in PARAMS:
            np.testing.assert_allclose(found[name], [w[name] for w in want], rtol=1e-10, atol=1e-12)
    found = ad.per_sample_grad(loss, in_axes=(None, 1, 0))(PARAMS, INPUTS.T, LABELS)
    np.testing.assert_allclose(found["b"], [w["b"] for w in want], rtol=1e-10, atol=1e-12)
    with_aux = ad.per_sample_grad(lambda w, x: (w * x, x), has_aux=True)(2.0, np.arange(3.0))
    np.testing.assert_array_equal(with_aux[0], [0.0, 1.0, 2.0])
    with pytest.raises(ad.errors.InputError, match="takes what is the same for all examples first"):
        ad.per_sample_grad(loss)(PARAMS)
    with pytest.raises(ad.errors.OutputError):
        ad.per_sample_grad(lambda w, x: w * x)(np.ones(2), np.ones((3, 2)))
