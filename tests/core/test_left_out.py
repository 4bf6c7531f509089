"""Numbers that are left out in Python because they are not finite: the slope is the limit or nan, in every mode.

Each form is a way to add up, or to take the mean of, what is finite of three numbers. At 0 the one in the middle is
0 / 0 and goes to 0 or to 1 with the slope 1/2: where it goes to 0, a sum that skips it goes on, and a mean jumps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
Form = Callable[[Any], Any]
WEIGHTS = np.array([1.0, 1.0, 1.0])


def _values(limit: float, t: Any) -> Any:
    return np.array([np.cos(t) + t, (np.exp(t) - 1) / t - 1 + limit, 3.0 + 2 * t])


def _missing(t: Any) -> Any:
    return np.array([np.cos(t) + t, np.log(t - 2.0), 3.0 + 2 * t]) + np.array([0.0, np.nan, 0.0])


def _is_no_number(x):
    return math.isnan(float(x))


def _looped(is_bad: Callable[[Any], Any]) -> Form:
    def total(q: Any) -> Any:
        found, count = 0.0, 0
        for x in q:
            if is_bad(x):
                continue
            found, count = found + x, count + 1
        return found, count

    return total


def _written(q: Any) -> Any:
    bad = np.isnan(q)
    q[bad] = 0.0
    return np.sum(q), q.size - np.sum(bad)


def _masked(q: Any) -> Any:
    mask = np.isfinite(q).astype(float)
    return np.nan_to_num(q) @ mask, np.sum(mask)


def _listed(q: Any) -> Any:
    kept = [x for x in q if np.isfinite(x)]
    return sum(kept), len(kept)


def _popped(q: Any) -> Any:
    waiting, found, count = list(q), 0.0, 0
    while waiting:
        x = waiting.pop()
        if math.isfinite(x):
            found, count = found + x, count + 1
    return found, count


def _branched(q: Any) -> Any:
    return (q.sum(), 3) if np.all(np.isfinite(q)) else (q[0] + q[2], 2)


def _caught(q: Any) -> Any:
    found, count = 0.0, 0
    for x in q:
        try:
            if np.isnan(x):
                raise ValueError("missing")
            found, count = found + x, count + 1
        except ValueError:
            pass
    return found, count


FORMS: dict[str, Form] = {
    "counted": lambda q: (np.sum(np.where(np.isfinite(q), q, 0.0)), np.sum(np.isfinite(q))),
    "mask": lambda q: (q[np.isfinite(q)].sum(), np.isfinite(q).sum()),
    "not nan": lambda q: (np.sum(q[~np.isnan(q)]), len(q[~np.isnan(q)])),
    "loop": _looped(np.isnan),
    "loop with math": _looped(lambda x: not math.isfinite(x)),
    "loop without a name": _looped(lambda x: x != x),
    "loop over floats": _looped(_is_no_number),
    "list": _listed,
    "stack": _popped,
    "filter": lambda q: (sum(filter(np.isfinite, q)), np.isfinite(q).sum()),
    "reduced": lambda q: (functools.reduce(lambda s, x: s if np.isnan(x) else s + x, q, 0.0), 3 - np.isnan(q).sum()),
    "nansum": lambda q: (np.nansum(q), np.count_nonzero(~np.isnan(q))),
    "written": _written,
    "multiplied": _masked,
    "nonzero": lambda q: (q[np.nonzero(np.isfinite(q))[0]].sum(), len(np.nonzero(np.isfinite(q))[0])),
    "take": lambda q: (np.take(q, np.flatnonzero(np.isfinite(q))).sum(), np.isfinite(q).sum()),
    "delete": lambda q: (np.delete(q, np.where(np.isnan(q))).sum(), np.isfinite(q).sum()),
    "compress": lambda q: (np.compress(np.isfinite(q), q).sum(), np.isfinite(q).sum()),
    "places": lambda q: (sum(q[i] for (i,) in np.argwhere(np.isfinite(q))), np.isfinite(q).sum()),
    "where of a sum": lambda q: (np.sum(q, where=np.isfinite(q)), np.isfinite(q).sum()),
    "weights": lambda q: (np.nansum(q), np.sum(WEIGHTS[~np.isnan(q)])),
    "branch": _branched,
    "caught": _caught,
}
BATCHED = ("counted", "written", "multiplied", "where of a sum")
"""Those that a batch, or the body of a loop, can take: values decide neither lengths nor branches."""


def _loop(f: Form, t: float) -> Any:
    return ad.grad(lambda x: ad.fori_loop(0, 2, lambda i, s: s + f(x), 0.0))(t) / 2


MODES: dict[str, Callable[[Form, float], Any]] = {
    "reverse": lambda f, t: ad.grad(f)(t),
    "forward": lambda f, t: ad.jvp(f, (t,), (1.0,))[1],
    "vjp": lambda f, t: ad.vjp(lambda x: {"a": f(x), "b": x}, t)[1]({"a": 1.0, "b": 0.0})[0],
    "linearize": lambda f, t: ad.linearize(f, t)[1](1.0),
    "columns": lambda f, t: ad.jacfwd(lambda x: np.array([f(x), 2 * f(x)]))(t)[1] / 2,
    "rows": lambda f, t: ad.jacrev(lambda x: np.array([f(x), 2 * f(x)]))(t)[1] / 2,
    "taylor": lambda f, t: ad.taylor(f, t, 1).coefficients[1],
    "jit of grad": lambda f, t: ad.jit(ad.grad(f))(t),
    "jit of grad, seen elsewhere": lambda f, t: _after(ad.jit(ad.grad(f)), t + 1.0, t),
    "grad of jit": lambda f, t: ad.grad(ad.jit(f))(t),
    "jit of jvp": lambda f, t: ad.jit(lambda x: ad.jvp(f, (x,), (1.0,))[1])(t),
    "checkpoint": lambda f, t: ad.grad(ad.checkpoint(f))(t),
    "closure": lambda f, t: ad.grad(lambda a: a * ad.grad(f)(t))(2.0),
    "vmap": lambda f, t: ad.vmap(ad.grad(f))(np.array([t + 0.5, t]))[1],
    "jit of vmap": lambda f, t: ad.jit(ad.vmap(ad.grad(f)))(np.array([t + 0.5, t]))[1],
    "loop": _loop,
    "jit of a loop": lambda f, t: ad.jit(lambda x: _loop(f, x))(t),
}
ALONE = ("vmap", "jit of vmap", "loop", "jit of a loop")


def _after(f: Form, first: float, then: float) -> Any:
    f(first)
    return f(then)


QUICK = {("loop", m) for m in MODES} | {(f, "reverse") for f in FORMS} | {("counted", m) for m in ("vmap", "loop")}
PAIRS = [
    pytest.param(form, mode, marks=[] if (form, mode) in QUICK else pytest.mark.slow)
    for form in FORMS
    for mode in MODES
    if mode not in ALONE or form in BATCHED
]


@pytest.mark.parametrize(("form", "mode"), PAIRS)
def test_a_sum_goes_on_and_a_mean_jumps(form: str, mode: str) -> None:
    """A sum has the slope of its three terms if the one that was skipped goes to 0, else none; a mean has none."""
    total, slope = FORMS[form], MODES[mode]
    np.testing.assert_allclose(slope(lambda t: total(_values(0.0, t))[0], 0.0), 3.5, rtol=1e-9)
    assert np.isnan(slope(lambda t: total(_values(1.0, t))[0], 0.0))
    for limit in (0.0, 1.0):
        assert np.isnan(slope(lambda t, limit=limit: np.divide(*total(_values(limit, t))), 0.0))


@pytest.mark.parametrize(("form", "mode"), PAIRS)
def test_what_is_missing_is_left_out_rightly(form: str, mode: str) -> None:
    """A number that is not finite at points nearby either is no reason for a doubt."""
    found = MODES[mode](lambda t: np.divide(*FORMS[form](_missing(t))), 0.5)
    np.testing.assert_allclose(found, (1 - np.sin(0.5) + 2) / 2, rtol=1e-12)


SECOND: dict[str, Callable[[Form], Any]] = {
    "hessian": lambda f: ad.hessian(f)(0.0),
    "reverse over reverse": lambda f: ad.grad(ad.grad(f))(0.0),
    "forward over forward": lambda f: ad.jacfwd(ad.jacfwd(f))(0.0),
    "reverse over forward": lambda f: ad.grad(lambda t: ad.jvp(f, (t,), (1.0,))[1])(0.0),
    "taylor": lambda f: 2 * ad.taylor(f, 0.0, 2).coefficients[2],
    "diagonal": lambda f: ad.curvature.hessian_diagonal(f)(0.0),
    "laplacian": lambda f: ad.curvature.laplacian(f)(0.0),
    "third": lambda f: ad.grad(ad.grad(ad.grad(f)))(0.0) - 0.25 - 2 / 3,
}


@pytest.mark.parametrize("mode", SECOND)
@pytest.mark.parametrize("form", ["loop", pytest.param("counted", marks=pytest.mark.slow)])
def test_second_derivatives_are_limits_or_nan(form: str, mode: str) -> None:
    """Never those of the number that was taken."""
    found = SECOND[mode](lambda t: FORMS[form](_values(0.0, t))[0])
    assert np.isnan(found) or abs(found + 2 / 3) < 1e-9
    assert np.isnan(SECOND[mode](lambda t: FORMS[form](_values(1.0, t))[0]))


ASKING = (lambda q: np.isnan(q), lambda q: math.isnan(q), lambda q: q != q)


def _filled(is_bad: Callable[[Any], Any], t: Any) -> Any:
    q = (np.exp(t) - 1) / t
    return 1.0 if is_bad(q) else q


USUAL = ("reverse", "forward", "jit of grad")


@pytest.mark.parametrize(
    "mode", [pytest.param(m, marks=[] if m in USUAL else pytest.mark.slow) for m in MODES if m not in ALONE]
)
@pytest.mark.parametrize("is_bad", ASKING)
def test_a_constant_in_its_place_is_none(mode: str, is_bad: Callable[[Any], Any]) -> None:
    """A branch that gives a constant, the limit: the slope is that of the other branch; of another constant none."""
    np.testing.assert_allclose(MODES[mode](functools.partial(_filled, is_bad), 0.0), 0.5, rtol=1e-9)
    assert np.isnan(MODES[mode](lambda t: 2.0 * _kept(t), 0.0))


def _kept(t: Any) -> Any:
    q = (np.exp(t) - 1) / t
    return 3.0 if np.isnan(q) else q


def test_nothing_hangs_on_an_answer() -> None:
    """A question whose answer changes nothing leaves all slopes as they are, of a second order too."""

    def f(x: Any) -> Any:
        q = np.sin(x) / x
        bad = np.isnan(q)
        assert bad.shape == x.shape
        return np.sum(x**3 + x**2) + np.max(x)

    x = np.array([0.0, 0.5, 0.5])
    np.testing.assert_allclose(ad.grad(f)(x), 3 * x**2 + 2 * x + [0.0, 0.5, 0.5])
    np.testing.assert_allclose(np.diag(ad.hessian(f)(x)), 6 * x + 2)
    np.testing.assert_allclose(ad.taylor(f, 0.25 + x, 2, direction=np.ones(3)).coefficients[2], np.sum(3 * x + 1.75))


def test_partial_derivatives_along_which_it_stays_missing() -> None:
    """What is not finite at a point and stays so while another element moves, is missing to that one."""
    mean = lambda w: np.divide(*FORMS["loop"](w * w / w))  # noqa: E731
    x = np.array([0.0, 0.3, 0.0])
    np.testing.assert_array_equal(ad.grad(mean)(x), [np.nan, 1.0, np.nan])
    np.testing.assert_array_equal(ad.jacfwd(mean)(x), [np.nan, 1.0, np.nan])


def test_branches_of_python_are_themselves() -> None:
    """Comparisons and errors that are caught give the slope of the branch that was taken."""

    def caught(t: Any) -> Any:
        with np.errstate(all="raise"):
            try:
                return np.sum(np.ones(2) / np.array([t, t]))
            except FloatingPointError:
                return 5 * t

    assert ad.grad(lambda t: 5 * t if t == 0 else (np.exp(t) - 1) / t)(0.0) == 5.0
    assert ad.grad(caught)(0.0) == 5.0


def test_a_function_that_cannot_be_run_again_has_no_slope() -> None:
    """It may raise nearby, or give another number each time."""

    def raising(t: Any) -> Any:
        if not np.isnan(np.sin(t) / t):
            raise ValueError("nowhere else")
        return 2 * t

    draws = np.random.default_rng(0)
    assert np.isnan(ad.grad(raising)(0.0))
    assert np.isnan(ad.grad(lambda t: 1.0 if np.isnan(np.sin(t) / t) else draws.normal() * t)(0.0))


def test_values_behind_a_function_are_those_of_now() -> None:
    """A program that runs a function again takes the arrays it closes over as they are by then."""
    scale = np.array([1.0, 2.0])

    def f(t: Any) -> Any:
        q = (np.exp(t) - 1) / t * scale
        return np.sum(scale) if np.isnan(q).any() else np.sum(q)

    slope = ad.jit(ad.grad(f))
    assert slope(0.0) == pytest.approx(1.5)
    scale[:] = 10.0
    assert slope(0.0) == pytest.approx(10.0)
    scale = np.array([2.0, 4.0])
    assert slope(0.0) == pytest.approx(3.0)
    assert slope(1.0) == pytest.approx(6.0)


def test_a_limit_depends_on_what_is_further_out() -> None:
    """Constants of a sweep may move in a derivative around it, and limits with them."""
    slope = lambda a: ad.grad(lambda t: (a**2 * np.sqrt(t)) ** 2 + a * t)(0.0)  # noqa: E731
    assert ad.grad(slope)(2.0) == pytest.approx(33.0)
    assert ad.jvp(slope, (2.0,), (1.0,)) == pytest.approx((18.0, 33.0))
    assert ad.jit(ad.grad(slope))(2.0) == pytest.approx(33.0)
    asked = ad.grad(lambda a: ad.grad(lambda t: a * _filled(np.isnan, t))(0.0))(2.0)
    assert np.isnan(asked) or asked == pytest.approx(0.5)


def test_missing_values_among_many() -> None:
    """Large arrays are not kept where no derivative needs them: the function itself tells what is missing nearby."""
    x = np.linspace(0.5, 2.0, 5000)
    data = np.where(np.arange(5000) % 7 == 0, np.nan, 1.0)

    def f(x: Any) -> Any:
        r = (x[:-1] + data[1:]) / x[1:]
        return sum(q for q in r[:20] if not np.isnan(q))

    here = np.arange(20)[~np.isnan(data[1:21])]
    expected = np.zeros(5000)
    np.add.at(expected, here, 1 / x[here + 1])
    np.add.at(expected, here + 1, -(x[here] + 1) / x[here + 1] ** 2)
    np.testing.assert_allclose(ad.grad(f)(x), expected)
    np.testing.assert_allclose(ad.jvp(f, (x,), (x,))[1], expected @ x, atol=1e-9)
