"""Matrix products: how their axes are arranged, what needs no product, and what threads share."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compile import build as building
from adjoint.compile.program.expand import expanded
from adjoint.compile.steps.product_axes import Axis, product_of
from adjoint.ir.program import Step, Type
from adjoint.ops.contraction import contract, matmul

RNG = np.random.default_rng(0)
DOUBLE = np.dtype(float)


def arranged(first, second, result):
    """The product of two arrays that lie row by row."""
    types = [Type(DOUBLE, shape, False) for shape in (first, second, result)]
    strides = [tuple([int(np.prod(shape[k + 1 :])) for k in range(len(shape))]) for shape in (first, second)]
    return product_of(types, Step(matmul, (0, 1), {}, (2,)), strides)


def test_columns_are_neighbours():
    """One matrix times many: rows of the result are written as they lie, although the batch is longer."""
    made = arranged((16, 20), (971, 20, 15), (971, 16, 15))
    assert made.columns == Axis(15, (0, 1, 1))
    assert made.rows == Axis(16, (20, 0, 15))
    assert made.outer == (Axis(971, (0, 300, 240)),)


def test_many_times_one_matrix_is_one_product():
    """The rows of all are the rows of one matrix."""
    made = arranged((971, 16, 20), (20, 15), (971, 16, 15))
    assert made.rows == Axis(971 * 16, (20, 0, 15))
    assert made.outer == ()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("labels", "first", "second"),
    [
        ("ik,bkj->bij", (5, 7), (40, 7, 9)),
        ("ik,bkj->bij", (5, 7), (40, 7, 2)),
        ("bki,kj->bij", (40, 7, 5), (7, 9)),
        ("bki,bkj->bij", (40, 7, 5), (40, 7, 9)),
        ("ik,bjk->bij", (5, 7), (40, 9, 7)),
        ("ik,bjk->jbi", (5, 7), (40, 9, 7)),
        ("aibk,kj->abij", (3, 5, 4, 7), (7, 9)),
        ("ick,bkcj->ibj", (5, 3, 7), (40, 7, 3, 9)),
        ("ik,bkj->bji", (50, 70), (40, 70, 90)),
    ],
)
def test_arrangements_give_numpys_numbers(labels, first, second, dtype):
    """Whichever axes are rows and columns."""
    x, y = (RNG.normal(size=shape).astype(dtype) for shape in (first, second))
    (a, b), c = (part.split(",") for part in labels.split("->"))
    f = ad.jit(lambda x, y: contract(x, y, first=tuple(a), second=tuple(b), result=tuple(c[0])))
    f(x, y)
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(f(x, y), np.einsum(labels, x, y), rtol=tolerance, atol=tolerance)


def test_outer_products_are_elementwise():
    """A sum of one term is a product of two numbers, which need not be stored; it begins with 0.0, as NumPy's does."""
    x, y = RNG.normal(size=(30, 12, 1)), RNG.normal(size=(1, 14))
    x[::3], y[0, 5] = -0.0, np.inf
    f = ad.jit(lambda x, y: x @ y)
    with np.errstate(invalid="ignore"):
        f(x, y)
        found, wanted, program = f(x, y), x @ y, f.lower(x, y).optimized
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(wanted[wanted == 0]))
    assert matmul not in [s.primitive for s in expanded(program).steps]


@pytest.fixture
def default_threads():
    """So many as there were."""
    yield
    ad.config.set_threads(None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(128, 300, 256), (333, 211, 517), (100, 300, 500), (2000, 37, 53)])
@pytest.mark.usefixtures("default_threads")
def test_bits_of_large_products_do_not_depend_on_threads(shape, dtype):
    """Threads share pieces whose size is fixed; operands may lie the other way round, and sums go on."""
    m, k, n = shape
    x, y = RNG.normal(size=(m, k)).astype(dtype), RNG.normal(size=(k, n)).astype(dtype)
    given = (x, y, x.T.copy(), y.T.copy())
    found = []
    for threads in (1, 2, 5):
        ad.config.set_threads(threads)
        f = ad.jit(
            lambda x, y, xt, yt: (x @ y, xt.T @ y, x @ yt.T, np.einsum("ikc,kjc->ij", x[..., None], y[..., None]))
        )
        f(*given)
        found.append(f(*given))
    tolerance = 1e-11 if dtype is np.float64 else 1e-3
    for results in found:
        for one, same in zip(results, found[0], strict=True):
            np.testing.assert_array_equal(one, same)
            np.testing.assert_allclose(one, x @ y, rtol=tolerance, atol=tolerance)


@pytest.mark.usefixtures("default_threads")
def test_many_products_are_shared():
    """Pieces of a batch, with what each of them packs, give the same bits for any number of threads."""
    x, y, z = RNG.normal(size=(16, 20)), RNG.normal(size=(501, 20, 18)), RNG.normal(size=(501, 18, 20))
    found = []
    for threads in (1, 3):
        ad.config.set_threads(threads)
        f = ad.jit(lambda x, y, z: (x @ y, x @ z.swapaxes(-1, -2), y.swapaxes(-1, -2) @ x.T))
        f(x, y, z)
        found.append(f(x, y, z))
    wanted = (x @ y, x @ z.swapaxes(-1, -2), y.swapaxes(-1, -2) @ x.T)
    for one, same, right in zip(*found, wanted, strict=True):
        np.testing.assert_array_equal(one, same)
        np.testing.assert_allclose(one, right, rtol=1e-12, atol=1e-12)


def test_llvm_is_asked_for_less_by_the_longest_function(monkeypatch):
    """Much code in short functions is still made with care; only one long function is not."""
    x = RNG.normal(size=(16, 20))
    program = ad.jit(lambda x: (np.tanh(x) @ x.T, np.sum(x, axis=0), np.sin(x) @ np.cos(x).T)).lower(x).optimized

    def level(straight, endless):
        monkeypatch.setattr(building, "STRAIGHT", straight)
        monkeypatch.setattr(building, "ENDLESS", endless)
        return building.build(program, [x])._level

    longest = max([f.count("\n") for f in building.build(program, [x]).module.functions])
    assert level(longest, 10**9) == 1
    assert level(longest - 1, 10**9) == 0
    assert level(longest, 1) == 0
