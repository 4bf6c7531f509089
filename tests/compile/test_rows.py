"""Gathers that move whole rows: the same numbers, errors and layouts as NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(7, 5, 3))
I = np.array([6, 0, -1, 3])  # noqa: E741


def both(f, *args):
    """Jitted twice, the second time in machine code, against plain."""
    jitted = ad.jit(f)
    want = f(*args)
    for _ in range(2):
        found = jitted(*args)
        np.testing.assert_array_equal(found, want)
        assert found.dtype == want.dtype
    return jitted


CASES = {
    "rows": lambda x, i: x[i],
    "rows of rows": lambda x, i: x[i, 2],
    "the second axis": lambda x, i: x[:, i % 5],
    "two arrays": lambda x, i: x[i, i % 5],
    "parts of rows": lambda x, i: x[i, 1:],
    "every other": lambda x, i: x[i, ::2],
    "backwards": lambda x, i: x[i, :, ::-1],
    "transposed": lambda x, i: x.T[i % 3],
    "a table of rows": lambda x, i: x[i.reshape(2, 2)],
    "computed": lambda x, i: (2.0 * x)[i] + 1.0,
    "rows of numbers": lambda x, i: x[:, 0, 0][i],
    "a place of its own for each": lambda x, i: np.take_along_axis(
        x[:, :, 0], np.tile(i[:, None], (1, 5)) - np.arange(5), 0
    ),
    "along the last axis": lambda x, i: np.take_along_axis(x[0], (i[:, None] + np.arange(5)[None])[:3].T % 3, 1),
    "products": lambda x, i: x[i, 0] @ x[i, 1].T,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, np.bool_])
def test_rows(name, dtype):
    """Whatever lies in memory as it is read, and what does not."""
    x = X > 0 if dtype is np.bool_ else (10 * X).astype(dtype)
    if dtype is np.bool_ and name in ("computed", "products"):
        x = x.astype(np.uint8)
    jitted = both(CASES[name], x, I)
    if name in ("rows", "the second axis", "two arrays", "a table of rows", "transposed"):
        assert not jitted.stats()["called by NumPy"]


def test_layouts():
    """Arguments that lie otherwise, and none at all."""
    both(CASES["rows"], np.asfortranarray(X), I)
    both(CASES["rows"], X[::2], I % 4)
    both(CASES["rows"], X[:, :0], I)
    both(CASES["rows"], X, I[:0])


def test_bounds():
    """An index that is out of bounds raises in machine code too."""
    f = ad.jit(CASES["rows"])
    f(X, I)
    with pytest.raises(IndexError):
        f(X, I + 1)
    with pytest.raises(IndexError):
        f(X[:0], I)


def test_in_loops():
    """Rows that are read and written round by round."""

    def f(x, order):
        return ad.scan(lambda total, i: (total + np.sum(x[i]), x[i]), 0.0, order)

    order = RANDOM.integers(0, 7, (6, 4))
    jitted = ad.jit(f)
    for _ in range(2):
        total, rows = jitted(X, order)
    np.testing.assert_allclose(total, np.sum(X[order]))
    np.testing.assert_array_equal(rows, X[order])
    assert not jitted.stats()["called by NumPy"]
