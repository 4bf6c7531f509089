"""Explanations at singular points, where the steps give 0 * inf: all that is shown is what the library computes."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.explanation.code_running import alone

FUNCTIONS = {
    "a root squared": lambda x: np.sum(np.sqrt(x) ** 2 * np.array([1.0, 3.0])),
    "a cubic root cubed": lambda x: np.sum(np.cbrt(x) ** 3) + x[0],
    "the cubic root of a cube": lambda x: np.sum(np.cbrt(x**3) * np.exp(x)),
    "a root times itself": lambda x: np.sum(np.sqrt(x) * np.sqrt(x)),
    "further in": lambda x: np.sum(np.sqrt(np.sin(3 * x)) ** 2),
    "a norm": lambda x: np.sqrt(np.sum(x**2)),
    "a norm of differences": lambda x: np.linalg.norm(x - x[::-1]) * (1 + x[0]),
    "a root": lambda x: np.sum(np.sqrt(x)),
    "a branch not taken": lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)),
    "directions": lambda x: np.cbrt(x[0] ** 3 + x[1] ** 3),
    "two results": lambda x: (np.cbrt(x[0]) ** 3, np.cbrt(x[1] ** 3)),
}
POINTS = [np.zeros(2), np.array([0.0, 1.0]), np.array([2.0, 0.0])]
ELSEWHERE = [*POINTS, np.array([0.5, 0.25]), np.array([1.0, 1.0])]


def total(fun):
    """The sum of all results, of which an explanation shows the gradient."""
    return lambda x: sum(fun(x)) if isinstance(fun(x), tuple) else fun(x)


@pytest.mark.parametrize("point", range(len(POINTS)))
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shown_is_computed(name, point):
    """Gradients and tangents of both levels are those of ad.grad and ad.jvp."""
    fun, x, t = FUNCTIONS[name], POINTS[point], np.array([1.0, -0.5])
    gradient, tangent = ad.grad(total(fun))(x), ad.jvp(total(fun), (x,), (t,))[1]
    for level in ("vector", "scalar"):
        np.testing.assert_allclose(ad.explain(fun, level=level)(x).gradient, gradient, rtol=1e-9)
        shown = ad.explain(fun, level=level, mode="forward", tangent=t)(x).tangent
        np.testing.assert_allclose(sum(shown) if isinstance(shown, tuple) else shown, tangent, rtol=1e-9)


@pytest.mark.parametrize("point", range(len(POINTS)))
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_source_is_right_or_nan(name, point):
    """Source recorded at a singular point has its gradient there; at others it is right, nan, or an error."""
    fun = FUNCTIONS[name]
    written = alone(ad.explain(fun)(POINTS[point]).code())
    np.testing.assert_allclose(written(POINTS[point])[1], ad.grad(total(fun))(POINTS[point]), rtol=1e-9)
    for x in ELSEWHERE:
        try:
            found, wanted = written(x)[1], ad.grad(total(fun))(x)
        except ValueError:  # the rules do something else there
            continue
        assert np.all(np.isnan(found) | np.isclose(found, wanted, rtol=1e-9)), x
        if np.all(x > 0) and name != "a norm of differences":
            assert not np.any(np.isnan(found))


def test_a_limit_is_marked():
    """The share that is 0 * inf has a mark, and what is made of it goes on from the limit."""
    lines = str(ad.explain(lambda x: 2 * np.sqrt(x - 1) ** 2)(1.0)).splitlines()
    assert lines == [
        "forward primal trace   reverse adjoint trace",
        "v0 = x             1   ∇x = ∂f/∂x = ∇v0                   2",
        "v1 = x - 1         0   ∇x = ∇v1 · 1                       2",
        "v2 = sqrt(v1)      0   ∇v1 = lim ∇v2 · (0.5 / sqrt(v1))   2",
        "v3 = v2²           0   ∇v2 = ∇v3 · 2·v2                   0",
        "v4 = 2·v3          0   ∇v3 = ∇v4 · 2                      2",
        "f = v4             0   ∇v4 = ∂f/∂v4                       1",
        "lim marks 0 · ∞: the limit near this point counts, at a kink the mean of both sides.",
    ]
    ascii = ad.explain(lambda x: np.sqrt(x) ** 2)(0.0).text(ascii=True)
    assert ascii.isascii()
    assert "lim grad v1" in ascii


def test_a_limit_beside_other_shares():
    """A share in doubt is what is missing to the adjoint, so that the sums of the table hold at every line."""
    (edge, other) = [
        e for row in ad.explain(lambda x: np.cbrt(x**3) + 4 * x)(0.0).rows for e in row.edges if not e.operand
    ]
    assert (edge.is_limit, edge.value, edge.total) == (True, 1.0, 5.0)
    assert (other.is_limit, other.value, other.total) == (False, 4.0, 4.0)


def test_ordinary_points_have_no_mark():
    """Neither where slopes are ordinary nor where a branch was not taken."""
    for fun, x in ((np.sqrt, 2.0), (lambda x: np.where(x > 0, np.sqrt(x), 0.0), 0.0), (np.abs, 0.0), (np.sqrt, 0.0)):
        assert "lim" not in str(ad.explain(fun, mode="both")(x))


def test_cost_is_that_of_ordinary_points():
    """Both modes are counted alike, whatever the point: what decides singular points is charged to neither."""
    for fun in (lambda x: np.sqrt(x) ** 2, lambda x: np.sqrt(x**2), lambda x: np.cbrt(x**3) + x):
        there, here = ad.explain(fun)(0.0).cost(), ad.explain(fun)(1.0).cost()
        assert (there.forward.operations, there.reverse.operations) == (
            here.forward.operations,
            here.reverse.operations,
        )
        assert there.verdict.startswith("It makes no difference")


def test_expressions_hold_elsewhere():
    """Expressions of several results do not contain the numbers of the point."""
    pytest.importorskip("sympy")
    symbolic = ad.explain(lambda x: (np.cbrt(x) ** 3, x**2 * np.sqrt(x) ** 2))(0.0).sympy()
    (slope,) = symbolic.gradient.values()
    (x,) = symbolic.inputs
    assert float(slope.subs(x, 2.0)) == pytest.approx(13.0)
