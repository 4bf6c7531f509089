"""Numbers that are left out because they are not finite, as programs do it: the slope is the limit or nan."""

import math

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
MISSING = np.array([0.0, np.nan, 0.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])


def values(t):
    """Three numbers, one of which is not finite at 0, and near it goes to 1 with the slope 1/2."""
    return np.array([np.cos(t) + t, (np.exp(t) - 1) / t, 3.0 + 2 * t])


def _loop(is_bad):
    def mean(q):
        total, count = 0.0, 0
        for x in q:
            if is_bad(x):
                continue
            total, count = total + x, count + 1
        return total / count

    return mean


def _listed(q):
    kept = [x for x in q if np.isfinite(x)]
    return sum(kept) / len(kept)


def _written(q):
    bad = np.isnan(q)
    q[bad] = 0.0
    return np.sum(q) / (q.size - np.sum(bad))


def _masked(q):
    mask = np.isfinite(q).astype(float)
    return np.sum(np.nan_to_num(q) * mask) / np.sum(mask)


def _caught(t):
    try:
        slope = (math.exp(t) - 1) / t
    except ZeroDivisionError:
        slope = 0.0
    return slope + t


MEANS = {
    "counted": lambda q: np.sum(np.where(np.isfinite(q), q, 0.0)) / np.sum(np.isfinite(q)),
    "mask": lambda q: q[np.isfinite(q)].mean(),
    "not nan": lambda q: np.mean(q[~np.isnan(q)]),
    "loop": _loop(np.isnan),
    "loop with math": _loop(lambda x: not math.isfinite(x)),
    "loop without a name": _loop(lambda x: x != x),
    "list": _listed,
    "filter": lambda q: np.mean(np.array(list(filter(np.isfinite, q)))),
    "nanmean": np.nanmean,
    "nansum over a count": lambda q: np.nansum(q) / np.count_nonzero(~np.isnan(q)),
    "written": _written,
    "multiplied": _masked,
    "nonzero": lambda q: q[np.nonzero(np.isfinite(q))[0]].mean(),
    "take": lambda q: np.take(q, np.flatnonzero(np.isfinite(q))).mean(),
    "delete": lambda q: np.delete(q, np.where(np.isnan(q))).mean(),
    "compress": lambda q: np.compress(np.isfinite(q), q).mean(),
    "numbers": lambda q: sum(q[i] for (i,) in np.argwhere(np.isfinite(q))) / np.isfinite(q).sum(),
    "sorted": lambda q: np.sort(q)[: np.isfinite(q).sum()].mean(),
    "where of a sum": lambda q: np.sum(q, where=np.isfinite(q)) / np.isfinite(q).sum(),
    "where of a mean": lambda q: np.mean(q, where=np.isfinite(q)),
    "branch": lambda q: q.mean() if np.all(np.isfinite(q)) else 0.5 * (q[0] + q[2]),
    "any": lambda q: q[[0, 2]].mean() if np.isnan(q).any() else q.mean(),
}
"""Means of what is finite."""
OTHERS = {
    "weights": lambda q: np.average(q[~np.isnan(q)], weights=WEIGHTS[~np.isnan(q)]),
    "weighted": lambda q: np.nansum(WEIGHTS * q) / np.sum(WEIGHTS[~np.isnan(q)]),
    "nansum": np.nansum,
    "nan_to_num": lambda q: np.sum(np.nan_to_num(q)),
    "nanmedian": np.nanmedian,
    "nanvar": np.nanvar,
    "constant": lambda q: 2.0 if np.isnan(q).any() else q.mean(),
}
MODES = {
    "reverse": ad.grad,
    "forward": lambda f: lambda t: ad.jvp(f, (t,), (1.0,))[1],
    "jacobian": ad.jacfwd,
    "program of the gradient": lambda f: ad.jit(ad.grad(f)),
    "gradient of a program": lambda f: ad.grad(ad.jit(f)),
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", MEANS | OTHERS)
def test_the_way_at_a_point_is_not_that_of_its_neighbours(name, mode):
    """The function jumps there: it has no slope."""
    f = (MEANS | OTHERS)[name]
    assert np.isnan(MODES[mode](lambda t: f(values(t)))(0.0))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MEANS | OTHERS)
def test_in_every_mode(name, mode):
    """The same, jitted too."""
    f = (MEANS | OTHERS)[name]
    assert np.isnan(MODES[mode](lambda t: f(values(t)))(0.0))


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_in_every_mode(mode):
    """One of them, in programs too, and an error that is caught."""
    assert np.isnan(MODES[mode](lambda t: MEANS["loop"](values(t)))(0.0))
    assert np.isnan(MODES[mode](_caught)(0.0))


@pytest.mark.parametrize("mode", ["reverse", "forward", "jacobian"])
@pytest.mark.parametrize("name", MEANS)
def test_what_is_missing_is_left_out_rightly(name, mode):
    """A measurement that is missing at every point nearby is no reason for a doubt."""
    found = MODES[mode](lambda t: MEANS[name](np.array([np.cos(t) + t, t, 3.0 + 2 * t]) + MISSING))(0.5)
    np.testing.assert_allclose(found, (1 - np.sin(0.5) + 2) / 2, rtol=1e-12)
