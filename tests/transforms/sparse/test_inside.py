"""Sparse derivatives inside `jit`, `vmap` and other derivatives, where the pattern is given."""

import numpy as np
import pytest
import scipy.sparse as sp

import adjoint as ad

X = np.arange(1.0, 6.0) ** 1.5
BATCH = np.stack([X, 2.0 * X])


def wedge(x):
    return np.diff(x) ** 2 * x[0]


def energy(x):
    return np.sum(np.diff(x) ** 3) + x[0] * x[-1]


def arrow(x):
    return np.concatenate([[np.sum(x**2)], x[1:] * x[0]])


JACOBIANS = [(f, ad.sparse.jacobian(f, pattern=ad.sparse.sparsity(f)(X)), ad.jacobian(f)) for f in (wedge, arrow)]
HESSIAN = (energy, ad.sparse.hessian(energy, pattern=ad.sparse.hessian_sparsity(energy)(X)), ad.hessian(energy))
ALL = pytest.mark.parametrize(("function", "sparse", "dense"), [*JACOBIANS, HESSIAN], ids=["wedge", "arrow", "hessian"])


@ALL
def test_programs(function, sparse, dense):
    """A jitted one gives its entries, for a sparse array; inside there are products and the dense matrix."""
    found = ad.jit(sparse)(X).tocsr()
    assert isinstance(found, sp.csr_array)
    np.testing.assert_allclose(found.toarray(), dense(X), rtol=1e-12)
    np.testing.assert_allclose(ad.jit(lambda x: sparse(x).toarray())(X), dense(X), rtol=1e-12)
    np.testing.assert_allclose(ad.jit(lambda x, v: sparse(x) @ v)(X, X), dense(X) @ X, rtol=1e-12)
    np.testing.assert_allclose(ad.jit(lambda x, v: sparse(x) @ v)(X, np.eye(5)), dense(X), rtol=1e-12)


@ALL
def test_batches(function, sparse, dense):
    """One pattern for all examples, and the entries of each."""
    wanted = [dense(x) for x in BATCH]
    np.testing.assert_allclose(ad.vmap(lambda x: sparse(x).toarray())(BATCH), wanted, rtol=1e-12)
    np.testing.assert_allclose(ad.jit(ad.vmap(lambda x: sparse(x).toarray()))(BATCH), wanted, rtol=1e-12)
    found = ad.vmap(sparse)(BATCH)
    assert found.data.shape == (2, sparse(X).nnz)
    assert repr(found) == f"<sparse values {len(wanted[0])} x 5, {sparse(X).nnz} entries: float64[2,{sparse(X).nnz}]>"
    second = ad.tree.map(lambda data: data[1], found).tocsr()
    np.testing.assert_allclose(second.toarray(), wanted[1], rtol=1e-12)


@ALL
def test_derivatives(function, sparse, dense):
    """Third derivatives: forward, back, by Taylor series."""
    weights = np.random.default_rng(0).normal(size=dense(X).shape)
    found = ad.grad(lambda x: np.sum(sparse(x).toarray() * weights))(X)
    np.testing.assert_allclose(found, ad.grad(lambda x: np.sum(dense(x) * weights))(X), rtol=1e-12)
    moved = ad.jvp(lambda x: sparse(x).toarray(), (X,), (X**2,))[1]
    np.testing.assert_allclose(moved, ad.jvp(dense, (X,), (X**2,))[1], rtol=1e-12)
    series = ad.taylor(lambda x: sparse(x).toarray(), X, 1, direction=X).coefficients
    np.testing.assert_allclose(series[1], ad.jvp(dense, (X,), (X,))[1], rtol=1e-12)


def test_a_pattern_that_lacks_entries_gives_nan():
    """Inside a program there is nobody to tell; for each example of a batch by itself."""
    lacking = ad.sparse.jacobian(wedge, pattern=np.eye(4, 5) + np.eye(4, 5, 1))
    assert np.all(np.isnan(ad.jit(lacking)(X).data))
    found = ad.vmap(lacking)(np.stack([X, 0.0 * X])).data
    assert np.all(np.isnan(found[0]))
    assert np.array_equal(found[1], np.zeros(8))
    with pytest.raises(ad.errors.InputError, match="has no entries, but the function has slopes"):
        ad.jit(ad.sparse.jacobian(np.sin, pattern=np.zeros((5, 5))))(X)


def test_containers_numbers_and_nothing():
    """Rows and columns as outside; float32 stays."""
    pattern = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]])
    found = ad.jit(ad.sparse.jacobian(lambda p: {"a": p["w"] * p["s"], "b": p["s"]}, pattern=pattern))
    wanted = [[1.0, 2.0, 0.0], [1.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    assert found({"s": 2.0, "w": np.ones(2)}).tocsr().toarray().tolist() == wanted
    both = ad.jit(ad.sparse.jacobian(lambda a, b: a * b, (0, 1), pattern=np.hstack([np.eye(2), np.eye(2)])))
    assert both(np.ones(2), 3.0 * np.ones(2)).tocsr().toarray().tolist() == [[3.0, 0.0, 1.0, 0.0], [0.0, 3.0, 0.0, 1.0]]
    assert ad.jit(ad.sparse.jacobian(np.sin, pattern=np.eye(2)))(np.ones(2, np.float32)).data.dtype == np.float32
    nothing = ad.jit(ad.sparse.jacobian(np.sin, pattern=np.zeros((0, 0))))(np.zeros(0))
    assert nothing.shape == (0, 0)


def test_what_the_function_captures_is_watched():
    """An array that the function reads may change between calls of a program; traced values may be captured."""
    scale = np.arange(1.0, 6.0)
    sparse = ad.sparse.jacobian(lambda x: x**2 * scale, pattern=np.eye(5))
    jitted = ad.jit(lambda x: sparse(x).toarray())
    np.testing.assert_allclose(jitted(X), np.diag(2.0 * X * scale))
    scale[:] = scale[::-1].copy()
    np.testing.assert_allclose(jitted(X), np.diag(2.0 * X * scale))
    slope = ad.grad(lambda t: np.sum(ad.sparse.jacobian(lambda x: x**2 * t, pattern=np.eye(5))(X).data))
    np.testing.assert_allclose(slope(3.0), np.sum(2.0 * X))


def test_refusals():
    """Without a pattern; products that do not fit; entries of a batch as one sparse array."""
    with pytest.raises(
        ad.errors.UnsupportedError, match="sparse_jacobian finds its pattern from plain numbers"
    ) as caught:
        ad.jit(ad.sparse.jacobian(wedge))(X)
    assert "pattern = ad.sparse.sparsity(f)(x),  and give it:  ad.sparse.jacobian(f, pattern=pattern)." in str(
        caught.value
    )
    with pytest.raises(ad.errors.UnsupportedError, match=r"ad\.sparse\.hessian_sparsity"):
        ad.vmap(ad.sparse.hessian(energy))(BATCH)
    with pytest.raises(ad.errors.UnsupportedError, match="sparsity finds a pattern from plain numbers"):
        ad.jit(lambda x: ad.sparse.sparsity(wedge)(x).nnz)(X)
    _, sparse, _ = HESSIAN
    with pytest.raises(ad.errors.InputError, match="A sparse matrix of 5 columns"):
        ad.jit(lambda x: sparse(x) @ x[1:])(X)
    with pytest.raises(ad.errors.InputError, match="one row of plain numbers"):
        ad.vmap(sparse)(BATCH).tocsr()
    with pytest.raises(ad.errors.InputError, match="does not have the shape of the derivatives"):
        ad.jit(ad.sparse.jacobian(wedge, pattern=np.eye(5)))(X)
