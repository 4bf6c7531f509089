"""Work on arrays that do not depend on the inputs is counted as any other, whoever holds them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import expit

import adjoint as ad

rng = np.random.default_rng(7)
X = rng.normal(size=(20, 3))
W = np.array([0.5, -1.0, 2.0])


def gram(w, X):
    return (X.T @ X) @ w


def late(w, X):
    return X.T @ (X @ w)


def named(w, X):
    G = X.T @ X + 0.1 * np.eye(3)
    return np.sum((G @ w) ** 2)


def inverted(w, X):
    return np.linalg.inv(X.T @ X) @ w


def standardised(w, X):
    return expit((X - X.mean(axis=0)) / X.std(axis=0) @ w)


def by_elements(w, X):
    total = 0.0
    for k in range(len(X)):
        total += X[k, 0] * np.exp(X[k, 1])
    return total * w


def filled(w, X):
    G = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            G[i, j] = X[:, i] @ X[:, j]
    return G @ w


def deciding(w, X):
    G = X.T @ X
    return G @ w if G[0, 0] > 0 else w


def rolled(w, X):
    return ad.scan(lambda total, row: (total + row * row, None), np.zeros(3), X)[0] * w


def turning(w, X):
    return ad.while_loop(lambda a: np.sum(a) < 50.0, lambda a: a + X[0] ** 2, np.ones(3)) * w


def not_needed(w, X):
    np.sin(X)
    return w * 2.0


FUNCTIONS = [
    gram, late, named, inverted, standardised, by_elements, filled, deciding, rolled, turning, not_needed,
]  # fmt: skip


@dataclasses.dataclass
class Model:
    """Data as an attribute."""

    X: np.ndarray

    def predict(self, w):
        return gram(w, self.X)


HELD = {"X": X, "rest": [X]}


def of_default(w, X=X):
    return gram(w, X)


WAYS = {
    "global": (lambda w: gram(w, X), {}),
    "attribute": (Model(X).predict, {}),
    "container": (lambda w: gram(w, HELD["X"]), {}),
    "list": (lambda w: gram(w, HELD["rest"][0]), {}),
    "default": (of_default, {}),
    "keyword": (lambda w, *, data: gram(w, data), {"data": X}),
    "jitted": (ad.jit(lambda w: gram(w, X)), {}),
    "checked": (lambda w: gram(w, X if isinstance(X, np.ndarray) else None), {}),
}


@pytest.mark.parametrize("fun", FUNCTIONS)
def test_the_count_does_not_depend_on_what_moves(fun):
    """The function costs the same with the data captured, as an argument that stays, and as one that moves."""
    wanted = ad.explain(fun)(W, X).cost()
    assert (wanted.constant, wanted.uncounted) == (0 if fun is not named else 9, ())
    for found in (ad.explain(lambda w: fun(w, X))(W).cost(), ad.explain(fun, 0)(W, X).cost()):
        assert found.function.operations == wanted.function.operations
        assert found.function.functions == wanted.function.functions
        assert found.uncounted == ()


@pytest.mark.parametrize("way", WAYS)
def test_wherever_the_data_are(way):
    """Captured arrays are found in variables, attributes, containers, defaults and arguments."""
    fun, kwargs = WAYS[way]
    found = ad.explain(fun)(W, **kwargs).cost()
    assert (found.constant, found.uncounted) == (2 * 3 * 20 * 3, ())


def test_the_cheaper_order_is_told():
    """Two products with a vector are cheaper than one with a matrix, and the count says so."""
    costs = [ad.explain(lambda w, fun=fun: fun(w, X))(W).cost() for fun in (gram, late)]
    assert [c.function.operations for c in costs] == [2 * 3 * 20 * 3 + 2 * 9, 2 * 2 * 20 * 3]
    early, afterwards = costs
    assert early.reverse.operations - early.function.operations == 2 * 9
    assert afterwards.constant == 0
    assert (
        "On arrays that do not depend on the inputs: 360 operations in each call, which could be done once before."
        in str(early)
    )


@pytest.mark.parametrize("make", [
    lambda: np.arange(9.0).reshape(3, 3), lambda: np.linspace(0, 1, 9).reshape(3, 3), lambda: np.eye(3),
    lambda: np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [3.0, 0.0, 1.0]]), lambda: np.full((3, 3), 0.5),
])  # fmt: skip
def test_arrays_that_the_function_makes(make):
    """What is computed of them counts; making them does not."""

    def fun(w):
        A = make()
        return (A @ A) @ w

    found = ad.explain(fun)(W).cost()
    assert (found.constant, found.uncounted) == (2 * 27, ())
    assert ad.explain(lambda w: w * np.arange(3))(W).cost().constant == 0


def test_checkpointed_calls_compute_it_again():
    """What a checkpointed call computes of constants, it computes again on the way back; what is outside it, not."""
    G = 2 * 3 * 20 * 3
    outside = ad.explain(lambda w: ad.checkpoint(lambda w, G: G @ w**2)(w, X.T @ X))(W).cost()
    inside = ad.explain(lambda w: ad.checkpoint(lambda w: (X.T @ X) @ w**2)(w))(W).cost()
    assert outside.constant == inside.constant == G
    assert outside.function.operations == inside.function.operations
    assert inside.reverse.operations == outside.reverse.operations + G
    assert inside.forward.operations == outside.forward.operations


def drawn(w):
    A = np.random.default_rng(0).normal(size=(3, 3))
    G = A @ A
    return G @ w


def needs_memory(w):
    Y = np.array(memoryview(X))
    G = Y.T @ Y
    return G @ w


@pytest.mark.parametrize("fun", [drawn, needs_memory])
def test_what_is_not_seen_is_said(fun):
    """Random numbers are plain, and so is all of a function that asks for memory: that is told."""
    found = ad.explain(fun)(W).cost()
    assert (found.function.operations, found.constant, found.uncounted) == (2 * 9, 0, ("float64[3,3]",))
    assert "Not counted: what it took to compute float64[3,3]" in str(found)


def test_views_of_captured_arrays_take_nothing():
    """Where arrays have to be plain, those that were there before are known, and so are their parts."""

    def fun(w):
        memoryview(X)
        return X[:5].T @ (X[:5] @ w)

    found = ad.explain(fun)(W).cost()
    assert (found.function.operations, found.constant, found.uncounted) == (2 * 2 * 15, 0, ())


def test_the_users_objects_stay_as_they_are():
    """The function is run on a copy: nothing that it holds is a handle afterwards."""
    model, seen = Model(X.copy()), []

    def fun(w):
        seen.append(type(w).__name__)
        return model.predict(w)

    ad.explain(fun)(W).cost()
    assert type(model.X) is np.ndarray
    assert len(seen) == 2
    assert np.zeros(3).sum() == 0.0
    assert type(np.zeros(3)) is np.ndarray
