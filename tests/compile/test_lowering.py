"""Lowering: whatever is fused, viewed, padded, shared or packed, machine code gives what NumPy gives.

Arrays hold small whole numbers, so that results have to be the same to the last bit, and lie in walled memory.
"""

import itertools

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from tests.compile.lowering import check


def whole(*shape, dtype=float, seed=0):
    return np.random.default_rng((seed, *shape)).integers(-4, 5, shape).astype(dtype)


def laid_out(x, how):
    """The same numbers, otherwise in memory; for the last two, fewer numbers."""
    every = tuple([slice(None, None, 2)] * x.ndim)
    if how == "columns":
        return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)
    if how == "strided":
        wide = np.zeros(tuple([2 * n for n in x.shape]), x.dtype)
        wide[every] = x
        return wide[every]
    if how == "reversed":
        return x[tuple([slice(None, None, -1)] * x.ndim)]
    if how == "one column":
        return np.broadcast_to(x[..., :1], x.shape)
    if how == "one row":
        return np.broadcast_to(x[..., :1, :], x.shape)
    return x


LAYOUTS = ["rows", "columns", "strided", "reversed", "one column", "one row"]


# Reductions


def test_reductions_shared_among_threads():
    """Rows belong to one chunk alone; what runs along the first axis is put together."""
    x = whole(700, 900)

    def several(x):
        y = x * 2 + x * x
        return y.sum(axis=1), y.sum(axis=1, keepdims=True), y.sum(axis=0), y.max(axis=1), (x * 3).sum(), x.min(axis=0)

    check(several, (x,), (x + 1,))


def test_rows_of_a_padded_array_shared_among_threads():
    """Each region of a pad is shared on its own."""
    check(lambda x: ad.grad(lambda y: (y[1:] * y[:-1]).sum())(x).sum(axis=1), (whole(700, 900),))


def test_sums_of_negative_zeros():
    """NumPy's sums begin with zero, so that is their sign; in registers and in loops."""
    x = -np.zeros((20, 30))
    check(lambda x: (x.sum(), x.sum(axis=0), x[:2, :3].sum(), x[:1, :1].sum(), x[:3, 0].sum(axis=0)), (x,))
    check(lambda x, y: (x @ y, x[:2] @ y, x[:2, :2] @ y[:2, :2], x[0] @ y[:, 0]), (x, np.ones((30, 4))))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool])
