"""Products with sparse matrices: the numbers of SciPy, the derivatives of the dense product, in every mode."""

import numpy as np
import pytest
import scipy.sparse as sparse

import adjoint as ad

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0]])
X, Y = np.array([1.0, -2.0, 3.0]), np.array([0.5, 2.0])
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")

PRODUCTS = {
    "S @ x": (lambda s, x: s @ x, X),
    "S.dot(x)": (lambda s, x: s.dot(x) if sparse.issparse(s) else s @ x, X),
    "S.T @ y": (lambda s, x: s.T @ x, Y),
    "y @ S": (lambda s, x: x @ s, Y),
    "S @ X": (lambda s, x: s @ x, np.stack([X, 2 * X], 1)),
    "S @ column": (lambda s, x: s @ x, X[:, None]),
    "Y @ S": (lambda s, x: x @ s, np.stack([Y, 2 * Y])),
    "S.T @ (S @ x)": (lambda s, x: s.T @ (s @ x), X),
}


def loss(product, s):
    return lambda x: np.sum(np.sin(product(s, x)) ** 2)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, kind):
    """Value, gradient, JVP, batch and recordings are those of the dense product."""
    product, x = PRODUCTS[name]
    s = sparse.csr_array(DENSE).asformat(kind)
    f, dense = loss(product, s), loss(product, DENSE)
    np.testing.assert_allclose(ad.value_and_grad(f)(x)[0], dense(x))
    np.testing.assert_allclose(ad.grad(f)(x), ad.grad(dense)(x))
    np.testing.assert_allclose(ad.jvp(f, (x,), (x,))[1], ad.jvp(dense, (x,), (x,))[1])
    np.testing.assert_allclose(ad.hvp(f, (x,), (x,)), ad.hvp(dense, (x,), (x,)))
    stack = np.stack([x, x + 1.0, -x])
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(stack), ad.vmap(ad.grad(dense))(stack))
    jitted = ad.jit(ad.grad(f))
    for point in (x, x + 1.0, 2 * x):
        np.testing.assert_allclose(jitted(point), ad.grad(dense)(point))
    assert jitted.stats()["recordings"] == 1


def test_matrices_multiply_with_a_star():
    """The older classes of SciPy do, and complex numbers are taken."""
    s = sparse.csr_matrix(DENSE)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum((s * x) ** 2))(X), 2 * DENSE.T @ DENSE @ X)
    z = sparse.csr_array(DENSE * (1 + 2j))
    np.testing.assert_allclose(
        ad.grad(lambda x: np.sum(np.abs(z @ x) ** 2))(X), ad.grad(lambda x: np.sum(np.abs(z.toarray() @ x) ** 2))(X)
    )


def test_a_matrix_that_changes():
    """After the step, before the sweep back; and between the calls of a jitted function."""
    s = sparse.csr_array(DENSE)

    def f(x):
        y = s @ x
        s.data[:] = 100.0
        return np.sum(y)

    np.testing.assert_allclose(ad.grad(f)(X), DENSE.sum(0))
    t = sparse.csr_array(DENSE)
    jitted = ad.jit(lambda x: t @ x)
    np.testing.assert_allclose(jitted(X), DENSE @ X)
    t.data[:] = t.data * 2
    np.testing.assert_allclose(jitted(X), 2 * DENSE @ X)


def test_what_is_no_product_with_numbers():
    """SciPy's own error for shapes."""
    s = sparse.csr_array(DENSE)
    with pytest.raises(ValueError, match="mismatch"):
        ad.grad(lambda x: np.sum(s @ x))(Y)
