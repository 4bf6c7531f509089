"""`ad.switch` and `ad.associative_scan`."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

FUNCTIONS = [np.sin, np.cos, np.exp, lambda x: 2 * x]
SLOPES = [np.cos, lambda x: -np.sin(x), np.exp, lambda x: 2.0]


def chosen(i, x):
    return ad.switch(i, FUNCTIONS, x)


@pytest.mark.parametrize("i", [-5, 0, 1, 2, 3, 4, 100])
@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.asarray])
def test_switch_under_every_transform(i, kind):
    """The same branch and slope under every transformation; an index outside counts as the nearest."""
    k = min(max(i, 0), 3)
    x = 0.7
    for f in (chosen, ad.jit(chosen)):
        np.testing.assert_allclose(f(kind(i), x), FUNCTIONS[k](x), rtol=1e-15)
    for g in (ad.grad(chosen, 1), ad.jit(ad.grad(chosen, 1)), ad.grad(ad.jit(chosen), 1)):
        np.testing.assert_allclose(g(kind(i), x), SLOPES[k](x), rtol=1e-15)


def test_switch_is_one_recording():
    """The branch is part of the program, not of the recording."""
    f = ad.jit(ad.grad(chosen, 1))
    for i in range(4):
        np.testing.assert_allclose(f(np.int64(i), 0.7), SLOPES[i](0.7))
    assert f.stats()["recordings"] == 1


def test_switch_in_batches_and_loops():
    """Examples may differ; in loops it stays a branch; operands and results are containers."""
    places = np.array([3, 0, 9, 1])
    wanted = [SLOPES[min(i, 3)](0.7) for i in places]
    np.testing.assert_allclose(ad.vmap(ad.grad(chosen, 1), (0, None))(places, 0.7), wanted)
    np.testing.assert_allclose(ad.map(lambda i: ad.grad(chosen, 1)(i, 0.7), places), wanted)

    def pick(i, tree):
        def times(n):
            return lambda t: {"y": n * t["x"], "z": t["x"][0] if n else np.float32(0)}

        return ad.switch(i, [times(0), times(1), times(2)], tree)

    tree = {"x": np.array([1.0, 2.0])}
    for i in range(3):
        np.testing.assert_allclose(ad.jit(pick)(np.int64(i), tree)["y"], i * tree["x"])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: ad.switch(0, [], 1.0), "at least one"),
    (lambda: ad.switch(0.5, FUNCTIONS, 1.0), "one integer"),
    (lambda: ad.switch(np.array([0, 1]), FUNCTIONS, 1.0), "one integer"),
    (lambda: ad.jit(lambda i: ad.switch(i, [np.sin, lambda x: np.ones(2)], 1.0))(np.int64(0)), "given to switch"),
])  # fmt: skip
def test_switch_refuses(call, text):
    """No function, no integer, results that do not fit."""
    with pytest.raises(ad.AdjointError, match=text):
        call()


@pytest.mark.parametrize("n", range(20))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_is_a_loop(n, reverse):
    """Products of matrices, which do not commute: the same as one after the other."""
    A = np.random.default_rng(n).normal(size=(n, 2, 2))
    found = ad.associative_scan(lambda a, b: a @ b, A, reverse=reverse)
    wanted, total = [], np.eye(2)
    for a in A[::-1] if reverse else A:
        total = total @ a
        wanted.append(total)
    wanted = wanted[::-1] if reverse else wanted
    np.testing.assert_allclose(found, np.reshape(wanted, A.shape))


def test_associative_scan_derivatives_and_containers():
    """A linear recurrence: value and gradient as those of the loop, under every transformation."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 9))

    def by_scan(a, b):
        return np.sum(ad.scan(lambda y, ab: (ab[0] * y + ab[1],) * 2, 0.0, (a, b))[1] ** 2)

    def by_pairs(a, b):
        def after(p, q):
            return {"a": p["a"] * q["a"], "b": q["a"] * p["b"] + q["b"]}

        return np.sum(ad.associative_scan(after, {"a": a, "b": b})["b"] ** 2)

    for wrap in (lambda f: f, ad.jit):
        np.testing.assert_allclose(wrap(by_pairs)(a, b), by_scan(a, b))
        for g, w in zip(wrap(ad.grad(by_pairs, (0, 1)))(a, b), ad.grad(by_scan, (0, 1))(a, b), strict=True):
            np.testing.assert_allclose(g, w)
    np.testing.assert_allclose(ad.vmap(by_pairs)(np.stack([a, b]), np.stack([b, a])), [by_scan(a, b), by_scan(b, a)])
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(ad.associative_scan(np.add, x, axis=1), np.cumsum(x, 1))
    np.testing.assert_allclose(ad.associative_scan(np.add, x, axis=-1, reverse=True), np.cumsum(x[:, ::-1], 1)[:, ::-1])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: ad.associative_scan(np.add, 1.0), "needs arrays"),
    (lambda: ad.associative_scan(np.add, np.ones(3), axis=1), "needs arrays"),
    (lambda: ad.associative_scan(lambda a, b: a, (np.ones(3), np.ones(4))), "different lengths"),
    (lambda: ad.associative_scan(lambda a, b: np.sum(a), np.ones(4)), "containers and shapes"),
])  # fmt: skip
def test_associative_scan_refuses(call, text):
    """What cannot be scanned."""
    with pytest.raises(ad.AdjointError, match=text):
        call()
