"""Large steps and loops are not taken while a function is recorded; whoever wants to know a value gets it."""

import io
import logging
import sys
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.ir import deferring
from adjoint.ir.deferring import LARGE, Deferred
from adjoint.transforms.jit.jit import Jitted
from tests.cases.catalogue import every_entry
from tests.cases.points import moved
from tests.jit.test_catalogue_jit import difference, modes, outcome, run_by_numpy  # noqa: F401  (a fixture)

BIG = np.linspace(0.1, 2.0, 2 * LARGE)


@pytest.fixture
def computed(monkeypatch):
    """The values that somebody asked for while a function was recorded."""
    found = []
    compute = Deferred._compute

    def noted(self, wanted, frozen):
        found.append(wanted)
        compute(self, wanted, frozen)

    monkeypatch.setattr(Deferred, "_compute", noted)
    return found


@pytest.fixture
def always(monkeypatch):
    """Every step on arrays counts as large."""
    monkeypatch.setattr(deferring, "LARGE", 0)


def looped(x):
    return np.sum(ad.scan(lambda c, u: (np.sin(c) * u, c[0]), x, np.linspace(0.5, 1.5, 7))[0])


def until(x):
    return np.sum(ad.while_loop(lambda c: c[1] > 0.1, lambda c: (c[0] * 0.9, c[1] * 0.5), (x, np.float64(1.0)))[0])


UNASKED = {
    "elements": lambda x: np.sum(np.sin(np.tanh(x)) * np.exp(x)) + np.log(np.sum(x**2)),
    "axes": lambda x: np.sum(np.max(x.reshape(100, -1), axis=0) @ np.cumsum(x.reshape(-1, 100), axis=0)),
    "views": lambda x: np.sum(np.concatenate([x[::2], np.flip(x)]).reshape(5, -1).T[3:] ** 2),
    "choices": lambda x: np.sum(np.where(x > 1, x**2, np.clip(x, 0.2, 0.8))),
    "written": lambda x: np.sum(halved(x)),
    "scan": looped,
    "while": until,
    "loops in loops": lambda x: ad.scan(lambda c, _: (c + until(c * x), None), np.float64(0.5), length=3)[0],
}


def halved(x):
    y = np.zeros_like(x)
    y[::2] = x[::2] * x[1::2]
    return y


@pytest.mark.parametrize("name", UNASKED)
@pytest.mark.parametrize("mode", ["value", "gradient", "tangent"])
def test_nothing_is_computed(name, mode, computed):
    """Nobody asks in ordinary functions; the first result is that of the program, and the same as the second."""
    g = modes(UNASKED[name], (BIG,))[mode]
    jitted = ad.jit(g)
    first = jitted(BIG)
    assert not computed
    for found in (first, jitted(BIG)):
        assert not difference(found, g(BIG))
    for once, again in zip(flatten(first)[0], flatten(jitted(BIG))[0], strict=True):
        np.testing.assert_array_equal(once, again)


def branching(x):
    y = np.sin(x)
    return np.sum(y if np.mean(y) > 0.5 else -y) + (1.0 if float(y[0]) > 3 else 2.0)


def test_who_decides_gets_the_value(computed):
    """A branch is taken by the values themselves, and guarded."""
    f = ad.jit(branching)
    assert f(BIG) == pytest.approx(branching(BIG))
    assert computed
    assert f(-BIG) == pytest.approx(branching(-BIG))
    assert f.stats()["recordings"] == 2


def test_who_prints_gets_the_value():
    """Text shows numbers, not memory that has not been written to."""

    def f(x):
        y = np.sin(x)
        sys.stdout.write(f"{y[3]} {np.sum(y):.12f} {np.max(y)}")
        return np.sum(y)

    texts = []
    for g in (f, ad.jit(f), ad.jit(ad.grad(f))):
        with redirect_stdout(io.StringIO()) as out:
            g(BIG)
        texts.append(out.getvalue())
    assert texts[1].split()[1] == texts[0].split()[1]
    assert texts[0].split()[1] in texts[2]


