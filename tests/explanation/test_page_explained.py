"""Pages of real functions: what the page computes at many inputs, and what it says where it cannot."""

from __future__ import annotations

import json

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.explanation.page.script import NoScriptError
from adjoint.explanation.page.writing import computing, page_data
from tests.explanation.page_programs import gradient_of, live_data, programs, results_of

EVALUATE = """
const numbers = xs => xs.map(x => String(Number(x)));
return arguments[0].map(texts => {
  const {v, final, failed, open} = evaluated(texts.map(Number));
  const signs = [failed.length > 0, open.map(node => node.id)];
  return [numbers(DATA.outputs.map(id => v[id])), numbers(texts.map((_, k) => final[k])), ...signs];
});
"""


@pytest.fixture
def evaluate(driver):
    """The results, gradients, whether the page warns and which inputs it calls undetermined, at many points."""
    driver.get("about:blank")  # where no policy forbids to try one program after the other

    def at(data, points):
        texts = [[repr(float(x)).replace("inf", "Infinity").replace("nan", "NaN") for x in point] for point in points]
        script = f"const DATA = JSON.parse({json.dumps(page_data(data))});\n{computing(data)}\n{EVALUATE}"
        found = driver.execute_script(script, texts)
        return [([number(x) for x in values], [number(x) for x in slopes], *signs) for values, slopes, *signs in found]

    def number(text):
        return float(text.replace("Infinity", "inf"))

    return at


def is_right(found, fun, point):
    values, slopes, *_ = found
    with np.errstate(all="ignore"):
        wanted, gradient = results_of(fun, point), gradient_of(fun, point)
    return np.allclose(values, wanted, rtol=1e-8, atol=1e-11, equal_nan=True) and np.allclose(
        slopes, gradient, rtol=1e-7, atol=1e-9, equal_nan=True
    )


def squares(x):
    y = x**2
    return y, y**3


def twice(x):
    y = x * x
    return y, y


LIVE = {
    "two results": (squares, [1.5], [[0.5], [-2.0]]),
    "one result twice": (twice, [1.5], [[0.5]]),
    "an input as result": (lambda x: (x, x * x), [1.5], [[0.5]]),
    "truth against number": (lambda *x: np.sum(np.array(x) * ((np.array(x) > 0) == 1)), [1.0, -1.0], [[-1.0, 2.0]]),
    "counted": (lambda *x: np.sum(x) * np.count_nonzero(np.array(x) > 0), [1.0, -1.0], [[2.0, 3.0], [0.0, 0.0]]),
    "truth values added": (lambda x: x * ((x > 0) + (x > 1)) * 1.0, [0.5], [[2.0], [-1.0]]),
    "truth values multiplied": (lambda x: x * ((x > 0) * (x > 1)) * 1.0, [0.5], [[2.0], [-1.0]]),
    "exclusive or": (lambda x: x * ((x > 0) ^ (x > 1)) * 1.0, [0.5], [[2.0], [-1.0]]),
    "not": (lambda x: x * np.invert(x > 0) * 1.0, [0.5], [[2.0], [-1.0]]),
    "cast to whole numbers": (
        lambda *x: np.sum(np.array(x) * np.array(x).astype(int)),
        [2.5, 1.5],
        [[-0.3, 2.0], [3.7, -2.9]],
    ),
    "cast to truth values": (
        lambda *x: np.sum(np.array(x) * np.array(x).astype(bool)),
        [2.5, 0.0],
        [[0.0, 1.0], [np.nan, 1.0]],
    ),
    "a choice on a number": (lambda x: np.where(x, 2 * x, 3 * x + 1), [2.5], [[0.0], [np.nan]]),
    "a power of a power": (
        lambda x, y: x**y,
        [1.5, 2.5],
        [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 1.0], [2.0, -1.5]],
    ),
    "a power of 0": (lambda x: x**0.0, [1.5], [[0.0], [-1.0]]),
    "clip": (lambda x: np.clip(x, -0.5, 0.7) ** 2, [0.3], [[0.7], [-1.0], [-0.5], [0.8]]),
    "clip between inputs": (lambda x, y: np.clip(x, y, 0.7) ** 2, [0.3, 0.0], [[0.7, 0.7], [0.0, 0.5], [2.0, 1.0]]),
    "a root at 0": (lambda x: np.sqrt(x**2), [1.5], [[0.0], [-2.0]]),
}


