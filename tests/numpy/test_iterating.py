"""An array that is written to while somebody goes through it: each element is read when its turn comes, as by NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

WRITES = {
    "an element": lambda v, q: v.__setitem__(1, q),
    "a slice": lambda v, q: v.__setitem__(slice(1, None), [q, 2.0 * q]),
    "in place": lambda v, q: v.__iadd__(q),
    "out": lambda v, q: np.add(v, q, out=v),
    "fill": lambda v, q: v.fill(q),
    "sort": lambda v, q: (v.__setitem__(2, -q), v.sort()),
    "flat": lambda v, q: v.flat.__setitem__(1, q),
    "a view": lambda v, q: v[::-1].__setitem__(1, q),
    "np.put": lambda v, q: np.put(v, [1], q),
    "np.add.at": lambda v, q: np.add.at(v, [1, 1], q),
    "np.copyto": lambda v, q: np.copyto(v, q),
}
"""What may be done to an array of three elements meanwhile."""

READS = {
    "iter": iter,
    "enumerate": lambda v: ((k + 1) * x for k, x in enumerate(v)),
    "zip": lambda v: (2.0 * a + b for a, b in zip(v, v[::-1], strict=True)),
    "map": lambda v: map(np.square, v),
    "reversed": reversed,
    "a generator": lambda v: (2.0 * x for x in v),
    "chain": lambda v: itertools.chain(v, v),
    "islice": lambda v: itertools.islice(v, 1, None),
    "a slice": lambda v: iter(v[1:]),
    "flat": lambda v: v.flat,
    "np.ndenumerate": lambda v: ((k + 1) * x for (k,), x in np.ndenumerate(v)),
    "np.broadcast": lambda v: (a * b for a, b in np.broadcast(v, np.arange(3.0))),
    "rows": lambda v: (row[0] for row in v.reshape(3, 1)),
    "rows that are kept": lambda v: list(v.reshape(3, 1)),
    "parts": lambda v: np.split(v, 3),
    "columns": lambda v: iter(v.reshape(1, 3).T),
}
"""What goes through it."""

VIEWS = {
    "astype": lambda v: v.astype(float, copy=False),
    "np.astype": lambda v: np.astype(v, float, copy=False),
    "windows": lambda v: np.lib.stride_tricks.sliding_window_view(v, 2),
    "broadcast_to": lambda v: np.broadcast_to(v, (2, 3)),
    "ravel": lambda v: v.reshape(3, 1).ravel(),
    "asarray": lambda v: np.asarray(v),
    "a turned one": lambda v: v[None].T,
    "einsum": lambda v: np.einsum("i->i", v),
}
"""What shares its elements, and is kept while the array is written to."""


def total(items):
    """The elements with different weights."""
    return sum([(k + 2.0) * np.sum(x) for k, x in enumerate(items)])


def between(read, write, make):
    """A function that begins to go through an array, writes to it, and goes on."""

    def fun(q):
        v = make(q)
        items = iter(read(v))
        first = next(items)
        write(v, q)
        return np.sum(first) + total(items)

    return fun


MADE = {"plain": lambda q: np.array([3.0, 1.0, 2.0]), "traced": lambda q: np.array([3.0, 1.0, 2.0]) * q}


def check(fun):
    """Jitted, batched and differentiated, a function is what it is."""
    jitted = ad.jit(fun)
    for q in (0.7, 1.3):
        np.testing.assert_allclose(jitted(q), fun(q), rtol=1e-14)
    np.testing.assert_allclose(ad.vmap(fun)(np.array([0.7, 1.3])), [fun(0.7), fun(1.3)], rtol=1e-14)
    check_grads(fun, (0.7,), order=1)


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("read", READS)
def test_what_is_written_is_seen(read, make):
    """However an array is gone through."""
    check(between(READS[read], WRITES["an element"], MADE[make]))


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_is_kept(view, make):
    """It sees what is written later, too."""

    def fun(q):
        v = MADE[make](q)
        kept = VIEWS[view](v)
        v[1] = q
        return total(kept)

    check(fun)


def test_without_a_copy_if_it_can_be():
    """`astype(copy=False)` is the array itself, unless it would lie differently in memory."""

    def fun(x):
        rows = x * np.ones((2, 3))
        assert rows.astype(float, copy=False) is rows
        assert rows.astype(float, "C", copy=False) is rows
        assert rows.astype(float, "F", copy=False) is not rows
        assert rows.astype(float) is not rows
        return np.sum(rows)

    assert ad.grad(fun)(2.0) == 6.0


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("write", WRITES)
def test_however_it_is_written(write, make):
    """Whatever writes to it."""
    check(between(READS["iter"], WRITES[write], MADE[make]))


@pytest.mark.parametrize("make", MADE)
def test_a_loop_that_writes_ahead(make):
    """`for x in v: v[k + 1] += x` adds up."""

    def fun(q):
        v = MADE[make](q)
        for k, x in enumerate(v):
            if k < 2:
                v[k + 1] += q * x
        return total(v)

    check(fun)


def test_a_number_cannot_be_gone_through():
    """`iter` itself says so, not the first `next`."""
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        ad.grad(lambda x: iter(x) and x)(np.float64(1.0))


def test_broadcast_is_as_numpys():
    """Its attributes, and that it can begin again."""

    def fun(q):
        b = np.broadcast(q * np.ones((2, 1)), np.ones(3))
        assert (b.shape, b.nd, b.ndim, b.size, b.numiter, b.index) == ((2, 3), 2, 2, 6, 2, 0)
        next(b)
        assert b.index == 1
        b.reset()
        return sum([x * y for x, y in b]) + sum(b.iters[0])

    assert ad.grad(fun)(2.0) == 12.0
