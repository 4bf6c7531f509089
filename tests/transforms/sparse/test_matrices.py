"""`sparse_jacobian` and `sparse_hessian`: values, what is kept and when it is not, and what is refused."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import adjoint as ad
from adjoint.transforms.sparse import matrices

X = np.random.default_rng(1).normal(size=9)


def close(found, dense, **tolerance):
    assert isinstance(found, sp.csr_array)
    assert found.has_canonical_format
    np.testing.assert_allclose(found.toarray(), dense, **{"rtol": 1e-12, "atol": 1e-12, **tolerance})


def laplacian(u):
    p = np.pad(u, 1)
    return 4.0 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2] + np.exp(u)


def test_finite_elements():
    """A nonlinear Laplacian on a grid takes five products, its energy's Hessian no more."""
    u = np.random.default_rng(0).normal(size=(6, 7))
    close(ad.sparse.jacobian(laplacian)(u), ad.jacobian(laplacian)(u).reshape(42, 42))
    assert ad.sparse.sparsity(laplacian)(u).products == 5

    def energy(u):
        return np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 4) + np.sum(np.exp(u))

    close(ad.sparse.hessian(energy)(u), ad.hessian(energy)(u).reshape(42, 42), rtol=1e-10)
    assert ad.sparse.hessian_sparsity(energy)(u).products == 5


def test_banded_arrow_and_blocks():
    """Each with as many products as its pattern allows."""

    def arrow(x):
        return np.concatenate([[np.sum(x**2)], x[1:] * x[0]])

    def banded(x):
        return x[2:] * x[1:-1] * x[:-2]

    def blocks(x):
        return np.einsum("bi,bj->bij", x.reshape(3, 3), x.reshape(3, 3))

    for function, products in ((arrow, 3), (banded, 3), (blocks, 3)):
        close(ad.sparse.jacobian(function)(X), ad.jacobian(function)(X).reshape(-1, 9))
        assert ad.sparse.sparsity(function)(X).products == products


def projected(cameras, points, seen):
    """A small bundle adjustment: residuals of points as cameras see them."""
    camera, point = cameras[seen[:, 0]], points[seen[:, 1]]
    angle, shift, focus = camera[:, :1], camera[:, 1:3], camera[:, 3:]
    turned = np.concatenate(
        [
            np.cos(angle) * point[:, :1] - np.sin(angle) * point[:, 1:2],
            np.sin(angle) * point[:, :1] + np.cos(angle) * point[:, 1:2],
        ],
        axis=1,
    )
    return (focus * (turned + shift) / (5.0 + point[:, 2:])).reshape(-1)


def test_bundle_adjustment():
    """Residuals of cameras and points: two arguments, whose numbers are the columns one after the other."""
    rng = np.random.default_rng(0)
    cameras, points = rng.normal(size=(4, 4)), rng.normal(size=(20, 3))
    seen = np.stack([np.repeat(np.arange(4), 10), rng.integers(0, 20, 40)], axis=1)
    found = ad.sparse.jacobian(projected, (0, 1))(cameras, points, seen)
    by_cameras, by_points = ad.jacobian(projected, (0, 1))(cameras, points, seen)
    close(found, np.hstack([by_cameras.reshape(80, 16), by_points.reshape(80, 60)]))
    assert found.nnz == 80 * 6
    assert ad.sparse.sparsity(projected, (0, 1))(cameras, points, seen).products <= 8

    def cost(cameras, points):
        return np.sum(projected(cameras, points, seen) ** 2)

    dense = ad.hessian(cost, (0, 1))(cameras, points)
    sizes = (16, 60)
    rows = [[np.reshape(dense[i][j], (m, n)) for j, n in enumerate(sizes)] for i, m in enumerate(sizes)]
    close(ad.sparse.hessian(cost, (0, 1))(cameras, points), np.block(rows), rtol=1e-9, atol=1e-9)


