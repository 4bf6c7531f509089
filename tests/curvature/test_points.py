"""`classify` and `is_convex_between`."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


@pytest.mark.parametrize("seed", range(12))
def test_random_quadratics(seed):
    """The signs of the eigenvalues decide, whatever the directions, the scale and the place."""
    random = np.random.default_rng(seed)
    q, _ = np.linalg.qr(random.normal(size=(4, 4)))
    signs = [np.ones(4), -np.ones(4), np.array([1, 1, -1, 1.0]), np.array([1, 0, 1, 1.0])][seed % 4]
    eigenvalues = signs * random.uniform(0.5, 3.0, 4) * 10.0 ** random.integers(-6, 6)
    H, centre = q @ np.diag(eigenvalues) @ q.T, random.normal(size=4)
    found = ad.curvature.classify(lambda x: 0.5 * (x - centre) @ H @ (x - centre) + 1.0, centre)
    assert found.kind == ["minimum", "maximum", "saddle", "undecided"][seed % 4]
    np.testing.assert_allclose(found.eigenvalues, np.sort(eigenvalues), atol=1e-9 * np.abs(eigenvalues).max())


def test_points_of_known_functions():
    """Minima found by an optimiser, the monkey saddle, flat minima, kinks, points that are not stationary."""

    def rosenbrock(x):
        return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2

    found = ad.optim.minimize(rosenbrock, np.array([-1.0, 1.0]), ad.optim.newton()).x
    assert ad.curvature.classify(rosenbrock, found).kind == "minimum"
    assert ad.curvature.classify(lambda x: x[0] ** 3 - 3.0 * x[0] * x[1] ** 2, np.zeros(2)).kind == "undecided"
    away = ad.curvature.classify(rosenbrock, np.zeros(2))
    assert away.kind == "undecided"
    assert "gradient is not zero" in away.reason
    assert ad.curvature.classify(lambda x: x**2 - np.abs(x), 0.0).kind == "undecided"
    assert "kink" in ad.curvature.classify(lambda x: x**2 - np.abs(x), 0.0).reason
    assert ad.curvature.classify(np.abs, 0.0).kind == "undecided"
    assert ad.curvature.classify(lambda x: 1.0 / x, np.inf).kind == "undecided"
    assert (
        ad.curvature.classify(lambda p: p["a"] ** 2 - np.sum(p["b"] ** 2), {"a": 0.0, "b": np.zeros(2)}).kind
        == "saddle"
    )
    assert (
        ad.curvature.classify(lambda x, c: np.sum((x - c) ** 2), np.ones(2, np.float32), np.ones(2, np.float32)).kind
        == "minimum"
    )
    assert ad.curvature.classify(lambda x: x**2 + 1e-6 * x, 0.0, tolerance=1e-3).kind == "minimum"


def test_kinks_of_the_second_order():
    """Another second derivative on each side: the one that the branch at the point has decides nothing."""

    def either(x):
        return x**2 if x > 0 else -(x**2)

    for function in (either, lambda x: np.where(x > 0, x**2, -(x**2)), lambda x: np.maximum(x, 0.0) ** 2, np.abs):
        found = ad.curvature.classify(function, 0.0)
        assert found.kind == "undecided"
        assert "kink" in found.reason
    assert "higher derivatives" in ad.curvature.classify(lambda x: np.where(x > 0, x**3, -(x**3)), 0.0).reason


@pytest.mark.parametrize("seed", range(8))
def test_smooth_functions_have_no_kinks(seed):
    """However strong third and fourth derivatives are, and whatever is added to the value."""
    random = np.random.default_rng(seed)
    third, fourth = 10.0 ** random.uniform(-2.0, 3.0), 10.0 ** random.uniform(-2.0, 4.0)
    centre, offset = random.normal(size=3), [0.0, 1e3][seed % 2]

    def function(x):
        y = x - centre
        return (
            offset + np.sum(y**2 * np.array([0.1, 1.0, 30.0])) + third * np.sum(np.sin(y) ** 3) + fourth * (y @ y) ** 2
        )

    assert ad.curvature.classify(function, centre).kind == "minimum"


def test_what_is_printed():
    """Kind, reason, eigenvalues and tolerances; many eigenvalues are shortened."""
    text = str(ad.curvature.classify(lambda x: np.sum(x**2), np.zeros(8)))
    assert text.splitlines()[0] == "minimum: all eigenvalues are positive"
    assert "2 2 2 ... 2 2 2 (zero up to 3.0e-08)" in text


def test_convexity_of_known_functions():
    """Convex, concave, in between, with kinks both ways, in containers and float32."""
    assert ad.curvature.is_convex_between(lambda x: x**4, -1.0, 1.0)
    assert ad.curvature.is_convex_between(np.abs, -1.0, 1.3)
    assert not ad.curvature.is_convex_between(lambda x: -np.abs(x), -1.0, 1.3)
    assert not ad.curvature.is_convex_between(lambda x: np.minimum(x, 0.2), -1.0, 1.0)
    assert ad.curvature.is_convex_between(lambda x: 3.0 * x + 1.0, -1.0, 1.0)
    assert not ad.curvature.is_convex_between(lambda x: x**3, -1.0, 1.0)
    assert ad.curvature.is_convex_between(lambda x: 0.0 * x, -1.0, 1.0)
    assert not ad.curvature.is_convex_between(lambda x: np.where(x > 0.123, 5.0, 0.0), -1.0, 1.0)  # a jump
    assert not ad.curvature.is_convex_between(lambda x: x**2 - np.where(x > 0.5, 0.1, 0.0), -1.0, 1.0)
    assert ad.curvature.is_convex_between(lambda x: x**3, 0.0, 1.0)
    p = {"w": np.ones(3, np.float32), "b": np.float32(0.0)}
    q = {"w": -np.ones(3, np.float32), "b": np.float32(2.0)}
    assert ad.curvature.is_convex_between(lambda p: np.sum(np.exp(p["w"])) + p["b"] ** 2, p, q)
    assert type(ad.curvature.is_convex_between(np.exp, 0.0, 1.0)) is bool
    with np.errstate(invalid="ignore"):
        assert not ad.curvature.is_convex_between(lambda x: np.sqrt(x), -1.0, 1.0)


def test_refusals():
    """Arrays as results, ends that do not fit, complex points, traces."""
    with pytest.raises(ad.errors.OutputError) as e:
        ad.curvature.classify(lambda x: x**2, np.zeros(2))
    assert "classify needs a function that returns one real number." in str(e.value)
    assert "got float64[2]" in str(e.value)
    with pytest.raises(ad.errors.InputError, match="classify is for functions of real numbers"):
        ad.curvature.classify(lambda z: z, np.ones(2, complex))
    with pytest.raises(ad.errors.InputError, match="classify needs a point with at least one number"):
        ad.curvature.classify(np.sum, np.zeros(0))
    with pytest.raises(ad.errors.InputError, match="The ends of a segment have the same containers and shapes"):
        ad.curvature.is_convex_between(np.sum, np.zeros(2), np.zeros(3))
    with pytest.raises(ad.errors.InputError, match="is_convex_between needs points, a whole number of at least 3"):
        ad.curvature.is_convex_between(np.sin, 0.0, 1.0, points=1)
    with pytest.raises(ad.errors.OutputError, match="is_convex_between needs a function that returns one real number"):
        ad.curvature.is_convex_between(lambda x: np.array([x, x]), 0.0, 1.0)
    with pytest.raises(ad.errors.UnsupportedError, match="classify decides on numbers"):
        ad.grad(lambda x: ad.curvature.classify(np.sin, x).value)(1.0)
    with pytest.raises(ad.errors.InputError, match="classify needs tolerance, a number of at least 0"):
        ad.curvature.classify(np.sin, 1.0, tolerance=-1.0)
