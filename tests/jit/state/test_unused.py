"""What is only reachable does not switch jit off: neither what changes, nor what cannot be watched."""

import logging
import threading
import warnings

import numpy as np
import pytest
import scipy.spatial

import adjoint as ad
from adjoint.core.errors import ImpureError

from .table import Thing, X, table

CASES, case = table()
RNG = np.random.default_rng(0)
LEGACY = np.random.RandomState(0)
COUNTS = {"steps": 0}
LOG = logging.getLogger("adjoint.tests.unused")
POINTS = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]])


class Drawn:
    """Its weights are random, what it computes is not."""

    made = 0

    def __init__(self, fixed=False):
        self.w = RNG.normal(size=2) if not fixed else np.ones(2)
        self.t = 0

    def __call__(self, x):
        return x * self.w

    def sample(self):
        return RNG.normal(size=2) * LEGACY.normal()

    def step(self):
        self.t += 1
        Drawn.made += 1
        COUNTS["steps"] += 1


@case
def generator_of_a_constructor():
    thing = Drawn()
    return lambda x: thing(x), lambda: RNG.normal()


@case
def generator_of_another_method():
    thing = Drawn()
    return thing.__call__, thing.sample


@case
def generator_in_a_branch():
    thing = Thing(training=False)
    return lambda x: x + RNG.normal() if thing.training else x * 2.0, lambda: RNG.normal()


@case
def generator_among_the_attributes():
    thing = Thing(rng=np.random.default_rng(0), w=2.0)
    return lambda x: x * thing.w, lambda: thing.rng.normal()


@case
def hidden_generator_of_a_distribution():
    normal = scipy.stats.norm(1.0, 2.0)
    return lambda x: x * normal.mean(), lambda: np.random.normal()


@case
def attribute_that_counts():
    thing = Drawn()
    return lambda x: thing(x), thing.step


@case
def attribute_that_is_made_anew():
    thing = Thing(w=2.0)
    return lambda x: x * thing.w, lambda: setattr(thing, "history", [*getattr(thing, "history", ()), 1.0])


@case
def attribute_of_a_method_that_is_not_called():
    class Local:
        def __init__(self):
            self.k, self.t = 2.0, 0

        def scaled(self, x):
            return x * self.k

        def counted(self, x):
            self.t += 1
            return self.scaled(x) * self.t

    thing = Local()
    return thing.scaled, lambda: thing.counted(X)


@case
def variable_of_a_branch_that_is_not_taken():
    k = 0

    def change():
        nonlocal k
        k += 1

    def never(x):
        return x * k

    return lambda x: x * 2.0 if x[0] > 0 else never(x), change


@case
def lock_and_thread():
    thing = Thing(lock=threading.Lock(), event=threading.Event(), k=2.0)

    def f(x):
        with thing.lock:
            return x * thing.k

    return f, thing.event.set


@case
def logger():
    def f(x):
        LOG.debug("shape %s", x.shape)
        return x * 2.0

    return f, lambda: LOG.isEnabledFor(logging.ERROR + len(COUNTS))


@case
def object_that_cannot_be_seen_into():
    thing = Thing(hull=scipy.spatial.ConvexHull(POINTS, incremental=True), k=2.0)
    return lambda x: x * thing.k, lambda: None


@case
def structure_that_is_too_large():
    thing = Thing(rows=[[k] for k in range(30_000)], k=2.0)
    return lambda x: x * thing.k, lambda: None


@pytest.mark.parametrize("name", CASES)
def test_unused(name):
    """However often it changes: two recordings at most, and machine code from then on."""
    f, change = CASES[name]()
    jitted = ad.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(20):
            np.testing.assert_allclose(jitted(X), f(X))
            change()
    assert jitted.stats()["recordings"] <= 2
    assert not jitted.stats()["eager"]


def test_what_is_used_is_refused():
    """The same things, where the function does use them."""
    thing = Drawn()
    switched = Thing(training=True)
    for f in (
        lambda x: x * thing.sample(),
        lambda x: x + RNG.normal() if switched.training else x,
        lambda x: Drawn()(x),
    ):
        with pytest.raises(ImpureError, match="draws from the captured"):
            ad.jit(f)(X)
    with pytest.raises(ImpureError, match="The function changes"):
        ad.jit(lambda x: thing.step() or thing(x))(X)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: scipy.spatial.ConvexHull(POINTS, incremental=True),
            "_Qhull in the attribute '_qhull' of a ConvexHull",
        ),
        (lambda: [[k] for k in range(30_000)], "more than 20,000 objects are behind the captured list"),
        (lambda: memoryview(np.ones(2)).__iter__(), "memory_iterator"),
    ],
)
def test_what_cannot_be_watched_runs_without_jit(make, words):
    """With a warning that names it, and the right numbers."""
    held = make()
    f = lambda x: x * (2.0 if held else 3.0)  # noqa: E731
    jitted = ad.jit(f)
    with pytest.warns(RuntimeWarning, match=f"now runs without jit: (?s:.)*{words}"):
        np.testing.assert_array_equal(jitted(X), f(X))
    np.testing.assert_array_equal(jitted(X), f(X))


def test_a_branch_that_is_taken_later():
    """Code that has not run when the function was recorded again counts as soon as it runs."""
    scale, thing = [2.0], Thing(t=0)
    f = lambda x: x * thing.k if x[0] > 0 else x * scale[0] * thing.t  # noqa: E731
    thing.k = 2.0
    jitted = ad.jit(f)
    for n in range(3):
        thing.t, scale[0] = n, 2.0 + n
        np.testing.assert_allclose(jitted(X), f(X))
        np.testing.assert_allclose(jitted(-X), f(-X))