@pytest.mark.parametrize("name", LIVE)
def test_computed_as_in_python(evaluate, name):
    """At the recorded inputs and at others, results and gradients are the library's, without a warning."""
    fun, point, others = LIVE[name]
    points = [point, *others]
    found = evaluate(live_data(fun, point), points)
    assert [is_right(f, fun, p) for f, p in zip(found, points, strict=True)] == [True] * len(points)
    assert [warned for _, _, warned, _ in found] == [False] * len(points)


GUARDED = {
    "a number taken as it is": (lambda x: x * int(x), [2.5], [[3.7], [-0.3]]),
    "a rounded number": (lambda x: x * round(ad.stop_gradient(x)), [2.4], [[3.7]]),
    "a branch": (lambda x: x**2 if x > 0 else -x, [2.5], [[-1.0]]),
    "a truth value of a number": (lambda x: x * 3 if x else x - 1, [2.5], [[0.0]]),
    "a tie of three": (lambda *x: np.max(np.array(x)) ** 2, [1.0, 2.0, 3.0], [[2.0, 2.0, 2.0]]),
    "another order": (lambda *x: np.sort(np.array(x))[0] * x[1], [1.0, 2.0], [[2.0, 1.0]]),
    "close to": (lambda x: x if np.isclose(x, 1.0) else x**2, [3.2], [[1.0]]),
}


@pytest.mark.parametrize("name", GUARDED)
def test_warned_where_it_does_not_hold(evaluate, name):
    """Where the program would do something else than was recorded, the page says so."""
    fun, point, others = GUARDED[name]
    found = evaluate(live_data(fun, point), [point, *others])
    assert is_right(found[0], fun, point)
    assert [warned for _, _, warned, _ in found] == [False, *[True] * len(others)]


@pytest.mark.parametrize(
    ("fun", "point", "why"),
    [
        (lambda x: x * x, np.float32(1.5), "the program computes with float32"),
        (lambda x: np.sum(x * x.astype(np.int8)), np.ones(2), "the program computes with int8"),
        (lambda x: np.sum(x * (x.astype(int) & 1)), np.ones(2), "JavaScript has no bitwise_and of whole numbers"),
        (lambda x: np.sum(x * (x.astype(int) << 1)), np.ones(2), "JavaScript has no left_shift of whole numbers"),
        (lambda x: np.sum(x * ~x.astype(int)), np.ones(2), "JavaScript has no invert of whole numbers"),
        (lambda x: np.abs(x) ** 2, 1.5 + 1j, "the program computes with complex128"),
        (lambda x: np.sum(x), np.zeros(0), "there is no number to change"),
        (lambda x: (x * x, np.sign(x)), 1.5, "a result depends on the inputs but has no derivative"),
        (lambda x: np.i0(x), 1.5, "JavaScript has no i0_derivative"),
    ],
)
def test_still_where_it_cannot_compute(fun, point, why, tmp_path):
    """What JavaScript would compute otherwise is shown as it was recorded, with the reason."""
    with pytest.raises(NoScriptError) as caught:
        live_data(fun, [point])
    assert str(caught.value) == why
    text = ad.explain(fun)(point).page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"The values are fixed, as {why}." in text


