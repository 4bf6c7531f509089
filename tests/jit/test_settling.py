"""Programs whose loops end on rounding noise: a few recordings, then a form that serves all calls, and why."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms.jit import path


def icp(source, target):
    """Iterative closest point, in two dimensions."""
    moved, previous = source.copy(), 0.0
    for _ in range(30):
        squares = np.sum((moved[:, None] - target[None]) ** 2, axis=2)
        nearest = np.argmin(squares, axis=1)
        matched = target[nearest]
        u, _s, vt = np.linalg.svd((moved - moved.mean(0)).T @ (matched - matched.mean(0)))
        rotation = vt.T @ u.T
        if np.linalg.det(rotation) < 0:
            vt[-1, :] *= -1
            rotation = vt.T @ u.T
        moved = (moved - moved.mean(0)) @ rotation.T + matched.mean(0)
        error = np.mean(np.sqrt(squares[np.arange(len(moved)), nearest]))
        if abs(previous - error) < 1e-8:
            break
        previous = error
    return moved, error


def points(seed):
    """A cloud of points, and the same turned, moved and disturbed."""
    rng = np.random.default_rng(seed)
    target, angle = rng.normal(size=(12, 2)), 0.3 * rng.normal()
    turned = target @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return turned + 0.1 * rng.normal(size=2) + 0.01 * rng.normal(size=target.shape), target


def sinkhorn(cost, a, b):
    """Looks at the error in each fourth iteration only."""
    kernel, u, v, error, n = np.exp(-5.0 * cost), np.ones_like(a), np.ones_like(b), 1.0, 0
    while error > 1e-9 and n < 400:
        u = a / (kernel @ v)
        v = b / (kernel.T @ u)
        if n % 4 == 0:
            error = np.abs(u * (kernel @ v) - a).sum()
        n += 1
    return u[:, None] * kernel * v


def masses(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(3), rng.random(4)
    return rng.random((3, 4)), a / a.sum(), b / b.sum()


def kmeans(x, centers):
    """With `x[mask]`, whose length is another in each iteration: no loop can have that."""
    centers, labels = centers.copy(), np.full(len(x), -1)
    while True:
        new = np.argmin(((x[:, None] - centers[None]) ** 2).sum(-1), axis=1)
        if np.array_equal(new, labels):
            return centers
        labels = new
        for k in range(len(centers)):
            centers[k] = x[labels == k].mean(axis=0)


def clusters(seed):
    x = np.random.default_rng(seed).normal(size=(10, 2))
    return x, x[[0, -1]]


def check(fun, calls):
    """The jitted function, after calls that gave what the plain one gives."""
    jitted = ad.jit(fun)
    for args in calls:
        got, want = jitted(*args), fun(*args)
        for g, w in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12)
    return jitted


@pytest.mark.parametrize(("fun", "inputs"), [(icp, points), (sinkhorn, masses)], ids=["icp", "sinkhorn"])
def test_one_loop_for_all(fun, inputs):
    """From the third recording on, and stats say so."""
    jitted = check(fun, [inputs(seed) for seed in range(8)])
    assert jitted.recordings <= 4
    assert fun.__name__ in jitted.stats()["settled"][0]
    assert jitted.stats()["settled"][0].startswith("one loop: test_settling.py:")


def test_a_decision_that_rests_on_a_step_that_raises():
    """In the last iteration, which ends before, that step would raise: the path does not fit then, nothing is wrong."""

    def fun(x):
        n = 0
        while x[0] > 1.0:
            inverse = np.linalg.inv(np.diag(x))
            x = x - (2.0 if inverse[1, 1] > 0.0 else 1.0)
            n += 1
        return x * n

    calls = [(np.array([a, a - 1.0]),) for a in (12.0, 8.0, 13.0, 7.0, 15.0, 9.0, 17.0, 3.0)]
    assert check(fun, calls).recordings <= len(calls)
    assert check(fun, [(np.array([a, 40.0]),) for a in (12.0, 8.0, 14.0, 6.0, 20.0, 30.0)]).recordings <= 4


@pytest.fixture
def _quickly(monkeypatch):
    monkeypatch.setattr(path, "MAX_UNUSED", ((3, 10),))


@pytest.mark.usefixtures("_quickly")
def test_without_jit_where_no_recording_is_used_again():
    """With one warning that names the line, and what to write there."""
    with pytest.warns(RuntimeWarning, match=r"5 different paths, 3 of them only once(?s:.*)x\[mask\]") as caught:
        jitted = check(kmeans, [clusters(seed) for seed in range(9)])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert "in kmeans()" in str(caught[0].message)
    stats = jitted.stats()
    assert stats["recordings"] == 5
    assert stats["paths"] == 2
    assert stats["settled"][0].startswith("without jit: test_settling.py:")


@pytest.mark.usefixtures("_quickly")
def test_paths_that_are_taken_again_count_for_nothing():
    """However many there are: recording them has paid."""

    def fun(x):
        return sum([np.sin(k * x) for k in range(int(x))])

    jitted = ad.jit(fun)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(5, 15):
            for _ in range(3):
                np.testing.assert_allclose(jitted(n + 0.5), fun(n + 0.5), rtol=1e-13)
    assert jitted.stats()["recordings"] == jitted.stats()["paths"] == 10


SCALE = 2.0


def scaled(x, n=1, *, power=1):
    if x[0] > 0:
        return SCALE * x**power * n
    return x


X = np.ones(3)


def line_of(text):
    """Where a line of the function above is, as messages have it."""
    first = scaled.__code__.co_firstlineno
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    number = next(k for k in range(first, len(lines)) if text in lines[k - 1])
    return f"test_settling.py:{number} in scaled():  {lines[number - 1].strip()}"


ASKED = "if x[0] > 0:"
REASONS = {
    "a decision": ((X,), (-X,), "{asked}  is False, recorded True"),
    "a shape": ((X,), (np.ones(4),), "x is float64[4], recorded float64[3], at test_settling.py:"),
    "a dtype": ((X,), (X.astype(np.float32),), "x is float32[3], recorded float64[3], at test_settling.py:"),
    "a number": ((X, 1), (X, 2), "n is another number, and an input from now on, recorded int 1, at "),
    "more arguments": ((X,), (X, 2.0), "other containers, or another number of arguments, at test_settling.py:"),
    "a kind of number": ((X, 2.0), (X, np.float64(2.0)), "n is float64[] scalar, recorded python float, at "),
}


@pytest.mark.parametrize("name", REASONS)
def test_reasons(name):
    """Each recording has one, in the words of the function."""
    first, then, expected = REASONS[name]
    jitted = ad.jit(scaled)
    jitted(*first), jitted(*then)
    reasons = jitted.stats()["reasons"]
    assert len(reasons) == jitted.stats()["recordings"] == 2
    assert reasons[0].startswith("the first call, at test_settling.py:")
    assert reasons[1].startswith(expected.format(asked=line_of(ASKED)))


def test_reasons_name_what_was_captured_and_what_is_static(monkeypatch):
    """A global that changes, and then a decision; another static value."""
    jitted = ad.jit(scaled, static_argnames="power")
    jitted(X, power=1)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    jitted(X, power=1), jitted(-X, power=1), jitted(X, power=2)
    changed, decided, static = jitted.stats()["reasons"][1:]
    assert changed.startswith("the global variable 'SCALE' has changed, at test_settling.py:")
    assert decided == f"{line_of(ASKED)}  is False, recorded True"
    assert static.startswith("power is int 2, at test_settling.py:")


@dataclass
class Line:
    slope: np.ndarray
    kind: str = "straight"

    def __post_init__(self):
        assert isinstance(self.slope, np.ndarray)  # also if a reason is looked for


def test_reasons_make_no_objects():
    """Settings among the fields are named as such, and containers are as they are."""
    jitted = ad.jit(lambda line, x: {"y": line.slope * x["a"]})
    jitted(Line(X), {"a": 1.0}), jitted(Line(np.ones(4)), {"a": 1.0}), jitted(Line(X), {"b": 2.0, "a": 1.0})
    shape, containers = jitted.stats()["reasons"][1:]
    assert shape.startswith("leaf 0 is float64[4], recorded float64[3], at test_settling.py:")
    assert containers.startswith("other containers, or another number of arguments, at test_settling.py:")


def test_stats_stay_short():
    """What is alike is one line, and there is an end to what is not."""
    jitted = ad.jit(lambda x: x * len(range(int(x))))
    for n in range(30):
        jitted(n + 0.5)
    text = str(jitted.stats())
    assert len(jitted.stats()["reasons"]) == 30
    assert "... and 11 more" in text
    assert len(text.splitlines()) < 35