def test_containers_are_lined_up():
    """Arguments and results in containers: rows and columns in the order of `ad.tree.ravel`."""

    def function(p):
        return {"b": p["w"] * p["c"], "a": np.sum(p["w"])}

    p = {"w": np.arange(3.0), "c": 2.0}
    found = ad.sparse.jacobian(function)(p)
    assert ad.tree.ravel(p)[0].tolist() == [2.0, 0.0, 1.0, 2.0]
    assert found.toarray().tolist() == [[0, 1, 1, 1], [0, 2, 0, 0], [1, 0, 2, 0], [2, 0, 0, 2]]
    hessian = ad.sparse.hessian(lambda p: np.sum(function(p)["b"] ** 2))(p)
    assert hessian.toarray().tolist() == [[10, 0, 8, 16], [0, 8, 0, 0], [8, 0, 8, 0], [16, 0, 0, 8]]


def test_numbers():
    """A Python float is one column, a number as a result one row."""
    assert ad.sparse.jacobian(lambda t: t**2)(3.0).toarray().tolist() == [[6.0]]
    assert ad.sparse.hessian(lambda t: t**3)(2.0).toarray().tolist() == [[12.0]]
    assert ad.sparse.jacobian(lambda t: np.array([t, 2.0 * t]))(3.0).toarray().tolist() == [[1.0], [2.0]]


def test_float32_stays():
    """The data have the precision of the function."""
    x = X.astype(np.float32)
    found = ad.sparse.jacobian(np.diff)(x)
    assert found.dtype == np.float32
    assert found.indices.dtype == np.int32
    assert ad.sparse.hessian(lambda x: np.sum(x**3))(x).dtype == np.float32
    assert ad.sparse.jacobian(np.floor)(x).dtype == np.float32


def test_nothing_depends():
    """A Jacobian without entries, and empty arrays."""
    assert ad.sparse.jacobian(np.sign)(X).nnz == 0
    assert ad.sparse.jacobian(lambda x: x[:0])(X).shape == (0, 9)
    assert ad.sparse.hessian(np.sum)(X).shape == (9, 9)
    assert ad.sparse.jacobian(lambda x: x * 2)(np.zeros(0)).shape == (0, 0)
    assert ad.sparse.jacobian(lambda p: np.ones(2))({}).shape == (2, 0)
    assert ad.sparse.hessian(lambda x: 3)(X).nnz == 0


def test_results_that_are_not_real_numbers():
    """Integers and truth values have rows without entries."""
    found = ad.sparse.jacobian(lambda x: (np.argsort(x), x[1:] * x[:-1], x > 1))(np.array([3.0, 1.0, 2.0]))
    assert found.shape == (8, 3)
    assert found.toarray()[3:5].tolist() == [[1, 3, 0], [0, 2, 1]]
    assert found.nnz == 4


def test_a_large_dense_matrix_comes_in_parts(monkeypatch):
    """The products are found a few at a time if all would take too much memory."""
    from adjoint.transforms.sparse import evaluating

    monkeypatch.setattr(evaluating, "LARGEST", 64)
    close(ad.sparse.jacobian(np.cumsum)(X), np.tril(np.ones((9, 9))))
    close(ad.sparse.hessian(np.prod)(X), ad.hessian(np.prod)(X))
    arrow = lambda x: np.concatenate([[np.sum(x**2)], x[1:] * x[0]])  # noqa: E731
    close(ad.sparse.jacobian(arrow)(X), ad.jacobian(arrow)(X))


# What is kept


def counting(monkeypatch):
    made = []
    planned = matrices.Sparse._planned
    monkeypatch.setattr(matrices.Sparse, "_planned", lambda self, call: made.append(call) or planned(self, call))
    return made


def test_a_pattern_is_found_once(monkeypatch):
    """For one shape; another shape has another."""
    made = counting(monkeypatch)
    jacobian = ad.sparse.jacobian(lambda x: np.diff(x) ** 2)
    first, second = jacobian(X), jacobian(2 * X)
    assert len(made) == 1
    close(second, 2 * first.toarray())
    jacobian(X[1:])
    assert len(made) == 2


def test_a_branch_has_its_own_pattern(monkeypatch):
    """A decision that turns out otherwise means another pattern; both are kept."""
    made = counting(monkeypatch)
    jacobian = ad.sparse.jacobian(lambda x: x**2 if x[0] > 0 else np.cumsum(x))
    x = np.abs(X)
    for point in (x, -x, x, -2 * x):
        close(jacobian(point), np.diag(2 * point) if point[0] > 0 else np.tril(np.ones((9, 9))))
    assert len(made) == 2