@pytest.mark.parametrize("n", [1, 7, 9, 10, 17, 33, 4095, 4096, 4097, 8193])
def test_reductions_around_the_sizes_that_matter(n, dtype):
    """Registers, vectors and what is left of them, blocks."""
    x = whole(2, n, dtype=dtype)
    check(
        lambda x: (x.sum(axis=1), x.sum(axis=0), x.max(axis=1), x.min(), x[:, n // 2 :].sum(axis=1), (x != 0).all()),
        (x,),
        at_end=bool(n % 2),
    )


def test_nan_and_infinities():
    """They go through every reduction as in NumPy."""
    x = whole(50, 41)
    x[3, 4], x[5], x[5, 3] = np.nan, np.inf, -np.inf
    check(lambda x: (x.max(), x.min(axis=0), x.max(axis=1), x.sum(axis=0), (x > 0).any(axis=1), x.prod(axis=1)), (x,))


# Gathers


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_no_places_at_all(shape):
    """A gather of nothing reads nothing, and its gradient is zero."""
    x, places = whole(5, 40), np.zeros(shape, np.int64)
    check(lambda x, i: (x[i], x[:, i]), (x, places))
    check(lambda x, i: ad.grad(lambda y: (y[i] * 2).sum())(x), (x, places))


def test_gradient_of_a_gather_from_registers():
    """Three elements live in registers, but where they are added is known only at run time."""
    places = np.array([2, 0, 2])
    check(lambda x, i: ad.grad(lambda y: (y[i] * y[i]).sum())(x), (whole(3), places), (whole(3), places[::-1].copy()))


@pytest.mark.parametrize(("first", "second"), [((4,), (4,)), ((4, 1), (5,)), ((0,), (0,)), ((2, 3), (3,))])
def test_several_arrays_of_places(first, second):
    """Arrays of places are broadcast against each other; gradients add up where places meet."""
    rng = np.random.default_rng(0)
    x, i, j = whole(6, 7, 8), rng.integers(-6, 6, first), rng.integers(-7, 7, second)
    check(lambda x, i, j: x[i, j], (x, i, j))
    check(lambda x, i, j: ad.grad(lambda y: (y[i, j] ** 2).sum())(x), (x, i, j))


@pytest.mark.parametrize("places", [[0, 1, 40], [-7, 0, 2], [2**62, 0, 0], [-(2**63), 0, 1]])
def test_places_outside(places):
    """They are noticed before anything is read, and the kernel gives up."""
    x, inside = whole(6, 40), np.array([0, -1, 2])
    made = check(lambda x, i: x[i] * 2, (x, inside))
    assert made.run([x, np.array(places)]) == 2


# Pads and assignments


def test_pads_read_by_whole_operations():
    """The loop of a join or an assignment is not cut where a pad begins, so the pad is stored first."""

    def joined(x):
        g = ad.grad(lambda y: (y[3:20] * y[5:22]).sum())(x)
        y, z = x.copy(), x * 2
        y[:] = g
        z[::2] = g[::2]
        return np.concatenate([g, x]), np.stack([g, x]), np.cumsum(g), y, z

    check(joined, (whole(40),))


def test_assignment_into_what_is_stored_later():
    """A lazy array that others want in memory is not there yet when the assignment comes: it must not be shared."""

    def spread(x):
        y = np.where(x > 0, x, 0 * x)
        y[:7:3] += 2.0
        return y[:7:3]

    check(spread, (whole(10),), (whole(10, seed=1),))

    def sloped(x):
        y = 2 * x * x
        return ad.grad(lambda v: (np.concatenate([v[4:11], v]) ** 2).sum())(y)

    check(sloped, (whole(17),))


def test_chains_of_assignments():
    """Each sees the ones before it, also through overlapping views."""

    def chain(x):
        y = x.copy()
        y[1:] = y[:-1]
        y[::-1][2:5] += y[3:6]
        row = y[::3]
        row[...] = 7
        y[4] = y[5] * 2
        return y, y[::-1], x

    check(chain, (whole(12),), (whole(12, seed=1),))


# Products


@pytest.mark.parametrize(("first", "second"), list(itertools.product(LAYOUTS, LAYOUTS)))
def test_products_of_every_layout(first, second):
    """In registers, by vectors, by BLAS: no layout is mistaken for another."""
    for m, k, n in [(3, 3, 3), (5, 9, 17), (60, 50, 70)]:
        x, y = laid_out(whole(m, k), first), laid_out(whole(k, n), second)
        check(lambda x, y: (x @ y, y.T @ x.T), (x, y))


def test_products_of_windows():
    """Rows that overlap in memory are nothing for BLAS."""
    x = np.lib.stride_tricks.sliding_window_view(whole(200), 70)[:60]
    check(lambda x, y: (x @ y, y.T @ x.T), (x, whole(70, 80)))


@pytest.mark.parametrize(
    ("first", "second"),
    [((2, 1, 1, 2), (1, 2, 2, 1)), ((2, 1, 4, 5), (3, 5, 3)), ((5,), (2, 5, 3)), ((2, 60, 50), (50, 60))],
)
def test_stacks_of_products(first, second):
    """Stacks are broadcast against each other, in registers too."""
    check(lambda x, y: x @ y, (whole(*first), whole(*second)))


@pytest.mark.parametrize("sizes", [(5, 6, 7, 8), (3, 60, 70, 80)])
@pytest.mark.parametrize("result", ["bik", "ikb", "kib", "ibk", "ik", "kb"])
def test_contractions_into_any_order(result, sizes):
    """Vectors and BLAS write rows; a result that lies otherwise is put together elsewhere."""
    b, i, j, k = sizes
    check(lambda x, y: np.einsum(f"bij,bjk->{result}", x, y), (whole(b, i, j), whole(b, j, k)))


# Long, deep, many


@pytest.mark.parametrize("length", [240, 600])
def test_long_chains(length):
    """Longer than a loop may be, and read in several arrangements."""

    def chain(x):
        y = x
        for k in range(length):
            y = np.minimum(y + 1.0, 4.0) if k % 2 else np.abs(y - 3.0)
        return y[::2] * 1.0, y[1:].sum(), y

    check(chain, (whole(50),))


def test_deep_views():
    """Hundreds of views of views."""

    def deep(x):
        for k in range(400):
            x = x.T if k % 2 else x[::-1]
        return x, x * 1.0

    check(deep, (whole(8, 9),))


def test_outputs_of_every_sort():
    """Inputs, the same one twice, views and numbers."""
    check(lambda x: (x, x, x * 2, x * 2, x[::-1], x.reshape(5, 6), x.T, 2.0), (whole(30),))


def test_outputs_that_are_the_beginning_of_something():
    """Only all of it, turned, is given column by column."""
    check(lambda x: (x * 2)[:7], (whole(30),))
    check(lambda x: (x * 2)[..., :1], (whole(30),))
    check(lambda x: (x * 2).T[:3, :3], (whole(4, 5),))
    check(lambda x: (x * 2).T[:, :3], (whole(4, 5),))


@pytest.mark.parametrize("how", LAYOUTS[:4])
def test_captured_arrays_of_every_layout(how):
    """What is captured is read as it lies."""
    a = laid_out(whole(7, 9, 12), how)
    check(
        lambda x: (a * x, a.reshape(63, 12) @ x, a.T.reshape(-1)[5:50] * 2, a[:, ::-1].sum(axis=(0, 2))), (whole(12),)
    )


# Loops


def test_loops_with_arrays():
    """Carries that are arrays, loops in loops, branches, and nothing at all."""
    a, x, rows = whole(12, 12), whole(12), whole(5, 12, seed=1)
    times = np.arange(4.0)
    check(lambda x: ad.scan(lambda c, y: (np.clip(a @ c + y, -8, 8), c[::-1]), x, rows), (x,))
    check(lambda x: ad.scan(lambda c, y: (c + y, (c[:0], c[:3], c.sum())), x, times, reverse=True), (x,))

    def inner(c, y):
        return ad.scan(lambda d, z: (np.clip(d * z - c, -9, 9), d.max()), c + y, times)

    check(lambda x: ad.scan(inner, x, times), (x,))

    def rolled(c):
        return np.roll(c[0], 1) + 1, c[1] + 1

    check(
        lambda x: ad.while_loop(lambda c: (c[0].sum() < 50) & (c[1] < 20), rolled, (x, 0)), (x,), (x + 5,), (x + 100,)
    )
    check(lambda x: ad.cond(x.sum() > 0, lambda v: v * 2, lambda v: v[::-1], x), (x,), (-x,))
    check(lambda e, x: ad.scan(lambda c, y: ((c[0] * 2, c[1] + y), c[0]), (e, x), times), (np.zeros((0, 3)), x))


def test_smooth_functions_and_their_derivatives():
    """Within rounding, at other points than the one of the recording."""
    x = np.random.default_rng(0).normal(size=17)
    for f in (
        lambda x: np.tanh(np.sin(x) * x[::-1]).sum(),
        lambda x: np.log(np.sum(np.exp(x - x.max()))),
        lambda x: np.sqrt(1 + np.cumsum(x * x)).sum(),
        lambda x: np.sum(np.exp(-((x[1:] - x[:-1]) ** 2))) * np.var(x),
    ):
        for transform in (lambda f: f, ad.grad, ad.hessian):
            check(transform(f), (x,), (0.5 * x[::-1].copy(),), exact=False, native=False)
