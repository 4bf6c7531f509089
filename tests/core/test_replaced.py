"""Where a value was replaced because it was not finite, the slope is the limit or nan, in every mode; never a guess."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

ZERO, SOME = np.zeros(3), np.array([0.0, 0.3, 0.0])


def _turned(fill: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """SciPy's recipe for rotations: sin(t) w / t with t = |w|, whose slope at 0 is 1."""

    def function(w: Any) -> Any:
        t = np.linalg.norm(w)
        return np.sum(np.sin(t) * fill(w, t))

    return function


def _assigned(w: Any, t: Any) -> Any:
    q = w / t
    q[np.isnan(q)] = 0.0
    return q


def _put(w: Any, t: Any) -> Any:
    q = w / t
    np.putmask(q, ~np.isfinite(q), 0.0)
    return q


def _masked(w: Any, t: Any) -> Any:
    with np.errstate(all="ignore"):
        q = w / t
    q[np.broadcast_to(t == 0, q.shape)] = 0.0
    return q


FILLS = {
    "nan_to_num": lambda w, t: np.nan_to_num(w / t),
    "where isfinite": lambda w, t: np.where(np.isfinite(w / t), w / t, 0.0),
    "where not isnan": lambda w, t: np.where(~np.isnan(w / t), w / t, 0.0),
    "assigned": _assigned,
    "putmask": _put,
    "errstate and mask": _masked,
    "where equal": lambda w, t: np.where(t == 0, 0.0, w / t),
    "where larger": lambda w, t: np.where(t > 0, w / t, 0.0),
    "divide where": lambda w, t: np.divide(w, t, out=np.zeros(3), where=t != 0),
}


def _dropped(w: Any) -> Any:
    q = w * w / w
    return q[np.isfinite(q)].sum()


def _far(x: Any) -> Any:
    inverse = 1.0 / np.abs(x[:, None] - x[None])
    inverse[np.isinf(inverse)] = 0.0
    return inverse.sum()


MEASURED = np.array([1.0, np.nan, 2.0])
PADDED = np.array([True, True, False])
NAN, INF = np.nan, np.inf

CASES: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    **{name: (_turned(fill), ZERO, np.ones(3)) for name, fill in FILLS.items()},
    "nansum": (lambda w: np.nansum(np.sin(w) * w / w), ZERO, np.ones(3)),
    "entropy": (lambda p: np.nansum(p * np.log(p)), SOME, [-INF, 1 + np.log(0.3), -INF]),
    "filled with the limit": (lambda x: np.sum(np.nan_to_num(np.sin(x) / x, nan=1.0)), ZERO, ZERO),
    "filled with another": (lambda x: np.sum(np.nan_to_num(np.sin(x) / x)), ZERO, [NAN] * 3),
    "another count": (lambda w: np.nanmean(w * w / w), SOME, [NAN, 1.0, NAN]),
    "another median": (lambda w: np.nanmedian(w * w / w), SOME, [NAN, 1.0, NAN]),
    "dropped": (_dropped, SOME, np.ones(3)),
    # what was left out rightly
    "measurements": (lambda w: np.nansum((w - MEASURED) ** 2 / 2.0), ZERO + 0.5, [-0.5, 0.0, -1.5]),
    "mean of measurements": (lambda w: np.nanmean(w - MEASURED), ZERO + 0.5, [0.5, 0.0, 0.5]),
    "outside of a domain": (lambda x: np.nansum(np.log(x)), np.array([-1.0, 0.5, -2.0]), [0.0, 2.0, 0.0]),
    "of itself": (_far, np.array([0.0, 1.0, 3.0]), [2 * (1 + 1 / 9), 2 * (-1 + 1 / 4), -2 * (1 / 4 + 1 / 9)]),
    "padded": (
        lambda x: np.sum(np.where(PADDED, x * x / x, 0.0)) * (x[0] > 0),
        np.array([1.0, 0.3, 0.0]),
        [1.0, 1.0, 0.0],
    ),
    "one side": (lambda p: np.sum(np.where(p > 0, p * np.log(p), 0.0)), SOME, [0.0, 1 + np.log(0.3), 0.0]),
}

MODES: dict[str, Callable[[Any, Any], Any]] = {
    "reverse": lambda f, x: ad.grad(f)(x),
    "forward": lambda f, x: [ad.jvp(f, (x,), (e,))[1] for e in np.eye(x.size)],
    "jit of grad": lambda f, x: ad.jit(ad.grad(f))(x),
    "grad of jit": lambda f, x: ad.grad(ad.jit(f))(x),
    "vmap": lambda f, x: ad.vmap(ad.grad(f))(np.stack([x, x + 0.25]))[0],
    "taylor": lambda f, x: [ad.taylor(f, x, 1, direction=e).coefficients[1] for e in np.eye(x.size)],
    "loop": lambda f, x: ad.grad(lambda x: ad.fori_loop(0, 2, lambda i, s: s + f(x), 0.0))(x) / 2,
    "jit of a loop": lambda f, x: ad.jit(ad.grad(lambda x: ad.fori_loop(0, 2, lambda i, s: s + f(x), 0.0)))(x) / 2,
}


QUICK = ("nan_to_num", "where larger", "entropy", "another count", "measurements", "of itself")
"""In every mode at once; all others in reverse and forward."""
PAIRS = [
    pytest.param(name, mode, marks=[] if name in QUICK or mode in ("reverse", "forward") else pytest.mark.slow)
    for name in CASES
    for mode in MODES
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "mode"), PAIRS)
def test_slopes(name: str, mode: str) -> None:
    """The slope is the limit, or nan where there is none; what is missing nearby too has none."""
    function, x, expected = CASES[name]
    if name == "dropped" and mode in ("vmap", "loop", "jit of a loop"):
        pytest.skip("how many elements a mask leaves is decided by values")
    np.testing.assert_allclose(MODES[mode](function, x), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "expected"), [("nan_to_num", 0.0), ("where equal", NAN)])
def test_second_derivatives_are_not_guessed(name: str, expected: float) -> None:
    """A derivative further out runs the function again, if it asks for finite numbers, or is nan; none is a guess."""
    function = _turned(FILLS[name])
    np.testing.assert_array_equal(ad.hessian(function)(ZERO), np.full((3, 3), expected))
    squared = ad.hessian(lambda w: function(w) ** 2)(ZERO)
    assert np.all(np.isnan(squared) | (np.abs(squared - 2.0) < 1e-9))
    assert np.isnan(ad.taylor(function, ZERO, 2, direction=np.ones(3)).coefficients[2])
    away = ad.hessian(function)(ZERO + 0.5)
    np.testing.assert_allclose(away, ad.hessian(_turned(lambda w, t: w / t))(ZERO + 0.5))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_recording_serves_points_where_nothing_is_replaced() -> None:
    """The program of an ordinary point, and that of the singular one, each with its own numbers."""
    slope = ad.jit(ad.grad(_turned(FILLS["nan_to_num"])))
    for x in (ZERO, ZERO + 1.0, ZERO, ZERO + 2.0):
        np.testing.assert_allclose(slope(x), ad.grad(_turned(FILLS["nan_to_num"]))(x))
    assert slope.stats()["recordings"] == 2