def test_places_that_are_values(monkeypatch):
    """Where the function reads at computed places, other places mean another pattern."""
    made = counting(monkeypatch)
    jacobian = ad.sparse.jacobian(lambda x: np.sort(x)[:2] ** 2)
    x = np.array([3.0, 1.0, 2.0])
    close(jacobian(x), [[0, 2, 0], [0, 0, 4]])
    close(jacobian(x + 0.5), [[0, 3, 0], [0, 0, 5]])
    assert len(made) == 1
    close(jacobian(-x), [[-6, 0, 0], [0, 0, -4]])
    assert len(made) == 2


def test_captured_places_may_change():
    """An array of places that is captured is looked at in each call, as jit does."""
    places = np.array([0, 1])
    jacobian = ad.sparse.jacobian(lambda x: x[places])
    close(jacobian(X[:3]), [[1, 0, 0], [0, 1, 0]])
    places[:] = [2, 1]
    close(jacobian(X[:3]), [[0, 0, 1], [0, 1, 0]])


def test_captured_numbers_may_change():
    """What else the function uses is watched."""
    settings = {"power": 2, "shift": 1}
    jacobian = ad.sparse.jacobian(lambda x: np.roll(x, settings["shift"]) ** settings["power"])
    x = np.array([1.0, 2.0, 3.0])
    close(jacobian(x), [[0, 0, 6], [2, 0, 0], [0, 4, 0]])
    settings["shift"] = 2
    close(jacobian(x), [[0, 4, 0], [0, 0, 6], [2, 0, 0]])


def test_results_are_their_own():
    """Changing one result changes no other."""
    jacobian = ad.sparse.jacobian(lambda x: x * np.array([1.0, 0.0, 2.0]))
    first = jacobian(X[:3])
    first.eliminate_zeros()
    first.indices[:] = 0
    close(jacobian(X[:3]), np.diag([1.0, 0.0, 2.0]))


def test_caches_are_cleared(monkeypatch):
    """`ad.config.clear_caches` forgets patterns too."""
    made = counting(monkeypatch)
    jacobian = ad.sparse.jacobian(np.diff)
    jacobian(X)
    ad.config.clear_caches()
    jacobian(X)
    assert len(made) == 2


def test_without_jit():
    """The same without compiled code."""
    with ad.config.disable_jit():
        close(ad.sparse.jacobian(lambda x: np.diff(x) ** 2)(X), ad.jacobian(lambda x: np.diff(x) ** 2)(X))


def test_of_a_jitted_function():
    """A function that is jitted already, and one with arguments by name and static ones."""
    close(ad.sparse.jacobian(ad.jit(lambda x: np.diff(x) ** 2))(X), ad.jacobian(lambda x: np.diff(x) ** 2)(X))
    close(ad.sparse.jacobian(lambda x, n, *, scale: scale * x**n)(X, 2, scale=3.0), np.diag(6 * X))


def test_pickling():
    """By reference, as other derivatives."""
    assert pickle.loads(pickle.dumps(ad.sparse.jacobian(np.diff)))(X).nnz == 16


def test_dense_columns_beside_rows_that_need_no_colour():
    """A dense column is found by its own product, also where other rows have products and some have none."""
    pattern = np.zeros((15, 17))
    pattern[:, 4] = pattern[1] = pattern[[0, 10, 13, 14], [2, 3, 9, 16]] = 1.0
    pattern[1, [10, 12]] = 0.0
    matrix = sp.csr_array(pattern * np.arange(1.0, 256.0).reshape(15, 17))
    x = np.random.default_rng(0).normal(size=17)
    close(ad.sparse.jacobian(lambda x: matrix @ x**2)(x), matrix.toarray() * (2.0 * x))


# Given patterns