SINGULAR = {
    "a root squared": lambda x, y: y * np.sqrt(x) ** 2,
    "a cubic root cubed": lambda x, y: np.cbrt(x) ** 3 + x * y,
    "the cubic root of a cube": lambda x, y: np.cbrt(x**3) * y,
    "a root times itself": lambda x, y: np.sqrt(x) * np.sqrt(x) + y,
    "a root cubed": lambda x, y: np.sqrt(x) ** 3 * y,
    "a root of a root": lambda x, y: np.sqrt(np.sqrt(x) ** 4) + y,
    "a norm": lambda x, y: np.sqrt(x**2 + y**2),
    "a norm and more": lambda x, y: np.sqrt(x**2 + y**2) + np.exp(x) * y,
    "further in": lambda x, y: np.sqrt(np.sin(x)) ** 2 + y,
    "kinks of both kinds": lambda x, y: np.abs(x) + np.sqrt(y) ** 2,
    "another branch beside": lambda x, y: np.maximum(x, 0.0) + np.sqrt(x**2) * y,
    "a jump beside": lambda x, y: np.floor(x) * y + np.cbrt(x) ** 3,
    "a step of steps": lambda x, y: np.cbrt(x**3 + y**3),
    "roots on both sides": lambda x, y: np.sqrt(np.abs(x)) + y,
    "a truth value of a root": lambda x, y: np.sqrt(x) * (np.sqrt(x) > 0) * 1.0 + y,
    "a power with two ends": lambda x, y: np.cbrt(x) ** 2 * y,
    "a quotient": lambda x, y: x * x / x + y,
    "nothing of a root": lambda x, y: 0 * np.sqrt(x) + y,
    "a kink at the end of the domain": lambda x, y: np.sqrt(x**2) + np.sqrt(x) ** 3 * y,
    "jumps of a polar angle": lambda x, y: np.sqrt(np.arctan2(x, y) ** 2) + y,
    "ends of both signs": lambda x, y: np.cbrt(np.sqrt(x**2)) + y,
}
SINGULAR_POINTS = [[0.0, 0.0], [0.0, 1.0], [0.0, -2.0], [1.0, 0.0], [1.0, 2.0], [np.pi, 1.0]]


def is_marked(found, fun, point):
    """Whether every number is the library's, or nan and named as undetermined."""
    values, slopes, _, undetermined = found
    with np.errstate(all="ignore"):
        results, wanted = results_of(fun, point), gradient_of(fun, point)
    np.testing.assert_allclose(values, results, rtol=1e-8, atol=1e-11)
    pairs = zip(slopes, wanted, strict=True)
    wrong = [k for k, (s, w) in enumerate(pairs) if not np.isclose(s, w, rtol=1e-7, atol=1e-9, equal_nan=True)]
    return all(np.isnan(slopes[k]) and k in undetermined for k in wrong)


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("recorded", [[0.0, 0.0], [0.0, 3.0], [2.0, 3.0]])
def test_singular_points(evaluate, name, recorded):
    """Where slopes are 0 * inf the page says what ad.grad says, or that it is undetermined; never another number."""
    fun = SINGULAR[name]
    first, *others = evaluate(live_data(fun, recorded), [recorded, *SINGULAR_POINTS])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(first[1], gradient_of(fun, recorded), rtol=1e-9)
    assert [is_marked(f, fun, p) for f, p in zip(others, SINGULAR_POINTS, strict=True)] == [True] * len(others)


def test_limits_are_found_while_moving(evaluate):
    """At points where both sides agree, or where a norm has its kink, the page finds the number itself."""
    for name in ("a root squared", "a cubic root cubed", "the cubic root of a cube", "a root cubed", "a norm"):
        fun = SINGULAR[name]
        (found,) = evaluate(live_data(fun, [2.0, 3.0]), [[0.0, 0.0 if name == "a norm" else 3.0]])
        assert is_right(found, fun, [0.0, 0.0 if name == "a norm" else 3.0]), name


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(evaluate, seed):
    """Of random programs every value and gradient agrees with the library's wherever the page gives no sign."""
    counts = {"right": 0, "signed": 0}
    for fun, point in programs(seed, count=12):
        try:
            data = live_data(fun, point)
        except (NoScriptError, UnsupportedError):
            continue
        choose = np.random.default_rng(seed)
        points = [point, *(1.2 * choose.normal(size=(6, 2))), *[[a, b] for a in (0.0, 1.0, -1.0) for b in (0.0, 1.0)]]
        for k, (found, p) in enumerate(zip(evaluate(data, points), points, strict=True)):
            try:
                right = is_right(found, fun, p)
            except (ValueError, ZeroDivisionError, OverflowError):
                continue  # the function itself refuses this point
            assert right or (k > 0 and (found[2] or is_marked(found, fun, p))), (fun.source, p, found)
            counts["right" if right else "signed"] += 1
    assert counts["right"] > 60 > counts["signed"]
