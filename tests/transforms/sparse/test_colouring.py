"""Colourings: every entry can be read off the products, with few of them."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from adjoint.transforms.sparse.colouring import columns_of, of_jacobian
from adjoint.transforms.sparse.compression import assembled, hessian_plan, jacobian_plan
from adjoint.transforms.sparse.sets import matrix as sets
from adjoint.transforms.sparse.stars import star_colours


def tridiagonal(n):
    return sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr() != 0


def arrow(n):
    dense = np.eye(n, dtype=bool)
    dense[0] = dense[:, 0] = True
    return sp.csr_array(dense)


def grid(m, n):
    one, two = tridiagonal(m), tridiagonal(n)
    return (sp.kron(one, sp.eye_array(n)) + sp.kron(sp.eye_array(m), two)).tocsr() != 0


def boxes(m, n):
    return sp.kron(tridiagonal(m), tridiagonal(n)).tocsr() != 0


def blocks(count, size):
    return sp.kron(sp.eye_array(count), np.ones((size, size))).tocsr() != 0


def scattered(n, density, seed):
    return sp.random_array((n, n), density=density, rng=np.random.default_rng(seed)).tocsr() != 0


def symmetric(pattern):
    return (pattern + pattern.T).tocsr()


PATTERNS = {
    "tridiagonal": tridiagonal(20),
    "arrow": arrow(20),
    "turned arrow": arrow(20)[::-1][:, ::-1].tocsr(),
    "grid": grid(7, 9),
    "boxes": boxes(6, 7),
    "blocks": blocks(4, 3),
    "dense": sp.csr_array(np.ones((6, 6), bool)),
    "nothing": sp.csr_array((5, 5), dtype=bool),
    "one": sp.csr_array(np.ones((1, 1), bool)),
    **{f"scattered {k}": scattered(30, 0.08, k) for k in range(6)},
    **{f"with dense lines {k}": (scattered(30, 0.03, k) + arrow(30)).tocsr() for k in range(4)},
}


def values_in(pattern, rng):
    found = pattern.astype(float)
    found.data = rng.normal(size=found.nnz)
    return found


def products(plan, matrix):
    columns, rows = plan.seeds()
    return np.concatenate([(matrix @ columns.T).T.reshape(-1), (rows @ matrix).reshape(-1)])


@pytest.mark.parametrize("name", PATTERNS)
def test_a_jacobian_is_recovered(name):
    """Every entry of any matrix with the pattern is found from the products, exactly."""
    pattern = PATTERNS[name].astype(bool)
    matrix = values_in(pattern, np.random.default_rng(0))
    plan = jacobian_plan(pattern)
    assert np.array_equal(assembled(plan.pattern, plan.places, products(plan, matrix)).toarray(), matrix.toarray())


@pytest.mark.parametrize("name", PATTERNS)
def test_a_hessian_is_recovered(name):
    """The same for symmetric matrices, from products on one side."""
    pattern = symmetric(PATTERNS[name]).astype(bool)
    pattern.sort_indices()
    matrix = values_in(pattern, np.random.default_rng(0))
    matrix = (matrix + matrix.T).tocsr()
    plan = hessian_plan(pattern)
    assert plan.colours.counts[1] == 0
    np.testing.assert_allclose(
        assembled(plan.pattern, plan.places, products(plan, matrix)).toarray(), matrix.toarray(), rtol=1e-15
    )


@pytest.mark.parametrize("name", PATTERNS)
def test_stars(name):
    """Neighbours have different colours, and no path of four vertices has two colours only."""
    pattern = symmetric(PATTERNS[name]).astype(bool)
    colours = star_colours(pattern)
    around = [set(pattern.indices[a:b].tolist()) for a, b in itertools.pairwise(pattern.indptr)]
    for v, near in enumerate(around):
        for w in near - {v}:
            assert colours[v] != colours[w]
            others = [u for u in near - {v, w} if colours[u] == colours[w]]
            beyond = [u for u in around[w] - {v, w} if colours[u] == colours[v]]
            assert not (others and beyond)


def test_how_many_products():
    """As few as there can be, for the patterns that are most common."""
    assert of_jacobian(tridiagonal(50)).counts == (3, 0)
    assert of_jacobian(arrow(50)).counts == (2, 1)
    assert of_jacobian(blocks(9, 4)).counts == (4, 0)
    assert of_jacobian(sp.csr_array(np.ones((2, 40), bool))).counts == (0, 2)
    assert of_jacobian(sp.csr_array(np.ones((40, 2), bool))).counts == (2, 0)
    assert star_colours(tridiagonal(50)).max() + 1 == 3
    assert star_colours(arrow(50)).max() + 1 == 2
    assert columns_of(grid(13, 10)).max() + 1 == 7
    assert columns_of(grid(13, 10), (13, 10)).max() + 1 == 5  # the stencil, by its shape
    assert columns_of(grid(13, 10), (130,)).max() + 1 == 5  # found out for a vector
    assert columns_of(boxes(13, 10), (13, 10)).max() + 1 == 9


def test_columns_without_entries_have_no_colour():
    """No product is spent on them."""
    pattern = sp.csr_array(np.array([[1, 0, 1, 0], [0, 0, 1, 0]], bool))
    assert of_jacobian(pattern).columns.tolist() == [0, -1, 1, -1]
    assert star_colours(sp.csr_array((4, 4), dtype=bool)).tolist() == [-1, -1, -1, -1]


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_random_patterns_with_dense_rows_and_columns(first):
    """Every entry is found, whichever rows and columns are split off, and where some of them are empty."""
    for seed in range(first, first + 50):
        random = np.random.default_rng(seed)
        m, n = random.integers(0, 25, 2)
        pattern = random.random((m, n)) < random.choice([0.0, 0.03, 0.1, 0.3, 1.0])
        for _ in range(random.integers(0, 4) if m and n else 0):
            if random.random() < 0.5:
                pattern[random.integers(m)] |= random.random(n) < 0.9
            else:
                pattern[:, random.integers(n)] |= random.random(m) < 0.9
        matrix = sp.csr_array(np.where(pattern, random.integers(1, 1000, (m, n)), 0).astype(float))
        plan = jacobian_plan(sets(*np.nonzero(pattern), (m, n)), (n,), (m,))
        assert np.array_equal(assembled(plan.pattern, plan.places, products(plan, matrix)).toarray(), matrix.toarray())
