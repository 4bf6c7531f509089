"""Small blocks, done across the examples of a batch: the same numbers as step by step, for every kind of step."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.compile.build import build
from adjoint.compile.lanes import group
from adjoint.compile.lanes.nodes import EXAMPLES

random = np.random.default_rng(5)
COUNTS = (group.FEWEST, group.FEWEST + 1, 100, 1003)


@pytest.fixture(autouse=True)
def _however_little(monkeypatch):
    """Blocks are done across examples however little there is to do."""
    monkeypatch.setattr(group, "WORK", 0)
    monkeypatch.setattr(group, "DENSE", 0.0)


def groups(f, *args):
    """The steps of a jitted function that are done across examples."""
    native = build(ad.jit(f).lower(*args).optimized, args)
    return [s.params["examples"] for s in native.kernel.plan.program.steps if s.primitive is EXAMPLES]


def check(f, *args, exact=False, grouped=True):
    """Compiled and plain results agree: within rounding of sums, or to the bit with the signs of zeros."""
    jitted = ad.jit(f)
    jitted(*args)
    found, expected = jitted(*args), f(*args)
    assert bool(groups(f, *args)) is grouped
    for x, y in zip(ad.tree.leaves(found), ad.tree.leaves(expected), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        if exact:
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
            np.testing.assert_array_equal(np.signbit(x), np.signbit(y))
        else:
            near = 1e-5 if np.asarray(y).dtype == np.float32 else 1e-12
            np.testing.assert_allclose(x, y, rtol=near, atol=near)


def rotated(p):
    """Coordinates, a cross product, sums, quotients: what geometry is made of."""
    axis, x = p[:3], p[3:]
    angle = np.sqrt(np.sum(axis**2))
    k = axis / angle
    turned = x * np.cos(angle) + np.cross(k, x) * np.sin(angle) + k * (np.sum(k * x) * (1.0 - np.cos(angle)))
    return turned[:2] / turned[2]


def points(n):
    """Axes of rotations by small angles, and points in front of the eye."""
    p = random.normal(size=(n, 6))
    p[:, :3] *= 0.3
    p[:, 5] += 8.0
    return p


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_jacobians_of_small_functions(n, dtype):
    """One Jacobian for each example, whatever is left over after whole vectors."""
    check(ad.vmap(ad.jacfwd(rotated)), points(n).astype(dtype))


@pytest.mark.parametrize("n", COUNTS)
def test_examples_along_the_last_axis(n):
    """The axis of the examples may be anywhere; rows that no step mixes share their code."""
    turns, x = random.normal(size=(4, 6, 3, 3)), random.normal(size=(6, 3, n))
    weights = random.random((6, n))

    def f(turns, x, weights):
        moved = turns @ x
        return np.transpose(np.sum(weights[:, None, :] * moved, axis=1), (1, 2, 0))

    check(f, turns, x, weights)


def test_parts_that_are_joined_in_another_order_are_not_alike():
    """A matrix for all examples that is put together of later and of earlier numbers of one array."""
    p, x = random.normal(size=40), random.normal(size=(COUNTS[-1], 4))

    def f(p, x):
        q = np.concatenate([p[12:18], p[6:12]]).reshape(3, 4)
        return ad.vmap(ad.jacobian(lambda x: np.tanh(q @ x) @ q))(x)

    check(f, p, x)


def test_rows_that_are_done_alike_share_their_code():
    """If the code for one example is long, one row of it is written, and the others go the same way."""
    n = 200
    turns, x = random.normal(size=(8, 12, 3, 3)), random.normal(size=(12, 3, n))

    def f(turns, x):
        return np.sum(turns @ x, axis=1)

    check(f, turns, x)
    (found,) = groups(f, turns, x)
    assert found.rows.length in (3, 8)
    assert found.rows.length * len(found.nodes) < 2500


def test_sums_over_all_examples():
    """Totals of several elements, of floats and truth values, and with examples that are left over."""
    x = random.normal(size=(1001, 3))

    def f(x):
        far = np.sum(x**2, axis=1)
        return np.sum(x * far[:, None], axis=0), np.max(far), np.all(far > 0.0), np.sum(far)

    check(f, x)


def test_rows_do_not_count_twice():
    """A sum over the examples of what has no rows is not taken once for each row."""
    n = 128
    turns, x = random.normal(size=(8, 12, 3, 3)), random.normal(size=(12, 3, n))

    def f(turns, x):
        moved = np.sum(turns @ x, axis=1)
        return moved, np.sum(np.sum(x[0] ** 2, axis=0))

    check(f, turns, x)


def test_zeros_of_the_seeds_keep_their_signs():
    """What is computed once for many columns is what each of them has, signs of zeros included."""
    x = random.normal(size=(100, 4))
    x[::3] = -0.0
    x[5] = 0.0
    check(ad.vmap(ad.jacfwd(lambda p: np.stack([p[0] * -p[1] - p[2], p[3] * 3.0 * p[0]]))), x, exact=True)


def test_infinities_and_nan_come_through():
    """A zero of a seed that meets an infinity is nan, as it is step by step."""
    x = random.normal(size=(100, 3))
    x[7, 1], x[11, 2] = np.inf, np.nan
    f = ad.vmap(lambda p: np.stack([np.sum(p * np.array([0.0, 0.0, 1.0])), np.sum(p[:2])]))
    with np.errstate(invalid="ignore"):
        check(f, x, exact=True)


def test_integers_and_truth_values():
    """Types change inside a block as they do outside."""
    x = random.integers(-5, 5, size=(130, 4))

    def f(x):
        positive = x > 0
        count = np.sum(positive, axis=1)
        return np.where(positive, x, -x) * count[:, None], np.any(positive, axis=1)

    check(f, x, exact=True)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.bool_, np.float32])
@pytest.mark.parametrize("n", [group.FEWEST, group.FEWEST + 3, 70])
def test_fewer_examples_than_lanes(n, dtype):
    """Vectors of small numbers have more lanes than there may be examples."""
    x = random.integers(0, 2, size=(n, 3)).astype(dtype)

    def f(x):
        some = np.any(x > 0, axis=1, keepdims=True) if x.dtype.kind in "bf" else np.max(x, axis=1, keepdims=True)
        return x * some if x.dtype.kind == "f" else x & some

    check(f, x, exact=True)


def test_several_threads():
    """Chunks give the same bits for every number of threads."""
    p = points(30_011)
    f = ad.jit(lambda p: (ad.vmap(ad.jacfwd(rotated))(p), np.sum(np.sum(p**2, axis=1) * p[:, 0])))
    f(p)
    found = []
    for n in (1, 2):
        ad.config.set_threads(n)
        found.append(f(p))
    ad.config.set_threads(None)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]
    np.testing.assert_allclose(found[0][0][-40:], ad.vmap(ad.jacfwd(rotated))(p[-40:]), rtol=1e-10, atol=1e-10)


def test_strided_inputs():
    """Arrays that are not row by row in memory are read where they are."""
    p = np.asfortranarray(np.repeat(points(100), 2, axis=1))[:, ::2]
    check(ad.vmap(ad.jacfwd(rotated)), p)


def test_captured_arrays_are_read_at_each_call():
    """Constants that may change are no constants."""
    x, scale = random.normal(size=(100, 3)), np.array([1.0, 2.0, 3.0])
    f = ad.jit(lambda x: np.sum(x * scale, axis=1) * x[:, 0])
    f(x)
    scale[:] = 0.0, 1.0, 0.5
    np.testing.assert_allclose(f(x), np.sum(x * scale, axis=1) * x[:, 0], rtol=1e-13)


def test_what_is_elementwise_or_wide_is_left_alone():
    """Loops along memory are as quick as they can be: one axis, long rows, many results for others."""
    check(lambda x: np.sin(x) * 2.0, random.normal(size=200), grouped=False)
    check(lambda x: x / np.sum(x, axis=1, keepdims=True), random.random((100, 40)), grouped=False)
    x = random.random((200, group.KEPT + 8, 2))
    check(lambda x: np.cumsum(x * np.sum(x, axis=2, keepdims=True), axis=0), x, grouped=False)


def test_what_needs_a_total_comes_after_it():
    """A sum over all examples is not there before the last one is done."""

    def f(x):
        turned = np.roll(np.clip(2.0 * x - 1.0, -8.0, 8.0), 2, axis=0) - x[::-1]
        return np.clip(turned + np.sum(x, axis=-1, keepdims=True), -8.0, 8.0)

    check(f, random.normal(size=(3, 4096)))