def test_a_given_pattern():
    """A dense or sparse matrix, or what `sparsity` returned; of a Hessian one triangle is enough."""
    function = lambda x: np.where(x > 0, x**2, np.roll(x, 1))  # noqa: E731
    x = np.abs(X)
    close(ad.sparse.jacobian(function, pattern=np.eye(9))(x), np.diag(2 * x))
    close(ad.sparse.jacobian(function, pattern=sp.eye_array(9))(x), np.diag(2 * x))
    close(ad.sparse.jacobian(function, pattern=ad.sparse.sparsity(function)(x))(x), np.diag(2 * x))
    chain = lambda x: np.sum(x[1:] * x[:-1])  # noqa: E731
    found = ad.sparse.hessian(chain, pattern=np.eye(9, k=1))(X)
    close(found, np.eye(9, k=1) + np.eye(9, k=-1))


def test_a_pattern_that_lacks_entries():
    """One random product shows it, also when another branch is taken later."""
    with pytest.raises(ad.errors.InputError) as caught:
        ad.sparse.jacobian(np.diff, pattern=np.eye(8, 9))(X)
    text = str(caught.value).splitlines()
    assert text[0] == "The pattern given to sparse_jacobian lacks entries: a product shows it."
    assert text[-1].endswith("Leave  pattern  out, or compare it with  ad.sparse.sparsity(f)(x).")
    with pytest.raises(ad.errors.InputError, match="lacks entries"):
        ad.sparse.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), pattern=np.eye(9))(X)
    jacobian = ad.sparse.jacobian(lambda x: x**2 if x[0] > 0 else np.roll(x, 1), pattern=np.eye(9))
    jacobian(np.abs(X))
    with pytest.raises(ad.errors.InputError, match="lacks entries"):
        jacobian(-np.abs(X))


def test_a_pattern_is_tried_in_every_call():
    """An entry that is 0 in the first call, and is missed in a later one."""
    lacking = np.eye(8, 9) + np.eye(8, 9, 1)
    lacking[3, 3] = 0
    jacobian = ad.sparse.jacobian(lambda x: np.diff(x) ** 2, pattern=lacking)
    close(jacobian(np.ones(9)), np.zeros((8, 9)))
    with pytest.raises(ad.errors.InputError, match="lacks entries"):
        jacobian(X)
    hessian = ad.sparse.hessian(lambda x: np.sum(x**2) + x[0] ** 2 * x[1], pattern=np.eye(3))
    close(hessian(np.zeros(3)), 2.0 * np.eye(3))
    with pytest.raises(ad.errors.InputError, match="lacks entries"):
        hessian(np.ones(3))
    with pytest.raises(ad.errors.InputError, match="lacks entries"):
        ad.sparse.jacobian(lambda x: x**2, pattern=np.zeros((3, 3)))(np.ones(3))


def test_a_pattern_is_tried_beside_rows_and_columns():
    """The vector for the trial goes with products from both sides, and from the left alone."""

    def arrow(x):
        return np.concatenate([[np.sum(x**2)], x[1:] * x[0]])

    def wide(x):
        return np.sum(x.reshape(2, -1) ** 2, axis=1)

    for function, x in ((arrow, X), (wide, np.arange(20.0)), (lambda x: x[:0], X)):
        pattern = ad.sparse.sparsity(function)(x)
        close(ad.sparse.jacobian(function, pattern=pattern)(x), ad.jacobian(function)(x))


def test_patterns_of_the_wrong_shape():
    """Rows and columns are named."""
    with pytest.raises(ad.errors.InputError, match="does not have the shape of the derivatives") as caught:
        ad.sparse.jacobian(np.diff, pattern=np.eye(9))(X)
    assert "got 9 x 9 for 8 x 9" in str(caught.value)
    with pytest.raises(ad.errors.InputError, match="has to be a matrix"):
        ad.sparse.jacobian(np.diff, pattern=np.ones(9))(X)
    with pytest.raises(ad.errors.InputError, match="got 3 x 3 for 9 x 9"):
        ad.sparse.hessian(np.sum, pattern=np.eye(3))(X)


# What is refused


@pytest.mark.parametrize("transform", [ad.sparse.hessian, ad.sparse.hessian_sparsity])
def test_a_hessian_needs_one_number(transform):
    """Arrays and containers are refused."""
    for function in (np.sin, lambda x: (x[0], x[1]), lambda x: {}):
        with pytest.raises(ad.errors.OutputError, match="needs a function that returns one real number"):
            transform(function)(X)