class Later(logging.Handler):
    """Keeps what it is given, to write it down later."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        self.kept += record.args


def test_what_is_kept_is_computed():
    """A handle that somebody has kept is its value, once the function has been recorded."""
    log, later = logging.getLogger("adjoint.tests.deferring"), Later()
    log.addHandler(later)
    log.setLevel(logging.INFO)
    log.propagate = False

    def f(x):
        y = np.sin(x) * 2
        log.info("%s %s", y, np.sum(y))
        log.info("%s %s", y[::2].reshape(-1, 10), np.broadcast_to(np.max(y), (3,)))
        return np.sum(y)

    for g in (ad.jit(f), ad.jit(ad.grad(f))):
        later.kept.clear()
        g(BIG)
        y = np.sin(BIG) * 2
        for found, want in zip(later.kept, [y, np.sum(y), y[::2].reshape(-1, 10), np.full(3, y.max())], strict=True):
            np.testing.assert_allclose(np.asarray(found), want)


def test_truth_values_that_are_kept():
    """There are but two objects for all truth values; those of handles that were kept are the right ones."""
    log, later = logging.getLogger("adjoint.tests.deferring.truths"), Later()
    log.addHandler(later)
    log.setLevel(logging.INFO)
    log.propagate = False

    def f(x):
        y = np.sin(x) * 2
        log.info("%s %s %s %s", np.any(y > 1.9), np.any(y > 7.0), np.sum(y) > 3.0, y > 1.0)
        return np.sum(y)

    y = np.sin(BIG) * 2
    for g in (ad.jit(f), ad.jit(ad.grad(f))):
        later.kept.clear()
        g(BIG)
        for found, want in zip(later.kept, [True, False, True, y > 1.0], strict=True):
            np.testing.assert_array_equal(np.asarray(found), want)


def test_changed_arrays(always):
    """A plain array counts as it was when it was used."""

    def f(x):
        w = np.arange(3.0)
        y = x * w
        w[:] = -1.0
        if y[2] > 1:
            return y + w
        return y - w

    for x in (np.ones(3), np.zeros(3)):
        np.testing.assert_array_equal(ad.jit(f)(x), f(x))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.sum(np.sqrt(x**2)), np.zeros(3)),
        (lambda x: np.linalg.norm(x), np.zeros(3)),
        (lambda x: np.sum(np.sqrt(np.abs(x)) * x), np.array([0.0, 1.0])),
        (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0)), np.array([0.0, 4.0])),
        (lambda x: np.sum(1 / x), np.array([0.0, 1.0])),
    ],
)
def test_unlikely_points(always, f, x):
    """Where a guess was wrong the function is recorded again, with values; both recordings are of use."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted = ad.jit(ad.grad(f))
        for point in (x, x + 1.5, x):
            np.testing.assert_array_equal(jitted(point), ad.grad(f)(point))
    assert jitted.stats()["recordings"] == 2


def test_bodies_that_need_numbers(always):
    """A body is captured with numbers that are made up; where it does not take those, with the real ones."""

    def f(a):
        b = ad.scan(lambda c, _: (c @ a / 3, None), a, length=3)[0]
        s = ad.scan(lambda c, _: (np.linalg.solve(b + c, a), None), a, length=2)[0]
        low = ad.scan(lambda c, _: (np.linalg.cholesky(c @ c.T + b), None), s, length=2)[0]
        return np.sum(low)

    a = np.array([[2.0, 0.3], [0.3, 1.5]])
    np.testing.assert_allclose(ad.jit(f)(a), f(a))
    np.testing.assert_allclose(ad.jit(ad.grad(f))(a), ad.grad(f)(a), rtol=1e-10)


def test_no_loop_runs_on_numbers_that_are_made_up(always):
    """It might never end: from 1.0, as from any number that is no power of two below 64, this one does not."""

    def f(x):
        start = ad.scan(lambda c, _: (c * 2, None), x, length=2)[0]

        def outer(c, _):
            found = ad.while_loop(lambda v: v[0] != 64.0, lambda v: v * 4, c)
            return np.linalg.solve(np.eye(1) * found, np.ones(1)) + start, None

        return ad.scan(outer, start, length=1)[0]

    x = np.array([1.0])
    np.testing.assert_allclose(ad.jit(f)(x), f(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_every_function(part, always, run_by_numpy):  # noqa: F811
    """The catalogue, with nothing computed that can be put off: a part of it each time is enough."""
    wrong = []
    for entry in every_entry()[3 * part :: 31]:
        leaves, rebuild = flatten(entry.args)
        points = [entry.args, rebuild([moved(x, entry.special) for x in leaves])]
        for mode, g in modes(entry.function, entry.args).items():
            jitted = Jitted(g, (), ())
            for point in points[:: -1 if entry.special_first else 1]:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    what = difference(outcome(jitted, point), outcome(g, point))
                if what and entry.special not in entry.differs_at:
                    wrong.append((entry.name, mode, entry.special, what))
    assert not wrong
