"""Compiled steps serve again where nothing differs, and only there."""

from __future__ import annotations

import functools

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.optim import reuse

X = np.linspace(-1.0, 1.0, 20)[:, None]


def loss_of(**options):
    """The loss after three epochs."""
    given = {"model": nn.MLP([1, 4, 1], key=0), "loss": losses.squared, "optimizer": optim.sgd(0.1), **options}
    model, loss, optimizer = given.pop("model"), given.pop("loss"), given.pop("optimizer")
    return ad.train(model, loss, (X, X**2), optimizer, epochs=3, progress=False, **given).history["loss"][-1]


def test_the_same_again():
    """Optimisers and models that were made anew from the same numbers need no new machine code."""
    reuse.KEPT.clear()
    assert loss_of() == loss_of()
    assert loss_of(model=nn.MLP([1, 4, 1], key=5)) != loss_of()
    assert len(reuse.KEPT) == 1


def test_the_same_again_with_statistics():
    """Running statistics are given to each run, and part of no machine code."""

    def network(key):
        return nn.Sequential(nn.Dense(1, 4, key=key), nn.BatchNorm(4), "tanh", nn.Dense(4, 1, key=key + 1))

    reuse.KEPT.clear()
    assert loss_of(model=network(0)) == loss_of(model=network(0))
    assert loss_of(model=network(5)) != loss_of(model=network(0))
    assert len(reuse.KEPT) == 1


def test_anything_else():
    """Another rate, loss, activation or penalty is another function."""
    reuse.KEPT.clear()
    found = [
        loss_of(),
        loss_of(optimizer=optim.sgd(0.2)),
        loss_of(optimizer=optim.sgd(0.1, momentum=0.5)),
        loss_of(loss=losses.absolute),
        loss_of(loss=functools.partial(losses.huber, delta=0.1)),
        loss_of(model=nn.MLP([1, 4, 1], activation="tanh", key=0)),
        loss_of(regularizer=losses.l2(0.1)),
        loss_of(regularizer=losses.l2(0.2)),
        loss_of(freeze="*.bias"),
    ]
    assert len(set(found)) == len(found) == len(reuse.KEPT)


def test_functions_that_see_something_else():
    """Two functions of one variable are alike; two variables may differ later, whatever is in them now."""

    def pair(a):
        return [lambda x: a * x for _ in range(2)]

    one = np.ones(2)
    for a in (2.0, one, [1.0]):
        assert reuse.alike(*pair(a), set())
        assert not reuse.alike(pair(a)[0], pair(a)[0], set())
    assert not reuse.alike(lambda x, a=2.0: a * x, lambda x, a=2.0: a * x, set())


def test_functions_with_defaults():
    """Values in the place of arguments are compared, what can be written to is not."""

    def times(a):
        def of(x, a=a):
            return a * x

        return of

    one = np.ones(2)
    assert reuse.alike(times(2.0), times(2.0), set())
    for a, b in [(2.0, 3.0), (0.0, -0.0), (1, 1.0), (1, True), (one, one.copy()), ([1.0], [1.0]), ("a", "b")]:
        assert not reuse.alike(times(a), times(b), set())


def test_functions_of_the_library():
    """What the library makes of settings is compared by them."""
    assert reuse.alike(losses.l2(0.1), losses.l2(0.1), set())
    assert not reuse.alike(losses.l2(0.1), losses.l2(0.2), set())
    for rate, other in [(0.1, 0.2), (optim.schedule.constant(0.1), optim.schedule.constant(0.2))]:
        assert reuse.alike(optim.adam(rate), optim.adam(rate), set())
        assert not reuse.alike(optim.adam(rate), optim.adam(other), set())


def test_variables_that_are_set_during_a_run():
    """A callback that sets a variable of the loss is seen, also if the same functions were made and trained before."""

    def run(change):
        factor = 1.0

        def loss(outputs, targets):
            return factor * np.mean((outputs - targets) ** 2)

        def halve(fit):
            nonlocal factor
            factor *= change

        found = ad.train(
            nn.MLP([1, 4, 1], key=0), loss, (X, X**2), optim.sgd(0.1), epochs=3, progress=False, callbacks=halve
        )
        factor = 1.0
        return found.history["loss"]

    first, second = run(1.0), run(0.5)
    assert second[0] == first[0]
    assert second[1] < 0.6 * first[1]


def test_minimised_again():
    """`optim.minimize` takes from the same store: one compiled function for functions that are made again and again."""
    reuse.KEPT.clear()
    found = [optim.minimize(f, np.ones(3), optim.adam(0.1)) for f in [lambda x: np.sum(x**2) for _ in range(3)]]
    assert len(reuse.KEPT) == 1
    assert found[0].value == found[2].value