def test_inside_other_transformations():
    """A pattern cannot be found there, and it is said what to do instead."""
    jacobian = ad.sparse.jacobian(np.diff)
    for outer in (ad.jit(jacobian), ad.vmap(jacobian), ad.jacobian(jacobian)):
        with pytest.raises(ad.errors.UnsupportedError) as caught:
            outer(np.ones((2, 3)))
        assert "sparse_jacobian finds its pattern from plain numbers" in str(caught.value)
        assert "Find it outside,  pattern = ad.sparse.sparsity(f)(x)" in str(caught.value)

    def closing(s):
        return ad.sparse.jacobian(lambda x: x * s)(X).toarray().sum()

    with pytest.raises(ad.errors.UnsupportedError, match="finds its pattern from plain numbers"):
        ad.grad(closing)(2.0)


def test_other_arguments():
    """Complex numbers, integers and what is no function are refused."""
    with pytest.raises(ad.errors.InputError, match="sparse_jacobian takes real arguments"):
        ad.sparse.jacobian(np.diff)(X + 0j)
    with pytest.raises(ad.errors.InputError, match="needs real or complex numbers"):
        ad.sparse.jacobian(np.diff)(np.arange(3))
    with pytest.raises(ad.errors.OutputError, match="returns real numbers"):
        ad.sparse.jacobian(lambda x: x * 1j)(X)
    with pytest.raises(ad.errors.OutputError, match="sparse_jacobian needs a function that returns numbers"):
        ad.sparse.jacobian(lambda x: (x, "text"))(X)
    with pytest.raises(ad.errors.InputError, match="needs a function"):
        ad.sparse.hessian(3.0)
    with pytest.raises(ad.errors.InputError, match="no positional argument number 1"):
        ad.sparse.jacobian(np.diff, 1)(X)


# Patterns to look at


def test_how_a_pattern_is_shown():
    """Small ones print as a picture with a digit for each product, large ones in one line."""
    found = ad.sparse.sparsity(lambda x: np.concatenate([[np.sum(x)], x[1:] * x[0]]))(np.ones(4))
    assert repr(found) == "<sparsity 4 x 4, 10 entries, 3 products>"
    assert str(found) == "2 2 2 2\n0 1 . .\n0 . 1 .\n0 . . 1"
    assert str(ad.sparse.sparsity(np.diff)(np.ones(100))) == "<sparsity 99 x 100, 198 entries, 2 products>"


def test_drawing():
    """Colours for small patterns, dots for large ones."""
    pytest.importorskip("matplotlib")
    found = ad.sparse.hessian_sparsity(lambda x: np.sum(np.diff(x) ** 2))(np.ones(6))
    assert found.plot().get_title() == "6 x 6, 16 entries, 3 products"
    large = ad.sparse.sparsity(np.diff)(np.ones(3000)).plot()
    assert large.get_title() == "2999 x 3000, 5998 entries, 2 products"
    assert found.plot(large) is large


# Large


def test_a_large_tridiagonal_hessian():
    """A hundred thousand inputs: three products, as many entries as there are."""
    n = 100_000
    x = np.random.default_rng(0).normal(size=n)
    found = ad.sparse.hessian(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2))(x)
    assert found.nnz == 3 * n - 2
    diagonal = np.zeros(n)
    diagonal[1:] += 2.0
    diagonal[:-1] += 12.0 * x[:-1] ** 2 - 4.0 * x[1:]
    np.testing.assert_allclose(found.diagonal(), diagonal, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.diagonal(1), -4.0 * x[:-1], rtol=1e-12)
    np.testing.assert_allclose(found.diagonal(-1), -4.0 * x[:-1], rtol=1e-12)


def test_a_large_arrow():
    """Two products for a Hessian and three for a Jacobian, whatever its size."""
    n = 100_000
    found = ad.sparse.hessian_sparsity(lambda x: np.sum(x[0] * x[1:] ** 2))(np.ones(n))
    assert (found.nnz, found.products) == (3 * (n - 1), 2)
    found = ad.sparse.sparsity(lambda x: np.concatenate([[np.sum(x**2)], x[1:] * x[0]]))(np.ones(n))
    assert (found.nnz, found.products) == (3 * n - 2, 3)
